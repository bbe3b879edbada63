/* forks N - N children by fork, four at a time; each works for some milliseconds, and so does the
 * parent. Prints the sum of their exit statuses. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE 4

static unsigned work(unsigned seed)
{
    for (unsigned i = 0; i < 4000000; i++)
        seed = seed * 1664525u + 1013904223u;
    return seed >> 26;
}

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
    unsigned sum = 0;
    for (unsigned first = 0; first < n; first += AT_ONCE) {
        unsigned count = n - first < AT_ONCE ? n - first : AT_ONCE;
        for (unsigned i = 0; i < count; i++) {
            pid_t child = fork();
            if (child < 0)
                return 2;
            if (child == 0)
                exit((int)work(first + i));
        }
        sum += work(first);
        for (unsigned i = 0; i < count; i++) {
            int status = 0;
            if (wait(&status) < 0 || !WIFEXITED(status))
                return 3;
            sum += (unsigned)WEXITSTATUS(status);
        }
    }
    printf("%u\n", sum);
    return 0;
}
