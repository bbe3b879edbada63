/* header.c - see header.h. */
#include "process/header.h"

#include "record/recording.h"
#include "state/run.h"
#include "sys/os.h"

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
        .ppid = (uint32_t)os_getppid(),
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
