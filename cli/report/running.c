/* running.c - see running.h. */
#include "report/running.h"

#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "text.h"

/* The wall clock may have been set in between, and the kernel counts starts in hundredths. */
#define SLACK_NS 1000000000u
#define NS_PER_S 1000000000u

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

struct stat_of {
    uint64_t start_ns;    /* on CLOCK_BOOTTIME */
    uint64_t children_ns; /* CPU time of the children it has waited for, with theirs */
};

/* What proc_pid_stat(5) has of process `pid`; false when there is none, or it has ended and is not
 * waited for yet. Fields are counted from behind the name, which may hold blanks and brackets. */
static bool stat_find(uint64_t pid, struct stat_of *out)
{
    char path[64], text[1024], state;
    unsigned long long start = 0, user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/stat", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    const char *name_end = strrchr(text, ')');
    long per_s = sysconf(_SC_CLK_TCK);
    if (name_end == NULL || per_s <= 0 ||
        /* NOLINTNEXTLINE(cert-err34-c): the kernel wrote it */
        sscanf(name_end + 1,
               " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %*s"
               " %*s %*s %*s %llu",
               &state, &user, &system, &start) != 4)
        return false;
    out->start_ns = start * (NS_PER_S / (uint64_t)per_s);
    out->children_ns = (user + system) * (NS_PER_S / (uint64_t)per_s);
    return state != 'Z' && state != 'X';
}

/* Whether the process runs the program that was recorded, as far as we may ask: a number from within a
 * pid namespace is another process's out here. */
static bool is_same_program(const struct recording *recording)
{
    char link[64], path[PATH_MAX];
    struct text exe = recording_info_get(recording, "exe");
    snprintf(link, sizeof link, "/proc/%" PRIu32 "/exe", recording->header.pid);
    ssize_t n = readlink(link, path, sizeof path);
    return n < 0 || exe.length == 0 ||
           ((size_t)n >= exe.length && memcmp(path, exe.bytes, exe.length) == 0);
}

bool running_find(struct recording *recording)
{
    const struct capture_header *header = &recording->header;
    struct stat_of stat;
    struct timespec used;
    if (header->end != CAPTURE_RUNNING || header->pid == 0 || header->pid > INT_MAX ||
        !stat_find(header->pid, &stat))
        return false;
    uint64_t recording_age_ns = clock_ns(CLOCK_REALTIME) - header->start_realtime_ns;
    uint64_t process_age_ns = clock_ns(CLOCK_BOOTTIME) - stat.start_ns;
    clockid_t clock;
    if (recording_age_ns > process_age_ns + SLACK_NS || !is_same_program(recording))
        return false;
    if (clock_getcpuclockid((pid_t)header->pid, &clock) == 0 && clock_gettime(clock, &used) == 0)
        recording_note_running(recording, (uint64_t)used.tv_sec * NS_PER_S + (uint64_t)used.tv_nsec,
                               stat.children_ns);
    return true;
}
