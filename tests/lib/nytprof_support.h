/* nytprof_support.h - what the tests of both NYTProf formats share: files, JSON compared by value,
 * profiles compared by what a format keeps. */
#ifndef SAMPLER_TESTS_NYTPROF_SUPPORT_H
#define SAMPLER_TESTS_NYTPROF_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format_help.h"

/* Calls `check` for each "NAME.nytprof" of a folder, with the path without ".nytprof", in order of
 * names; returns how many there were (0 also when there is no such folder). */
size_t each_nytprof(const char *folder, void (*check)(const char *base));

/* The folder of shared sample files if there is one (environment SAMPLER_SHARED, or ../shared
 * beside the source), with `part` behind; else NULL. */
const char *shared_corpus(const char *part);

/* Dumps BASE.nytprof and compares with BASE.expected.json: all members but the file's name, what
 * another reader said of the file, and members that were left out there. */
void check_dump(const char *base);

/* Every sample as a line "process/thread: root;...;leaf = weight", equal lines added up, sorted;
 * names as "NAME FILE:LINE". To be freed. */
char *describe_samples(const struct profile *profile, uint32_t kind);

/* What is left of a profile that went through a real NYTProf file, made from what docs/formats/nytprof.md says is kept
 * and not from the code that writes: weights of `kind` in ns (`unit_ns` each), a process for each thread with samples,
 * no names of threads, no samples without a stack, stacks cut at 96, names as Perl's tools take them, no lines beyond
 * 32767. `command`: of all processes. */
struct profile *make_kept(const struct profile *in, uint32_t kind, uint64_t unit_ns,
                          const char *command);

/* Fails unless both have the same weights by thread and stack, each to one tick. Weights of less than a tick may be
 * missing: they have no call. */
void check_same_samples(const struct profile *got, const struct profile *want, uint64_t tick_ns);

/* Runs a command of Perl's tools on a file and fails unless it exits with 0 and says nothing on
 * stderr but its progress. False when the command is not installed. */
bool check_tool(const char *command, const char *path);

#endif
