/* commands.c - see commands.h. By name, so that equal ones stand together; then by weight. */
#include "account/commands.h"

#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "saturated.h"

static int name_compare(const void *left, const void *right)
{
    const struct account_process *a = *(const struct account_process *const *)left;
    const struct account_process *b = *(const struct account_process *const *)right;
    return strcmp(a->name, b->name);
}

static int used_compare(const void *left, const void *right)
{
    const struct account_command *a = left;
    const struct account_command *b = right;
    return a->used_ns != b->used_ns ? compare_u64(b->used_ns, a->used_ns)
                                    : strcmp(a->name, b->name);
}

static void command_add(struct account_command *command, const struct account_process *process)
{
    const struct account_sums *sums = &process->sums;
    uint64_t used_ns = sums->cpu_known ? sums->cpu_ns : sums->weight_ns;
    command->n_processes++;
    add_to(&command->used_ns, used_ns);
    add_to(&command->start_up_ns, sums->start_up_ns);
    add_to(&command->process_exit_ns, sums->process_exit_ns);
    add_to(&command->n_samples, sums->n_samples);
    if (sums->n_samples == 0) {
        command->n_without_sample++;
        add_to(&command->without_sample_ns, used_ns);
    }
}

bool account_commands_find(const struct account *account, struct account_commands *out)
{
    size_t n = account->processes.n;
    const struct account_process **sorted = calloc(n + 1, sizeof(const struct account_process *));
    bool ok = sorted != NULL;
    for (size_t i = 0; i < n && ok; i++)
        sorted[i] = &account->processes.items[i];
    if (ok && n > 1)
        qsort(sorted, n, sizeof(const struct account_process *), name_compare);
    for (size_t i = 0; i < n && ok; i++) {
        if (i == 0 || strcmp(sorted[i]->name, sorted[i - 1]->name) != 0)
            ok = account_commands_push(out, (struct account_command){.name = sorted[i]->name});
        if (ok)
            command_add(&out->items[out->n - 1], sorted[i]);
    }
    free(sorted);
    if (!ok)
        account_commands_deinit(out);
    else if (out->n > 1)
        qsort(out->items, out->n, sizeof(struct account_command), used_compare);
    return ok;
}

struct account_command account_commands_sum(const struct account *account)
{
    struct account_command sum = {.name = ""};
    for (size_t i = 0; i < account->processes.n; i++)
        command_add(&sum, &account->processes.items[i]);
    return sum;
}
