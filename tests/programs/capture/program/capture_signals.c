/* capture_signals.c - a program that minds what signals do to it. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "capture_work.h"

static int n_eintr;

/* Counts a result of -1 with EINTR. */
static void note(const char *call, long result)
{
    if (result == -1 && errno == EINTR) {
        printf("EINTR from %s\n", call);
        n_eintr++;
    }
}

/* Calls that wait a moment and that SA_RESTART does not cover. */
static void call_all(int epoll_fd, int socket_fd, int semaphore, int round)
{
    const struct timespec moment = {.tv_nsec = 20000};
    struct timeval short_time = {.tv_usec = 20};
    struct epoll_event event;
    struct sembuf down = {.sem_num = 0, .sem_op = -1};
    struct pollfd one = {.fd = socket_fd, .events = POLLIN};
    sigset_t usr2;
    char byte;
    if (round % 16 == 0) { /* no timeout below a millisecond to be had, or a kernel's tick */
        note("poll", poll(&one, 1, 1));
        note("epoll_wait", epoll_wait(epoll_fd, &event, 1, 1));
        note("recv with a timeout", recv(socket_fd, &byte, 1, 0));
    }
    note("ppoll", ppoll(&one, 1, &moment, NULL));
    note("select", select(0, NULL, NULL, NULL, &short_time));
    note("pselect", pselect(0, NULL, NULL, NULL, &moment, NULL));
    note("nanosleep", nanosleep(&moment, NULL));
    note("usleep", usleep(20));
    if (semaphore >= 0)
        note("semtimedop", semtimedop(semaphore, &down, 1, &moment));
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    note("sigtimedwait", sigtimedwait(&usr2, NULL, &moment));
}

int work_eintr(int argc, char **argv)
{
    if (argc < 1)
        return 2;
    uint64_t end_ns = work_process_cpu_ns() + (uint64_t)atoi(argv[0]) * 1000000u;
    int sockets[2], epoll_fd = epoll_create1(0);
    struct timeval timeout = {.tv_usec = 100};
    if (epoll_fd < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 ||
        setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0)
        return work_fail("sockets");
    int semaphore = semget(IPC_PRIVATE, 1, 0600);
    for (int round = 0; work_process_cpu_ns() < end_ns; round++)
        call_all(epoll_fd, sockets[0], semaphore, round);
    if (semaphore >= 0)
        semctl(semaphore, 0, IPC_RMID);
    return n_eintr > 0 ? work_fail("calls were interrupted") : 0;
}

static volatile sig_atomic_t n_alarms;

static void on_alarm(int signo)
{
    (void)signo;
    work_spin(20000);
    n_alarms++;
}

/* ROUNDS: waits for an alarm again and again in a way that hangs if one does not end the wait. */
int work_own_eintr(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_alarm}, got;
    const struct itimerval once = {.it_value.tv_usec = 50};
    sigset_t alarm_only, before;
    if (argc < 1 || sigaction(SIGALRM, &action, NULL) != 0 || sigaction(SIGALRM, NULL, &got) != 0)
        return 2;
    if (got.sa_handler != on_alarm || (got.sa_flags & SA_SIGINFO) != 0)
        return work_fail("sigaction does not say what was set");
    if (signal(SIGUSR1, on_alarm) != SIG_DFL || signal(SIGUSR1, SIG_IGN) != on_alarm)
        return work_fail("signal does not say what was set");
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm_only, &before);
    int rounds = atoi(argv[0]);
    for (int i = 1; i <= rounds; i++) {
        setitimer(ITIMER_REAL, &once, NULL);
        if (sigsuspend(&before) != -1 || errno != EINTR || n_alarms != i)
            return work_fail("sigsuspend returned without its alarm");
    }
    printf("%d alarms\n", (int)n_alarms);
    return 0;
}

static volatile sig_atomic_t n_own;

static void on_own(int signo)
{
    (void)signo;
    n_own++;
}

/* An interval timer of the program's own, and a signal it sends to itself. */
int work_own_signal(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    struct sigaction action, old;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_own;
    action.sa_flags = SA_RESTART;
    if (sigaction(SIGPROF, NULL, &old) != 0 || old.sa_handler != SIG_DFL)
        return work_fail("SIGPROF is not at its default before");
    if (sigaction(SIGPROF, &action, &old) != 0 || old.sa_handler != SIG_DFL)
        return work_fail("sigaction");
    if (sigaction(SIGPROF, NULL, &old) != 0 || old.sa_handler != on_own)
        return work_fail("sigaction does not give back what was set");
    raise(SIGPROF);
    if (n_own != 1)
        return work_fail("the program's own signal did not arrive");
    struct itimerval timer = {{0, 10000}, {0, 10000}};
    if (setitimer(ITIMER_PROF, &timer, NULL) != 0)
        return work_fail("setitimer");
    work_spin(300000000u);
    /* One for each 10 ms of CPU time, which the kernel may count by its ticks where clock() knows the
     * time itself: at most twice as many. Our own timer would send ten times as many. */
    long most = 2 * ((long)clock() / (CLOCKS_PER_SEC / 100)) + 2;
    if (n_own < 10 || n_own > most)
        return work_fail("the program's interval timer was not its own");
    memset(&timer, 0, sizeof timer); /* its next tick would end us by the default action */
    if (setitimer(ITIMER_PROF, &timer, NULL) != 0)
        return work_fail("setitimer");
    if (signal(SIGPROF, SIG_IGN) != on_own || signal(SIGPROF, SIG_DFL) != SIG_IGN)
        return work_fail("signal() does not give back what was set");
    return 0;
}

/* Whether `set` holds exactly all signals libc lets one block. */
static int is_full(const sigset_t *set)
{
    for (int signo = 1; signo < 32; signo++)
        if (signo != SIGKILL && signo != SIGSTOP && sigismember(set, signo) != 1)
            return 0;
    return 1;
}

static void *read_mask(void *result)
{
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    *(int *)result = is_full(&now);
    return NULL;
}

int work_masks(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    sigset_t all, one, old;
    pthread_t thread;
    int inherited = 0;
    sigfillset(&all);
    sigemptyset(&one);
    sigaddset(&one, SIGPROF);
    if (sigprocmask(SIG_BLOCK, &all, &old) != 0 || sigismember(&old, SIGPROF) != 0)
        return work_fail("the mask before");
    if (pthread_sigmask(SIG_BLOCK, NULL, &old) != 0 || !is_full(&old))
        return work_fail("the full mask reads back otherwise");
    if (pthread_create(&thread, NULL, read_mask, &inherited) != 0)
        return work_fail("pthread_create");
    pthread_join(thread, NULL);
    if (!inherited)
        return work_fail("a new thread does not inherit the mask");
    if (sigprocmask(SIG_UNBLOCK, &one, &old) != 0 || !is_full(&old))
        return work_fail("unblocking one");
    if (sigprocmask(SIG_SETMASK, &all, &old) != 0 || sigismember(&old, SIGPROF) != 0 ||
        sigismember(&old, SIGALRM) != 1)
        return work_fail("one unblocked does not read back");
    struct sigaction action, back;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_own;
    sigfillset(&action.sa_mask);
    if (sigaction(SIGUSR1, &action, NULL) != 0 || sigaction(SIGUSR1, NULL, &back) != 0 ||
        sigismember(&back.sa_mask, SIGPROF) != 1)
        return work_fail("sa_mask does not read back");
    work_spin(200000000u);
    return 0;
}

static void *take_signals(void *set)
{
    int signo = 0;
    return sigwait(set, &signo) == 0 && signo == SIGUSR1 ? set : NULL;
}

/* One thread takes all signals, the others have them blocked. */
int work_sigwait(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    sigset_t all;
    pthread_t thread;
    void *result = NULL;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    if (pthread_create(&thread, NULL, take_signals, &all) != 0)
        return work_fail("pthread_create");
    work_spin(300000000u);
    kill(getpid(), SIGUSR1);
    pthread_join(thread, &result);
    return result != NULL ? 0 : work_fail("sigwait returned another signal");
}
