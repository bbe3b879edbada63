/* labels.c - see labels.h. */
#include "formats/nytprof/labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/nytprof/name.h"

static bool append_cstring(struct array *out, const char *text)
{
    return nytprof_append(out, text, strlen(text));
}

/* Takes the name in `name` if it is free, otherwise with `suffix` and then with a number behind. */
static bool take_unique(struct nytprof_labels *labels, struct array *name, const char *suffix,
                        uint32_t *id)
{
    if (!intern_add(labels->texts, name->items, name->n, id))
        return false;
    if (nytprof_map_find(&labels->used, *id, 0) != UINT32_MAX) {
        if (!append_cstring(name, suffix) || !intern_add(labels->texts, name->items, name->n, id))
            return false;
    }
    uint32_t base = *id;
    size_t n_base = name->n;
    while (nytprof_map_find(&labels->used, *id, 0) != UINT32_MAX) {
        char number[24];
        uint32_t last = nytprof_map_find(&labels->repeats, base, 0);
        uint32_t next = last == UINT32_MAX ? 2 : last + 1;
        snprintf(number, sizeof number, " #%" PRIu32, next);
        name->n = n_base;
        if (!append_cstring(name, number) || !nytprof_map_set(&labels->repeats, base, 0, next) ||
            !intern_add(labels->texts, name->items, name->n, id))
            return false;
    }
    return nytprof_map_set(&labels->used, *id, 0, 1);
}

/* ---- files ------------------------------------------------------------------------------------
 */

static bool append_without_controls(struct array *out, struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.bytes[i];
        if ((unsigned char)c < 0x20 || c == 0x7f)
            c = ' ';
        if (!nytprof_append(out, &c, 1))
            return false;
    }
    return true;
}

static bool append_module(struct array *out, struct text path)
{
    struct text name = nytprof_base_name(path);
    bool has_brackets = name.length != 0 && name.bytes[0] == '[';
    return (has_brackets || append_cstring(out, "[")) && append_without_controls(out, name) &&
           (has_brackets || append_cstring(out, "]"));
}

static bool label_files(struct nytprof_labels *labels, const struct nytprof_graph *graph,
                        struct array *name)
{
    const struct profile *profile = graph->profile;
    for (size_t i = 0; i < graph->files.n; i++) {
        const struct nytprof_place *place = array_at(&graph->files, i);
        bool ok;
        name->n = 0;
        if (place->file != 0)
            ok = append_without_controls(name, profile_text(profile, place->file));
        else if (place->module != 0)
            ok = append_module(name, profile_text(profile, profile->modules[place->module].path));
        else
            ok = append_cstring(name, NYTPROF_NO_FILE);
        if (!ok || !take_unique(labels, name, "", &labels->files[i + 1]))
            return false;
    }
    return true;
}

/* ---- subs -------------------------------------------------------------------------------------
 */

/* By which two functions of one name can be told apart. */
static void make_suffix(const struct nytprof_graph *graph, uint32_t function, uint64_t vaddr,
                        char *out, size_t out_bytes)
{
    const struct profile *profile = graph->profile;
    const struct profile_function *f = &profile->functions[function];
    struct text file = nytprof_base_name(profile_text(profile, f->file));
    struct text object = nytprof_base_name(profile_text(profile, profile->modules[f->module].path));
    out[0] = '\0';
    if (f->file != 0)
        snprintf(out, out_bytes, " [%.*s:%" PRIu32 "]", (int)(file.length & 0x7f), file.bytes,
                 f->line);
    else if (f->module != 0 && vaddr != UINT64_MAX)
        snprintf(out, out_bytes, " [%.*s+0x%" PRIx64 "]", (int)(object.length & 0x7f), object.bytes,
                 vaddr);
    for (char *c = out; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f || *c == ';' || *c == '<')
            *c = ' ';
    }
}

static bool label_subs(struct nytprof_labels *labels, const struct nytprof_graph *graph,
                       struct array *name)
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
            object =
                nytprof_base_name(profile_text(profile, profile->modules[function->module].path));
        char suffix[256];
        make_suffix(graph, i, vaddrs[i], suffix, sizeof suffix);
        name->n = 0;
        if (!nytprof_name_encode(profile_text(profile, function->name), object, name) ||
            !take_unique(labels, name, suffix, &labels->subs[i]))
            return false;
    }
    return true;
}

bool nytprof_labels_init(struct nytprof_labels *labels, const struct nytprof_graph *graph,
                         struct err *err)
{
    struct array name;
    uint32_t root;
    array_init(&name, 1);
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
         nytprof_map_set(&labels->used, root, 0, 1) && label_files(labels, graph, &name) &&
         label_subs(labels, graph, &name);
    array_deinit(&name);
    return ok || err_fail_memory(err);
}

void nytprof_labels_deinit(struct nytprof_labels *labels)
{
    nytprof_map_deinit(&labels->used);
    nytprof_map_deinit(&labels->repeats);
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
