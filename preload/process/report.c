/* report.c - see report.h. */
#include "process/report.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "process/session.h"
#include "process/spawn.h"
#include "record/recording.h"
#include "state/paths.h"
#include "state/run.h"
#include "sys/keep.h"
#include "sys/line.h"
#include "sys/os.h"

static const char *library_path = ""; /* absolute; written in SETUP */

/* The path by which it was loaded, below the folder it was loaded in if it is relative. SETUP */
static const char *make_absolute(const char *path)
{
    char bytes[RECORDING_PATH_MAX], folder[RECORDING_PATH_MAX];
    struct line line;
    if (path[0] == '/' || os_call(SYS_getcwd, folder, sizeof folder) <= 0)
        return path;
    line_init(&line, bytes, sizeof bytes);
    line_add(&line, folder);
    line_add(&line, "/");
    line_add(&line, path);
    const char *absolute = line.cut ? NULL : keep_text(bytes);
    return absolute != NULL ? absolute : path;
}

/* SETUP */
void report_setup(void)
{
    struct dl_find_object own;
    if (_dl_find_object(&library_path, &own) == 0)
        library_path = make_absolute(own.dlfo_link_map->l_name);
}

/* SETUP */
const char *report_library_path(void)
{
    return library_path;
}

/* The tool's path: SAMPLER_TOOL, else near the library; NULL when it cannot be run. EXIT, HOOK */
static const char *tool_find(struct line *line)
{
    static const char *const beside[] = {"/../bin/sampler", "/sampler"};
    if (session.settings.tool != NULL)
        return access(session.settings.tool, X_OK) == 0 ? session.settings.tool : NULL;
    const char *slash = strrchr(library_path, '/');
    size_t folder_length = slash != NULL ? (size_t)(slash - library_path) : 0;
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        line->length = 0;
        line_add_bytes(line, library_path, folder_length);
        line_add(line, beside[i]);
        if (!line->cut && access(line->bytes, X_OK) == 0)
            return line->bytes;
    }
    return NULL;
}

/* EXIT, HOOK */
static void say_how_to_report(const char *why)
{
    char bytes[1100];
    struct line line;
    line_init(&line, bytes, sizeof bytes);
    line_add(&line, why);
    line_add(&line, "; to make the profile: sampler report ");
    line_add(&line, session.recording.path);
    line_add(&line, " -o ");
    line_add(&line, session.output);
    line_say(&line);
}

/* Whether the program that started this process was given this library as well: then the user meant
 * that one, and this process is one of its many children. EXIT */
static bool has_sampled_parent(void)
{
    static char bytes[65536]; /* static: EXIT runs once */
    char path[64];
    struct line line;
    if (session.is_fork_child)
        return true;
    line_init(&line, path, sizeof path);
    line_add(&line, "/proc/");
    line_add_number(&line, (uint64_t)getppid());
    line_add(&line, "/environ");
    int fd = os_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    long n = os_call(SYS_read, fd, bytes, sizeof bytes - 1);
    os_close(fd);
    const char *end = bytes + (n > 0 ? n : 0);
    for (const char *c = bytes; c < end; c += strlen(c) + 1)
        if (strncmp(c, "LD_PRELOAD=", 11) == 0 && strstr(c, "libsampler.so") != NULL)
            return true;
    return false;
}

/* EXIT */
void report_at_exit(void)
{
    char bytes[RECORDING_PATH_MAX];
    struct line line;
    if (session.settings.recording_dir != NULL)
        return;
    if (session_n_samples() == 0 && has_sampled_parent()) {
        os_unlink(session.recording.path);
        return;
    }
    line_init(&line, bytes, sizeof bytes);
    const char *tool = tool_find(&line);
    if (tool == NULL) {
        say_how_to_report("the program `sampler` was not found");
        return;
    }
    static char profile[RECORDING_PATH_MAX]; /* static: EXIT runs once */
    struct line profile_line;
    line_init(&profile_line, profile, sizeof profile);
    paths_with_extension(&profile_line, session.output, ENVIRONMENT_PROFILE_EXTENSION);
    const char *argv[10] = {"sampler", "report",       session.recording.path,
                            "-o",      session.output, "--account"};
    size_t n = 6;
    if (session.settings.is_default_output && !profile_line.cut) {
        argv[n++] = "-o";
        argv[n++] = profile;
    }
    if (!session.settings.keep)
        argv[n++] = "--remove";
    int saved_errno = errno;
    int status = spawn_and_wait(tool, argv);
    if (status < 0 || status == 126 || status == 127)
        say_how_to_report("the program `sampler` could not be run");
    else if (status != 0)
        say_how_to_report("the recording is kept");
    errno = saved_errno;
}

/* HOOK */
int report_so_far(const char *path)
{
    char bytes[RECORDING_PATH_MAX];
    struct line line;
    int saved_errno = errno;
    if (session_phase() != SESSION_RUNNING || !session_is_ours())
        return ENOTCONN;
    if (!recording_place(&session.recording))
        return EIO;
    line_init(&line, bytes, sizeof bytes);
    const char *tool = tool_find(&line);
    if (tool == NULL) {
        say_how_to_report("the program `sampler` was not found");
        return EIO;
    }
    const char *argv[] = {"sampler", "report", session.recording.path, "-q", "-o", path, NULL};
    uint64_t mark = session_mark_so_far();
    int status = spawn_and_wait(tool, argv);
    session_unmark(mark);
    errno = saved_errno;
    return status == 0 ? 0 : EIO;
}

/* HOOK */
bool report_before_exec(void)
{
    if (session.settings.recording_dir != NULL)
        return session_append_brief();
    if (session_n_samples() == 0 && session_has_one_thread())
        return os_unlink(session.recording.path) == 0;
    if (!session.settings.quiet)
        say_how_to_report("the program replaces itself with another");
    return false;
}
