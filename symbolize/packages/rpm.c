/* rpm.c - see rpm.h. One command for each file: what it prints does not say of which file it is. */
#include "packages/rpm.h"

#include <stdio.h>
#include <string.h>

#include "packages/command.h"
#include "text.h"

/* The first line: a file of two packages, for two kinds of processors, say, has another one. */
static void line_take(void *context, struct text line)
{
    char *package = context;
    if (package[0] == '\0' && line.length < PACKAGE_NAME_BYTES)
        snprintf(package, PACKAGE_NAME_BYTES, "%.*s", (int)line.length, line.bytes);
}

bool rpm_find_packages(const char *root, struct file_package *files, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (files[i].path[0] != '/')
            continue; /* rpm would take it for an option, of which some run commands */
        const char *const arguments[] = {"rpm",     "--root",        root[0] == '\0' ? "/" : root,
                                         "--query", "--queryformat", "%{NAME}\n",
                                         "--file",  files[i].path,   NULL};
        char package[PACKAGE_NAME_BYTES] = "";
        int status = command_run(arguments, line_take, package);
        if (status == COMMAND_FAILED)
            return false;
        if (status == 0)
            memcpy(files[i].package, package, sizeof package);
    }
    return true;
}
