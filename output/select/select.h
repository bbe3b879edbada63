/* select.h - a part of a profile, as a profile of its own: --focus, --thread, --from and the others,
 * which mean the same in every command because they are here.
 *
 *   profile -> profile_select -> a profile whose samples are those asked for -> sums, trees, lists
 *
 * Frames    are matched by patterns (match.h). An inlined function is a frame as any other.
 * Threads,  processes: a number is an id, all else a regular expression for the name. A label is
 *           matched as a name is.
 * Several   conditions must all hold.
 * Weights   of samples stay as they are: what is left out is missing in the sum, what is hidden is
 *           credited to its caller.
 * Spans     A profile of spans is taken by its self times (convert.h); the result has samples.
 * Refused   A condition that nothing in the profile meets, as it is more likely a slip of the pen
 *           than a question; err->text says what there is. Conditions that only together leave
 *           nothing give an empty profile. */
#ifndef SAMPLER_SELECT_H
#define SAMPLER_SELECT_H

#include "model/profile.h"

/* NULL: no such condition. */
struct selection {
    const char *focus;   /* only stacks with a frame that matches             */
    const char *ignore;  /* no stacks with one                                */
    const char *hide;    /* frames that are taken out of their stacks         */
    bool my_code;        /* so are those of libraries and the system (my_code.h) */
    const char *thread;  /* only samples of these threads ...                 */
    const char *process; /* ... of these processes ...                        */
    const char *label;   /* ... under these labels (sampler.h)                */
    uint64_t from_ns;    /* taken in from_ns <= time < to_ns, since the start */
    uint64_t to_ns;      /* UINT64_MAX: no end                                */
};

#define SELECTION_ALL ((struct selection){.to_ns = UINT64_MAX})

/* Whether it asks for anything. */
bool selection_is_all(const struct selection *selection);

/* Whether its regular expressions are some, and the span is one: ERR_USAGE if not. */
MUST_CHECK bool selection_check(const struct selection *selection, struct err *err);

/* ERR_USAGE: as selection_check; ERR_UNSUPPORTED: a condition that nothing in the profile meets, or
 * times are asked for and it has none. Rows without samples stay in the tables, so ids are those of
 * `in`. */
MUST_CHECK bool profile_select(const struct profile *in, const struct selection *selection,
                               struct profile **out, struct err *err);

#endif
