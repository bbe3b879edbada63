/* account.h - what a profile does and does not explain; the closing line and what is said per
 * module.
 *
 *   5 991 samples, 998/s of 999/s asked (perf task-clock); 6.00 of 6.01 s CPU explained (99.8 %);
 *   lost 0
 *
 * Filled by profile_build (build.h); several recordings add up. Texts belong to the account. */
#ifndef SAMPLER_ACCOUNT_H
#define SAMPLER_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "array.h"
#include "module.h"
#include "recording.h"

struct account_module {
    const char *path;
    const char *problem; /* "" if there is none                        */
    enum module_source source;
    uint64_t self_ns; /* weight with this module's code as leaf     */
    bool is_image;    /* the vdso: its exported names are all it has */
};

struct account {
    struct arena *arena;
    struct array modules;  /* struct account_module, the heaviest first  */
    uint64_t n_samples;    /* credits do not count                       */
    uint64_t weight_ns;    /* of all samples and credits                 */
    uint64_t cut_ns;       /* of them in stacks that are not complete    */
    uint64_t cpu_ns;       /* the processes used while sampling was on, start-up included */
    uint64_t length_ns;    /* how long the processes were there                          */
    uint64_t stopped_ns;   /* of that, while sampling was stopped                        */
    uint64_t start_up_ns;  /* of them, before sampling began; also in weight_ns */
    bool cpu_known;        /* of every process                           */
    uint64_t lost;         /* grid steps, all reasons                    */
    uint32_t frequency_hz; /* as asked                                   */
    size_t n_processes;
    size_t n_threads;
    size_t n_threads_missed; /* seen, but without a clock                  */
    size_t n_perf;           /* threads by the clock they got              */
    size_t n_perf_user;
    size_t n_timer;
    size_t n_unended;  /* recordings without an end: killed, running */
    size_t n_warnings; /* about damaged recordings                   */
};

bool account_init(struct account *account); /* false: out of memory */
void account_deinit(struct account *account);

/* Adds a recording's header, threads and samples. False: out of memory, nothing was added. */
bool account_add_recording(struct account *account, const struct recording *recording);

/* Adds CPU time used before a recording began, which is explained as start-up (build.h). */
void account_add_start_up(struct account *account, uint64_t cpu_ns);

/* Adds the numbers of another account; its modules are left out. */
void account_add_totals(struct account *account, const struct account *other);

/* Where the recordings do not tell the CPU used (no end mark): what the caller knows, say from
 * getrusage of the child. 0 = nothing known. */
void account_set_cpu(struct account *account, uint64_t cpu_ns);

/* The line without "sampler: ", cut to the buffer. `wrote` ("a.folded, b.folded") may be NULL.
 * Returns `out`. */
const char *account_format(const struct account *account, const char *wrote, char *out,
                           size_t out_bytes);

/* Calls `tell` with one line for each module that makes a difference, when more than 5 % of the
 * weight is in modules without debug information; with nothing otherwise. */
void account_tell_missing(const struct account *account,
                          void (*tell)(void *context, const char *line), void *context);

#endif
