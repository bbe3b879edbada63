/* kept.c - see kept.h. */
#include "packages/kept.h"

#include <inttypes.h>
#include <libdeflate.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/entry.h"
#include "cache/folder.h"
#include "text.h"

/* Some hundred files; then it begins anew. */
#define MOST_BYTES ((size_t)64 << 10)
#define LINE_BYTES (PATH_MAX + PACKAGES_ADVICE_BYTES + 256u)

static const struct cache_key key = {.name = CACHE_KEY_PACKAGES};

/* ---- the state of the system's data ---------------------------------------------------------- */

static uint32_t checksum_add(uint32_t checksum, const char *root, const char *name)
{
    char path[PATH_MAX];
    struct stat status;
    snprintf(path, sizeof path, "%s%s", root, name);
    if (stat(path, &status) != 0)
        return libdeflate_crc32(checksum, "", 1);
    const uint64_t facts[] = {(uint64_t)status.st_dev, (uint64_t)status.st_ino,
                              (uint64_t)status.st_size, (uint64_t)status.st_mtim.tv_sec,
                              (uint64_t)status.st_mtim.tv_nsec};
    return libdeflate_crc32(checksum, facts, sizeof facts);
}

static uint32_t state_checksum(const char *root)
{
    static const char *const names[] = {"/etc/os-release",
                                        "/var/lib/dpkg/status",
                                        "/var/lib/apt/lists",
                                        "/var/lib/rpm/rpmdb.sqlite",
                                        "/var/lib/rpm/Packages",
                                        "/var/lib/rpm/Packages.db",
                                        "/usr/lib/sysimage/rpm/rpmdb.sqlite",
                                        "/usr/lib/sysimage/rpm/Packages.db"};
    uint32_t checksum = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        checksum = checksum_add(checksum, root, names[i]);
    return checksum;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* What stands before the advice. */
static int key_format(const struct kept *kept, const struct package_query *query, char *out,
                      size_t out_bytes)
{
    return snprintf(out, out_bytes, "%c %s %s\t", kept->has_servers ? 's' : '-', query->build_id,
                    query->path);
}

static bool has_control(const char *text)
{
    while (*text != '\0' && !char_is_control(*text))
        text++;
    return *text != '\0';
}

static void text_add(struct kept *kept, const char *line)
{
    (void)chars_append(&kept->text, line, strlen(line)); /* failure is sticky */
}

/* The first line. */
static void head_format(const char *root, char *out, size_t out_bytes)
{
    snprintf(out, out_bytes, SAMPLER_VERSION " %08" PRIx32 "\n", state_checksum(root));
}

void kept_open(struct kept *kept, const struct packages_system *system)
{
    struct err err = ERR_INIT;
    struct cache_index read = {0};
    char head[64];
    *kept = (struct kept){.folder = -1, .has_servers = system->has_servers};
    if (!system->is_kept)
        return;
    kept->folder = cache_folder_open(true, &err);
    if (kept->folder < 0)
        return;
    head_format(system->root, head, sizeof head);
    if (entry_read(kept->folder, &key, &read) && read.size_bytes < MOST_BYTES &&
        text_starts((struct text){(const char *)read.bytes, read.size_bytes}, head))
        (void)chars_append(&kept->text, (const char *)read.bytes, read.size_bytes);
    else
        text_add(kept, head);
    free(read.bytes);
}

bool kept_find(const struct kept *kept, struct package_query *query)
{
    char before[LINE_BYTES];
    struct text rest = {kept->text.items == NULL ? "" : kept->text.items, kept->text.n};
    key_format(kept, query, before, sizeof before);
    while (rest.length > 0) {
        const char *end = memchr(rest.bytes, '\n', rest.length);
        if (end == NULL)
            return false;
        struct text line = {rest.bytes, (size_t)(end - rest.bytes)};
        rest = text_from(rest, line.length + 1);
        if (!text_starts(line, before))
            continue;
        struct text advice = text_from(line, strlen(before));
        snprintf(query->advice, sizeof query->advice, "%.*s", (int)advice.length, advice.bytes);
        return true;
    }
    return false;
}

void kept_add(struct kept *kept, const struct package_query *query)
{
    char line[LINE_BYTES];
    int n = key_format(kept, query, line, sizeof line);
    if (kept->folder < 0 || has_control(query->path) || n < 0 ||
        (size_t)n + strlen(query->advice) + 2 > sizeof line)
        return;
    snprintf(line + n, sizeof line - (size_t)n, "%s\n", query->advice);
    text_add(kept, line);
    kept->is_new = true;
}

void kept_close(struct kept *kept)
{
    const struct cache_index index = {.bytes = (uint8_t *)kept->text.items,
                                      .size_bytes = kept->text.n};
    if (kept->is_new && !kept->text.no_memory)
        (void)entry_write(kept->folder, &key, text_make("advice on packages"), &index);
    if (kept->folder >= 0)
        close(kept->folder);
    chars_deinit(&kept->text);
}
