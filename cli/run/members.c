/* members.c - see members.h.
 *
 * Nobody is asked to report to us: adopting orphans (PR_SET_CHILD_SUBREAPER) or an inherited
 * descriptor would tell more, and would be seen by the programs. */
#include "run/members.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture.h"
#include "environment.h"
#include "err.h"
#include "run/elapsed.h"
#include "run/others_dir.h"
#include "run/recording_dir.h"

/* Processes are numbered as they are made. In a run no longer than this the numbers have not begun
 * again at the lowest one, so that those below the command's are of older processes. */
#define NUMBERS_RISE_NS (2 * NS_PER_S)

/* As much of a file of /proc as is looked at. */
#define READ_MOST_BYTES ((size_t)8 << 20)

/* All of /proc/PID/NAME, ended by a NUL. False when it is not for us to read, or there is no such
 * process. The caller calls chars_deinit. */
static bool proc_read(pid_t pid, const char *name, struct chars *out)
{
    char path[64], bytes[16384];
    ssize_t n = 0;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while (out->n < READ_MOST_BYTES && (n = read(fd, bytes, sizeof bytes)) > 0 &&
           chars_append(out, bytes, (size_t)n))
        ;
    close(fd);
    return chars_push(out, '\0') && n >= 0;
}

/* Whether one of the NUL-ended strings of /proc/PID/environ is `wanted`. */
static bool has_variable(pid_t pid, const char *wanted)
{
    struct chars environment = {0};
    bool yes = false;
    if (proc_read(pid, "environ", &environment))
        for (size_t at = 0; at < environment.n && !yes; at += strlen(environment.items + at) + 1)
            yes = strcmp(environment.items + at, wanted) == 0;
    chars_deinit(&environment);
    return yes;
}

static bool has_mapped(pid_t pid, const char *path_part)
{
    struct chars maps = {0};
    bool yes = proc_read(pid, "maps", &maps) && strstr(maps.items, path_part) != NULL;
    chars_deinit(&maps);
    return yes;
}

static void pids_add(struct pids *pids, pid_t pid)
{
    for (size_t i = 0; i < pids->n; i++)
        if (pids->items[i] == pid)
            return;
    pids_push(pids, pid);
}

/* The process of a recording without an end; 0 when it has one. */
static pid_t running_of(const char *path)
{
    struct capture_header header = {.magic = ""};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool is_whole = fd >= 0 && read(fd, &header, sizeof header) == (ssize_t)sizeof header;
    if (fd >= 0)
        close(fd);
    return is_whole && memcmp(header.magic, CAPTURE_MAGIC, sizeof header.magic) == 0 &&
                   header.end == CAPTURE_RUNNING && header.pid <= INT_MAX
               ? (pid_t)header.pid
               : 0;
}

/* Those with a recording. That it is of this process, and not of an older one with its number, shows
 * in that the process has the file mapped; by which path depends on the root it has. */
static void add_recorded(const char *folder, struct pids *out)
{
    struct err err = ERR_INIT;
    struct recording_list list = {0};
    if (!recording_dir_list(folder, &list, &err))
        return;
    for (size_t i = 0; i < list.n; i++) {
        pid_t pid = list.files[i].pid == 0 ? 0 : running_of(list.files[i].path);
        const char *name = strrchr(list.files[i].path, '/');
        while (name > list.files[i].path && *--name != '/') /* with the folder's own name */
            ;
        if (pid > 0 && has_mapped(pid, name))
            pids_add(out, pid);
    }
    recording_list_free(&list);
}

/* Those that have the run's folder in their environment. Returns how many of these have not loaded
 * the library, nor may ever. */
static size_t add_started(const struct members_run *run, struct pids *out)
{
    char wanted[PATH_MAX + 32];
    size_t n_without = 0;
    bool are_all_new = elapsed_now_ns() - run->start_ns < NUMBERS_RISE_NS;
    DIR *dir = opendir("/proc");
    const struct dirent *entry;
    snprintf(wanted, sizeof wanted, ENVIRONMENT_RECORDING_DIR "=%s", run->folder);
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        pid_t pid =
            isdigit((unsigned char)entry->d_name[0]) ? (pid_t)strtol(entry->d_name, NULL, 10) : 0;
        if (pid == 0 || (are_all_new && pid <= run->command) || !has_variable(pid, wanted))
            continue;
        if (has_mapped(pid, "/libsampler.so"))
            pids_add(out, pid);
        else
            n_without++;
    }
    if (dir != NULL)
        closedir(dir);
    return n_without;
}

size_t members_find(const struct members_run *run, struct pids *out)
{
    add_recorded(run->folder, out);
    return add_started(run, out);
}

void member_name(pid_t pid, char *out, size_t out_bytes)
{
    struct chars name = {0};
    bool has_one = proc_read(pid, "comm", &name) && name.items[0] != '\0';
    snprintf(out, out_bytes, "%.*s", has_one ? (int)strcspn(name.items, "\n") : 1,
             has_one ? name.items : "?");
    chars_deinit(&name);
}
