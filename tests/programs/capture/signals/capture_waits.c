/* capture_waits.c - capture_waits SIGNO: waits with a timeout, made by bare system calls, while
 * signals of a number that the program has no handler for come again and again, ten of them in the
 * time of a wait. Says which wait is not over when ten times as many have come. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 40, SIGNALS = 10, MOST_SIGNALS = 10 * SIGNALS };

static int signo;
static volatile int is_over;
static int pair[2], listening, watching; /* sockets, and an epoll file of nothing */

static long call6(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    /* As runtimes have it: the number is copied to eax last. What is in the registers afterwards is
     * not relied on. */
    __asm__ volatile("movl %k[number], %%eax\n\tsyscall"
                     : "=&a"(result), "+D"(a), "+S"(b), "+d"(c), "+r"(r10), "+r"(r8), "+r"(r9)
                     : [number] "r"((int)number)
                     : "rcx", "r11", "memory");
    return result;
}

static const struct timespec wait_time = {.tv_nsec = WAIT_MS * 1000000};

static long by_poll(void)
{
    struct pollfd none = {.fd = pair[0], .events = POLLIN};
    return call6(SYS_poll, (long)&none, 1, WAIT_MS, 0, 0, 0);
}

static long by_epoll_wait(void)
{
    struct epoll_event event;
    return call6(SYS_epoll_wait, watching, (long)&event, 1, WAIT_MS, 0, 0);
}

static long by_epoll_pwait(void)
{
    struct epoll_event event;
    return call6(SYS_epoll_pwait, watching, (long)&event, 1, WAIT_MS, 0, 8);
}

static long by_epoll_pwait2(void)
{
    struct epoll_event event;
    return call6(SYS_epoll_pwait2, watching, (long)&event, 1, (long)&wait_time, 0, 8);
}

static long by_nanosleep(void)
{
    return call6(SYS_nanosleep, (long)&wait_time, 0, 0, 0, 0, 0);
}

static long by_futex(void)
{
    static uint32_t word;
    return call6(SYS_futex, (long)&word, FUTEX_WAIT_PRIVATE, 0, (long)&wait_time, 0, 0);
}

static long by_read(void)
{
    char byte;
    return call6(SYS_read, pair[0], (long)&byte, 1, 0, 0, 0);
}

static long by_recv(void)
{
    char byte;
    return call6(SYS_recvfrom, pair[0], (long)&byte, 1, 0, 0, 0);
}

static long by_send(void)
{
    static char bytes[65536];
    while (send(pair[1], bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        continue;
    return call6(SYS_sendto, pair[1], (long)bytes, sizeof bytes, 0, 0, 0);
}

static long by_accept(void)
{
    return call6(SYS_accept4, listening, 0, 0, 0, 0, 0);
}

static const struct {
    const char *name;
    long (*call)(void);
    long over; /* what it returns when its time is over */
} waits[] = {{"poll", by_poll, 0},
             {"epoll_wait", by_epoll_wait, 0},
             {"epoll_pwait", by_epoll_pwait, 0},
             {"epoll_pwait2", by_epoll_pwait2, 0},
             {"nanosleep", by_nanosleep, 0},
             {"futex", by_futex, -ETIMEDOUT},
             {"read", by_read, -EAGAIN},
             {"recvfrom", by_recv, -EAGAIN},
             {"accept4", by_accept, -EAGAIN},
             {"sendto", by_send, -EAGAIN}};

/* As many signals in the time of a wait as SIGNALS says; then some more, and that was it. Returns how
 * many. */
static void *disturb(void *waiting)
{
    const pid_t tid = *(const pid_t *)waiting;
    const struct timespec pause = {.tv_nsec = WAIT_MS * 1000000 / SIGNALS};
    intptr_t n = 0;
    while (!is_over && n < MOST_SIGNALS) {
        nanosleep(&pause, NULL);
        if (!is_over) {
            syscall(SYS_tgkill, getpid(), tid, signo);
            n++;
        }
    }
    return (void *)n; /* NOLINT(performance-no-int-to-ptr): a number, through pthread_join */
}

static int set_up(void)
{
    const struct timeval timeout = {.tv_usec = WAIT_MS * 1000};
    struct sockaddr_un address = {.sun_family = AF_UNIX}; /* any free name */
    watching = epoll_create1(0);
    listening = socket(AF_UNIX, SOCK_STREAM, 0);
    return watching >= 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 &&
           setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) == 0 &&
           setsockopt(pair[1], SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) == 0 &&
           setsockopt(listening, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) == 0 &&
           bind(listening, (struct sockaddr *)&address, sizeof(sa_family_t)) == 0 &&
           listen(listening, 1) == 0;
}

int main(int argc, char **argv)
{
    pid_t tid = getpid();
    int n_bad = 0;
    signo = argc > 1 ? atoi(argv[1]) : 0;
    if (signo == 0 || !set_up()) {
        perror("capture_waits");
        return 2;
    }
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        pthread_t thread;
        void *n_signals = NULL;
        is_over = 0;
        if (pthread_create(&thread, NULL, disturb, &tid) != 0)
            return 2;
        long result = waits[i].call();
        is_over = 1;
        pthread_join(thread, &n_signals);
        if ((intptr_t)n_signals >= MOST_SIGNALS || result != waits[i].over) {
            printf("%s: %ld after %ld signals\n", waits[i].name, result, (long)(intptr_t)n_signals);
            n_bad++;
        }
    }
    return n_bad != 0;
}
