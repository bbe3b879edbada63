/* slots.c - see slots.h.
 *
 * Slots are made once and never go away, so that the handler and the watcher may look at any of
 * them. */
#include "threads/slots.h"

#include <string.h>

#include "state/run.h"
#include "sys/lock.h"
#include "sys/os.h"
#include "threads/find.h"
#include "threads/wall_state.h"
#include "unwind/thread.h"

__thread struct thread *thread_self;
struct thread_counts thread_counts;

/* Written under the lock; the head is read by anyone, with acquire: slots are complete when
 * published, and never go away. */
static struct thread *slots;
static struct thread *free_slots;

static struct lock registry_lock;
static uint64_t registry_saved_mask; /* of the holder */

/* any context */
void thread_registry_lock(void)
{
    uint64_t saved = lock_take_masked(&registry_lock);
    registry_saved_mask = saved;
}

/* HOOK */
void thread_registry_lock_alone(void)
{
    lock_reset(&registry_lock);
    thread_registry_lock();
}

/* any context */
void thread_registry_unlock(void)
{
    lock_give_masked(&registry_lock, registry_saved_mask);
}

/* any context */
struct thread *thread_slots(void)
{
    return __atomic_load_n(&slots, __ATOMIC_ACQUIRE);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): changed, by the atomic builtin. any context */
SIGNAL_SAFE static void count(uint32_t *counter, int n)
{
    __atomic_add_fetch(counter, (uint32_t)n, __ATOMIC_SEQ_CST);
}

/* What is written before the first sample comes first, and fits on one page. */
struct slot {
    struct thread thread;
    struct unwind_thread unwind;
    uint32_t path[UNWIND_MAX_FRAMES];
};

/* any context */
SIGNAL_SAFE static struct thread *slot_make(void)
{
    struct slot *slot = os_map(sizeof *slot);
    if (slot == NULL)
        return NULL;
    struct thread *thread = &slot->thread;
    if (session.settings.measure == SETTINGS_WALL)
        thread->wall = wall_create();
    if (session.settings.measure == SETTINGS_WALL && thread->wall == NULL) {
        os_unmap(slot, sizeof *slot);
        return NULL;
    }
    thread->unwind = &slot->unwind;
    thread->path = slot->path;
    stack_table_init(&thread->stacks, session.settings.max_nodes);
    stream_init(&thread->stream, &session.recording,
                __atomic_fetch_add(&session.n_streams, 1, __ATOMIC_RELAXED));
    clock_init(&thread->clock);
    return thread;
}

/* any context: the lock is held */
struct thread *thread_reserve_locked(void)
{
    struct thread *thread = free_slots;
    if (thread != NULL) {
        free_slots = thread->next_free;
    } else {
        thread = slot_make();
        if (thread != NULL) {
            thread->next_slot = slots;
            __atomic_store_n(&slots, thread, __ATOMIC_RELEASE);
        }
    }
    if (thread != NULL) {
        __atomic_store_n(&thread->state, THREAD_RESERVED, __ATOMIC_RELEASE);
        count(&thread_counts.n_reserved, 1);
    } else
        recording_count(&session.recording.header->n_threads_missed, 1);
    return thread;
}

/* any context */
struct thread *thread_reserve(void)
{
    thread_registry_lock();
    struct thread *thread = thread_reserve_locked();
    thread_registry_unlock();
    return thread;
}

/* any context */
SIGNAL_SAFE static void slot_free(struct thread *thread)
{
    thread_registry_lock();
    __atomic_store_n(&thread->state, THREAD_FREE, __ATOMIC_RELEASE);
    thread->next_free = free_slots;
    free_slots = thread;
    thread_registry_unlock();
}

/* any context */
void thread_unreserve(struct thread *thread)
{
    count(&thread_counts.n_reserved, -1);
    slot_free(thread);
}

/* any context */
void thread_go_live(struct thread *thread)
{
    thread_note_tid(thread->tid, thread, THREAD_NOT_GONE);
    count(&thread_counts.n_known, 1);
    if (thread->is_found)
        count(&thread_counts.n_found, 1);
    count(&thread_counts.n_reserved, -1);
    __atomic_store_n(&thread->state, THREAD_LIVE, __ATOMIC_SEQ_CST);
}

/* any context */
bool thread_claim(struct thread *thread, enum thread_state to)
{
    for (unsigned n = 1;; n++) {
        uint32_t state = THREAD_LIVE;
        if (__atomic_compare_exchange_n(&thread->state, &state, to, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            return true;
        if (state != THREAD_HELD)
            return false;
        wait_a_moment(n);
    }
}

/* any context */
bool thread_hold(struct thread *thread)
{
    return thread_claim(thread, THREAD_HELD);
}

/* any context */
void thread_release(struct thread *thread)
{
    __atomic_store_n(&thread->state, THREAD_LIVE, __ATOMIC_SEQ_CST);
}

/* any context */
bool thread_handler_is_done(const struct thread *thread, uint64_t give_up_ns)
{
    for (unsigned n = 1;
         thread != thread_self && __atomic_load_n(&thread->in_handler, __ATOMIC_SEQ_CST) != 0;
         n++) {
        if (os_clock_ns(CLOCK_MONOTONIC) >= give_up_ns)
            return false;
        wait_a_moment(n);
    }
    return true;
}

/* any context */
void thread_give_back(struct thread *thread, uint64_t gone_cpu_ns)
{
    __atomic_store_n(&thread->pointer, 0, __ATOMIC_RELEASE);
    thread_note_tid(thread->tid, NULL, gone_cpu_ns);
    count(&thread_counts.n_known, -1);
    if (thread->is_found)
        count(&thread_counts.n_found, -1);
    slot_free(thread);
}

/* HOOK: a forked child, lock held */
void thread_registry_restart(void)
{
    free_slots = NULL;
    for (struct thread *t = slots; t != NULL; t = t->next_slot) {
        clock_abandon(&t->clock);
        thread_note_tid(t->tid, NULL, THREAD_NOT_GONE);
        t->pointer = 0;
        t->is_found = false;
        if (t->stream.chunk != NULL)
            recording_unmap_chunk(t->stream.chunk);
        stack_table_deinit(&t->stacks);
        memset(t->cut_nodes, 0, sizeof t->cut_nodes);
        t->state = THREAD_FREE;
        t->in_handler = 0;
        t->n_samples = 0;
        stack_table_init(&t->stacks, session.settings.max_nodes);
        stream_init(&t->stream, &session.recording, session.n_streams++);
        t->next_free = free_slots;
        free_slots = t;
    }
    thread_note_none();
    thread_counts = (struct thread_counts){0};
    thread_self = NULL;
}
