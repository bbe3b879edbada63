/* messages.c - see messages.h. */
#include "options/messages.h"

#include <stdio.h>

#include "text.h"

void tell(const char *name, const char *text)
{
    char line[4096];
    int n = snprintf(line, sizeof line, "%s: %s", name, text);
    for (char *at = line; *at != '\0'; at++)
        if (char_is_control(*at))
            *at = '?';
    if (n > 0)
        fprintf(stderr, "%s\n", line);
}

void complain(const char *name, const struct err *err)
{
    char text[1024];
    tell(name, err_describe(err, text, sizeof text));
}
