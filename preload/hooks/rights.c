/* rights.c - the program is about to give up what it takes to open a file: its user, its root, its
 * namespaces, its descriptors, its system calls. A recording that is still in memory gets its file
 * before that (record/recording.h). */
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "hooks/hooks.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */

/* HOOK */
void hooks_place(void)
{
    if (likely(__atomic_load_n(&session.recording.state, __ATOMIC_RELAXED) !=
               RECORDING_IN_MEMORY) ||
        session_phase() != SESSION_RUNNING || !session_is_ours())
        return;
    int saved_errno = errno;
    recording_place(&session.recording);
    errno = saved_errno;
}

/* HOOK */
HOOK_EXPORT int setuid(uid_t user)
{
    hooks_place();
    return libc_real()->setuid(user);
}

/* HOOK */
HOOK_EXPORT int setgid(gid_t group)
{
    hooks_place();
    return libc_real()->setgid(group);
}

/* HOOK */
HOOK_EXPORT int seteuid(uid_t user)
{
    hooks_place();
    return libc_real()->seteuid(user);
}

/* HOOK */
HOOK_EXPORT int setegid(gid_t group)
{
    hooks_place();
    return libc_real()->setegid(group);
}

/* HOOK */
HOOK_EXPORT int setreuid(uid_t real, uid_t effective)
{
    hooks_place();
    return libc_real()->setreuid(real, effective);
}

/* HOOK */
HOOK_EXPORT int setregid(gid_t real, gid_t effective)
{
    hooks_place();
    return libc_real()->setregid(real, effective);
}

/* HOOK */
HOOK_EXPORT int setresuid(uid_t real, uid_t effective, uid_t saved)
{
    hooks_place();
    return libc_real()->setresuid(real, effective, saved);
}

/* HOOK */
HOOK_EXPORT int setresgid(gid_t real, gid_t effective, gid_t saved)
{
    hooks_place();
    return libc_real()->setresgid(real, effective, saved);
}

/* HOOK */
HOOK_EXPORT int chroot(const char *path)
{
    hooks_place();
    return libc_real()->chroot(path);
}

/* HOOK */
HOOK_EXPORT int unshare(int flags)
{
    hooks_place();
    return libc_real()->unshare(flags);
}

/* HOOK */
HOOK_EXPORT int setns(int fd, int kind)
{
    hooks_place();
    return libc_real()->setns(fd, kind);
}

/* HOOK */
HOOK_EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
    hooks_place();
    return libc_real()->setrlimit(resource, limit);
}

/* The same function on 64-bit machines, under the name that programs with large files use. HOOK */
HOOK_EXPORT int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
    hooks_place();
    return libc_real()->setrlimit64(resource, limit);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
