/* collect.h - a real NYTProf stream read for a profile: the sums of formats/nytprof/content.h, and
 * what of the single records matters besides.
 *
 * Weights are in the profile's unit: ns, or what our own writer noted. */
#ifndef SAMPLER_OUTPUT_FORMATS_NYTPROF_READ_COLLECT_H
#define SAMPLER_OUTPUT_FORMATS_NYTPROF_READ_COLLECT_H

#include "formats/nytprof/content.h"
#include "model/profile.h"

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

struct nytprof_collection {
    struct nytprof_content content;
    struct profile_builder *builder;
    struct array returns;         /* of struct nytprof_return                              */
    struct array sections;        /* of struct nytprof_section: one before the first `P`   */
    struct array flats;           /* of struct nytprof_flat                               */
    struct nytprof_map flat_rows; /* (section, fid:line)                          */
    struct nytprof_map names;     /* (name of a sub, 0) -> text of the builder    */
    struct nytprof_map lines;     /* (name of a sub, 0) -> first line             */
    struct nytprof_map files;     /* (fid, 0) -> text of the builder              */
    bool is_ours;
    bool keeps_lines; /* in files of ours too */
    enum profile_unit unit;
    uint64_t ns_per_unit;
    bool has_profile;
    uint32_t n_processes; /* id of the last added by a comment of ours              */
    uint32_t n_threads;
    struct {
        uint32_t process;
        uint32_t thread;
        uint64_t time_ns;
    } base;                 /* what the comments' numbers are counted from */
    uint64_t n_bad_weights; /* negative, no number                                  */

    /* waiting for the record they belong to */
    struct array buffer; /* of char */
    uint32_t pending_name, pending_file, metadata_key;
    bool has_name, has_file, has_line, has_self;
    uint64_t pending_line, pending_self;
};

MUST_CHECK bool nytprof_collect(const uint8_t *data, size_t size_bytes, bool keeps_lines,
                                struct profile_builder *builder,
                                struct nytprof_collection *collection, struct err *err);
void nytprof_collection_deinit(struct nytprof_collection *collection); /* in every case */

/* Whether this is a file of ours that was cut, which nytprof_collect should read once more and keep
 * lines. */
bool nytprof_collection_needs_lines(const struct nytprof_collection *collection);

/* Seconds as a weight; what is negative or no number is counted and 0. */
uint64_t nytprof_seconds_weight(struct nytprof_collection *collection, double seconds);

#endif
