/* unwind_work.h - code whose stacks are awkward to unwind, one function per kind.
 *
 * Built with -O2 -fomit-frame-pointer. Each runs for some tens of milliseconds per round and
 * returns a number that depends on all it did. */
#ifndef SAMPLER_TESTS_UNWIND_WORK_H
#define SAMPLER_TESTS_UNWIND_WORK_H

#include <cstdint>

struct unwind_work {
    const char *name;
    uint64_t (*run)(unsigned n);
};

/* Ends with a null name. */
extern const unwind_work unwind_works[];

#endif
