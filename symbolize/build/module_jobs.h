/* module_jobs.h - the names of addresses in several modules, side by side.
 *
 * Modules have nothing in common but the sources, so each is a job by itself: as many are done at a time
 * as there are processors. What comes out does not depend on how many that is. */
#ifndef SAMPLER_BUILD_MODULE_JOBS_H
#define SAMPLER_BUILD_MODULE_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "names/module.h"

struct module_job {
    const struct recording_module *module;
    const uint64_t *vaddrs; /* sorted and distinct */
    size_t n_vaddrs;
    struct module_symbols *symbols; /* NULL; the caller's when it is done */
    bool is_light;                  /* too little is spent there to fetch anything for it */
};

/* False: out of memory; what was done until then is there. */
MUST_CHECK bool module_jobs_run(struct module_job *const *jobs, size_t n,
                                const struct symbol_sources *sources, struct err *err);

#endif
