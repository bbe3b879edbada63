/* symbol_sources.c - see symbol_sources.h. A misspelt folder is told of, since nothing else would: what
 * it should have named is without lines, as if there was no debug information. */
#include "report/symbol_sources.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "options/messages.h"

static void folder_check(const char *at, size_t length)
{
    char path[PATH_MAX];
    char line[PATH_MAX + 64];
    struct stat status;
    if (length == 0 || length >= sizeof path)
        return;
    memcpy(path, at, length);
    path[length] = '\0';
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return;
    snprintf(line, sizeof line, "--debug-dir: %s: no such folder", path);
    tell("sampler", line);
}

struct symbol_sources symbol_sources_open(const struct options *options)
{
    const char *path = options->values[OPTION_DEBUG_DIR];
    for (const char *at = path; at != NULL && !options_flag(options, OPTION_QUIET);) {
        size_t length = strcspn(at, ":");
        folder_check(at, length);
        at = at[length] == ':' ? at + length + 1 : NULL;
    }
    return (struct symbol_sources){.places = {.path = path, .servers = debug_servers_open()},
                                   .cache = options_flag(options, OPTION_NO_CACHE)
                                                ? NULL
                                                : symbol_cache_open(CACHE_LIMIT_BYTES)};
}

const char *symbol_sources_describe(void *context, char *out, size_t out_bytes)
{
    struct debug_servers *servers = ((struct symbol_sources *)context)->places.servers;
    out[0] = '\0';
    return servers == NULL ? out : debug_servers_describe(servers, out, out_bytes);
}

void symbol_sources_close(struct symbol_sources *sources)
{
    debug_servers_close(sources->places.servers);
    symbol_cache_close(sources->cache);
}
