/* fences.c - the program is about to forbid itself system calls, or the clock.
 *
 *   seccomp                     strict mode, or a filter that kills or traps
 *   system call dispatch        PR_SET_SYSCALL_USER_DISPATCH: calls from outside a range of code
 *                               are a signal (Wine and other emulators)
 *   the processor's clock       PR_SET_TSC: the instruction that reads it is a signal
 *
 * Under the first two any call of ours may be the program's end, even the return from our handler.
 * So the recording ends here, the clocks stop, and the hooks step aside for good. Filters that only
 * refuse (EPERM, ENOSYS) are no danger: we do without what they refuse. The third only takes the
 * vDSO from us, which reads that clock without a system call.
 *
 * Fences put up before the program began cannot be seen. (That of the clock is inherited, and ends a
 * program in glibc's own start.) */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <string.h>
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

/* `why` is told in the recording. HOOK */
static void leave(const char *why)
{
    int saved_errno = errno;
    if (session_phase() != SESSION_RUNNING || !session_is_ours())
        return;
    if (thread_self != NULL) {
        uint64_t ours = os_signal_bit(session.settings.signo);
        os_sigmask(SIG_BLOCK, &ours, NULL);
        stream_put_info(&thread_self->stream, "stopped", why, strlen(why));
        os_sigmask(SIG_UNBLOCK, &ours, NULL);
    }
    if (session_end(-1))
        report_at_exit();
    session_leave();
    errno = saved_errno;
}

/* HOOK */
static void check_seccomp(bool by_prctl, unsigned long how, unsigned long filter)
{
    bool is_strict = how == (by_prctl ? (unsigned long)SECCOMP_MODE_STRICT
                                      : (unsigned long)SECCOMP_SET_MODE_STRICT);
    bool is_filter = how == (by_prctl ? (unsigned long)SECCOMP_MODE_FILTER
                                      : (unsigned long)SECCOMP_SET_MODE_FILTER);
    hooks_secure(); /* the filter may refuse to open files */
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): an argument of the call */
    if (is_strict || (is_filter && filter_kills((const struct sock_fprog *)filter)))
        leave("the program forbids itself system calls (seccomp)");
}

/* HOOK */
static void check_prctl(unsigned long option, unsigned long how, unsigned long filter)
{
    if (option == PR_SET_SECCOMP)
        check_seccomp(true, how, filter);
    else if (option == PR_SET_SYSCALL_USER_DISPATCH && how != PR_SYS_DISPATCH_OFF)
        leave("the program handles its own system calls (PR_SET_SYSCALL_USER_DISPATCH)");
    else if (option == PR_SET_TSC && how == PR_TSC_SIGSEGV)
        os_clock_by_call();
}

/* HOOK */
void hooks_fence_check(long number, unsigned long first, unsigned long second, unsigned long third)
{
    if (number == SYS_prctl) {
        check_prctl(first, second, third);
    } else if (number == SYS_seccomp) {
        check_seccomp(false, first, third);
    } else { /* another call by which rights go */
        hooks_make_others_dir();
        hooks_secure();
    }
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
    check_prctl((unsigned long)option, arguments[0], arguments[1]);
    return LIBC_REAL(prctl)(option, arguments[0], arguments[1], arguments[2], arguments[3]);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
