/* members.h - the processes of a run that have not ended: daemons, and what a shell left in the
 * background.
 *
 * A process is one of the run's where its recording lies in the run's folder and has no end. One that
 * had no sample yet has no file, and is known by what it was started with: the run's folder in its
 * environment, and the library in its memory. A server that overwrites its environment before its
 * first sample is not seen.
 *
 * A process that is not recorded (a static program, say) is none of them: nothing of it is missed. */
#ifndef SAMPLER_CLI_MEMBERS_H
#define SAMPLER_CLI_MEMBERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "vector.h"

VECTOR_DEFINE(pids, pid_t)

struct members_run {
    const char *folder; /* of the recordings */
    pid_t command;
    uint64_t start_ns; /* of the command, on CLOCK_MONOTONIC */
};

/* Adds those that run at the moment to `out`; what cannot be read is taken for none. Returns how many
 * more may be about to join them: they are of the run, and have not loaded the library yet. */
size_t members_find(const struct members_run *run, struct pids *out);

/* Puts the process's name into `out`, "?" when it has none any more. */
void member_name(pid_t pid, char *out, size_t out_bytes);

#endif
