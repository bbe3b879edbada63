/* closing.h - the lines a run ends with. They are written for someone who reads no manual: what the
 * profile accounts for, what it does not and what to do about that, and what to type next.
 *
 *   accounts for 1.88 of 1.88 s CPU (100.0 %), 999 Hz; wrote app.7.folded, app.7.sprofile
 *   31.4 % is in libc.so.6 (exported names only); for lines ...: apt install libc6-dbg
 *   next: sampler top
 *
 * A share of a dozen samples is chance: with fewer than ACCOUNT_FEW_SAMPLES the line says so and
 * gives neither rate nor percentage, but where samples are few because most of the time was lost.
 *
 * Units and failure as in account.h; nothing here fails. Texts are cut to a line of 1 kB. */
#ifndef SAMPLER_ACCOUNT_CLOSING_H
#define SAMPLER_ACCOUNT_CLOSING_H

#include <stdbool.h>
#include <stddef.h>

#include "account/account.h"

#define ACCOUNT_FEW_SAMPLES 20u

/* How a profile came to hold what it holds. */
enum account_result {
    ACCOUNT_SAMPLED,     /* as much as anyone wants                                   */
    ACCOUNT_TOO_SHORT,   /* too few samples to tell shares from chance                */
    ACCOUNT_NEVER_BEGAN, /* sampling was off from beginning to end (--paused, --delay) */
};

enum account_result account_result(const struct account *account);

/* The first line, cut to the buffer. `wrote` ("a.folded, b.folded") may be NULL. Returns `out`. */
const char *account_format(const struct account *account, const char *wrote, char *out,
                           size_t out_bytes);

/* How to get more out of a run that was too short or never began; "" for one that is neither.
 * Returns `out`. */
const char *account_format_remedy(const struct account *account, char *out, size_t out_bytes);

/* Calls `tell` with one line for each thing that is missing and what helps, the heaviest first, at
 * most ACCOUNT_MISSING_LINES of them; not at all where nothing that matters is missing. */
#define ACCOUNT_MISSING_LINES 3u
void account_tell_missing(const struct account *account,
                          void (*tell)(void *context, const char *line), void *context);

#endif
