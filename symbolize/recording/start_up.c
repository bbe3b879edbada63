/* start_up.c - see start_up.h. By process, then by time: the CPU clock of a process goes on across
 * exec, so what it stood at when one recording began less what it stood at when the one before ended
 * is the start-up between them. */
#include "recording/start_up.h"

#include <stdlib.h>

#include "number.h"

static int start_compare(const void *left, const void *right, void *context)
{
    const struct recording *const *recordings = context;
    size_t i = *(const size_t *)left, k = *(const size_t *)right;
    const struct capture_header *a = &recordings[i]->header, *b = &recordings[k]->header;
    if (a->pid != b->pid)
        return compare_u64(a->pid, b->pid);
    if (a->start_time_ns != b->start_time_ns)
        return compare_u64(a->start_time_ns, b->start_time_ns);
    return compare_u64(i, k);
}

bool start_ups_find(const struct recording *const *recordings, size_t n, uint64_t *out)
{
    size_t *order = calloc(n + 1, sizeof *order);
    if (order == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    union {
        const struct recording *const *constant;
        void *context;
    } context = {.constant = recordings};
    if (n > 1)
        qsort_r(order, n, sizeof *order, start_compare, context.context);
    uint64_t before_ns = 0; /* used up to the end of any earlier one of the process */
    uint64_t same_ns = 0;   /* the same of those that began at the very time of this one */
    for (size_t i = 0; i < n; i++) {
        const struct capture_header *header = &recordings[order[i]]->header;
        const struct capture_header *last = i == 0 ? NULL : &recordings[order[i - 1]]->header;
        if (last == NULL || last->pid != header->pid) {
            before_ns = same_ns = 0;
        } else if (last->start_time_ns != header->start_time_ns) {
            before_ns = max_u64(before_ns, same_ns);
        }
        same_ns = max_u64(same_ns, header->end_cpu_ns);
        out[order[i]] = header->start_cpu_ns > before_ns ? header->start_cpu_ns - before_ns : 0;
    }
    free(order);
    return true;
}
