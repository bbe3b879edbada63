/* top_hint.c - the line below `sampler top` for who profiled a script and sees the functions of its
 * interpreter.
 *
 * What --my-code would give to functions that a runtime made is found by doing it: what is worth saying
 * follows from the result and not from how an interpreter looks. Where the user's own native code is
 * hot, or all of a script is in packages, little would move, and nothing is said. */
#include "commands/top.h"
#include "number.h"
#include "select/runtime_module.h"
#include "select/select.h"
#include "view/cells.h"

#define HINT_LEAST 0.25 /* of the whole */

static struct text module_of(const struct profile *profile, const struct summary_row *row)
{
    return profile_text(profile, profile->modules[profile->functions[row->key.id].module].path);
}

static uint64_t jit_self(const struct profile *profile, const struct summary *summary, bool *any)
{
    uint64_t self = 0;
    for (size_t i = 0; i < summary->n; i++) {
        if (text_is(module_of(profile, &summary->rows[i]), PROFILE_JIT_MODULE)) {
            self += summary->rows[i].self;
            *any = true;
        }
    }
    return self;
}

/* The self of the same functions with --my-code; 0 where that shows nothing. */
static bool jit_self_of_own_code(const struct profile *profile, uint64_t *out, struct err *err)
{
    struct selection selection = SELECTION_ALL;
    struct profile *own = NULL;
    struct summary summary;
    bool any = false;
    selection.my_code = true;
    *out = 0;
    if (!profile_select(profile, &selection, &own, err)) {
        bool is_none = err->code == ERR_UNSUPPORTED;
        *err = is_none ? (struct err)ERR_INIT : *err;
        return is_none;
    }
    bool ok = summary_init(&summary, own, SUMMARY_BY_FUNCTION, err);
    if (ok)
        *out = jit_self(own, &summary, &any);
    summary_deinit(&summary);
    profile_destroy(own);
    return ok;
}

/* Most of what was spent in calls of a Python that could name what it interprets. */
static uint64_t python_total(const struct top *top)
{
    uint64_t total = 0;
    for (size_t i = 0; i < top->summary.n; i++)
        if (is_python_with_names(module_of(top->input->profile, &top->summary.rows[i])))
            total = max_u64(total, top->summary.rows[i].total);
    return total;
}

bool top_print_hint(const struct top *top, struct screen *screen, struct err *err)
{
    uint64_t all = top->summary.weighed.all, own_self = 0;
    bool any = false;
    if (top->by != SUMMARY_BY_FUNCTION || options_flag(top->options, OPTION_MY_CODE))
        return true;
    uint64_t self = jit_self(top->input->profile, &top->summary, &any);
    if (any && !jit_self_of_own_code(top->input->profile, &own_self, err))
        return false;
    if (part_of(own_self, all) > HINT_LEAST && self < own_self / 2)
        print_remark(screen,
                     "%.1f%% was spent on behalf of interpreted or JIT-compiled code: --my-code "
                     "shows its functions",
                     100 * part_of(own_self, all));
    else if (!any && part_of(python_total(top), all) > HINT_LEAST)
        print_remark(screen,
                     "sampler-run --jit (python -X perf) names the functions of Python as well");
    return true;
}
