/* jit.c - see jit.h. */
#include "jit/jit.h"

#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit/code_file.h"
#include "jit/jitdump.h"
#include "jit/perf_map.h"

enum { FILE_MAP, FILE_DUMP };

/* ---- addresses ---- */

static bool is_in_no_file(const struct recording_node *node)
{
    return node->module == 0 && node->cut == 0 && !node->unknown;
}

static int code_compare(const void *left, const void *right)
{
    const struct code_said *a = left, *b = right;
    return a->pc != b->pc ? compare_u64(a->pc, b->pc) : compare_u64(b->seen_ns, a->seen_ns);
}

/* When each node was last on a sampled stack; heap, NULL when out of memory. */
static uint64_t *nodes_seen(const struct recording *recording)
{
    uint64_t *seen_ns = calloc(recording->n_nodes + 1, sizeof *seen_ns);
    if (seen_ns == NULL)
        return NULL;
    for (size_t i = 0; i < recording->n_samples; i++) {
        const struct recording_sample *sample = &recording->samples[i];
        seen_ns[sample->node] = max_u64(seen_ns[sample->node], sample->time_ns);
    }
    for (size_t i = recording->n_nodes; i-- > 1;) {
        uint32_t parent = recording->nodes[i].parent; /* which comes before it */
        seen_ns[parent] = max_u64(seen_ns[parent], seen_ns[i]);
    }
    return seen_ns;
}

/* Of equal addresses the one that was seen last stays. */
static void codes_make_distinct(struct codes_said *codes)
{
    size_t n = 0;
    if (codes->n > 1)
        qsort(codes->items, codes->n, sizeof *codes->items, code_compare);
    for (size_t i = 0; i < codes->n; i++)
        if (n == 0 || codes->items[i].pc != codes->items[n - 1].pc)
            codes->items[n++] = codes->items[i];
    codes->n = n;
}

static bool codes_collect(struct codes_said *codes, const struct recording *recording)
{
    size_t n = 0;
    for (size_t i = 1; i < recording->n_nodes; i++)
        n += is_in_no_file(&recording->nodes[i]);
    if (n == 0)
        return true;
    uint64_t *seen_ns = nodes_seen(recording);
    codes->items = calloc(n, sizeof *codes->items);
    if (seen_ns == NULL || codes->items == NULL) {
        free(seen_ns);
        return false;
    }
    for (size_t i = 1; i < recording->n_nodes; i++) {
        if (!is_in_no_file(&recording->nodes[i]))
            continue;
        codes->items[codes->n++] = (struct code_said){
            .pc = recording_node_vaddr(&recording->nodes[i]),
            .seen_ns = add_saturated(recording->header.start_time_ns, seen_ns[i]),
            .name = text_make(""),
            .file = text_make(""),
            .decl_file = text_make(""),
        };
    }
    free(seen_ns);
    codes_make_distinct(codes);
    return true;
}

/* ---- files ---- */

/* As recorded; of recordings that do not say it, whoever asks. */
static uint64_t uid_of(const struct recording *recording)
{
    struct text uid = recording_info_get(recording, "uid");
    uint64_t number = 0;
    for (size_t i = 0; i < uid.length && char_is_digit(uid.bytes[i]); i++)
        number = number * 10 + (uint64_t)(uid.bytes[i] - '0');
    return uid.length == 0 ? geteuid() : number;
}

/* The first problem is told. */
static void problem_note(struct jit *jit, const char *path, const char *is_what, const char *why)
{
    if (jit->problem[0] == '\0')
        snprintf(jit->problem, sizeof jit->problem, "%.150s %s: %.60s", path, is_what, why);
}

static void codes_begin_file(struct jit *jit)
{
    jit->codes.n_words = 0;
}

static void codes_end_file(struct jit *jit, const char *path)
{
    if (jit->codes.n_words == CODES_MAX_WORDS)
        problem_note(jit, path, "is used in part", "it says too much about the same code");
}

/* What was read is in jit->files[which], which stays NULL otherwise. */
static void file_read(struct jit *jit, unsigned which, const char *path,
                      const struct recording *recording, size_t *n)
{
    const char *why;
    const struct capture_header *header = &recording->header;
    struct code_file_owner owner = {.uid = uid_of(recording),
                                    .start_realtime_ns = header->start_realtime_ns,
                                    .end_realtime_ns = UINT64_MAX};
    if (header->end != CAPTURE_RUNNING)
        owner.end_realtime_ns =
            add_saturated(header->start_realtime_ns, header->end_time_ns - header->start_time_ns);
    char *bytes = NULL;
    enum code_file_outcome outcome = code_file_read(path, &owner, &bytes, n, &why);
    if (outcome == CODE_FILE_READ)
        jit->files[which] = bytes;
    if (outcome == CODE_FILE_REFUSED)
        problem_note(jit, path, "is not used", why);
}

static void map_use(struct jit *jit, const struct recording *recording)
{
    char path[64];
    size_t n;
    snprintf(path, sizeof path, "/tmp/perf-%" PRIu32 ".map", recording->header.pid);
    file_read(jit, FILE_MAP, path, recording, &n);
    if (jit->files[FILE_MAP] == NULL)
        return;
    codes_begin_file(jit);
    perf_map_read((struct text){jit->files[FILE_MAP], n}, &jit->codes);
    codes_end_file(jit, path);
}

/* Uses the dump at `path`, if there is one. False: out of memory. */
static bool dump_use(struct jit *jit, const struct recording *recording, const char *path)
{
    size_t n;
    file_read(jit, FILE_DUMP, path, recording, &n);
    if (jit->files[FILE_DUMP] == NULL)
        return true;
    codes_begin_file(jit);
    enum jitdump_outcome outcome =
        jitdump_read((struct text){jit->files[FILE_DUMP], n}, recording->header.pid, &jit->codes);
    codes_end_file(jit, path);
    if (outcome == JITDUMP_NONE) {
        free(jit->files[FILE_DUMP]);
        jit->files[FILE_DUMP] = NULL;
    }
    return outcome != JITDUMP_NO_MEMORY;
}

/* The folders of perf's agent for Java and of LLVM, one for each run. `base`: may be NULL. */
static bool dump_search(struct jit *jit, const struct recording *recording, const char *base)
{
    char pattern[PATH_MAX];
    glob_t found;
    bool done = true;
    int n = base == NULL ? 0
                         : snprintf(pattern, sizeof pattern, "%s/.debug/jit/*/jit-%" PRIu32 ".dump",
                                    base, recording->header.pid);
    if (n <= 0 || (size_t)n >= sizeof pattern || glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
        return true;
    for (size_t i = 0; i < found.gl_pathc && done && jit->files[FILE_DUMP] == NULL; i++)
        done = dump_use(jit, recording, found.gl_pathv[i]);
    globfree(&found);
    return done;
}

static bool dump_find(struct jit *jit, const struct recording *recording)
{
    char path[PATH_MAX];
    struct text cwd = recording_info_get(recording, "cwd");
    bool done = true;
    int n = snprintf(path, sizeof path, "%.*s/jit-%" PRIu32 ".dump", (int)cwd.length, cwd.bytes,
                     recording->header.pid);
    if (n > 0 && (size_t)n < sizeof path)
        done = dump_use(jit, recording, path);
    snprintf(path, sizeof path, "/tmp/jit-%" PRIu32 ".dump", recording->header.pid);
    if (done && jit->files[FILE_DUMP] == NULL)
        done = dump_use(jit, recording, path);
    if (done && jit->files[FILE_DUMP] == NULL)
        done = dump_search(jit, recording, getenv("JITDUMPDIR"));
    if (done && jit->files[FILE_DUMP] == NULL)
        done = dump_search(jit, recording, getenv("HOME"));
    return done;
}

/* ---- both ---- */

bool jit_init(struct jit *jit, const struct recording *recording)
{
    if (!codes_collect(&jit->codes, recording))
        return false;
    if (jit->codes.n == 0)
        return true;
    map_use(jit, recording);
    return dump_find(jit, recording);
}

void jit_deinit(struct jit *jit)
{
    free(jit->codes.items);
    for (size_t i = 0; i < sizeof jit->files / sizeof jit->files[0]; i++)
        free(jit->files[i]);
}

const struct code_said *jit_find(const struct jit *jit, uint64_t vaddr)
{
    size_t i = codes_said_from(&jit->codes, vaddr);
    if (i == jit->codes.n || jit->codes.items[i].pc != vaddr ||
        jit->codes.items[i].name.length == 0)
        return NULL;
    return &jit->codes.items[i];
}
