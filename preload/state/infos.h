/* infos.h - what people ask about a recorded process, as INFO records: command, program, folder, host.
 *
 *   infos_begin   at the start of a recording: the command, which the program may write over
 *   infos_put     with the first sample: all else, which takes calls that look things up in /proc and
 *                 cost a short process as much as its clock
 *   infos_end     at the end, for a process without a sample: the path it was executed by
 *
 * Context    infos_set_arguments SETUP; infos_begin SETUP, HOOK; infos_put any; infos_are_put HOOK;
 *            infos_end HOOK, EXIT. The caller owns the stream. */
#ifndef SAMPLER_INFOS_H
#define SAMPLER_INFOS_H

#include <stdbool.h>

#include "record/stream.h"
#include "sys/context.h"

/* What main gets, where the constructor got it too: the command is read from there. */
void infos_set_arguments(int argc, char *const argv[]);

void infos_begin(struct stream *stream);

/* Puts what can be found out; what cannot is left out. The first call since infos_begin does, later
 * ones do nothing. */
SIGNAL_SAFE void infos_put(struct stream *stream);

/* Whether infos_put has been called since infos_begin. */
bool infos_are_put(void);

/* In place of infos_put, where that was not called; it still may be, should the process go on. */
void infos_end(struct stream *stream);

#endif
