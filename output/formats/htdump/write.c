/* write.c - profile -> HawkTracer stream: byte order, descriptions, raw classes, calls
 * (formats/htdump/write.h; docs/formats/htdump.md says why in this form). */
#include "formats/htdump/write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/htdump/htdump.h"
#include "map.h"
#include "model/convert.h"
#include "number.h"

/* ---- descriptions ---- */

/* As the real library describes its nine classes, the sizes of structs being those in its memory.
 */
struct described_field {
    const char *type;
    const char *name;
    uint8_t size_bytes;
    uint8_t data_type;
};

struct described_class {
    const char *name;
    struct described_field fields[6]; /* NULL name after the last, if fewer */
};

#define BASE                                                                                       \
    {                                                                                              \
        "HT_Event", "base", 24, HTDUMP_STRUCT                                                      \
    }
#define CALL_BASE                                                                                  \
    {                                                                                              \
        "HT_CallstackBaseEvent", "base", 40, HTDUMP_STRUCT                                         \
    }
#define NUMBER(type, name, size_bytes)                                                             \
    {                                                                                              \
        type, name, size_bytes, HTDUMP_UNSIGNED                                                    \
    }
#define TEXT(name)                                                                                 \
    {                                                                                              \
        "const char*", name, 8, HTDUMP_STRING                                                      \
    }

/* clang-format off */
static const struct described_class own_classes[] = {
    {"HT_EndiannessInfoEvent", {BASE, NUMBER("uint8_t", "endianness", 1)}},
    /* Not what stands on the wire, but what every file of the library says. */
    {"HT_Event", {{"HT_EventKlass*", "klass", 8, HTDUMP_POINTER}, NUMBER("HT_TimestampNs", "timestamp", 8),
                  NUMBER("HT_EventId", "id", 8)}},
    {"HT_EventKlassInfoEvent", {BASE, NUMBER("HT_EventKlassId", "info_klass_id", 4), TEXT("event_klass_name"),
                                NUMBER("uint8_t", "field_count", 1)}},
    {"HT_EventKlassFieldInfoEvent", {BASE, NUMBER("HT_EventKlassId", "info_klass_id", 4), TEXT("field_type"),
                                     TEXT("field_name"), NUMBER("uint64_t", "size", 8),
                                     NUMBER("uint8_t", "data_type", 1)}},
    {"HT_CallstackBaseEvent", {BASE, NUMBER("HT_DurationNs", "duration", 8), NUMBER("HT_ThreadId", "thread_id", 4)}},
    {"HT_CallstackIntEvent", {CALL_BASE, NUMBER("HT_CallstackEventLabel", "label", 8)}},
    {"HT_CallstackStringEvent", {CALL_BASE, TEXT("label")}},
    {"HT_StringMappingEvent", {BASE, NUMBER("uint64_t", "identifier", 8), TEXT("label")}},
    {"HT_SystemInfoEvent", {BASE, NUMBER("uint8_t", "version_major", 1), NUMBER("uint8_t", "version_minor", 1),
                            NUMBER("uint8_t", "version_patch", 1)}},
};
/* clang-format on */

static void cstring_put(struct htdump_writer *writer, const char *text)
{
    sink_write(writer->out, text, strlen(text) + 1);
}

static void class_put(struct htdump_writer *writer, uint32_t number, const char *name,
                      size_t n_fields)
{
    htdump_event_put(writer, HTDUMP_CLASS_INFO, writer->base_ns, htdump_id_next(writer), &number,
                     sizeof number);
    cstring_put(writer, name);
    sink_u8(writer->out, (uint8_t)n_fields);
}

static void field_put(struct htdump_writer *writer, uint32_t number,
                      const struct described_field *field)
{
    htdump_event_put(writer, HTDUMP_CLASS_FIELD, writer->base_ns, htdump_id_next(writer), &number,
                     sizeof number);
    cstring_put(writer, field->type);
    cstring_put(writer, field->name);
    sink_u64le(writer->out, field->size_bytes);
    sink_u8(writer->out, field->data_type);
}

static void own_classes_put(struct htdump_writer *writer)
{
    for (uint32_t number = 0; number < sizeof own_classes / sizeof own_classes[0]; number++) {
        const struct described_class *class = &own_classes[number];
        size_t n_fields = 0;
        while (n_fields < 6 && class->fields[n_fields].name != NULL)
            n_fields++;
        class_put(writer, number, class->name, n_fields);
        for (size_t i = 0; i < n_fields; i++)
            field_put(writer, number, &class->fields[i]);
    }
}

static struct described_field raw_field_describe(const struct htdump_raw_field *field)
{
    struct described_field described = TEXT(field->name);
    if (field->type != HTDUMP_RAW_TEXT) {
        described.type = field->type == HTDUMP_RAW_U8    ? "uint8_t"
                         : field->type == HTDUMP_RAW_U32 ? "uint32_t"
                                                         : "uint64_t";
        described.size_bytes = (uint8_t)field->type;
        described.data_type = HTDUMP_UNSIGNED;
    }
    return described;
}

static void raw_classes_put(struct htdump_writer *writer)
{
    static const struct described_field base = BASE;
    for (uint32_t raw = 0; raw < HTDUMP_RAW_N; raw++) {
        const struct htdump_raw_description *class = &htdump_raw_classes[raw];
        size_t n_fields = 0;
        while (class->fields[n_fields].name != NULL)
            n_fields++;
        class_put(writer, HTDUMP_CLASS_RAW + raw, class->name, n_fields + 1);
        field_put(writer, HTDUMP_CLASS_RAW + raw, &base);
        for (size_t i = 0; i < n_fields; i++) {
            struct described_field field = raw_field_describe(&class->fields[i]);
            field_put(writer, HTDUMP_CLASS_RAW + raw, &field);
        }
    }
}

static void descriptions_put(struct htdump_writer *writer)
{
    static const uint8_t little_endian = 0;
    static const uint8_t version[3] = {0, 11, 0}; /* of the library whose stream this is */
    htdump_event_put(writer, HTDUMP_CLASS_ENDIANNESS, 0, 0, &little_endian, sizeof little_endian);
    own_classes_put(writer);
    raw_classes_put(writer);
    htdump_event_put(writer, HTDUMP_CLASS_SYSTEM, 0, 0, version, sizeof version);
}

/* ---- numbers for threads and processes ---- */

/* HawkTracer's numbers of threads have 32 bits and know no processes: the system's number where it
 * fits and is the first of its kind, else a free one. Row 0, "none", is 0. */
static bool refs_assign(uint32_t *refs, uint32_t n,
                        uint64_t (*number_of)(const struct profile *, uint32_t),
                        const struct profile *profile)
{
    struct map taken = {0};
    bool ok = true;
    for (uint32_t i = 1; ok && i < n; i++) {
        uint64_t number = number_of(profile, i);
        if (number == 0 || number > UINT32_MAX || map_find(&taken, number, 0) != MAP_NONE)
            continue;
        refs[i] = (uint32_t)number;
        ok = map_set(&taken, number, 0, i);
    }
    uint32_t next = 1;
    for (uint32_t i = 1; ok && i < n; i++) {
        if (refs[i] != 0)
            continue;
        while (map_find(&taken, next, 0) != MAP_NONE)
            next++;
        refs[i] = next++;
    }
    map_deinit(&taken);
    return ok;
}

static uint64_t thread_number(const struct profile *profile, uint32_t id)
{
    return profile->threads[id].tid;
}

static uint64_t process_number(const struct profile *profile, uint32_t id)
{
    return profile->processes[id].pid;
}

/* ---- the writer ---- */

/* The latest time that will be written. */
static uint64_t last_time(const struct profile *profile)
{
    uint64_t last_ns = 0;
    struct profile_timeline timeline = profile_timeline_make(profile);
    struct profile_slice slice;
    while (profile_timeline_next(&timeline, &slice))
        last_ns = max_u64(last_ns, max_u64(slice.end_ns, profile->samples[slice.sample].time_ns));
    for (uint32_t i = 1; i < profile->n_spans; i++)
        last_ns = max_u64(last_ns, profile->spans[i].end_ns);
    for (size_t i = 0; i < profile->n_instants; i++)
        last_ns = max_u64(last_ns, profile->instants[i].time_ns);
    for (size_t i = 0; i < profile->n_off_cpus; i++)
        last_ns = max_u64(last_ns, profile->off_cpus[i].end_ns);
    for (size_t i = 0; i < profile->n_bookmarks; i++)
        last_ns = max_u64(last_ns, profile->bookmarks[i].time_ns);
    return last_ns;
}

static void writer_deinit(struct htdump_writer *writer)
{
    for (size_t table = 0; table < HTDUMP_RAW_N_TABLES; table++)
        free(writer->tables[table].of);
    free(writer->labels.of);
    ids_deinit(&writer->path);
}

static bool numbers_init(struct htdump_numbers *numbers, uint32_t n_rows)
{
    numbers->of = calloc(n_rows, sizeof *numbers->of);
    return numbers->of != NULL;
}

static bool writer_init(struct htdump_writer *writer, const struct profile *profile,
                        struct sink *out)
{
    *writer = (struct htdump_writer){.profile = profile, .out = out};
    if (last_time(profile) <= UINT64_MAX - profile->start_time_ns)
        writer->base_ns = profile->start_time_ns;
    const uint32_t n_rows[HTDUMP_RAW_N_TABLES] = {
        [HTDUMP_RAW_MODULES] = profile->n_modules, [HTDUMP_RAW_PROCESSES] = profile->n_processes,
        [HTDUMP_RAW_THREADS] = profile->n_threads, [HTDUMP_RAW_FUNCTIONS] = profile->n_functions,
        [HTDUMP_RAW_FRAMES] = profile->n_frames,   [HTDUMP_RAW_STACKS] = profile->n_stacks,
    };
    struct htdump_numbers *tables = writer->tables;
    bool ok = numbers_init(&writer->labels, intern_count(profile->texts));
    for (size_t table = 0; ok && table < HTDUMP_RAW_N_TABLES; table++)
        ok = numbers_init(&tables[table], n_rows[table]);
    return ok &&
           refs_assign(tables[HTDUMP_RAW_THREADS].of, profile->n_threads, thread_number, profile) &&
           refs_assign(tables[HTDUMP_RAW_PROCESSES].of, profile->n_processes, process_number,
                       profile);
}

bool htdump_write(const struct profile *profile, const struct format_options *options,
                  const struct format_notes *notes, struct sink *out, struct err *err)
{
    struct htdump_writer writer;
    (void)options; /* everything is kept, so there is nothing to choose */
    bool ok = writer_init(&writer, profile, out);
    if (ok) {
        descriptions_put(&writer);
        htdump_raw_tables_put(&writer);
        htdump_raw_events_put(&writer);
        ok = !writer.path.no_memory;
    }
    if (!ok)
        err_fail_memory(err);
    ok = ok && htdump_calls_put(&writer, err);
    convert_note_events(profile, notes);
    if (ok && profile->n_samples != 0 && !profile->has_times)
        format_note(notes, "the profile has no times: the calls HawkTracer shows are laid end to "
                           "end, in no order in which they happened");
    if (ok && writer.has_changed_text)
        format_note(notes, "names that are not UTF-8 were changed");
    writer_deinit(&writer);
    return ok;
}
