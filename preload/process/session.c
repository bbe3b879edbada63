/* session.c - see session.h.
 *
 * Every step here walks the list of slots and holds or ends each thread in turn. One whose handler
 * does not come to an end (the thread waits for a processor, or is stopped) is left alone: a second
 * writer would damage its stream, while without an end the stream is still valid up to its last
 * record. */
#include "process/session.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "process/header.h"
#include "process/tree.h"
#include "process/unwaited.h"
#include "signals/handler.h"
#include "signals/program_mask.h"
#include "state/infos.h"
#include "state/paths.h"
#include "sys/layout.h"
#include "sys/line.h"
#include "sys/os.h"
#include "threads/control.h"
#include "threads/life.h"
#include "threads/sample.h"
#include "threads/scan.h"
#include "threads/slots.h"
#include "threads/watcher.h"

#define NAME_ATTEMPTS 1000u
#define DRAIN_NS UINT64_C(200000000) /* how long an ending process waits for handlers that run */
#define OTHERS_NS UINT64_C(100000)   /* CPU time of other threads that is worth a look */

/* By the effective user, where the kernel can tell (Linux 5.8). SETUP, HOOK */
static bool can_write_to(const char *folder)
{
    return os_call(SYS_faccessat2, AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0 ||
           ((errno == ENOSYS || errno == EPERM) &&
            os_call(SYS_faccessat, AT_FDCWD, folder, W_OK | X_OK) == 0);
}

/* The folder of the run, or that for other users' processes. NULL with errno, of the first. SETUP,
 * HOOK */
static const char *choose_folder(void)
{
    const char *folder = session.settings.recording_dir;
    if (tree_place() != TREE_NONE)
        return tree_make_folder() ? folder : NULL;
    if (can_write_to(folder))
        return folder;
    int run_errno = errno;
    if (session.settings.others_dir != NULL && can_write_to(session.settings.others_dir))
        return session.settings.others_dir;
    errno = run_errno;
    return NULL;
}

/* In the folder of a run: in memory at first, unless the watcher is going to write at any time.
 * Whether the folder can be written to is asked now, when it can still be reported. SETUP, HOOK */
static bool begin_in_folder(const struct capture_header *header)
{
    const char *folder = choose_folder();
    if (folder == NULL || !recording_begin(&session.recording, folder, header))
        return false;
    session.recording.makes_folder = tree_place() != TREE_NONE;
    return session.settings.measure != SETTINGS_WALL || recording_place(&session.recording);
}

/* Next to the output, under the first name that is free. SETUP, HOOK */
static bool open_beside_output(const struct capture_header *header)
{
    static LAYOUT_LARGE char wanted[RECORDING_PATH_MAX],
        path[RECORDING_PATH_MAX]; /* one caller at a time */
    struct line line, output, recording;
    line_init(&line, wanted, sizeof wanted);
    paths_add_output(&line, session.settings.output);
    for (unsigned attempt = 0; attempt < NAME_ATTEMPTS && !line.cut; attempt++) {
        line_init(&recording, path, sizeof path);
        line_init(&output, session.output, sizeof session.output);
        paths_beside(&recording, &output, wanted, attempt);
        if (recording.cut || output.cut)
            break;
        if (!tree_name_is_free(path))
            continue;
        if (recording_open(&session.recording, path, header)) {
            tree_begin(path);
            return true;
        }
        if (errno != EEXIST)
            return false;
    }
    errno = ENAMETOOLONG;
    return false;
}

/* SETUP, HOOK, EXIT */
static void say_not_created(int error)
{
    char bytes[600];
    struct line line;
    if (session.is_fork_child)
        return; /* a program that gave up rights or its root may fork for ever */
    line_init(&line, bytes, sizeof bytes);
    line_add(&line, "cannot create the recording ");
    line_add(&line, session.settings.recording_dir != NULL ? session.settings.recording_dir
                                                           : session.recording.path);
    line_add(&line, ": ");
    line_add(&line, strerror(error));
    line_add(&line, "; nothing is sampled");
    line_say(&line);
}

/* SETUP, HOOK */
static bool open_recording(const struct session_entry *entry)
{
    const struct capture_header header = header_of_process(entry->process_cpu_ns);
    if (session.settings.recording_dir != NULL && begin_in_folder(&header))
        return true;
    if (tree_place() != TREE_NONE)
        session.settings.recording_dir = NULL; /* from here on a tree of its own */
    if (session.settings.recording_dir == NULL && open_beside_output(&header))
        return true;
    say_not_created(errno);
    return false;
}

/* SETUP, HOOK */
static void say_no_watcher(int error)
{
    char bytes[200];
    struct line line;
    line_init(&line, bytes, sizeof bytes);
    line_add(&line, "wall needs a thread of its own, which cannot be started: ");
    line_add(&line, strerror(error));
    line_add(&line, "; nothing is sampled");
    line_say(&line);
}

/* SETUP, HOOK */
struct session_entry session_enter(void)
{
    return (struct session_entry){.process_cpu_ns = os_cpu_used_ns(RUSAGE_SELF),
                                  .thread_cpu_ns = os_clock_ns(CLOCK_THREAD_CPUTIME_ID)};
}

/* SETUP, HOOK */
static bool begin(const struct session_entry *entry)
{
    session.pid = os_getpid();
    if (!open_recording(entry))
        return false;
    struct thread *thread = thread_reserve_locked();
    if (thread != NULL && session.settings.measure == SETTINGS_WALL && !watcher_start()) {
        say_no_watcher(errno);
        thread = NULL;
    }
    if (thread == NULL) {
        os_unlink(session.recording.path);
        recording_abandon(&session.recording);
        return false;
    }
    infos_begin(&thread->stream);
    control_begin();
    __atomic_store_n(&session.phase, SESSION_RUNNING, __ATOMIC_SEQ_CST);
    scan_start(true);
    thread_begin(thread, entry->thread_cpu_ns, false);
    control_begun(thread);
    return true;
}

/* SETUP */
bool session_begin(const struct session_entry *entry)
{
    return begin(entry);
}

/* HOOK: the only thread, lock held and signals blocked by it */
void session_restart(const struct session_entry *entry, bool is_child)
{
    uint32_t phase = session_phase();
    bool mask_blocked = mask_believed();
    __atomic_store_n(&session.phase, SESSION_OFF, __ATOMIC_SEQ_CST);
    if (phase == SESSION_OFF)
        return;
    watcher_stop(is_child);
    scan_abandon();
    session.n_streams = 0;
    session.n_samples = 0;
    thread_registry_restart();
    recording_abandon(&session.recording);
    session.is_fork_child |= is_child;
    if (phase == SESSION_ENDED || (is_child && !session.settings.follow))
        return;
    if (is_child)
        tree_forked();
    begin(entry);
    mask_believe(mask_blocked);
}

/* HOOK, EXIT */
static void write_end(enum capture_end end, int status)
{
    struct capture_header *header = session.recording.header;
    header->end_cpu_ns = control_note_cpu();
    header->end_time_ns = os_clock_ns(CLOCK_MONOTONIC);
    header->end_ppid = (uint64_t)os_getppid();
    header->end_children_cpu_ns = os_cpu_used_ns(RUSAGE_CHILDREN);
    header->end_peak_bytes = os_peak_bytes();
    header->exit_status = status >= 0 ? (uint32_t)status : 0;
    __atomic_store_n(&header->end, end, __ATOMIC_RELEASE);
}

/* HOOK, EXIT */
bool session_append_brief(void)
{
    return recording_append(&session.recording);
}

/* Whether threads other than the calling one have used CPU time worth looking for. EXIT */
static bool others_ran(void)
{
    return session.settings.measure == SETTINGS_WALL ||
           os_clock_ns(CLOCK_PROCESS_CPUTIME_ID) > os_clock_ns(CLOCK_THREAD_CPUTIME_ID) + OTHERS_NS;
}

/* Whether a recording that could not be appended to the others still has a reader: not where it is of
 * a later process of a tree that was reported meanwhile, and has no sample. EXIT */
static bool is_worth_a_file(void)
{
    return !session.recording.makes_folder || session_n_samples() > 0;
}

/* A last look for threads, so that those not found yet are at least counted. EXIT */
static void last_look(void)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t before = 0;
    control_timer_stop();
    scan_stop();
    if (!others_ran())
        return;
    os_sigmask(SIG_BLOCK, &all, &before);
    scan_now();
    os_sigmask(SIG_SETMASK, &before, NULL);
}

/* Says in the recording that it is not whole where our ticks went to another handler. Our signal is
 * blocked. EXIT */
static void note_lost_signal(void)
{
    char bytes[200];
    struct line line;
    if (thread_self == NULL || handler_is_in_place())
        return;
    line_init(&line, bytes, sizeof bytes);
    line_add(&line, "the program has set a handler for our signal (");
    line_add_number(&line, (uint64_t)session.settings.signo);
    line_add(&line, ") by a system call; SAMPLER_SIGNAL=16 chooses another");
    stream_put_info(&thread_self->stream, "stopped", bytes, line.length);
}

/* EXIT */
bool session_end(int status)
{
    uint32_t running = SESSION_RUNNING;
    if (session_phase() != SESSION_RUNNING || !session_is_ours())
        return false;
    last_look();
    if (!__atomic_compare_exchange_n(&session.phase, &running, SESSION_ENDED, false,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return false;
    uint64_t ours = os_signal_bit(session.settings.signo), before = 0;
    os_sigmask(SIG_BLOCK, &ours, &before);
    if (thread_self != NULL)
        thread_self->held_back = held_back_by(before);
    note_lost_signal();
    if (thread_self != NULL) {
        unwaited_note(&thread_self->stream);
        infos_end(&thread_self->stream);
    }
    uint64_t give_up_ns = os_clock_ns(CLOCK_MONOTONIC) + DRAIN_NS;
    for (struct thread *t = thread_slots(); t != NULL; t = t->next_slot)
        if (thread_handler_is_done(t, give_up_ns))
            thread_finish(t);
    write_end(CAPTURE_EXITED, status);
    /* A folder that is gone is that of a run which ended before this process. */
    if (!session_append_brief() && is_worth_a_file() && !recording_place(&session.recording) &&
        session.recording.place_errno != ENOENT)
        say_not_created(session.recording.place_errno);
    os_sigmask(SIG_UNBLOCK, &ours, NULL);
    return true;
}

/* HOOK */
void session_leave(void)
{
    __atomic_store_n(&session.phase, SESSION_OFF, __ATOMIC_SEQ_CST);
}

/* HOOK */
void session_pause_for_exec(void)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t before = 0;
    __atomic_store_n(&session.phase, SESSION_PAUSED, __ATOMIC_SEQ_CST);
    control_timer_stop();
    scan_stop();
    os_sigmask(SIG_BLOCK, &all, &before);
    uint64_t give_up_ns = os_clock_ns(CLOCK_MONOTONIC) + DRAIN_NS;
    uint64_t cpu_ns = os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (struct thread *t = thread_slots(); t != NULL; t = t->next_slot)
        if (thread_hold(t)) {
            if (thread_handler_is_done(t, give_up_ns))
                thread_settle(t, t == thread_self);
            thread_release(t);
        }
    if (thread_self != NULL) {
        infos_end(&thread_self->stream);
        thread_count_own(thread_self, cpu_ns);
    }
    os_sigmask(SIG_SETMASK, &before, NULL);
    write_end(CAPTURE_EXEC, -1);
}

/* HOOK */
void session_resume(void)
{
    struct capture_header *header = session.recording.header;
    __atomic_store_n(&header->end, CAPTURE_RUNNING, __ATOMIC_RELEASE);
    header->end_time_ns = 0;
    header->end_cpu_ns = 0;
    __atomic_store_n(&session.phase, SESSION_RUNNING, __ATOMIC_SEQ_CST);
    control_timer_start();
    scan_start(false);
}

/* HOOK */
uint64_t session_mark_so_far(void)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t before = 0, give_up_ns = os_clock_ns(CLOCK_MONOTONIC) + DRAIN_NS;
    os_sigmask(SIG_BLOCK, &all, &before);
    for (struct thread *t = thread_slots(); t != NULL; t = t->next_slot) {
        if (!thread_hold(t))
            continue;
        if (thread_handler_is_done(t, give_up_ns))
            thread_settle_other(t, os_clock_ns(CLOCK_MONOTONIC));
        thread_release(t);
    }
    uint64_t none = 0, mark = control_note_cpu();
    __atomic_compare_exchange_n(&session.recording.header->end_cpu_ns, &none, mark, false,
                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    os_sigmask(SIG_SETMASK, &before, NULL);
    return mark;
}

/* Takes the mark back, unless the process has ended meanwhile and written its own. HOOK */
void session_unmark(uint64_t mark)
{
    __atomic_compare_exchange_n(&session.recording.header->end_cpu_ns, &mark, 0, false,
                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* any context but SIGNAL */
bool session_has_one_thread(void)
{
    unsigned n = 0;
    for (struct thread *t = thread_slots(); t != NULL; t = t->next_slot)
        n += __atomic_load_n(&t->state, __ATOMIC_ACQUIRE) != THREAD_FREE;
    return n <= 1;
}
