/* apt.c - see apt.h. apt-cache would do, but takes half a second where its cache is not kept, and
 * finds no build ids. */
#include "packages/apt.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "packages/command.h"
#include "text.h"

#define HELPER "/usr/lib/apt/apt-helper"

struct search {
    struct file_package *files;
    size_t n;
    char
        name[PACKAGE_NAME_BYTES]; /* of the package whose lines these are; "": none for debugging */
    char version[PACKAGE_NAME_BYTES]; /* its */
};

/* The field is that line's: what follows its name. */
static bool field_is(struct text line, const char *field, struct text *value)
{
    if (!text_starts(line, field))
        return false;
    *value = text_from(line, strlen(field));
    return true;
}

static bool is_word_of(struct text words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words.bytes, *end = words.bytes + words.length; length > 0; at++) {
        at = memmem(at, (size_t)(end - at), word, length);
        if (at == NULL)
            return false;
        if ((at == words.bytes || at[-1] == ' ') && (at + length == end || at[length] == ' '))
            return true;
    }
    return false;
}

/* A copy, or "" of what is too long. */
static void name_set(char *name, struct text text)
{
    int length = text.length < PACKAGE_NAME_BYTES ? (int)text.length : 0;
    snprintf(name, PACKAGE_NAME_BYTES, "%.*s", length, text.bytes);
}

/* "NAME-dbgsym" or "NAME-dbg", or one of another name. */
static bool is_debug_of(struct text debug_name, const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || !text_starts(debug_name, name))
        return false;
    struct text end = text_from(debug_name, length);
    return text_is(end, "-dbgsym") || text_is(end, "-dbg");
}

static void take(struct file_package *file, enum debug_match match, const struct search *search)
{
    if (strcmp(file->debug_package, search->name) != 0) {
        snprintf(file->debug_package, sizeof file->debug_package, "%s", search->name);
        file->n_debug_versions = 1;
    }
    file->debug_match = match;
    file->is_debug_other = false;
}

/* A package begins. */
static void name_take(struct search *search, struct text name)
{
    search->name[0] = search->version[0] = '\0';
    if (!text_ends(name, "-dbg") && !text_ends(name, "-dbgsym"))
        return;
    name_set(search->name, name);
    for (size_t i = 0; i < search->n; i++) {
        struct file_package *file = &search->files[i];
        enum debug_match match = is_debug_of(name, file->package)  ? DEBUG_MATCH_PACKAGE
                                 : is_debug_of(name, file->source) ? DEBUG_MATCH_SOURCE
                                                                   : DEBUG_MATCH_NONE;
        if (text_is(name, file->debug_package))
            file->n_debug_versions++;
        else if (match > file->debug_match)
            take(file, match, search);
    }
}

static void build_ids_take(const struct search *search, struct text ids)
{
    for (size_t i = 0; i < search->n; i++) {
        struct file_package *file = &search->files[i];
        if (file->package[0] == '\0' || file->build_id[0] == '\0')
            continue;
        if (is_word_of(ids, file->build_id)) {
            take(file, DEBUG_MATCH_BUILD_ID, search);
            name_set(file->debug_version, text_make(search->version));
        } else if (file->debug_match < DEBUG_MATCH_BUILD_ID &&
                   strcmp(file->debug_package, search->name) == 0) {
            file->is_debug_other = true;
        }
    }
}

static void line_take(void *context, struct text line)
{
    struct search *search = context;
    struct text value;
    if (field_is(line, "Package: ", &value))
        name_take(search, value);
    else if (search->name[0] != '\0' && field_is(line, "Version: ", &value))
        name_set(search->version, value);
    else if (search->name[0] != '\0' && field_is(line, "Build-Ids: ", &value))
        build_ids_take(search, value);
}

/* "..._Packages" or that and how it is packed. */
static bool is_list(const char *name)
{
    const char *at = strstr(name, "_Packages");
    return at != NULL && (at[9] == '\0' || at[9] == '.');
}

bool apt_find_debug_packages(const char *root, struct file_package *files, size_t n)
{
    char folder[PATH_MAX], path[PATH_MAX + NAME_MAX + 2];
    struct search search = {.files = files, .n = n};
    snprintf(folder, sizeof folder, "%s/var/lib/apt/lists", root);
    DIR *lists = opendir(folder);
    bool ok = true;
    if (lists == NULL)
        return true; /* there is no apt */
    for (const struct dirent *entry; (entry = readdir(lists)) != NULL;) {
        const char *const arguments[] = {HELPER, "cat-file", path, NULL};
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (is_list(entry->d_name))
            ok = command_run(arguments, line_take, &search) == 0 && ok;
        search.name[0] = '\0';
    }
    closedir(lists);
    return ok;
}
