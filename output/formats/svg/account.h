/* account.h - how much the profile explains of what was used, out of the account in its metadata (docs/account.md).
 *
 * A profile of several runs has an account of each; they add up. */
#ifndef SAMPLER_SVG_ACCOUNT_H
#define SAMPLER_SVG_ACCOUNT_H

#include "model/profile.h"

/* In the unit of the weights, nanoseconds or events. */
struct svg_account {
    double explained; /* sum of the weights; NAN: there is no account */
    double used;      /* that could be sampled; NAN: unknown          */
};

/* False when out of memory; an account that cannot be read is none. */
MUST_CHECK bool svg_account_read(struct svg_account *account, const struct profile *profile);

#endif
