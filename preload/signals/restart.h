/* restart.h - system calls that our signal broke off go on as if nothing had happened.
 *
 * SA_RESTART covers only some calls; poll, select, epoll_wait, nanosleep, semop, sigtimedwait,
 * sockets with timeouts and others return EINTR after any handler. A handler can tell: it was
 * entered right behind a `syscall` instruction with -EINTR as the result. Then, if no other signal
 * is waiting whose EINTR the program may want, and no handler of the program broke off that very
 * call (relay.h), the call is made again when the handler returns.
 *
 * It is made with the time that is left. select, pselect and ppoll leave that where the second call
 * finds it; nanosleep says it. Where a timeout is a struct timespec, the second call gets one of
 * ours, which each further tick shortens: what passed before the first tick is waited for once
 * more, and that is at most a period. poll and epoll_wait have their timeout in a register; the
 * hooks (hooks/waits.c) note when they began. Timeouts of sockets start anew.
 * x86-64 only: elsewhere the result overwrites the first argument. */
#ifndef SAMPLER_PRELOAD_SIGNALS_RESTART_H
#define SAMPLER_PRELOAD_SIGNALS_RESTART_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/context.h"

/* What this thread's handler is to know of its calls. Written by the thread's hooks. */
struct restart_thread {
    uint64_t wait_start_ns; /* CLOCK_MONOTONIC; of the wait in `wait_frame`, 0 = none */
    uint64_t wait_frame;    /* address in the hook's frame: the wait is deeper, and near */
    int32_t wait_ms;        /* its timeout */
};

extern __thread struct restart_thread restart_thread;

/* `context` is the handler's ucontext_t. `has_storage`: thread-local storage is as libc's, and will
 * be there when the call is made again; without it timeouts start anew. SIGNAL */
SIGNAL_SAFE void restart_interrupted_call(void *context, bool has_storage);

/* A handler of the program begins: if it broke off a call, that call stays broken off (and is
 * marked so in the registers that the handler's return puts back). `context` is that handler's
 * ucontext_t. any context */
SIGNAL_SAFE void restart_note_handler(void *context);

#endif
