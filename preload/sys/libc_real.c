/* libc_real.c - see libc_real.h. The names stand in the table itself: pointers to them the loader
 * would have to relocate in each process. */
#include "sys/libc_real.h"

#include <string.h>

#include "sys/next_symbol.h"

#define NAME_BYTES 16u

#define NAMED(member, name) [LIBC_REAL_INDEX(member)] = name
#define NAME(member) NAMED(member, #member)

static const char names[LIBC_REAL_MAX][NAME_BYTES] = {
    NAME(pthread_create),
    NAME(thrd_create),
    NAME(clone),
    NAME(pthread_sigmask),
    NAME(sigprocmask),
    NAME(sigaction),
    NAME(signal),
    NAME(siginterrupt),
    NAMED(sysv_signal, "__sysv_signal"),
    NAME(sigset),
    NAME(sigignore),
    NAME(sighold),
    NAME(sigrelse),
    NAME(sigwait),
    NAME(sigwaitinfo),
    NAME(sigtimedwait),
    NAME(signalfd),
    NAME(execve),
    NAME(execvpe),
    NAME(fexecve),
    NAME(execveat),
    NAME(posix_spawn),
    NAME(posix_spawnp),
    NAMED(exit_now, "_exit"),
    NAME(close),
    NAME(write),
    NAME(read),
    NAME(readv),
    NAME(writev),
    NAME(sendto),
    NAME(sendmsg),
    NAME(sendfile),
    NAME(recvfrom),
    NAME(recvmsg),
    NAME(getrandom),
    NAME(poll),
    NAME(epoll_wait),
    NAME(epoll_pwait),
    NAME(sigpending),
    NAME(raise),
    NAME(sigaltstack),
    NAME(prctl),
    NAME(sigsuspend),
    NAME(ppoll),
    NAME(pselect),
    NAME(epoll_pwait2),
    NAMED(ppoll_chk, "__ppoll_chk"),
    NAMED(read_chk, "__read_chk"),
    NAMED(recv_chk, "__recv_chk"),
    NAMED(recvfrom_chk, "__recvfrom_chk"),
    NAMED(poll_chk, "__poll_chk"),
    NAME(close_range),
    NAME(closefrom),
    NAME(dup2),
    NAME(dup3),
    NAME(dlclose),
    NAME(setuid),
    NAME(setgid),
    NAME(seteuid),
    NAME(setegid),
    NAME(setreuid),
    NAME(setregid),
    NAME(setresuid),
    NAME(setresgid),
    NAME(setgroups),
    NAME(initgroups),
    NAME(chroot),
    NAME(unshare),
    NAME(setns),
    NAME(setrlimit),
    NAME(setrlimit64),
    NAME(clock_gettime),
    NAME(clock),
    NAME(timer_create),
    NAME(mq_notify),
    NAME(getaddrinfo_a),
};

libc_function *libc_real_functions[LIBC_REAL_MAX];

/* SETUP, HOOK */
libc_function *libc_real_find(size_t index)
{
    libc_function *function;
    void *found = next_symbol(names[index]);
    memcpy(&function, &found, sizeof function);
    __atomic_store_n(&libc_real_functions[index], function, __ATOMIC_RELAXED);
    return function;
}
