/* wall.c - elapsed time as a thread's clock: nothing ticks in the kernel; the watcher
 * (threads/watcher.h) sends the signal, and looks at the thread through two files of /proc.
 *
 *   /proc/self/task/TID/syscall     whether the thread runs, or the call it is blocked in
 *   /proc/self/task/TID/schedstat   how long it has waited for a processor
 *
 * They are opened once for each thread: a look every period must cost one read. */
#include <errno.h>

#include "clock/engine.h"
#include "sys/fds.h"
#include "sys/line.h"
#include "sys/os.h"

/* What our signals carry: an address no one else puts into a signal. */
static char mark;

/* any context */
SIGNAL_SAFE static int file_open(pid_t tid, const char *name)
{
    char path[64];
    struct line line;
    line_init(&line, path, sizeof path);
    line_add(&line, "/proc/self/task/");
    line_add_number(&line, (uint64_t)tid);
    line_add(&line, name);
    int fd = os_open(path, O_RDONLY | O_CLOEXEC, 0);
    return fd >= 0 ? fds_adopt(fd) : -1;
}

/* Without these files (a process that may not read its own /proc, no descriptor left) threads are
 * signalled more often, and waiting for a processor is distinguished less well from blocking: that
 * is no failure. any context */
void clock_wall_arm(struct clock *clock, pid_t tid)
{
    if (tid == 0)
        tid = os_gettid();
    clock->look_fd = file_open(tid, "/syscall");
    clock->wait_fd = file_open(tid, "/schedstat");
}

/* any context */
SIGNAL_SAFE static void file_close(int fd)
{
    if (fd >= 0 && fds_is_ours(fd))
        fds_close(fd);
}

/* The watcher may be about to read: it then finds no file, or a descriptor that is closed. any
 * context */
void clock_wall_disarm(struct clock *clock)
{
    file_close(__atomic_exchange_n(&clock->look_fd, -1, __ATOMIC_SEQ_CST));
    file_close(__atomic_exchange_n(&clock->wait_fd, -1, __ATOMIC_SEQ_CST));
}

/* The watcher. Threads that have ended meanwhile do not get it. */
void clock_wall_send(pid_t tid, int signo)
{
    siginfo_t info = {.si_code = SI_QUEUE};
    info.si_pid = os_getpid();
    info.si_value.sival_ptr = &mark;
    os_call(SYS_rt_tgsigqueueinfo, os_getpid(), tid, signo, &info);
}

/* SIGNAL, HOOK */
bool clock_wall_sent(const siginfo_t *info)
{
    return info->si_code == SI_QUEUE && info->si_value.sival_ptr == &mark;
}
