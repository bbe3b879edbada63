/* browser.c - see browser.h. What opens a browser mostly ends at once, with a status that says
 * whether it could; a browser itself may stay. So we wait, but not for long. */
#include "report/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "append.h"
#include "text.h"

#define WAIT_MS 3000
#define LOOK_MS 10
#define URL_BYTES (3 * PATH_MAX + 16)

/* "file:///tmp/a%20b.html" (RFC 3986). */
static bool url_make(const char *path, char *out, struct err *err)
{
    char whole[PATH_MAX];
    size_t used = 0;
    if (realpath(path, whole) == NULL)
        return err_fail_errno(err, errno, "cannot find it again") || err_name_file(err, path);
    append(out, URL_BYTES, &used, "file://");
    for (const char *at = whole; *at != '\0'; at++) {
        bool is_plain = char_is_letter(*at) || char_is_digit(*at) || strchr("/-._~", *at) != NULL;
        append(out, URL_BYTES, &used, is_plain ? "%c" : "%%%02X", (unsigned char)*at);
    }
    return true;
}

/* In the child: on its own, and silent. */
static _Noreturn void become(const char *program, const char *url)
{
    int nowhere = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2; fd++)
        (void)dup2(nowhere, fd);
    (void)setsid();
    execlp(program, program, url, (char *)NULL);
    _exit(127);
}

/* Whether it ended well, or goes on. */
static bool is_started(pid_t child)
{
    const struct timespec look = {.tv_nsec = LOOK_MS * 1000000L};
    int status = 0;
    for (unsigned ms = 0; ms < WAIT_MS; ms += LOOK_MS) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended != 0)
            return ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
        (void)nanosleep(&look, NULL);
    }
    return true;
}

static bool start(const char *program, const char *url)
{
    pid_t child = fork();
    if (child == 0)
        become(program, url);
    return child > 0 && is_started(child);
}

/* The first of these programs that can; ":" between them. */
static bool start_one_of(const char *programs, const char *url)
{
    while (*programs != '\0') {
        char program[PATH_MAX];
        size_t length = strcspn(programs, ":");
        int n = snprintf(program, sizeof program, "%.*s", (int)length, programs);
        if (length > 0 && n > 0 && (size_t)n < sizeof program && start(program, url))
            return true;
        programs += length + (programs[length] == ':');
    }
    return false;
}

/* NULL if it is not set, or to nothing. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value == NULL || value[0] == '\0' ? NULL : value;
}

bool browser_open(const char *path, struct err *err)
{
    static char url[URL_BYTES];
    const char *named = variable("BROWSER");
    if (!url_make(path, url, err))
        return false;
    if (named != NULL)
        return start_one_of(named, url) ||
               err_fail(err, ERR_IO, ERR_NO_OFFSET,
                        "%.100s: cannot be opened by %.100s (variable BROWSER)", path, named);
    if (variable("DISPLAY") == NULL && variable("WAYLAND_DISPLAY") == NULL)
        return err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
                        "%.100s: there is no display here; copy the file to where your browser is, "
                        "it needs no other",
                        path);
    return start_one_of("xdg-open:sensible-browser", url) ||
           err_fail(err, ERR_IO, ERR_NO_OFFSET,
                    "%.100s: no browser was found; set BROWSER to one, or open the file yourself",
                    path);
}
