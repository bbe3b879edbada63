/* forks_beside_threads N - forks N times while other threads begin and end all the time. Each child begins a thread and
 * ends: with 0 if its limit of files is as it was before there was any thread. One that hangs is killed. Prints how many
 * ended how. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS 200000
#define HANGS_NAPS 20000 /* five seconds and more */

static int is_over; /* atomic */

static void *nothing(void *argument)
{
    return argument;
}

static void *threads_run(void *argument)
{
    while (__atomic_load_n(&is_over, __ATOMIC_ACQUIRE) == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing, NULL) == 0)
            pthread_join(thread, NULL);
    }
    return argument;
}

static int child(rlim_t soft)
{
    struct rlimit now;
    int status = getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur == soft ? 0 : 1;
    pthread_t thread; /* it wants the locks that one of the parent may have held */
    if (pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0)
        status = 2;
    return status;
}

/* Its status, which is that of SIGKILL if it has not ended in time. */
static int wait_for(pid_t pid)
{
    const struct timespec moment = {.tv_nsec = NAP_NS};
    int status = 0;
    for (long n = 0; waitpid(pid, &status, WNOHANG) == 0; n++) {
        nanosleep(&moment, NULL);
        if (n == HANGS_NAPS)
            kill(pid, SIGKILL);
    }
    return status;
}

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 100, n_good = 0, n_changed = 0, n_others = 0;
    struct rlimit before;
    pthread_t threads[2];
    if (getrlimit(RLIMIT_NOFILE, &before) != 0)
        return 2;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, threads_run, NULL) != 0)
            return 2;
    for (unsigned i = 0; i < n; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(child(before.rlim_cur));
        if (pid < 0)
            return 2;
        int status = wait_for(pid);
        n_good += status == 0;
        n_changed += WIFEXITED(status) && WEXITSTATUS(status) == 1;
        n_others += status != 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%u as before, %u with another limit, %u hung or failed\n", n_good, n_changed, n_others);
    return 0;
}
