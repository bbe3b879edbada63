/* capture_fresh.c - capture_fresh HOW [PROGRAM]: starts itself, or PROGRAM, as `PROGRAM done` with an
 * environment of its own making. HOW: execve, execle, execvpe, fexecve, execveat, syscall,
 * posix_spawn, posix_spawnp, vfork, clearenv, other-preload; or with its own environment: same,
 * same-fd, same-syscall, same-spawn, same-vfork. `done` works 60 ms and prints what it has of the
 * environment. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static volatile unsigned sink;

static int done(void)
{
    struct timespec now;
    do {
        for (unsigned i = 0; i < 1000; i++)
            sink += i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while (now.tv_sec == 0 && now.tv_nsec < 60000000);
    const char *mine = getenv("MINE");
    printf("MINE=%s\n", mine != NULL ? mine : "");
    return 0;
}

int main(int argc, char **argv)
{
    char mine[] = "MINE=1", preload[] = "LD_PRELOAD=libm.so.6", word[] = "done";
    char *fresh[] = {mine, NULL, NULL}, *again[] = {argc > 2 ? argv[2] : argv[0], word, NULL};
    const char *path = again[0];
    const char *how = argc > 1 ? argv[1] : "";
    pid_t pid = 0;
    if (strcmp(how, "done") == 0)
        return done();
    if (strcmp(how, "other-preload") == 0) {
        fresh[1] = preload;
        execve(path, again, fresh);
    } else if (strcmp(how, "execve") == 0) {
        execve(path, again, fresh);
    } else if (strcmp(how, "execle") == 0) {
        execle(path, path, word, (char *)NULL, fresh);
    } else if (strcmp(how, "execvpe") == 0) {
        execvpe(path, again, fresh);
    } else if (strcmp(how, "fexecve") == 0) {
        fexecve(open(path, O_RDONLY | O_CLOEXEC), again, fresh);
    } else if (strcmp(how, "execveat") == 0) {
        execveat(AT_FDCWD, path, again, fresh, 0);
    } else if (strcmp(how, "syscall") == 0) {
        syscall(SYS_execve, path, again, fresh);
    } else if (strcmp(how, "clearenv") == 0) {
        clearenv();
        putenv(mine);
        execv(path, again);
    } else if (strcmp(how, "posix_spawn") == 0) {
        errno = posix_spawn(&pid, path, NULL, NULL, again, fresh);
    } else if (strcmp(how, "posix_spawnp") == 0) {
        errno = posix_spawnp(&pid, path, NULL, NULL, again, fresh);
    } else if (strcmp(how, "same") == 0) {
        execv(path, again);
    } else if (strcmp(how, "same-fd") == 0) {
        fexecve(open(path, O_RDONLY | O_CLOEXEC), again, environ);
    } else if (strcmp(how, "same-syscall") == 0) {
        syscall(SYS_execveat, AT_FDCWD, path, again, environ, 0);
    } else if (strcmp(how, "same-spawn") == 0) {
        errno = posix_spawn(&pid, path, NULL, NULL, again, environ);
    } else if (strcmp(how, "same-vfork") == 0) {
        pid = vfork();
        if (pid == 0) {
            execv(path, again);
            _exit(1);
        }
    } else if (strcmp(how, "vfork") == 0) {
        pid = vfork();
        if (pid == 0) {
            execve(path, again, fresh);
            _exit(1);
        }
    }
    int status = -1;
    if (pid <= 0 || waitpid(pid, &status, 0) != pid)
        perror(how);
    return status;
}
