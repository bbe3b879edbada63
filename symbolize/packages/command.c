/* command.c - see command.h. Lists of packages have 50 MB: lines are found by memchr in what read
 * brought, which takes a third of the time of getline. */
#include "packages/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FIRST_BYTES ((size_t)64 << 10)

/* ---- its environment ------------------------------------------------------------------------- */

static bool is_kept(const char *variable)
{
    struct text text = text_make(variable);
    return !text_starts(text, "LD_PRELOAD=") && !text_starts(text, "SAMPLER_") &&
           !text_starts(text, "LC_ALL=");
}

/* The array is the caller's, not its texts; NULL: out of memory. */
static char **environment_make(void)
{
    static char locale[] = "LC_ALL=C";
    size_t n = 0, n_kept = 0;
    while (environ[n] != NULL)
        n++;
    char **kept = calloc(n + 2, sizeof *kept);
    if (kept == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (is_kept(environ[i]))
            kept[n_kept++] = environ[i];
    kept[n_kept] = locale;
    return kept;
}

/* ---- its time -------------------------------------------------------------------------------- */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int left_ms(int64_t end_ms)
{
    int64_t now = now_ms();
    return now < end_ms ? (int)(end_ms - now) : 0;
}

/* ---- its output ------------------------------------------------------------------------------ */

struct lines {
    int fd;
    int64_t end_ms; /* what comes later is not read */
    char *bytes;
    size_t n;
    size_t room;
    bool is_cut; /* up to the next end of a line, nothing is taken */
};

static bool lines_grow(struct lines *lines)
{
    size_t room = lines->room == 0 ? FIRST_BYTES : 2 * lines->room;
    char *bytes = room > COMMAND_LINE_BYTES ? NULL : realloc(lines->bytes, room);
    if (bytes == NULL)
        return false;
    lines->bytes = bytes;
    lines->room = room;
    return true;
}

static void line_end(struct lines *lines, struct text line, command_line *take, void *context)
{
    if (!lines->is_cut)
        take(context, line);
    lines->is_cut = false;
}

/* All lines that are whole; what is left of another one moves to the front. */
static void lines_take(struct lines *lines, command_line *take, void *context)
{
    const char *at = lines->bytes, *end = lines->bytes + lines->n, *newline;
    while (at < end && (newline = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        line_end(lines, (struct text){at, (size_t)(newline - at)}, take, context);
        at = newline + 1;
    }
    lines->n = (size_t)(end - at);
    memmove(lines->bytes, at, lines->n);
}

/* Waits for output, or its end; false: it is too late. */
static bool lines_await(const struct lines *lines)
{
    struct pollfd output = {.fd = lines->fd, .events = POLLIN};
    int n;
    do
        n = poll(&output, 1, left_ms(lines->end_ms));
    while (n < 0 && errno == EINTR);
    return n > 0;
}

/* False: out of memory, or of time. */
static bool lines_read(struct lines *lines, command_line *take, void *context)
{
    for (;;) {
        if (lines->n == lines->room && !lines_grow(lines)) {
            if (lines->room == 0)
                return false;
            line_end(lines, (struct text){lines->bytes, lines->n}, take, context);
            lines->is_cut = true;
            lines->n = 0;
        }
        if (!lines_await(lines))
            return false;
        ssize_t got = read(lines->fd, lines->bytes + lines->n, lines->room - lines->n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        lines->n += (size_t)got;
        lines_take(lines, take, context);
    }
    if (lines->n > 0)
        line_end(lines, (struct text){lines->bytes, lines->n}, take, context);
    return true;
}

/* ---- both ------------------------------------------------------------------------------------ */

/* Its process; -1: it cannot be started. */
static pid_t start(const char *const *arguments, int output)
{
    union {
        const char *const *constant;
        char *const *words;
    } argv = {.constant = arguments}; /* posix_spawn does not write to them */
    posix_spawn_file_actions_t actions;
    pid_t child = -1;
    char **environment = environment_make();
    if (environment == NULL || posix_spawn_file_actions_init(&actions) != 0) {
        free(environment);
        return -1;
    }
    /* The output first: it may have one of the other two numbers. */
    if (posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) != 0 ||
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) != 0 ||
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) != 0 ||
        posix_spawnp(&child, arguments[0], &actions, NULL, argv.words, environment) != 0)
        child = -1;
    (void)posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return child;
}

/* Of a child that has closed its output, or is not waited for any longer. */
static int status_of(pid_t child, int64_t end_ms)
{
    const struct timespec a_moment = {.tv_nsec = 500000};
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(child, &status, WNOHANG)) == 0 && left_ms(end_ms) > 0)
        nanosleep(&a_moment, NULL);
    if (ended < 0)
        return 0; /* SIGCHLD is ignored: nobody knows */
    if (ended == 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, WNOHANG); /* it may hang in the kernel even so */
        return COMMAND_FAILED;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : COMMAND_FAILED;
}

int command_run(const char *const *arguments, command_line *take, void *context)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return COMMAND_FAILED;
    pid_t child = start(arguments, ends[1]);
    close(ends[1]);
    struct lines lines = {.fd = ends[0], .end_ms = now_ms() + COMMAND_MAX_MS};
    bool ok = child > 0 && lines_read(&lines, take, context);
    close(ends[0]);
    free(lines.bytes);
    int status = child > 0 ? status_of(child, lines.end_ms) : COMMAND_FAILED;
    return ok ? status : COMMAND_FAILED;
}
