/* capture_rights.c - calls for which a process must have one thread, or threads with equal rights: each
 * in a child that has given up its capabilities (but for the namespaces), which then naps. Prints what
 * each call returned; then four threads make such calls at once. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOBODY 65534
#define NAP_MS 60
#define N_THREADS 4
#define N_CALLS 50

static void drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    if (syscall(SYS_capset, &header, none) != 0)
        perror("capset");
}

static const gid_t nobody = NOBODY;

static int by_setuid(void)
{
    return setuid(NOBODY);
}

static int by_setgid(void)
{
    return setgid(NOBODY);
}

static int by_seteuid(void)
{
    return seteuid(NOBODY);
}

static int by_setegid(void)
{
    return setegid(NOBODY);
}

static int by_setreuid(void)
{
    return setreuid(NOBODY, NOBODY);
}

static int by_setregid(void)
{
    return setregid(NOBODY, NOBODY);
}

static int by_setresuid(void)
{
    return setresuid(NOBODY, NOBODY, NOBODY);
}

static int by_setresgid(void)
{
    return setresgid(NOBODY, NOBODY, NOBODY);
}

static int by_setgroups(void)
{
    return setgroups(1, &nobody);
}

static int by_initgroups(void)
{
    return initgroups("nobody", NOBODY);
}

static int by_unshare(void)
{
    return unshare(CLONE_NEWUSER);
}

static int by_unshare_syscall(void)
{
    return (int)syscall(SYS_unshare, CLONE_NEWUSER);
}

/* Its own namespace once more: refused to a process with several threads, which share a working folder. */
static int by_setns(void)
{
    return setns(open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC), CLONE_NEWNS);
}

static int by_setns_syscall(void)
{
    return (int)syscall(SYS_setns, open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC), 0);
}

static const struct {
    const char *name;
    int (*call)(void);
    int keeps_capabilities;
} calls[] = {
    {"setuid", by_setuid, 0},       {"setgid", by_setgid, 0},
    {"seteuid", by_seteuid, 0},     {"setegid", by_setegid, 0},
    {"setreuid", by_setreuid, 0},   {"setregid", by_setregid, 0},
    {"setresuid", by_setresuid, 0}, {"setresgid", by_setresgid, 0},
    {"setgroups", by_setgroups, 0}, {"initgroups", by_initgroups, 0},
    {"unshare", by_unshare, 1},     {"unshare by syscall", by_unshare_syscall, 1},
    {"setns", by_setns, 1},         {"setns by syscall", by_setns_syscall, 1},
};

__attribute__((noinline)) static void nap_after(void)
{
    const struct timespec nap = {.tv_nsec = NAP_MS * 1000000};
    nanosleep(&nap, NULL);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static void *call_often(void *unused)
{
    for (int i = 0; i < N_CALLS; i++)
        if (seteuid(geteuid()) != 0)
            perror("seteuid");
    return unused;
}

int main(void)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) {
            if (!calls[i].keeps_capabilities)
                drop_capabilities();
            int result = calls[i].call();
            printf("%s: %d, %s\n", calls[i].name, result, result == 0 ? "" : strerror(errno));
            nap_after();
            return 0;
        }
        waitpid(pid, &status, 0);
        if (status != 0)
            printf("%s: status %d\n", calls[i].name, status);
        fflush(stdout);
    }
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++)
        if (pthread_create(&threads[i], NULL, call_often, NULL) != 0)
            return 2;
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    nap_after();
    puts("done");
    return 0;
}
