/* capture_own_signal.c - capture_own_signal CASE: a program with uses of its own for SIGPROF, which
 * is our signal as well. Exit status 0 = all went as it does without us. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* CLOCK_PROCESS_CPUTIME_ID as the kernel writes it in /proc/self/timers. */
#define PROCESS_CPU_CLOCK (-6)

static volatile sig_atomic_t n_profs;
static pthread_t took_it;

static void on_prof(int signo)
{
    (void)signo;
    took_it = pthread_self();
    n_profs++; /* what others wait for */
}

static void spin_ms(long ms)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    double end = (double)now.tv_sec + (double)now.tv_nsec / 1e9 + (double)ms / 1e3;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((double)now.tv_sec + (double)now.tv_nsec / 1e9 < end);
}

static int fail(const char *what)
{
    printf("failed: %s\n", what);
    return 1;
}

static sigset_t only_prof(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    return set;
}

static void *kill_later(void *unused)
{
    spin_ms(20);
    kill(getpid(), SIGPROF);
    return unused;
}

static pthread_t kill_in_a_moment(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, kill_later, NULL) != 0)
        abort();
    return thread;
}

static void use_prof(void)
{
    struct sigaction action = {.sa_handler = on_prof};
    sigaction(SIGPROF, &action, NULL);
}

/* One that comes while it is blocked waits. */
static int work_held(void)
{
    sigset_t prof = only_prof(), pending;
    use_prof();
    for (int from_outside = 0; from_outside < 2; from_outside++) {
        n_profs = 0;
        sigprocmask(SIG_BLOCK, &prof, NULL);
        sigpending(&pending);
        if (sigismember(&pending, SIGPROF))
            return fail("pending before");
        for (int i = 0; i < 3; i++) {
            if (from_outside)
                kill(getpid(), SIGPROF);
            else
                raise(SIGPROF);
        }
        spin_ms(20);
        if (n_profs != 0)
            return fail("the handler ran while its signal was blocked");
        sigpending(&pending);
        if (sigismember(&pending, SIGPROF) != 1)
            return fail("sigpending does not show it");
        sigprocmask(SIG_UNBLOCK, &prof, NULL);
        if (n_profs != 1)
            return fail("the handler did not run when it was unblocked");
        spin_ms(20);
        if (n_profs != 1)
            return fail("the handler ran again");
    }
    return 0;
}

static int work_sigwait(void)
{
    sigset_t prof = only_prof();
    const struct timespec moment = {.tv_nsec = 30000000};
    siginfo_t info;
    int signo = 0;
    sigprocmask(SIG_BLOCK, &prof, NULL);
    pthread_t thread = kill_in_a_moment();
    if (sigwait(&prof, &signo) != 0 || signo != SIGPROF)
        return fail("sigwait");
    pthread_join(thread, NULL);
    raise(SIGPROF);
    spin_ms(5);
    if (sigwaitinfo(&prof, &info) != SIGPROF || info.si_signo != SIGPROF || info.si_pid != getpid())
        return fail("sigwaitinfo of one that waits");
    thread = kill_in_a_moment();
    if (sigwaitinfo(&prof, &info) != SIGPROF || info.si_code != SI_USER)
        return fail("sigwaitinfo");
    pthread_join(thread, NULL);
    if (sigtimedwait(&prof, &info, &moment) != -1 || errno != EAGAIN)
        return fail("sigtimedwait without a signal");
    return 0;
}

static int stop;

static void *unblocked_run(void *unused)
{
    sigset_t prof = only_prof();
    pthread_sigmask(SIG_UNBLOCK, &prof, NULL);
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        spin_ms(1);
    return unused;
}

/* It goes to the thread that has it unblocked, each time: also where a tick is due there just then.
 */
static int work_other_thread(void)
{
    sigset_t prof = only_prof();
    pthread_t thread;
    use_prof();
    sigprocmask(SIG_BLOCK, &prof, NULL);
    if (pthread_create(&thread, NULL, unblocked_run, NULL) != 0)
        return 2;
    spin_ms(20);
    int n_sent = 0;
    bool taken = true;
    for (; n_sent < 400 && taken; n_sent++) {
        kill(getpid(), SIGPROF);
        for (int ms = 0; ms < 1000 && n_profs == n_sent; ms++)
            spin_ms(1);
        taken = n_profs == n_sent + 1 && pthread_equal(took_it, thread);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    printf("%d sent, %d came\n", n_sent, (int)n_profs);
    return taken ? 0 : fail("another thread has it unblocked, and did not take it");
}

static int wait_by(int way, int ms, const sigset_t *mask)
{
    struct epoll_event event;
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    if (way == 0)
        return sigsuspend(mask);
    if (way == 1)
        return ppoll(NULL, 0, &time, mask);
    if (way == 2)
        return pselect(0, NULL, NULL, NULL, &time, mask);
    int fd = epoll_create1(0);
    int result =
        way == 3 ? epoll_pwait(fd, &event, 1, ms, mask) : epoll_pwait2(fd, &event, 1, &time, mask);
    int error = errno;
    close(fd);
    errno = error;
    return result;
}

/* Blocked but for the time of a wait. */
static int work_wait_masks(void)
{
    sigset_t prof = only_prof(), none;
    sigemptyset(&none);
    use_prof();
    sigprocmask(SIG_BLOCK, &prof, NULL);
    for (int way = 0; way < 5; way++) {
        for (int waits_before = 0; waits_before < 2; waits_before++) {
            pthread_t thread;
            n_profs = 0;
            if (waits_before)
                raise(SIGPROF);
            else
                thread = kill_in_a_moment();
            spin_ms(5);
            if (waits_before && n_profs != 0)
                return fail("it came too early");
            int result = wait_by(way, 5000, &none);
            if (result != -1 || errno != EINTR || n_profs != 1) {
                printf("way %d, %d: %d %s, %d signals: ", way, waits_before, result,
                       strerror(errno), (int)n_profs);
                return fail("a wait did not end with it");
            }
            if (!waits_before)
                pthread_join(thread, NULL);
        }
    }
    return 0;
}

/* What our timer on the CPU time of the process puts into its signals, NULL = there is none. */
static void *value_of_our_timer(void)
{
    char line[128];
    void *value = NULL, *last = NULL;
    int clock = 0;
    FILE *timers = fopen("/proc/self/timers", "r");
    while (timers != NULL && fgets(line, sizeof line, timers) != NULL)
        if (sscanf(line, "signal: %*d/%p", &last) != 1 &&
            sscanf(line, "ClockID: %d", &clock) == 1 && clock == PROCESS_CPU_CLOCK)
            value = last;
    if (timers != NULL)
        fclose(timers);
    return value;
}

static void send_to(pid_t tid, int code, void *value)
{
    siginfo_t info = {.si_signo = SIGPROF, .si_code = code};
    info.si_value.sival_ptr = value;
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, SIGPROF, &info) != 0)
        perror("rt_tgsigqueueinfo");
}

/* The wait's thread gets no processor between the tick and the signal: both run on one, and the
 * wait's gives way to all others. */
static void *tick_then_signal(void *unused)
{
    const struct sched_param none = {0};
    void *value = value_of_our_timer();
    sched_setscheduler(0, SCHED_OTHER, &none);
    spin_ms(2);
    if (value != NULL)
        send_to(getpid(), SI_TIMER, value);
    send_to((pid_t)syscall(SYS_gettid), SI_USER, NULL);
    return unused;
}

/* A tick of the timer that looks for new threads is pending where another thread wants to say that
 * it holds a signal for the process: only one of the two comes. */
static int work_tick_first(void)
{
    sigset_t prof = only_prof(), none;
    const struct sched_param idle = {0};
    const struct timespec seconds = {.tv_sec = 20};
    cpu_set_t one;
    sigemptyset(&none);
    use_prof();
    sigprocmask(SIG_BLOCK, &prof, NULL);
    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    for (int i = 0; i < 100 && value_of_our_timer() == NULL; i++)
        spin_ms(1); /* it is made at the first tick */
    if (sched_setaffinity(0, sizeof one, &one) != 0 || value_of_our_timer() == NULL)
        return fail("the case cannot be made");
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        n_profs = 0;
        if (pthread_create(&thread, NULL, tick_then_signal, NULL) != 0)
            return 2;
        sched_setscheduler(0, SCHED_IDLE, &idle);
        int result = ppoll(NULL, 0, &seconds, &none);
        if (result != -1 || errno != EINTR || n_profs != 1)
            return fail("it was lost with the tick");
        pthread_join(thread, NULL);
    }
    return 0;
}

/* One that was held when it came to be ignored is gone. */
static int work_ignored(void)
{
    sigset_t prof = only_prof(), pending;
    use_prof();
    sigprocmask(SIG_BLOCK, &prof, NULL);
    raise(SIGPROF);
    kill(getpid(), SIGPROF);
    spin_ms(5);
    signal(SIGPROF, SIG_IGN);
    sigpending(&pending);
    if (sigismember(&pending, SIGPROF))
        return fail("it is still pending");
    use_prof();
    sigprocmask(SIG_UNBLOCK, &prof, NULL);
    spin_ms(5);
    return n_profs == 0 ? 0 : fail("it came after all");
}

/* One that is ignored by default ends no wait; SIGURG is our signal here. */
static int work_wait_ignored(void)
{
    sigset_t urgent, none;
    sigemptyset(&none);
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    sigprocmask(SIG_BLOCK, &urgent, NULL);
    for (int way = 1; way < 3; way++) { /* sigsuspend would not end, epoll_pwait ends even so */
        spin_ms(5);
        raise(SIGURG);
        if (wait_by(way, 30, &none) != 0)
            return fail("a wait ended with a signal that is ignored");
    }
    return 0;
}

static int status_of_child(void (*disposition)(int))
{
    int status = -1;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGPROF, disposition);
        spin_ms(5);
        raise(SIGPROF);
        spin_ms(5);
        _exit(7);
    }
    waitpid(pid, &status, 0);
    return status;
}

static int work_default(void)
{
    int status = status_of_child(SIG_DFL);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGPROF)
        return fail("it does not end the program by default");
    if (status_of_child(SIG_IGN) != 7 << 8 || status_of_child(on_prof) != 7 << 8)
        return fail("it ends the program");
    return 0;
}

static void say_late(int signo)
{
    (void)signo;
    if (write(STDOUT_FILENO, "late\n", 5) < 0)
        _exit(1);
}

/* At the end our clock is stopped; a tick that came just before is nobody's. */
static int work_late(void)
{
    struct sigaction action = {.sa_handler = say_late};
    sigaction(SIGPROF, &action, NULL);
    spin_ms(3);
    return 0;
}

static void *end_soon(void *unused)
{
    spin_ms(1);
    return unused;
}

static void *threads_come_and_go(void *unused)
{
    for (int i = 0; i < 150; i++) {
        pthread_t threads[4];
        for (int k = 0; k < 4; k++)
            if (pthread_create(&threads[k], NULL, end_soon, NULL) != 0)
                abort();
        for (int k = 0; k < 4; k++)
            pthread_join(threads[k], NULL);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    return unused;
}

static int work_exec_beside_ends(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, threads_come_and_go, NULL) != 0)
        return 2;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        execl("/dev/null", "nothing", (char *)NULL);
    pthread_join(thread, NULL);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*work)(void);
    } table[] = {{"held", work_held},
                 {"sigwait", work_sigwait},
                 {"other-thread", work_other_thread},
                 {"wait-masks", work_wait_masks},
                 {"ignored", work_ignored},
                 {"wait-ignored", work_wait_ignored},
                 {"tick-first", work_tick_first},
                 {"default", work_default},
                 {"late", work_late},
                 {"exec-beside-ends", work_exec_beside_ends}};
    for (size_t i = 0; argc > 1 && i < sizeof table / sizeof table[0]; i++)
        if (strcmp(argv[1], table[i].name) == 0)
            return table[i].work();
    fprintf(stderr, "usage: capture_own_signal CASE\n");
    return 2;
}
