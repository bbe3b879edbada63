/* process_exits.h - what the kernel used to remove each process of a run: its memory, its files. No
 * sample can be of it, and the process's own last word is before it; who waited for the process has
 * it in a figure (whole.c). */
#ifndef SAMPLER_ACCOUNT_PROCESS_EXITS_H
#define SAMPLER_ACCOUNT_PROCESS_EXITS_H

#include <stdbool.h>

#include "err.h"
#include "recording/recording.h"

/* Fills facts.process_exit_ns of the recordings of a run, as far as it is known; `pid` and `cpu_ns` of
 * the command as for account_set_run. False: out of memory. */
MUST_CHECK bool process_exits_find(struct recording *const *recordings, size_t n, uint64_t pid,
                                   uint64_t cpu_ns);

#endif
