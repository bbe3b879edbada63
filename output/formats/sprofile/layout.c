/* layout.c - see layout.h. */
#include "formats/sprofile/layout.h"

#include <string.h>

#define FIELD(type, field, table)                                                                  \
    {                                                                                              \
        .name = #field, .offset = offsetof(struct type, field),                                    \
        .size_bytes = sizeof(((struct type *)0)->field), .refers = (table)                         \
    }
#define NUMBER(type, field) FIELD(type, field, 0)
#define KIND(index)                                                                                \
    {.name = "kind" #index "_name",                                                                \
     .offset = offsetof(struct sprofile_scalars, kinds[index].name),                               \
     .size_bytes = 4,                                                                              \
     .refers = SPROFILE_TEXTS},                                                                    \
    {                                                                                              \
        .name = "kind" #index "_unit",                                                             \
        .offset = offsetof(struct sprofile_scalars, kinds[index].unit), .size_bytes = 4            \
    }

_Static_assert(sizeof(enum profile_unit) == 4 && sizeof(enum profile_value_type) == 4,
               "fields are of 4 or 8 bytes");

const struct sprofile_layout sprofile_layouts[SPROFILE_N_TABLES] = {
    [SPROFILE_END] = {.name = "end"},
    [SPROFILE_TEXTS] = {.name = "texts", .first_row = 1},
    [SPROFILE_SCALARS] = {.name = "scalars",
                          .row_bytes = sizeof(struct sprofile_scalars),
                          .n_fields = 14,
                          .fields = {NUMBER(sprofile_scalars, start_time_ns),
                                     NUMBER(sprofile_scalars, start_realtime_ns),
                                     NUMBER(sprofile_scalars, duration_ns),
                                     NUMBER(sprofile_scalars, period),
                                     NUMBER(sprofile_scalars, has_times),
                                     NUMBER(sprofile_scalars, n_kinds), KIND(0), KIND(1), KIND(2),
                                     KIND(3)}},
    [SPROFILE_MODULES] = {.name = "modules",
                          .row_bytes = sizeof(struct profile_module),
                          .first_row = 1,
                          .n_fields = 4,
                          .fields = {FIELD(profile_module, path, SPROFILE_TEXTS),
                                     FIELD(profile_module, build_id, SPROFILE_TEXTS),
                                     NUMBER(profile_module, start), NUMBER(profile_module, end)}},
    [SPROFILE_FUNCTIONS] = {.name = "functions",
                            .row_bytes = sizeof(struct profile_function),
                            .first_row = 1,
                            .n_fields = 6,
                            .fields = {FIELD(profile_function, name, SPROFILE_TEXTS),
                                       FIELD(profile_function, system_name, SPROFILE_TEXTS),
                                       FIELD(profile_function, file, SPROFILE_TEXTS),
                                       NUMBER(profile_function, line),
                                       NUMBER(profile_function, column),
                                       FIELD(profile_function, module, SPROFILE_MODULES)}},
    [SPROFILE_FRAMES] = {.name = "frames",
                         .row_bytes = sizeof(struct profile_frame),
                         .first_row = 1,
                         .n_fields = 6,
                         .fields = {FIELD(profile_frame, function, SPROFILE_FUNCTIONS),
                                    NUMBER(profile_frame, line), NUMBER(profile_frame, column),
                                    NUMBER(profile_frame, flags), NUMBER(profile_frame, address),
                                    FIELD(profile_frame, file, SPROFILE_TEXTS)}},
    [SPROFILE_STACKS] = {.name = "stacks",
                         .row_bytes = sizeof(struct profile_stack),
                         .first_row = 1,
                         .n_fields = 2,
                         .fields = {FIELD(profile_stack, parent, SPROFILE_STACKS),
                                    FIELD(profile_stack, frame, SPROFILE_FRAMES)}},
    [SPROFILE_PROCESSES] = {.name = "processes",
                            .row_bytes = sizeof(struct profile_process),
                            .first_row = 1,
                            .n_fields = 5,
                            .fields = {FIELD(profile_process, name, SPROFILE_TEXTS),
                                       NUMBER(profile_process, pid), NUMBER(profile_process, ppid),
                                       NUMBER(profile_process, start_ns),
                                       NUMBER(profile_process, end_ns)}},
    [SPROFILE_THREADS] = {.name = "threads",
                          .row_bytes = sizeof(struct profile_thread),
                          .first_row = 1,
                          .n_fields = 6,
                          .fields = {FIELD(profile_thread, process, SPROFILE_PROCESSES),
                                     FIELD(profile_thread, name, SPROFILE_TEXTS),
                                     NUMBER(profile_thread, tid), NUMBER(profile_thread, start_ns),
                                     NUMBER(profile_thread, end_ns),
                                     NUMBER(profile_thread, cpu_ns)}},
    [SPROFILE_METADATA] = {.name = "metadata",
                           .row_bytes = sizeof(struct profile_metadata),
                           .n_fields = 2,
                           .fields = {FIELD(profile_metadata, key, SPROFILE_TEXTS),
                                      FIELD(profile_metadata, value, SPROFILE_TEXTS)}},
    [SPROFILE_SAMPLES] = {.name = "samples",
                          .row_bytes = sizeof(struct profile_sample),
                          .n_fields = 3,
                          .fields = {FIELD(profile_sample, thread, SPROFILE_THREADS),
                                     FIELD(profile_sample, stack, SPROFILE_STACKS),
                                     NUMBER(profile_sample, time_ns)}},
    [SPROFILE_SPANS] = {.name = "spans",
                        .row_bytes = sizeof(struct profile_span),
                        .first_row = 1,
                        .n_fields = 4,
                        .fields = {FIELD(profile_span, thread, SPROFILE_THREADS),
                                   FIELD(profile_span, frame, SPROFILE_FRAMES),
                                   NUMBER(profile_span, begin_ns), NUMBER(profile_span, end_ns)}},
    [SPROFILE_INSTANTS] = {.name = "instants",
                           .row_bytes = sizeof(struct profile_instant),
                           .n_fields = 5,
                           .fields = {FIELD(profile_instant, thread, SPROFILE_THREADS),
                                      FIELD(profile_instant, frame, SPROFILE_FRAMES),
                                      NUMBER(profile_instant, type),
                                      NUMBER(profile_instant, time_ns),
                                      NUMBER(profile_instant, value)}},
    [SPROFILE_OFF_CPUS] = {.name = "off_cpus",
                           .row_bytes = sizeof(struct profile_off_cpu),
                           .n_fields = 5,
                           .fields = {FIELD(profile_off_cpu, thread, SPROFILE_THREADS),
                                      FIELD(profile_off_cpu, to_process, SPROFILE_TEXTS),
                                      NUMBER(profile_off_cpu, to_tid),
                                      NUMBER(profile_off_cpu, begin_ns),
                                      NUMBER(profile_off_cpu, end_ns)}},
    [SPROFILE_BOOKMARKS] = {.name = "bookmarks",
                            .row_bytes = sizeof(struct profile_bookmark),
                            .n_fields = 3,
                            .fields = {FIELD(profile_bookmark, text, SPROFILE_TEXTS),
                                       NUMBER(profile_bookmark, color),
                                       NUMBER(profile_bookmark, time_ns)}},
};

void sprofile_gather(const void *rows, size_t row_bytes, const struct sprofile_field *field,
                     size_t n, uint64_t *numbers)
{
    const uint8_t *at = (const uint8_t *)rows + field->offset;
    if (field->size_bytes == sizeof(uint64_t)) {
        for (size_t i = 0; i < n; i++, at += row_bytes)
            memcpy(&numbers[i], at, sizeof numbers[i]);
        return;
    }
    for (size_t i = 0; i < n; i++, at += row_bytes) {
        uint32_t number;
        memcpy(&number, at, sizeof number);
        numbers[i] = number;
    }
}

void sprofile_scatter(const uint64_t *numbers, const struct sprofile_field *field, size_t n,
                      void *rows, size_t row_bytes)
{
    uint8_t *at = (uint8_t *)rows + field->offset;
    if (field->size_bytes == sizeof(uint64_t)) {
        for (size_t i = 0; i < n; i++, at += row_bytes)
            memcpy(at, &numbers[i], sizeof numbers[i]);
        return;
    }
    for (size_t i = 0; i < n; i++, at += row_bytes) {
        uint32_t number = (uint32_t)numbers[i];
        memcpy(at, &number, sizeof number);
    }
}
