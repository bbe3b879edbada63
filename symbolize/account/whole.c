/* whole.c - how much CPU time there was in all: what the recordings tell of their processes, and what
 * the kernel tells; see account_set_run and account_find_exits.
 *
 * When a parent has waited for a child, the kernel adds the child's CPU time, with all that the child
 * had waited for, to the parent's figure for its children. Of the command sampler-run has that figure
 * from wait4, of the others the recordings have it. So for each one that waited
 *
 *   its figure  =  those it waited for, as recorded, and their figures
 *                + what the kernel used to remove them after their last word
 *                + what is in no recording
 *
 * Where all that it waited for had an end and nothing else is known to have been started, so much as
 * removing them may take is taken for the first of the two (account_find_exits) and has a weight in
 * the profile. Else it is not told from the second: so much counts as left, the rest as not recorded.
 *
 * Processes that nobody in the run waited for (an orphan, a daemon, one whose parent does not care)
 * are in nobody's figure, so each is the head of a family of its own. All figures of a family hang
 * together: if one of them is less than what it should hold, it is not known who waited for whom, and
 * the family is looked at as a whole. */
#include <stdlib.h>

#include "account/account.h"
#include "account/lifetimes.h"
#include "number.h"
#include "saturated.h"

/* What may pass unseen between the last tick of a thread and a SIGKILL: a tick of the slowest clock,
 * and what begins and ends a process. */
#define KILLED_THREAD_NS 5000000u
/* What the kernel takes at most to remove a process after its last word, and to fork it; and to give
 * back a page of its memory. On an idle virtual machine these were 100 us and 190 ns; where the host gave
 * its processors to others, 600 us and 600 ns. */
#define PROCESS_ENDS_NS 1000000u
#define PAGE_ENDS_NS 1000u
#define PAGE_BYTES 4096u
/* The figures are in microseconds. */
#define ROUNDING_NS 10000u

/* What is known to have been used where the whole is not. */
static uint64_t seen_ns(const struct account_sums *sums)
{
    uint64_t all_ns = add_saturated(sums->weight_ns, account_lost_ns(sums));
    all_ns = add_saturated(all_ns, add_saturated(sums->own_ns, sums->paused_ns));
    return sums->cpu_known ? sums->cpu_ns : max_u64(all_ns, sums->cpu_ns);
}

/* Those whose CPU time is in one figure. */
struct waited {
    uint64_t figure_ns;
    uint64_t recorded_ns; /* of them, with their own figures                                 */
    uint64_t killed_ns;   /* the most that the killed ones among them may have used unseen   */
    uint64_t ends_ns;     /* the same of what removes them                                   */
    uint64_t exits_ns;    /* what removed them, where that is known                          */
    bool is_doubtful;     /* others may be in it, or some whose end says less                */
    bool has_stopped;     /* sampling was stopped in one that was killed                     */
};

struct whole {
    struct lifetimes lifetimes;
    struct waited *waited;   /* by the lifetime that waited; the last is the command's */
    struct waited *families; /* by head; the last is the command's                     */
    bool *adds_up;           /* of the families                                        */
};

/* Where that lifetime stands among `waited` and `families`. */
static size_t place_of(const struct whole *whole, size_t lifetime)
{
    return lifetime == LIFETIME_OF_COMMAND ? whole->lifetimes.n : lifetime;
}

static void waited_add(struct waited *waited, const struct waited *other)
{
    add_to(&waited->figure_ns, other->figure_ns);
    add_to(&waited->recorded_ns, other->recorded_ns);
    add_to(&waited->killed_ns, other->killed_ns);
    add_to(&waited->ends_ns, other->ends_ns);
    waited->is_doubtful |= other->is_doubtful;
    waited->has_stopped |= other->has_stopped;
}

/* The most that the kernel may have used to remove it, beyond what is known of that already. */
static uint64_t ends_ns_of(const struct account_process *last)
{
    uint64_t most_ns = multiply_saturated(PAGE_ENDS_NS, last->peak_bytes / PAGE_BYTES);
    add_to(&most_ns, PROCESS_ENDS_NS);
    return most_ns - min_u64(most_ns, last->sums.process_exit_ns);
}

/* Whether it started what cannot be recorded. */
static bool has_missed_children(const struct lifetimes *all, size_t index)
{
    const struct lifetime *lifetime = &all->items[index];
    bool yes = false;
    for (size_t i = lifetime->first; i < lifetime->end; i++)
        yes |= all->processes[i]->sums.n_children_missed != 0;
    return yes;
}

/* The lifetime alone; without a figure, which is that of another. */
static struct waited waited_of_one(const struct lifetimes *all, size_t index)
{
    const struct lifetime *lifetime = &all->items[index];
    const struct account_process *last = lifetime_last(all, index);
    struct waited one = {.ends_ns = ends_ns_of(last),
                         .is_doubtful = last->end != CAPTURE_EXITED || last->ends_stopped};
    for (size_t i = lifetime->first; i < lifetime->end; i++) {
        const struct account_sums *sums = &all->processes[i]->sums;
        add_to(&one.recorded_ns, seen_ns(sums));
        if (!sums->cpu_known) {
            add_to(&one.killed_ns, multiply_saturated(KILLED_THREAD_NS, sums->n_threads + 1));
            one.has_stopped |= all->processes[i]->ends_stopped;
        }
    }
    return one;
}

static void waited_fill(struct whole *whole, uint64_t run_cpu_ns)
{
    const struct lifetimes *all = &whole->lifetimes;
    whole->waited[all->n].is_doubtful = run_cpu_ns == 0;
    whole->waited[all->n].figure_ns = run_cpu_ns != 0 ? run_cpu_ns : UINT64_MAX;
    for (size_t i = 0; i < all->n; i++) {
        const struct account_process *last = lifetime_last(all, i);
        struct waited one = waited_of_one(all, i);
        size_t counted_by = lifetime_counted_by(all, i);
        whole->waited[i].is_doubtful |= has_missed_children(all, i);
        if (last->children_known) {
            whole->waited[i].figure_ns = last->children_ns;
            add_to(&one.recorded_ns, last->children_ns);
        }
        if (counted_by != LIFETIME_OF_NOBODY)
            waited_add(&whole->waited[place_of(whole, counted_by)], &one);
    }
}

/* The families from those in them, and whether their figures can be right. */
static void families_fill(struct whole *whole)
{
    size_t n = whole->lifetimes.n;
    for (size_t i = 0; i <= n; i++)
        whole->adds_up[i] = true;
    for (size_t i = 0; i <= n; i++) {
        const struct waited *waited = &whole->waited[i];
        uint64_t most_ns = add_saturated(waited->figure_ns, waited->killed_ns);
        size_t head = i == n ? n : place_of(whole, lifetime_head(&whole->lifetimes, i));
        waited_add(&whole->families[head], waited);
        if (waited->recorded_ns > add_saturated(most_ns, ROUNDING_NS))
            whole->adds_up[head] = false;
    }
}

/* What a figure holds besides the recordings goes to where it most likely belongs. */
static void waited_conclude(struct account *account, struct waited *waited)
{
    struct account_sums *all = &account->all;
    if (waited->figure_ns <= waited->recorded_ns)
        return;
    uint64_t more_ns = waited->figure_ns - waited->recorded_ns;
    uint64_t part_ns = min_u64(more_ns, add_saturated(waited->killed_ns, waited->ends_ns));
    if (waited->has_stopped) {
        part_ns = more_ns;
        add_to(&all->paused_ns, part_ns);
    }
    add_to(&all->cpu_ns, part_ns);
    add_to(&account->unrecorded_ns, more_ns - part_ns);
}

/* Of what removed several processes each gets a share, by the most it may have taken. */
static void exits_share(struct whole *whole)
{
    const struct lifetimes *all = &whole->lifetimes;
    for (size_t i = 0; i < all->n; i++) {
        size_t counted_by = lifetime_counted_by(all, i);
        if (counted_by == LIFETIME_OF_NOBODY)
            continue;
        struct account_process *last = lifetime_last(all, i);
        struct waited *waited = &whole->waited[place_of(whole, counted_by)];
        uint64_t ends_ns = ends_ns_of(last), exit_ns = waited->exits_ns;
        if (ends_ns < waited->ends_ns) {
            double share = (double)ends_ns / (double)waited->ends_ns;
            exit_ns = min_u64(exit_ns, (uint64_t)((double)exit_ns * share));
        }
        last->exit_ns = exit_ns;
        waited->exits_ns -= exit_ns;
        waited->ends_ns -= min_u64(ends_ns, waited->ends_ns);
    }
}

static bool whole_find(struct account *account, uint64_t main_pid, uint64_t run_cpu_ns,
                       struct whole *out)
{
    *out = (struct whole){0};
    if (!lifetimes_find(account, main_pid, &out->lifetimes))
        return false;
    size_t n = out->lifetimes.n + 1;
    out->waited = calloc(n, sizeof *out->waited);
    out->families = calloc(n, sizeof *out->families);
    out->adds_up = calloc(n, sizeof *out->adds_up);
    if (out->waited == NULL || out->families == NULL || out->adds_up == NULL)
        return false;
    waited_fill(out, run_cpu_ns);
    families_fill(out);
    return true;
}

static void whole_conclude(struct account *account, struct whole *whole)
{
    size_t n = whole->lifetimes.n;
    for (size_t i = 0; i <= n; i++) {
        size_t head = i == n ? n : place_of(whole, lifetime_head(&whole->lifetimes, i));
        if (whole->adds_up[head])
            waited_conclude(account, &whole->waited[i]);
        if (!whole->adds_up[i])
            waited_conclude(account, &whole->families[i]);
    }
}

static void whole_deinit(struct whole *whole)
{
    lifetimes_deinit(&whole->lifetimes);
    free(whole->waited);
    free(whole->families);
    free(whole->adds_up);
}

bool account_set_run(struct account *account, uint64_t pid, uint64_t cpu_ns)
{
    struct account_sums *all = &account->all;
    struct whole whole;
    if (cpu_ns == 0 || account->run_cpu_ns != 0)
        return true;
    account->run_cpu_ns = cpu_ns;
    if (all->measure != MEASURE_CPU)
        return true;
    for (size_t i = 0; i < account->processes.n; i++) {
        const struct account_sums *sums = &account->processes.items[i].sums;
        add_to(&all->cpu_ns, seen_ns(sums) - sums->cpu_ns);
    }
    all->cpu_known = true;
    bool ok = whole_find(account, pid, cpu_ns, &whole);
    if (ok)
        whole_conclude(account, &whole);
    whole_deinit(&whole);
    return ok;
}

/* What a figure holds besides the recordings removed those it is of: as much of it as that may take,
 * of a whole run. Elsewhere more than that shows that not all of them are here. */
static void exits_conclude(struct waited *waited, bool is_whole)
{
    uint64_t more_ns = waited->figure_ns - min_u64(waited->figure_ns, waited->recorded_ns);
    if (!waited->is_doubtful && (is_whole || more_ns <= waited->ends_ns))
        waited->exits_ns = min_u64(more_ns, waited->ends_ns);
}

bool account_find_exits(struct account *account, uint64_t pid, uint64_t cpu_ns)
{
    struct whole whole;
    bool ok = whole_find(account, pid, cpu_ns, &whole);
    for (size_t i = 0; ok && i < whole.lifetimes.n; i++)
        if (whole.adds_up[place_of(&whole, lifetime_head(&whole.lifetimes, i))])
            exits_conclude(&whole.waited[i], cpu_ns != 0);
    if (ok && whole.adds_up[whole.lifetimes.n])
        exits_conclude(&whole.waited[whole.lifetimes.n], cpu_ns != 0);
    if (ok)
        exits_share(&whole);
    whole_deinit(&whole);
    return ok;
}

uint64_t account_whole_ns(const struct account *account)
{
    return add_saturated(account_wanted_ns(&account->all), account->unrecorded_ns);
}
