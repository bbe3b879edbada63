/* restart.h - makes system calls that our signal interrupted again, as if nothing had happened.
 *
 * SA_RESTART covers only some calls; poll, select, epoll_wait, nanosleep, semop, sigtimedwait,
 * sockets with timeouts and others return EINTR after any handler. A handler can see that: it was
 * entered right after a `syscall` instruction, with -EINTR as the result. Then, if no other signal
 * is pending whose EINTR the program may want, and no handler of the program interrupted that very
 * call (relay.h), the call is made again when our handler returns.
 *
 * It is made with the time that is left:
 *   select, pselect, ppoll   the kernel has written it where the second call finds it
 *   nanosleep                the kernel returns it
 *   poll, epoll_wait         the timeout is in a register; the hooks (hooks/waits.c) note when the
 *                            wait began. Where none did, what passed before the first tick is
 *                            waited for again, here and in the two below
 *   a struct timespec        the second call gets one of ours, which each further tick shortens
 *   a socket's timeout       the second call has it anew; a tick later than that ends the call
 *
 * x86-64 only: on other processors the result overwrites the first argument.
 *
 * Context    restart_interrupted_call: SIGNAL. restart_note_handler: any. */
#ifndef SAMPLER_RESTART_H
#define SAMPLER_RESTART_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/context.h"

/* What this thread's handler has to know of its calls. Written by the thread's hooks, read in its
 * handler. */
struct restart_thread {
    uint64_t wait_start_ns; /* CLOCK_MONOTONIC; of the wait in `wait_frame`, 0 = none */
    uint64_t wait_frame;    /* address in the hook's frame: the wait is deeper, and near */
    int32_t wait_ms;        /* its timeout */
};

extern __thread struct restart_thread restart_thread;

/* Changes `context`, the handler's ucontext_t, so that the interrupted call, if there is one, is
 * made again. `has_storage`: thread-local storage is libc's. SIGNAL */
SIGNAL_SAFE void restart_interrupted_call(void *context, bool has_storage);

/* A handler of the program begins: if it interrupted a call, that call stays interrupted (and is
 * marked so in the registers that the handler's return restores). `context` is that handler's
 * ucontext_t. any context */
SIGNAL_SAFE void restart_note_handler(void *context);

#endif
