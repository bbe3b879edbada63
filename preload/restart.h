/* restart.h - system calls that our signal broke off go on as if nothing had happened.
 *
 * SA_RESTART covers only some calls; poll, select, epoll_wait, nanosleep, semop, sigtimedwait,
 * sockets with timeouts and others return EINTR after any handler. A handler can tell: it was
 * entered right behind a `syscall` instruction with -EINTR as the result. Then, if no other signal
 * is waiting whose EINTR the program may want, and no handler of the program broke off that very
 * call (relay.h), the call is made again when the handler returns.
 *
 * Relative timeouts start anew. Our clocks tick only while the thread uses the processor, that is
 * on its way into the call (nothing has passed yet) or out of it; select, ppoll and nanosleep(t, t)
 * leave the rest of the time where the second call finds it. What remains is poll() woken by its
 * timeout at the very moment of a tick: it waits once more.
 * x86-64 only: elsewhere the result overwrites the first argument. */
#ifndef SAMPLER_RESTART_H
#define SAMPLER_RESTART_H

#include "context.h"

/* `context` is the handler's ucontext_t. SIGNAL */
SIGNAL_SAFE void restart_interrupted_call(void *context);

/* A handler of the program begins: if it broke off a call, that call stays broken off (and is
 * marked so in the registers that the handler's return puts back). `context` is that handler's
 * ucontext_t. any context */
SIGNAL_SAFE void restart_note_handler(void *context);

#endif
