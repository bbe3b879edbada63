/* top_json.c - the table of `sampler top` for programs: whole numbers in the unit that is named, so
 * that sums are exact. What is not known is left out. */
#include "commands/top.h"
#include "sink.h"
#include "text/json_write.h"

static void json_text_or_nothing(struct json *json, const char *key, struct text text)
{
    if (text.length == 0)
        return;
    json_key(json, key);
    json_text(json, text);
}

static void json_number_or_nothing(struct json *json, const char *key, uint64_t number)
{
    if (number == 0)
        return;
    json_key(json, key);
    json_u64_exact(json, number);
}

/* Where a function is, or the line that runs. */
static void json_place(const struct top *top, struct json *json, const struct summary_row *row)
{
    const struct profile *profile = top->input->profile;
    const struct profile_function *function = &profile->functions[row->id];
    if (top->by != SUMMARY_BY_FUNCTION && top->by != SUMMARY_BY_LINE)
        return;
    json_text_or_nothing(json, "file", profile_text(profile, function->file));
    json_number_or_nothing(json, "line", top->by == SUMMARY_BY_LINE ? row->line : function->line);
    json_text_or_nothing(json, "module",
                         profile_text(profile, profile->modules[function->module].path));
}

static void json_row(const struct top *top, struct json *json, const struct summary_row *row)
{
    json_object_begin(json);
    json_key(json, "self");
    json_u64_exact(json, row->self);
    json_key(json, "total");
    json_u64_exact(json, row->total);
    json_key(json, "name");
    json_text(json, summary_row_name(top->input->profile, top->by, row));
    json_place(top, json, row);
    if (top->by == SUMMARY_BY_THREAD) {
        const struct profile_thread *thread = &top->input->profile->threads[row->id];
        json_number_or_nothing(json, "tid", thread->tid);
        json_number_or_nothing(json, "pid", top->input->profile->processes[thread->process].pid);
    }
    if (top->by == SUMMARY_BY_PROCESS)
        json_number_or_nothing(json, "pid", summary_row_number(top->input->profile, top->by, row));
    json_object_end(json);
}

static const char *unit_word(enum profile_unit unit)
{
    switch (unit) {
    case PROFILE_UNIT_NS:
        return "ns";
    case PROFILE_UNIT_BYTES:
        return "bytes";
    case PROFILE_UNIT_EVENTS:
        return "events";
    case PROFILE_UNIT_NONE:
    case PROFILE_UNIT_COUNT:
        break;
    }
    return "samples";
}

static void json_top(const struct top *top, struct json *json)
{
    const struct summary *summary = &top->summary;
    json_object_begin(json);
    json_key(json, "by");
    json_cstring(json, top->by_word);
    json_key(json, "unit");
    json_cstring(json, unit_word(summary->unit));
    json_text_or_nothing(json, "measure", profile_text(top->input->profile, summary->measure));
    json_key(json, "total");
    json_u64_exact(json, summary->all);
    json_key(json, "idle");
    json_u64_exact(json, summary->idle);
    json_key(json, "more_rows");
    json_u64(json, summary->n - top->n_rows);
    json_key(json, "rows");
    json_array_begin(json);
    for (size_t i = 0; i < top->n_rows; i++)
        json_row(top, json, &summary->rows[i]);
    json_array_end(json);
    json_object_end(json);
    sink_text(json->out, "\n");
}

bool top_print_json(const struct top *top, struct err *err)
{
    struct sink *sink = NULL;
    if (!sink_create_file("-", &sink, err))
        return false;
    struct json json = json_make(sink, 1);
    json_top(top, &json);
    return sink_close(sink, err);
}
