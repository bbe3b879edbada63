/* life.c - see thread.h. */
#include <string.h>
#include <ucontext.h>

#include "process/session.h"
#include "sys/line.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "threads/children.h"
#include "threads/find.h"
#include "threads/held_back.h"
#include "threads/sample.h"
#include "threads/thread.h"

__thread struct thread *thread_self;
struct thread_counts thread_counts;

/* Written under the lock; the head is read by anyone, with acquire: slots are complete when
 * published, and never go away. */
static struct thread *slots;
static struct thread *free_slots;

/* Held for a few instructions, always with all signals blocked, so that no handler can want it on
 * top of its holder. Not a libc mutex: those may be interposed by the program. */
static uint32_t registry_lock;
static uint64_t registry_saved_mask; /* of the holder */

/* any context */
void thread_wait_a_moment(unsigned n)
{
    const struct timespec nap = {.tv_nsec = 50000};
    syscall(n % 64 == 0 ? SYS_nanosleep : SYS_sched_yield, &nap, NULL);
}

/* any context */
void thread_registry_lock(void)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t saved;
    os_sigmask(SIG_BLOCK, &all, &saved);
    for (unsigned n = 1; __atomic_exchange_n(&registry_lock, 1, __ATOMIC_ACQUIRE) != 0; n++)
        thread_wait_a_moment(n);
    registry_saved_mask = saved;
}

/* HOOK */
void thread_registry_lock_alone(void)
{
    __atomic_store_n(&registry_lock, 0, __ATOMIC_RELAXED);
    thread_registry_lock();
}

/* any context */
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

/* NOLINTNEXTLINE(readability-non-const-parameter): changed, by the atomic builtin. any context */
SIGNAL_SAFE static void count(uint32_t *counter, int n)
{
    __atomic_add_fetch(counter, (uint32_t)n, __ATOMIC_SEQ_CST);
}

/* A slot's lasting parts. any context */
SIGNAL_SAFE static struct thread *slot_make(void)
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
    char *end = memchr(name, '\n', 15);
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

/* any context */
SIGNAL_SAFE static uint64_t next_phase(void)
{
    uint64_t n = __atomic_fetch_add(&n_phases, 1, __ATOMIC_RELAXED);
    if (n == 0)
        phase_random = os_random();
    return grid_phase_ns(session.options.step, phase_random, n);
}

/* What begins anew with each thread, and THREAD_START. any context */
SIGNAL_SAFE static void begin_records(struct thread *thread, pid_t tid, uint64_t start_cpu_ns,
                                      bool mine)
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
    thread->label.is_new = 0;
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

/* any context */
void thread_arm(struct thread *thread, bool mine)
{
    pid_t tid = mine ? 0 : thread->tid;
    uint64_t now = clock_read(&thread->clock, tid);
    bool armed = clock_arm(&thread->clock, tid, grid_wait_ns(&thread->grid, now));
    stream_put_clock(&thread->stream, thread->clock.kind, thread->clock.why_errno);
    if (!armed)
        recording_count(&session.recording.header->n_threads_missed, 1);
}

/* A thread HELD by who makes it gets its clock, unless sampling is stopped. The question comes
 * after HELD: control.c stores the answer first and then looks for HELD. any context */
SIGNAL_SAFE static void begin_clock(struct thread *thread, bool mine)
{
    thread->is_paused = __atomic_load_n(&session.is_off, __ATOMIC_SEQ_CST) != 0;
    if (!thread->is_paused)
        thread_arm(thread, mine);
}

/* any context */
SIGNAL_SAFE static void begin_live(struct thread *thread)
{
    thread_note_tid(thread->tid, thread, THREAD_NOT_GONE);
    count(&thread_counts.n_known, 1);
    count(&thread_counts.n_reserved, -1);
    __atomic_store_n(&thread->state, THREAD_LIVE, __ATOMIC_SEQ_CST);
}

/* A scan may have met the calling thread before it came to begin. HOOK */
static void end_found_self(pid_t tid)
{
    struct thread *found = thread_of_tid(tid);
    if (found != NULL && found->is_found)
        thread_reap(found, tid);
}

/* SETUP, HOOK */
void thread_begin(struct thread *thread, uint64_t start_cpu_ns)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t saved, pointer = tls_pointer();
    pid_t tid = os_gettid();
    os_sigmask(SIG_BLOCK, &all, &saved);
    __atomic_store_n(&thread->state, THREAD_HELD, __ATOMIC_SEQ_CST);
    if (thread_of_tid(tid) != NULL) {
        start_cpu_ns = os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        end_found_self(tid);
    }
    thread_note_tid(tid, thread, THREAD_NOT_GONE); /* no scan is to take it for a found one */
    unwind_thread_bind(thread->unwind);
    begin_records(thread, tid, start_cpu_ns, true);
    thread->is_found = false;
    __atomic_store_n(&thread->pointer, pointer, __ATOMIC_RELEASE);
    thread_note_pointer(pointer, thread);
    thread_self = thread;
    begin_clock(thread, true);
    tell_fallback(thread);
    begin_live(thread);
    os_sigmask(SIG_SETMASK, &saved, NULL);
}

/* any context */
bool thread_begin_other(struct thread *thread, pid_t tid, uint64_t start_cpu_ns)
{
    if (syscall(SYS_tgkill, os_getpid(), tid, 0) != 0) {
        thread_unreserve(thread);
        return false;
    }
    __atomic_store_n(&thread->state, THREAD_HELD, __ATOMIC_SEQ_CST);
    unwind_thread_bind_other(thread->unwind);
    begin_records(thread, tid, start_cpu_ns, false);
    thread->is_found = true;
    thread->mask_blocked = false;
    __atomic_store_n(&thread->pointer, 0, __ATOMIC_RELEASE);
    count(&thread_counts.n_found, 1);
    recording_count(&session.recording.header->n_threads_found, 1);
    begin_clock(thread, false);
    begin_live(thread);
    return true;
}

/* HOOK */
void thread_rearm(struct thread *thread)
{
    uint64_t now = clock_read(&thread->clock, 0);
    if (!thread->is_paused)
        clock_arm(&thread->clock, 0, grid_wait_ns(&thread->grid, now));
}

/* The calling thread was never sampled, and has used something: where it is now has at least the
 * right root. HOOK, EXIT */
static void locate_unless_known(struct thread *thread, uint64_t now)
{
    ucontext_t here;
    if (thread->last_node == 0 && (thread->wall != NULL || now >= thread->grid.next_ns) &&
        !thread->is_paused && getcontext(&here) == 0)
        sample_locate(thread, &here);
}

/* any context */
SIGNAL_SAFE static uint64_t cpu_ns_of(const struct thread *thread, bool mine)
{
    return os_clock_ns(mine ? CLOCK_THREAD_CPUTIME_ID : os_thread_clock(thread->tid));
}

/* What the clock that is measured by says: CPU time or events. any context */
SIGNAL_SAFE static uint64_t now_of(const struct thread *thread, bool mine)
{
    return clock_read(&thread->clock, mine ? 0 : thread->tid);
}

/* Credits what `thread` used up to `now` of its clock (0 = it cannot be read). any context */
SIGNAL_SAFE static void settle_at(struct thread *thread, bool mine, uint64_t now)
{
    if (now == 0 || thread->is_paused)
        return;
    if (session.options.measure == OPTIONS_EVENT && now > thread->n_events_told) {
        recording_count(&session.recording.header->n_events, now - thread->n_events_told);
        thread->n_events_told = now;
    }
    uint64_t steps = grid_advance(&thread->grid, now);
    if (thread->wall != NULL)
        wall_settle(thread, now);
    if (steps == 0)
        return;
    if (!mine && sample_is_late(thread, steps))
        thread->is_held_back = held_back_now(thread->tid);
    sample_credit_tail(thread, steps);
}

/* any context */
void thread_settle_other(struct thread *thread)
{
    settle_at(thread, false, now_of(thread, false));
}

/* HOOK, EXIT */
void thread_settle(struct thread *thread, bool mine)
{
    uint64_t now = now_of(thread, mine);
    if (mine)
        locate_unless_known(thread, now);
    settle_at(thread, mine, now);
}

/* What is known of the CPU time of a thread that is no more: its last grid point in a sample. (A
 * perf event would still tell what it counted, but that is more than the CPU clock has where a
 * machine's host takes time away.) any context */
SIGNAL_SAFE static uint64_t cpu_of_dead_ns(const struct thread *thread)
{
    uint64_t next_ns = thread->grid.next_ns, period_ns = thread->grid.period_ns;
    if (session.options.measure == OPTIONS_EVENT)
        return thread->start_cpu_ns;
    return next_ns > thread->start_cpu_ns + period_ns ? next_ns - period_ns : thread->start_cpu_ns;
}

/* The state is ENDING by the caller's hand; `now` is of its clock, cpu_ns of its CPU clock. Returns
 * what is written as its end. any context */
SIGNAL_SAFE static uint64_t end_records(struct thread *thread, bool mine, uint64_t now,
                                        uint64_t cpu_ns)
{
    char name[16];
    settle_at(thread, mine, now);
    thread_name_read(thread, mine, name);
    if (name[0] != '\0' && memcmp(name, thread->name, strnlen(name, sizeof name - 1) + 1) != 0)
        stream_put_thread_name(&thread->stream, name);
    if (mine) {
        /* A thread without a sample walked its first stack just now, which took longer than all
         * the rest: up to the number that is written as its end everything counts. */
        cpu_ns = cpu_ns_of(thread, true);
        if (session.options.measure != OPTIONS_EVENT)
            settle_at(thread, true, cpu_ns);
        if (children_are_waiting())
            children_write(thread);
    }
    stream_put_thread_end(&thread->stream, os_clock_ns(CLOCK_MONOTONIC), cpu_ns);
    return cpu_ns;
}

/* LIVE -> `to`; waits while another holds it. False: it is neither. any context */
SIGNAL_SAFE static bool claim(struct thread *thread, enum thread_state to)
{
    for (unsigned n = 1;; n++) {
        uint32_t state = THREAD_LIVE;
        if (__atomic_compare_exchange_n(&thread->state, &state, to, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            return true;
        if (state != THREAD_HELD)
            return false;
        thread_wait_a_moment(n);
    }
}

/* any context */
bool thread_hold(struct thread *thread)
{
    return claim(thread, THREAD_HELD);
}

/* any context */
void thread_release(struct thread *thread)
{
    __atomic_store_n(&thread->state, THREAD_LIVE, __ATOMIC_SEQ_CST);
}

/* any context */
bool thread_handler_is_done(const struct thread *thread, uint64_t give_up_ns)
{
    while (thread != thread_self && __atomic_load_n(&thread->in_handler, __ATOMIC_SEQ_CST) != 0) {
        if (os_clock_ns(CLOCK_MONOTONIC) >= give_up_ns)
            return false;
        syscall(SYS_sched_yield);
    }
    return true;
}

/* The slot is nobody's any more; the id is remembered as that of a thread on its way out. any
 * context */
SIGNAL_SAFE static void forget(struct thread *thread, uint64_t gone_cpu_ns)
{
    __atomic_store_n(&thread->pointer, 0, __ATOMIC_RELEASE);
    thread_note_tid(thread->tid, NULL, gone_cpu_ns);
    count(&thread_counts.n_known, -1);
    if (thread->is_found)
        count(&thread_counts.n_found, -1);
    slot_free(thread);
}

/* The state is ENDING: whoever still writes to the stream (its handler, the watcher) has seen it
 * alive, and comes to an end. any context */
SIGNAL_SAFE static void wait_for_writer(const struct thread *thread)
{
    while (__atomic_load_n(&thread->in_handler, __ATOMIC_SEQ_CST) != 0)
        syscall(SYS_sched_yield);
}

/* any context */
void thread_reap(struct thread *thread, pid_t tid)
{
    if (!claim(thread, THREAD_HELD))
        return;
    if (thread->tid != tid) {
        thread_release(thread);
        return;
    }
    __atomic_store_n(&thread->state, THREAD_ENDING, __ATOMIC_SEQ_CST);
    wait_for_writer(thread);
    uint64_t cpu_ns = cpu_of_dead_ns(thread);
    bool by_events = session.options.measure == OPTIONS_EVENT;
    end_records(thread, false, by_events ? now_of(thread, false) : cpu_ns, cpu_ns);
    clock_disarm(&thread->clock);
    forget(thread, THREAD_NOT_GONE);
}

/* HOOK */
void thread_end(struct thread *thread)
{
    uint64_t ours = os_signal_bit(session.options.signo), before = 0;
    os_sigmask(SIG_BLOCK, &ours, &before);
    thread->is_held_back = (before & ours) != 0;
    if (!claim(thread, THREAD_ENDING))
        return; /* the process ends, and has done it for us; memory stays */
    wait_for_writer(thread);
    clock_disarm(&thread->clock);
    uint64_t now = now_of(thread, true);
    locate_unless_known(thread, now);
    uint64_t cpu_ns = end_records(thread, true, now, 0);
    thread_self = NULL;
    forget(thread, cpu_ns + 1);
}

/* EXIT */
void thread_finish(struct thread *thread)
{
    bool mine = thread == thread_self;
    if (!claim(thread, THREAD_ENDING))
        return;
    /* First the clock: what it costs to stop it is in the thread's CPU time then. */
    clock_disarm(&thread->clock);
    uint64_t now = now_of(thread, mine), cpu_ns = cpu_ns_of(thread, mine);
    if (mine)
        locate_unless_known(thread, now);
    if (cpu_ns == 0) {
        cpu_ns = cpu_of_dead_ns(thread);
        now = session.options.measure == OPTIONS_EVENT ? now : cpu_ns;
    }
    end_records(thread, mine, now, cpu_ns);
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
        if (!stack_table_init(&t->stacks, session.options.max_nodes))
            continue; /* the slot is out of use */
        stream_init(&t->stream, &session.recording, session.n_streams++);
        t->next_free = free_slots;
        free_slots = t;
    }
    thread_counts = (struct thread_counts){0};
    thread_self = NULL;
}
