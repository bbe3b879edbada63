/* top_json.c - the table of `sampler top` for programs: view/row_json.h. */
#include "commands/top.h"
#include "sink.h"
#include "view/row_json.h"

static void json_row(const struct top *top, struct json *json, const struct summary_row *row)
{
    const struct profile *profile = top->input->profile;
    uint64_t number = summary_row_number(profile, top->by, row->key);
    json_object_begin(json);
    row_json_number(json, "self", row->self);
    row_json_number(json, "total", row->total);
    row_json_name(json, profile, top->by, row->key);
    if (number != 0)
        row_json_number(json, top->by == SUMMARY_BY_THREAD ? "tid" : "pid", number);
    if (top->by == SUMMARY_BY_THREAD) {
        uint64_t pid = profile->processes[profile->threads[row->key.id].process].pid;
        if (pid != 0)
            row_json_number(json, "pid", pid);
    }
    json_object_end(json);
}

bool top_print_json(const struct top *top, struct err *err)
{
    struct sink *sink = NULL;
    if (!sink_create_file("-", &sink, err))
        return false;
    struct json json = json_make(sink, 1);
    json_object_begin(&json);
    row_json_head(&json, top->input->profile, top->by, &top->summary.weighed);
    row_json_number(&json, "more_rows", top->summary.n - top->n_rows);
    json_key(&json, "rows");
    json_array_begin(&json);
    for (size_t i = 0; i < top->n_rows; i++)
        json_row(top, &json, &top->summary.rows[i]);
    json_array_end(&json);
    json_object_end(&json);
    sink_text(sink, "\n");
    return sink_close(sink, err);
}
