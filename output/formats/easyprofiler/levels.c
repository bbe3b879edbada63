/* levels.c - see formats/easyprofiler/levels.h. */
#include "formats/easyprofiler/levels.h"

void easyprofiler_levels_init(struct easyprofiler_levels *levels)
{
    levels->n_roots = 0;
    levels->n_crossing = 0;
    levels->below = (struct ids){0};
}

void easyprofiler_levels_deinit(struct easyprofiler_levels *levels)
{
    ids_deinit(&levels->below);
}

void easyprofiler_levels_begin(struct easyprofiler_levels *levels)
{
    levels->n_roots = 0;
}

bool easyprofiler_levels_close(struct easyprofiler_levels *levels, uint32_t depth, bool has_event,
                               uint32_t *n_levels)
{
    if (!ids_extend(&levels->below, (size_t)depth + 1))
        return false;
    uint32_t *below = &levels->below.items[depth];
    *n_levels = (has_event && *below == 0 ? 1 : *below) + 1;
    *below = 0;
    if (depth > 0 && below[-1] < *n_levels)
        below[-1] = *n_levels;
    return true;
}

/* The list is that of the reader's (formats/easyprofiler/tree.c), without the roots that cannot
 * matter for the number of levels: those followed by a tree of as many levels or more. So the
 * levels in the list decrease, and it never outgrows its array. */
bool easyprofiler_levels_admit(struct easyprofiler_levels *levels, uint64_t *begin_ns,
                               uint64_t end_ns)
{
    struct easyprofiler_root *roots = levels->roots;
    uint32_t first = levels->n_roots;
    uint32_t n_levels = 1;
    if (first != 0 && *begin_ns < roots[first - 1].end_ns) {
        do {
            first--;
            if (n_levels <= roots[first].n_levels)
                n_levels = roots[first].n_levels + 1;
        } while (first > 0 && roots[first - 1].begin_ns >= *begin_ns);
    }
    if (n_levels > EASYPROFILER_MAX_LEVELS) {
        const struct easyprofiler_root *last = &roots[levels->n_roots - 1];
        levels->n_crossing++;
        if (last->end_ns >= end_ns)
            return false;
        *begin_ns = last->end_ns;
        first = levels->n_roots;
        n_levels = 1;
    }
    while (first > 0 && roots[first - 1].n_levels <= n_levels)
        first--;
    roots[first] = (struct easyprofiler_root){*begin_ns, end_ns, n_levels};
    levels->n_roots = first + 1;
    return true;
}
