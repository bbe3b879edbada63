/* report.c - see report.h. */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "account_out.h"
#include "build/build.h"
#include "files.h"
#include "formats/folded/folded.h"
#include "pattern.h"
#include "progress.h"
#include "save.h"

#define MAX_WARNING_LINES 3
#define MAX_NAMED_FILES 4

struct report {
    const struct report_request *request;
    struct recording **recordings; /* those that could be read; write_split sorts them */
    size_t n;
    uint64_t main_pid; /* whose file keeps its name; 0: nobody's       */
    struct account account;
    char wrote[1024]; /* "a.folded, b.folded"                          */
    size_t wrote_length;
    size_t n_wrote;
};

/* ---- reading --------------------------------------------------------------------------------- */

static bool is_quiet(const struct report *report)
{
    return options_flag(report->request->options, OPTION_QUIET);
}

__attribute__((format(printf, 2, 3))) static void tell_of(const char *path, const char *format, ...)
{
    char text[512];
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(line, sizeof line, "%s: %s", path, text);
    tell("sampler", line);
}

static void tell_warnings(const struct report *report, const struct recording *recording,
                          const char *path)
{
    if (is_quiet(report))
        return;
    for (size_t i = 0; i < recording->n_warnings && i < MAX_WARNING_LINES; i++) {
        const struct recording_warning *warning = &recording->warnings[i];
        int length = (int)warning->text.length;
        if (warning->offset != ERR_NO_OFFSET)
            tell_of(path, "offset %" PRIu64 ": %.*s", warning->offset, length, warning->text.bytes);
        else
            tell_of(path, "%.*s", length, warning->text.bytes);
    }
    size_t n = recording->n_warnings + recording->n_warnings_dropped;
    if (n > MAX_WARNING_LINES)
        tell_of(path, "%zu more damaged places", n - MAX_WARNING_LINES);
    if (recording->cut)
        tell_of(path, "the recording is cut short; the profile holds what is left of it");
}

/* A recording that cannot be read is an error where the user named it; among those of a run it may
 * be of a process killed while it made the file, and costs one line. */
static bool load_recordings(struct report *report, struct err *err)
{
    const struct report_request *request = report->request;
    report->recordings = calloc(request->n_recordings + 1, sizeof(struct recording *));
    if (report->recordings == NULL)
        return err_fail_memory(err);
    for (size_t i = 0; i < request->n_recordings; i++) {
        struct err one = ERR_INIT;
        struct recording *recording = NULL;
        const char *path = request->recordings[i];
        if (recording_read_file(path, &recording, &one) && recording != NULL) {
            tell_warnings(report, recording, path);
            report->recordings[report->n++] = recording;
            continue;
        }
        if (!request->skip_unreadable) {
            *err = one;
            return err_name_file(err, path);
        }
        complain("sampler", &one);
    }
    return true;
}

static bool is_running(const struct recording *recording)
{
    const struct capture_header *header = &recording->header;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all up to report->n are set */
    return header->end == CAPTURE_RUNNING && header->pid > 0 && header->pid <= INT_MAX &&
           (kill((pid_t)header->pid, 0) == 0 || errno == EPERM);
}

/* Processes that outlive the command go on recording; what they have done so far is in. */
static void tell_running(const struct report *report)
{
    size_t n_running = 0;
    for (size_t i = 0; i < report->n; i++)
        n_running += is_running(report->recordings[i]);
    if (n_running > 0 && !is_quiet(report))
        fprintf(stderr, "sampler: %zu process%s still running: in the profile up to now\n",
                n_running, n_running > 1 ? "es are" : " is");
}

static void tell_line(void *context, const char *line)
{
    (void)context;
    tell("sampler", line);
}

/* Of which modules names or lines are missing, and why. */
static void tell_missing(const struct report *report)
{
    if (!is_quiet(report))
        account_tell_missing(&report->account, tell_line, NULL);
}

/* ---- building -------------------------------------------------------------------------------- */

static struct build_options build_options_from(const struct options *options)
{
    enum names_mode names = NAMES_FULL;
    if (options_is(options, OPTION_NAMES, "short"))
        names = NAMES_SHORT;
    else if (options_is(options, OPTION_NAMES, "raw"))
        names = NAMES_RAW;
    return (struct build_options){.names = names,
                                  .no_inlines = options_flag(options, OPTION_NO_INLINES)};
}

/* Nothing was recorded (the program ended before the library could start, say): still a profile. */
static bool build_nothing(struct profile **out, struct err *err)
{
    struct profile_builder *builder = NULL;
    if (!profile_builder_create(&builder, err))
        return false;
    struct profile_scalars *scalars = profile_builder_scalars(builder);
    scalars->n_kinds = 1;
    scalars->kinds[0].name = profile_add_cstring(builder, "samples");
    scalars->kinds[0].unit = PROFILE_UNIT_COUNT;
    return profile_builder_finish(builder, out, err);
}

static bool build_profile(const struct options *options, struct recording *const *recordings,
                          size_t n, struct profile **out, struct account *account, struct err *err)
{
    if (n == 0)
        return build_nothing(out, err);
    const struct recording **borrowed = calloc(n, sizeof(const struct recording *));
    if (borrowed == NULL)
        return err_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        borrowed[i] = recordings[i];
    struct build_options build_options = build_options_from(options);
    struct progress *progress = progress_start("symbolizing");
    bool ok = profile_build(borrowed, n, &build_options, out, account, err);
    progress_stop(progress);
    free(borrowed);
    return ok;
}

bool recordings_load_profile(const struct options *options, char *const *paths, size_t n,
                             struct profile **out, struct err *err)
{
    struct report_request request = {.options = options, .n_recordings = n};
    struct report report = {.request = &request};
    const char **borrowed = calloc(n + 1, sizeof *borrowed);
    if (borrowed == NULL)
        return err_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        borrowed[i] = paths[i];
    request.recordings = borrowed;
    bool ok = load_recordings(&report, err);
    if (ok && !account_init(&report.account))
        ok = err_fail_memory(err);
    if (ok) {
        ok = build_profile(options, report.recordings, report.n, out, &report.account, err);
        if (ok)
            tell_missing(&report);
        account_deinit(&report.account);
    }
    for (size_t i = 0; i < report.n; i++)
        recording_destroy(report.recordings[i]);
    free(report.recordings);
    free(borrowed);
    return ok;
}

/* ---- writing --------------------------------------------------------------------------------- */

static const char *output_pattern(const struct options *options, size_t index)
{
    return options->n_outputs > 0 ? options->outputs[index] : PATTERN_DEFAULT;
}

/* What sampler-run is given, and the default, are patterns. `sampler report -o` is handed a
 * finished name (by the library at the end of a program, say), in which a percent sign is one. */
static bool output_is_pattern(const struct options *options)
{
    return options->command == COMMAND_RUN || options->n_outputs == 0;
}

static size_t output_count(const struct options *options)
{
    return options->n_outputs > 0 ? options->n_outputs : 1;
}

static bool output_expand(const struct options *options, size_t index,
                          const struct pattern_values *values, char *out, size_t out_bytes,
                          struct err *err)
{
    const char *pattern = output_pattern(options, index);
    if (output_is_pattern(options))
        return pattern_expand(pattern, values, out, out_bytes, err);
    int n = snprintf(out, out_bytes, "%s", pattern);
    return (n >= 0 && (size_t)n < out_bytes) ||
           err_fail(err, ERR_LIMIT, ERR_NO_OFFSET, "%.100s: the file name is too long", pattern);
}

static bool check_output(const struct options *options, const char *path, struct err *err)
{
    const struct format *format = format_for_writing(path, options->values[OPTION_FORMAT], err);
    if (format == NULL)
        return false;
    if (format == &format_diff_folded)
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                        "%.100s: a diff is made of two profiles; see `sampler diff --help`", path);
    bool may_be_several = options->command == COMMAND_RUN || options->n_operands > 1;
    if (may_be_several && options_is(options, OPTION_PROCESSES, "split") && path_is_stream(path))
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                        "%.100s: --processes split writes several files, which need a name", path);
    return true;
}

bool report_check_outputs(const struct options *options, struct err *err)
{
    const struct pattern_values values = {.command = "command"};
    char path[PATH_MAX];
    for (size_t i = 0; i < output_count(options); i++) {
        if (!output_expand(options, i, &values, path, sizeof path, err) ||
            !check_output(options, path, err))
            return false;
    }
    return true;
}

static void note_wrote(void *context, const char *path)
{
    struct report *report = context;
    size_t room = sizeof report->wrote - report->wrote_length;
    if (report->n_wrote++ >= MAX_NAMED_FILES || strlen(path) + 32 > room)
        return;
    report->wrote_length += (size_t)snprintf(report->wrote + report->wrote_length, room, "%s%s",
                                             report->wrote_length > 0 ? ", " : "", path);
}

/* `is_main`: the file that keeps the name as it was given. */
static bool write_outputs(struct report *report, const struct profile *profile,
                          const struct pattern_values *values, bool is_main, struct err *err)
{
    const struct options *options = report->request->options;
    for (size_t i = 0; i < output_count(options) && !report->request->no_outputs; i++) {
        char expanded[PATH_MAX];
        char path[PATH_MAX];
        if (!output_expand(options, i, values, expanded, sizeof expanded, err))
            return false;
        if (is_main || (output_is_pattern(options) && pattern_has_pid(output_pattern(options, i))))
            memcpy(path, expanded, sizeof path);
        else if (!path_add_pid(expanded, values->pid, path, sizeof path, err))
            return false;
        const struct format *format = format_for_writing(path, options->values[OPTION_FORMAT], err);
        const struct save_request request = {.profile = profile,
                                             .format = format,
                                             .options = options,
                                             .path = path,
                                             .wrote = note_wrote,
                                             .context = report};
        if (format == NULL || !profile_save(&request, err))
            return false;
    }
    return true;
}

/* The program's name as the recording has it: argv[0], else its file. `out` holds a copy. */
static void recording_name(const struct recording *recording, char *out, size_t out_bytes)
{
    struct text text = recording_info_get(recording, "command");
    if (text.length == 0 || text.bytes[0] == '\0')
        text = recording_info_get(recording, "exe");
    snprintf(out, out_bytes, "%.*s", (int)strnlen(text.bytes, text.length), text.bytes);
}

/* How a file of process `pid` is called; `last` is its last recording, NULL if it has none. */
static struct pattern_values names_of(const struct report *report, uint64_t pid,
                                      const struct recording *last, char *name, size_t name_bytes)
{
    bool is_main = pid == report->main_pid;
    if (is_main && report->request->command != NULL)
        return (struct pattern_values){.command = report->request->command, .pid = pid};
    snprintf(name, name_bytes, "program");
    if (last != NULL)
        recording_name(last, name, name_bytes);
    return (struct pattern_values){.command = name, .pid = pid};
}

static bool write_merged(struct report *report, struct err *err)
{
    struct profile *profile = NULL;
    char name[PATH_MAX];
    uint64_t pid = report->main_pid;
    struct pattern_values values =
        names_of(report, pid, report->n > 0 ? report->recordings[0] : NULL, name, sizeof name);
    bool ok = build_profile(report->request->options, report->recordings, report->n, &profile,
                            &report->account, err) &&
              write_outputs(report, profile, &values, true, err);
    profile_destroy(profile);
    return ok;
}

/* The recordings of one process, in order: what it was before and after exec. */
static bool write_process(struct report *report, size_t first, size_t n, struct err *err)
{
    struct profile *profile = NULL;
    struct account account;
    char name[PATH_MAX];
    uint64_t pid = report->recordings[first]->header.pid;
    struct pattern_values values =
        names_of(report, pid, report->recordings[first + n - 1], name, sizeof name);
    bool is_main = pid == report->main_pid;
    if (!account_init(&account))
        return err_fail_memory(err);
    bool ok = build_profile(report->request->options, report->recordings + first, n, &profile,
                            &account, err);
    if (ok && profile != NULL && (is_main || account.all.n_samples > 0))
        ok = write_outputs(report, profile, &values, is_main, err);
    profile_destroy(profile);
    ok = ok && (account_add(&report->account, &account) || err_fail_memory(err));
    account_deinit(&account);
    return ok;
}

static int process_compare(const void *left, const void *right)
{
    const struct capture_header *a = &(*(struct recording *const *)left)->header;
    const struct capture_header *b = &(*(struct recording *const *)right)->header;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return a->start_time_ns < b->start_time_ns ? -1 : a->start_time_ns > b->start_time_ns;
}

static bool write_split(struct report *report, struct err *err)
{
    bool main_seen = false;
    if (report->n > 1)
        qsort(report->recordings, report->n, sizeof(struct recording *), process_compare);
    for (size_t first = 0; first < report->n;) {
        uint64_t pid = report->recordings[first]->header.pid;
        size_t n = 1;
        while (first + n < report->n && report->recordings[first + n]->header.pid == pid)
            n++;
        if (!write_process(report, first, n, err))
            return false;
        main_seen = main_seen || pid == report->main_pid;
        first += n;
    }
    if (main_seen)
        return true;
    size_t n = report->n;
    report->n = 0;
    bool ok = write_merged(report, err);
    report->n = n;
    return ok;
}

/* ---- the account ----------------------------------------------------------------------------- */

static void set_cpu(struct report *report)
{
    const struct rusage *usage = report->request->usage;
    if (usage == NULL)
        return;
    uint64_t us = (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000u +
                  (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
    account_set_cpu(&report->account, us * 1000u);
}

static void tell_account(struct report *report)
{
    if (report->n_wrote > MAX_NAMED_FILES)
        snprintf(report->wrote + report->wrote_length, sizeof report->wrote - report->wrote_length,
                 " and %zu more", report->n_wrote - MAX_NAMED_FILES);
    char line[2048];
    tell("sampler", account_format(&report->account, report->wrote, line, sizeof line));
}

bool report_write(const struct report_request *request, struct err *err)
{
    struct report report = {.request = request};
    if (!account_init(&report.account))
        return err_fail_memory(err);
    bool ok = load_recordings(&report, err);
    if (ok) {
        report.main_pid = request->main_pid;
        if (report.main_pid == 0 && report.n > 0)
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all up to report.n are set */
            report.main_pid = report.recordings[0]->header.pid;
        tell_running(&report);
        if (report.n == 0)
            fprintf(stderr, "sampler: nothing was recorded\n");
        bool split = options_is(request->options, OPTION_PROCESSES, "split");
        ok = split ? write_split(&report, err) : write_merged(&report, err);
    }
    set_cpu(&report);
    if (ok && !request->no_outputs)
        tell_missing(&report);
    if (ok && request->show_account && report.n > 0)
        tell_account(&report);
    if (ok)
        ok = account_out_write(&report.account, request->options, err);
    for (size_t i = 0; i < report.n; i++)
        recording_destroy(report.recordings[i]);
    free(report.recordings);
    account_deinit(&report.account);
    return ok;
}
