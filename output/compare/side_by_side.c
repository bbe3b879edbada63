/* side_by_side.c - see side_by_side.h. The rows of changes.h with the scope of a tree are all that is needed: paths are
 * numbered after their parents, and what a path has itself is its sum without those of its children. */
#include "compare/side_by_side.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fold/diff.h"
#include "model/copy.h"
#include "sink.h"
#include "text/json_write.h"

#define CHANGES_KEY "changes"

enum { BEFORE, AFTER, N_SIDES };

/* A row of changes, by its number. */
struct place {
    const struct change *change; /* NULL: it weighs nothing on either side          */
    uint32_t id;                 /* ROW_NAMED: function; ROW_PATH: stack; 0: not yet */
    double own[N_SIDES];         /* ROW_PATH: what its children have not             */
    double next[N_SIDES];        /* ROW_PATH: where the next of its children begins  */
};

struct showing {
    const struct changes_request *request;
    const struct changes *changes;
    const char *const *paths;
    struct place *places;
    uint32_t n_places;
    struct profile_builder *builder;
};

static uint32_t add_text(struct showing *showing, struct text text)
{
    return profile_add_text(showing->builder, text.bytes, text.length);
}

static uint32_t add_function(struct showing *showing, uint32_t row)
{
    struct place *place = &showing->places[row];
    if (place->id != 0)
        return place->id;
    struct row_origin origin = row_names_origin(showing->changes->names, row);
    const struct profile *profile = origin.profile;
    const struct profile_function *function = &profile->functions[origin.key.id];
    const struct profile_module module = {
        .path = add_text(showing, profile_text(profile, profile->modules[function->module].path))};
    const struct profile_function added = {
        .name = add_text(showing, change_name(place->change, SUMMARY_BY_FUNCTION)),
        .file = add_text(showing, profile_text(profile, function->file)),
        .line = function->line,
        .module = module.path == 0 ? 0 : profile_add_module(showing->builder, &module)};
    place->id = profile_add_function(showing->builder, &added);
    return place->id;
}

static void add_stack(struct showing *showing, struct place *place)
{
    const struct row_origin *origin = &place->change->origin;
    const struct profile_frame frame = {
        .function = add_function(showing, origin->named),
        .flags = origin->profile->frames[origin->frame].flags,
    };
    place->id = profile_add_stack(showing->builder, showing->places[origin->parent].id,
                                  profile_add_frame(showing->builder, &frame));
}

static double weight_of(const struct place *place, int side)
{
    return side == BEFORE ? place->change->before : place->change->after;
}

static bool is_path(const struct place *place)
{
    return place->change != NULL && place->change->origin.kind == ROW_PATH;
}

/* Means over runs are no whole numbers, and a sample's values are. Rounded one by one, many small paths would weigh
 * nothing, or twice as much; so all are laid out on a line, a path's own part before its children, and their borders
 * are rounded. What a path has with all below it is then less than 1 off. */
static void add_samples(struct showing *showing)
{
    struct place *places = showing->places;
    for (uint32_t row = 1; row < showing->n_places; row++) {
        struct place *place = &places[row];
        if (!is_path(place))
            continue;
        struct place *parent = &places[place->change->origin.parent];
        uint64_t values[N_SIDES];
        for (int side = 0; side < N_SIDES; side++) {
            double begin = parent->next[side], end = begin + fmax(0, place->own[side]);
            values[side] = (uint64_t)(round(end) - round(begin));
            place->next[side] = end;
            parent->next[side] = begin + weight_of(place, side);
        }
        const struct profile_sample sample = {.stack = place->id};
        profile_add_sample(showing->builder, &sample, values);
    }
}

static void add_paths(struct showing *showing)
{
    struct place *places = showing->places;
    for (uint32_t row = 1; row < showing->n_places; row++) {
        struct place *place = &places[row];
        if (!is_path(place))
            continue;
        struct place *parent = &places[place->change->origin.parent];
        for (int side = 0; side < N_SIDES; side++) {
            place->own[side] += weight_of(place, side);
            parent->own[side] -= weight_of(place, side);
        }
        add_stack(showing, place);
    }
    add_samples(showing);
}

/* ---- metadata -------------------------------------------------------------------------------- */

/* Not in whole units: half a sample is what makes a change one of chance. Of the digits more would say nothing. */
static void json_interval(struct json *json, const struct change *change)
{
    char number[32];
    if (change == NULL || isinf(change->interval)) {
        json_null(json);
        return;
    }
    int n = snprintf(number, sizeof number, "%.6g", change->interval);
    json_raw(json, number, (size_t)n);
}

static void json_files(struct json *json, const char *key, const char *const *paths, size_t n)
{
    json_key(json, key);
    json_array_begin(json);
    for (size_t i = 0; paths != NULL && i < n; i++)
        json_cstring(json, paths[i]);
    json_array_end(json);
}

/* An array of all changes of a kind; by the id of what they are of, from 1. */
static bool json_intervals(struct json *json, const char *key, const struct showing *showing,
                           enum row_kind kind)
{
    const struct change **by_id = calloc(showing->n_places + 1, sizeof(struct change *));
    uint32_t last = 0;
    if (by_id == NULL)
        return false;
    for (uint32_t row = 1; row < showing->n_places; row++) {
        const struct place *place = &showing->places[row];
        if (place->change == NULL || place->change->origin.kind != kind)
            continue;
        uint32_t of = kind == ROW_AT_LEAF ? place->change->origin.named : row;
        uint32_t id = showing->places[of].id;
        by_id[id] = place->change;
        last = id > last ? id : last;
    }
    json_key(json, key);
    json_array_begin(json);
    for (uint32_t id = 1; id <= last; id++)
        json_interval(json, by_id[id]);
    json_array_end(json);
    free(by_id);
    return true;
}

static bool changes_write(const struct showing *showing, struct sink *sink)
{
    struct json json = json_make(sink, 0);
    const struct changes_request *request = showing->request;
    json_object_begin(&json);
    json_key(&json, "schema");
    json_cstring(&json, "sampler-changes-1");
    json_files(&json, "before", showing->paths, request->n_before);
    json_files(&json, "after", showing->paths == NULL ? NULL : showing->paths + request->n_before,
               request->n_after);
    json_key(&json, "measure");
    json_text(&json, showing->changes->measure);
    json_key(&json, "is_normalized");
    json_bool(&json, request->is_normalized);
    json_key(&json, "whole");
    json_interval(&json, &showing->changes->whole);
    bool ok = json_intervals(&json, "stacks", showing, ROW_PATH) &&
              json_intervals(&json, "total", showing, ROW_NAMED) &&
              json_intervals(&json, "self", showing, ROW_AT_LEAF);
    json_object_end(&json);
    return ok;
}

static bool add_changes(const struct showing *showing, struct err *err)
{
    struct sink *sink = NULL;
    size_t n = 0;
    if (!sink_create_buffer(&sink, err))
        return false;
    if (!changes_write(showing, sink)) {
        sink_abandon(sink);
        return err_fail_memory(err);
    }
    const char *bytes = sink_buffer(sink, &n);
    profile_add_metadata(showing->builder, CHANGES_KEY, bytes, n);
    return sink_close(sink, err);
}

static void copy_metadata(const struct showing *showing)
{
    static const char *const keys[] = {"command", "exe", "host"};
    const struct profile *after = showing->request->after[0];
    for (size_t i = 0; i < after->n_metadata; i++) {
        struct text key = profile_text(after, after->metadata[i].key);
        struct text value = profile_text(after, after->metadata[i].value);
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
            if (text_is(key, keys[k]))
                profile_add_metadata(showing->builder, keys[k], value.bytes, value.length);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void set_kinds(const struct showing *showing)
{
    struct profile_scalars *scalars = profile_builder_scalars(showing->builder);
    scalars->n_kinds = N_SIDES;
    for (uint32_t side = 0; side < N_SIDES; side++)
        scalars->kinds[side] = (struct profile_kind){
            .name = profile_add_cstring(showing->builder, profile_diff_kinds[side]),
            .unit = showing->changes->unit};
}

static bool show(struct showing *showing, struct profile **out, struct err *err)
{
    const struct changes *changes = showing->changes;
    showing->n_places = row_names_count(changes->names);
    showing->places = calloc(showing->n_places, sizeof *showing->places);
    if (showing->places == NULL)
        return err_fail_memory(err);
    if (!profile_builder_create(&showing->builder, err))
        return false;
    for (size_t i = 0; i < changes->n; i++)
        showing->places[changes->rows[i].row].change = &changes->rows[i];
    set_kinds(showing);
    add_paths(showing);
    copy_metadata(showing);
    if (!add_changes(showing, err)) {
        profile_builder_destroy(showing->builder);
        return false;
    }
    return profile_builder_finish(showing->builder, out, err);
}

bool profile_side_by_side(const struct changes_request *request, const char *const *paths,
                          const struct format_notes *notes, struct profile **out, struct err *err)
{
    struct changes changes;
    struct showing showing = {.request = request, .changes = &changes, .paths = paths};
    if (!changes_init(&changes, request, notes, err))
        return false;
    bool ok = show(&showing, out, err);
    free(showing.places);
    changes_deinit(&changes);
    return ok;
}

/* One side of it, as a profile of its own. */
static bool side_make(const struct profile *diff, uint32_t side, struct profile **out,
                      struct err *err)
{
    struct profile_builder *builder = NULL;
    if (!profile_builder_like(diff, &builder, err))
        return false;
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = 1;
    scalars->kinds[0].name = 0; /* not of what, but of when */
    for (size_t i = 0; i < diff->n_samples; i++) {
        const uint64_t values[] = {profile_value(diff, i, side)};
        if (values[0] != 0)
            profile_add_sample(builder, &diff->samples[i], values);
    }
    return profile_builder_finish(builder, out, err);
}

bool profile_diff_side_by_side(const struct profile *diff, const struct format_notes *notes,
                               struct profile **out, struct err *err)
{
    struct profile *before = NULL, *after = NULL;
    bool ok = side_make(diff, BEFORE, &before, err) && side_make(diff, AFTER, &after, err);
    if (ok) {
        const struct profile *const sides[] = {before, after};
        const struct changes_request request = {.before = sides,
                                                .after = sides + 1,
                                                .n_before = 1,
                                                .n_after = 1,
                                                .scope = ROWS_OF_TREE};
        ok = profile_side_by_side(&request, NULL, notes, out, err);
    }
    profile_destroy(before);
    profile_destroy(after);
    return ok;
}

struct text profile_changes_text(const struct profile *profile)
{
    for (size_t i = 0; profile_is_diff(profile) && i < profile->n_metadata; i++)
        if (text_is(profile_text(profile, profile->metadata[i].key), CHANGES_KEY))
            return profile_text(profile, profile->metadata[i].value);
    return text_make("");
}

bool profile_is_side_by_side(const struct profile *profile)
{
    return profile_changes_text(profile).length > 0;
}
