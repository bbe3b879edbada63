/* dpkg.c - see dpkg.h. */
#include "packages/dpkg.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "packages/command.h"
#include "text.h"

struct search {
    struct file_package *files;
    size_t n;
};

#define USR "/usr"

/* What two spellings of a path have in common: "/lib/a.so" of "/usr/lib/a.so". */
static const char *without_usr(const char *path)
{
    return text_starts(text_make(path), USR "/") ? path + sizeof USR - 1 : path;
}

/* Whether a path without its /usr may also be one with it. */
static bool may_be_in_usr(const char *path)
{
    struct text text = text_make(path);
    return text_starts(text, "/bin/") || text_starts(text, "/sbin/") || text_starts(text, "/lib");
}

/* dpkg-query would take it for a pattern. */
static bool is_pattern(const char *path)
{
    return path[0] != '/' || strpbrk(path, "*?[\\") != NULL;
}

/* The arguments of a command; there is room for all of them. */
struct arguments {
    const char **words;    /* heap; NULL: out of memory */
    struct arena *spelled; /* words that were made for it */
    size_t n;
};

static void arguments_deinit(struct arguments *arguments)
{
    arena_destroy(arguments->spelled);
    free(arguments->words);
}

/* Both spellings of a path that may have two. */
static void path_add(struct arguments *arguments, const char *path)
{
    char in_usr[PATH_MAX + sizeof USR];
    const char *plain = without_usr(path);
    int n = snprintf(in_usr, sizeof in_usr, USR "%s", plain);
    if (!may_be_in_usr(plain)) {
        arguments->words[arguments->n++] = path;
        return;
    }
    arguments->words[arguments->n++] = plain;
    const char *other =
        (size_t)n < sizeof in_usr ? arena_text(arguments->spelled, in_usr, (size_t)n) : NULL;
    if (other != NULL)
        arguments->words[arguments->n++] = other;
}

#define N_FIRST 3 /* those of each command */

/* For up to two words for each file, and one more. */
static struct arguments arguments_make(const char *folder, const char *action, size_t n_files)
{
    struct arguments arguments = {.words = calloc(2 * n_files + N_FIRST + 2, sizeof(const char *)),
                                  .spelled = arena_create()};
    if (arguments.words == NULL || arguments.spelled == NULL) {
        arguments_deinit(&arguments);
        return (struct arguments){.words = NULL};
    }
    arguments.words[arguments.n++] = "dpkg-query";
    arguments.words[arguments.n++] = folder;
    arguments.words[arguments.n++] = action;
    return arguments;
}

/* "libc6:amd64: /lib/x86_64-linux-gnu/libc.so.6", or "one, other: /usr/share/both". */
static void owner_take(void *context, struct text line)
{
    const struct search *search = context;
    const char *colon = memmem(line.bytes, line.length, ": /", 3);
    if (colon == NULL || text_starts(line, "diversion by "))
        return;
    char listed[PATH_MAX];
    struct text path = text_from(line, (size_t)(colon + 2 - line.bytes));
    snprintf(listed, sizeof listed, "%.*s", path.length < sizeof listed ? (int)path.length : 0,
             path.bytes);
    size_t n_name = 0;
    while (line.bytes[n_name] != ':' && line.bytes[n_name] != ',')
        n_name++;
    for (size_t i = 0; i < search->n; i++) {
        struct file_package *file = &search->files[i];
        if (n_name < sizeof file->package &&
            strcmp(without_usr(listed), without_usr(file->path)) == 0)
            snprintf(file->package, sizeof file->package, "%.*s", (int)n_name, line.bytes);
    }
}

/* "libc6 glibc" */
static void source_take(void *context, struct text line)
{
    const struct search *search = context;
    const char *blank = memchr(line.bytes, ' ', line.length);
    if (blank == NULL)
        return;
    struct text name = {line.bytes, (size_t)(blank - line.bytes)};
    struct text source = text_from(line, name.length + 1);
    for (size_t i = 0; i < search->n; i++) {
        struct file_package *file = &search->files[i];
        if (text_is(name, file->package) && source.length < sizeof file->source)
            snprintf(file->source, sizeof file->source, "%.*s", (int)source.length, source.bytes);
    }
}

static bool owners_find(const char *folder, struct search *search)
{
    struct arguments arguments = arguments_make(folder, "--search", search->n);
    int status = arguments.words == NULL ? COMMAND_FAILED : 0;
    for (size_t i = 0; i < search->n && arguments.words != NULL; i++) {
        if (!is_pattern(search->files[i].path))
            path_add(&arguments, search->files[i].path);
    }
    if (arguments.n > N_FIRST)
        status = command_run(arguments.words, owner_take, search);
    arguments_deinit(&arguments);
    return status == 0 || status == 1; /* 1: some are in no package */
}

static bool sources_find(const char *folder, struct search *search)
{
    struct arguments arguments = arguments_make(folder, "--show", search->n);
    if (arguments.words == NULL)
        return false;
    int status = 0;
    arguments.words[arguments.n++] = "--showformat=${Package} ${source:Package}\n";
    for (size_t i = 0; i < search->n; i++)
        if (search->files[i].package[0] != '\0')
            arguments.words[arguments.n++] = search->files[i].package;
    if (arguments.n > N_FIRST + 1)
        status = command_run(arguments.words, source_take, search);
    arguments_deinit(&arguments);
    return status == 0;
}

bool dpkg_find_packages(const char *root, struct file_package *files, size_t n)
{
    char folder[PATH_MAX];
    struct search search = {files, n};
    snprintf(folder, sizeof folder, "--admindir=%s/var/lib/dpkg", root);
    return owners_find(folder, &search) && sources_find(folder, &search);
}
