/* weighing.c - see weighing.h. */
#include "fold/weighing.h"

#include <stdlib.h>

#include "fold/fold.h"
#include "saturated.h"

bool weighing_init(struct weighing *weighing, const struct profile *profile, bool by_thread)
{
    struct fold_unit unit = fold_unit_choose(profile, true);
    struct weighed *weighed = &weighing->weighed;
    *weighing = (struct weighing){.weighed.unit = unit.unit};
    if (unit.kind < profile->n_kinds && profile->kinds[unit.kind].unit == unit.unit)
        weighed->measure = profile->kinds[unit.kind].name;
    weighing->weights =
        calloc(by_thread ? profile->n_threads : profile->n_stacks, sizeof *weighing->weights);
    if (weighing->weights == NULL)
        return false;
    for (size_t i = 0; i < profile->n_samples; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        uint64_t weight = multiply_saturated(profile_value(profile, i, unit.kind), unit.multiplier);
        bool is_idle = profile_stack_is_idle(profile, sample->stack);
        add_to(is_idle ? &weighed->idle : &weighed->all, weight);
        if (!is_idle)
            add_to(&weighing->weights[by_thread ? sample->thread : sample->stack], weight);
    }
    return true;
}

void weighing_deinit(struct weighing *weighing)
{
    free(weighing->weights);
    *weighing = (struct weighing){.weights = NULL};
}
