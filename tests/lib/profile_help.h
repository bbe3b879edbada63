/* profile_help.h - small profiles for tests, built in a line or two. */
#ifndef SAMPLER_TESTS_PROFILE_HELP_H
#define SAMPLER_TESTS_PROFILE_HELP_H

#include "model/profile.h"

/* A builder with one kind of that unit, named "n". */
struct profile_builder *builder_make(enum profile_unit unit, uint64_t period);
struct profile *builder_finish(struct profile_builder *builder);

/* The stack of "a;b;c". */
uint32_t folded_stack(struct profile_builder *builder, const char *folded);

/* The stack of "module/name:line;module/name"; lines of one digit may be left out, and a name that
 * begins with 'i' is idle. */
uint32_t module_stack(struct profile_builder *builder, const char *frames);

/* A run sampled every ms without times, of "stack ms stack ms": a sample for each ms. The text is its metadata
 * "command". */
struct profile *run_of_folded(const char *folded);

/* A thread `tid` called `name` of a new process `pid` called `process`. */
uint32_t thread_add(struct profile_builder *builder, const char *process, uint64_t pid,
                    const char *name, uint64_t tid);

void sample_add(struct profile_builder *builder, uint32_t thread, const char *folded,
                uint64_t time_ns, uint64_t value);
void span_add(struct profile_builder *builder, uint32_t thread, const char *name, uint64_t begin_ns,
              uint64_t end_ns);

#endif
