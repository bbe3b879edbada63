/* handler.h - the signal handler of our clocks.
 *
 *   ours?  no -> the program's own handler, if it has one for this signal
 *          yes -> weight from the CPU clock -> sample -> undo what the signal did to a system call
 *
 * Context    handler_install: SETUP. */
#ifndef SAMPLER_HANDLER_H
#define SAMPLER_HANDLER_H

#include <signal.h>
#include <stdbool.h>

#include "context.h"

/* Installs the handler; what was there before becomes the program's own (program_signal.h). */
bool handler_install(void);

/* Whether a signal comes of a clock that was disarmed before it came, of this thread or another:
 * then it is nobody's. SIGNAL, HOOK */
SIGNAL_SAFE bool handler_is_late_tick(const siginfo_t *info);

/* Puts back what was there before: no clock was ever armed. SETUP */
void handler_remove(void);

/* Alternate stacks have no room for it: it runs on ordinary ones from now on. HOOK */
void handler_leave_altstack(void);

/* Once more, after it was given away for an exec that failed. HOOK */
void handler_install_again(void);

#endif
