/* nytprof_support.h - what the tests of both NYTProf formats share: files, JSON compared by value,
 * profiles compared by what a format keeps. */
#ifndef SAMPLER_TESTS_NYTPROF_SUPPORT_H
#define SAMPLER_TESTS_NYTPROF_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format.h"

struct file_bytes {
    uint8_t *data; /* allocated as large as the file, so that a sanitizer sees the byte behind */
    size_t size_bytes;
};

/* Fails the test when the file cannot be read. */
struct file_bytes file_load(const char *path);
struct file_bytes file_part(const struct file_bytes *file, size_t size_bytes);
void file_free(struct file_bytes *file);

/* Calls `check` for each "NAME.nytprof" of a folder, with the path without ".nytprof", in order of
 * names; returns how many there were (0 also when there is no such folder). */
size_t each_nytprof(const char *folder, void (*check)(const char *base));

/* The folder of shared sample files if there is one (environment SAMPLER_SHARED, or ../shared
 * beside the source), with `part` behind; else NULL. */
const char *shared_corpus(const char *part);

/* Dumps BASE.nytprof and compares with BASE.expected.json: all members but the file's name, what
 * another reader said of the file, and members that were left out there. */
void check_dump(const char *base);

/* Counts notes; the last one is kept. */
struct note_log {
    unsigned n;
    char last[512];
};
struct format_notes note_log_notes(struct note_log *log);

bool read_bytes(const struct format *format, const struct file_bytes *file,
                const struct format_notes *notes, struct profile **out, struct err *err);
bool dump_bytes(const struct format *format, const struct file_bytes *file, struct err *err);

/* Writes a profile into memory. */
struct file_bytes write_bytes(const struct format *format, const struct profile *profile,
                              const struct format_options *options);

/* Every sample as a line "process/thread: root;...;leaf = weight", equal lines added up, sorted;
 * names as "NAME FILE:LINE". To be freed. */
char *describe_samples(const struct profile *profile, uint32_t kind);

/* Runs a command of Perl's tools on a file and fails unless it exits with 0 and says nothing on
 * stderr but its progress. False when the command is not installed. */
bool check_tool(const char *command, const char *path);

/* A profile as a real recording gives it: three threads of two processes, inlined frames,
 * recursion, names with all that names may have, objects with and without files. */
struct profile *make_real_profile(void);
struct profile *make_empty_profile(void);

/* One kind, one thread, one stack: `depth` frames of `main` and of two functions that call each
 * other. */
struct profile *make_profile(enum profile_unit unit, uint64_t period, uint32_t depth,
                             const uint64_t *weights, size_t n_weights);

#endif
