/* header.c - see header.h. */
#include "process/header.h"

#include <string.h>
#include <sys/utsname.h>

#include "record/recording.h"
#include "state/run.h"
#include "sys/line.h"
#include "sys/os.h"
#include "unwind/modules.h"

/* SETUP, HOOK */
static enum capture_clock clock_asked(void)
{
    const struct settings *settings = &session.settings;
    switch (settings->measure) {
    case SETTINGS_EVENT:
        return CAPTURE_CLOCK_EVENT;
    case SETTINGS_WALL:
        return CAPTURE_CLOCK_WALL;
    case SETTINGS_CPU:
        break;
    }
    return settings->clock == SETTINGS_CLOCK_TIMER ? CAPTURE_CLOCK_TIMER : CAPTURE_CLOCK_PERF;
}

/* SETUP, HOOK */
struct capture_header header_of_process(uint64_t start_cpu_ns)
{
    struct capture_header header = {
        .magic = {'S', 'A', 'M', 'P', 'L', 'R', 'E', 'C'},
        .version = CAPTURE_VERSION,
        .header_bytes = CAPTURE_HEADER_BYTES,
        .chunk_bytes = CAPTURE_CHUNK_BYTES,
        .arch = CAPTURE_X86_64,
        .pid = (uint32_t)session.pid,
        .ppid = (uint32_t)getppid(),
        .period = session.settings.step,
        .weight_unit =
            session.settings.measure == SETTINGS_EVENT ? CAPTURE_UNIT_EVENTS : CAPTURE_UNIT_NS,
        .frequency_hz = session.settings.frequency_hz,
        .time_unit_ns = RECORDING_TIME_UNIT_NS,
        .clock = (uint32_t)clock_asked(),
        .start_time_ns = os_clock_ns(CLOCK_MONOTONIC),
        .start_realtime_ns = os_clock_ns(CLOCK_REALTIME),
        .start_cpu_ns = start_cpu_ns,
    };
#if defined(__aarch64__)
    header.arch = CAPTURE_AARCH64;
#endif
    return header;
}

/* The arguments as the kernel laid them out, one after the other; written in SETUP. A program may
 * write over them, which is how it changes its title. */
static const char *arguments;
static size_t arguments_bytes;

/* SETUP */
void header_set_arguments(int argc, char *const argv[])
{
    if (argc <= 0 || argv == NULL || argv[0] == NULL)
        return;
    const char *end = argv[0];
    for (int i = 0; i < argc; i++) {
        if (argv[i] != end)
            return; /* not as laid out by the kernel: a loader of its own */
        end += strlen(argv[i]) + 1;
    }
    arguments = argv[0];
    arguments_bytes = (size_t)(end - argv[0]);
}

/* From memory where they are known: to read a file of /proc is dear for a short process. SETUP,
 * HOOK */
static void put_command(struct stream *stream)
{
    char bytes[4096];
    size_t n = arguments_bytes < sizeof bytes ? arguments_bytes : sizeof bytes;
    if (arguments != NULL) {
        memcpy(bytes, arguments, n);
    } else {
        int fd = os_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
        if (fd < 0)
            return;
        long n_read = os_call(SYS_read, fd, bytes, sizeof bytes);
        os_close(fd);
        n = n_read > 0 ? (size_t)n_read : 0;
    }
    if (n > 0 && bytes[n - 1] == '\0')
        n--; /* the last argument's own end */
    if (n > 0)
        stream_put_info(stream, "command", bytes, n);
}

static void put_number(struct stream *stream, const char *key, uint64_t number)
{
    char bytes[24];
    struct line digits;
    line_init(&digits, bytes, sizeof bytes);
    line_add_number(&digits, number);
    stream_put_info(stream, key, digits.bytes, digits.length);
}

/* SETUP, HOOK */
void header_put_infos(struct stream *stream)
{
    char bytes[4096];
    struct utsname names;
    put_command(stream);
    const char *exe = modules_main_path();
    if (exe[0] != '\0')
        stream_put_info(stream, "exe", exe, strlen(exe));
    long n = os_call(SYS_getcwd, bytes, sizeof bytes);
    if (n > 1)
        stream_put_info(stream, "cwd", bytes, (size_t)n - 1);
    if (uname(&names) == 0)
        stream_put_info(stream, "host", names.nodename, strlen(names.nodename));
    put_number(stream, "uid", (uint64_t)os_call(SYS_geteuid));
    const char *unwinder = settings_unwinder_name(session.settings.unwinder);
    stream_put_info(stream, "unwinder", unwinder, strlen(unwinder));
    if (session.settings.measure == SETTINGS_EVENT)
        stream_put_info(stream, "event", session.settings.event.name,
                        strlen(session.settings.event.name));
    stream_put_info(stream, "version", SAMPLER_VERSION, strlen(SAMPLER_VERSION));
}
