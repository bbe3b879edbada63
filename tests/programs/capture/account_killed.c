/* account_killed N US - N times a child that works without end, and is killed after US microseconds. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned long sink;

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    for (int i = 0; i < atoi(argv[1]); i++) {
        pid_t pid = fork();
        if (pid == 0)
            for (;;)
                sink++;
        usleep((useconds_t)atoi(argv[2]));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    return 0;
}
