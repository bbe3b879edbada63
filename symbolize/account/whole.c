/* whole.c - how much CPU time there was in all: what the recordings tell of their processes, and what
 * the kernel tells; see account_set_run.
 *
 * When a parent has waited for a child, the kernel adds the child's CPU time, with all that the child
 * had waited for, to the parent's figure for its children. So a run falls into families: that of the
 * command, whose figure sampler-run has from wait4, and one of each process that nobody in the run
 * waited for: an orphan, a daemon, one whose parent does not care. Such a process had its own figure
 * when it ended, and of one that still runs the kernel is asked.
 *
 *   a family's CPU  =  its recorded processes  +  what is in no recording
 *
 * Taken for one of the family, a process that nobody waited for would hide as much of what is in no
 * recording. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account/account.h"
#include "number.h"
#include "saturated.h"

/* What may pass unseen between the last tick of a thread and a SIGKILL: a tick of the slowest clock,
 * and what begins and ends a process. */
#define KILLED_THREAD_NS 5000000u
/* What the kernel takes to remove a process after its last word, and to fork it. */
#define PROCESS_ENDS_NS 500000u

/* The recordings of one process, which one exec after the other made. */
struct lifetime {
    const struct account_process *first, *last;
};

struct lifetimes {
    const struct account_process **processes; /* by pid, then time */
    size_t n;
    uint64_t main_pid;
};

static int process_compare(const void *left, const void *right)
{
    const struct account_process *a = *(const struct account_process *const *)left;
    const struct account_process *b = *(const struct account_process *const *)right;
    return a->pid != b->pid ? compare_u64(a->pid, b->pid)
                            : compare_u64(a->start_time_ns, b->start_time_ns);
}

static bool lifetimes_find(const struct account *account, struct lifetimes *out)
{
    out->n = account->processes.n;
    out->processes = calloc(out->n + 1, sizeof(const struct account_process *));
    if (out->processes == NULL)
        return false;
    for (size_t i = 0; i < out->n; i++)
        out->processes[i] = &account->processes.items[i];
    if (out->n > 1)
        qsort(out->processes, out->n, sizeof(const struct account_process *), process_compare);
    return true;
}

static bool lifetime_of(const struct lifetimes *all, uint64_t pid, struct lifetime *out)
{
    size_t low = 0, high = all->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all->processes[middle]->pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == all->n || all->processes[low]->pid != pid)
        return false;
    out->first = out->last = all->processes[low];
    for (; low < all->n && all->processes[low]->pid == pid; low++)
        out->last = all->processes[low];
    return true;
}

static uint64_t last_seen_ns(const struct account_process *process)
{
    return add_saturated(process->start_time_ns, process->sums.length_ns);
}

/* The process that had to wait for it, which may be none of the recorded ones; 1 where that had
 * gone. */
static uint64_t waiter_of(const struct lifetimes *all, const struct lifetime *of)
{
    struct lifetime parent;
    if (of->last->end_ppid != 0)
        return of->last->end_ppid;
    bool parent_had_gone = lifetime_of(all, of->first->ppid, &parent) &&
                           parent.last->end != CAPTURE_RUNNING &&
                           parent.last->end_time_ns < last_seen_ns(of->last);
    return parent_had_gone ? 1 : of->first->ppid;
}

/* Whether a process waited for its child `pid`, which has ended. */
static bool has_waited_for(const struct account_process *waiter, uint64_t pid)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64 " ", pid);
    const char *at = strstr(waiter->unwaited, number);
    while (at != NULL && at != waiter->unwaited && at[-1] != ' ')
        at = strstr(at + 1, number);
    return at == NULL && waiter->children_ns != 0;
}

/* The process whose family `pid` is of: one that nobody in the run waited for, or NULL for the
 * command. A process that is not recorded hands on its children, as far as is known. */
static const struct account_process *family_of(const struct lifetimes *all, uint64_t pid)
{
    struct lifetime of, waiter;
    for (size_t n = 0; n <= all->n && pid != all->main_pid && lifetime_of(all, pid, &of); n++) {
        uint64_t waiter_pid = waiter_of(all, &of);
        bool is_known = lifetime_of(all, waiter_pid, &waiter);
        /* Process 1 may be one of ours, in a namespace of its own. */
        bool had_gone = !is_known && (waiter_pid == 1 || waiter_pid != of.first->ppid);
        if (of.last->is_running || had_gone ||
            (is_known && waiter.last->children_known && !has_waited_for(waiter.last, pid)))
            return of.last;
        pid = waiter_pid;
    }
    return NULL;
}

/* What is known to have been used where the whole is not. */
static uint64_t seen_ns(const struct account_sums *sums)
{
    uint64_t all_ns = add_saturated(sums->weight_ns, account_lost_ns(sums));
    all_ns = add_saturated(all_ns, add_saturated(sums->own_ns, sums->paused_ns));
    return sums->cpu_known ? sums->cpu_ns : max_u64(all_ns, sums->cpu_ns);
}

struct family {
    const struct account_process *head; /* its last recording; NULL: the command's */
    uint64_t recorded_ns;               /* of its processes                                  */
    uint64_t head_ns;                   /* of the head                                       */
    uint64_t killed_ns; /* the most that its killed processes may have used unseen */
    uint64_t ends_ns;   /* the same of what begins and ends a process */
    bool has_stopped;   /* sampling was stopped in one that was killed                         */
};

static int family_compare(const void *left, const void *right)
{
    const struct family *a = left;
    const struct family *b = right;
    uintptr_t x = (uintptr_t)a->head, y = (uintptr_t)b->head;
    return x < y ? -1 : x > y;
}

static struct family family_of_one(const struct lifetimes *all,
                                   const struct account_process *process)
{
    const struct account_sums *sums = &process->sums;
    struct family family = {.head = family_of(all, process->pid),
                            .recorded_ns = seen_ns(sums),
                            .ends_ns = PROCESS_ENDS_NS,
                            .has_stopped = !sums->cpu_known && process->ends_stopped};
    if (!sums->cpu_known)
        family.killed_ns = multiply_saturated(KILLED_THREAD_NS, sums->n_threads + 1);
    if (family.head != NULL && family.head->pid == process->pid)
        family.head_ns = family.recorded_ns;
    return family;
}

static void family_add(struct family *family, const struct family *other)
{
    add_to(&family->recorded_ns, other->recorded_ns);
    add_to(&family->head_ns, other->head_ns);
    add_to(&family->killed_ns, other->killed_ns);
    add_to(&family->ends_ns, other->ends_ns);
    family->has_stopped |= other->has_stopped;
}

/* What it used besides its recordings goes to where it most likely belongs. */
static void family_conclude(struct account *account, const struct family *family)
{
    const struct account_process *head = family->head;
    struct account_sums *all = &account->all;
    uint64_t used_ns = account->run_cpu_ns;
    if (head != NULL)
        used_ns = add_saturated(family->head_ns, head->children_ns);
    if (used_ns <= family->recorded_ns)
        return;
    uint64_t more_ns = used_ns - family->recorded_ns;
    uint64_t part_ns = min_u64(more_ns, add_saturated(family->killed_ns, family->ends_ns));
    if (family->has_stopped) {
        part_ns = more_ns;
        add_to(&all->paused_ns, part_ns);
    }
    add_to(&all->cpu_ns, part_ns);
    add_to(&account->unrecorded_ns, more_ns - part_ns);
}

/* One family for each process, then those of one head put together. */
static bool families_conclude(struct account *account, const struct lifetimes *lifetimes)
{
    size_t n = account->processes.n;
    struct family *families = calloc(n + 1, sizeof *families);
    if (families == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        families[i] = family_of_one(lifetimes, &account->processes.items[i]);
    if (n > 1)
        qsort(families, n, sizeof *families, family_compare);
    for (size_t first = 0, i = 1; first < n; i++) {
        if (i < n && families[i].head == families[first].head) {
            family_add(&families[first], &families[i]);
            continue;
        }
        family_conclude(account, &families[first]);
        first = i;
    }
    free(families);
    return true;
}

bool account_set_run(struct account *account, uint64_t pid, uint64_t cpu_ns)
{
    struct account_sums *all = &account->all;
    struct lifetimes lifetimes = {.main_pid = pid};
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
    bool ok = lifetimes_find(account, &lifetimes) && families_conclude(account, &lifetimes);
    free(lifetimes.processes);
    return ok;
}

uint64_t account_whole_ns(const struct account *account)
{
    return add_saturated(account_wanted_ns(&account->all), account->unrecorded_ns);
}
