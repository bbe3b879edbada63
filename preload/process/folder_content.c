/* folder_content.c - see folder_content.h.
 *
 * A recording without an end is of a process that runs or of one that was killed. The process by
 * that pid is the one that is meant if it is no younger than the recording; cli/report/running.c
 * asks the same questions with libc's help. */
#include "process/folder_content.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include "capture.h"
#include "sys/layout.h"
#include "sys/line.h"
#include "sys/os.h"

/* Clocks of processes tick in hundredths, and the wall clock may have been set. */
#define SLACK_NS OS_NS_PER_S
#define RECORDINGS_MOST                                                                            \
    8u                 /* of one process that are looked for: it begins another one at an exec */
#define START_FIELD 19 /* fields of /proc/PID/stat between the state and the start */

struct entry {
    uint64_t inode, next;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

/* EXIT */
static long read_at(int folder, const char *path, void *out, size_t out_bytes)
{
    int fd = (int)os_call(SYS_openat, folder, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -1;
    long n = os_call(SYS_read, fd, out, out_bytes);
    os_close(fd);
    return n;
}

/* The state, and when the process started in ticks since the system did; 0 where /proc does not say.
 * EXIT */
static uint64_t start_of(uint32_t pid, char *state)
{
    char path[64], text[1024];
    struct line line;
    line_init(&line, path, sizeof path);
    line_add(&line, "/proc/");
    line_add_number(&line, pid);
    line_add(&line, "/stat");
    long n = read_at(AT_FDCWD, path, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    const char *c = strrchr(text, ')'); /* the name before it may hold anything */
    if (c == NULL || c[1] != ' ')
        return 0;
    c += 2;
    *state = *c;
    for (unsigned field = 0; field < START_FIELD; field++) {
        c = strchr(c, ' ');
        if (c == NULL)
            return 0;
        c++;
    }
    uint64_t start = 0;
    for (; *c >= '0' && *c <= '9'; c++)
        start = start * 10 + (uint64_t)(*c - '0');
    return start;
}

/* EXIT */
static bool is_alive(const struct capture_header *header)
{
    char state = 'R';
    uint64_t ticks_per_s = getauxval(AT_CLKTCK);
    if (os_call(SYS_kill, (pid_t)header->pid, 0) != 0 && errno == ESRCH)
        return false;
    uint64_t start = start_of(header->pid, &state);
    if (state == 'Z' || state == 'X')
        return false;
    if (start == 0 || ticks_per_s == 0)
        return true;
    uint64_t process_age_ns = os_clock_ns(CLOCK_BOOTTIME) - start * (OS_NS_PER_S / ticks_per_s);
    uint64_t recording_age_ns = os_clock_ns(CLOCK_REALTIME) - header->start_realtime_ns;
    return recording_age_ns <= process_age_ns + SLACK_NS;
}

/* EXIT */
static void look_at(int folder, const char *name, pid_t own_pid, struct folder_content *content)
{
    struct capture_header header = {.end = CAPTURE_EXITED};
    size_t length = strlen(name), extension = strlen(CAPTURE_EXTENSION);
    if (name[0] < '0' || name[0] > '9' || length <= extension ||
        strcmp(name + length - extension, CAPTURE_EXTENSION) != 0)
        return;
    content->has_recordings = true;
    if (read_at(folder, name, &header, sizeof header) == sizeof header &&
        header.end == CAPTURE_RUNNING && header.pid != (uint32_t)own_pid && is_alive(&header))
        content->has_running = true;
}

/* EXIT */
struct folder_content folder_content_of(int fd, pid_t own_pid)
{
    static LAYOUT_LARGE _Alignas(struct entry) char bytes[16384]; /* static: EXIT runs once */
    struct folder_content content = {false, false};
    long n;
    while (!content.has_running && (n = os_call(SYS_getdents64, fd, bytes, sizeof bytes)) > 0)
        for (long at = 0; at < n && !content.has_running;) {
            const struct entry *entry = (const struct entry *)(const void *)(bytes + at);
            look_at(fd, bytes + at + offsetof(struct entry, name), own_pid, &content);
            at += entry->bytes;
        }
    return content;
}

/* EXIT */
bool folder_has_end_of(int fd, pid_t pid)
{
    bool has_end = false;
    for (unsigned n = 0; n < RECORDINGS_MOST; n++) {
        struct capture_header header = {.end = CAPTURE_RUNNING};
        char name[64];
        struct line line;
        line_init(&line, name, sizeof name);
        line_add_number(&line, (uint64_t)pid);
        line_add(&line, ".");
        line_add_number(&line, n);
        line_add(&line, CAPTURE_EXTENSION);
        if (read_at(fd, name, &header, sizeof header) == sizeof header)
            has_end = header.end != CAPTURE_RUNNING && header.end != CAPTURE_EXEC;
    }
    return has_end;
}
