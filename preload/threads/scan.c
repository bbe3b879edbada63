/* scan.c - see scan.h.
 *
 * Two kinds of thread must not be mistaken for one made by a raw clone: one that pthread_create is
 * about to start, and one on its way out, which has reported its end but is still listed. The first
 * is recognised by the order of the questions (look_at) and by its CPU time, the second by what is
 * noted with its id (find.h) and by its CPU time.
 *
 * The timer's signal is for one thread, not for the process. A signal for the process wakes a
 * thread that waits, but any other thread that just leaves a handler may take it; the one that was
 * woken then returns EINTR (from sigwaitinfo, semop, epoll_wait and others that the kernel does not
 * make again itself) without having been in a handler that could put that right. For the same
 * reason only the thread itself deletes a timer whose signal may be on its way to it. */
#include "threads/scan.h"

#include <errno.h>
#include <sys/single_threaded.h>

#include "state/run.h"
#include "sys/fds.h"
#include "sys/layout.h"
#include "sys/lock.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "threads/find.h"
#include "threads/life.h"
#include "threads/slots.h"
#include "threads/watcher.h"

#define LOOK_EVERY_NS UINT64_C(10000000)
#define LOOK_SELDOM_NS UINT64_C(100000000)
#define COST_SHARE 100u /* a look that took t is not repeated within 100 t */

/* CPU time that nobody we know used, and that makes it worth asking who did. */
#define OTHERS_NS UINT64_C(100000)

/* A thread that pthread_create makes is unknown until it gets to run; with more CPU time than this
 * it cannot be one of those. */
#define NEWBORN_CPU_NS UINT64_C(20000000)

/* Nor is a thread still on its way out when it has used this much since it reported its end. */
#define EXIT_CPU_NS UINT64_C(200000000)

/* A thread's CPU clock may show less to another processor than to the thread itself. */
#define CLOCKS_APART_NS UINT64_C(1000000)

/* What the timer's signal carries: its address is a value no one else uses. */
static char marker;

static struct {
    struct lock lock; /* held by who looks */
    uint64_t next_ns; /* atomic: CLOCK_MONOTONIC, no look before */
    pid_t runner;     /* atomic: the thread that was last seen to run, 0 = none yet */

    /* Under the lock. */
    int timer_id;         /* kernel's, -1 = none */
    pid_t target;         /* atomic, read without the lock: the thread that gets its signal */
    uint64_t interval_ns; /* of the timer */
    bool found;           /* by the look in progress */
    uint64_t others_ns;   /* CPU time that was not of the thread that looked, at the last look */
    bool is_awaited;      /* the timer is made at the first tick */
} scan = {.timer_id = -1};

/* /proc/self/task as read; under the lock. */
static LAYOUT_LARGE _Alignas(8) char entries[4096];

struct entry {
    uint64_t ino;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

/* any context */
SIGNAL_SAFE static pid_t number_of(const char *name)
{
    pid_t tid = 0;
    for (const char *c = name; *c != '\0'; c++) {
        if (*c < '0' || *c > '9')
            return 0;
        tid = tid * 10 + (*c - '0');
    }
    return tid;
}

/* any context */
SIGNAL_SAFE static void cover(pid_t tid, uint64_t start_cpu_ns)
{
    struct thread *thread = thread_reserve();
    if (thread == NULL)
        thread_note_tid(tid, NULL, THREAD_GONE_FOR_GOOD); /* counted as missed, once */
    else if (thread_begin_other(thread, tid, start_cpu_ns))
        scan.found = true;
}

/* A thread the kernel lists. What pthread_create makes is reserved before it is born, and known
 * before it is no longer reserved, so the questions come in this order. any context */
SIGNAL_SAFE static void look_at(pid_t tid)
{
    bool some_reserved = __atomic_load_n(&thread_counts.n_reserved, __ATOMIC_SEQ_CST) != 0;
    if (tid == 0 || thread_of_tid(tid) != NULL || watcher_is(tid))
        return;
    uint64_t cpu_ns = os_clock_ns(os_thread_clock(tid)), gone_cpu_ns = thread_gone_cpu_ns(tid);
    if (cpu_ns == 0)
        return; /* gone already, or not there yet */
    if (gone_cpu_ns == THREAD_NOT_GONE) {
        if (!some_reserved || cpu_ns > NEWBORN_CPU_NS)
            cover(tid, 0);
    } else if (gone_cpu_ns != THREAD_GONE_FOR_GOOD) {
        if (cpu_ns + CLOCKS_APART_NS < gone_cpu_ns)
            cover(tid, 0); /* another one */
        else if (cpu_ns > gone_cpu_ns + EXIT_CPU_NS)
            cover(tid, cpu_ns);
    }
}

/* Looks at every thread of the process. `from_now`: one that is not known is covered in any case,
 * and its CPU time counts from now on. any context */
SIGNAL_SAFE static void read_folder(bool from_now)
{
    int fd = os_open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd >= 0)
        fd = fds_adopt(fd);
    long n;
    while (fd >= 0 && (n = os_call(SYS_getdents64, fd, entries, sizeof entries)) > 0) {
        for (long at = 0; at < n;) {
            const struct entry *entry = (const void *)(entries + at);
            pid_t tid = number_of(entry->name);
            if (!from_now)
                look_at(tid);
            else if (tid != 0 && thread_of_tid(tid) == NULL && !watcher_is(tid) &&
                     thread_gone_cpu_ns(tid) == THREAD_NOT_GONE)
                cover(tid, os_clock_ns(os_thread_clock(tid)));
            at += entry->length;
        }
    }
    fds_close(fd);
}

/* Ends the slots of threads that ended without reporting it. any context */
SIGNAL_SAFE static void reap(bool found_only)
{
    for (struct thread *t = thread_slots(); t != NULL; t = t->next_slot) {
        if (__atomic_load_n(&t->state, __ATOMIC_ACQUIRE) != THREAD_LIVE ||
            (found_only && !t->is_found))
            continue;
        pid_t tid = __atomic_load_n(&t->tid, __ATOMIC_RELAXED);
        if (os_call(SYS_tgkill, session.pid, tid, 0) != 0 && errno == ESRCH)
            thread_reap(t, tid);
    }
}

/* Whether the calling thread is the only one known and, by the clocks, the only one that ran since
 * the last look: cheaper to ask than the folder, which took a fifth of a first tick. any context */
SIGNAL_SAFE static bool is_alone(uint64_t own_cpu_ns)
{
    if (session.settings.measure != SETTINGS_CPU ||
        __atomic_load_n(&thread_counts.n_known, __ATOMIC_SEQ_CST) != 1)
        return false;
    uint64_t cpu_ns = os_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t others_ns = cpu_ns > own_cpu_ns ? cpu_ns - own_cpu_ns : 0;
    if (others_ns < scan.others_ns + OTHERS_NS)
        return true;
    scan.others_ns = others_ns;
    return false;
}

/* Whether the kernel has as many threads as we know, and the watcher where elapsed time is
 * measured; the folder has a link for each. any context */
SIGNAL_SAFE static bool all_are_known(void)
{
    struct stat folder;
    return os_stat("/proc/self/task", &folder) != 0 ||
           folder.st_nlink == 2 + (session.settings.measure == SETTINGS_WALL ? 1u : 0u) +
                                  __atomic_load_n(&thread_counts.n_known, __ATOMIC_SEQ_CST);
}

/* Lock held. Once, `interval_ns` of the process's CPU time from now. any context */
SIGNAL_SAFE static void timer_set(void)
{
    const struct itimerspec spec = {
        .it_value = {.tv_sec = (time_t)(scan.interval_ns / OS_NS_PER_S),
                     .tv_nsec = (long)(scan.interval_ns % OS_NS_PER_S)}};
    if (scan.timer_id >= 0)
        os_call(SYS_timer_settime, scan.timer_id, 0, &spec, NULL);
}

/* Lock held. Makes the timer, not yet set, whose signal goes to `tid`. any context */
SIGNAL_SAFE static void timer_make(pid_t tid)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = session.settings.signo};
    int timer_id = -1;
    event.sigev_value.sival_ptr = &marker;
    event._sigev_un._tid = tid;
    bool is_made = os_call(SYS_timer_create, CLOCK_PROCESS_CPUTIME_ID, &event, &timer_id) == 0;
    scan.timer_id = is_made ? timer_id : -1;
    __atomic_store_n(&scan.target, tid, __ATOMIC_RELAXED);
}

/* Lock held. Gives the timer, if there is one, to another thread; by its target, or when that is
 * gone. any context */
SIGNAL_SAFE static void timer_move(pid_t tid)
{
    if (scan.timer_id < 0 || tid == scan.target)
        return;
    os_call(SYS_timer_delete, scan.timer_id);
    timer_make(tid);
}

/* Lock held. any context */
SIGNAL_SAFE static void timer_make_awaited(void)
{
    if (!scan.is_awaited)
        return;
    scan.is_awaited = false;
    timer_make(tls_gettid());
    timer_set();
}

/* Lock held. any context */
SIGNAL_SAFE static void look(void)
{
    /* Its cost is CPU time: a look that waited for a processor has cost no more. */
    uint64_t begin_cpu_ns = os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    scan.found = false;
    if (__atomic_load_n(&thread_counts.n_found, __ATOMIC_RELAXED) != 0)
        reap(true);
    if (!is_alone(begin_cpu_ns) && !all_are_known()) {
        reap(false);
        read_folder(false);
    }
    timer_make_awaited();
    if (thread_of_tid(scan.target) == NULL) {
        timer_move(tls_gettid());
        timer_set();
    }
    uint64_t pause_ns = (os_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_cpu_ns) * COST_SHARE;
    __atomic_store_n(&scan.next_ns,
                     os_clock_ns(CLOCK_MONOTONIC) +
                         (pause_ns > LOOK_EVERY_NS ? pause_ns : LOOK_EVERY_NS),
                     __ATOMIC_RELAXED);
}

/* any context */
void scan_now(void)
{
    if (session_phase() != SESSION_RUNNING || !session_is_ours() || !lock_try(&scan.lock))
        return;
    look();
    lock_give(&scan.lock);
}

/* any context */
SIGNAL_SAFE static bool is_due(uint64_t now_ns)
{
    return now_ns >= __atomic_load_n(&scan.next_ns, __ATOMIC_RELAXED);
}

/* any context */
void scan_thread_ticked(uint64_t now_ns)
{
    if (likely(!is_due(now_ns)))
        return;
    __atomic_store_n(&scan.runner, tls_gettid(), __ATOMIC_RELAXED);
    scan_now();
}

/* any context */
bool scan_sent(const siginfo_t *info)
{
    return info->si_code == SI_TIMER && info->si_value.sival_ptr == &marker;
}

/* While sampling is stopped nothing ticks. The timer goes on to the thread that was last seen to
 * run: it most likely runs when the timer is next due, and a thread that waits is left alone. any
 * context */
void scan_timer_ticked(void)
{
    recording_place(&session.recording); /* it has lived long enough to be worth a file */
    if (__atomic_load_n(&session.is_off, __ATOMIC_RELAXED) != 0)
        return;
    if (is_due(os_clock_ns(CLOCK_MONOTONIC)))
        scan_now();
    lock_take(&scan.lock);
    pid_t runner = __atomic_load_n(&scan.runner, __ATOMIC_RELAXED);
    if (runner != 0 && thread_of_tid(runner) != NULL)
        timer_move(runner);
    scan.interval_ns = scan.found ? LOOK_EVERY_NS : 2 * scan.interval_ns;
    if (scan.interval_ns > LOOK_SELDOM_NS)
        scan.interval_ns = LOOK_SELDOM_NS;
    timer_set();
    lock_give(&scan.lock);
}

/* any context */
void scan_go_on(void)
{
    lock_take(&scan.lock);
    reap(false);
    read_folder(true);
    scan.interval_ns = LOOK_EVERY_NS;
    timer_make_awaited();
    timer_set();
    lock_give(&scan.lock);
}

/* any context */
void scan_wait_no_more(void)
{
    lock_take(&scan.lock);
    timer_make_awaited();
    lock_give(&scan.lock);
}

/* HOOK */
void scan_cover_new(pid_t tid)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t saved;
    os_sigmask(SIG_BLOCK, &all, &saved);
    lock_take(&scan.lock);
    if (session_phase() == SESSION_RUNNING && session_is_ours() && thread_of_tid(tid) == NULL)
        cover(tid, 0);
    lock_give(&scan.lock);
    os_sigmask(SIG_SETMASK, &saved, NULL);
}

/* HOOK: a new thread */
void scan_begin_here(struct thread *thread, uint64_t entered_cpu_ns)
{
    lock_take(&scan.lock);
    thread_begin(thread, entered_cpu_ns, true);
    lock_give(&scan.lock);
}

/* HOOK */
void scan_thread_ends(void)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t saved;
    pid_t tid = tls_gettid();
    if (likely(__atomic_load_n(&scan.target, __ATOMIC_RELAXED) != tid))
        return;
    os_sigmask(SIG_BLOCK, &all, &saved);
    lock_take(&scan.lock);
    for (struct thread *t = thread_slots(); t != NULL && scan.target == tid; t = t->next_slot)
        if (t->tid != tid && __atomic_load_n(&t->state, __ATOMIC_ACQUIRE) == THREAD_LIVE)
            timer_move(t->tid);
    timer_set();
    lock_give(&scan.lock);
    os_sigmask(SIG_SETMASK, &saved, NULL);
}

/* SETUP */
void scan_existing(void)
{
    if (__libc_single_threaded == 0)
        read_folder(true);
}

/* Where ticks come much later than the timer's would, it is made at once; also when none come.
 * SETUP, HOOK */
static bool can_wait_for_tick(void)
{
    return clock_can_await() && session.settings.step <= 2 * LOOK_EVERY_NS &&
           __atomic_load_n(&session.is_off, __ATOMIC_RELAXED) == 0;
}

/* SETUP, HOOK */
void scan_start(bool is_to_tick)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t saved;
    scan.next_ns = 0;
    scan.interval_ns = LOOK_EVERY_NS;
    scan.is_awaited = true;
    if (is_to_tick && can_wait_for_tick())
        return;
    os_sigmask(SIG_BLOCK, &all, &saved);
    scan_wait_no_more();
    os_sigmask(SIG_SETMASK, &saved, NULL);
}

/* HOOK, EXIT */
void scan_stop(void)
{
    const uint64_t all = ~UINT64_C(0), ours = os_signal_bit(session.settings.signo);
    uint64_t before;
    scan.is_awaited = false;
    if (scan.timer_id < 0)
        return;
    os_sigmask(SIG_BLOCK, &all, &before);
    lock_take(&scan.lock);
    os_call(SYS_timer_delete, scan.timer_id);
    scan.timer_id = -1;
    lock_give(&scan.lock);
    /* A tick already sent to this thread is delivered when the mask changes; not where the program
     * itself has our signal blocked, or what it holds back would be delivered too. */
    if ((before & ours) == 0)
        os_sigmask(SIG_UNBLOCK, &ours, NULL);
    os_sigmask(SIG_SETMASK, &before, NULL);
}

/* HOOK */
void scan_abandon(void)
{
    lock_reset(&scan.lock);
    scan.is_awaited = false;
    scan.timer_id = -1;
    scan.runner = 0;
    scan.others_ns = 0;
}
