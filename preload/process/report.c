/* report.c - see report.h. */
#include "process/report.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "process/exec_env.h"
#include "process/folder_content.h"
#include "process/session.h"
#include "process/spawn.h"
#include "process/tree.h"
#include "record/recording.h"
#include "state/paths.h"
#include "state/run.h"
#include "sys/keep.h"
#include "sys/layout.h"
#include "sys/line.h"
#include "sys/os.h"

#define OUTPUT_ATTEMPTS 1000u

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

/* Whether the recordings of this tree lie in its folder. EXIT, HOOK */
static bool is_in_folder(void)
{
    return session.settings.recording_dir != NULL;
}

/* EXIT, HOOK */
static void say_how_to_report(const char *why, const char *recordings, const char *output)
{
    char bytes[1100];
    struct line line;
    line_init(&line, bytes, sizeof bytes);
    line_add(&line, why);
    line_add(&line, "; to make the profile: sampler report ");
    line_add(&line, recordings);
    line_add(&line, " -o ");
    line_add(&line, output);
    line_say(&line);
}

/* Whether the process above this one was given this library as well. EXIT */
static bool parent_is_sampled(void)
{
    static LAYOUT_LARGE char bytes[65536]; /* static: EXIT runs once */
    char path[64];
    struct line line;
    line_init(&line, path, sizeof path);
    line_add(&line, "/proc/");
    line_add_number(&line, (uint64_t)os_getppid());
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

/* Then the user meant the program above, and this process is one of its many children. EXIT */
static bool is_one_of_many(void)
{
    return session_n_samples() == 0 && (session.is_fork_child || parent_is_sampled());
}

/* What the tool is asked for; the texts are the caller's. */
struct job {
    const char *recordings; /* a file, or the folder of a tree */
    const char *output;
    const char *profile; /* NULL: the output alone */
    const char *run;     /* NULL: nothing but the recording is known */
};

/* EXIT */
static void run_tool(const struct job *job)
{
    char bytes[RECORDING_PATH_MAX];
    struct line line;
    line_init(&line, bytes, sizeof bytes);
    const char *tool = tool_find(&line);
    if (tool == NULL) {
        say_how_to_report("the program `sampler` was not found", job->recordings, job->output);
        return;
    }
    const char *argv[12] = {"sampler", "report", job->recordings, "-o", job->output, "--account"};
    size_t n = 6;
    if (job->profile != NULL) {
        argv[n++] = "-o";
        argv[n++] = job->profile;
    }
    if (!session.settings.keep)
        argv[n++] = "--remove";
    if (job->run != NULL) {
        argv[n++] = "--run";
        argv[n++] = job->run;
    }
    int saved_errno = errno;
    int status = spawn_and_wait(tool, argv);
    if (status < 0 || status == 126 || status == 127)
        say_how_to_report("the program `sampler` could not be run", job->recordings, job->output);
    else if (status != 0)
        say_how_to_report("the recording is kept", job->recordings, job->output);
    errno = saved_errno;
}

/* A program that has started no other: its own recording. EXIT */
static void report_alone(void)
{
    static LAYOUT_LARGE char profile[RECORDING_PATH_MAX]; /* static: EXIT runs once */
    struct line line;
    if (is_one_of_many()) {
        os_unlink(session.recording.path);
        return;
    }
    line_init(&line, profile, sizeof profile);
    paths_with_extension(&line, session.output, ENVIRONMENT_PROFILE_EXTENSION);
    bool has_profile = session.settings.is_default_output && !line.cut;
    run_tool(&(struct job){.recordings = session.recording.path,
                           .output = session.output,
                           .profile = has_profile ? profile : NULL});
}

/* PID:CPU_NS:COMMAND of the first process, whose CPU time with all that it waited for is known at its
 * own end only. EXIT */
static void run_of_tree(struct line *line)
{
    bool is_first = tree_place() == TREE_FIRST;
    uint64_t used_ns = os_cpu_used_ns(RUSAGE_SELF) + os_cpu_used_ns(RUSAGE_CHILDREN);
    line_add_number(line, (uint64_t)tree_first_pid());
    line_add(line, ":");
    line_add_number(line, is_first ? used_ns : 0);
    line_add(line, ":");
    line_add(line, program_invocation_short_name);
}

/* Where the profile goes that a later process makes: under a name that is free. EXIT */
static void find_free_outputs(struct line *output, struct line *profile)
{
    static LAYOUT_LARGE char pattern[RECORDING_PATH_MAX]; /* static: EXIT runs once */
    struct line line;
    unsigned attempt = 0;
    line_init(&line, pattern, sizeof pattern);
    paths_add_output(&line, session.settings.output);
    do {
        output->length = profile->length = 0;
        tree_add_output(output, attempt, paths_extension(pattern));
        tree_add_output(profile, attempt, ENVIRONMENT_PROFILE_EXTENSION);
    } while (attempt++ < OUTPUT_ATTEMPTS &&
             (access(output->bytes, F_OK) == 0 ||
              (session.settings.is_default_output && access(profile->bytes, F_OK) == 0)));
}

/* Everything in the folder. EXIT */
static void report_tree(void)
{
    static LAYOUT_LARGE char output[RECORDING_PATH_MAX], profile[RECORDING_PATH_MAX], run[512];
    struct line output_line, profile_line, run_line;
    line_init(&output_line, output, sizeof output);
    line_init(&profile_line, profile, sizeof profile);
    line_init(&run_line, run, sizeof run);
    if (tree_place() == TREE_FIRST) {
        line_add(&output_line, session.output);
        paths_with_extension(&profile_line, session.output, ENVIRONMENT_PROFILE_EXTENSION);
    } else {
        find_free_outputs(&output_line, &profile_line);
    }
    run_of_tree(&run_line);
    tree_gather();
    run_tool(&(struct job){.recordings = tree_folder(),
                           .output = output,
                           .profile = session.settings.is_default_output ? profile : NULL,
                           .run = run});
}

/* Whether the process above this one will look into the folder after this one has ended, though it
 * need not have a recording that shows: it may wait for its children. Neither the first one, which
 * reports or is past that, nor one that has ended its recording: it may have looked before this one
 * had. EXIT */
static bool parent_looks_later(int turn)
{
    return os_getppid() != tree_first_pid() && parent_is_sampled() &&
           !folder_has_end_of(turn, os_getppid());
}

/* A later process that has outlived the first: the last one to end makes the profile of what is
 * there. EXIT */
static void report_left(void)
{
    if (!tree_is_over())
        return;
    int turn = tree_take_turn();
    if (turn < 0)
        return;
    if (!parent_looks_later(turn)) {
        struct folder_content content = folder_content_of(turn, session.pid);
        if (content.has_recordings && !content.has_running)
            report_tree();
        else if (!content.has_recordings)
            tree_drop();
    }
    tree_give_turn(turn);
}

/* EXIT */
static void report_first(void)
{
    int turn = tree_take_turn();
    if (turn < 0) {
        report_alone();
        return;
    }
    if (!is_one_of_many() || folder_content_of(turn, session.pid).has_recordings) {
        report_tree();
    } else {
        os_unlink(session.recording.path);
        tree_drop();
    }
    tree_give_turn(turn);
}

/* EXIT */
void report_at_exit(void)
{
    if (tree_place() == TREE_FIRST)
        report_first();
    else if (tree_place() == TREE_LATER)
        report_left();
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
        say_how_to_report("the program `sampler` was not found", session.recording.path, path);
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
bool report_before_exec(bool goes_on)
{
    bool is_first = tree_place() == TREE_FIRST;
    if (is_first && !is_in_folder() && session_n_samples() == 0 && session_has_one_thread() &&
        !tree_has_folder())
        return os_unlink(session.recording.path) == 0;
    if (is_first && !session.settings.quiet && !(goes_on && exec_env_is_given()))
        say_how_to_report("the program replaces itself with another",
                          is_in_folder() ? tree_folder() : session.recording.path, session.output);
    return is_in_folder() && session_append_brief();
}
