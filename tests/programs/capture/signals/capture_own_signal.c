/* capture_own_signal.c - capture_own_signal CASE: a program with uses of its own for SIGPROF, which
 * is our signal as well. Exit status 0 = all went as it does without us. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

static int wait_by(int way, const sigset_t *mask)
{
    struct epoll_event event;
    const struct timespec second = {.tv_sec = 5};
    if (way == 0)
        return sigsuspend(mask);
    if (way == 1)
        return ppoll(NULL, 0, &second, mask);
    if (way == 2)
        return pselect(0, NULL, NULL, NULL, &second, mask);
    int fd = epoll_create1(0);
    int result = way == 3 ? epoll_pwait(fd, &event, 1, 5000, mask)
                          : epoll_pwait2(fd, &event, 1, &second, mask);
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
            int result = wait_by(way, &none);
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
                 {"default", work_default},
                 {"late", work_late},
                 {"exec-beside-ends", work_exec_beside_ends}};
    for (size_t i = 0; argc > 1 && i < sizeof table / sizeof table[0]; i++)
        if (strcmp(argv[1], table[i].name) == 0)
            return table[i].work();
    fprintf(stderr, "usage: capture_own_signal CASE\n");
    return 2;
}
