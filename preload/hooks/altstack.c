/* altstack.c - stacks too small to hold us as well.
 *
 * Alternate signal stacks. Our handler runs on the thread's, if it has one: Go demands that, since
 * its own stacks are small. But a signal frame alone takes 3 kB or more on a processor with AVX-512,
 * and programs have alternate stacks of 2 kB (the old MINSIGSTKSZ) that nothing ever used before we
 * came, or of 8 kB that hold one handler but not two.
 *
 *   below FRAME_BYTES   our handler stays on the ordinary stack, in the whole process
 *   below NEST_BYTES    our signal waits while handlers run that use the alternate stack
 *
 * Both last: threads come and go, and the kernel keeps one handler for all.
 *
 * Stacks of threads. A program that handles no signals may use its threads' stacks to the last
 * page. What libc allocates is made larger by what we need (hooks/threads.c); where the memory is
 * the program's, the thread is lent an alternate stack of ours until it sets one of its own. The
 * program sees neither: it is told that there is none. */
#include <signal.h>

#include "hooks/hooks.h"
#include "signals/handler.h"
#include "sys/os.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */

#define FRAME_BYTES 8192u
#define NEST_BYTES 32768u

/* For our handler, and for one of the program's that asks for an alternate stack and now gets
 * one. */
#define LENT_BYTES 65536u

/* Atomic; set once. */
static bool keep_waiting;

static __thread void *lent; /* the calling thread's alternate stack of ours, NULL = none */

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
            LIBC_REAL(sigaction)(signo, NULL, &action) != 0 || action.sa_handler == SIG_DFL ||
            action.sa_handler == SIG_IGN || ((unsigned)action.sa_flags & SA_ONSTACK) == 0)
            continue;
        sigaddset(&action.sa_mask, session.settings.signo);
        LIBC_REAL(sigaction)(signo, &action, NULL);
    }
}

/* HOOK */
void altstack_lend(void)
{
    const stack_t ours = {.ss_sp = os_map(LENT_BYTES), .ss_size = LENT_BYTES};
    if (ours.ss_sp == NULL)
        return;
    if (LIBC_REAL(sigaltstack)(&ours, NULL) == 0)
        lent = ours.ss_sp;
    else
        os_unmap(ours.ss_sp, LENT_BYTES);
}

/* HOOK */
void altstack_take_back(void)
{
    const stack_t none = {.ss_flags = SS_DISABLE};
    stack_t now;
    if (lent == NULL || LIBC_REAL(sigaltstack)(NULL, &now) != 0)
        return;
    if (now.ss_sp == lent && LIBC_REAL(sigaltstack)(&none, NULL) != 0)
        return; /* the thread ends on it */
    os_unmap(lent, LENT_BYTES);
    lent = NULL;
}

/* sigaltstack in a thread that has a stack of ours while it has none of its own. HOOK */
static int set_instead_of_lent(const stack_t *stack, stack_t *old)
{
    const stack_t ours = {.ss_sp = lent, .ss_size = LENT_BYTES};
    bool is_none = stack != NULL && (stack->ss_flags & SS_DISABLE) != 0;
    int result = LIBC_REAL(sigaltstack)(is_none ? &ours : stack, old);
    if (result == 0 && old != NULL && old->ss_sp == lent)
        *old = (stack_t){.ss_flags = SS_DISABLE};
    return result;
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
    if (unlikely(lent != NULL))
        return set_instead_of_lent(stack, old);
    return LIBC_REAL(sigaltstack)(stack, old);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
