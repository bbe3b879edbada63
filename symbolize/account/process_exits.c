/* process_exits.c - see process_exits.h. The account of the run is made once before there is a profile,
 * so that what comes of it can be a weight there, also where each process has a profile of its own. */
#include "account/process_exits.h"

#include <stdlib.h>

#include "account/account.h"
#include "recording/start_up.h"

static bool account_fill(struct account *account, struct recording *const *recordings, size_t n)
{
    const struct recording **borrowed = calloc(n + 1, sizeof(const struct recording *));
    uint64_t *start_ups_ns = calloc(n + 1, sizeof *start_ups_ns);
    bool ok = borrowed != NULL && start_ups_ns != NULL;
    for (size_t i = 0; i < n && ok; i++)
        borrowed[i] = recordings[i];
    ok = ok && start_ups_find(borrowed, n, start_ups_ns);
    for (size_t i = 0; i < n && ok; i++) {
        ok = account_add_recording(account, recordings[i]);
        if (ok)
            account_add_start_up(account, i, start_ups_ns[i]);
    }
    free(borrowed);
    free(start_ups_ns);
    return ok;
}

bool process_exits_find(struct recording *const *recordings, size_t n, uint64_t pid,
                        uint64_t cpu_ns)
{
    struct account account;
    if (n == 0 || recordings[0]->facts.measure != MEASURE_CPU)
        return true;
    if (!account_init(&account))
        return false;
    bool ok = account_fill(&account, recordings, n) && account_find_exits(&account, pid, cpu_ns);
    for (size_t i = 0; i < n && ok; i++)
        recordings[i]->facts.process_exit_ns = account.processes.items[i].exit_ns;
    account_deinit(&account);
    return ok;
}
