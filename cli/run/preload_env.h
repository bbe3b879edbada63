/* preload_env.h - the environment that puts libsampler.so into a program and tells it what to do:
 * LD_PRELOAD, the options that are for the library (option_table.c), and where recordings go. */
#ifndef SAMPLER_CLI_PRELOAD_ENV_H
#define SAMPLER_CLI_PRELOAD_ENV_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "options/options.h"
#include "sanitizer.h"

struct preload_env {
    const struct options *options;
    char library[PATH_MAX];             /* absolute path of libsampler.so           */
    char recording_dir[PATH_MAX];       /* absolute; recordings appear in it        */
    char others_dir[PATH_MAX];          /* those of other users; "" = none          */
    char runtime[SANITIZER_NAME_BYTES]; /* to be loaded before ours, "" = none      */
    uint64_t since_ns;                  /* when the run begins, on CLOCK_MONOTONIC: --delay and
                                         * --duration count from there for all its processes */
};

/* Finds libsampler.so: ../lib/ seen from our own executable, or the library folder of an installed
 * tree. Fails when there is none, or when LD_PRELOAD cannot name it (a blank or colon in its path).
 */
MUST_CHECK bool preload_find(struct preload_env *env, struct err *err);

/* Sets LD_PRELOAD (ours first, or after a sanitizer's runtime; what is there kept) and the SAMPLER_
 * variables of this process: to be called in the child that becomes the program. False with errno
 * when out of memory. */
bool preload_env_set(const struct preload_env *env);

/* Takes every libsampler.so out of LD_PRELOAD of this process, which may itself run under a
 * profiler: for a child that is none of the program's. False when out of memory. */
bool preload_env_leave(void);

#endif
