/* thread.c - see thread.h. */
#include "thread.h"

#include <sched.h>
#include <string.h>
#include <ucontext.h>

#include "children.h"
#include "held_back.h"
#include "line.h"
#include "os.h"
#include "sample.h"
#include "session.h"

__thread struct thread *thread_self;

/* Written under the lock; the head is read by anyone, with acquire: slots are complete when
 * published, and never go away. */
static struct thread *slots;
static struct thread *free_slots;

/* Held for a few instructions, always with all signals blocked, so that no handler can want it on
 * top of its holder. Not a libc mutex: those may be interposed by the program. */
static uint32_t registry_lock;
static uint64_t registry_saved_mask; /* of the holder */

/* HOOK */
void thread_registry_lock(void)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t saved;
    os_sigmask(SIG_BLOCK, &all, &saved);
    /* Sleeps at times: a thread of real-time priority that only yields may keep the holder from the
     * processor. */
    const struct timespec nap = {.tv_nsec = 50000};
    for (unsigned n = 1; __atomic_exchange_n(&registry_lock, 1, __ATOMIC_ACQUIRE) != 0; n++) {
        if (n % 64 == 0)
            syscall(SYS_nanosleep, &nap, NULL);
        else
            sched_yield();
    }
    registry_saved_mask = saved;
}

/* HOOK */
void thread_registry_lock_alone(void)
{
    __atomic_store_n(&registry_lock, 0, __ATOMIC_RELAXED);
    thread_registry_lock();
}

/* HOOK */
void thread_registry_unlock(void)
{
    uint64_t saved = registry_saved_mask;
    __atomic_store_n(&registry_lock, 0, __ATOMIC_RELEASE);
    os_sigmask(SIG_SETMASK, &saved, NULL);
}

/* any context */
struct thread *thread_slots(void)
{
    return __atomic_load_n(&slots, __ATOMIC_ACQUIRE);
}

/* A slot's lasting parts. HOOK, SETUP */
static struct thread *slot_make(void)
{
    struct thread *thread = os_map(sizeof *thread);
    if (thread == NULL)
        return NULL;
    if (stack_table_init(&thread->stacks, session.options.max_nodes)) {
        thread->unwind = unwind_thread_create();
        if (thread->unwind == NULL)
            stack_table_deinit(&thread->stacks);
    }
    bool is_wall = session.options.measure == OPTIONS_WALL;
    if (is_wall && thread->unwind != NULL)
        thread->wall = wall_create();
    if (thread->unwind == NULL || (is_wall && thread->wall == NULL)) {
        os_unmap(thread, sizeof *thread);
        return NULL;
    }
    stream_init(&thread->stream, &session.recording,
                __atomic_fetch_add(&session.n_streams, 1, __ATOMIC_RELAXED));
    clock_init(&thread->clock);
    return thread;
}

/* HOOK, SETUP: the lock is held */
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
    if (thread != NULL)
        __atomic_store_n(&thread->state, THREAD_RESERVED, __ATOMIC_RELEASE);
    else
        recording_count(&session.recording.header->n_threads_missed, 1);
    return thread;
}

/* HOOK, SETUP */
struct thread *thread_reserve(void)
{
    thread_registry_lock();
    struct thread *thread = thread_reserve_locked();
    thread_registry_unlock();
    return thread;
}

/* HOOK */
void thread_unreserve(struct thread *thread)
{
    thread_registry_lock();
    __atomic_store_n(&thread->state, THREAD_FREE, __ATOMIC_RELEASE);
    thread->next_free = free_slots;
    free_slots = thread;
    thread_registry_unlock();
}

/* any context but SIGNAL */
void thread_name_read(const struct thread *thread, bool mine, char name[16])
{
    name[0] = '\0';
    if (mine) {
        os_thread_name(name);
        return;
    }
    char path[64];
    struct line line;
    line_init(&line, path, sizeof path);
    line_add(&line, "/proc/self/task/");
    line_add_number(&line, (uint64_t)thread->tid);
    line_add(&line, "/comm");
    int fd = os_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    long n = syscall(SYS_read, fd, name, 15);
    os_close(fd);
    name[n > 0 ? n : 0] = '\0';
    char *end = strchr(name, '\n');
    if (end != NULL)
        *end = '\0';
}

/* Of grid_phase_ns: drawn by the first thread of the first process, and counted on by each thread
 * and each fork, so that children of a process lie beside each other as its threads do. Atomic. */
static uint64_t phase_random, n_phases;

/* HOOK */
void thread_phase_skip(void)
{
    __atomic_add_fetch(&n_phases, 1, __ATOMIC_RELAXED);
}

/* SETUP, HOOK */
static uint64_t next_phase(void)
{
    uint64_t n = __atomic_fetch_add(&n_phases, 1, __ATOMIC_RELAXED);
    if (n == 0)
        phase_random = os_random();
    return grid_phase_ns(session.options.step, phase_random, n);
}

/* What begins anew with each thread, and THREAD_START. SETUP, HOOK */
static void begin_records(struct thread *thread, pid_t tid, uint64_t start_cpu_ns, bool mine)
{
    struct capture_header *header = session.recording.header;
    thread->tid = tid;
    thread->start_cpu_ns = start_cpu_ns;
    thread->is_held_back = false;
    thread->n_samples = 0;
    thread->last_node = 0;
    thread->sample_ns = 0;
    thread->n_path = 0;
    thread->destructor_rounds = 0;
    thread_name_read(thread, mine, thread->name);
    clock_init(&thread->clock);
    thread->n_events_told = 0;
    if (thread->wall != NULL)
        wall_reset(thread->wall, start_cpu_ns);
    bool by_events = session.options.measure == OPTIONS_EVENT;
    grid_init(&thread->grid, session.options.step, by_events ? 0 : start_cpu_ns, next_phase());
    const struct stream_thread_start start = {.tid = (uint64_t)tid,
                                              .time_ns = os_clock_ns(CLOCK_MONOTONIC),
                                              .cpu_ns = start_cpu_ns,
                                              .name = thread->name};
    stream_put_thread_start(&thread->stream, &start);
    recording_count(&header->n_threads, 1);
}

/* Why a thread did not get the clock it should have: once for each process. SETUP, HOOK */
static void tell_fallback(struct thread *thread)
{
    static uint32_t told;
    if (thread->clock.why_errno == 0 || __atomic_exchange_n(&told, 1, __ATOMIC_RELAXED) != 0)
        return;
    char bytes[200];
    struct line line;
    line_init(&line, bytes, sizeof bytes);
    line_add(&line, thread->clock.kind == CAPTURE_CLOCK_TIMER ? "perf_event_open: "
                    : thread->clock.kind == CAPTURE_CLOCK_PERF_USER ||
                            thread->clock.kind == CAPTURE_CLOCK_EVENT
                        ? "perf_event_open with kernel time: "
                        : "no clock: ");
    line_add(&line, strerror(thread->clock.why_errno));
    stream_put_info(&thread->stream, "clock-fallback", bytes, line.length);
}

/* SETUP, HOOK */
static void begin_clock(struct thread *thread, pid_t tid_if_other)
{
    uint64_t now = clock_read(&thread->clock, tid_if_other);
    bool armed = clock_arm(&thread->clock, tid_if_other, grid_wait_ns(&thread->grid, now));
    stream_put_clock(&thread->stream, thread->clock.kind, thread->clock.why_errno);
    tell_fallback(thread);
    if (!armed)
        recording_count(&session.recording.header->n_threads_missed, 1);
}

/* SETUP, HOOK */
void thread_begin(struct thread *thread, uint64_t start_cpu_ns)
{
    unwind_thread_bind(thread->unwind);
    begin_records(thread, os_gettid(), start_cpu_ns, true);
    thread_self = thread;
    __atomic_store_n(&thread->state, THREAD_LIVE, __ATOMIC_RELEASE);
    begin_clock(thread, 0);
}

/* SETUP */
void thread_begin_other(struct thread *thread, pid_t tid)
{
    uint64_t cpu_ns = os_clock_ns(os_thread_clock(tid));
    begin_records(thread, tid, cpu_ns, false);
    __atomic_store_n(&thread->state, THREAD_LIVE, __ATOMIC_RELEASE);
    begin_clock(thread, tid);
}

/* HOOK */
void thread_rearm(struct thread *thread)
{
    uint64_t now = clock_read(&thread->clock, 0);
    clock_arm(&thread->clock, 0, grid_wait_ns(&thread->grid, now));
}

/* SIGNAL */
struct thread *thread_adopt(void)
{
    pid_t tid = os_gettid();
    for (struct thread *t = thread_slots(); t != NULL; t = t->next_slot) {
        if (t->tid == tid && __atomic_load_n(&t->state, __ATOMIC_ACQUIRE) == THREAD_LIVE) {
            thread_self = t;
            return t;
        }
    }
    return NULL;
}

/* A thread that was never sampled: where it is now has at least the right root. HOOK, EXIT */
static void locate_here(struct thread *thread)
{
    ucontext_t here;
    if (getcontext(&here) == 0)
        sample_locate(thread, &here);
}

/* Credits what `thread` used up to `now` of its clock (0 = it cannot be read). HOOK, EXIT */
static void settle_at(struct thread *thread, bool mine, uint64_t now)
{
    if (now == 0)
        return;
    if (session.options.measure == OPTIONS_EVENT && now > thread->n_events_told) {
        recording_count(&session.recording.header->n_events, now - thread->n_events_told);
        thread->n_events_told = now;
    }
    uint64_t steps = grid_advance(&thread->grid, now);
    if (steps == 0 && thread->wall == NULL)
        return;
    if (thread->last_node == 0 && mine)
        locate_here(thread);
    if (thread->wall != NULL)
        wall_settle(thread, now);
    if (steps == 0)
        return;
    if (!mine && sample_is_late(thread, steps))
        thread->is_held_back = held_back_now(thread->tid);
    sample_credit_tail(thread, steps);
}

/* HOOK, EXIT */
static uint64_t cpu_ns_of(const struct thread *thread, bool mine)
{
    return os_clock_ns(mine ? CLOCK_THREAD_CPUTIME_ID : os_thread_clock(thread->tid));
}

/* HOOK, EXIT */
void thread_settle(struct thread *thread, bool mine)
{
    settle_at(thread, mine, clock_read(&thread->clock, mine ? 0 : thread->tid));
}

/* The state is ENDING by the caller's hand. HOOK, EXIT */
static void end_records(struct thread *thread, bool mine)
{
    char name[16];
    thread_settle(thread, mine);
    thread_name_read(thread, mine, name);
    if (name[0] != '\0' && strcmp(name, thread->name) != 0)
        stream_put_thread_name(&thread->stream, name);
    /* A thread without a sample walked its first stack just now, which took longer than all the
     * rest: up to the number that is written as its end everything counts. */
    uint64_t cpu_ns = cpu_ns_of(thread, mine);
    if (session.options.measure != OPTIONS_EVENT)
        settle_at(thread, mine, cpu_ns);
    if (mine && children_are_waiting())
        children_write(thread);
    stream_put_thread_end(&thread->stream, os_clock_ns(CLOCK_MONOTONIC), cpu_ns);
}

/* HOOK, EXIT */
static bool claim_end(struct thread *thread)
{
    uint32_t found = THREAD_LIVE;
    while (!__atomic_compare_exchange_n(&thread->state, &found, THREAD_ENDING, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        if (found != THREAD_HELD)
            return false;
        found = THREAD_LIVE;
        sched_yield();
    }
    return true;
}

/* HOOK */
bool thread_hold(struct thread *thread)
{
    uint32_t live = THREAD_LIVE;
    return __atomic_compare_exchange_n(&thread->state, &live, THREAD_HELD, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

/* HOOK */
void thread_release(struct thread *thread)
{
    __atomic_store_n(&thread->state, THREAD_LIVE, __ATOMIC_RELEASE);
}

/* HOOK */
void thread_end(struct thread *thread)
{
    uint64_t ours = os_signal_bit(session.options.signo), before = 0;
    os_sigmask(SIG_BLOCK, &ours, &before);
    thread->is_held_back = (before & ours) != 0;
    if (!claim_end(thread))
        return; /* the process ends, and has done it for us; memory stays */
    while (__atomic_load_n(&thread->in_handler, __ATOMIC_SEQ_CST) != 0)
        sched_yield(); /* the watcher has seen it alive */
    clock_disarm(&thread->clock);
    end_records(thread, true);
    thread_self = NULL;
    thread_unreserve(thread);
}

/* EXIT */
void thread_finish(struct thread *thread)
{
    if (!claim_end(thread))
        return;
    /* First the clock: what it costs to stop it is in the thread's CPU time then. */
    clock_disarm(&thread->clock);
    end_records(thread, thread == thread_self);
}

/* HOOK: a forked child, lock held */
void thread_registry_restart(void)
{
    free_slots = NULL;
    for (struct thread *t = slots; t != NULL; t = t->next_slot) {
        clock_abandon(&t->clock);
        if (t->stream.chunk != NULL)
            recording_unmap_chunk(t->stream.chunk);
        stack_table_deinit(&t->stacks);
        memset(t->cut_nodes, 0, sizeof t->cut_nodes);
        t->state = THREAD_FREE;
        t->in_handler = 0;
        t->n_samples = 0;
        if (!stack_table_init(&t->stacks, session.options.max_nodes))
            continue; /* the slot is out of use */
        stream_init(&t->stream, &session.recording, session.n_streams++);
        t->next_free = free_slots;
        free_slots = t;
    }
    thread_self = NULL;
}
