/* cache.c - sampler cache: what is kept of debug information, and making it go. */
#include "cache/cache.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cache/folder.h"
#include "commands/commands.h"
#include "options/messages.h"
#include "sink.h"
#include "text.h"
#include "text/json_write.h"

#define MB 1e6
#define BUILD_ID_COLUMNS 12

/* What is shown: an empty list where there is no folder yet. */
struct kept {
    char path[PATH_MAX]; /* of the folder */
    int folder;          /* -1: never made */
    struct cache_files files;
    uint64_t size_bytes;
};

static bool kept_open(struct kept *kept, struct err *err)
{
    *kept = (struct kept){.folder = -1};
    if (!cache_folder_path(kept->path, sizeof kept->path))
        kept->path[0] = '\0';
    kept->folder = cache_folder_open(false, err);
    if (kept->folder < 0 && err->sys_errno == ENOENT) {
        *err = (struct err)ERR_INIT;
        return true;
    }
    if (kept->folder < 0)
        return false;
    if (!cache_folder_list(kept->folder, &kept->files))
        return err_fail_memory(err);
    for (size_t i = 0; i < kept->files.n; i++)
        kept->size_bytes += kept->files.items[i].size_bytes;
    return true;
}

static void kept_close(struct kept *kept)
{
    if (kept->folder >= 0)
        close(kept->folder);
    cache_files_deinit(&kept->files);
}

static size_t build_id_length(const struct cache_file *file)
{
    return strcspn(file->key.name, "-");
}

static void file_print(const struct kept *kept, const struct cache_file *file)
{
    char path[PATH_MAX];
    char used[32];
    struct tm local;
    entry_read_path(kept->folder, &file->key, path, sizeof path);
    if (localtime_r(&file->used.tv_sec, &local) == NULL ||
        strftime(used, sizeof used, "%Y-%m-%d %H:%M", &local) == 0)
        snprintf(used, sizeof used, "?");
    for (char *at = path; *at != '\0'; at++)
        if (char_is_control(*at))
            *at = '?';
    int columns = (int)build_id_length(file);
    printf("%8.1f MB  %-16s  %-*.*s  %s\n", (double)file->size_bytes / MB, used, BUILD_ID_COLUMNS,
           columns < BUILD_ID_COLUMNS ? columns : BUILD_ID_COLUMNS, file->key.name,
           path[0] == '\0' ? "(damaged)" : path);
}

static void print_table(const struct kept *kept)
{
    printf("%s: %.1f MB of at most %.0f MB, %zu file%s\n", kept->path,
           (double)kept->size_bytes / MB, (double)CACHE_LIMIT_BYTES / MB, kept->files.n,
           kept->files.n == 1 ? "" : "s");
    if (kept->files.n > 0)
        printf("%11s  %-16s  %-*s  %s\n", "size", "last used", BUILD_ID_COLUMNS, "build id", "of");
    for (size_t i = 0; i < kept->files.n; i++)
        file_print(kept, &kept->files.items[i]);
}

static void json_file(struct json *json, const struct kept *kept, const struct cache_file *file)
{
    char path[PATH_MAX];
    entry_read_path(kept->folder, &file->key, path, sizeof path);
    json_object_begin(json);
    json_key(json, "build_id");
    json_bytes(json, file->key.name, build_id_length(file));
    json_key(json, "path");
    json_cstring(json, path);
    json_key(json, "bytes");
    json_u64(json, file->size_bytes);
    json_key(json, "used_s");
    json_i64(json, file->used.tv_sec);
    json_object_end(json);
}

static bool print_json(const struct kept *kept, struct err *err)
{
    struct sink *sink = NULL;
    if (!sink_create_file("-", &sink, err))
        return false;
    struct json json = json_make(sink, 1);
    json_object_begin(&json);
    json_key(&json, "folder");
    json_cstring(&json, kept->path);
    json_key(&json, "bytes");
    json_u64(&json, kept->size_bytes);
    json_key(&json, "most_bytes");
    json_u64(&json, CACHE_LIMIT_BYTES);
    json_key(&json, "files");
    json_array_begin(&json);
    for (size_t i = 0; i < kept->files.n; i++)
        json_file(&json, kept, &kept->files.items[i]);
    json_array_end(&json);
    json_object_end(&json);
    sink_text(sink, "\n");
    return sink_close(sink, err);
}

static bool clear(const struct kept *kept, struct err *err)
{
    struct cache_removed removed = {0, 0};
    if (kept->folder >= 0)
        removed = cache_folder_trim(kept->folder, 0);
    if (removed.n < kept->files.n) {
        err_fail(err, ERR_IO, ERR_NO_OFFSET, "%zu files could not be removed",
                 kept->files.n - removed.n);
        return err_name_file(err, kept->path);
    }
    printf("%s: %zu file%s removed, %.1f MB\n", kept->path, removed.n, removed.n == 1 ? "" : "s",
           (double)removed.size_bytes / MB);
    return true;
}

static bool act(const struct kept *kept, const struct options *options, struct err *err)
{
    if (options_flag(options, OPTION_CLEAR))
        return clear(kept, err);
    if (options_flag(options, OPTION_JSON))
        return print_json(kept, err);
    print_table(kept);
    return true;
}

int command_cache(const struct options *options)
{
    struct err err = ERR_INIT;
    struct kept kept;
    if (options->n_operands > 0) {
        err_fail(&err, ERR_USAGE, ERR_NO_OFFSET, "cache takes no file: '%.60s'",
                 options->operands[0]);
        complain("sampler", &err);
        return 2;
    }
    bool ok = kept_open(&kept, &err) && act(&kept, options, &err);
    kept_close(&kept);
    if (!ok)
        complain("sampler", &err);
    return ok ? 0 : 1;
}
