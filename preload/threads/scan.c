/* scan.c - see scan.h. */
#include "threads/scan.h"

#include <errno.h>
#include <sys/utsname.h>

#include "process/session.h"
#include "sys/fds.h"
#include "sys/os.h"
#include "threads/find.h"
#include "threads/thread.h"

#define LOOK_EVERY_NS UINT64_C(10000000)
#define LOOK_SELDOM_NS UINT64_C(100000000)
/* Where the signal may go to a thread that waits. */
#define LOOK_DISTURBS_NS UINT64_C(2000000000)
#define COST_SHARE 100u /* a look that took t is not repeated within 100 t */

/* A thread that pthread_create makes is unknown until it gets to run; with more CPU time than this
 * it is none. */
#define NEWBORN_CPU_NS UINT64_C(20000000)

/* Nor is a thread that has told of its end and used so much since. */
#define EXIT_CPU_NS UINT64_C(200000000)

/* A thread's CPU clock may show less to another processor than to the thread itself. */
#define CLOCKS_APART_NS UINT64_C(1000000)

/* What the timer's signal carries: its address is a value no one else uses. */
static char marker;

static struct {
    int timer_id;         /* kernel's, -1 = none; by HOOK and SETUP                        */
    uint32_t busy;        /* atomic: a look is being taken                                 */
    uint64_t next_ns;     /* atomic: CLOCK_MONOTONIC, no look before                       */
    uint64_t interval_ns; /* of the timer; by its handler alone                            */
    uint64_t longest_ns;
    bool found; /* by the look in progress */
} scan = {.timer_id = -1};

/* /proc/self/task as read; by who is busy. */
static _Alignas(8) char entries[4096];

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

/* A thread the kernel lists. What pthread_create makes is reserved before it is born and known when
 * it is reserved no more, so the questions come in this order. any context */
SIGNAL_SAFE static void look_at(pid_t tid)
{
    bool some_reserved = __atomic_load_n(&thread_counts.n_reserved, __ATOMIC_SEQ_CST) != 0;
    if (tid == 0 || thread_of_tid(tid) != NULL || wall_is_watcher(tid))
        return;
    uint64_t cpu_ns = os_clock_ns(os_thread_clock(tid)), gone_cpu_ns = thread_gone_cpu_ns(tid);
    if (cpu_ns == 0)
        return; /* gone already, or not yet come */
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

/* Every thread of the process. `from_now`: one that is not known is covered in any case, and its
 * CPU time counts from now on. any context */
SIGNAL_SAFE static void read_folder(bool from_now)
{
    int fd = os_open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd >= 0)
        fd = fds_adopt(fd);
    long n;
    while (fd >= 0 && (n = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0) {
        for (long at = 0; at < n;) {
            const struct entry *entry = (const void *)(entries + at);
            pid_t tid = number_of(entry->name);
            if (!from_now)
                look_at(tid);
            else if (tid != 0 && thread_of_tid(tid) == NULL && !wall_is_watcher(tid) &&
                     thread_gone_cpu_ns(tid) == THREAD_NOT_GONE)
                cover(tid, os_clock_ns(os_thread_clock(tid)));
            at += entry->length;
        }
    }
    fds_close(fd);
}

/* Threads that ended without a word. any context */
SIGNAL_SAFE static void reap(bool found_only)
{
    for (struct thread *t = thread_slots(); t != NULL; t = t->next_slot) {
        if (__atomic_load_n(&t->state, __ATOMIC_ACQUIRE) != THREAD_LIVE ||
            (found_only && !t->is_found))
            continue;
        pid_t tid = __atomic_load_n(&t->tid, __ATOMIC_RELAXED);
        if (syscall(SYS_tgkill, session.pid, tid, 0) != 0 && errno == ESRCH)
            thread_reap(t, tid);
    }
}

/* Whether the kernel has as many threads as we know, and a watcher where elapsed time is measured;
 * the folder has a link for each. any context */
SIGNAL_SAFE static bool all_are_known(void)
{
    struct stat folder;
    return os_stat("/proc/self/task", &folder) != 0 ||
           folder.st_nlink == 2 + (session.options.measure == OPTIONS_WALL ? 1u : 0u) +
                                  __atomic_load_n(&thread_counts.n_known, __ATOMIC_SEQ_CST);
}

/* any context */
void scan_now(void)
{
    if (session_phase() != SESSION_RUNNING || !session_is_ours() ||
        __atomic_exchange_n(&scan.busy, 1, __ATOMIC_ACQUIRE) != 0)
        return;
    uint64_t begin_ns = os_clock_ns(CLOCK_MONOTONIC);
    scan.found = false;
    if (__atomic_load_n(&thread_counts.n_found, __ATOMIC_RELAXED) != 0)
        reap(true);
    if (!all_are_known()) {
        reap(false);
        read_folder(false);
    }
    uint64_t end_ns = os_clock_ns(CLOCK_MONOTONIC), pause_ns = (end_ns - begin_ns) * COST_SHARE;
    __atomic_store_n(&scan.next_ns, end_ns + (pause_ns > LOOK_EVERY_NS ? pause_ns : LOOK_EVERY_NS),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&scan.busy, 0, __ATOMIC_RELEASE);
}

/* any context */
void scan_thread_ticked(uint64_t now_ns)
{
    if (unlikely(now_ns >= __atomic_load_n(&scan.next_ns, __ATOMIC_RELAXED)))
        scan_now();
}

/* any context */
bool scan_sent(const siginfo_t *info)
{
    return info->si_code == SI_TIMER && info->si_value.sival_ptr == &marker;
}

/* Once, `scan.interval_ns` of CPU time from now. any context */
SIGNAL_SAFE static void timer_set(void)
{
    const struct itimerspec spec = {
        .it_value = {.tv_sec = (time_t)(scan.interval_ns / OS_NS_PER_S),
                     .tv_nsec = (long)(scan.interval_ns % OS_NS_PER_S)}};
    if (scan.timer_id >= 0)
        syscall(SYS_timer_settime, scan.timer_id, 0, &spec, NULL);
}

/* While sampling is stopped nothing ticks. any context */
void scan_timer_ticked(void)
{
    if (__atomic_load_n(&session.is_off, __ATOMIC_RELAXED) != 0)
        return;
    scan_thread_ticked(os_clock_ns(CLOCK_MONOTONIC));
    scan.interval_ns = scan.found ? LOOK_EVERY_NS : 2 * scan.interval_ns;
    if (scan.interval_ns > scan.longest_ns)
        scan.interval_ns = scan.longest_ns;
    timer_set();
}

/* Waits for a look that is being taken. any context */
SIGNAL_SAFE static void busy_wait(void)
{
    for (unsigned n = 1; __atomic_exchange_n(&scan.busy, 1, __ATOMIC_ACQUIRE) != 0; n++)
        thread_wait_a_moment(n);
}

/* any context */
void scan_go_on(void)
{
    busy_wait();
    reap(false);
    read_folder(true);
    __atomic_store_n(&scan.busy, 0, __ATOMIC_RELEASE);
    scan.interval_ns = LOOK_EVERY_NS;
    timer_set();
}

/* HOOK */
void scan_cover_new(pid_t tid)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t saved;
    os_sigmask(SIG_BLOCK, &all, &saved);
    busy_wait();
    if (session_phase() == SESSION_RUNNING && session_is_ours() && thread_of_tid(tid) == NULL)
        cover(tid, 0);
    __atomic_store_n(&scan.busy, 0, __ATOMIC_RELEASE);
    os_sigmask(SIG_SETMASK, &saved, NULL);
}

/* SETUP */
void scan_existing(void)
{
    read_folder(true);
}

/* Since Linux 6.4 the signal of a timer goes to the running thread, if that takes it. SETUP, HOOK
 */
static bool timer_signals_running_thread(void)
{
    struct utsname names;
    unsigned major = 0, minor = 0;
    if (uname(&names) != 0)
        return false;
    const char *c = names.release;
    while (*c >= '0' && *c <= '9')
        major = major * 10 + (unsigned)(*c++ - '0');
    if (*c == '.')
        c++;
    while (*c >= '0' && *c <= '9')
        minor = minor * 10 + (unsigned)(*c++ - '0');
    return major > 6 || (major == 6 && minor >= 4);
}

/* SETUP, HOOK */
void scan_start(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = session.options.signo};
    int timer_id = -1;
    event.sigev_value.sival_ptr = &marker;
    scan.busy = 0; /* in a forked child: of a thread that is not there */
    scan.next_ns = 0;
    scan.interval_ns = LOOK_EVERY_NS;
    scan.longest_ns = timer_signals_running_thread() ? LOOK_SELDOM_NS : LOOK_DISTURBS_NS;
    scan.timer_id =
        syscall(SYS_timer_create, CLOCK_PROCESS_CPUTIME_ID, &event, &timer_id) == 0 ? timer_id : -1;
    timer_set();
}

/* HOOK, EXIT */
void scan_stop(void)
{
    const uint64_t ours = os_signal_bit(session.options.signo);
    uint64_t before = 0;
    if (scan.timer_id < 0)
        return;
    syscall(SYS_timer_delete, scan.timer_id);
    scan.timer_id = -1;
    /* A tick already sent is taken at the change of a mask; not where the program has our signal
     * blocked in truth, or it would take what was held back, too. */
    os_sigmask(SIG_BLOCK, &ours, &before);
    if ((before & ours) != 0)
        return;
    os_sigmask(SIG_UNBLOCK, &ours, NULL);
    os_sigmask(SIG_SETMASK, &before, NULL);
}
