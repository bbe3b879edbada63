/* session.c - see session.h. */
#include "process/session.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>

#include "hooks/hooks.h"
#include "state/paths.h"
#include "sys/line.h"
#include "sys/os.h"
#include "threads/control.h"
#include "threads/sample.h"
#include "threads/scan.h"
#include "threads/thread.h"

#define NAME_ATTEMPTS 1000u
#define DRAIN_NS UINT64_C(200000000) /* how long an ending process waits for handlers that run */

struct session session = {.recording.fd = -1};

/* any context */
bool session_is_ours(void)
{
    return os_getpid() == session.pid;
}

/* SETUP, HOOK */
static enum capture_clock clock_asked(void)
{
    const struct options *options = &session.options;
    switch (options->measure) {
    case OPTIONS_EVENT:
        return CAPTURE_CLOCK_EVENT;
    case OPTIONS_WALL:
        return CAPTURE_CLOCK_WALL;
    case OPTIONS_CPU:
        break;
    }
    return options->clock == OPTIONS_CLOCK_TIMER ? CAPTURE_CLOCK_TIMER : CAPTURE_CLOCK_PERF;
}

/* SETUP, HOOK */
static struct capture_header header_make(void)
{
    struct capture_header header = {
        .magic = {'S', 'A', 'M', 'P', 'L', 'R', 'E', 'C'},
        .version = CAPTURE_VERSION,
        .header_bytes = CAPTURE_HEADER_BYTES,
        .chunk_bytes = CAPTURE_CHUNK_BYTES,
        .arch = CAPTURE_X86_64,
        .pid = (uint32_t)session.pid,
        .ppid = (uint32_t)getppid(),
        .period = session.options.step,
        .weight_unit =
            session.options.measure == OPTIONS_EVENT ? CAPTURE_UNIT_EVENTS : CAPTURE_UNIT_NS,
        .frequency_hz = session.options.frequency_hz,
        .time_unit_ns = RECORDING_TIME_UNIT_NS,
        .clock = (uint32_t)clock_asked(),
        .start_time_ns = os_clock_ns(CLOCK_MONOTONIC),
        .start_realtime_ns = os_clock_ns(CLOCK_REALTIME),
        .start_cpu_ns = os_clock_ns(CLOCK_PROCESS_CPUTIME_ID),
    };
#if defined(__aarch64__)
    header.arch = CAPTURE_AARCH64;
#endif
    return header;
}

/* Opens the recording under the first name that is free. SETUP, HOOK */
static bool open_recording(void)
{
    static char path[RECORDING_PATH_MAX], wanted[RECORDING_PATH_MAX]; /* one caller at a time */
    const char *folder = session.options.recording_dir;
    struct capture_header header = header_make();
    struct line line, output;
    line_init(&line, wanted, sizeof wanted);
    if (folder == NULL)
        paths_add_output(&line, session.options.output);
    errno = ENAMETOOLONG;
    for (unsigned attempt = 0; attempt < NAME_ATTEMPTS && !line.cut; attempt++) {
        struct line recording;
        line_init(&recording, path, sizeof path);
        line_init(&output, session.output, sizeof session.output);
        if (folder != NULL)
            paths_in_folder(&recording, folder, attempt);
        else
            paths_beside(&recording, &output, wanted, attempt);
        errno = ENAMETOOLONG;
        if (recording.cut || output.cut)
            break;
        if (recording_open(&session.recording, path, &header))
            return true;
        if (errno != EEXIST)
            break;
    }
    if (session.is_fork_child)
        return false; /* a program that gave up rights or its root may fork for ever */
    int error = errno;
    char bytes[600];
    line_init(&line, bytes, sizeof bytes);
    line_add(&line, "cannot create the recording ");
    line_add(&line, path);
    line_add(&line, ": ");
    line_add(&line, strerror(error));
    line_add(&line, "; nothing is sampled");
    line_say(&line);
    return false;
}

/* A note whose value is the content of a file under /proc. SETUP, HOOK */
static void put_file_info(struct stream *stream, const char *key, const char *path)
{
    char bytes[4096];
    int fd = os_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    long n = syscall(SYS_read, fd, bytes, sizeof bytes);
    os_close(fd);
    if (n > 0 && bytes[n - 1] == '\0')
        n--; /* the last argument's own end */
    if (n > 0)
        stream_put_info(stream, key, bytes, (size_t)n);
}

/* SETUP, HOOK */
static void put_infos(struct stream *stream)
{
    char bytes[4096];
    struct utsname names;
    put_file_info(stream, "command", "/proc/self/cmdline");
    long n = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", bytes, sizeof bytes);
    if (n > 0)
        stream_put_info(stream, "exe", bytes, (size_t)n);
    n = syscall(SYS_getcwd, bytes, sizeof bytes);
    if (n > 1)
        stream_put_info(stream, "cwd", bytes, (size_t)n - 1);
    if (uname(&names) == 0)
        stream_put_info(stream, "host", names.nodename, strlen(names.nodename));
    const char *unwinder = options_unwinder_name(session.options.unwinder);
    stream_put_info(stream, "unwinder", unwinder, strlen(unwinder));
    if (session.options.measure == OPTIONS_EVENT)
        stream_put_info(stream, "event", session.options.event.name,
                        strlen(session.options.event.name));
    stream_put_info(stream, "version", SAMPLER_VERSION, strlen(SAMPLER_VERSION));
}

/* SETUP, HOOK */
static void say_no_watcher(int error)
{
    char bytes[200];
    struct line line;
    line_init(&line, bytes, sizeof bytes);
    line_add(&line, "wall needs a thread of ours, and none can be started: ");
    line_add(&line, strerror(error));
    line_add(&line, "; nothing is sampled");
    line_say(&line);
}

/* SETUP, HOOK */
bool session_begin(void)
{
    session.pid = os_getpid();
    if (!open_recording())
        return false;
    struct thread *thread = thread_reserve_locked();
    if (thread != NULL && session.options.measure == OPTIONS_WALL && !wall_start()) {
        say_no_watcher(errno);
        thread = NULL;
    }
    if (thread == NULL) {
        unlink(session.recording.path);
        recording_abandon(&session.recording);
        return false;
    }
    put_infos(&thread->stream);
    /* Again: making the recording is part of the start-up, not of the first thread's samples. */
    session.recording.header->start_cpu_ns = os_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    control_begin();
    __atomic_store_n(&session.phase, SESSION_RUNNING, __ATOMIC_SEQ_CST);
    thread_begin(thread, os_clock_ns(CLOCK_THREAD_CPUTIME_ID));
    control_begun(thread);
    scan_start();
    return true;
}

/* HOOK: the only thread, lock held and signals blocked by it */
void session_restart(bool is_child)
{
    uint32_t phase = session_phase();
    bool mask_blocked = mask_believed();
    __atomic_store_n(&session.phase, SESSION_OFF, __ATOMIC_SEQ_CST);
    if (phase == SESSION_OFF)
        return;
    wall_stop(is_child);
    session.n_streams = 0;
    session.n_samples = 0;
    thread_registry_restart();
    recording_abandon(&session.recording);
    sample_forget_modules();
    session.is_fork_child |= is_child;
    if (phase == SESSION_ENDED || (is_child && !session.options.follow))
        return;
    session_begin();
    mask_believe(mask_blocked);
}

/* HOOK, EXIT */
static void write_end(enum capture_end end, int status)
{
    struct capture_header *header = session.recording.header;
    header->end_cpu_ns = control_cpu_ns();
    header->end_time_ns = os_clock_ns(CLOCK_MONOTONIC);
    header->exit_status = status >= 0 ? (uint32_t)status : 0;
    __atomic_store_n(&header->end, end, __ATOMIC_RELEASE);
}

/* Threads that no look has met yet are at least counted. EXIT */
static void last_look(void)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t before = 0;
    control_timer_stop();
    scan_stop();
    os_sigmask(SIG_BLOCK, &all, &before);
    scan_now();
    os_sigmask(SIG_SETMASK, &before, NULL);
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
    uint64_t ours = os_signal_bit(session.options.signo), before = 0;
    os_sigmask(SIG_BLOCK, &ours, &before);
    if (thread_self != NULL)
        thread_self->is_held_back = (before & ours) != 0;
    uint64_t give_up_ns = os_clock_ns(CLOCK_MONOTONIC) + DRAIN_NS;
    for (struct thread *t = thread_slots(); t != NULL; t = t->next_slot)
        if (thread_handler_is_done(t, give_up_ns))
            thread_finish(t);
    write_end(CAPTURE_EXITED, status);
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
    for (struct thread *t = thread_slots(); t != NULL; t = t->next_slot)
        if (thread_hold(t)) {
            if (thread_handler_is_done(t, give_up_ns))
                thread_settle(t, t == thread_self);
            thread_release(t);
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
    scan_start();
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
            thread_settle_other(t);
        thread_release(t);
    }
    uint64_t none = 0, mark = control_cpu_ns();
    __atomic_compare_exchange_n(&session.recording.header->end_cpu_ns, &none, mark, false,
                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    os_sigmask(SIG_SETMASK, &before, NULL);
    return mark;
}

/* Unless the process has ended meanwhile. HOOK */
void session_unmark(uint64_t mark)
{
    __atomic_compare_exchange_n(&session.recording.header->end_cpu_ns, &mark, 0, false,
                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* any context but SIGNAL */
uint64_t session_n_samples(void)
{
    return __atomic_load_n(&session.n_samples, __ATOMIC_RELAXED);
}

/* any context but SIGNAL */
bool session_has_one_thread(void)
{
    unsigned n = 0;
    for (struct thread *t = thread_slots(); t != NULL; t = t->next_slot)
        n += __atomic_load_n(&t->state, __ATOMIC_ACQUIRE) != THREAD_FREE;
    return n <= 1;
}
