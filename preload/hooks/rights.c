/* rights.c - the program is about to give up what it takes to open a file: its user, its root, its
 * namespaces, its descriptors, its system calls. A recording that is still in memory gets its file
 * before that (record/recording.h), a thread its event (clock/clock.h), the process its timer
 * (threads/scan.h), and the thread that watches elapsed time makes way (threads/watcher.h). Where
 * root's sampler-run has a folder for other users, it is made. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hooks/hooks.h"
#include "process/session.h"
#include "state/infos.h"
#include "sys/line.h"
#include "sys/os.h"
#include "threads/life.h"
#include "threads/scan.h"
#include "threads/slots.h"
#include "threads/watcher.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */

/* HOOK */
void hooks_place(void)
{
    if (likely(infos_are_put()) || session_phase() != SESSION_RUNNING || !session_is_ours())
        return;
    int saved_errno = errno;
    const uint64_t all = ~UINT64_C(0);
    uint64_t before = 0;
    os_sigmask(SIG_BLOCK, &all, &before);
    if (recording_place(&session.recording) && thread_self != NULL)
        infos_put(&thread_self->stream);
    os_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved_errno;
}

/* HOOK */
static void arm_awaited(void)
{
    struct thread *thread = thread_self;
    if (thread == NULL || session_phase() != SESSION_RUNNING || !session_is_ours())
        return;
    int saved_errno = errno;
    const uint64_t all = ~UINT64_C(0);
    uint64_t before = 0;
    os_sigmask(SIG_BLOCK, &all, &before);
    if (thread_hold(thread)) {
        uint64_t now_ns = os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        if (clock_is_awaited(&thread->clock))
            thread_arm_awaited(thread, now_ns);
        thread_release(thread);
    }
    scan_wait_no_more();
    os_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved_errno;
}

/* HOOK */
void hooks_secure(void)
{
    hooks_place();
    arm_awaited();
}

/* As in /tmp, nobody removes or renames another's files; and only root lists them. */
#define OTHERS_MODE (S_ISVTX | S_IRWXU | S_IWGRP | S_IXGRP | S_IWOTH | S_IXOTH)
#define OTHERS_OUTER_MODE (S_IRWXU | S_IXGRP | S_IXOTH)

/* HOOK */
static void make_folder(const char *path, mode_t mode)
{
    if (os_call(SYS_mkdirat, AT_FDCWD, path, S_IRWXU) == 0) /* the program's umask is in the way */
        os_call(SYS_fchmodat, AT_FDCWD, path, mode);
}

/* HOOK */
void hooks_make_others_dir(void)
{
    char path[PATH_MAX];
    struct line line;
    int saved_errno = errno;
    if (session.settings.others_dir == NULL || session.settings.recording_dir == NULL)
        return;
    line_init(&line, path, sizeof path);
    line_add(&line, session.settings.others_dir);
    char *slash = line.cut ? NULL : strrchr(path, '/');
    /* Where the folder of the run is not, after chroot, nobody would look for the other. */
    if (slash != NULL &&
        os_call(SYS_faccessat, AT_FDCWD, session.settings.recording_dir, W_OK) == 0) {
        *slash = '\0';
        make_folder(path, OTHERS_OUTER_MODE);
        make_folder(session.settings.others_dir, OTHERS_MODE);
    }
    errno = saved_errno;
}

/* What the kernel does only for a process with one thread, or whose working folder no other thread
 * shares (unshare(2), setns(2)). Not a new pid namespace alone: no thread can be started after it. */
#define ONE_THREAD_UNSHARE (CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM)
#define ONE_THREAD_SETNS (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWTIME)

/* Before a call that needs it: `one_thread`, that no thread of ours is there. Returns whether
 * rights_end has to start that again. HOOK */
static bool rights_begin(bool one_thread)
{
    hooks_secure();
    bool is_away = one_thread && session.settings.measure == SETTINGS_WALL &&
                   session_phase() == SESSION_RUNNING && session_is_ours();
    int saved_errno = errno;
    if (is_away)
        watcher_leave();
    errno = saved_errno;
    return is_away;
}

/* HOOK */
static void say_no_watcher(int error)
{
    char bytes[200];
    struct line line;
    uint64_t ours = os_signal_bit(session.settings.signo);
    if (thread_self == NULL)
        return;
    line_init(&line, bytes, sizeof bytes);
    line_add(&line, "the thread that watches elapsed time had to end for a change of user or "
                    "namespaces, and cannot be started again: ");
    line_add(&line, strerror(error));
    os_sigmask(SIG_BLOCK, &ours, NULL);
    stream_put_info(&thread_self->stream, "stopped", bytes, line.length);
    os_sigmask(SIG_UNBLOCK, &ours, NULL);
}

/* HOOK */
static void rights_end(bool is_away)
{
    int saved_errno = errno;
    if (is_away && !watcher_return())
        say_no_watcher(errno);
    errno = saved_errno;
}

/* HOOK */
HOOK_EXPORT int setuid(uid_t user)
{
    hooks_make_others_dir();
    bool is_away = rights_begin(true);
    int result = LIBC_REAL(setuid)(user);
    rights_end(is_away);
    return result;
}

/* HOOK */
HOOK_EXPORT int setgid(gid_t group)
{
    bool is_away = rights_begin(true);
    int result = LIBC_REAL(setgid)(group);
    rights_end(is_away);
    return result;
}

/* HOOK */
HOOK_EXPORT int seteuid(uid_t user)
{
    hooks_make_others_dir();
    bool is_away = rights_begin(true);
    int result = LIBC_REAL(seteuid)(user);
    rights_end(is_away);
    return result;
}

/* HOOK */
HOOK_EXPORT int setegid(gid_t group)
{
    bool is_away = rights_begin(true);
    int result = LIBC_REAL(setegid)(group);
    rights_end(is_away);
    return result;
}

/* HOOK */
HOOK_EXPORT int setreuid(uid_t real, uid_t effective)
{
    hooks_make_others_dir();
    bool is_away = rights_begin(true);
    int result = LIBC_REAL(setreuid)(real, effective);
    rights_end(is_away);
    return result;
}

/* HOOK */
HOOK_EXPORT int setregid(gid_t real, gid_t effective)
{
    bool is_away = rights_begin(true);
    int result = LIBC_REAL(setregid)(real, effective);
    rights_end(is_away);
    return result;
}

/* HOOK */
HOOK_EXPORT int setresuid(uid_t real, uid_t effective, uid_t saved)
{
    hooks_make_others_dir();
    bool is_away = rights_begin(true);
    int result = LIBC_REAL(setresuid)(real, effective, saved);
    rights_end(is_away);
    return result;
}

/* HOOK */
HOOK_EXPORT int setresgid(gid_t real, gid_t effective, gid_t saved)
{
    bool is_away = rights_begin(true);
    int result = LIBC_REAL(setresgid)(real, effective, saved);
    rights_end(is_away);
    return result;
}

/* HOOK */
HOOK_EXPORT int setgroups(size_t n, const gid_t *groups)
{
    bool is_away = rights_begin(true);
    int result = LIBC_REAL(setgroups)(n, groups);
    rights_end(is_away);
    return result;
}

/* HOOK */
HOOK_EXPORT int initgroups(const char *user, gid_t group)
{
    bool is_away = rights_begin(true);
    int result = LIBC_REAL(initgroups)(user, group);
    rights_end(is_away);
    return result;
}

/* HOOK */
HOOK_EXPORT int chroot(const char *path)
{
    hooks_secure();
    return LIBC_REAL(chroot)(path);
}

/* HOOK */
HOOK_EXPORT int unshare(int flags)
{
    bool is_away = rights_begin((flags & ONE_THREAD_UNSHARE) != 0);
    int result = LIBC_REAL(unshare)(flags);
    rights_end(is_away);
    return result;
}

/* HOOK */
HOOK_EXPORT int setns(int fd, int kind)
{
    bool is_away = rights_begin(kind == 0 || (kind & ONE_THREAD_SETNS) != 0);
    int result = LIBC_REAL(setns)(fd, kind);
    rights_end(is_away);
    return result;
}

/* Whether a limit may refuse us a file, a descriptor, memory or a timer. Compilers and others set
 * that of the stack as they start, for which nothing needs to be made yet. HOOK */
static bool may_refuse_us(__rlimit_resource_t resource)
{
    return resource == RLIMIT_NOFILE || resource == RLIMIT_FSIZE || resource == RLIMIT_AS ||
           resource == RLIMIT_DATA || resource == RLIMIT_SIGPENDING;
}

/* HOOK */
HOOK_EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
    if (may_refuse_us(resource))
        hooks_secure();
    return LIBC_REAL(setrlimit)(resource, limit);
}

/* The same function on 64-bit machines, under the name that programs with large files use. HOOK */
HOOK_EXPORT int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
    if (may_refuse_us(resource))
        hooks_secure();
    return LIBC_REAL(setrlimit64)(resource, limit);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
