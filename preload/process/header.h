/* header.h - what a recording states about its process: its header page, and INFO records.
 *
 * The header has what every reader needs (ids, period, clocks at the start); the records have what
 * people ask about (command, folder, host, unwinder, event). Counters and the end are written where
 * they happen.
 *
 * Context    SETUP; HOOK in a forked child. */
#ifndef SAMPLER_HEADER_H
#define SAMPLER_HEADER_H

#include "capture.h"
#include "record/stream.h"

/* What main gets, where the constructor got it too: the command is read from there. */
void header_set_arguments(int argc, char *const argv[]);

/* A recording's first bytes, as of now; start_cpu_ns is the field of that name. session.pid and the
 * settings are set. */
struct capture_header header_of_process(uint64_t start_cpu_ns);

/* Puts what can be found out into `stream`, which the caller owns; what cannot is left out. */
void header_put_infos(struct stream *stream);

#endif
