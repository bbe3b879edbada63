/* libc_real.c - see libc_real.h. */
#include "sys/libc_real.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct entry {
    size_t offset;
    const char *name;
};

#define ENTRY(member, name)                                                                        \
    {                                                                                              \
        offsetof(struct libc_real, member), name                                                   \
    }

static const struct entry entries[] = {
    ENTRY(pthread_create, "pthread_create"),
    ENTRY(thrd_create, "thrd_create"),
    ENTRY(clone, "clone"),
    ENTRY(pthread_sigmask, "pthread_sigmask"),
    ENTRY(sigprocmask, "sigprocmask"),
    ENTRY(sigaction, "sigaction"),
    ENTRY(signal, "signal"),
    ENTRY(siginterrupt, "siginterrupt"),
    ENTRY(sysv_signal, "__sysv_signal"),
    ENTRY(sigset, "sigset"),
    ENTRY(sigignore, "sigignore"),
    ENTRY(sighold, "sighold"),
    ENTRY(sigrelse, "sigrelse"),
    ENTRY(sigwait, "sigwait"),
    ENTRY(sigwaitinfo, "sigwaitinfo"),
    ENTRY(sigtimedwait, "sigtimedwait"),
    ENTRY(signalfd, "signalfd"),
    ENTRY(execve, "execve"),
    ENTRY(execvpe, "execvpe"),
    ENTRY(fexecve, "fexecve"),
    ENTRY(execveat, "execveat"),
    ENTRY(posix_spawn, "posix_spawn"),
    ENTRY(posix_spawnp, "posix_spawnp"),
    ENTRY(exit_now, "_exit"),
    ENTRY(close, "close"),
    ENTRY(write, "write"),
    ENTRY(read, "read"),
    ENTRY(readv, "readv"),
    ENTRY(writev, "writev"),
    ENTRY(sendto, "sendto"),
    ENTRY(sendmsg, "sendmsg"),
    ENTRY(sendfile, "sendfile"),
    ENTRY(recvfrom, "recvfrom"),
    ENTRY(recvmsg, "recvmsg"),
    ENTRY(getrandom, "getrandom"),
    ENTRY(poll, "poll"),
    ENTRY(epoll_wait, "epoll_wait"),
    ENTRY(epoll_pwait, "epoll_pwait"),
    ENTRY(sigpending, "sigpending"),
    ENTRY(raise, "raise"),
    ENTRY(sigaltstack, "sigaltstack"),
    ENTRY(prctl, "prctl"),
    ENTRY(sigsuspend, "sigsuspend"),
    ENTRY(ppoll, "ppoll"),
    ENTRY(pselect, "pselect"),
    ENTRY(epoll_pwait2, "epoll_pwait2"),
    ENTRY(ppoll_chk, "__ppoll_chk"),
    ENTRY(read_chk, "__read_chk"),
    ENTRY(recv_chk, "__recv_chk"),
    ENTRY(recvfrom_chk, "__recvfrom_chk"),
    ENTRY(poll_chk, "__poll_chk"),
    ENTRY(close_range, "close_range"),
    ENTRY(closefrom, "closefrom"),
    ENTRY(dup2, "dup2"),
    ENTRY(dup3, "dup3"),
    ENTRY(dlclose, "dlclose"),
    ENTRY(setuid, "setuid"),
    ENTRY(setgid, "setgid"),
    ENTRY(seteuid, "seteuid"),
    ENTRY(setegid, "setegid"),
    ENTRY(setreuid, "setreuid"),
    ENTRY(setregid, "setregid"),
    ENTRY(setresuid, "setresuid"),
    ENTRY(setresgid, "setresgid"),
    ENTRY(setgroups, "setgroups"),
    ENTRY(initgroups, "initgroups"),
    ENTRY(chroot, "chroot"),
    ENTRY(unshare, "unshare"),
    ENTRY(setns, "setns"),
    ENTRY(setrlimit, "setrlimit"),
    ENTRY(setrlimit64, "setrlimit64"),
};

/* Every caller that finds it unresolved writes the same values; the flag follows them, by a release
 * store. */
static struct libc_real functions;
static bool resolved;

/* SETUP, HOOK */
const struct libc_real *libc_real(void)
{
    if (likely(__atomic_load_n(&resolved, __ATOMIC_ACQUIRE)))
        return &functions;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        void *function = dlsym(RTLD_NEXT, entries[i].name);
        memcpy((char *)&functions + entries[i].offset, &function, sizeof function);
    }
    __atomic_store_n(&resolved, true, __ATOMIC_RELEASE);
    return &functions;
}
