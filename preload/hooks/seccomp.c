/* seccomp.c - the program is about to forbid itself system calls.
 *
 * Where what is forbidden ends the program (strict mode, a filter that kills or traps), any call of
 * ours may be its end, even the return from our handler. So the recording ends here, the clocks
 * stop, and the hooks step aside for good. Filters that only refuse (EPERM, ENOSYS) are no danger:
 * we do without what they refuse. Filters put in place before the program began cannot be seen. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "hooks/hooks.h"
#include "process/report.h"
#include "process/session.h"
#include "sys/os.h"
#include "threads/slots.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */

/* Whether one of the filter's answers ends the caller; an answer that is computed counts as one.
 * HOOK */
static bool filter_kills(const struct sock_fprog *program)
{
    for (unsigned i = 0; program != NULL && i < program->len; i++) {
        const struct sock_filter *step = &program->filter[i];
        unsigned action = step->k & SECCOMP_RET_ACTION_FULL;
        if (BPF_CLASS(step->code) != BPF_RET)
            continue;
        if (BPF_RVAL(step->code) != BPF_K || action == SECCOMP_RET_KILL_PROCESS ||
            action == SECCOMP_RET_KILL_THREAD || action == SECCOMP_RET_TRAP)
            return true;
    }
    return false;
}

/* HOOK */
static void leave(void)
{
    int saved_errno = errno;
    static const char why[] = "the program forbids itself system calls (seccomp)";
    if (session_phase() != SESSION_RUNNING || !session_is_ours())
        return;
    if (thread_self != NULL) {
        uint64_t ours = os_signal_bit(session.settings.signo);
        os_sigmask(SIG_BLOCK, &ours, NULL);
        stream_put_info(&thread_self->stream, "stopped", why, sizeof why - 1);
        os_sigmask(SIG_UNBLOCK, &ours, NULL);
    }
    if (session_end(-1))
        report_at_exit();
    session_leave();
    errno = saved_errno;
}

/* HOOK */
void hooks_seccomp_check(long number, unsigned long first, unsigned long second,
                         unsigned long third)
{
    bool by_prctl = number == SYS_prctl && first == PR_SET_SECCOMP;
    unsigned long how = by_prctl ? second : first;
    if (number != SYS_prctl && number != SYS_seccomp)
        hooks_place(); /* another call by which rights go */
    if (!by_prctl && number != SYS_seccomp)
        return;
    bool is_strict = how == (by_prctl ? (unsigned long)SECCOMP_MODE_STRICT
                                      : (unsigned long)SECCOMP_SET_MODE_STRICT);
    bool is_filter = how == (by_prctl ? (unsigned long)SECCOMP_MODE_FILTER
                                      : (unsigned long)SECCOMP_SET_MODE_FILTER);
    hooks_place(); /* the filter may refuse to open files */
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): an argument of the call */
    if (is_strict || (is_filter && filter_kills((const struct sock_fprog *)third)))
        leave();
}

/* HOOK */
HOOK_EXPORT int prctl(int option, ...)
{
    va_list rest;
    unsigned long arguments[4];
    va_start(rest, option);
    for (int i = 0; i < 4; i++)
        arguments[i] = va_arg(rest, unsigned long);
    va_end(rest);
    if (unlikely(option == PR_SET_SECCOMP))
        hooks_seccomp_check(SYS_prctl, (unsigned long)option, arguments[0], arguments[1]);
    return libc_real()->prctl(option, arguments[0], arguments[1], arguments[2], arguments[3]);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
