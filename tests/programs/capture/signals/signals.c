/* signals - prints the signals that are blocked and ignored, then "ready", then the numbers of
 * those that arrive among HUP, USR1, USR2, TERM, CONT; TERM ends it with status 7. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const int awaited[] = {SIGHUP, SIGUSR1, SIGUSR2, SIGTERM, SIGCONT};

int main(void)
{
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    printf("blocked");
    for (int i = 1; i < 32; i++)
        if (sigismember(&blocked, i) == 1)
            printf(" %d", i);
    printf("\nignored");
    for (int i = 1; i < 32; i++) {
        struct sigaction action;
        if (sigaction(i, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            printf(" %d", i);
    }
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof awaited / sizeof awaited[0]; i++)
        sigaddset(&set, awaited[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    printf("\nready\n");
    fflush(stdout);
    for (;;) {
        int number = 0;
        if (sigwait(&set, &number) != 0)
            return 2;
        printf("%d\n", number);
        fflush(stdout);
        if (number == SIGTERM)
            return 7;
    }
}
