/* write_raw.c - the profile in the raw classes of raw.h: its tables row by row, each
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

static struct fields fields_begin(struct htdump_writer *writer, enum htdump_raw_class raw,
                                  uint64_t time_ns)
{
    struct fields fields = {.writer = writer, .next = htdump_raw_classes[raw].fields};
    htdump_event_put(writer, HTDUMP_CLASS_RAW + (uint32_t)raw, writer->base_ns + time_ns,
                     htdump_id_next(writer), NULL, 0);
    return fields;
}

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

static void metadata_put(struct htdump_writer *writer)
{
    for (size_t i = 0; i < writer->profile->n_metadata; i++) {
        struct fields fields = fields_begin(writer, HTDUMP_RAW_METADATA, 0);
        name_put(&fields, writer->profile->metadata[i].key);
        name_put(&fields, writer->profile->metadata[i].value);
        fields_flush(&fields);
    }
}

static void processes_put(struct htdump_writer *writer)
{
    for (uint32_t id = 1; id < writer->profile->n_processes; id++) {
        const struct profile_process *process = &writer->profile->processes[id];
        struct fields fields = fields_begin(writer, HTDUMP_RAW_PROCESS, 0);
        number_put(&fields, writer->process_refs[id]);
        number_put(&fields, process->pid);
        number_put(&fields, process->ppid);
        name_put(&fields, process->name);
        number_put(&fields, process->start_ns);
        number_put(&fields, process->end_ns);
        fields_flush(&fields);
    }
}

static void threads_put(struct htdump_writer *writer)
{
    for (uint32_t id = 1; id < writer->profile->n_threads; id++) {
        const struct profile_thread *thread = &writer->profile->threads[id];
        struct fields fields = fields_begin(writer, HTDUMP_RAW_THREAD_DETAIL, 0);
        number_put(&fields, writer->thread_refs[id]);
        number_put(&fields, thread->tid);
        number_put(&fields, thread->start_ns);
        number_put(&fields, thread->end_ns);
        number_put(&fields, thread->cpu_ns);
        fields_flush(&fields);
        fields = fields_begin(writer, HTDUMP_RAW_THREAD, 0);
        number_put(&fields, writer->thread_refs[id]);
        number_put(&fields, writer->process_refs[thread->process]);
        name_put(&fields, thread->name);
        fields_flush(&fields);
    }
}

static void module_put(struct htdump_writer *writer, uint32_t id)
{
    if (!htdump_number_give(&writer->modules, id))
        return;
    const struct profile_module *module = &writer->profile->modules[id];
    struct fields fields = fields_begin(writer, HTDUMP_RAW_MODULE, 0);
    number_put(&fields, writer->modules.of[id]);
    name_put(&fields, module->path);
    name_put(&fields, module->build_id);
    number_put(&fields, module->start);
    number_put(&fields, module->end);
    fields_flush(&fields);
}

static void function_put(struct htdump_writer *writer, uint32_t id)
{
    if (!htdump_number_give(&writer->functions, id))
        return;
    const struct profile_function *function = &writer->profile->functions[id];
    module_put(writer, function->module);
    struct fields fields = fields_begin(writer, HTDUMP_RAW_FUNCTION, 0);
    number_put(&fields, writer->functions.of[id]);
    name_put(&fields, function->name);
    name_put(&fields, function->system_name);
    name_put(&fields, function->file);
    number_put(&fields, function->line);
    number_put(&fields, function->column);
    number_put(&fields, writer->modules.of[function->module]);
    fields_flush(&fields);
}

/* Whether a frame event alone says all there is: then, and only then, it comes without detail. */
static bool frame_is_plain(const struct profile *profile, const struct profile_frame *frame)
{
    const struct profile_function *function = &profile->functions[frame->function];
    const struct profile_module *module = &profile->modules[function->module];
    bool is_plain_module = function->module == 0 || (module->path != 0 && module->build_id == 0 &&
                                                     module->start == 0 && module->end == 0);
    return frame->function != 0 && is_plain_module && function->system_name == 0 &&
           function->line == 0 && function->column == 0 && frame->column == 0 && frame->flags == 0;
}

static void frame_put(struct htdump_writer *writer, uint32_t id)
{
    if (!htdump_number_give(&writer->frames, id))
        return;
    const struct profile *profile = writer->profile;
    const struct profile_frame *frame = &profile->frames[id];
    const struct profile_function *function = &profile->functions[frame->function];
    struct fields fields;
    if (!frame_is_plain(profile, frame)) {
        function_put(writer, frame->function);
        fields = fields_begin(writer, HTDUMP_RAW_FRAME_DETAIL, 0);
        number_put(&fields, writer->frames.of[id]);
        number_put(&fields, writer->functions.of[frame->function]);
        number_put(&fields, frame->column);
        number_put(&fields, frame->flags);
        fields_flush(&fields);
    }
    fields = fields_begin(writer, HTDUMP_RAW_FRAME, 0);
    number_put(&fields, writer->frames.of[id]);
    number_put(&fields, frame->address);
    name_put(&fields, function->name);
    name_put(&fields, profile->modules[function->module].path);
    name_put(&fields, function->file);
    number_put(&fields, frame->line);
    fields_flush(&fields);
}

/* The stack and what it stands on, outermost first. */
static void stack_put(struct htdump_writer *writer, uint32_t id)
{
    const struct profile_stack *stacks = writer->profile->stacks;
    writer->path.n = 0;
    for (; id != 0 && writer->stacks.of[id] == 0; id = stacks[id].parent) {
        uint32_t *step = array_push(&writer->path);
        if (step == NULL) {
            writer->is_out_of_memory = true;
            return;
        }
        *step = id;
    }
    while (writer->path.n != 0) {
        id = *(const uint32_t *)array_at(&writer->path, --writer->path.n);
        frame_put(writer, stacks[id].frame);
        htdump_number_give(&writer->stacks, id);
        struct fields fields = fields_begin(writer, HTDUMP_RAW_STACK, 0);
        number_put(&fields, writer->stacks.of[id]);
        number_put(&fields, writer->stacks.of[stacks[id].parent]);
        number_put(&fields, writer->frames.of[stacks[id].frame]);
        fields_flush(&fields);
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
    number_put(&fields, writer->thread_refs[sample->thread]);
    number_put(&fields, CPU_UNKNOWN);
    number_put(&fields, writer->stacks.of[sample->stack]);
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
        if (writer->is_out_of_memory || sink_failed(writer->out))
            return;
        sample_put(writer, i, weight);
    }
}

static void spans_put(struct htdump_writer *writer)
{
    for (uint32_t id = 1; id < writer->profile->n_spans && !sink_failed(writer->out); id++) {
        const struct profile_span *span = &writer->profile->spans[id];
        frame_put(writer, span->frame);
        struct fields fields = fields_begin(writer, HTDUMP_RAW_SPAN, span->begin_ns);
        number_put(&fields, writer->thread_refs[span->thread]);
        number_put(&fields, writer->frames.of[span->frame]);
        number_put(&fields, span->end_ns - span->begin_ns);
        fields_flush(&fields);
    }
}

static void instants_put(struct htdump_writer *writer)
{
    for (size_t i = 0; i < writer->profile->n_instants && !sink_failed(writer->out); i++) {
        const struct profile_instant *instant = &writer->profile->instants[i];
        bool is_text = instant->type == PROFILE_VALUE_TEXT;
        frame_put(writer, instant->frame);
        struct fields fields = fields_begin(writer, HTDUMP_RAW_INSTANT, instant->time_ns);
        number_put(&fields, writer->thread_refs[instant->thread]);
        number_put(&fields, writer->frames.of[instant->frame]);
        number_put(&fields, (uint64_t)instant->type);
        number_put(&fields, is_text ? 0 : instant->value.u64);
        name_put(&fields, is_text ? (uint32_t)instant->value.u64 : 0);
        fields_flush(&fields);
    }
}

static void off_cpus_put(struct htdump_writer *writer)
{
    for (size_t i = 0; i < writer->profile->n_off_cpus && !sink_failed(writer->out); i++) {
        const struct profile_off_cpu *off_cpu = &writer->profile->off_cpus[i];
        struct fields fields = fields_begin(writer, HTDUMP_RAW_OFF_CPU, off_cpu->begin_ns);
        number_put(&fields, writer->thread_refs[off_cpu->thread]);
        number_put(&fields, off_cpu->end_ns - off_cpu->begin_ns);
        name_put(&fields, off_cpu->to_process);
        number_put(&fields, off_cpu->to_tid);
        fields_flush(&fields);
    }
}

static void bookmarks_put(struct htdump_writer *writer)
{
    for (size_t i = 0; i < writer->profile->n_bookmarks; i++) {
        const struct profile_bookmark *bookmark = &writer->profile->bookmarks[i];
        struct fields fields = fields_begin(writer, HTDUMP_RAW_BOOKMARK, bookmark->time_ns);
        name_put(&fields, bookmark->text);
        number_put(&fields, bookmark->color);
        fields_flush(&fields);
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
