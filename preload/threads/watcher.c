/* watcher.c - see watcher.h.
 *
 * Runs on a thread of its own, which no hook made: it has no slot, no clock and takes none of our
 * signals. It ends when the process does, when it would be the last thread left, or when the program
 * makes a call that wants it gone. */
#include "threads/watcher.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>

#include "clock/engine.h"
#include "state/run.h"
#include "sys/libc_real.h"
#include "sys/lock.h"
#include "sys/os.h"
#include "threads/sample.h"
#include "threads/slots.h"
#include "threads/wall_place.h"
#include "threads/wall_state.h"

#define WATCHER_STACK_BYTES ((size_t)128 * 1024)
#define LOCKED_BY_WATCHER 2u

/* A thread that has been blocked for a while is looked at again after a small part of that time. */
#define BLOCKED_PART 64u
#define LONG_NS UINT64_C(256000000)
#define LONG_PART 16u
#define LOOK_MAX_NS UINT64_C(64000000)

/* The watcher wakes at least this often, for threads that are new. */
#define SLEEP_MAX_NS UINT64_C(16000000)

/* How much of a blocked thread's time SIGKILL may cost. */
#define FLUSH_NS UINT64_C(1000000000)

/* The scheduler's slice that the watcher asks for. */
#define SLICE_NS UINT64_C(100000)

/* A thread that waits this long for a processor had it taken away; one that wakes gets one
 * sooner. */
#define PREEMPTED_NS UINT64_C(1000000)

/* CPU time a thread may use on its way back from our handler into the call it was in. */
#define RETURN_NS UINT64_C(20000)

/* Atomic, sequentially consistent: `looking` against the session's phase, as in_handler is. */
static uint32_t looking;
static pid_t watcher_tid; /* 0 = none; atomic */
static pid_t watcher_pid;

/* Of calls that want it gone: how many there are, and whether it is to leave (atomic, a futex). */
static struct lock away_lock;
static uint32_t n_away, is_to_leave;

/* any context */
bool watcher_is(pid_t tid)
{
    return tid != 0 && __atomic_load_n(&watcher_tid, __ATOMIC_ACQUIRE) == tid;
}

/* ---- the watcher's view of one thread ------------------------------------------------------- */

/* First the mark, then the question whether the thread may still be written for: whoever ends it
 * stores that first and then looks for the mark. */
static bool thread_lock(struct thread *thread)
{
    uint32_t free = 0;
    if (!__atomic_compare_exchange_n(&thread->in_handler, &free, LOCKED_BY_WATCHER, false,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return false;
    if (session_phase() == SESSION_RUNNING &&
        __atomic_load_n(&thread->state, __ATOMIC_SEQ_CST) == THREAD_LIVE && !thread->is_paused)
        return true;
    __atomic_store_n(&thread->in_handler, 0, __ATOMIC_SEQ_CST);
    return false;
}

static void thread_unlock(struct thread *thread)
{
    __atomic_store_n(&thread->in_handler, 0, __ATOMIC_SEQ_CST);
}

/* Credits its time off the processor up to `off_ns` to `node`. Locked. */
static void credit_until(struct thread *thread, uint64_t off_ns, uint32_t node, uint64_t now_ns)
{
    struct wall *wall = thread->wall;
    if (off_ns <= wall->off_saved_ns || node == 0)
        return;
    wall->off_saved_ns = off_ns;
    uint64_t steps = grid_advance(&wall->off, off_ns);
    if (steps != 0)
        sample_credit(thread, now_ns, steps, node);
}

/* The thread is blocked at `node`, and is now in the middle of it. Locked. */
static void sample_at(struct thread *thread, uint32_t node, uint64_t off_ns, uint64_t now_ns)
{
    uint64_t steps = grid_advance(&thread->wall->off, off_ns);
    thread->wall->off_saved_ns = off_ns;
    thread->wall->stand_node = node;
    if (steps != 0)
        sample_known(thread, now_ns, steps, node);
}

/* The next number of the line; advances *at past it and the blank. */
static uint64_t number_next(const char **at, uint64_t base)
{
    uint64_t number = 0;
    const char *c = *at;
    if (c[0] == '0' && c[1] == 'x')
        c += 2;
    for (; *c != ' ' && *c != '\n' && *c != '\0'; c++)
        number = number * base + (uint64_t)(*c <= '9' ? *c - '0' : *c - 'a' + 10);
    *at = *c == ' ' ? c + 1 : c;
    return number;
}

enum where { WHERE_UNKNOWN, WHERE_RUNNING, WHERE_IN_CALL };

/* "running" on a processor or waiting for one, or "NUMBER ARG1 .. ARG6 SP PC" of the system call it
 * is blocked in, or "-1 SP PC". */
static enum where ask_kernel(const struct thread *thread, uint64_t *sp, uint64_t *pc)
{
    char line[256];
    if (thread->clock.look_fd < 0)
        return WHERE_UNKNOWN;
    long n = os_call(SYS_pread64, thread->clock.look_fd, line, sizeof line - 1, 0);
    if (n <= 0)
        return WHERE_UNKNOWN;
    line[n] = '\0';
    if (line[0] < '0' || line[0] > '9')
        return WHERE_RUNNING;
    const char *at = line;
    for (unsigned i = 0; i < 7; i++)
        number_next(&at, 16);
    *sp = number_next(&at, 16);
    *pc = number_next(&at, 16);
    return WHERE_IN_CALL;
}

struct look {
    uint64_t now_ns;
    uint64_t cpu_ns;
    uint64_t off_ns;
    bool moved; /* it has had the processor since the last look */
};

/* Whether it is still at its last node: it has had no processor time since, except for the way back
 * from our handler. */
static bool is_where_it_was(const struct thread *thread, uint64_t cpu_ns)
{
    const struct wall *wall = thread->wall;
    return thread->last_node != 0 && wall->found_cpu_ns != 0 &&
           cpu_ns - wall->found_cpu_ns < RETURN_NS;
}

/* The node of the stack it stands at, as far as that is known without asking it. Locked. */
static uint32_t known_node(struct thread *thread, enum where where, uint64_t sp, uint64_t pc,
                           const struct look *look)
{
    if (where == WHERE_IN_CALL)
        return wall_find_place(thread->wall, sp, pc);
    /* One that runs is where it was, if it has had no processor since. */
    bool stands = where == WHERE_UNKNOWN ? thread->wall->found_in_call : !look->moved;
    return stands && is_where_it_was(thread, look->cpu_ns) ? thread->last_node : 0;
}

/* "CPU_NS QUEUED_NS RUNS" */
static bool read_waits(const struct thread *thread, uint64_t *queued_ns, uint64_t *n_runs)
{
    char line[80];
    if (thread->clock.wait_fd < 0)
        return false;
    long n = os_call(SYS_pread64, thread->clock.wait_fd, line, sizeof line - 1, 0);
    if (n <= 0)
        return false;
    line[n] = '\0';
    const char *at = line;
    number_next(&at, 10);
    *queued_ns = number_next(&at, 10);
    *n_runs = number_next(&at, 10);
    return true;
}

/* `runs`: it computes now. If it did at the last look too, then what it waited since then, in order
 * to continue, is not blocked time; nor is time that was taken from it while it kept its processor.
 * It may also have waited after a call woke it: the length distinguishes the two. Locked. */
static void tell_waits_apart(struct thread *thread, struct look *look, bool runs)
{
    struct wall *wall = thread->wall;
    uint64_t queued_ns = 0, n_runs = 0;
    if (!read_waits(thread, &queued_ns, &n_runs))
        return;
    uint64_t pending_ns = look->off_ns > wall->off_saved_ns ? look->off_ns - wall->off_saved_ns : 0;
    uint64_t new_ns = look->off_ns > wall->off_seen_ns ? look->off_ns - wall->off_seen_ns : 0;
    uint64_t new_runs = n_runs - wall->n_runs, new_queued_ns = queued_ns - wall->queued_ns;
    uint64_t waited_ns = new_runs == 0 && runs ? new_ns : new_queued_ns;
    waited_ns = waited_ns < pending_ns ? waited_ns : pending_ns;
    wall->queued_ns = queued_ns;
    wall->n_runs = n_runs;
    if (!wall->ran || new_queued_ns < new_runs * PREEMPTED_NS)
        return;
    wall->wait_ns += waited_ns;
    look->off_ns -= waited_ns;
}

/* It has moved since the last look, or where it stood then was not known. True when it is to sample
 * itself. Locked. */
static bool settle(struct thread *thread, struct look *look)
{
    struct wall *wall = thread->wall;
    uint64_t sp = 0, pc = 0;
    enum where where = ask_kernel(thread, &sp, &pc);
    uint32_t stood_at = wall->stand_node;
    if (look->moved)
        tell_waits_apart(thread, look, where == WHERE_RUNNING);
    /* Up to the last look it stood there for certain. Its time off since then goes to where it is
     * found to block next, as with any sampling; after a long pause most of it belongs to the place
     * before. */
    bool is_late = look->now_ns - wall->seen_ns > 2 * session.settings.period_ns;
    credit_until(thread, is_late ? look->off_ns : wall->off_seen_ns, stood_at, look->now_ns);
    wall->stand_node = 0;
    wall->ran = where == WHERE_RUNNING;
    if (wall->ran)
        return false;
    uint32_t node = known_node(thread, where, sp, pc, look);
    if (node != 0)
        sample_at(thread, node, look->off_ns, look->now_ns);
    return node == 0;
}

static void look_at_moved(struct thread *thread, struct look *look)
{
    struct wall *wall = thread->wall;
    if (!thread_lock(thread))
        return; /* it is sampling itself */
    bool needs_signal = settle(thread, look);
    wall->cpu_ns = look->cpu_ns;
    wall->moved_ns = look->now_ns;
    wall->seen_ns = look->now_ns;
    wall->off_seen_ns = look->off_ns;
    wall->next_look_ns = 0;
    thread_unlock(thread);
    if (needs_signal)
        clock_wall_send(thread->tid, session.settings.signo);
}

static void look_at_standing(struct thread *thread, struct look *look)
{
    struct wall *wall = thread->wall;
    uint64_t blocked_ns = look->now_ns - wall->moved_ns;
    uint64_t pause_ns = blocked_ns / (blocked_ns < LONG_NS ? BLOCKED_PART : LONG_PART);
    if (!thread_lock(thread))
        return;
    bool needs_signal = wall->stand_node == 0 && settle(thread, look);
    wall->seen_ns = look->now_ns;
    wall->off_seen_ns = look->off_ns;
    uint64_t next_ns = look->now_ns + (pause_ns < LOOK_MAX_NS ? pause_ns : LOOK_MAX_NS);
    /* At a common moment for many of them: what costs is each waking. */
    if (pause_ns > SLEEP_MAX_NS / 4)
        next_ns += SLEEP_MAX_NS - next_ns % SLEEP_MAX_NS;
    wall->next_look_ns = next_ns;
    if (look->off_ns - wall->off_saved_ns >= FLUSH_NS)
        credit_until(thread, look->off_ns, wall->stand_node, look->now_ns);
    thread_unlock(thread);
    if (needs_signal)
        clock_wall_send(thread->tid, session.settings.signo);
}

/* When it is to be looked at again; 0 = at the next tick. */
static uint64_t look_at(struct thread *thread, uint64_t now_ns)
{
    struct wall *wall = thread->wall;
    if (__atomic_load_n(&thread->state, __ATOMIC_ACQUIRE) != THREAD_LIVE || wall == NULL)
        return UINT64_MAX;
    uint64_t next_ns = __atomic_load_n(&wall->next_look_ns, __ATOMIC_RELAXED);
    if (next_ns > now_ns)
        return next_ns;
    struct look look = {.cpu_ns = os_clock_ns(os_thread_clock(thread->tid))};
    if (look.cpu_ns == 0)
        return UINT64_MAX; /* just ended */
    look.now_ns = os_clock_ns(CLOCK_MONOTONIC);
    look.off_ns = look.now_ns - look.cpu_ns - wall->wait_ns;
    look.moved = look.cpu_ns != wall->cpu_ns;
    if (look.moved)
        look_at_moved(thread, &look);
    else
        look_at_standing(thread, &look);
    return wall->next_look_ns;
}

/* ---- the watcher itself ---------------------------------------------------------------------- */

/* Looks at all threads. Returns when the first is to be looked at again, UINT64_MAX if there is
 * none. */
static uint64_t look_at_all(void)
{
    uint64_t soonest_ns = UINT64_MAX;
    __atomic_store_n(&looking, 1, __ATOMIC_SEQ_CST);
    if (session_phase() == SESSION_RUNNING) {
        for (struct thread *t = thread_slots(); t != NULL; t = t->next_slot) {
            uint64_t next_ns = look_at(t, os_clock_ns(CLOCK_MONOTONIC));
            soonest_ns = next_ns < soonest_ns ? next_ns : soonest_ns;
        }
    } else {
        soonest_ns = 0; /* before the beginning, or around an exec */
    }
    __atomic_store_n(&looking, 0, __ATOMIC_SEQ_CST);
    return soonest_ns;
}

static bool has_no_thread(void)
{
    for (const struct thread *t = thread_slots(); t != NULL; t = t->next_slot)
        if (__atomic_load_n(&t->state, __ATOMIC_ACQUIRE) != THREAD_FREE)
            return false;
    return true;
}

/* Short slices let it preempt threads that compute as soon as it wakes: it takes some microseconds
 * and sleeps again. Linux 6.12 has them; elsewhere nothing changes. */
static void ask_for_short_slices(void)
{
    struct {
        uint32_t size;
        uint32_t policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime;
        uint64_t deadline;
        uint64_t period;
    } attributes = {.size = sizeof attributes};
    if (os_call(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 ||
        attributes.policy != SCHED_OTHER)
        return;
    attributes.runtime = SLICE_NS;
    os_call(SYS_sched_setattr, 0, &attributes, 0);
}

/* All signals go to the program's threads; only libc's own two are for every thread (setuid). */
static void prepare_watcher(void)
{
    const uint64_t all_but_libc = ~(os_signal_bit(32) | os_signal_bit(33));
    os_sigmask(SIG_SETMASK, &all_but_libc, NULL);
    os_prctl(PR_SET_NAME, (unsigned long)"sampler-wall");
    os_prctl(PR_SET_TIMERSLACK, 1);
    ask_for_short_slices();
    __atomic_store_n(&watcher_tid, os_gettid(), __ATOMIC_RELEASE);
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / OS_NS_PER_S),
                             .tv_nsec = (long)(ns % OS_NS_PER_S)};
}

/* Until `until_ns`, or until it is to leave. True: it is to leave. */
static bool watcher_sleep(uint64_t until_ns)
{
    const struct timespec until = timespec_of(until_ns);
    uint32_t leaves;
    long result;
    do {
        result = os_call(SYS_futex, &is_to_leave, FUTEX_WAIT_BITSET_PRIVATE, 0, &until, NULL,
                         FUTEX_BITSET_MATCH_ANY);
        leaves = __atomic_load_n(&is_to_leave, __ATOMIC_ACQUIRE);
    } while (result == 0 && leaves == 0);
    return leaves != 0;
}

/* Ends with the process; or with the last of its threads, as the process would not end
 * otherwise. */
static void *watch(void *unused)
{
    const uint64_t period_ns = session.settings.period_ns;
    prepare_watcher();
    uint64_t tick_ns = os_clock_ns(CLOCK_MONOTONIC);
    for (;;) {
        if (watcher_sleep(tick_ns + os_random() % period_ns))
            return unused; /* watcher_tid is cleared by who wants it gone, when it is */
        uint32_t phase = session_phase();
        if (phase == SESSION_ENDED)
            break;
        uint64_t soonest_ns = look_at_all();
        if (soonest_ns == UINT64_MAX && phase == SESSION_RUNNING && has_no_thread())
            break;
        uint64_t now_ns = os_clock_ns(CLOCK_MONOTONIC);
        if (soonest_ns > now_ns + SLEEP_MAX_NS)
            soonest_ns = now_ns + SLEEP_MAX_NS;
        uint64_t from_ns = soonest_ns > now_ns ? soonest_ns : now_ns;
        tick_ns += period_ns;
        if (tick_ns < from_ns)
            tick_ns += (from_ns - tick_ns) / period_ns * period_ns;
    }
    __atomic_store_n(&watcher_tid, 0, __ATOMIC_RELEASE);
    return unused;
}

/* SETUP, HOOK */
bool watcher_start(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (watcher_pid == os_getpid())
        return true;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, WATCHER_STACK_BYTES);
    int error = LIBC_REAL(pthread_create)(&thread, &attributes, watch, NULL);
    pthread_attr_destroy(&attributes);
    if (error == 0) {
        watcher_pid = os_getpid();
        /* Known by its id before anybody counts threads. */
        for (unsigned n = 1; __atomic_load_n(&watcher_tid, __ATOMIC_ACQUIRE) == 0; n++)
            wait_a_moment(n);
    }
    errno = error;
    return error == 0;
}

/* HOOK */
void watcher_stop(bool is_child)
{
    if (is_child) {
        watcher_pid = 0;
        watcher_tid = 0;
        looking = 0;
        n_away = 0;
        is_to_leave = 0;
        lock_reset(&away_lock);
    }
    for (unsigned n = 1; __atomic_load_n(&looking, __ATOMIC_SEQ_CST) != 0; n++)
        wait_a_moment(n);
}

/* HOOK */
void watcher_leave(void)
{
    uint64_t mask = lock_take_masked(&away_lock);
    n_away++;
    __atomic_store_n(&is_to_leave, 1, __ATOMIC_RELEASE);
    lock_give_masked(&away_lock, mask);
    os_call(SYS_futex, &is_to_leave, FUTEX_WAKE_PRIVATE, 1);
    pid_t tid = __atomic_load_n(&watcher_tid, __ATOMIC_ACQUIRE);
    for (unsigned n = 1; tid != 0 && os_call(SYS_tgkill, os_getpid(), tid, 0) == 0; n++)
        wait_a_moment(n);
    if (tid != 0)
        __atomic_compare_exchange_n(&watcher_tid, &tid, 0, false, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED);
}

/* HOOK */
bool watcher_return(void)
{
    bool ok = true;
    uint64_t mask = lock_take_masked(&away_lock);
    if (--n_away == 0) {
        __atomic_store_n(&is_to_leave, 0, __ATOMIC_RELAXED);
        watcher_pid = 0;
        ok = watcher_start();
    }
    lock_give_masked(&away_lock, mask);
    return ok;
}
