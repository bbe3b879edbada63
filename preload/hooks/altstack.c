/* altstack.c - alternate signal stacks too small to hold us as well.
 *
 * Our handler runs on the thread's alternate stack, if it has one: Go demands that, since its own
 * stacks are small. But a signal frame alone takes 3 kB or more on a processor with AVX-512, and
 * programs have alternate stacks of 2 kB (the old MINSIGSTKSZ) that nothing ever used before we
 * came, or of 8 kB that hold one handler but not two.
 *
 *   below FRAME_BYTES   our handler stays on the ordinary stack, in the whole process
 *   below NEST_BYTES    our signal waits while handlers run that use the alternate stack
 *
 * Both last: threads come and go, and the kernel keeps one handler for all. */
#include <signal.h>

#include "hooks/hooks.h"
#include "signals/handler.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */

#define FRAME_BYTES 8192u
#define NEST_BYTES 32768u

/* Atomic; set once. */
static bool keep_waiting;

/* HOOK */
bool altstack_is_crowded(void)
{
    return __atomic_load_n(&keep_waiting, __ATOMIC_RELAXED);
}

/* From now on our signal waits for handlers on alternate stacks; those already set are changed.
 * HOOK */
static void wait_for_handlers(void)
{
    if (__atomic_exchange_n(&keep_waiting, true, __ATOMIC_RELAXED))
        return;
    for (int signo = 1; signo <= 64; signo++) {
        struct sigaction action;
        if (signo == session.settings.signo || signo == SIGKILL || signo == SIGSTOP ||
            libc_real()->sigaction(signo, NULL, &action) != 0 || action.sa_handler == SIG_DFL ||
            action.sa_handler == SIG_IGN || ((unsigned)action.sa_flags & SA_ONSTACK) == 0)
            continue;
        sigaddset(&action.sa_mask, session.settings.signo);
        libc_real()->sigaction(signo, &action, NULL);
    }
}

/* HOOK */
HOOK_EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
    /* Before it is in place: a tick may come at once. */
    if (stack != NULL && (stack->ss_flags & SS_DISABLE) == 0 && hooks_active() &&
        session_is_ours()) {
        if (stack->ss_size < FRAME_BYTES)
            handler_leave_altstack();
        if (stack->ss_size < NEST_BYTES)
            wait_for_handlers();
    }
    return libc_real()->sigaltstack(stack, old);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
