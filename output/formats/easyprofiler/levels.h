/* levels.h - how deep the tree of blocks gets while a thread's blocks are written.
 *
 * Two counts. Upwards, in the profile: how many levels of spans a closing span has, for the choice
 * of what a too deep chain leaves out. And in the file: what EasyProfiler's reader will make of the
 * blocks so far; it refuses a file with more than EASYPROFILER_MAX_LEVELS, and spans that cross
 * each other become chains there, whatever the profile says. */
#ifndef SAMPLER_EASYPROFILER_LEVELS_H
#define SAMPLER_EASYPROFILER_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/easyprofiler/easyprofiler.h"

/* A block without a parent so far. */
struct easyprofiler_root {
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t n_levels;
};

struct easyprofiler_levels {
    struct easyprofiler_root roots[EASYPROFILER_MAX_LEVELS + 1]; /* n_levels decreases */
    uint32_t n_roots;
    struct ids below;    /* levels of closed children, by depth of the open span */
    uint64_t n_crossing; /* blocks raised or refused by admit                              */
};

void easyprofiler_levels_init(struct easyprofiler_levels *levels);
void easyprofiler_levels_deinit(struct easyprofiler_levels *levels);

/* A new thread begins. */
void easyprofiler_levels_begin(struct easyprofiler_levels *levels);

/* A span at `depth` (from 0) closes, with an event in it or not. Its levels, itself and the event
 * included. False when out of memory. */
MUST_CHECK bool easyprofiler_levels_close(struct easyprofiler_levels *levels, uint32_t depth,
                                          bool has_event, uint32_t *n_levels);

/* A block is about to be written. False: it would make the file unreadable and has to be left out.
 * *begin_ns may be raised, so that the block follows what it would have enclosed. */
MUST_CHECK bool easyprofiler_levels_admit(struct easyprofiler_levels *levels, uint64_t *begin_ns,
                                          uint64_t end_ns);

#endif
