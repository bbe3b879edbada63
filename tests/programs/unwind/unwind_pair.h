/* unwind_pair.h - one sample walked by the table engine and by libunwind, compared frame by frame.
 *
 * Context: init outside, sample in the handler of one thread; the counts are read when no sample
 * can come, or roughly. */
#ifndef SAMPLER_TESTS_UNWIND_PAIR_H
#define SAMPLER_TESTS_UNWIND_PAIR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct unwind_difference {
    uint64_t pc_leaf;
    uint64_t pc_before; /* the last frame both have                      */
    uint64_t pc_ours;   /* the first frames that differ; 0: stack ended  */
    uint64_t pc_theirs;
    uint32_t at; /* how many frames both have                     */
    uint32_t n_ours;
    uint32_t n_theirs;
    uint32_t cut_ours;
    int exact;   /* the last common frame was interrupted         */
    int crashed; /* libunwind read memory that is not there       */
};

#define UNWIND_DIFFERENCES_MAX 400u

struct unwind_pair {
    unsigned n_samples;
    unsigned n_equal;
    unsigned n_complete; /* by our account          */
    unsigned n_further;  /* theirs end where ours go on to the program's start; over all resets */
    unsigned n_worse;    /* theirs reach the program's start, ours do not; over all resets  */
    unsigned n_reuse_wrong; /* reuse brought another result than a fresh walk; over all resets */
    uint64_t n_frames;      /* ours, of all samples                                            */
    uint64_t n_same;        /* of them, told to be the same as in the previous sample          */
    unsigned n_cut[8];      /* by enum capture_cut, 0 = complete */
    uint64_t pc_cut[8];     /* the outermost frame of the last one of each */
    unsigned n_differences; /* kept, over all resets */
    struct unwind_difference differences[UNWIND_DIFFERENCES_MAX];
};
extern struct unwind_pair unwind_pair;

/* False, with the reason, when libunwind cannot be had. */
int unwind_pair_init(const char **why);
void unwind_pair_reset(void); /* the counts; differences stay */
void unwind_pair_sample(const void *context);

#ifdef __cplusplus
}
#endif

#endif
