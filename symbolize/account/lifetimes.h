/* lifetimes.h - the recorded processes of a run, each with all its recordings, and who waited for
 * whom.
 *
 * A number of a process may come again: after an end that was recorded it is another's. What ended
 * without a word (exec by a raw system call, kill) goes on under its number, as far as can be known. */
#ifndef SAMPLER_ACCOUNT_LIFETIMES_H
#define SAMPLER_ACCOUNT_LIFETIMES_H

#include "account/account.h"

/* In place of a lifetime: whoever started the command, directly or for processes that are not
 * recorded; nobody in the run. */
#define LIFETIME_OF_COMMAND SIZE_MAX
#define LIFETIME_OF_NOBODY (SIZE_MAX - 1)

struct lifetime {
    size_t first, end; /* its recordings among `processes`, [first, end)            */
    size_t waiter;     /* the lifetime that waited for it, or one of the above */
};

struct lifetimes {
    struct account_process **processes; /* of the account, by pid, then time */
    struct lifetime *items;             /* in that order                     */
    size_t n;
};

/* `main_pid`: the command. Borrows the account. False: out of memory, and there is nothing to deinit. */
bool lifetimes_find(struct account *account, uint64_t main_pid, struct lifetimes *out);
void lifetimes_deinit(struct lifetimes *lifetimes);

/* The last of its recordings. */
static inline struct account_process *lifetime_last(const struct lifetimes *all, size_t index)
{
    return all->processes[all->items[index].end - 1];
}

/* The one that nobody waited for among it and those that waited for it and for each other in turn;
 * LIFETIME_OF_COMMAND if there is none. */
size_t lifetime_head(const struct lifetimes *all, size_t index);

/* Into whose figure for its children its CPU time went: the next of those who waited that has one;
 * may be LIFETIME_OF_COMMAND or LIFETIME_OF_NOBODY. */
size_t lifetime_counted_by(const struct lifetimes *all, size_t index);

#endif
