/* read.c - events of a HawkTracer stream -> profile: the two passes, and what a program that
 * was not ours recorded (formats/htdump/read.h has the overview).
 *
 * A call (label and duration) becomes a span, an event with a label alone an instant, the fields of
 * any other event values of that moment. Streams with our raw classes hold the same calls twice;
 * then the raw ones are taken. */
#include "formats/htdump/read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "saturated.h"

/* Longest part of a class or field name shown in the name of a value. */
#define NAME_BYTES 96

/* ---- first pass ---- */

/* `text` is the label of that number from here on. */
static bool label_set(struct htdump_survey *survey, uint64_t number, struct text text)
{
    size_t index = survey->labels.n;
    return index < MAP_NONE &&
           htdump_labels_push(&survey->labels, (struct htdump_label){.text = text}) &&
           map_set(&survey->label_by_number, number, 0, (uint32_t)index);
}

static void program_event_survey(struct htdump_survey *survey, const struct htdump_event *event,
                                 const struct htdump_shape *shape)
{
    uint64_t end_ns =
        add_saturated(event->timestamp_ns,
                      shape->role == HTDUMP_ROLE_CALL ? htdump_number(event, shape->duration) : 0);
    survey->first_ns = min_u64(survey->first_ns, event->timestamp_ns);
    survey->last_ns = max_u64(survey->last_ns, end_ns);
}

static bool event_survey(struct htdump_reader *reader, const struct htdump_event *event,
                         const struct htdump_shape *shape)
{
    struct htdump_survey *survey = &reader->survey;
    switch ((enum htdump_role)shape->role) {
    case HTDUMP_ROLE_NONE:
    case HTDUMP_ROLE_VERSION:
        return true;
    case HTDUMP_ROLE_MAPPING: {
        uint64_t number = htdump_number(event, shape->identifier);
        return map_find(&survey->label_by_number, number, 0) != MAP_NONE ||
               label_set(survey, number, htdump_text(event, shape->label));
    }
    case HTDUMP_ROLE_RAW:
        htdump_raw_survey(survey, event, shape, reader->builder);
        break;
    case HTDUMP_ROLE_CALL:
    case HTDUMP_ROLE_MARK:
    case HTDUMP_ROLE_DATA:
        program_event_survey(survey, event, shape);
        break;
    }
    survey->has_content = true;
    return true;
}

/* What the survey leaves open is filled in. */
static void survey_finish(struct htdump_reader *reader)
{
    struct htdump_survey *survey = &reader->survey;
    struct profile_scalars *scalars = &survey->scalars;
    if (!survey->has_recording) {
        survey->origin_ns = survey->first_ns == UINT64_MAX ? 0 : survey->first_ns;
        scalars->start_time_ns = survey->origin_ns;
        scalars->duration_ns =
            survey->last_ns > survey->origin_ns ? survey->last_ns - survey->origin_ns : 0;
        scalars->has_times = survey->has_samples;
    }
    if (survey->has_samples && scalars->n_kinds == 0) {
        scalars->n_kinds = 1;
        scalars->kinds[0] = (struct profile_kind){
            .name = profile_add_cstring(reader->builder, "time"), .unit = PROFILE_UNIT_NS};
        survey->weight_kind = 0;
    }
    *profile_builder_scalars(reader->builder) = *scalars;
}

/* ---- second pass: events of any program ---- */

static uint32_t text_frame(struct htdump_reader *reader, struct text text)
{
    return profile_add_named_frame(reader->builder, text.bytes, text.length);
}

static uint32_t number_frame(struct htdump_reader *reader, uint64_t number)
{
    struct htdump_survey *survey = &reader->survey;
    uint32_t found = map_find(&survey->label_by_number, number, 0);
    if (found != MAP_NONE) {
        struct htdump_label *label = &survey->labels.items[found];
        if (label->frame == 0)
            label->frame = text_frame(reader, label->text);
        return label->frame;
    }
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    reader->n_unmapped++;
    return profile_add_named_frame(reader->builder, digits, (size_t)length);
}

static uint32_t label_frame(struct htdump_reader *reader, const struct htdump_event *event,
                            int field)
{
    const struct htdump_value *value = &event->values[field];
    switch (value->kind) {
    case HTDUMP_VALUE_U64:
    case HTDUMP_VALUE_I64:
        return number_frame(reader, value->as.u64);
    case HTDUMP_VALUE_TEXT:
        return text_frame(reader, value->as.text);
    case HTDUMP_VALUE_F64:
    case HTDUMP_VALUE_BYTES:
        break;
    }
    return profile_add_named_frame(reader->builder, "[unknown]", strlen("[unknown]"));
}

static void call_read(struct htdump_reader *reader, const struct htdump_event *event,
                      const struct htdump_shape *shape)
{
    uint64_t begin_ns = htdump_time(reader, event->timestamp_ns);
    const struct htdump_call call = {
        .id = event->id,
        .begin_ns = begin_ns,
        .end_ns = add_saturated(begin_ns, htdump_number(event, shape->duration)),
        .thread = htdump_thread(reader, htdump_number(event, shape->thread)),
        .frame = label_frame(reader, event, shape->label),
        .order = (uint32_t)reader->calls.n,
    };
    htdump_calls_push(&reader->calls, call);
    reader->n_with_arguments += shape->has_arguments;
}

static void mark_read(struct htdump_reader *reader, const struct htdump_event *event,
                      const struct htdump_shape *shape)
{
    const struct profile_instant instant = {
        .thread = htdump_thread(reader, htdump_number(event, shape->thread)),
        .frame = label_frame(reader, event, shape->label),
        .time_ns = htdump_time(reader, event->timestamp_ns),
    };
    profile_add_instant(reader->builder, &instant);
    reader->n_with_arguments += shape->has_arguments;
}

static struct text text_cut(struct text text)
{
    if (text.length > NAME_BYTES)
        text.length = NAME_BYTES;
    return text;
}

/* "Class.field" */
static uint32_t data_frame(struct htdump_reader *reader, const struct htdump_event *event,
                           const struct htdump_value *value)
{
    struct text class = text_cut(htdump_parser_text(reader->parser, event->class_name));
    struct text field = text_cut(htdump_parser_text(reader->parser, value->name));
    char name[2 * NAME_BYTES + 1];
    memcpy(name, class.bytes, class.length);
    name[class.length] = '.';
    memcpy(name + class.length + 1, field.bytes, field.length);
    return profile_add_named_frame(reader->builder, name, class.length + 1 + field.length);
}

static void value_copy(struct htdump_reader *reader, const struct htdump_value *value,
                       struct profile_instant *instant)
{
    switch (value->kind) {
    case HTDUMP_VALUE_U64:
        instant->type = PROFILE_VALUE_U64;
        instant->value.u64 = value->as.u64;
        break;
    case HTDUMP_VALUE_I64:
        instant->type = PROFILE_VALUE_I64;
        instant->value.i64 = value->as.i64;
        break;
    case HTDUMP_VALUE_F64:
        instant->type = PROFILE_VALUE_F64;
        instant->value.f64 = value->as.f64;
        break;
    case HTDUMP_VALUE_TEXT:
        instant->type = PROFILE_VALUE_TEXT;
        instant->value.u64 =
            profile_add_text(reader->builder, value->as.text.bytes, value->as.text.length);
        break;
    case HTDUMP_VALUE_BYTES:
        break;
    }
}

static void data_read(struct htdump_reader *reader, const struct htdump_event *event,
                      struct htdump_shape *shape)
{
    struct profile_instant instant = {
        .thread = htdump_thread(reader, htdump_number(event, shape->thread)),
        .time_ns = htdump_time(reader, event->timestamp_ns),
    };
    if (shape->n_data == 0) {
        if (shape->frame == 0)
            shape->frame =
                text_frame(reader, text_cut(htdump_parser_text(reader->parser, event->class_name)));
        instant.frame = shape->frame;
        profile_add_instant(reader->builder, &instant);
    }
    for (size_t i = 0; i < shape->n_data; i++) {
        const struct htdump_value *value = &event->values[shape->data[i]];
        if (shape->data_frames[i] == 0)
            shape->data_frames[i] = data_frame(reader, event, value);
        instant.frame = shape->data_frames[i];
        value_copy(reader, value, &instant);
        profile_add_instant(reader->builder, &instant);
    }
    reader->n_long += event->n_values > shape->n_data + (size_t)(shape->thread >= 0);
}

static void mapping_read(struct htdump_reader *reader, const struct htdump_event *event,
                         const struct htdump_shape *shape)
{
    uint64_t number = htdump_number(event, shape->identifier);
    struct text text = htdump_text(event, shape->label);
    uint32_t found = map_find(&reader->survey.label_by_number, number, 0);
    /* Every thread repeats the mappings it uses. */
    if (found != MAP_NONE && text_equal(reader->survey.labels.items[found].text, text))
        return;
    if (!label_set(&reader->survey, number, text))
        reader->is_out_of_memory = true;
}

static void version_read(struct htdump_reader *reader, const struct htdump_event *event)
{
    char version[80];
    if (reader->survey.has_recording || event->n_values < 3)
        return; /* our own files say what recorded them; this one is only for HawkTracer's tools */
    int length =
        snprintf(version, sizeof version, "HawkTracer %" PRIu64 ".%" PRIu64 ".%" PRIu64,
                 htdump_number(event, 0), htdump_number(event, 1), htdump_number(event, 2));
    profile_add_metadata(reader->builder, "recorder", version, (size_t)length);
}

static bool event_read(struct htdump_reader *reader, const struct htdump_event *event,
                       struct htdump_shape *shape)
{
    bool has_raw_calls = reader->survey.has_recording || reader->survey.has_samples;
    switch ((enum htdump_role)shape->role) {
    case HTDUMP_ROLE_NONE:
        break;
    case HTDUMP_ROLE_RAW:
        htdump_raw_read(reader, event, shape);
        break;
    case HTDUMP_ROLE_CALL:
        if (!has_raw_calls)
            call_read(reader, event, shape);
        break;
    case HTDUMP_ROLE_MARK:
        mark_read(reader, event, shape);
        break;
    case HTDUMP_ROLE_DATA:
        data_read(reader, event, shape);
        break;
    case HTDUMP_ROLE_MAPPING:
        mapping_read(reader, event, shape);
        break;
    case HTDUMP_ROLE_VERSION:
        version_read(reader, event);
        break;
    }
    return !reader->is_out_of_memory && !reader->calls.no_memory;
}

static int call_compare(const void *a, const void *b)
{
    const struct htdump_call *left = a;
    const struct htdump_call *right = b;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return left->order < right->order ? -1 : 1;
}

static void calls_add(struct htdump_reader *reader)
{
    const struct htdump_call *calls = reader->calls.items;
    if (reader->calls.n > 1)
        qsort(reader->calls.items, reader->calls.n, sizeof *calls, call_compare);
    for (size_t i = 0; i < reader->calls.n; i++) {
        const struct profile_span span = {.thread = calls[i].thread,
                                          .frame = calls[i].frame,
                                          .begin_ns = calls[i].begin_ns,
                                          .end_ns = calls[i].end_ns};
        profile_add_span(reader->builder, &span);
    }
}

/* ---- steering ---- */

struct input {
    const uint8_t *data;
    size_t size_bytes;
    const struct format_options *options;
    const struct format_notes *notes;
};

enum pass { PASS_SURVEY, PASS_READ };

/* One pass over the events. Where the stream is cut off, *cut says so and the pass ends well. */
static bool pass_run(struct htdump_reader *reader, struct htdump_parser *parser, enum pass pass,
                     struct err *cut, struct err *err)
{
    struct htdump_event event;
    bool more = true;
    reader->parser = parser;
    reader->shapes.n = 0; /* frames of a class belong to one pass */
    if (!htdump_names_init(&reader->names, parser))
        return err_fail_memory(err);
    while (htdump_parser_next(parser, &event, &more, cut) && more) {
        struct htdump_shape *shape = htdump_shape_of(&reader->shapes, &reader->names, &event);
        if (shape == NULL || !(pass == PASS_SURVEY ? event_survey(reader, &event, shape)
                                                   : event_read(reader, &event, shape)))
            return err_fail_memory(err);
    }
    return true;
}

static void notes_tell(const struct htdump_reader *reader, const struct format_notes *notes)
{
    if (reader->n_unmapped != 0)
        format_note(notes, "calls whose label number has no text: %" PRIu64 "; shown as numbers",
                    reader->n_unmapped);
    if (reader->n_with_arguments != 0)
        format_note(notes, "further fields of calls are not read (%" PRIu64 " calls have some)",
                    reader->n_with_arguments);
    if (reader->n_long != 0)
        format_note(notes,
                    "of %" PRIu64 " events only the first %d fields with numbers or text are read",
                    reader->n_long, HTDUMP_MAX_DATA_FIELDS);
    if (reader->n_bad_references != 0)
        format_note(notes,
                    "references to stacks, frames or the like that were not described: %" PRIu64,
                    reader->n_bad_references);
}

static bool survey_run(struct htdump_reader *reader, const struct input *input, struct err *err)
{
    struct htdump_parser *parser;
    struct err cut = ERR_INIT;
    if (!htdump_parser_create(input->data, input->size_bytes, &parser, err))
        return false;
    bool ok = pass_run(reader, parser, PASS_SURVEY, &cut, err);
    struct htdump_oddities oddities = htdump_parser_oddities(parser);
    htdump_parser_destroy(parser);
    ok = ok &&
         htdump_cut_accept(&cut, reader->survey.has_content,
                           input->options != NULL && input->options->strict, input->notes, err);
    if (!ok)
        return false;
    htdump_note_oddities(&oddities, input->notes);
    survey_finish(reader);
    return true;
}

static bool read_run(struct htdump_reader *reader, const struct input *input, struct err *err)
{
    struct htdump_parser *parser;
    struct err cut = ERR_INIT;
    if (!htdump_parser_create(input->data, input->size_bytes, &parser, err))
        return false;
    bool ok = pass_run(reader, parser, PASS_READ, &cut, err);
    if (ok && cut.code != ERR_NONE && cut.code != ERR_TRUNCATED) {
        *err = cut; /* only want of memory can stop the second pass where the first continued */
        ok = false;
    }
    htdump_parser_destroy(parser);
    reader->parser = NULL;
    if (!ok)
        return false;
    htdump_open_sample_close(reader);
    calls_add(reader);
    notes_tell(reader, input->notes);
    if (reader->n_bad_references != 0 && input->options != NULL && input->options->strict)
        return err_fail(err, ERR_FORMAT, ERR_NO_OFFSET,
                        "%" PRIu64 " references to entries that were not described",
                        reader->n_bad_references);
    return true;
}

static void reader_deinit(struct htdump_reader *reader)
{
    for (size_t table = 0; table < HTDUMP_RAW_N_TABLES; table++)
        map_deinit(&reader->tables[table]);
    map_deinit(&reader->survey.label_by_number);
    htdump_shapes_deinit(&reader->shapes);
    htdump_calls_deinit(&reader->calls);
    htdump_labels_deinit(&reader->survey.labels);
}

bool htdump_read(const uint8_t *data, size_t size_bytes, const struct format_options *options,
                 const struct format_notes *notes, struct profile **out, struct err *err)
{
    const struct input input = {data, size_bytes, options, notes};
    struct htdump_reader reader = {
        .survey = {.first_ns = UINT64_MAX, .weight_kind = PROFILE_MAX_KINDS}};
    if (!profile_builder_create(&reader.builder, err))
        return false;
    bool ok = survey_run(&reader, &input, err) && read_run(&reader, &input, err);
    reader_deinit(&reader);
    if (!ok) {
        profile_builder_destroy(reader.builder);
        return false;
    }
    return profile_builder_finish(reader.builder, out, err);
}
