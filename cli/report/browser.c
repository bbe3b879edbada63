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
#define MAX_ARGUMENTS 30
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
static _Noreturn void become(char *const *arguments)
{
    int nowhere = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2; fd++)
        (void)dup2(nowhere, fd);
    (void)setsid();
    execvp(arguments[0], arguments);
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

static bool start(char *const *arguments)
{
    pid_t child = fork();
    if (child == 0)
        become(arguments);
    return child > 0 && is_started(child);
}

/* Of "firefox --new-window %s": words with blanks between, "%s" the place of the URL, or after all. No
 * shell reads it. False if there are no words, or too many. */
static bool start_command(const char *command, size_t length, char *url)
{
    static char text[PATH_MAX], with_url[PATH_MAX + URL_BYTES];
    char *arguments[MAX_ARGUMENTS + 2], *rest = NULL;
    size_t n = 0;
    bool has_url = false;
    if (length >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s", (int)length, command);
    for (char *word = strtok_r(text, " \t", &rest); word != NULL;
         word = strtok_r(NULL, " \t", &rest)) {
        const char *place = has_url ? NULL : strstr(word, "%s");
        if (n == MAX_ARGUMENTS)
            return false;
        if (place != NULL)
            snprintf(with_url, sizeof with_url, "%.*s%s%s", (int)(place - word), word, url,
                     place + 2);
        arguments[n++] = place == NULL ? word : with_url;
        has_url = has_url || place != NULL;
    }
    if (n == 0)
        return false;
    if (!has_url)
        arguments[n++] = url;
    arguments[n] = NULL;
    return start(arguments);
}

/* The first of these commands that can; ":" between them. */
static bool start_one_of(const char *commands, char *url)
{
    while (*commands != '\0') {
        size_t length = strcspn(commands, ":");
        if (start_command(commands, length, url))
            return true;
        commands += length + (commands[length] == ':');
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
