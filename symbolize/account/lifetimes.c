/* lifetimes.c - see lifetimes.h. The recordings know the parent at the beginning and at the end, which
 * of its children a process left without waiting for them, and what the kernel had added up of those
 * it did wait for; who waited for a process is told from these. */
#include "account/lifetimes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "saturated.h"

#define NONE SIZE_MAX

static int process_compare(const void *left, const void *right)
{
    const struct account_process *a = *(const struct account_process *const *)left;
    const struct account_process *b = *(const struct account_process *const *)right;
    return a->pid != b->pid ? compare_u64(a->pid, b->pid)
                            : compare_u64(a->start_time_ns, b->start_time_ns);
}

static const struct account_process *first_of(const struct lifetimes *all, size_t index)
{
    return all->processes[all->items[index].first];
}

/* The process with that number at a time: the last one that had begun by then. */
static size_t lifetime_at(const struct lifetimes *all, uint64_t pid, uint64_t time_ns)
{
    size_t low = 0, high = all->n, found;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (first_of(all, middle)->pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == all->n || first_of(all, low)->pid != pid)
        return NONE;
    for (found = low; low < all->n && first_of(all, low)->pid == pid; low++)
        if (first_of(all, low)->start_time_ns <= time_ns)
            found = low;
    return found;
}

static uint64_t last_seen_ns(const struct account_process *process)
{
    return add_saturated(process->start_time_ns, process->sums.length_ns);
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

/* A process that is not recorded hands on its children, as far as is known. */
static size_t waiter_of(const struct lifetimes *all, size_t index)
{
    const struct account_process *first = first_of(all, index), *last = lifetime_last(all, index);
    uint64_t pid = last->end_ppid != 0 ? last->end_ppid : first->ppid;
    uint64_t seen_ns = last->end_ppid != 0 ? last_seen_ns(last) : first->start_time_ns;
    size_t waiter = lifetime_at(all, pid, seen_ns);
    const struct account_process *parent = waiter != NONE ? lifetime_last(all, waiter) : NULL;
    bool parent_had_gone = last->end_ppid == 0 && parent != NULL &&
                           parent->end != CAPTURE_RUNNING &&
                           parent->end_time_ns < last_seen_ns(last);
    if (parent_had_gone) {
        pid = 1;
        waiter = lifetime_at(all, pid, last_seen_ns(last));
        parent = waiter != NONE ? lifetime_last(all, waiter) : NULL;
    }
    /* Process 1 may be one of ours, in a namespace of its own. */
    bool had_gone = parent == NULL && (pid == 1 || pid != first->ppid);
    if (last->is_running || had_gone ||
        (parent != NULL && parent->children_known && !has_waited_for(parent, last->pid)))
        return LIFETIME_OF_NOBODY;
    return parent == NULL ? LIFETIME_OF_COMMAND : waiter;
}

/* After an end, the same number is another process. */
static bool goes_on(const struct account_process *before, const struct account_process *after)
{
    return before->pid == after->pid && before->end != CAPTURE_EXITED;
}

bool lifetimes_find(struct account *account, uint64_t main_pid, struct lifetimes *out)
{
    size_t n = account->processes.n;
    *out = (struct lifetimes){.processes = calloc(n + 1, sizeof(struct account_process *)),
                              .items = calloc(n + 1, sizeof *out->items)};
    if (out->processes == NULL || out->items == NULL) {
        lifetimes_deinit(out);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        out->processes[i] = &account->processes.items[i];
    if (n > 1)
        qsort(out->processes, n, sizeof(struct account_process *), process_compare);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || !goes_on(out->processes[i - 1], out->processes[i]))
            out->items[out->n++].first = i;
        out->items[out->n - 1].end = i + 1;
    }
    size_t main = lifetime_at(out, main_pid, 0);
    for (size_t i = 0; i < out->n; i++)
        out->items[i].waiter = i == main ? LIFETIME_OF_COMMAND : waiter_of(out, i);
    return true;
}

void lifetimes_deinit(struct lifetimes *lifetimes)
{
    free(lifetimes->processes);
    free(lifetimes->items);
    *lifetimes = (struct lifetimes){0};
}

/* Damaged recordings may name each other as parents: no walk is longer than there are processes. */

size_t lifetime_head(const struct lifetimes *all, size_t index)
{
    for (size_t n = 0; n < all->n; n++) {
        size_t waiter = all->items[index].waiter;
        if (waiter == LIFETIME_OF_NOBODY)
            return index;
        if (waiter == LIFETIME_OF_COMMAND)
            break;
        index = waiter;
    }
    return LIFETIME_OF_COMMAND;
}

size_t lifetime_counted_by(const struct lifetimes *all, size_t index)
{
    for (size_t n = 0; n < all->n; n++) {
        size_t waiter = all->items[index].waiter;
        if (waiter == LIFETIME_OF_NOBODY || waiter == LIFETIME_OF_COMMAND ||
            lifetime_last(all, waiter)->children_known)
            return waiter;
        index = waiter;
    }
    return LIFETIME_OF_COMMAND;
}
