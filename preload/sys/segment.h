/* segment.h - the loaded segments of one ELF file: what of its mapped range may be read or
 * executed.
 *
 * Between two segments of a module lie gaps that are not readable, so its mapped range alone does
 * not permit following a pointer found in its tables.
 *
 * Context    SIGNAL. */
#ifndef SAMPLER_SEGMENT_H
#define SAMPLER_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "sys/context.h"

#define SEGMENTS_MAX 8u
#define SEGMENT_EXECUTE 1u /* values of PF_X and PF_R */
#define SEGMENT_READ 4u

struct segment {
    uint64_t start; /* addresses, half-open */
    uint64_t end;
    uint64_t flags; /* no padding: compared as bytes */
};

struct segments {
    uint64_t n; /* <= SEGMENTS_MAX */
    struct segment segment[SEGMENTS_MAX];
};

/* The one place where an address becomes a pointer. The caller knows that it may be read, or passes
 * it to the kernel. */
SIGNAL_SAFE static inline void *address_pointer(uint64_t address)
{
    return (void *)address; // NOLINT(performance-no-int-to-ptr): addresses are what this is about
}

/* Bytes from `address` to the end of the segment it lies in, if that has all of `flags`; else 0. */
SIGNAL_SAFE static inline size_t segments_left(const struct segments *segments, uint64_t address,
                                               uint64_t flags)
{
    for (uint64_t i = 0; i < segments->n; i++) {
        const struct segment *s = &segments->segment[i];
        if (address >= s->start && address < s->end)
            return (s->flags & flags) == flags ? s->end - address : 0;
    }
    return 0;
}

#endif
