/* running.h - recorded processes that still run when the report is made: daemons, and what a killed
 * sampler-run left behind. Their recordings have no end, but their CPU time up to now can be had
 * from the kernel. */
#ifndef SAMPLER_CLI_RUNNING_H
#define SAMPLER_CLI_RUNNING_H

#include <stdbool.h>

#include "recording/recording.h"

/* Whether the process of a recording without an end still runs: that process, not another that has
 * its number by now. Then its CPU time is noted (recording_note_running). */
bool running_find(struct recording *recording);

#endif
