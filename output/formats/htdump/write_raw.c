/* write_raw.c - the profile in the raw classes of formats/htdump/raw.h: its tables row by row, each
 * in front of its first use, then what happened. */
#include <string.h>

#include "formats/htdump/write.h"
#include "model/convert.h"

/* Fields of one event, in order of their description. Numbers gather; a text is written through. */
struct fields {
    struct htdump_writer *writer;
    const struct htdump_raw_field *next;
    uint8_t bytes[64]; /* more than the numbers of any raw class take */
    size_t n;
};

static void fields_flush(struct fields *fields)
{
    sink_write(fields->writer->out, fields->bytes, fields->n);
    fields->n = 0;
}

/* The event's header is written at once; its fields follow in the order of the class's row. */
static struct fields fields_begin(struct htdump_writer *writer, enum htdump_raw_class raw,
                                  uint64_t time_ns)
{
    struct fields fields = {.writer = writer, .next = htdump_raw_classes[raw].fields};
    htdump_event_put(writer, HTDUMP_CLASS_RAW + (uint32_t)raw, writer->base_ns + time_ns,
                     htdump_id_next(writer), NULL, 0);
    return fields;
}

/* As wide as the description says: a number that does not fit its field is cut, which none does. */
static void number_put(struct fields *fields, uint64_t value)
{
    size_t size_bytes = (size_t)fields->next++->type;
    memcpy(fields->bytes + fields->n, &value, size_bytes);
    fields->n += size_bytes;
}

static void text_put(struct fields *fields, struct text text)
{
    fields->next++;
    fields_flush(fields);
    htdump_text_put(fields->writer, text);
}

static void name_put(struct fields *fields, uint32_t text)
{
    text_put(fields, profile_text(fields->writer->profile, text));
}

/* ---- tables ---- */

static void recording_put(struct htdump_writer *writer)
{
    const struct profile *profile = writer->profile;
    struct fields fields = fields_begin(writer, HTDUMP_RAW_RECORDING, 0);
    number_put(&fields, HTDUMP_RAW_VERSION);
    number_put(&fields, profile->start_time_ns);
    number_put(&fields, profile->start_realtime_ns);
    number_put(&fields, profile->duration_ns);
    number_put(&fields, profile->period);
    number_put(&fields, profile->has_times);
    fields_flush(&fields);
}

static void kinds_put(struct htdump_writer *writer)
{
    const struct profile *profile = writer->profile;
    uint32_t weight = profile_kind_find(profile, PROFILE_UNIT_NS);
    for (uint32_t kind = 0; kind < profile->n_kinds; kind++) {
        const char *unit = htdump_raw_units[profile->kinds[kind].unit];
        struct fields fields = fields_begin(writer, HTDUMP_RAW_KIND, 0);
        number_put(&fields, kind);
        name_put(&fields, profile->kinds[kind].name);
        text_put(&fields, (struct text){.bytes = unit, .length = strlen(unit)});
        number_put(&fields, kind == weight);
        fields_flush(&fields);
    }
}

static uint64_t member_read(const struct htdump_raw_field *field, const void *row)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)row + field->offset, field->size_bytes);
    return value;
}

static uint64_t length_read(const struct htdump_raw_field *field, const void *row)
{
    uint64_t times_ns[2]; /* begin and end */
    memcpy(times_ns, (const char *)row + field->offset, sizeof times_ns);
    return times_ns[1] - times_ns[0];
}

/* An event for a row of the profile, which has the number `self` in the stream: its fields from where
 * the table of classes says. Those by hand are taken from `by_hand` in their order, texts by id. */
static void row_put(struct htdump_writer *writer, enum htdump_raw_class raw, uint64_t time_ns,
                    uint32_t self, const void *row, const uint64_t *by_hand)
{
    struct fields fields = fields_begin(writer, raw, time_ns);
    for (const struct htdump_raw_field *field = fields.next; field->name != NULL; field++) {
        uint64_t value = self;
        if (field->from == HTDUMP_RAW_BY_HAND)
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): such classes come with it */
            value = *by_hand++;
        else if (field->from == HTDUMP_RAW_LENGTH)
            value = length_read(field, row);
        else if (field->from != HTDUMP_RAW_SELF)
            value = member_read(field, row);
        if (field->from == HTDUMP_RAW_REF)
            value = writer->tables[field->table].of[value];
        if (field->type == HTDUMP_RAW_TEXT)
            name_put(&fields, (uint32_t)value);
        else
            number_put(&fields, value);
    }
    fields_flush(&fields);
}

static void metadata_put(struct htdump_writer *writer)
{
    for (size_t i = 0; i < writer->profile->n_metadata; i++)
        row_put(writer, HTDUMP_RAW_METADATA, 0, 0, &writer->profile->metadata[i], NULL);
}

static void processes_put(struct htdump_writer *writer)
{
    for (uint32_t id = 1; id < writer->profile->n_processes; id++)
        row_put(writer, HTDUMP_RAW_PROCESS, 0, writer->tables[HTDUMP_RAW_PROCESSES].of[id],
                &writer->profile->processes[id], NULL);
}

/* The detail first: readers that know it have it when the thread comes, all others have the thread. */
static void threads_put(struct htdump_writer *writer)
{
    for (uint32_t id = 1; id < writer->profile->n_threads; id++) {
        const struct profile_thread *thread = &writer->profile->threads[id];
        uint32_t self = writer->tables[HTDUMP_RAW_THREADS].of[id];
        row_put(writer, HTDUMP_RAW_THREAD_DETAIL, 0, self, thread, NULL);
        row_put(writer, HTDUMP_RAW_THREAD, 0, self, thread, NULL);
    }
}

static void module_put(struct htdump_writer *writer, uint32_t id)
{
    struct htdump_numbers *modules = &writer->tables[HTDUMP_RAW_MODULES];
    if (htdump_number_give(modules, id))
        row_put(writer, HTDUMP_RAW_MODULE, 0, modules->of[id], &writer->profile->modules[id], NULL);
}

static void function_put(struct htdump_writer *writer, uint32_t id)
{
    struct htdump_numbers *functions = &writer->tables[HTDUMP_RAW_FUNCTIONS];
    if (!htdump_number_give(functions, id))
        return;
    module_put(writer, writer->profile->functions[id].module);
    row_put(writer, HTDUMP_RAW_FUNCTION, 0, functions->of[id], &writer->profile->functions[id],
            NULL);
}

/* Whether a frame event alone says all there is: then, and only then, it comes without detail. */
static bool frame_is_plain(const struct profile *profile, const struct profile_frame *frame)
{
    const struct profile_function *function = &profile->functions[frame->function];
    const struct profile_module *module = &profile->modules[function->module];
    bool is_plain_module = function->module == 0 || (module->path != 0 && module->build_id == 0 &&
                                                     module->start == 0 && module->end == 0);
    return frame->function != 0 && is_plain_module && function->system_name == 0 &&
           function->line == 0 && function->column == 0 && frame->column == 0 &&
           frame->flags == 0 && frame->file == 0;
}

static void frame_put(struct htdump_writer *writer, uint32_t id)
{
    struct htdump_numbers *frames = &writer->tables[HTDUMP_RAW_FRAMES];
    if (!htdump_number_give(frames, id))
        return;
    const struct profile *profile = writer->profile;
    const struct profile_frame *frame = &profile->frames[id];
    const struct profile_function *function = &profile->functions[frame->function];
    const uint64_t names[] = {function->name, profile->modules[function->module].path,
                              profile_frame_file(profile, frame)};
    if (!frame_is_plain(profile, frame)) {
        function_put(writer, frame->function);
        row_put(writer, HTDUMP_RAW_FRAME_DETAIL, 0, frames->of[id], frame, NULL);
    }
    row_put(writer, HTDUMP_RAW_FRAME, 0, frames->of[id], frame, names);
}

/* The stack and what it stands on, outermost first. */
static void stack_put(struct htdump_writer *writer, uint32_t id)
{
    const struct profile_stack *stacks = writer->profile->stacks;
    struct htdump_numbers *numbers = &writer->tables[HTDUMP_RAW_STACKS];
    writer->path.n = 0;
    for (; id != 0 && numbers->of[id] == 0; id = stacks[id].parent)
        ids_push(&writer->path, id);
    if (writer->path.no_memory)
        return;
    while (writer->path.n != 0) {
        id = writer->path.items[--writer->path.n];
        frame_put(writer, stacks[id].frame);
        htdump_number_give(numbers, id);
        row_put(writer, HTDUMP_RAW_STACK, 0, numbers->of[id], &stacks[id], NULL);
    }
}

void htdump_raw_tables_put(struct htdump_writer *writer)
{
    recording_put(writer);
    kinds_put(writer);
    metadata_put(writer);
    processes_put(writer);
    threads_put(writer);
}

/* ---- what happened ---- */

#define CPU_UNKNOWN UINT32_MAX

static void sample_put(struct htdump_writer *writer, size_t index, uint32_t weight)
{
    const struct profile *profile = writer->profile;
    const struct profile_sample *sample = &profile->samples[index];
    stack_put(writer, sample->stack);
    struct fields fields = fields_begin(writer, HTDUMP_RAW_SAMPLE, sample->time_ns);
    number_put(&fields, writer->tables[HTDUMP_RAW_THREADS].of[sample->thread]);
    number_put(&fields, CPU_UNKNOWN);
    number_put(&fields, writer->tables[HTDUMP_RAW_STACKS].of[sample->stack]);
    number_put(&fields, profile_sample_ns(profile, index));
    fields_flush(&fields);
    for (uint32_t kind = 0; kind < profile->n_kinds; kind++) {
        uint64_t value = profile_value(profile, index, kind);
        uint64_t untold = profile->kinds[kind].unit == PROFILE_UNIT_COUNT ? 1 : 0;
        if (kind == weight || value == untold)
            continue;
        fields = fields_begin(writer, HTDUMP_RAW_VALUE, sample->time_ns);
        number_put(&fields, kind);
        number_put(&fields, value);
        fields_flush(&fields);
    }
}

static void samples_put(struct htdump_writer *writer)
{
    const struct profile *profile = writer->profile;
    uint32_t weight = profile_kind_find(profile, PROFILE_UNIT_NS);
    for (size_t i = 0; i < profile->n_samples; i++) {
        if (writer->path.no_memory || sink_failed(writer->out))
            return;
        sample_put(writer, i, weight);
    }
}

static void spans_put(struct htdump_writer *writer)
{
    for (uint32_t id = 1; id < writer->profile->n_spans && !sink_failed(writer->out); id++) {
        const struct profile_span *span = &writer->profile->spans[id];
        frame_put(writer, span->frame);
        row_put(writer, HTDUMP_RAW_SPAN, span->begin_ns, 0, span, NULL);
    }
}

static void instants_put(struct htdump_writer *writer)
{
    for (size_t i = 0; i < writer->profile->n_instants && !sink_failed(writer->out); i++) {
        const struct profile_instant *instant = &writer->profile->instants[i];
        bool is_text = instant->type == PROFILE_VALUE_TEXT;
        const uint64_t value[] = {(uint64_t)instant->type, is_text ? 0 : instant->value.u64,
                                  is_text ? instant->value.u64 : 0};
        frame_put(writer, instant->frame);
        row_put(writer, HTDUMP_RAW_INSTANT, instant->time_ns, 0, instant, value);
    }
}

static void off_cpus_put(struct htdump_writer *writer)
{
    for (size_t i = 0; i < writer->profile->n_off_cpus && !sink_failed(writer->out); i++) {
        const struct profile_off_cpu *off_cpu = &writer->profile->off_cpus[i];
        row_put(writer, HTDUMP_RAW_OFF_CPU, off_cpu->begin_ns, 0, off_cpu, NULL);
    }
}

static void bookmarks_put(struct htdump_writer *writer)
{
    for (size_t i = 0; i < writer->profile->n_bookmarks; i++) {
        const struct profile_bookmark *bookmark = &writer->profile->bookmarks[i];
        row_put(writer, HTDUMP_RAW_BOOKMARK, bookmark->time_ns, 0, bookmark, NULL);
    }
}

void htdump_raw_events_put(struct htdump_writer *writer)
{
    samples_put(writer);
    spans_put(writer);
    instants_put(writer);
    off_cpus_put(writer);
    bookmarks_put(writer);
}
