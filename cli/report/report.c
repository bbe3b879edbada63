/* report.c - see report.h. With --processes split each process gets a profile of its own from the
 * recordings it left (one for each exec); the account is that of all. */
#include "report/report.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "account/closing.h"
#include "account/process_exits.h"
#include "build/build.h"
#include "options/messages.h"
#include "options/outputs.h"
#include "options/pattern.h"
#include "recording/brief.h"
#include "report/account_out.h"
#include "report/browser.h"
#include "report/files.h"
#include "report/next_command.h"
#include "report/progress.h"
#include "report/running.h"
#include "report/save.h"
#include "report/symbol_sources.h"
#include "source/embed.h"

#define MAX_WARNING_LINES 3
#define MAX_NAMED_FILES 4

struct report {
    const struct report_request *request;
    struct recordings recordings; /* those that could be read; write_split sorts them */
    size_t n_running;             /* of them, of processes that have not ended     */
    uint64_t main_pid;            /* whose file keeps its name; 0: nobody's       */
    struct account account;
    struct symbol_sources sources;
    char wrote[1024]; /* "a.folded, b.folded"                          */
    size_t wrote_length;
    size_t n_wrote;
    const struct format *writing; /* the format that is being written             */
    char readable[PATH_MAX];      /* a file that can be looked at, .sprofile first */
    bool holds_all;               /* and it is one                                */
    bool writes_main;             /* it is of the process whose file keeps its name */
    char page[PATH_MAX];          /* a file for browsers, of that process if it has one */
    bool is_page_of_main;
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

static int process_compare(const void *left, const void *right)
{
    const struct capture_header *a = &(*(struct recording *const *)left)->header;
    const struct capture_header *b = &(*(struct recording *const *)right)->header;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return a->start_time_ns < b->start_time_ns ? -1 : a->start_time_ns > b->start_time_ns;
}

/* Files come by process; brief ones as they ended, so those of a run are put in their places. Files
 * named by hand keep their order, since the first is the one that gives the profile its name. */
static bool add_brief(struct recordings *all, struct recordings *brief, bool of_run,
                      struct err *err)
{
    bool ok = recordings_reserve(all, brief->n) || err_fail_memory(err);
    for (size_t i = 0; i < brief->n && ok; i++)
        recordings_push(all, brief->items[i]);
    if (!ok)
        recordings_destroy(brief);
    else if (brief->n > 0 && of_run)
        qsort(all->items, all->n, sizeof(struct recording *), process_compare);
    recordings_deinit(brief);
    return ok;
}

/* What a process leaves that was killed while it made its recording: nothing, or reserved space. */
static bool is_unwritten(const char *path)
{
    static const struct capture_header nothing;
    struct capture_header header = nothing;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool yes = fd >= 0 && read(fd, &header, sizeof header) >= 0 &&
               memcmp(&header, &nothing, sizeof header) == 0;
    if (fd >= 0)
        close(fd);
    return yes;
}

/* False when an input that was named is of no use at all. */
static bool load_one(struct report *report, struct report_input *input, struct recordings *brief,
                     struct err *err)
{
    struct err one = ERR_INIT;
    struct recordings *all = &report->recordings;
    size_t n_before = all->n, n_brief_before = brief->n;
    bool ok = recordings_read_file(input->path, all, brief, &one);
    for (size_t i = n_before; i < all->n; i++) {
        tell_warnings(report, all->items[i], input->path);
        input->is_running |= running_find(all->items[i]);
    }
    report->n_running += input->is_running;
    for (size_t i = n_brief_before; i < brief->n; i++)
        tell_warnings(report, brief->items[i], input->path);
    if (ok)
        return true;
    if (input->may_be_bad && is_unwritten(input->path)) {
        report->account.n_at_birth++;
        return true;
    }
    if (input->may_be_bad || brief->n > n_brief_before) {
        complain("sampler", &one);
        return true;
    }
    *err = one;
    return err_name_file(err, input->path);
}

static bool load_recordings(struct report *report, struct err *err)
{
    const struct report_request *request = report->request;
    struct recordings brief = {0};
    bool ok = true, of_run = false;
    for (size_t i = 0; i < request->n_inputs && ok; i++) {
        of_run |= request->inputs[i].may_be_bad;
        ok = load_one(report, &request->inputs[i], &brief, err);
    }
    if (ok)
        return add_brief(&report->recordings, &brief, of_run, err);
    recordings_destroy(&brief);
    return false;
}

/* Processes that outlive the command continue to record; what they have done so far is in, if they
 * had a sample yet. */
static void tell_running(const struct report *report)
{
    size_t n = report->n_running;
    if (n > 0 && !is_quiet(report))
        fprintf(stderr, "sampler: %zu process%s still running: in the profile up to now%s\n", n,
                n > 1 ? "es are" : " is",
                options_flag(report->request->options, OPTION_REMOVE) ? "; what they record stays"
                                                                      : "");
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

/* `cpu_ns`: of the run, 0 where what is built is a part of it. */
static struct build_options build_options_from(const struct report *report, uint64_t cpu_ns)
{
    const struct options *options = report->request->options;
    enum names_mode names = NAMES_FULL;
    if (options_is(options, OPTION_NAMES, "short"))
        names = NAMES_SHORT;
    else if (options_is(options, OPTION_NAMES, "raw"))
        names = NAMES_RAW;
    return (struct build_options){.names = names,
                                  .sources = report->sources,
                                  .run_pid = report->request->main_pid,
                                  .run_cpu_ns = cpu_ns,
                                  .own_cost = options_flag(options, OPTION_OWN_COST),
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

/* `cpu_ns`: see build_options_from. */
static bool build_profile(struct report *report, struct recording *const *recordings, size_t n,
                          uint64_t cpu_ns, struct profile **out, struct account *account,
                          struct err *err)
{
    if (n == 0)
        return build_nothing(out, err);
    const struct recording **borrowed = calloc(n, sizeof(const struct recording *));
    if (borrowed == NULL)
        return err_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        borrowed[i] = recordings[i];
    struct build_options build_options = build_options_from(report, cpu_ns);
    struct progress *progress =
        progress_start_described("symbolizing", symbol_sources_describe, &report->sources);
    bool ok = profile_build(borrowed, n, &build_options, out, account, err);
    progress_stop(progress);
    free(borrowed);
    return ok;
}

bool recordings_load_profile(const struct options *options, char *const *paths, size_t n,
                             struct profile **out, struct err *err)
{
    struct report_inputs inputs = {0};
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++)
        ok = report_inputs_add_operand(&inputs, paths[i], false, err);
    const struct report_request request = {
        .options = options, .inputs = inputs.items, .n_inputs = inputs.n};
    struct report report = {.request = &request};
    ok = ok && load_recordings(&report, err);
    if (ok && !account_init(&report.account))
        ok = err_fail_memory(err);
    if (ok) {
        report.sources = symbol_sources_open(options);
        ok = build_profile(&report, report.recordings.items, report.recordings.n, 0, out,
                           &report.account, err);
        symbol_sources_close(&report.sources);
        if (ok)
            tell_missing(&report);
        account_deinit(&report.account);
    }
    recordings_destroy(&report.recordings);
    report_inputs_free(&inputs);
    return ok;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void note_wrote(void *context, const char *path)
{
    struct report *report = context;
    if (strcmp(path, "-") == 0)
        return;
    bool holds_all = strcmp(report->writing->name, "sprofile") == 0;
    if (report->writing->read != NULL && (report->readable[0] == '\0' || !report->holds_all) &&
        (report->readable[0] == '\0' || holds_all)) {
        snprintf(report->readable, sizeof report->readable, "%s", path);
        report->holds_all = holds_all;
    }
    if (report->writing->for_browsers && !report->is_page_of_main) {
        snprintf(report->page, sizeof report->page, "%s", path);
        report->is_page_of_main = report->writes_main;
    }
    size_t room = sizeof report->wrote - report->wrote_length;
    if (report->n_wrote++ >= MAX_NAMED_FILES || strlen(path) + 32 > room)
        return;
    report->wrote_length += (size_t)snprintf(report->wrote + report->wrote_length, room, "%s%s",
                                             report->wrote_length > 0 ? ", " : "", path);
}

/* `is_main`: the file that keeps the name as it was given. A page that is to be looked at here has
 * the text of source files, as of `sampler view`. */
static bool write_outputs(struct report *report, struct profile **profile,
                          const struct pattern_values *values, bool is_main, struct err *err)
{
    const struct options *options = report->request->options;
    report->writes_main = is_main;
    for (size_t i = 0; i < outputs_count(options) && !report->request->no_outputs; i++) {
        char expanded[PATH_MAX];
        char path[PATH_MAX];
        if (!outputs_expand(options, i, values, expanded, sizeof expanded, err))
            return false;
        if (is_main || outputs_name_has_pid(options, i))
            memcpy(path, expanded, sizeof path);
        else if (!path_add_pid(expanded, values->pid, path, sizeof path, err))
            return false;
        if (outputs_is_added_page(options, i) && !options_flag(options, OPTION_EMBED_SOURCE) &&
            !embed_sources(profile, options, err))
            return false;
        const struct format *format = format_for_writing(path, options->values[OPTION_FORMAT], err);
        const struct save_request request = {.profile = *profile,
                                             .format = format,
                                             .options = options,
                                             .path = path,
                                             .wrote = note_wrote,
                                             .context = report};
        report->writing = format;
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
        names_of(report, pid, report->recordings.n > 0 ? report->recordings.items[0] : NULL, name,
                 sizeof name);
    bool ok = build_profile(report, report->recordings.items, report->recordings.n,
                            report->request->cpu_ns, &profile, &report->account, err) &&
              embed_sources_if_asked(&profile, report->request->options, err) &&
              write_outputs(report, &profile, &values, true, err);
    profile_destroy(profile);
    return ok;
}

/* The recordings of one process, in order: what it was before and after exec. */
static bool write_process(struct report *report, size_t first, size_t n, struct err *err)
{
    struct profile *profile = NULL;
    struct account account;
    char name[PATH_MAX];
    uint64_t pid = report->recordings.items[first]->header.pid;
    struct pattern_values values =
        names_of(report, pid, report->recordings.items[first + n - 1], name, sizeof name);
    bool is_main = pid == report->main_pid;
    if (!account_init(&account))
        return err_fail_memory(err);
    bool ok =
        build_profile(report, report->recordings.items + first, n, 0, &profile, &account, err);
    if (ok && profile != NULL && (is_main || account.all.n_samples > 0))
        ok = embed_sources_if_asked(&profile, report->request->options, err) &&
             write_outputs(report, &profile, &values, is_main, err);
    profile_destroy(profile);
    ok = ok && (account_add(&report->account, &account) || err_fail_memory(err));
    account_deinit(&account);
    return ok;
}

static bool write_split(struct report *report, struct err *err)
{
    bool main_seen = false;
    if (report->recordings.n > 1)
        qsort(report->recordings.items, report->recordings.n, sizeof(struct recording *),
              process_compare);
    for (size_t first = 0; first < report->recordings.n;) {
        uint64_t pid = report->recordings.items[first]->header.pid;
        size_t n = 1;
        while (first + n < report->recordings.n &&
               report->recordings.items[first + n]->header.pid == pid)
            n++;
        if (!write_process(report, first, n, err))
            return false;
        main_seen = main_seen || pid == report->main_pid;
        first += n;
    }
    if (main_seen)
        return true;
    size_t n = report->recordings.n;
    report->recordings.n = 0;
    bool ok = write_merged(report, err);
    report->recordings.n = n;
    return ok;
}

/* ---- the account ----------------------------------------------------------------------------- */

static void tell_account(struct report *report)
{
    if (report->n_wrote > MAX_NAMED_FILES)
        snprintf(report->wrote + report->wrote_length, sizeof report->wrote - report->wrote_length,
                 " and %zu more", report->n_wrote - MAX_NAMED_FILES);
    char line[2048];
    tell("sampler", account_format(&report->account, report->wrote, line, sizeof line));
    tell_missing(report);
    if (account_format_remedy(&report->account, line, sizeof line)[0] != '\0') {
        tell("sampler", line);
    } else if (report->readable[0] != '\0') {
        char command[1024];
        if (next_command(report->readable, command, sizeof command)[0] == '\0')
            return;
        snprintf(line, sizeof line, "next: %s", command);
        tell("sampler", line);
    }
}

/* A page that cannot be opened is there all the same, and the run is reported. */
static void open_page(const struct report *report)
{
    struct err err = ERR_INIT;
    if (options_flag(report->request->options, OPTION_OPEN) && report->page[0] != '\0' &&
        !browser_open(report->page, &err))
        complain("sampler", &err);
}

bool report_write(const struct report_request *request, struct err *err)
{
    struct report report = {.request = request};
    if (!account_init(&report.account))
        return err_fail_memory(err);
    bool ok = load_recordings(&report, err);
    if (ok) {
        report.main_pid = request->main_pid;
        if (report.main_pid == 0 && report.recordings.n > 0)
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all up to report.recordings.n are set */
            report.main_pid = report.recordings.items[0]->header.pid;
        tell_running(&report);
        if (report.recordings.n == 0)
            fprintf(stderr, "sampler: nothing was recorded\n");
        report.sources = symbol_sources_open(request->options);
        bool split = options_is(request->options, OPTION_PROCESSES, "split");
        ok = process_exits_find(report.recordings.items, report.recordings.n, request->main_pid,
                                request->cpu_ns) ||
             err_fail_memory(err);
        if (ok)
            ok = split ? write_split(&report, err) : write_merged(&report, err);
    }
    if (ok)
        ok = account_set_run(&report.account, request->main_pid, request->cpu_ns) ||
             err_fail_memory(err);
    if (ok && request->show_account && report.recordings.n > 0)
        tell_account(&report);
    else if (ok && !request->no_outputs)
        tell_missing(&report);
    if (ok)
        ok = account_out_write(&report.account, request->options, err);
    if (ok)
        open_page(&report);
    symbol_sources_close(&report.sources);
    recordings_destroy(&report.recordings);
    account_deinit(&report.account);
    return ok;
}
