/* handler.h - the signal handler of our clocks.
 *
 * What it does with a signal of our number depends on who sent it:
 *
 *   this thread's clock          weight from the clock, a sample (threads/sample.h)
 *   a timer of the process       a look for threads (scan.h), or sampling is switched (control.h)
 *   a clock disarmed meanwhile   nothing: the tick is late
 *   anyone else                  it is the program's (program_signal.h)
 *
 * and in each case it undoes what the signal did to a system call (restart.h). All signals are
 * blocked while it runs. It runs on the thread's alternate stack, if there is one, as Go demands,
 * until handler_leave_altstack. It allocates nothing and takes no lock of libc's or the program's;
 * check_signal_safe.sh follows every call it makes.
 *
 * Context    stated at each function. */
#ifndef SAMPLER_HANDLER_H
#define SAMPLER_HANDLER_H

#include <signal.h>
#include <stdbool.h>

#include "sys/context.h"

/* Installs the handler; what was there before becomes the program's own (program_signal.h). False
 * when the kernel refuses. SETUP */
bool handler_install(void);

/* Whether a signal was sent by a clock, of this thread or another, that was disarmed before it
 * came: then it is nobody's. SIGNAL, HOOK */
SIGNAL_SAFE bool handler_is_late_tick(const siginfo_t *info);

/* Whether a signal that a wait of the program (sigwait) took, and that so did not come to the
 * handler, is one of ours. If it is, its work is done here, except for a sample. HOOK */
bool handler_take(const siginfo_t *info);

/* Puts back what was there before: no clock was ever armed. SETUP */
void handler_remove(void);

/* Alternate stacks have no room for the handler: it runs on ordinary ones from now on, in all
 * threads. HOOK */
void handler_leave_altstack(void);

/* Whether the kernel still has our handler. Nobody can set another through libc's functions, but by
 * a system call of its own, or from within libc (profil), past our hooks. EXIT */
bool handler_is_in_place(void);

/* Installs the handler again after it was given away for an exec that failed. HOOK */
void handler_install_again(void);

#endif
