/* handler.h - the signal handler of our clocks.
 *
 *   ours?  no -> the program's own handler, if it has one for this signal
 *          yes -> weight from the CPU clock -> sample -> undo what the signal did to a system call
 *
 * Context    handler_install: SETUP. */
#ifndef SAMPLER_PRELOAD_SIGNALS_HANDLER_H
#define SAMPLER_PRELOAD_SIGNALS_HANDLER_H

#include <signal.h>
#include <stdbool.h>

#include "sys/context.h"

/* Installs the handler; what was there before becomes the program's own (program_signal.h). */
bool handler_install(void);

/* Whether a signal comes of a clock that was disarmed before it came, of this thread or another:
 * then it is nobody's. SIGNAL, HOOK */
SIGNAL_SAFE bool handler_is_late_tick(const siginfo_t *info);

/* A signal was taken that may be the one that stops sampling or makes it go on; nothing happens if
 * it is not. any context */
SIGNAL_SAFE void handler_toggle(int signo);

/* Whether this is what we set for that signal, which the program is not to see. any context */
bool handler_is_toggle(const struct sigaction *action);

/* Whether a signal that a wait of the program has got, which so did not come to the handler, is of
 * ours: it is answered then, but for a sample. HOOK */
bool handler_take(const siginfo_t *info);

/* Puts back what was there before: no clock was ever armed. SETUP */
void handler_remove(void);

/* Alternate stacks have no room for it: it runs on ordinary ones from now on. HOOK */
void handler_leave_altstack(void);

/* Once more, after it was given away for an exec that failed. HOOK */
void handler_install_again(void);

#endif
