/* unwind_check.h - what libsampler_check.so leaves in the file SAMPLER_CHECK_FILE names: every
 * sample of a real program unwound by our engine and by libunwind, counted by how the two stacks
 * compare.
 *
 * The file is shared by all threads and processes of the run and grows by atomic additions only.
 * Read by bench_unwind.py: change both. */
#ifndef SAMPLER_TESTS_UNWIND_CHECK_H
#define SAMPLER_TESTS_UNWIND_CHECK_H

#include <stdint.h>

#define UNWIND_CHECK_CUTS 8u
#define UNWIND_CHECK_BINS 256u
#define UNWIND_CHECK_KINDS 2048u
#define UNWIND_CHECK_NAME_BYTES 48u

/* A place in the code, as a person can look it up. */
struct unwind_check_place {
    uint64_t offset;                      /* pc - bias, or the pc in no module */
    char module[UNWIND_CHECK_NAME_BYTES]; /* last part of the path, "" = none  */
};

/* Stacks that are not equal, or cut, all at the same place in the same way. */
struct unwind_check_kind {
    uint32_t n;
    uint32_t outcome; /* enum unwind_check_outcome           */
    uint32_t cut;     /* ours                                */
    uint32_t n_ours;  /* depths of the first one of the kind */
    uint32_t n_theirs;
    uint32_t at; /* frames both have                    */
    struct unwind_check_place leaf;
    struct unwind_check_place last; /* the outermost frame both have */
    struct unwind_check_place ours; /* where they part; ours: 0 = ended */
    struct unwind_check_place theirs;
    uint64_t key; /* 0 = free */
};

enum unwind_check_outcome {
    UNWIND_CHECK_EQUAL,       /* frame by frame, and complete                   */
    UNWIND_CHECK_EQUAL_CUT,   /* frame by frame, but not up to the start        */
    UNWIND_CHECK_OURS,        /* ours reaches the start, theirs does not        */
    UNWIND_CHECK_THEIRS,      /* theirs reaches the start, ours does not        */
    UNWIND_CHECK_BOTH_DIFFER, /* both reach the start by different ways         */
    UNWIND_CHECK_NONE_DIFFER, /* neither does                                   */
    UNWIND_CHECK_SKIPPED,     /* both reach the start, but theirs skips one frame, the leaf's
                                 caller: where the leaf has no rows                   */
    UNWIND_CHECK_OUTCOMES,
};

struct unwind_check {
    uint64_t n_samples;
    uint64_t n_busy;        /* not compared: another thread was at it              */
    uint64_t n_crashed;     /* libunwind read memory that is not there             */
    uint64_t n_reuse_wrong; /* reuse brought another stack than a walk from scratch */
    uint64_t n_outcome[UNWIND_CHECK_OUTCOMES];
    uint64_t n_cut[UNWIND_CHECK_CUTS]; /* ours, by enum capture_cut                  */
    uint64_t n_frames;
    uint64_t walk_ns_bins[UNWIND_CHECK_BINS]; /* time of our walk, eight bins to a doubling */
    uint64_t n_kinds_full;
    struct unwind_check_kind kinds[UNWIND_CHECK_KINDS];
};

#endif
