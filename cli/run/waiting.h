/* waiting.h - until the processes that a command left running (members.h) have ended, as their work
 * is what is to be measured. */
#ifndef SAMPLER_CLI_WAITING_H
#define SAMPLER_CLI_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "run/child.h"
#include "run/members.h"

struct waiting {
    struct members_run run;
    const struct child_guard *guard;
    uint64_t
        until_ns; /* when it is in vain, on CLOCK_MONOTONIC: nothing is sampled any more. 0: never */
    bool is_quiet;        /* does not say whom it waits for */
    const char *own_name; /* for what it says */
};

/* Waits until none is left, until SIGINT, SIGQUIT, SIGTERM or SIGHUP comes, or it is in vain. Says
 * whom it waits for, unless that is over soon. False when some still run. */
bool wait_for_members(const struct waiting *waiting);

/* The same without waiting. */
bool members_have_ended(const struct waiting *waiting);

#endif
