/* summary.h - self and total weight per function, line, thread and so on: what `sampler top` shows.
 *
 * self   weight of samples with the entry at the leaf
 * total  weight of samples with the entry anywhere, counted once per stack however often it recurs
 *
 * A thread, a process, a command and a label are of a whole sample and not of its frames: their
 * self is their total.
 *
 * Weights, and what is idle, are those of weighing.h. A profile of spans is taken by self times. */
#ifndef SAMPLER_SUMMARY_H
#define SAMPLER_SUMMARY_H

#include "fold/weighing.h"
#include "model/profile.h"

enum summary_by {
    SUMMARY_BY_FUNCTION,
    SUMMARY_BY_LINE,   /* of source, within a function */
    SUMMARY_BY_FILE,   /* of source                    */
    SUMMARY_BY_MODULE, /* program or library           */
    SUMMARY_BY_THREAD,
    SUMMARY_BY_PROCESS,
    SUMMARY_BY_COMMAND, /* processes of one name          */
    SUMMARY_BY_LABEL    /* of the program's work (sampler.h) */
};

/* What a row is about. Ids are those of the profile given. */
struct summary_key {
    uint32_t id;   /* function (also by line, and of a label), text (of a file or command), module,
                    thread or process; 0 = none */
    uint32_t line; /* by line: the executed one; 0 = unknown */
    uint32_t file; /* by line: text, of the line; 0 = that of the function */
    uint32_t reserved; /* 0 */
};

struct summary_row {
    uint64_t self;
    uint64_t total;
    struct summary_key key;
};

struct summary {
    struct summary_row *rows; /* most self first, then most total, then by id and line */
    size_t n;
    struct weighed weighed;
};

/* What the row of a frame is about; `by` is not of whole samples. */
struct summary_key summary_frame_key(const struct profile *profile, enum summary_by by,
                                     uint32_t frame);

/* The caller gives it back with summary_deinit. */
MUST_CHECK bool summary_init(struct summary *summary, const struct profile *profile,
                             enum summary_by by, struct err *err);
void summary_deinit(struct summary *summary);

/* Puts the rows with most total first instead. */
void summary_sort_by_total(struct summary *summary);

/* Whether the profile holds what the rows would be about: without, there is hardly more than one
 * row, "[unknown]", which tells nobody anything. Functions it always has. */
bool summary_is_known(const struct profile *profile, enum summary_by by);

/* Whether rows are about a whole sample: self and total are the same. */
static inline bool summary_is_of_samples(enum summary_by by)
{
    return by >= SUMMARY_BY_THREAD;
}

/* What people read for a row: a name or a path; never empty. */
struct text summary_row_name(const struct profile *profile, enum summary_by by,
                             struct summary_key key);

/* The number that tells rows of one name apart: tid or pid; 0 = none. */
uint64_t summary_row_number(const struct profile *profile, enum summary_by by,
                            struct summary_key key);

#endif
