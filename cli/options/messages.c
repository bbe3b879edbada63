/* messages.c - see messages.h. */
#include "options/messages.h"

#include <stdbool.h>
#include <stdio.h>

#include "text.h"

/* Under the lock of stderr. */
static bool is_status_shown;

static void clean(char *line)
{
    for (char *at = line; *at != '\0'; at++)
        if (char_is_control(*at))
            *at = '?';
}

void tell(const char *name, const char *text)
{
    char line[4096];
    if (snprintf(line, sizeof line, "%s: %s", name, text) <= 0)
        return;
    clean(line);
    flockfile(stderr);
    status_show("");
    fprintf(stderr, "%s\n", line);
    funlockfile(stderr);
}

void status_show(const char *text)
{
    char line[256];
    snprintf(line, sizeof line, "%s", text);
    clean(line);
    flockfile(stderr);
    if (is_status_shown || line[0] != '\0')
        fprintf(stderr, "\r%s\033[K", line);
    is_status_shown = line[0] != '\0';
    funlockfile(stderr);
}

void complain(const char *name, const struct err *err)
{
    char text[1024];
    tell(name, err_describe(err, text, sizeof text));
}
