/* start_up.h - what processes used before their recordings began: the kernel's exec and the dynamic
 * loader, or the kernel's part of a fork, which no tick can reach. */
#ifndef SAMPLER_RECORDING_START_UP_H
#define SAMPLER_RECORDING_START_UP_H

#include "recording/recording.h"

/* Fills `out` with the CPU time of each of the `n` recordings, in nanoseconds. What an earlier program
 * of the same process used (exec) is in its own recording; so the recordings of a process belong
 * into one call. False when out of memory. */
MUST_CHECK bool start_ups_find(const struct recording *const *recordings, size_t n, uint64_t *out);

#endif
