/* nytprof_profiles.h - profiles that the tests of both NYTProf formats write. */
#ifndef SAMPLER_TESTS_NYTPROF_PROFILES_H
#define SAMPLER_TESTS_NYTPROF_PROFILES_H

#include "model/profile.h"

/* A profile as a real recording gives it: three threads of two processes, inlined frames,
 * recursion, names with all that names may have, objects with and without files. */
struct profile *make_real_profile(void);
/* Another run of the same program. */
struct profile *make_other_real_profile(uint32_t run);
struct profile *make_empty_profile(void);

/* One kind, one thread, one stack: `depth` frames of `main` and of two functions that call each
 * other. */
struct profile *make_profile(enum profile_unit unit, uint64_t period, uint32_t depth,
                             const uint64_t *weights, size_t n_weights);

#endif
