/* build.h - recordings to a profile.
 *
 *   recordings (one per process) -> distinct addresses per module -> module.h -> frames
 *                                -> nodes   -> stacks
 *                                -> samples -> profile, account
 *
 * Kinds        "samples" (count: 1 per sample, 0 for credited weight) and "cpu" or "wall" (ns:
 *              steps * period); of kernel events one kind, the event.
 * Frames       An address with inlined functions gives several frames, all with its vaddr. Code
 *              without a name goes by where it begins, [libfoo.so+0x1230], code in no module is
 *              [anon], the unknown outer part of a stack [truncated: why]. Frames of libsampler.so
 *              itself are left out.
 * Start-up     What a process used before its recording began (exec, the dynamic loader) is a
 *              weight of its own, `_start;[start-up]`, so that the weights add up to the CPU time
 *              of the process. What the kernel used to remove a process after its last word is
 *              `_start;[process exit]`, where process_exits_find (account/process_exits.h) found it.
 * Threads      What libc and the kernel used to begin a thread is `clone3;[thread start]`, what
 *              threads used after the last record of their own, measured as the process's CPU time
 *              less its threads', `clone3;[thread exit]`. What our own code used in them there is
 *              left out, or `[sampler]` where that is asked for.
 * Memory       Proportional to the distinct frames and stacks, and the samples: an address is
 *              resolved once, however many stacks it is in, and a node mapped once.
 * Errors       Recordings that measure different things (ERR_USAGE); out of memory. A module
 *              whose names cannot be found is none: it shows in the account. */
#ifndef SAMPLER_BUILD_H
#define SAMPLER_BUILD_H

#include "account/account.h"
#include "err.h"
#include "model/profile.h"
#include "names/module.h"
#include "names/names.h"
#include "recording/recording.h"

struct build_options {
    enum names_mode names;
    bool own_cost;   /* our own code is in the profile, as [sampler]                */
    bool no_inlines; /* only the function of the symbol table for each address      */
    struct symbol_sources sources;
    uint64_t run_pid, run_cpu_ns; /* for account_set_run                                */
};

/* Borrows the recordings and the options. `account` is one that account_init made and nothing was
 * added to; it is filled whether or not the profile can be made. */
MUST_CHECK bool profile_build(const struct recording *const *recordings, size_t n,
                              const struct build_options *options, struct profile **out,
                              struct account *account, struct err *err);

#endif
