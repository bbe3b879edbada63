/* life.c - see life.h.
 *
 * Weights add up to the clock only if nothing falls between a sample and the next writer. So every
 * end does the same things in this order: keep others from writing (state, then in_handler), read
 * the clock, advance the grid to it. What our own code uses after that is recorded as its cost, up
 * to one last reading, which is written as the thread's end: what the thread uses after that is in
 * neither number.
 *
 * A beginning is the same the other way round: the grid begins where the thread is left to the
 * program. Its first tick is requested before that, in the midst of our code, and so comes early by
 * what it takes to get out (10 us on a virtual machine, where it takes that long to set a timer):
 * less than a tick is late by. Waiting that much longer changed no share of any function.
 *
 * What all samples need, the recording's file among it, is made at the process's first one, and a
 * thread's event at its first tick. That takes some tenths of a millisecond, as long as many a process
 * and thread lasts that ends before its second; so it is our own, too, and the grid is moved by it. */
#include "threads/life.h"

#include <string.h>
#include <ucontext.h>

#include "record/module_images.h"
#include "state/run.h"
#include "sys/line.h"
#include "sys/lock.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "threads/children.h"
#include "threads/find.h"
#include "threads/held_back.h"
#include "threads/kernel_time.h"
#include "threads/sample.h"
#include "threads/slots.h"
#include "threads/wall_state.h"

/* any context */
SIGNAL_SAFE static void name_read(const struct thread *thread, bool mine, char name[16])
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
    long n = os_call(SYS_read, fd, name, 15);
    os_close(fd);
    name[n > 0 ? n : 0] = '\0';
    char *end = memchr(name, '\n', 15);
    if (end != NULL)
        *end = '\0';
}

/* Where a thread's first point lies. The kernel numbers threads and processes as they are made, so that
 * those of a program, and of a thousand short programs of a script, have numbers in a row or nearly:
 * they are spread evenly, without having to know of each other. What moves all of them together is
 * the time, in steps of nine seconds: a program that always gets the same number, in a container,
 * is not always sampled at the same place. What a process becomes by exec has its number, but not
 * the CPU time, in steps of 4 ms. any context */
SIGNAL_SAFE static uint64_t phase_ns_of(pid_t tid, uint64_t start_cpu_ns)
{
    uint64_t together = (os_clock_ns(CLOCK_MONOTONIC) >> 33) * UINT64_C(0xd1342543de82ef95);
    together += (start_cpu_ns >> 22) * UINT64_C(0xaf251af3b0f025b5);
    return grid_phase_ns(session.settings.step, together, (uint64_t)tid);
}

/* Whether our own cost is kept apart: it is CPU time, which is not what the others measure. any
 * context */
SIGNAL_SAFE static bool counts_own(const struct thread *thread)
{
    return session.settings.measure == SETTINGS_CPU && !thread->is_paused;
}

/* Resets what belongs to one thread, and writes THREAD_START. any context */
SIGNAL_SAFE static void begin_records(struct thread *thread, pid_t tid, uint64_t start_cpu_ns,
                                      bool mine)
{
    struct capture_header *header = session.recording.header;
    thread->tid = tid;
    thread->start_cpu_ns = start_cpu_ns;
    thread->held_back = HELD_BACK_NOT;
    thread->behind = THREAD_NOT_BEHIND;
    thread->n_samples = 0;
    thread->last_node = 0;
    thread->sample_ns = 0;
    thread->kernel_time = (struct kernel_time){0};
    thread->repeat_pc = 0;
    thread->n_path = 0;
    thread->destructor_rounds = 0;
    thread->label.is_new = 0;
    name_read(thread, mine, thread->name);
    clock_init(&thread->clock);
    thread->n_events_told = 0;
    if (thread->wall != NULL)
        wall_reset(thread->wall, start_cpu_ns, os_clock_ns(CLOCK_MONOTONIC));
    bool by_events = session.settings.measure == SETTINGS_EVENT;
    grid_init(&thread->grid, session.settings.step, by_events ? 0 : start_cpu_ns,
              phase_ns_of(tid, start_cpu_ns));
    const struct stream_thread_start start = {.tid = (uint64_t)tid,
                                              .time_ns = os_clock_ns(CLOCK_MONOTONIC),
                                              .cpu_ns = start_cpu_ns,
                                              .name = thread->name};
    stream_put_thread_start(&thread->stream, &start);
    recording_count(&header->n_threads, 1);
}

/* What the thread got. any context */
SIGNAL_SAFE static void put_clock(struct thread *thread, bool armed)
{
    stream_put_clock(&thread->stream, clock_kind(&thread->clock), thread->clock.why_errno);
    if (!armed)
        recording_count(&session.recording.header->n_threads_missed, 1);
}

/* The first tick comes `first` (nanoseconds, or events) from now. any context */
SIGNAL_SAFE static void arm(struct thread *thread, bool mine, uint64_t first)
{
    bool armed;
    if (mine)
        armed = clock_await(&thread->clock, first);
    else if (held_back_now(thread->tid) == HELD_BACK_ALL)
        armed = clock_arm_unheard(&thread->clock, thread->tid, first);
    else
        armed = clock_arm(&thread->clock, thread->tid, first);
    put_clock(thread, armed);
}

/* any context */
void thread_arm(struct thread *thread, bool mine)
{
    uint64_t now = clock_read(&thread->clock, mine ? 0 : thread->tid);
    arm(thread, mine, grid_wait_ns(&thread->grid, now));
}

/* is_off is read after HELD; control.c stores it first and then looks for HELD. any context */
SIGNAL_SAFE static void begin_paused(struct thread *thread)
{
    thread->is_paused = __atomic_load_n(&session.is_off, __ATOMIC_SEQ_CST) != 0;
}

/* The calling thread's clock, and its grid from where the program has the thread; the last thing
 * before that. SETUP, HOOK */
static void begin_clock_and_grid(struct thread *thread, uint64_t start_cpu_ns,
                                 uint64_t entered_cpu_ns)
{
    if (!counts_own(thread)) {
        if (!thread->is_paused)
            thread_arm(thread, true);
        return;
    }
    uint64_t phase_ns = thread->grid.next_ns - start_cpu_ns;
    arm(thread, true, phase_ns);
    uint64_t now_ns = os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    thread->grid.next_ns = now_ns + phase_ns;
    stream_put_thread_cost(&thread->stream, entered_cpu_ns - start_cpu_ns, now_ns - entered_cpu_ns);
}

/* A scan may have found the calling thread before it came to begin. HOOK */
static void end_found_self(pid_t tid)
{
    struct thread *found = thread_of_tid(tid);
    if (found != NULL && found->is_found)
        thread_reap(found, tid);
}

/* SETUP, HOOK */
void thread_begin(struct thread *thread, uint64_t entered_cpu_ns, bool is_new)
{
    uint64_t pointer = tls_pointer(), start_cpu_ns = is_new ? 0 : entered_cpu_ns;
    pid_t tid = os_gettid();
    __atomic_store_n(&thread->state, THREAD_HELD, __ATOMIC_SEQ_CST);
    bool is_found = thread_of_tid(tid) != NULL;
    if (is_found || (!is_new && session.settings.measure != SETTINGS_CPU))
        start_cpu_ns = entered_cpu_ns = os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (is_found)
        end_found_self(tid);
    thread_note_tid(tid, thread, THREAD_NOT_GONE); /* a scan must not take it for a found one */
    unwind_thread_bind(thread->unwind);
    begin_records(thread, tid, start_cpu_ns, true);
    thread->is_found = false;
    __atomic_store_n(&thread->pointer, pointer, __ATOMIC_RELEASE);
    thread_note_pointer(pointer, thread);
    thread_self = thread;
    begin_paused(thread);
    begin_clock_and_grid(thread, start_cpu_ns, entered_cpu_ns);
    thread_go_live(thread);
}

/* any context */
bool thread_begin_other(struct thread *thread, pid_t tid, uint64_t start_cpu_ns)
{
    if (os_call(SYS_tgkill, os_getpid(), tid, 0) != 0) {
        thread_unreserve(thread);
        return false;
    }
    __atomic_store_n(&thread->state, THREAD_HELD, __ATOMIC_SEQ_CST);
    unwind_thread_bind_other(thread->unwind);
    begin_records(thread, tid, start_cpu_ns, false);
    thread->is_found = true;
    thread->mask_blocked = false;
    __atomic_store_n(&thread->pointer, 0, __ATOMIC_RELEASE);
    recording_count(&session.recording.header->n_threads_found, 1);
    begin_paused(thread);
    if (!thread->is_paused)
        thread_arm(thread, false);
    thread_go_live(thread);
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

/* Where the thread's clock stands: CPU time or events. any context */
SIGNAL_SAFE static uint64_t now_of(const struct thread *thread, bool mine)
{
    return clock_read(&thread->clock, mine ? 0 : thread->tid);
}

/* Its time off the processor goes to where it stands. It ends, or the process does, and nobody else
 * writes meanwhile. any context */
SIGNAL_SAFE static void settle_wall(struct thread *thread, uint64_t cpu_ns, uint64_t time_ns)
{
    struct wall *wall = thread->wall;
    uint64_t steps = wall_steps(wall, cpu_ns, time_ns) + wall_wait_steps(wall);
    uint32_t node = wall->stand_node != 0 ? wall->stand_node : thread->last_node;
    if (steps != 0 && node != 0)
        sample_credit(thread, time_ns, steps, node);
    else if (steps != 0)
        sample_lose_tail(thread, steps);
}

/* any context */
void thread_catch_up(struct thread *thread, uint64_t cpu_ns)
{
    uint64_t used_ns = cpu_ns > thread->switch_cpu_ns ? cpu_ns - thread->switch_cpu_ns : 0;
    if (thread->behind == THREAD_BEHIND_STOP)
        __atomic_add_fetch(&session.behind_ns, used_ns, __ATOMIC_RELAXED);
    else if (thread->behind == THREAD_BEHIND_RESUME && thread->is_paused)
        __atomic_sub_fetch(&session.behind_ns, used_ns, __ATOMIC_RELAXED);
    thread->behind = THREAD_NOT_BEHIND;
}

/* Credits what `thread` has used up to `now` of its clock (0 = it cannot be read: nothing), and the
 * elapsed time up to time_ns. any context */
SIGNAL_SAFE static void settle_at(struct thread *thread, bool mine, uint64_t now, uint64_t time_ns)
{
    if (now == 0 || (thread->is_paused && thread->behind != THREAD_BEHIND_STOP))
        return;
    if (session.settings.measure == SETTINGS_EVENT && now > thread->n_events_told) {
        recording_count(&session.recording.header->n_events, now - thread->n_events_told);
        thread->n_events_told = now;
    }
    uint64_t steps = grid_advance(&thread->grid, now) + kernel_time_rest(thread);
    if (!mine && (sample_is_late(thread, steps) || thread->last_node == 0))
        thread->held_back = held_back_now(thread->tid);
    if (thread->wall != NULL)
        settle_wall(thread, now, time_ns);
    if (steps == 0)
        return;
    sample_credit_tail(thread, steps);
}

/* any context */
void thread_settle_other(struct thread *thread, uint64_t time_ns)
{
    settle_at(thread, false, now_of(thread, false), time_ns);
}

/* HOOK, EXIT */
void thread_settle(struct thread *thread, bool mine)
{
    uint64_t now = now_of(thread, mine);
    if (mine)
        locate_unless_known(thread, now);
    settle_at(thread, mine, now, os_clock_ns(CLOCK_MONOTONIC));
}

/* What is known of the CPU time of a thread that has ended: its last grid point in a sample. (A
 * perf event would still show what it counted, but that is more than the CPU clock has where a
 * machine's host takes time away.) any context */
SIGNAL_SAFE static uint64_t cpu_of_dead_ns(const struct thread *thread)
{
    uint64_t next_ns = thread->grid.next_ns, period_ns = thread->grid.period_ns;
    if (session.settings.measure == SETTINGS_EVENT)
        return thread->start_cpu_ns;
    return next_ns > thread->start_cpu_ns + period_ns ? next_ns - period_ns : thread->start_cpu_ns;
}

/* Our own cost is what its CPU clock shows beyond `from_cpu_ns`. Returns what it shows. any
 * context */
SIGNAL_SAFE static uint64_t put_own(struct thread *thread, uint64_t from_cpu_ns)
{
    uint64_t cpu_ns = cpu_ns_of(thread, true);
    if (counts_own(thread) && cpu_ns > from_cpu_ns)
        stream_put_thread_cost(&thread->stream, 0, cpu_ns - from_cpu_ns);
    return cpu_ns;
}

/* Our own cost is also what the clock shows beyond `from_ns`, and the grid is moved by it. False
 * when that is nothing. SIGNAL, HOOK */
SIGNAL_SAFE static bool leave_out_since(struct thread *thread, uint64_t from_ns)
{
    uint64_t now_ns = counts_own(thread) ? put_own(thread, from_ns) : 0;
    if (now_ns <= from_ns)
        return false;
    thread->grid.next_ns += now_ns - from_ns;
    return true;
}

/* SIGNAL */
void thread_count_first(struct thread *thread, uint64_t ticked_ns)
{
    if (leave_out_since(thread, ticked_ns))
        clock_put_off(&thread->clock);
}

/* SIGNAL, HOOK */
void thread_arm_awaited(struct thread *thread, uint64_t ticked_ns)
{
    uint32_t kind = thread->clock.kind;
    int why_errno = thread->clock.why_errno;
    uint64_t now_ns = os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    clock_disarm(&thread->clock);
    bool armed = clock_arm(&thread->clock, 0, grid_wait_ns(&thread->grid, now_ns));
    if (thread->clock.kind != kind || thread->clock.why_errno != why_errno)
        put_clock(thread, armed);
    leave_out_since(thread, ticked_ns);
}

/* HOOK */
void thread_count_own(struct thread *thread, uint64_t settled_cpu_ns)
{
    put_own(thread, settled_cpu_ns);
}

/* The caller has set the state to ENDING; `now` is of the thread's clock, cpu_ns of its CPU clock.
 * Returns what is written as its end. any context */
SIGNAL_SAFE static uint64_t end_records(struct thread *thread, bool mine, uint64_t now,
                                        uint64_t cpu_ns)
{
    char name[16];
    settle_at(thread, mine, now, os_clock_ns(CLOCK_MONOTONIC));
    name_read(thread, mine, name);
    if (name[0] != '\0' && memcmp(name, thread->name, strnlen(name, sizeof name - 1) + 1) != 0)
        stream_put_thread_name(&thread->stream, name);
    if (mine) {
        if (children_are_waiting())
            children_write(thread);
        if (session_phase() == SESSION_ENDED)
            module_images_put(&thread->stream);
        cpu_ns = put_own(thread, cpu_ns);
        if (session.settings.measure == SETTINGS_WALL)
            settle_at(thread, true, cpu_ns, os_clock_ns(CLOCK_MONOTONIC));
    }
    thread_catch_up(thread, cpu_ns);
    stream_put_thread_end(&thread->stream, os_clock_ns(CLOCK_MONOTONIC), cpu_ns);
    return cpu_ns;
}

/* The state is ENDING: whoever still writes to the stream (its handler, the watcher) saw the thread
 * alive, and soon finishes. any context */
SIGNAL_SAFE static void wait_for_writer(const struct thread *thread)
{
    for (unsigned n = 1; __atomic_load_n(&thread->in_handler, __ATOMIC_SEQ_CST) != 0; n++)
        wait_a_moment(n);
}

/* any context */
void thread_reap(struct thread *thread, pid_t tid)
{
    if (!thread_claim(thread, THREAD_HELD))
        return;
    if (thread->tid != tid) {
        thread_release(thread);
        return;
    }
    __atomic_store_n(&thread->state, THREAD_ENDING, __ATOMIC_SEQ_CST);
    wait_for_writer(thread);
    uint64_t cpu_ns = cpu_of_dead_ns(thread);
    bool by_events = session.settings.measure == SETTINGS_EVENT;
    end_records(thread, false, by_events ? now_of(thread, false) : cpu_ns, cpu_ns);
    clock_disarm(&thread->clock);
    thread_give_back(thread, THREAD_NOT_GONE);
}

/* HOOK */
void thread_end(struct thread *thread)
{
    uint64_t ours = os_signal_bit(session.settings.signo), before = 0;
    os_sigmask(SIG_BLOCK, &ours, &before);
    thread->held_back = held_back_by(before);
    uint64_t now = now_of(thread, true);
    if (!thread_claim(thread, THREAD_ENDING))
        return; /* the process ends, and has done it for us; the slot stays */
    wait_for_writer(thread);
    locate_unless_known(thread, now);
    clock_disarm(&thread->clock);
    uint64_t cpu_ns = end_records(thread, true, now, now);
    thread_self = NULL;
    thread_give_back(thread, cpu_ns + 1);
}

/* EXIT */
void thread_finish(struct thread *thread)
{
    bool mine = thread == thread_self;
    if (!thread_claim(thread, THREAD_ENDING))
        return;
    if (!mine)
        clock_disarm(&thread->clock);
    uint64_t now = now_of(thread, mine), cpu_ns = cpu_ns_of(thread, mine);
    if (mine) {
        locate_unless_known(thread, now);
        clock_disarm(&thread->clock);
    }
    if (cpu_ns == 0) {
        cpu_ns = cpu_of_dead_ns(thread);
        now = session.settings.measure == SETTINGS_EVENT ? now : cpu_ns;
    }
    end_records(thread, mine, now, cpu_ns);
}
