/* children.c - see children.h. */
#include "threads/children.h"

#include <string.h>

#include "state/run.h"
#include "sys/layout.h"
#include "sys/os.h"
#include "threads/slots.h"

#define N_SLOTS 32u
#define PATH_BYTES 200u

enum slot_state { SLOT_FREE, SLOT_FILLING, SLOT_FULL, SLOT_EMPTYING };

struct slot {
    uint32_t
        state; /* enum slot_state; atomic: FREE -> FILLING -> FULL by a child, the rest by us */
    uint32_t why;
    uint64_t time_ns;
    char path[PATH_BYTES]; /* its end, where it is longer */
};

static LAYOUT_LARGE struct slot slots[N_SLOTS];
static uint32_t n_full; /* atomic: a hint that spares the search */

/* any context */
SIGNAL_SAFE static bool slot_claim(struct slot *slot, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&slot->state, &from, to, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

/* HOOK: perhaps a vfork child */
static void slot_fill(const char *path, uint32_t why)
{
    size_t length = strlen(path);
    if (length >= PATH_BYTES)
        path += length - PATH_BYTES + 1;
    for (struct slot *slot = slots; slot < slots + N_SLOTS; slot++) {
        if (!slot_claim(slot, SLOT_FREE, SLOT_FILLING))
            continue;
        memcpy(slot->path, path, strlen(path) + 1);
        slot->why = why;
        slot->time_ns = os_clock_ns(CLOCK_MONOTONIC);
        __atomic_store_n(&slot->state, SLOT_FULL, __ATOMIC_RELEASE);
        __atomic_add_fetch(&n_full, 1, __ATOMIC_RELAXED);
        return;
    }
}

/* any context */
bool children_are_waiting(void)
{
    return __atomic_load_n(&n_full, __ATOMIC_RELAXED) != 0;
}

/* SIGNAL, HOOK, EXIT */
void children_write(struct thread *thread)
{
    for (struct slot *slot = slots; slot < slots + N_SLOTS; slot++) {
        if (!slot_claim(slot, SLOT_FULL, SLOT_EMPTYING))
            continue;
        stream_put_child(&thread->stream, slot->time_ns, slot->why, slot->path);
        __atomic_store_n(&slot->state, SLOT_FREE, __ATOMIC_RELEASE);
        __atomic_sub_fetch(&n_full, 1, __ATOMIC_RELAXED);
    }
}

/* HOOK */
void children_missed(const char *path, uint32_t why)
{
    struct capture_header *header = session.recording.header;
    if (header == NULL || session_phase() != SESSION_RUNNING)
        return;
    recording_count(&header->n_children_missed, 1);
    slot_fill(path, why);
    if (!session_is_ours() || thread_self == NULL)
        return;
    uint64_t ours = os_signal_bit(session.settings.signo), before = 0;
    os_sigmask(SIG_BLOCK, &ours, &before);
    children_write(thread_self);
    if ((before & ours) == 0)
        os_sigmask(SIG_UNBLOCK, &ours, NULL);
}

/* HOOK */
void children_not_missed(void)
{
    struct capture_header *header = session.recording.header;
    if (header != NULL && __atomic_load_n(&header->n_children_missed, __ATOMIC_RELAXED) > 0)
        __atomic_sub_fetch(&header->n_children_missed, 1, __ATOMIC_RELAXED);
}
