/* relay.c - see relay.h. */
#include "signals/relay.h"

#include <stdint.h>

#include "signals/restart.h"
#include "signals/toggle.h"

#define N_SIGNALS 65

/* The program's functions by signal, and which of them take three arguments (one bit a signal).
 * Each atomic on its own: two threads that set one signal's handler at the same time race without
 * us as well. Release and acquire, so that what a handler uses is there when it runs. */
static void (*handlers[N_SIGNALS])(int);
static uint64_t with_info;

/* HOOK */
static uint64_t bit_of(int signo)
{
    return UINT64_C(1) << (signo - 1);
}

/* HOOK */
static bool is_fault(int signo)
{
    return signo == SIGSEGV || signo == SIGBUS || signo == SIGILL || signo == SIGFPE ||
           signo == SIGTRAP || signo == SIGSYS || signo == SIGABRT;
}

/* HOOK */
bool relay_wants(int signo, const struct sigaction *action)
{
    return signo >= 1 && signo < N_SIGNALS && !is_fault(signo) && action->sa_handler != SIG_DFL &&
           action->sa_handler != SIG_IGN && action->sa_handler != SIG_ERR;
}

/* HOOK */
struct relay_before relay_get(int signo)
{
    return (struct relay_before){
        .handler = __atomic_load_n(&handlers[signo], __ATOMIC_ACQUIRE),
        .has_info = (__atomic_load_n(&with_info, __ATOMIC_RELAXED) & bit_of(signo)) != 0,
    };
}

/* HOOK */
void relay_set(int signo, const struct sigaction *action)
{
    bool has_info = ((unsigned)action->sa_flags & SA_SIGINFO) != 0;
    if (has_info)
        __atomic_or_fetch(&with_info, bit_of(signo), __ATOMIC_RELAXED);
    else
        __atomic_and_fetch(&with_info, ~bit_of(signo), __ATOMIC_RELAXED);
    /* sa_handler and sa_sigaction are one place. */
    __atomic_store_n(&handlers[signo], action->sa_handler, __ATOMIC_RELEASE);
}

/* HOOK */
void relay_answer(struct sigaction *old, const struct relay_before *before)
{
    if (old->sa_sigaction != relay_run || before->handler == NULL)
        return;
    old->sa_handler = before->handler;
    if (!before->has_info)
        old->sa_flags &= ~SA_SIGINFO;
}

/* HOOK */
void (*relay_run_short(void))(int)
{
    const struct sigaction action = {.sa_sigaction = relay_run};
    return action.sa_handler;
}

/* any context: a signal of the program */
void relay_run(int signo, siginfo_t *info, void *context)
{
    struct relay_before program = relay_get(signo);
    restart_note_handler(context);
    toggle_taken(signo);
    if (program.handler == NULL)
        return;
    const struct sigaction action = {.sa_handler = program.handler};
    if (program.has_info)
        action.sa_sigaction(signo, info, context);
    else
        action.sa_handler(signo);
}
