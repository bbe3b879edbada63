/* read.c - a parsed .prof file into a profile.
 *
 * A block becomes a span, an event or a value an instant, a context switch a time off the
 * processor. The name given at run time, if any, is the function's name; file and line are
 * always those of the block's own descriptor (EasyProfiler shows those of the first block with
 * that name). Not kept: colours and status of descriptors, the ids of values. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"
#include "formats/easyprofiler/easyprofiler.h"
#include "number.h"

struct reader {
    const struct easyprofiler_file *file;
    struct profile_builder *builder;
    uint32_t *frames; /* of descriptors, 0 = not made yet */
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t n_early_bookmarks;
};

/* The span of time all records lie in: the header's, or more where records lie outside of it. */
static void find_range(struct reader *r)
{
    const struct easyprofiler_file *file = r->file;
    r->start_ns = file->begin_ns;
    r->end_ns = file->end_ns > file->begin_ns ? file->end_ns : file->begin_ns;
    for (uint32_t i = 0; i < file->n_threads; i++) {
        const struct easyprofiler_thread *thread = &file->threads[i];
        if (thread->begin_ns < r->start_ns)
            r->start_ns = thread->begin_ns;
        if (thread->end_ns > r->end_ns)
            r->end_ns = thread->end_ns;
    }
    for (size_t i = 0; i < file->switches.n; i++) {
        const struct easyprofiler_switch *item = &file->switches.items[i];
        if (item->begin_ns < r->start_ns)
            r->start_ns = item->begin_ns;
        if (item->end_ns > r->end_ns)
            r->end_ns = item->end_ns;
    }
}

static uint32_t frame_add(struct reader *r, struct text name,
                          const struct easyprofiler_descriptor *descriptor)
{
    const struct profile_function function = {
        .name = profile_add_text(r->builder, name.bytes, name.length),
        .file = profile_add_text(r->builder, descriptor->name + descriptor->file_start,
                                 descriptor->file_length),
        .line = descriptor->line > 0 ? (uint32_t)descriptor->line : 0,
    };
    const struct profile_frame frame = {.function = profile_add_function(r->builder, &function)};
    return profile_add_frame(r->builder, &frame);
}

static uint32_t block_frame(struct reader *r, const struct easyprofiler_block *block)
{
    const struct easyprofiler_descriptor *descriptor = &r->file->descriptors[block->descriptor];
    struct text name = easyprofiler_runtime_name(block);
    if (name.length != 0)
        return frame_add(r, name, descriptor);
    uint32_t *frame = &r->frames[block->descriptor];
    if (*frame == 0)
        *frame = frame_add(r, (struct text){descriptor->name, descriptor->name_length}, descriptor);
    return *frame;
}

/* ---- values ------------------------------------------------------------------------------- */

/* Numbers as text, "[1, 2, 3]", cut after MAX_ELEMENTS: the model has no arrays. */
static uint32_t array_text(struct profile_builder *builder, const struct easyprofiler_value *value)
{
    enum { MAX_ELEMENTS = 64, MAX_NUMBER = 32 };
    char text[MAX_ELEMENTS * MAX_NUMBER + 16] = "[";
    size_t length = 1;
    size_t element_bytes = easyprofiler_data_bytes(value->type);
    size_t n = value->data_bytes / element_bytes;
    for (size_t i = 0; i < n; i++) {
        const char *comma = i == 0 ? "" : ", ";
        char *end = text + length;
        size_t room = sizeof text - length;
        if (i == MAX_ELEMENTS) {
            length += (size_t)snprintf(end, room, ", ...");
            break;
        }
        struct easyprofiler_number number =
            easyprofiler_number_at(value->type, value->data + i * element_bytes);
        if (number.type == PROFILE_VALUE_F64)
            length += (size_t)snprintf(end, room, "%s%.17g", comma, number.as.f64);
        else if (number.type == PROFILE_VALUE_I64)
            length += (size_t)snprintf(end, room, "%s%" PRId64, comma, number.as.i64);
        else
            length += (size_t)snprintf(end, room, "%s%" PRIu64, comma, number.as.u64);
    }
    text[length++] = ']';
    return profile_add_text(builder, text, length);
}

/* Bytes of a type nobody knows, as hexadecimal digits. */
static uint32_t hex_text(struct profile_builder *builder, const struct easyprofiler_value *value)
{
    enum { MAX_BYTES = 256 };
    char text[2 * MAX_BYTES];
    size_t n = min_u64(value->data_bytes, MAX_BYTES);
    hex_digits(text, value->data, n);
    return profile_add_text(builder, text, 2 * n);
}

static void set_value(struct profile_builder *builder, const struct easyprofiler_value *value,
                      struct profile_instant *instant)
{
    size_t element_bytes = easyprofiler_data_bytes(value->type);
    instant->type = PROFILE_VALUE_TEXT;
    if (value->type == EASYPROFILER_STRING) {
        const char *text = (const char *)value->data;
        instant->value.u64 = profile_add_text(builder, text, strnlen(text, value->data_bytes));
    } else if (element_bytes == 0) {
        instant->value.u64 = hex_text(builder, value);
    } else if (value->is_array || value->data_bytes < element_bytes) {
        instant->value.u64 = array_text(builder, value);
    } else {
        struct easyprofiler_number number = easyprofiler_number_at(value->type, value->data);
        instant->type = number.type;
        if (number.type == PROFILE_VALUE_F64)
            instant->value.f64 = number.as.f64;
        else
            instant->value.u64 = number.as.u64;
    }
}

/* ---- threads ------------------------------------------------------------------------------ */

static void add_block(struct reader *r, uint32_t thread, const struct easyprofiler_block *block)
{
    uint8_t type = r->file->descriptors[block->descriptor].type;
    uint32_t frame = block_frame(r, block);
    uint64_t begin_ns = block->begin_ns - r->start_ns;
    if (type == EASYPROFILER_VALUE ||
        (type == EASYPROFILER_EVENT && block->begin_ns == block->end_ns)) {
        struct profile_instant instant = {.thread = thread, .frame = frame, .time_ns = begin_ns};
        if (type == EASYPROFILER_VALUE) {
            struct easyprofiler_value value = easyprofiler_block_value(block);
            set_value(r->builder, &value, &instant);
        }
        profile_add_instant(r->builder, &instant);
        return;
    }
    const struct profile_span span = {.thread = thread,
                                      .frame = frame,
                                      .begin_ns = begin_ns,
                                      .end_ns = block->end_ns - r->start_ns};
    profile_add_span(r->builder, &span);
}

static void widen(struct profile_thread *row, bool *any, uint64_t begin_ns, uint64_t end_ns)
{
    if (!*any || begin_ns < row->start_ns)
        row->start_ns = begin_ns;
    if (!*any || end_ns > row->end_ns)
        row->end_ns = end_ns;
    *any = true;
}

/* From the first to the last that is known of the thread. */
static void thread_range(const struct reader *r, const struct easyprofiler_thread *thread,
                         struct profile_thread *row)
{
    bool any = false;
    if (thread->n_blocks != 0)
        widen(row, &any, thread->begin_ns - r->start_ns, thread->end_ns - r->start_ns);
    for (uint32_t i = 0; i < thread->n_sections; i++) {
        const struct easyprofiler_section *section =
            &r->file->sections.items[thread->first_section + i];
        for (uint32_t k = 0; k < section->n_switches; k++) {
            const struct easyprofiler_switch *item =
                &r->file->switches.items[section->first_switch + k];
            if (item->end_ns >= item->begin_ns)
                widen(row, &any, item->begin_ns - r->start_ns, item->end_ns - r->start_ns);
        }
    }
}

static void add_switches(struct reader *r, const struct easyprofiler_thread *thread, uint32_t id)
{
    for (uint32_t i = 0; i < thread->n_sections; i++) {
        const struct easyprofiler_section *section =
            &r->file->sections.items[thread->first_section + i];
        for (uint32_t k = 0; k < section->n_switches; k++) {
            const struct easyprofiler_switch *item =
                &r->file->switches.items[section->first_switch + k];
            if (item->end_ns < item->begin_ns)
                continue;
            const struct profile_off_cpu off_cpu = {
                .thread = id,
                .to_process = profile_add_text(r->builder, item->process, item->process_length),
                .to_tid = item->to_tid,
                .begin_ns = item->begin_ns - r->start_ns,
                .end_ns = item->end_ns - r->start_ns};
            profile_add_off_cpu(r->builder, &off_cpu);
        }
    }
}

/* False when out of memory. */
static bool add_thread(struct reader *r, const struct easyprofiler_thread *thread, uint32_t process)
{
    struct profile_thread row = {
        .process = process,
        .name = profile_add_text(r->builder, thread->name, thread->name_length),
        .tid = thread->tid};
    thread_range(r, thread, &row);
    uint32_t id = profile_add_thread(r->builder, &row);
    /* In preorder, so that of equal spans the outer one is added first. */
    struct easyprofiler_walk walk = easyprofiler_walk_make(r->file, thread);
    uint32_t level;
    for (uint32_t at; (at = easyprofiler_walk_next(&walk, &level)) != 0;) {
        const struct easyprofiler_block block = easyprofiler_block_at(r->file, at);
        add_block(r, id, &block);
    }
    bool ok = !easyprofiler_walk_failed(&walk);
    easyprofiler_walk_deinit(&walk);
    add_switches(r, thread, id);
    return ok;
}

static void add_bookmarks(struct reader *r)
{
    for (size_t i = 0; i < r->file->bookmarks.n; i++) {
        const struct easyprofiler_bookmark *item = &r->file->bookmarks.items[i];
        bool early = item->position_ns < r->start_ns;
        r->n_early_bookmarks += early;
        const struct profile_bookmark bookmark = {
            .text = profile_add_text(r->builder, item->text, item->text_length),
            .color = item->color,
            .time_ns = early ? 0 : item->position_ns - r->start_ns};
        profile_add_bookmark(r->builder, &bookmark);
    }
}

static void add_metadata(struct reader *r)
{
    char text[32];
    uint32_t version = r->file->version;
    int length = snprintf(text, sizeof text, "%u.%u.%u", version >> 24, version >> 16 & 0xff,
                          version & 0xffff);
    profile_add_metadata(r->builder, "easyprofiler.version", text, (size_t)length);
    length = snprintf(text, sizeof text, "%" PRIu64, r->file->frequency_hz);
    profile_add_metadata(r->builder, "easyprofiler.frequency_hz", text, (size_t)length);
}

static bool read_file(const struct easyprofiler_file *file, const struct format_notes *notes,
                      struct profile **out, struct err *err)
{
    struct reader r = {.file = file};
    r.frames = calloc(file->n_descriptors, sizeof *r.frames);
    if (r.frames == NULL)
        return err_fail_memory(err);
    if (!profile_builder_create(&r.builder, err)) {
        free(r.frames);
        return false;
    }
    find_range(&r);
    struct profile_scalars *scalars = profile_builder_scalars(r.builder);
    scalars->start_time_ns = r.start_ns;
    scalars->duration_ns = r.end_ns - r.start_ns;
    const struct profile_process process = {.pid = file->pid, .end_ns = scalars->duration_ns};
    uint32_t process_id = profile_add_process(r.builder, &process);
    bool ok = true;
    for (uint32_t i = 0; ok && i < file->n_threads; i++)
        ok = add_thread(&r, &file->threads[i], process_id);
    add_bookmarks(&r);
    add_metadata(&r);
    free(r.frames);
    if (!ok) {
        profile_builder_destroy(r.builder);
        return err_fail_memory(err);
    }
    if (!profile_builder_finish(r.builder, out, err))
        return false;
    if (r.n_early_bookmarks != 0)
        format_note(notes, "%" PRIu64 " bookmarks lie before all records; moved to the begin",
                    r.n_early_bookmarks);
    return true;
}

bool easyprofiler_read(const uint8_t *data, size_t size_bytes, const struct format_options *options,
                       const struct format_notes *notes, struct profile **out, struct err *err)
{
    struct easyprofiler_file *file;
    if (!easyprofiler_parse(data, size_bytes, options != NULL && options->strict, notes, &file,
                            err))
        return false;
    bool ok = read_file(file, notes, out, err);
    easyprofiler_file_destroy(file);
    return ok;
}
