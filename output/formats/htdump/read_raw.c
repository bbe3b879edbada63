/* read_raw.c - events of the raw classes -> profile (formats/htdump/read.h). Every entry is
 * described before its first use; a number that was not is counted and taken for "none". */
#include <string.h>

#include "formats/htdump/read.h"
#include "number.h"
#include "saturated.h"

#define KNOWN_FRAME_FLAGS                                                                          \
    (PROFILE_FRAME_INLINED | PROFILE_FRAME_CUT | PROFILE_FRAME_KERNEL | PROFILE_FRAME_JIT |        \
     PROFILE_FRAME_IDLE | PROFILE_FRAME_LABEL)

/* An event with its fields by their place in the table of raw classes. */
struct record {
    const struct htdump_event *event;
    const struct htdump_shape *shape;
};

static uint64_t u64_of(const struct record *record, size_t field)
{
    return htdump_number(record->event, record->shape->raw_fields[field]);
}

static uint32_t text_of(const struct record *record, size_t field, struct profile_builder *builder)
{
    struct text text = htdump_text(record->event, record->shape->raw_fields[field]);
    return profile_add_text(builder, text.bytes, text.length);
}

/* ---- first pass ---- */

static enum profile_unit unit_of(struct text word)
{
    for (unsigned unit = 0; unit < HTDUMP_RAW_N_UNITS; unit++) {
        if (text_is(word, htdump_raw_units[unit]))
            return (enum profile_unit)unit;
    }
    return PROFILE_UNIT_NONE;
}

static void recording_survey(struct htdump_survey *survey, const struct record *record)
{
    if (survey->has_recording)
        return; /* of several streams in one file the first tells where time begins */
    survey->has_recording = true;
    survey->origin_ns = record->event->timestamp_ns;
    survey->scalars.start_time_ns = u64_of(record, RECORDING_START);
    survey->scalars.start_realtime_ns = u64_of(record, RECORDING_REALTIME);
    survey->scalars.duration_ns = u64_of(record, RECORDING_LENGTH);
    survey->scalars.period = u64_of(record, RECORDING_PERIOD);
    survey->scalars.has_times = u64_of(record, RECORDING_HAS_TIMES) != 0;
}

static void kind_survey(struct htdump_survey *survey, const struct record *record,
                        struct profile_builder *builder)
{
    uint64_t kind = u64_of(record, KIND_REF);
    if (kind >= PROFILE_MAX_KINDS)
        return;
    struct profile_scalars *scalars = &survey->scalars;
    if (kind >= scalars->n_kinds)
        scalars->n_kinds = (uint32_t)kind + 1;
    scalars->kinds[kind].name = text_of(record, KIND_TITLE, builder);
    scalars->kinds[kind].unit =
        unit_of(htdump_text(record->event, record->shape->raw_fields[KIND_UNIT]));
    if (u64_of(record, KIND_IS_WEIGHT) != 0)
        survey->weight_kind = (uint32_t)kind;
}

static void time_survey(struct htdump_survey *survey, uint64_t timestamp_ns)
{
    survey->first_ns = min_u64(survey->first_ns, timestamp_ns);
    survey->last_ns = max_u64(survey->last_ns, timestamp_ns);
}

void htdump_raw_survey(struct htdump_survey *survey, const struct htdump_event *event,
                       const struct htdump_shape *shape, struct profile_builder *builder)
{
    const struct record record = {event, shape};
    switch ((enum htdump_raw_class)shape->raw) {
    case HTDUMP_RAW_RECORDING:
        recording_survey(survey, &record);
        break;
    case HTDUMP_RAW_KIND:
        kind_survey(survey, &record, builder);
        break;
    case HTDUMP_RAW_SAMPLE:
        survey->has_samples = true;
        time_survey(survey, event->timestamp_ns);
        break;
    case HTDUMP_RAW_SPAN:
    case HTDUMP_RAW_INSTANT:
    case HTDUMP_RAW_OFF_CPU:
    case HTDUMP_RAW_BOOKMARK:
        time_survey(survey, event->timestamp_ns);
        break;
    case HTDUMP_RAW_METADATA:
    case HTDUMP_RAW_MODULE:
    case HTDUMP_RAW_PROCESS:
    case HTDUMP_RAW_THREAD_DETAIL:
    case HTDUMP_RAW_THREAD:
    case HTDUMP_RAW_FUNCTION:
    case HTDUMP_RAW_FRAME_DETAIL:
    case HTDUMP_RAW_FRAME:
    case HTDUMP_RAW_STACK:
    case HTDUMP_RAW_VALUE:
    case HTDUMP_RAW_N:
        break;
    }
}

/* ---- second pass: tables ---- */

/* Files of others have no process events: there the number is all that is known. */
static uint32_t process_of(struct htdump_reader *reader, uint64_t number)
{
    uint32_t process = htdump_bound(reader, HTDUMP_RAW_PROCESSES, number);
    if (process == 0 && number != 0) {
        const struct profile_process added = {.pid = number};
        process = profile_add_process(reader->builder, &added);
        htdump_bind(reader, HTDUMP_RAW_PROCESSES, number, process);
    }
    return process;
}

/* The id of a row that an event refers to. Threads and processes may be used without having been
 * described; anything else is a bad reference then. */
static uint32_t reference(struct htdump_reader *reader, enum htdump_raw_table table, uint64_t key)
{
    if (table == HTDUMP_RAW_THREADS)
        return htdump_thread(reader, key);
    if (table == HTDUMP_RAW_PROCESSES)
        return process_of(reader, key);
    uint32_t id = htdump_bound(reader, table, key);
    reader->n_bad_references += id == 0 && key != 0;
    return id;
}

static void member_write(const struct htdump_raw_field *field, void *row, uint64_t value)
{
    memcpy((char *)row + field->offset, &value, field->size_bytes); /* cut to 4 bytes by some */
}

/* Fills the members of a row that the table of classes has for the event. */
static void row_read(struct htdump_reader *reader, const struct record *record, void *row)
{
    const struct htdump_raw_field *fields = htdump_raw_classes[record->shape->raw].fields;
    for (size_t i = 0; fields[i].name != NULL; i++) {
        uint64_t times_ns[2] = {htdump_time(reader, record->event->timestamp_ns)};
        switch (fields[i].from) {
        case HTDUMP_RAW_MEMBER:
            member_write(&fields[i], row,
                         fields[i].type == HTDUMP_RAW_TEXT ? text_of(record, i, reader->builder)
                                                           : u64_of(record, i));
            break;
        case HTDUMP_RAW_REF:
            member_write(&fields[i], row, reference(reader, fields[i].table, u64_of(record, i)));
            break;
        case HTDUMP_RAW_LENGTH:
            times_ns[1] = add_saturated(times_ns[0], u64_of(record, i));
            memcpy((char *)row + fields[i].offset, times_ns, sizeof times_ns);
            break;
        case HTDUMP_RAW_SELF:
        case HTDUMP_RAW_BY_HAND:
            break;
        }
    }
}

static void metadata_read(struct htdump_reader *reader, const struct record *record)
{
    /* Interned, so that the key has its NUL and lives as long as the call needs it. */
    uint32_t key = text_of(record, METADATA_KEY, reader->builder);
    struct text value = htdump_text(record->event, record->shape->raw_fields[METADATA_VALUE]);
    profile_add_metadata(reader->builder, profile_builder_text(reader->builder, key).bytes,
                         value.bytes, value.length);
}

static void module_read(struct htdump_reader *reader, const struct record *record)
{
    struct profile_module module = {0};
    row_read(reader, record, &module);
    htdump_bind(reader, HTDUMP_RAW_MODULES, u64_of(record, SELF_NUMBER),
                profile_add_module(reader->builder, &module));
}

static void process_read(struct htdump_reader *reader, const struct record *record)
{
    struct profile_process process = {0};
    row_read(reader, record, &process);
    htdump_bind(reader, HTDUMP_RAW_PROCESSES, u64_of(record, SELF_NUMBER),
                profile_add_process(reader->builder, &process));
}

static void thread_detail_read(struct htdump_reader *reader, const struct record *record)
{
    reader->has_thread_detail = true;
    reader->thread_detail_id = u64_of(record, SELF_NUMBER);
    reader->thread_detail = (struct profile_thread){0};
    row_read(reader, record, &reader->thread_detail);
}

static void thread_read(struct htdump_reader *reader, const struct record *record)
{
    uint64_t number = u64_of(record, SELF_NUMBER);
    struct profile_thread thread = {.tid = number};
    if (reader->has_thread_detail && reader->thread_detail_id == number)
        thread = reader->thread_detail;
    reader->has_thread_detail = false;
    row_read(reader, record, &thread);
    htdump_bind(reader, HTDUMP_RAW_THREADS, number, profile_add_thread(reader->builder, &thread));
}

static void function_read(struct htdump_reader *reader, const struct record *record)
{
    struct profile_function function = {0};
    row_read(reader, record, &function);
    htdump_bind(reader, HTDUMP_RAW_FUNCTIONS, u64_of(record, SELF_NUMBER),
                profile_add_function(reader->builder, &function));
}

/* Waits for its frame; flags of versions to come are dropped. */
static void frame_detail_read(struct htdump_reader *reader, const struct record *record)
{
    reader->has_frame_detail = true;
    reader->frame_detail_id = u64_of(record, SELF_NUMBER);
    reader->frame_detail = (struct profile_frame){0};
    row_read(reader, record, &reader->frame_detail);
    reader->frame_detail.flags &= KNOWN_FRAME_FLAGS;
}

/* Of a frame without detail, as other programs write them: the names in the frame are all there is. */
static uint32_t plain_function(struct htdump_reader *reader, const struct record *record)
{
    const struct profile_module module = {.path = text_of(record, FRAME_MODULE, reader->builder)};
    const struct profile_function function = {
        .name = text_of(record, FRAME_FUNCTION, reader->builder),
        .file = text_of(record, FRAME_FILE, reader->builder),
        .module = module.path == 0 ? 0 : profile_add_module(reader->builder, &module),
    };
    return profile_add_function(reader->builder, &function);
}

static void frame_read(struct htdump_reader *reader, const struct record *record)
{
    uint64_t number = u64_of(record, SELF_NUMBER);
    struct profile_frame frame = {0};
    if (reader->has_frame_detail && reader->frame_detail_id == number) {
        frame = reader->frame_detail;
        frame.file = text_of(record, FRAME_FILE, reader->builder);
    } else {
        frame.function = plain_function(reader, record);
    }
    reader->has_frame_detail = false;
    row_read(reader, record, &frame);
    htdump_bind(reader, HTDUMP_RAW_FRAMES, number, profile_add_frame(reader->builder, &frame));
}

static void stack_read(struct htdump_reader *reader, const struct record *record)
{
    /* By hand: with samples they are most of a file. */
    uint32_t parent = reference(reader, HTDUMP_RAW_STACKS, u64_of(record, STACK_PARENT));
    uint32_t frame = reference(reader, HTDUMP_RAW_FRAMES, u64_of(record, STACK_FRAME));
    htdump_bind(reader, HTDUMP_RAW_STACKS, u64_of(record, SELF_NUMBER),
                profile_add_stack(reader->builder, parent, frame));
}

/* ---- second pass: what happened ---- */

void htdump_open_sample_close(struct htdump_reader *reader)
{
    struct htdump_open_sample *open = &reader->open_sample;
    if (open->is_open)
        profile_add_sample(reader->builder, &open->sample, open->values);
    open->is_open = false;
}

static void sample_read(struct htdump_reader *reader, const struct record *record)
{
    const struct profile_scalars *scalars = &reader->survey.scalars;
    struct htdump_open_sample *open = &reader->open_sample;
    htdump_open_sample_close(reader);
    open->is_open = true;
    open->sample = (struct profile_sample){
        .thread = htdump_thread(reader, u64_of(record, SAMPLE_THREAD)),
        .stack = reference(reader, HTDUMP_RAW_STACKS, u64_of(record, SAMPLE_STACK)),
        .time_ns = htdump_time(reader, record->event->timestamp_ns),
    };
    for (uint32_t kind = 0; kind < scalars->n_kinds; kind++) {
        /* A count that is not stated is 1: one sample. */
        open->values[kind] = scalars->kinds[kind].unit == PROFILE_UNIT_COUNT ? 1 : 0;
        if (kind == reader->survey.weight_kind)
            open->values[kind] = u64_of(record, SAMPLE_WEIGHT);
    }
}

static void value_read(struct htdump_reader *reader, const struct record *record)
{
    uint64_t kind = u64_of(record, VALUE_KIND);
    if (!reader->open_sample.is_open || kind >= reader->survey.scalars.n_kinds)
        reader->n_bad_references++;
    else
        reader->open_sample.values[kind] = u64_of(record, VALUE_AMOUNT);
}

static void span_read(struct htdump_reader *reader, const struct record *record)
{
    struct profile_span span = {0};
    row_read(reader, record, &span);
    profile_add_span(reader->builder, &span);
}

static void instant_read(struct htdump_reader *reader, const struct record *record)
{
    struct profile_instant instant = {
        .time_ns = htdump_time(reader, record->event->timestamp_ns),
    };
    row_read(reader, record, &instant);
    uint64_t kind = u64_of(record, INSTANT_KIND);
    if (kind <= PROFILE_VALUE_TEXT)
        instant.type = (enum profile_value_type)kind;
    instant.value.u64 = u64_of(record, INSTANT_BITS);
    if (instant.type == PROFILE_VALUE_TEXT)
        instant.value.u64 = text_of(record, INSTANT_TEXT, reader->builder);
    else if (instant.type == PROFILE_VALUE_BOOL)
        instant.value.u64 = instant.value.u64 != 0;
    profile_add_instant(reader->builder, &instant);
}

static void off_cpu_read(struct htdump_reader *reader, const struct record *record)
{
    struct profile_off_cpu off_cpu = {0};
    row_read(reader, record, &off_cpu);
    profile_add_off_cpu(reader->builder, &off_cpu);
}

static void bookmark_read(struct htdump_reader *reader, const struct record *record)
{
    struct profile_bookmark bookmark = {
        .time_ns = htdump_time(reader, record->event->timestamp_ns),
    };
    row_read(reader, record, &bookmark);
    profile_add_bookmark(reader->builder, &bookmark);
}

void htdump_raw_read(struct htdump_reader *reader, const struct htdump_event *event,
                     const struct htdump_shape *shape)
{
    static void (*const reads[HTDUMP_RAW_N])(struct htdump_reader *, const struct record *) = {
        [HTDUMP_RAW_METADATA] = metadata_read,
        [HTDUMP_RAW_MODULE] = module_read,
        [HTDUMP_RAW_PROCESS] = process_read,
        [HTDUMP_RAW_THREAD_DETAIL] = thread_detail_read,
        [HTDUMP_RAW_THREAD] = thread_read,
        [HTDUMP_RAW_FUNCTION] = function_read,
        [HTDUMP_RAW_FRAME_DETAIL] = frame_detail_read,
        [HTDUMP_RAW_FRAME] = frame_read,
        [HTDUMP_RAW_STACK] = stack_read,
        [HTDUMP_RAW_SAMPLE] = sample_read,
        [HTDUMP_RAW_VALUE] = value_read,
        [HTDUMP_RAW_SPAN] = span_read,
        [HTDUMP_RAW_INSTANT] = instant_read,
        [HTDUMP_RAW_OFF_CPU] = off_cpu_read,
        [HTDUMP_RAW_BOOKMARK] = bookmark_read,
    };
    const struct record record = {event, shape};
    if (reads[shape->raw] != NULL)
        reads[shape->raw](reader, &record);
}
