/* list_json.c - functions and their lines for programs: view/row_json.h. */
#include "list/list.h"
#include "sink.h"
#include "view/row_json.h"

static void json_line(struct json *json, const struct summary_row *row, const struct source *source)
{
    json_object_begin(json);
    if (row->key.line != 0)
        row_json_number(json, "line", row->key.line);
    row_json_number(json, "self", row->self);
    row_json_number(json, "total", row->total);
    if (row->key.line != 0 && row->key.line <= source->lines.n) {
        json_key(json, "text");
        json_text(json, source_line(source, row->key.line));
    }
    json_object_end(json);
}

static bool json_part(const struct list *list, struct json *json, const struct list_part *part,
                      struct err *err)
{
    struct source source;
    const struct profile *profile = list->input->profile;
    struct text file = profile_text(profile, part->file);
    bool ok = source_init(&source, profile, file, list->options->values[OPTION_SOURCE_PATH], err);
    json_object_begin(json);
    json_key(json, "file");
    json_text(json, file);
    if (source.path[0] != '\0') {
        json_key(json, "source");
        json_cstring(json, source.path);
        json_key(json, "source_is_newer");
        json_bool(json, source_is_newer(&source, profile));
    }
    json_key(json, "lines");
    json_array_begin(json);
    for (size_t i = 0; i < part->n; i++)
        json_line(json, &part->rows[i], &source);
    json_array_end(json);
    json_object_end(json);
    source_deinit(&source);
    return ok;
}

static bool json_parts(const struct list *list, struct json *json, uint32_t function,
                       struct err *err)
{
    struct list_part part = {.rows = NULL};
    bool ok = true;
    json_key(json, "parts");
    json_array_begin(json);
    while (ok && list_part_next(list, function, &part))
        ok = json_part(list, json, &part, err);
    json_array_end(json);
    return ok;
}

static bool json_function(const struct list *list, struct json *json, const struct summary_row *row,
                          struct err *err)
{
    json_object_begin(json);
    row_json_number(json, "self", row->self);
    row_json_number(json, "total", row->total);
    row_json_name(json, list->input->profile, SUMMARY_BY_FUNCTION, row->key);
    bool ok = list->with_code ? list_code_json(list, json, row->key.id, err)
                              : json_parts(list, json, row->key.id, err);
    json_object_end(json);
    return ok;
}

bool list_print_json(const struct list *list, struct err *err)
{
    struct sink *sink = NULL;
    bool ok = true;
    if (!sink_create_file("-", &sink, err))
        return false;
    struct json json = json_make(sink, 1);
    json_object_begin(&json);
    row_json_head(&json, list->input->profile, SUMMARY_BY_LINE, &list->lines.weighed);
    row_json_number(&json, "more_functions", list->n_meant - list->n_shown);
    row_json_number(&json, "left_out", list->n_left_out);
    json_key(&json, "functions");
    json_array_begin(&json);
    for (size_t i = 0; ok && i < list->n_shown; i++)
        ok = json_function(list, &json, list->meant[i], err);
    json_array_end(&json);
    json_object_end(&json);
    sink_text(sink, "\n");
    if (ok)
        return sink_close(sink, err);
    sink_abandon(sink);
    return false;
}
