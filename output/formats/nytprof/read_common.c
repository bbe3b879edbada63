/* read_common.c - what calls, edges and lines of a stream all become: functions, stacks, and weights by thread and stack.
 *
 * A function is made when the first sample needs it, so the profile has none without samples. Weights of one thread and
 * stack add up to one sample: a stream has a time for each statement, millions of which are in the same place. */
#include <inttypes.h>
#include <stdio.h>

#include "formats/nytprof/labels.h"
#include "formats/nytprof/name.h"
#include "formats/nytprof/read.h"
#include "saturated.h"

/* ---- functions ---- */

static uint32_t text_of(struct nytprof_reader *r, uint32_t id)
{
    struct text utf8 = {.bytes = ""};
    struct text text = intern_text(r->all.content.texts, id);
    if (r->all.is_ours)
        return profile_add_text(r->builder, text.bytes, text.length);
    if (!nytprof_utf8(text, &r->buffer, &utf8))
        r->no_memory = true;
    return profile_add_text(r->builder, utf8.bytes, utf8.length);
}

/* Names of ours are undone. */
static uint32_t sub_name(struct nytprof_reader *r, uint32_t name)
{
    if (!r->all.is_ours)
        return text_of(r, name);
    struct text bare = nytprof_name_bare(intern_text(r->all.content.texts, name));
    if (map_find(&r->all.whole, name, 0) != MAP_NONE)
        return profile_add_text(r->builder, bare.bytes, bare.length);
    r->buffer.n = 0;
    nytprof_name_decode(bare, &r->buffer);
    return profile_add_text(r->builder, r->buffer.n == 0 ? "" : r->buffer.items, r->buffer.n);
}

/* A name in square brackets is an object's; both are 0 for NYTPROF_NO_FILE. */
static void place_of(struct nytprof_reader *r, uint32_t fid, struct profile_function *function)
{
    const struct nytprof_file *file = nytprof_content_file(&r->all.content, fid);
    if (file == NULL)
        return;
    struct text name = intern_text(r->all.content.texts, file->name);
    bool is_object = (file->flags & NYTPROF_FILE_IS_FAKE) != 0 && name.length > 2 &&
                     text_starts(name, "[") && text_ends(name, "]");
    if (!is_object) {
        function->file = text_of(r, file->name);
    } else if (!text_is(name, NYTPROF_NO_FILE)) {
        struct profile_module module = {
            .path = profile_add_text(r->builder, name.bytes + 1, name.length - 2)};
        function->module = profile_add_module(r->builder, &module);
    }
}

uint32_t nytprof_reader_function(struct nytprof_reader *r, uint32_t name)
{
    if (r->functions[name] != 0)
        return r->functions[name] - 1;
    const struct nytprof_sub *sub = nytprof_content_sub(&r->all.content, name);
    struct profile_function function = {.name = sub_name(r, name)};
    if (sub != NULL && sub->has_fid) {
        place_of(r, sub->fid, &function);
        function.line = sub->first_line;
    }
    uint32_t id = profile_add_function(r->builder, &function);
    r->functions[name] = id + 1;
    return id;
}

/* Code of a file outside of all subs. */
uint32_t nytprof_reader_file_function(struct nytprof_reader *r, uint32_t fid)
{
    const struct nytprof_file *file = nytprof_content_file(&r->all.content, fid);
    struct profile_function function = {.name = 0};
    if (file != NULL) {
        function.name = text_of(r, file->name);
        place_of(r, fid, &function);
    } else {
        char name[32];
        snprintf(name, sizeof name, "file %" PRIu32, fid);
        function.name = profile_add_cstring(r->builder, name);
    }
    return profile_add_function(r->builder, &function);
}

uint32_t nytprof_reader_stack(struct nytprof_reader *r, uint32_t parent, uint32_t function,
                              uint32_t line)
{
    struct profile_frame frame = {.function = function, .line = line};
    return profile_add_stack(r->builder, parent, profile_add_frame(r->builder, &frame));
}

/* ---- samples ---- */

void nytprof_reader_add(struct nytprof_reader *r, uint32_t thread, uint32_t stack, uint64_t weight)
{
    uint32_t row = map_add(&r->sum_rows, thread, stack, (uint32_t)r->sums.n);
    if (row == r->sums.n)
        nytprof_sums_push(&r->sums, (struct nytprof_sum){.thread = thread, .stack = stack});
    if (row < r->sums.n)
        r->sums.items[row].weight = add_saturated(r->sums.items[row].weight, weight);
}
