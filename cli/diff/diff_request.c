/* diff_request.c - what the options of `sampler diff` ask for, for all that is made of it. */
#include <stdlib.h>

#include "diff/diff.h"

const struct profile **diff_profiles(const struct diff *diff)
{
    const struct profile **profiles = calloc(diff->n_loaded, sizeof(struct profile *));
    for (size_t i = 0; profiles != NULL && i < diff->n_loaded; i++)
        profiles[i] = diff->inputs[i].profile;
    return profiles;
}

struct changes_request diff_request(const struct diff *diff, const struct profile **profiles)
{
    return (struct changes_request){.before = profiles,
                                    .after = profiles + diff->sides.n_before,
                                    .n_before = diff->sides.n_before,
                                    .n_after = diff->sides.n_after,
                                    .by = diff->by,
                                    .scope = diff->by_total ? ROWS_OF_STACK : ROWS_OF_LEAF,
                                    .is_normalized = options_flag(diff->options, OPTION_NORMALIZE)};
}
