/* header.h - the header page of a recording: what every reader needs (ids, period, clocks at the
 * start). What people ask about is in INFO records (state/infos.h); counters and the end are written
 * where they happen.
 *
 * Context    SETUP; HOOK in a forked child. */
#ifndef SAMPLER_HEADER_H
#define SAMPLER_HEADER_H

#include "capture.h"

/* A recording's first bytes, as of now; start_cpu_ns is the field of that name. session.pid and the
 * settings are set. */
struct capture_header header_of_process(uint64_t start_cpu_ns);

#endif
