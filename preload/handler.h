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

/* A signal was taken that may be the one that stops sampling or makes it go on; nothing happens if
 * it is not. any context */
SIGNAL_SAFE void handler_toggle(int signo);

/* Whether this is what we set for that signal, which the program is not to see. any context */
bool handler_is_toggle(const struct sigaction *action);

/* Puts back what was there before: no clock was ever armed. SETUP */
void handler_remove(void);

/* Once more, after it was given away for an exec that failed. HOOK */
void handler_install_again(void);

#endif
