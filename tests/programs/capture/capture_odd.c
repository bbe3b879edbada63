/* capture_odd.c - capture_odd WORK: what few programs do, and none may notice us doing it.
 *
 *   join-at-fork   a handler of pthread_atfork, registered before any library's, that waits for the
 * end of a thread exec-euid      exec of a file that only the effective user may run, while the
 * clock ticks old-signals    signal() as of System V, sigset and sigignore, for all signals
 *   vfork-child    a vfork child changes its signals and masks, which are not its parent's */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static void spin(long n)
{
    for (long i = 0; i < n; i++)
        sink += (unsigned long)i;
}

static pthread_t worker;
static int has_worker, worker_stop;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *worker_run(void *argument)
{
    pthread_mutex_lock(&mutex);
    while (!worker_stop)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void worker_join(void)
{
    if (!has_worker)
        return;
    pthread_mutex_lock(&mutex);
    worker_stop = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    pthread_join(worker, NULL);
    has_worker = 0;
}

static void before_all(void)
{
    pthread_atfork(worker_join, NULL, NULL);
}

/* Runs before the constructors of all libraries. */
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = before_all;

static int status_of(pid_t pid)
{
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
}

static int join_at_fork(const char *path)
{
    (void)path;
    for (int i = 0; i < 5; i++) {
        worker_stop = 0;
        has_worker = pthread_create(&worker, NULL, worker_run, NULL) == 0;
        pid_t pid = fork();
        if (pid == 0)
            _exit(3);
        if (status_of(pid) != 3 << 8)
            return 1;
    }
    return 0;
}

static int exec_euid(const char *path)
{
    for (int i = 0; i < 40; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            if (setresuid(65534, 0, 0) != 0)
                _exit(8);
            spin(i * 10000L);
            execl(path, path, "exec-done", (char *)NULL);
            _exit(9);
        }
        if (status_of(pid) != 0)
            return 1;
    }
    return 0;
}

static int exec_done(const char *path)
{
    (void)path;
    return 0;
}

extern sighandler_t sysv_signal(int signo, sighandler_t handler);

/* What is deprecated is what is tested. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static int old_signals(const char *path)
{
    (void)path;
    for (int signo = 1; signo < 32; signo++) {
        sysv_signal(signo, SIG_DFL);
        sigignore(signo);
        sigset(signo, SIG_DFL);
        spin(3000000);
    }
    return sysv_signal(SIGPROF, SIG_IGN) == SIG_DFL && sigset(SIGPROF, SIG_HOLD) == SIG_IGN &&
                   sigset(SIGPROF, SIG_DFL) == SIG_HOLD && sigset(SIGPROF, SIG_IGN) == SIG_DFL
               ? 0
               : 1;
}

static volatile sig_atomic_t n_profs;

static void on_prof(int signo)
{
    (void)signo;
    n_profs++;
}

static int vfork_child(const char *path)
{
    (void)path;
    sigset_t all, now;
    sigfillset(&all);
    signal(SIGPROF, on_prof);
    pid_t pid = vfork();
    if (pid == 0) {
        signal(SIGPROF, SIG_DFL);
        sigprocmask(SIG_SETMASK, &all, NULL);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    raise(SIGPROF);
    sigprocmask(SIG_BLOCK, NULL, &now);
    return n_profs == 1 && sigismember(&now, SIGPROF) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*work)(const char *);
    } table[] = {{"join-at-fork", join_at_fork},
                 {"exec-euid", exec_euid},
                 {"exec-done", exec_done},
                 {"old-signals", old_signals},
                 {"vfork-child", vfork_child}};
    for (size_t i = 0; argc > 1 && i < sizeof table / sizeof table[0]; i++)
        if (strcmp(argv[1], table[i].name) == 0)
            return table[i].work(argv[0]);
    fprintf(stderr, "usage: capture_odd WORK\n");
    return 2;
}
