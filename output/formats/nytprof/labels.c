/* labels.c - see formats/nytprof/labels.h. */
#include "formats/nytprof/labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/nytprof/name.h"

static void append_cstring(struct chars *out, const char *text)
{
    chars_append(out, text, strlen(text));
}

/* Takes the name in `name` if it is free, otherwise with `suffix` and then with a number behind. */
static bool take_unique(struct nytprof_labels *labels, struct chars *name, const char *suffix,
                        uint32_t *id)
{
    if (name->no_memory || !intern_add(labels->texts, name->items, name->n, id))
        return false;
    if (map_find(&labels->used, *id, 0) != MAP_NONE) {
        append_cstring(name, suffix);
        if (name->no_memory || !intern_add(labels->texts, name->items, name->n, id))
            return false;
    }
    uint32_t base = *id;
    size_t n_base = name->n;
    while (map_find(&labels->used, *id, 0) != MAP_NONE) {
        char number[24];
        uint32_t last = map_find(&labels->repeats, base, 0);
        uint32_t next = last == MAP_NONE ? 2 : last + 1;
        snprintf(number, sizeof number, " #%" PRIu32, next);
        name->n = n_base;
        append_cstring(name, number);
        if (name->no_memory || !map_set(&labels->repeats, base, 0, next) ||
            !intern_add(labels->texts, name->items, name->n, id))
            return false;
    }
    return map_set(&labels->used, *id, 0, 1);
}

/* ---- files ---- */

static void append_module(struct chars *out, struct text path)
{
    struct text name = text_base_name(path);
    bool has_brackets = text_starts(name, "[");
    append_cstring(out, has_brackets ? "" : "[");
    nytprof_append_plain(out, name);
    append_cstring(out, has_brackets ? "" : "]");
}

static bool label_files(struct nytprof_labels *labels, const struct nytprof_graph *graph,
                        struct chars *name)
{
    const struct profile *profile = graph->profile;
    for (size_t i = 0; i < graph->files.n; i++) {
        const struct nytprof_place *place = &graph->files.items[i];
        name->n = 0;
        if (place->file != 0)
            nytprof_append_plain(name, profile_text(profile, place->file));
        else if (place->module != 0)
            append_module(name, profile_text(profile, profile->modules[place->module].path));
        else
            append_cstring(name, NYTPROF_NO_FILE);
        if (!take_unique(labels, name, "", &labels->files[i + 1]))
            return false;
    }
    return true;
}

/* ---- subs ---- */

/* By which two functions of one name can be told apart. */
static void make_suffix(const struct nytprof_graph *graph, uint32_t function, uint64_t vaddr,
                        char *out, size_t out_bytes)
{
    const struct profile *profile = graph->profile;
    const struct profile_function *f = &profile->functions[function];
    struct text file = text_base_name(profile_text(profile, f->file));
    struct text object = text_base_name(profile_text(profile, profile->modules[f->module].path));
    out[0] = '\0';
    if (f->file != 0)
        snprintf(out, out_bytes, " [%.*s:%" PRIu32 "]", (int)(file.length & 0x7f), file.bytes,
                 f->line);
    else if (f->module != 0 && vaddr != UINT64_MAX)
        snprintf(out, out_bytes, " [%.*s+0x%" PRIx64 "]", (int)(object.length & 0x7f), object.bytes,
                 vaddr);
    for (char *c = out; *c != '\0'; c++) {
        if (char_is_control(*c) || *c == ';' || *c == '<')
            *c = ' ';
    }
}

static bool label_subs(struct nytprof_labels *labels, const struct nytprof_graph *graph,
                       struct chars *name)
{
    const struct profile *profile = graph->profile;
    uint64_t *vaddrs = arena_array(labels->arena, profile->n_functions, sizeof *vaddrs);
    if (vaddrs == NULL)
        return false;
    memset(vaddrs, 0xff, profile->n_functions * sizeof *vaddrs);
    for (uint32_t i = 1; i < profile->n_frames; i++) {
        const struct profile_frame *frame = &profile->frames[i];
        if (frame->address != 0 && frame->address < vaddrs[frame->function])
            vaddrs[frame->function] = frame->address;
    }
    for (uint32_t i = 0; i < profile->n_functions; i++) {
        const struct profile_function *function = &profile->functions[i];
        if (graph->fid_of_function[i] == 0)
            continue;
        struct text object = {.bytes = ""};
        if (function->module != graph->program)
            object = text_base_name(profile_text(profile, profile->modules[function->module].path));
        char suffix[256];
        make_suffix(graph, i, vaddrs[i], suffix, sizeof suffix);
        name->n = 0;
        nytprof_name_encode(profile_text(profile, function->name), object, name);
        if (!take_unique(labels, name, suffix, &labels->subs[i]))
            return false;
    }
    return true;
}

bool nytprof_labels_init(struct nytprof_labels *labels, const struct nytprof_graph *graph,
                         struct err *err)
{
    struct chars name = {0};
    uint32_t root;
    *labels = (struct nytprof_labels){.arena = arena_create()};
    bool ok = labels->arena != NULL;
    if (ok) {
        labels->texts = intern_create(labels->arena);
        labels->files = arena_array(labels->arena, graph->files.n + 1, sizeof *labels->files);
        labels->subs =
            arena_array(labels->arena, graph->profile->n_functions, sizeof *labels->subs);
    }
    ok = ok && labels->texts != NULL && labels->files != NULL && labels->subs != NULL &&
         intern_add(labels->texts, NYTPROF_ROOT_SUB, strlen(NYTPROF_ROOT_SUB), &root) &&
         map_set(&labels->used, root, 0, 1) && label_files(labels, graph, &name) &&
         label_subs(labels, graph, &name);
    chars_deinit(&name);
    return ok || err_fail_memory(err);
}

void nytprof_labels_deinit(struct nytprof_labels *labels)
{
    map_deinit(&labels->used);
    map_deinit(&labels->repeats);
    intern_destroy(labels->texts);
    arena_destroy(labels->arena);
}

struct text nytprof_file_label(const struct nytprof_labels *labels, uint32_t fid)
{
    return intern_text(labels->texts, labels->files[fid]);
}

struct text nytprof_sub_label(const struct nytprof_labels *labels, uint32_t function)
{
    return intern_text(labels->texts, labels->subs[function]);
}
