/* collect.h - a real NYTProf stream read for a profile: the sums of content.h, and what of the single records matters
 * besides: calls in their order, times of lines by process.
 *
 * Weights are in ns. A file of ours is marked by comments: `#sampler names=1` says that names of subs are as name.h
 * makes them and can be undone, `#sampler whole` that the name of the next sub is the function's own. Older files of
 * ours have more of such comments, with threads, units and exact weights; that was a second format inside the first which
 * no other software reads, so they are comments like any other now. */
#ifndef SAMPLER_NYTPROF_COLLECT_H
#define SAMPLER_NYTPROF_COLLECT_H

#include "formats/nytprof/content.h"
#include "model/profile.h"

#define NYTPROF_MARK_NAMES "sampler names=1"
#define NYTPROF_MARK_WHOLE "sampler whole"

/* The application when nobody knows it: Perl's tools complain of none. */
#define NYTPROF_NO_COMMAND "unknown"

/* One `<`, in the order of the file: calls before their caller. */
struct nytprof_return {
    uint32_t depth;
    uint32_t name;   /* text of the content */
    uint64_t weight; /* own                 */
};

/* What lies between two `P`: a process, in files of ours a thread. The first is what comes before
 * the first `P`, so process i of the content is section i + 1. */
struct nytprof_section {
    size_t first_return;
    uint32_t thread; /* of the profile; 0 = none known (yet) */
};

/* Time of a line within a section. Not collected of files of ours, where calls say all; but of one
 * that was cut, those of the sections whose calls are missing. */
struct nytprof_flat {
    uint32_t section;
    uint32_t fid;
    uint32_t line;
    double seconds;
};

VECTOR_DEFINE(nytprof_returns, struct nytprof_return)
VECTOR_DEFINE(nytprof_sections, struct nytprof_section)
VECTOR_DEFINE(nytprof_flats, struct nytprof_flat)

struct nytprof_collection {
    struct nytprof_content content;
    struct nytprof_returns returns;
    struct nytprof_sections sections; /* one before the first `P`             */
    struct nytprof_flats flats;
    struct map flat_rows; /* (section, fid:line)                              */
    struct map whole;     /* (name of a sub, 0): marked as whole              */
    bool is_ours;
    bool keeps_lines;       /* in files of ours too                           */
    bool next_is_whole;     /* the mark waits for its sub                     */
    uint64_t n_bad_weights; /* negative, no number                            */
};

MUST_CHECK bool nytprof_collect(const uint8_t *data, size_t size_bytes, bool keeps_lines,
                                struct nytprof_collection *collection, struct err *err);
void nytprof_collection_deinit(struct nytprof_collection *collection); /* in every case */

/* Whether this is a file of ours that was cut, which nytprof_collect should read once more and keep
 * lines. */
bool nytprof_collection_needs_lines(const struct nytprof_collection *collection);

/* Seconds as a weight; what is negative or no number is counted and 0. */
uint64_t nytprof_seconds_weight(struct nytprof_collection *collection, double seconds);

#endif
