/* read_raw.c - events of the raw classes -> profile (read.h). Every entry is
 * described before its first use; a number that was not is counted and taken for "none". */
#include <string.h>

#include "formats/htdump/read.h"
#include "saturated.h"

#define KNOWN_FRAME_FLAGS                                                                          \
    (PROFILE_FRAME_INLINED | PROFILE_FRAME_CUT | PROFILE_FRAME_KERNEL | PROFILE_FRAME_JIT |        \
     PROFILE_FRAME_IDLE)

/* An event with its fields by their place in the table of raw classes. */
struct record {
    const struct htdump_event *event;
    const struct htdump_shape *shape;
};

static uint64_t u64_of(const struct record *record, size_t field)
{
    return htdump_number(record->event, record->shape->raw_fields[field]);
}

static uint32_t u32_of(const struct record *record, size_t field)
{
    return (uint32_t)u64_of(record, field);
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
        if (strlen(htdump_raw_units[unit]) == word.length &&
            memcmp(htdump_raw_units[unit], word.bytes, word.length) == 0)
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
    if (timestamp_ns < survey->first_ns)
        survey->first_ns = timestamp_ns;
    if (timestamp_ns > survey->last_ns)
        survey->last_ns = timestamp_ns;
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

static uint32_t bound(struct htdump_reader *reader, const struct htdump_map *map, uint64_t key)
{
    uint32_t id = key == 0 ? 0 : htdump_map_find(map, key);
    if (id == 0 && key != 0)
        reader->n_bad_references++;
    return id;
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
    const struct profile_module module = {
        .path = text_of(record, MODULE_PATH, reader->builder),
        .build_id = text_of(record, MODULE_BUILD_ID, reader->builder),
        .start = u64_of(record, MODULE_START),
        .end = u64_of(record, MODULE_END),
    };
    htdump_bind(reader, &reader->modules, u64_of(record, MODULE_ID),
                profile_add_module(reader->builder, &module));
}

static void process_read(struct htdump_reader *reader, const struct record *record)
{
    const struct profile_process process = {
        .name = text_of(record, PROCESS_TITLE, reader->builder),
        .pid = u64_of(record, PROCESS_OS),
        .ppid = u64_of(record, PROCESS_PARENT),
        .start_ns = u64_of(record, PROCESS_START),
        .end_ns = u64_of(record, PROCESS_END),
    };
    htdump_bind(reader, &reader->processes, u64_of(record, PROCESS_REF),
                profile_add_process(reader->builder, &process));
}

static void thread_detail_read(struct htdump_reader *reader, const struct record *record)
{
    reader->has_thread_detail = true;
    reader->thread_detail_id = u64_of(record, THREAD_DETAIL_REF);
    reader->thread_detail = (struct profile_thread){
        .tid = u64_of(record, THREAD_DETAIL_OS),
        .start_ns = u64_of(record, THREAD_DETAIL_START),
        .end_ns = u64_of(record, THREAD_DETAIL_END),
        .cpu_ns = u64_of(record, THREAD_DETAIL_CPU),
    };
}

/* Files of others have no process events: there the number is all that is known. */
static uint32_t thread_process(struct htdump_reader *reader, uint64_t number)
{
    uint32_t process = number == 0 ? 0 : htdump_map_find(&reader->processes, number);
    if (process == 0 && number != 0) {
        const struct profile_process added = {.pid = number};
        process = profile_add_process(reader->builder, &added);
        htdump_bind(reader, &reader->processes, number, process);
    }
    return process;
}

static void thread_read(struct htdump_reader *reader, const struct record *record)
{
    uint64_t number = u64_of(record, THREAD_REF);
    struct profile_thread thread = {.tid = number};
    if (reader->has_thread_detail && reader->thread_detail_id == number)
        thread = reader->thread_detail;
    reader->has_thread_detail = false;
    thread.process = thread_process(reader, u64_of(record, THREAD_PROCESS));
    thread.name = text_of(record, THREAD_TITLE, reader->builder);
    htdump_bind(reader, &reader->threads, number, profile_add_thread(reader->builder, &thread));
}

static void function_read(struct htdump_reader *reader, const struct record *record)
{
    const struct profile_function function = {
        .name = text_of(record, FUNCTION_NAME, reader->builder),
        .system_name = text_of(record, FUNCTION_SYSTEM, reader->builder),
        .file = text_of(record, FUNCTION_FILE, reader->builder),
        .line = u32_of(record, FUNCTION_LINE),
        .column = u32_of(record, FUNCTION_COLUMN),
        .module = bound(reader, &reader->modules, u64_of(record, FUNCTION_MODULE)),
    };
    htdump_bind(reader, &reader->functions, u64_of(record, FUNCTION_ID),
                profile_add_function(reader->builder, &function));
}

static void frame_detail_read(struct htdump_reader *reader, const struct record *record)
{
    reader->has_frame_detail = true;
    reader->frame_detail_id = u64_of(record, FRAME_DETAIL_ID);
    reader->frame_detail = (struct profile_frame){
        .function = bound(reader, &reader->functions, u64_of(record, FRAME_DETAIL_FUNCTION)),
        .column = u32_of(record, FRAME_DETAIL_COLUMN),
        .flags = u32_of(record, FRAME_DETAIL_FLAGS) & KNOWN_FRAME_FLAGS,
    };
}

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
    uint64_t number = u64_of(record, FRAME_ID);
    struct profile_frame frame = {0};
    bool is_detailed = reader->has_frame_detail && reader->frame_detail_id == number;
    if (is_detailed)
        frame = reader->frame_detail;
    else
        frame.function = plain_function(reader, record);
    reader->has_frame_detail = false;
    frame.line = u32_of(record, FRAME_LINE);
    frame.address = u64_of(record, FRAME_ADDRESS);
    htdump_bind(reader, &reader->frames, number, profile_add_frame(reader->builder, &frame));
}

static void stack_read(struct htdump_reader *reader, const struct record *record)
{
    uint32_t parent = bound(reader, &reader->stacks, u64_of(record, STACK_PARENT));
    uint32_t frame = bound(reader, &reader->frames, u64_of(record, STACK_FRAME));
    htdump_bind(reader, &reader->stacks, u64_of(record, STACK_ID),
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
        .stack = bound(reader, &reader->stacks, u64_of(record, SAMPLE_STACK)),
        .time_ns = htdump_time(reader, record->event->timestamp_ns),
    };
    for (uint32_t kind = 0; kind < scalars->n_kinds; kind++) {
        /* A count that is not told is 1: one sample. */
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
    uint64_t begin_ns = htdump_time(reader, record->event->timestamp_ns);
    const struct profile_span span = {
        .thread = htdump_thread(reader, u64_of(record, SPAN_THREAD)),
        .frame = bound(reader, &reader->frames, u64_of(record, SPAN_FRAME)),
        .begin_ns = begin_ns,
        .end_ns = add_saturated(begin_ns, u64_of(record, SPAN_LENGTH)),
    };
    profile_add_span(reader->builder, &span);
}

static void instant_read(struct htdump_reader *reader, const struct record *record)
{
    struct profile_instant instant = {
        .thread = htdump_thread(reader, u64_of(record, INSTANT_THREAD)),
        .frame = bound(reader, &reader->frames, u64_of(record, INSTANT_FRAME)),
        .time_ns = htdump_time(reader, record->event->timestamp_ns),
    };
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
    uint64_t begin_ns = htdump_time(reader, record->event->timestamp_ns);
    const struct profile_off_cpu off_cpu = {
        .thread = htdump_thread(reader, u64_of(record, OFF_CPU_THREAD)),
        .to_process = text_of(record, OFF_CPU_PROCESS, reader->builder),
        .to_tid = u64_of(record, OFF_CPU_NEXT),
        .begin_ns = begin_ns,
        .end_ns = add_saturated(begin_ns, u64_of(record, OFF_CPU_LENGTH)),
    };
    profile_add_off_cpu(reader->builder, &off_cpu);
}

static void bookmark_read(struct htdump_reader *reader, const struct record *record)
{
    const struct profile_bookmark bookmark = {
        .text = text_of(record, BOOKMARK_TEXT, reader->builder),
        .color = u32_of(record, BOOKMARK_COLOR),
        .time_ns = htdump_time(reader, record->event->timestamp_ns),
    };
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
