/* main.c - sampler-run: a command with the library preloaded, then its profile.
 *
 *   check all that can be checked -> private recording folder -> fork, exec, wait for the command
 *     and for what it leaves running -> `sampler report` reads the recordings and writes the outputs (reporter.h) -> the command's
 *     exit status
 *
 * Links neither libdw nor the writers, so that the command starts at once. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "append.h"
#include "environment.h"
#include "options/format_names.h"
#include "options/messages.h"
#include "options/options.h"
#include "options/outputs.h"
#include "options/pattern.h"
#include "options/shell_word.h"
#include "run/child.h"
#include "run/elapsed.h"
#include "run/jit_env.h"
#include "run/others_dir.h"
#include "run/preload_env.h"
#include "run/program.h"
#include "run/recording_dir.h"
#include "run/reporter.h"
#include "run/waiting.h"
#include "text.h"

#define OWN_NAME "sampler-run"

struct run {
    struct options options;
    struct preload_env preload;
    struct child_guard guard;
    struct pattern_values names;
    char folder[PATH_MAX]; /* of the first output; recordings stay there with --keep */
    struct rusage usage;
    int wait_status;
    bool is_left; /* some of its processes still run */
};

static int fail(const struct err *err, int status)
{
    complain(OWN_NAME, err);
    return status;
}

static bool output_folder(const char *pattern, const struct pattern_values *names, char *out,
                          size_t out_bytes, struct err *err)
{
    struct stat st;
    if (stat(pattern, &st) == 0 && S_ISDIR(st.st_mode)) {
        err_fail_errno(err, EISDIR, "cannot write there");
        return err_name_file(err, pattern);
    }
    if (path_is_stream(pattern)) {
        const char *temporary = getenv("TMPDIR");
        snprintf(out, out_bytes, "%s",
                 temporary != NULL && temporary[0] == '/' ? temporary : "/tmp");
        return true;
    }
    if (!pattern_folder(pattern, names, out, out_bytes, err))
        return false;
    if (access(out, W_OK | X_OK) == 0)
        return true;
    err_fail_errno(err, errno, "cannot write there");
    return err_name_file(err, out);
}

/* Every output's folder takes a file, and the recordings have a place. */
static bool prepare_folders(struct run *run, struct err *err)
{
    const struct options *options = &run->options;
    for (size_t i = outputs_count(options); i-- > 0;) /* the first one's stays in run->folder */
        if (!output_folder(outputs_name(options, i), &run->names, run->folder, sizeof run->folder,
                           err))
            return false;
    if (!recording_dir_create(run->folder, run->preload.recording_dir,
                              sizeof run->preload.recording_dir, err))
        return false;
    others_dir_choose(run->preload.recording_dir, run->preload.others_dir);
    return true;
}

static bool prepare_check(void *context)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    return nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0 && preload_env_set(context) &&
           setenv(ENVIRONMENT_CHECK, "1", 1) == 0;
}

static bool is_kernel_event(const struct options *options)
{
    return !options_is(options, OPTION_EVENT, "cpu") && !options_is(options, OPTION_EVENT, "wall");
}

/* Whether this user, on this machine, can have the event: a process of our own asks the kernel as
 * the command's would, and says why not. */
static bool check_event(struct run *run, struct err *err)
{
    char self[] = "/proc/self/exe", version[] = "--version";
    char *const argv[] = {self, version, NULL};
    struct rusage usage;
    pid_t child = 0;
    int sys_errno = 0, wait_status = 0;
    child_guard_enter(&run->guard);
    bool started =
        child_start(&run->guard, self, argv, prepare_check, &run->preload, &child, &sys_errno);
    if (started)
        child_wait(&run->guard, child, &wait_status, &usage);
    child_guard_leave(&run->guard);
    if (!started)
        return err_fail_errno(err, sys_errno, "cannot check the event");
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == ENVIRONMENT_CHECK_FINE)
        return true;
    bool told = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == ENVIRONMENT_CHECK_REFUSED;
    return err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET, "%s",
                    told ? "" : "cannot check the event: the library did not answer");
}

/* Options that say nothing where something else is measured. */
static void tell_unused_options(const struct options *options)
{
    bool is_event = is_kernel_event(options);
    if (is_event && options->given[OPTION_FREQUENCY])
        tell(OWN_NAME, "-F is for cpu and wall; of events, one in --period is sampled");
    if (!is_event && options->given[OPTION_PERIOD])
        tell(OWN_NAME, "--period is for kernel events; cpu and wall are sampled -F times a second");
}

static bool prepare_child(void *context)
{
    const struct preload_env *preload = context;
    return preload_env_set(preload) &&
           (!options_flag(preload->options, OPTION_JIT) || jit_env_set());
}

/* 0 once the command has run, else the launch_status. */
static int run_command(struct run *run, struct err *err)
{
    pid_t child = 0;
    int sys_errno = 0;
    child_guard_enter(&run->guard);
    run->preload.since_ns = elapsed_now_ns();
    if (!child_start(&run->guard, run->options.operands[0], run->options.operands, prepare_child,
                     &run->preload, &child, &sys_errno)) {
        recording_dir_remove(run->preload.recording_dir);
        err_fail_errno(err, sys_errno, "cannot run %.150s", run->options.operands[0]);
        return sys_errno == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE;
    }
    run->names.pid = (uint64_t)child;
    child_wait(&run->guard, child, &run->wait_status, &run->usage);
    return 0;
}

/* Whoever ends the command by one of these wants the prompt, and the profile, now. */
static bool was_asked_to_end(const struct run *run)
{
    int status = child_exit_status(run->wait_status);
    return status == 128 + SIGINT || status == 128 + SIGQUIT || status == 128 + SIGTERM ||
           status == 128 + SIGHUP;
}

/* When the last sample has been taken; 0 where that is not known. */
static uint64_t sampling_end_ns(const struct run *run)
{
    uint64_t duration_ns = options_ns(&run->options, OPTION_DURATION, 0);
    return duration_ns == 0 || options_flag(&run->options, OPTION_PAUSED)
               ? 0
               : run->preload.since_ns + options_ns(&run->options, OPTION_DELAY, 0) + duration_ns;
}

/* What the command left running is a part of its run. */
static void await_others(struct run *run)
{
    const struct waiting waiting = {
        .run = {.folder = run->preload.recording_dir,
                .command = (pid_t)run->names.pid,
                .start_ns = run->preload.since_ns},
        .guard = &run->guard,
        .until_ns = sampling_end_ns(run),
        .is_quiet = options_flag(&run->options, OPTION_QUIET),
        .own_name = OWN_NAME,
    };
    run->is_left = options_flag(&run->options, OPTION_NO_WAIT) || was_asked_to_end(run)
                       ? !members_have_ended(&waiting)
                       : !wait_for_members(&waiting);
}

static uint64_t ns_of(struct timeval time)
{
    return ((uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_usec) * 1000u;
}

static bool report(const struct run *run)
{
    const struct reporter_request request = {
        .options = &run->options,
        .guard = &run->guard,
        .folder = run->preload.recording_dir,
        .command = run->names.command,
        .pid = run->names.pid,
        .cpu_ns = ns_of(run->usage.ru_utime) + ns_of(run->usage.ru_stime),
    };
    return reporter_run(&request, OWN_NAME);
}

static bool keep(const struct run *run)
{
    struct err err = ERR_INIT;
    struct recording_list list = {0};
    const char *name = text_base_name(text_make(run->names.command)).bytes;
    bool ok = recording_dir_list(run->preload.recording_dir, &list, &err) &&
              recording_dir_keep(&list, run->folder, name, (uint64_t)run->names.pid, &err);
    if (!ok)
        complain(OWN_NAME, &err);
    recording_list_free(&list);
    return ok;
}

/* How to make the profile by hand, as a line for a shell. */
static void tell_how_to_continue(const char *folder)
{
    char line[3 * PATH_MAX];
    size_t used = 0;
    append(line, sizeof line, &used, "the recordings are kept; to continue: sampler report ");
    append_shell_word(folder, line, sizeof line, &used);
    append(line, sizeof line, &used, " -o FILE");
    tell(OWN_NAME, line);
}

/* --no-wait: they are recorded for as long as they run. */
static void tell_how_to_report_again(const char *folder)
{
    char line[3 * PATH_MAX];
    size_t used = 0;
    append(line, sizeof line, &used,
           "they are recorded until they end; then: sampler report --remove ");
    append_shell_word(folder, line, sizeof line, &used);
    append(line, sizeof line, &used, " -o FILE");
    tell(OWN_NAME, line);
}

/* The recordings into outputs. Whatever goes wrong is said and loses no recording. */
static void conclude(const struct run *run)
{
    bool goes_on = run->is_left && options_flag(&run->options, OPTION_NO_WAIT);
    bool keeps = options_flag(&run->options, OPTION_KEEP) && !goes_on;
    bool ok = report(run) && (!keeps || keep(run));
    if (ok && goes_on && !options_flag(&run->options, OPTION_QUIET))
        tell_how_to_report_again(run->preload.recording_dir);
    else if (ok && !goes_on)
        recording_dir_remove(run->preload.recording_dir);
    else if (!ok)
        tell_how_to_continue(run->preload.recording_dir);
}

int main(int argc, char **argv)
{
    static struct run run;
    struct err err = ERR_INIT;
    char path[PATH_MAX];
    if (!options_parse(COMMAND_RUN, argc, argv, &run.options, &err))
        return fail(&err, LAUNCH_FAILED);
    if (run.options.help) {
        options_print_help(COMMAND_RUN, stdout);
        return fflush(stdout) == 0 ? 0 : LAUNCH_FAILED;
    }
    if (run.options.version) {
        printf("sampler %s\n", SAMPLER_VERSION);
        return fflush(stdout) == 0 ? 0 : LAUNCH_FAILED;
    }
    run.preload.options = &run.options;
    run.names.command = run.options.operands[0];
    if (!outputs_check(&run.options, true, &err) || !preload_find(&run.preload, &err))
        return fail(&err, LAUNCH_FAILED);
    int status = program_find(run.options.operands[0], path, sizeof path, &err);
    if (status != 0)
        return fail(&err, status);
    tell_unused_options(&run.options);
    if (is_kernel_event(&run.options) && !check_event(&run, &err))
        return err.text[0] != '\0' ? fail(&err, LAUNCH_FAILED) : LAUNCH_FAILED;
    if (!program_check_preload(path, run.preload.runtime, &err) || !prepare_folders(&run, &err))
        return fail(&err, LAUNCH_FAILED);
    status = run_command(&run, &err);
    if (status != 0)
        return fail(&err, status);
    await_others(&run);
    conclude(&run);
    return child_exit_status(run.wait_status);
}
