/* account_exec PROGRAM... - starts each PROGRAM by each of the ways there are, and prints what came
 * of it: "WAY PROGRAM STATUS-OR-ERRNO". A program that ends by 127 less the errno of its exec shows
 * that the exec failed. What it prints must be the same whoever looks on. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const ways[] = {"fork",   "vfork",        "posix_spawn",
                                   "execvp", "posix_spawnp", "execveat"};

static void exec_it(const char *way, char *program)
{
    char *arguments[] = {program, "0", NULL};
    if (strcmp(way, "execvp") == 0)
        execvp(program, arguments);
    else if (strcmp(way, "execveat") == 0)
        execveat(AT_FDCWD, program, arguments, environ, 0);
    else
        execve(program, arguments, environ);
    _exit(127 - (errno < 120 ? errno : 120));
}

/* The child's status, or minus an errno. */
static int start(const char *way, char *program)
{
    char *arguments[] = {program, "0", NULL};
    pid_t child = -1;
    int status = 0;
    if (strncmp(way, "posix_spawn", 11) == 0) {
        int error = way[11] == 'p' ? posix_spawnp(&child, program, NULL, NULL, arguments, environ)
                                   : posix_spawn(&child, program, NULL, NULL, arguments, environ);
        if (error != 0)
            return -error;
    } else {
        child = strcmp(way, "vfork") == 0 ? vfork() : fork();
        if (child == 0)
            exec_it(way, program);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1000;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        for (unsigned w = 0; w < sizeof ways / sizeof ways[0]; w++) {
            int got = start(ways[w], argv[i]);
            printf("%s %s %d\n", ways[w], argv[i], got);
            fflush(stdout);
        }
    return 0;
}
