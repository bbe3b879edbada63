/* descriptors.h - the table of descriptors of a .prof file in the making: one for each function
 * and type of record, in the order they are first needed. The file has the table in front of the
 * blocks, so it is complete only after a first pass (write.c). */
#ifndef SAMPLER_EASYPROFILER_DESCRIPTORS_H
#define SAMPLER_EASYPROFILER_DESCRIPTORS_H

#include "formats/easyprofiler/easyprofiler.h"
#include "formats/easyprofiler/record.h"

#define EASYPROFILER_N_TYPES 3

/* In place of a function: stands for frames left out. */
#define EASYPROFILER_OMITTED UINT32_MAX

struct easyprofiler_descriptor_row {
    uint32_t function; /* or EASYPROFILER_OMITTED */
    enum easyprofiler_type type;
};
VECTOR_DEFINE(easyprofiler_descriptor_rows, struct easyprofiler_descriptor_row)

struct easyprofiler_descriptors {
    const struct profile *profile; /* borrowed */
    struct easyprofiler_descriptor_rows
        rows; /* no_memory: one of easyprofiler_descriptor_of had no place */
    uint32_t *numbers[EASYPROFILER_N_TYPES]; /* by type and function: number in the table + 1 */
    uint32_t omitted_number;                 /* the same for EASYPROFILER_OMITTED             */
};

/* False when out of memory; the deinit is then still due. */
MUST_CHECK bool easyprofiler_descriptors_init(struct easyprofiler_descriptors *table,
                                              const struct profile *profile);
void easyprofiler_descriptors_deinit(struct easyprofiler_descriptors *table);

/* The position in the table, added when it is seen first. */
uint32_t easyprofiler_descriptor_of(struct easyprofiler_descriptors *table, uint32_t function,
                                    enum easyprofiler_type type);

/* Writes (or counts) all of them. */
void easyprofiler_put_descriptors(const struct easyprofiler_descriptors *table,
                                  struct easyprofiler_records *records);

#endif
