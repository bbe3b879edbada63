/* toggle.c - see toggle.h. */
#include "signals/toggle.h"

#include <errno.h>
#include <string.h>

#include "signals/restart.h"
#include "signals/storage.h"
#include "state/run.h"
#include "sys/libc_real.h"
#include "sys/tls.h"
#include "threads/control.h"
#include "threads/find.h"
#include "threads/thread.h"

/* SIGNAL */
SIGNAL_SAFE __attribute__((noinline)) static void toggle(void)
{
    int saved_errno = errno;
    control_toggle();
    errno = saved_errno;
}

/* any context */
void toggle_taken(int signo)
{
    bool ok;
    if (signo != session.settings.toggle_signo || session_phase() != SESSION_RUNNING)
        return;
    uint64_t pointer = tls_pointer();
    struct thread *thread = thread_of_tid(tls_gettid());
    uint64_t block = storage_enter(thread, pointer, &ok);
    if (ok)
        toggle();
    storage_leave(thread, pointer, block);
}

/* SIGNAL */
SIGNAL_SAFE static void on_toggle(int signo, siginfo_t *info, void *context)
{
    (void)info;
    struct thread *thread = thread_of_tid(tls_gettid());
    if (thread != NULL)
        thread_count_tick(thread);
    toggle_taken(signo);
    restart_interrupted_call(context, storage_is_own(thread, tls_pointer()));
}

/* any context */
bool toggle_is_ours(const struct sigaction *action)
{
    return action->sa_sigaction == on_toggle;
}

/* SETUP, HOOK */
static void install(int more_flags)
{
    struct sigaction ours;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = on_toggle;
    ours.sa_flags = SA_SIGINFO | SA_RESTART | more_flags;
    sigfillset(&ours.sa_mask);
    LIBC_REAL(sigaction)(session.settings.toggle_signo, &ours, NULL);
}

/* SETUP */
void toggle_install(void)
{
    if (session.settings.toggle_signo != 0)
        install(SA_ONSTACK);
}

/* HOOK */
void toggle_leave_altstack(void)
{
    struct sigaction current;
    if (session.settings.toggle_signo != 0 &&
        LIBC_REAL(sigaction)(session.settings.toggle_signo, NULL, &current) == 0 &&
        toggle_is_ours(&current))
        install(0);
}
