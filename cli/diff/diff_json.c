/* diff_json.c - the changes for programs. Numbers are whole, in the unit named. */
#include <math.h>

#include "diff/diff.h"
#include "sink.h"
#include "view/row_json.h"
#include "view/rows_by.h"

static void json_change(struct json *json, const struct diff *diff, const struct change *change)
{
    uint64_t before = (uint64_t)llround(change->before), after = (uint64_t)llround(change->after);
    row_json_number(json, "before", before);
    row_json_number(json, "after", after);
    json_key(json, "change");
    json_i64(json, (int64_t)after - (int64_t)before);
    if (!isinf(change->interval)) {
        row_json_number(json, "interval", (uint64_t)llround(change->interval));
        json_key(json, "is_beyond_chance");
        json_bool(json, change->is_beyond);
    }
    if (change == &diff->changes.whole)
        return;
    json_key(json, "points");
    json_f64(json, change_points(&diff->changes, change));
}

static void json_row(struct json *json, const struct diff *diff, const struct change *row)
{
    json_object_begin(json);
    json_key(json, "name");
    json_text(json, change_name(row, diff->by));
    row_json_place(json, row->origin.profile, diff->by, row->origin.key);
    json_change(json, diff, row);
    json_object_end(json);
}

static void json_head(struct json *json, const struct diff *diff)
{
    struct diff_verdict verdict = diff->verdict;
    row_json_unit(json, diff->by, diff->changes.unit, diff->changes.measure);
    json_key(json, "of");
    json_cstring(json, diff->by_total ? "total" : "self");
    json_key(json, "is_normalized");
    json_bool(json, options_flag(diff->options, OPTION_NORMALIZE));
    row_json_number(json, "runs_before", diff->sides.n_before);
    row_json_number(json, "runs_after", diff->sides.n_after);
    json_key(json, "whole");
    json_object_begin(json);
    json_change(json, diff, &diff->changes.whole);
    json_object_end(json);
    if (diff->changes.knows_chance) {
        row_json_number(json, "rows_beyond_chance", verdict.n);
        json_key(json, "change_beyond_chance");
        json_i64(json, llround(verdict.sum));
    }
    row_json_number(json, "more_rows", diff->changes.n - diff->n_rows);
}

bool diff_print_json(const struct diff *diff, struct err *err)
{
    struct sink *sink = NULL;
    if (!sink_create_file("-", &sink, err))
        return false;
    struct json json = json_make(sink, 1);
    json_object_begin(&json);
    json_head(&json, diff);
    json_key(&json, "rows");
    json_array_begin(&json);
    for (size_t i = 0; i < diff->n_rows; i++)
        json_row(&json, diff, &diff->changes.rows[i]);
    json_array_end(&json);
    json_object_end(&json);
    sink_text(sink, "\n");
    return sink_close(sink, err);
}
