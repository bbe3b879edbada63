/* pattern.c - see pattern.h. */
#include "options/pattern.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

/* Set by the launchers: Open MPI, MPICH and its relatives, PMIx, Slurm, MVAPICH. */
static const char *const rank_variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK",     "PMIX_RANK",
                                             "MV2_COMM_WORLD_RANK",  "SLURM_PROCID", NULL};

struct text_out {
    char *bytes;
    size_t size_bytes;
    size_t used;
    bool full;
};

static void put_byte(struct text_out *out, char byte)
{
    if (out->used + 1 >= out->size_bytes) {
        out->full = true;
        return;
    }
    out->bytes[out->used++] = byte;
    out->bytes[out->used] = '\0';
}

static void put_text(struct text_out *out, const char *text)
{
    for (; *text != '\0'; text++)
        put_byte(out, *text);
}

/* The last part of a path. What would leave the folder or garble a terminal becomes '_'. */
static void put_name(struct text_out *out, const char *path)
{
    const char *name = text_base_name(text_make(path)).bytes;
    if (name[0] == '\0')
        name = "program";
    if (name[0] == '.') /* no hidden files, no ".." */
        put_byte(out, '_');
    for (name += name[0] == '.'; *name != '\0'; name++)
        if (char_is_control(*name))
            put_byte(out, '_');
        else
            put_byte(out, *name);
}

static const char *rank_text(void)
{
    for (const char *const *name = rank_variables; *name != NULL; name++) {
        const char *value = getenv(*name);
        if (value != NULL && value[0] != '\0' && strspn(value, "0123456789") == strlen(value))
            return value;
    }
    return "0";
}

static bool put_letter(struct text_out *out, char letter, const struct pattern_values *values)
{
    char text[256];
    switch (letter) {
    case 'n':
        put_name(out, values->command);
        return true;
    case 'p':
        snprintf(text, sizeof text, "%" PRIu64, values->pid);
        put_text(out, text);
        return true;
    case 'h':
        if (gethostname(text, sizeof text) != 0)
            snprintf(text, sizeof text, "localhost");
        text[sizeof text - 1] = '\0';
        put_name(out, text);
        return true;
    case 'r':
        put_text(out, rank_text());
        return true;
    case '%':
        put_byte(out, '%');
        return true;
    default:
        return false;
    }
}

bool pattern_expand(const char *pattern, const struct pattern_values *values, char *out,
                    size_t out_bytes, struct err *err)
{
    struct text_out text = {.bytes = out, .size_bytes = out_bytes};
    out[0] = '\0';
    for (const char *at = pattern; *at != '\0'; at++) {
        if (*at != '%') {
            put_byte(&text, *at);
            continue;
        }
        at++;
        if (*at == '\0' || !put_letter(&text, *at, values))
            return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                            "%.100s: '%%%.1s' is none of %%n %%p %%h %%r %%%%", pattern, at);
    }
    if (text.full)
        return err_fail(err, ERR_LIMIT, ERR_NO_OFFSET, "%.100s: the file name is too long",
                        pattern);
    return true;
}

bool pattern_has_pid(const char *pattern)
{
    for (const char *at = pattern; (at = strchr(at, '%')) != NULL && at[1] != '\0'; at += 2)
        if (at[1] == 'p')
            return true;
    return false;
}

bool pattern_folder(const char *pattern, const struct pattern_values *values, char *out,
                    size_t out_bytes, struct err *err)
{
    const char *slash = strrchr(pattern, '/');
    size_t length = slash != NULL ? (size_t)(slash - pattern) : 0;
    if (slash == NULL) {
        snprintf(out, out_bytes, ".");
        return true;
    }
    char *folder = strndup(pattern, length > 0 ? length : 1);
    if (folder == NULL)
        return err_fail_memory(err);
    bool ok = pattern_has_pid(folder)
                  ? err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                             "%.100s: the folder of an output cannot depend on %%p", pattern)
                  : pattern_expand(folder, values, out, out_bytes, err);
    free(folder);
    return ok;
}

bool path_add_pid(const char *path, uint64_t pid, char *out, size_t out_bytes, struct err *err)
{
    const char *name = text_base_name(text_make(path)).bytes;
    const char *dot = strrchr(name, '.');
    size_t head = dot != NULL && dot != name ? (size_t)(dot - path) : strlen(path);
    static const char *const doubles[] = {".diff", ".pb", ".trace", ".speedscope", ".firefox"};
    for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++) {
        size_t length = strlen(doubles[i]);
        if (dot != NULL && head > length + (size_t)(name - path) &&
            strncmp(path + head - length, doubles[i], length) == 0) {
            head -= length;
            break;
        }
    }
    int n = snprintf(out, out_bytes, "%.*s.%" PRIu64 "%s", (int)head, path, pid, path + head);
    if (n < 0 || (size_t)n >= out_bytes)
        return err_fail(err, ERR_LIMIT, ERR_NO_OFFSET, "%.100s: the file name is too long", path);
    return true;
}
