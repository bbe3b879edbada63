/* process.c - the process forks, replaces itself, or ends.
 *
 *   exit, return from main   on_exit, registered before the program's own and so run after them
 *   quick_exit               __cxa_at_quick_exit, registered before the program's own too
 *   _exit, _Exit             interposed
 *   exec*                    interposed: the end is marked, and the mark taken back when it fails
 *   fork                     handlers of pthread_atfork
 *   clone, syscall           interposed (threads.c, syscall.c): as fork, where they copy the process
 *
 * abort, fatal signals and SIGKILL need nothing: the recording is valid at any time once it has a
 * file (record/recording.h). A vfork child
 * runs in its parent's memory with another pid; nothing here does anything in it. */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include "hooks/hooks.h"
#include "process/exec_env.h"
#include "process/report.h"
#include "process/session.h"
#include "signals/handler.h"
#include "signals/program_mask.h"
#include "signals/program_signal.h"
#include "sys/fds.h"
#include "sys/os.h"
#include "threads/children.h"
#include "threads/life.h"
#include "threads/slots.h"
#include "unwind/modules.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */

/* libc's; at_quick_exit itself would run with our destructors, too early.
 * NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): its name is libc's */
extern int __cxa_at_quick_exit(void (*function)(void *), void *library);

/* EXIT */
static void end_and_report(int status)
{
    int saved_errno = errno;
    if (session_end(status))
        report_at_exit();
    errno = saved_errno;
}

/* EXIT */
static void on_exit_called(int status, void *unused)
{
    (void)unused;
    end_and_report(status);
}

/* EXIT */
static void on_quick_exit(void *unused)
{
    (void)unused;
    end_and_report(-1);
}

/* EXIT */
HOOK_EXPORT void _exit(int status)
{
    end_and_report(status);
    LIBC_REAL(exit_now)(status);
    __builtin_unreachable();
}

/* EXIT */
HOOK_EXPORT void _Exit(int status)
{
    _exit(status);
}

/* ---- fork ---------------------------------------------------------------------------------- */

/* Of the thread that forks: whether it had our signal blocked already, and the soft limit of
 * files. */
static __thread bool blocked_before_fork;
static __thread rlim_t soft_limit_before_fork;

/* What a child is likely to come to next, for a parent that has more than one: looked up once, and not
 * by each of them. HOOK */
static void look_up_for_children(void)
{
    if (session.recording.header == NULL || session.recording.header->n_forks == 0)
        return;
    (void)LIBC_REAL(exit_now);
    (void)LIBC_REAL(execve);
}

/* Our signal is blocked while the process is copied: otherwise a copy that takes longer than a
 * period is begun again at each tick, for ever. No lock is held until then: handlers of the program
 * run between this and the copy; they may start threads, or wait for the end of threads, and so for
 * our locks. HOOK */
static void before_fork(void)
{
    uint64_t ours = os_signal_bit(session.settings.signo), before = 0;
    look_up_for_children();
    os_sigmask(SIG_BLOCK, &ours, &before);
    blocked_before_fork = (before & ours) != 0;
    soft_limit_before_fork = __libc_single_threaded ? RLIM_INFINITY : fds_soft_limit();
}

/* HOOK */
static void after_fork(void)
{
    uint64_t ours = os_signal_bit(session.settings.signo);
    if (!blocked_before_fork)
        os_sigmask(SIG_UNBLOCK, &ours, NULL);
}

/* HOOK */
static void after_fork_in_parent(void)
{
    int saved_errno = errno;
    if (session.recording.header != NULL)
        recording_count(&session.recording.header->n_forks, 1);
    after_fork();
    os_errno_restore(saved_errno);
}

/* HOOK */
static void after_fork_in_child(void)
{
    int saved_errno = errno;
    struct session_entry entry = session_enter();
    fds_forked(soft_limit_before_fork);
    thread_registry_lock_alone();
    session_restart(&entry, true);
    thread_registry_unlock();
    after_fork();
    os_errno_restore(saved_errno);
}

/* What the child shares with its parent or has of its own, so that nothing of ours may run in it:
 * memory, thread-local storage, and descriptors, which it would close for both. */
#define NOT_A_FORK (CLONE_VM | CLONE_SETTLS | CLONE_FILES)

/* any context */
bool hooks_clone_is_fork(uint64_t flags)
{
    return (flags & NOT_A_FORK) == 0 && hooks_active();
}

/* HOOK */
long hooks_fork_by_clone(unsigned long flags, pid_t *parent_tid, pid_t *child_tid)
{
    if (!hooks_active())
        return os_call(SYS_clone, flags, NULL, parent_tid, child_tid, 0);
    before_fork();
    long result = os_call(SYS_clone, flags, NULL, parent_tid, child_tid, 0);
    if (result == 0)
        after_fork_in_child();
    else if (result > 0)
        after_fork_in_parent();
    else
        after_fork();
    return result;
}

/* ---- exec ---------------------------------------------------------------------------------- */

struct exec_attempt {
    bool missed; /* the program cannot be recorded, and that was noted */
    bool paused;
    bool removed; /* the recording, for want of samples */
};

/* The new program must find our signal as it would without us: blocked or ignored if the program
 * had it so. No tick may be pending then, as it would kill the new program: where the clock cannot
 * be silenced, our signal is ignored. HOOK */
static void give_signal_back(bool is_silent)
{
    uint64_t ours = os_signal_bit(session.settings.signo);
    struct sigaction program;
    program_signal_get(&program);
    if (!is_silent)
        program = (struct sigaction){.sa_handler = SIG_IGN};
    if (program.sa_handler == SIG_IGN)
        LIBC_REAL(sigaction)(session.settings.signo, &program, NULL);
    if (mask_believed())
        os_sigmask(SIG_BLOCK, &ours, NULL);
}

/* Whether `path` cannot be run because nothing is there, which is what a search along PATH finds in
 * most folders. Finer questions would depend on the effective user; what is denied fails anyway.
 * HOOK */
static bool is_missing(const char *path)
{
    return access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

/* HOOK */
static struct program_kind kind_of_executable(const char *path)
{
    return hooks_kind_of(path != NULL && access(path, X_OK) == 0 ? path : NULL);
}

/* `path` is NULL where it is not known which program will run. HOOK */
static struct exec_attempt exec_begin(const char *path, const struct program_kind *kind,
                                      char *const envp[])
{
    struct exec_attempt attempt = {false, false, false};
    uint32_t why = path != NULL && access(path, X_OK) == 0 ? hooks_why_missed(kind, envp) : 0;
    if (why != 0) {
        attempt.missed = true;
        children_missed(path, why);
        hooks_place(); /* what is appended could not be taken back */
    }
    if (session_phase() != SESSION_RUNNING || !session_is_ours() ||
        (path != NULL && is_missing(path)))
        return attempt;
    attempt.paused = true;
    session_pause_for_exec();
    bool is_silent = thread_self == NULL || clock_disarm(&thread_self->clock);
    attempt.removed = report_before_exec(why == 0);
    give_signal_back(is_silent);
    return attempt;
}

/* HOOK */
static int exec_failed(struct exec_attempt attempt)
{
    int saved_errno = errno;
    if (attempt.missed)
        children_not_missed();
    if (!attempt.paused)
        return -1;
    uint64_t ours = os_signal_bit(session.settings.signo);
    handler_install_again();
    if (attempt.removed) {
        struct session_entry entry = session_enter();
        thread_registry_lock();
        session_restart(&entry, false);
        thread_registry_unlock();
    } else {
        session_resume();
        if (thread_self != NULL)
            thread_rearm(thread_self);
    }
    os_sigmask(SIG_UNBLOCK, &ours, NULL);
    errno = saved_errno;
    return -1;
}

/* HOOK */
HOOK_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    struct program_kind kind = kind_of_executable(path);
    char *const *given;
    EXEC_ENV(given, envp, &kind);
    struct exec_attempt attempt = exec_begin(path, &kind, given);
    LIBC_REAL(execve)(path, argv, given);
    return exec_failed(attempt);
}

/* HOOK */
HOOK_EXPORT int execv(const char *path, char *const argv[])
{
    return execve(path, argv, environ);
}

/* HOOK */
HOOK_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
    char found[1024];
    const char *path =
        session_phase() == SESSION_RUNNING ? program_find_in_path(file, found, sizeof found) : NULL;
    struct program_kind kind = kind_of_executable(path);
    char *const *given;
    EXEC_ENV(given, envp, &kind);
    struct exec_attempt attempt = exec_begin(path, &kind, given);
    LIBC_REAL(execvpe)(file, argv, given);
    return exec_failed(attempt);
}

/* HOOK */
HOOK_EXPORT int execvp(const char *file, char *const argv[])
{
    return execvpe(file, argv, environ);
}

/* HOOK */
HOOK_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
    char self[40];
    struct line line;
    line_init(&line, self, sizeof self);
    line_add(&line, "/proc/self/fd/");
    line_add_number(&line, (uint64_t)(unsigned)fd);
    char *const *given;
    struct program_kind kind = hooks_kind_of(self);
    EXEC_ENV(given, envp, &kind);
    struct exec_attempt attempt = exec_begin(NULL, &kind, given);
    LIBC_REAL(fexecve)(fd, argv, given);
    return exec_failed(attempt);
}

/* HOOK */
HOOK_EXPORT int execveat(int fd, const char *path, char *const argv[], char *const envp[],
                         int flags)
{
    const char *known = fd == AT_FDCWD ? path : NULL;
    struct program_kind kind = kind_of_executable(known);
    char *const *given;
    EXEC_ENV(given, envp, &kind);
    if (LIBC_REAL(execveat) == NULL) {
        errno = ENOSYS;
        return -1;
    }
    struct exec_attempt attempt = exec_begin(known, &kind, given);
    LIBC_REAL(execveat)(fd, path, argv, given, flags);
    return exec_failed(attempt);
}

/* Collects the arguments of an execl, from `first` to the NULL, into an array; leaves `after` past
 * the NULL. */
#define ARGUMENTS_COLLECT(argv, first, after)                                                      \
    do {                                                                                           \
        va_list counted;                                                                           \
        size_t n_arguments = 1;                                                                    \
        va_start(counted, first);                                                                  \
        while (va_arg(counted, const char *) != NULL)                                              \
            n_arguments++;                                                                         \
        va_end(counted);                                                                           \
        (argv) = alloca((n_arguments + 1) * sizeof(char *));                                       \
        va_start(after, first);                                                                    \
        memcpy((argv), &(first), sizeof(first));                                                   \
        for (size_t i = 1; i <= n_arguments; i++)                                                  \
            (argv)[i] = va_arg(after, char *);                                                     \
    } while (0)

/* HOOK */
HOOK_EXPORT int execl(const char *path, const char *argument, ...)
{
    va_list rest;
    char **argv;
    ARGUMENTS_COLLECT(argv, argument, rest);
    va_end(rest);
    return execve(path, argv, environ);
}

/* HOOK */
HOOK_EXPORT int execlp(const char *file, const char *argument, ...)
{
    va_list rest;
    char **argv;
    ARGUMENTS_COLLECT(argv, argument, rest);
    va_end(rest);
    return execvpe(file, argv, environ);
}

/* HOOK */
HOOK_EXPORT int execle(const char *path, const char *argument, ...)
{
    va_list rest;
    char **argv;
    ARGUMENTS_COLLECT(argv, argument, rest);
    char *const *envp = va_arg(rest, char *const *);
    va_end(rest);
    return execve(path, argv, envp);
}

/* ---- modules go ---------------------------------------------------------------------------- */

/* HOOK */
HOOK_EXPORT int dlclose(void *handle)
{
    int result = LIBC_REAL(dlclose)(handle);
    modules_unloaded();
    return result;
}

/* SETUP */
bool hooks_process_setup(void)
{
    return on_exit(on_exit_called, NULL) == 0 && __cxa_at_quick_exit(on_quick_exit, NULL) == 0 &&
           pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
