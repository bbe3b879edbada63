/* top.c - sampler top: where the time went, on the terminal or as JSON. The sums are those of
 * output/fold/summary.h, over the part of the files that view/input.h gives. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "commands/commands.h"
#include "fold/summary.h"
#include "options/messages.h"
#include "sink.h"
#include "text/json_write.h"
#include "view/input.h"

#define LEAST_NAME_COLUMNS 20
#define WEIGHT_COLUMNS ((size_t)23) /* of one number with its percentage */

static const struct {
    const char *word;    /* of --by                                */
    const char *missing; /* what a profile without such rows holds none of, and what to do */
} by_table[] = {
#define IN_SPROFILE "; the .sprofile of the run, or its recording, does"
    [SUMMARY_BY_FUNCTION] = {"function", ""},
    [SUMMARY_BY_LINE] = {"line",
                         "lines: programs need debug information (-g) to have them, and the "
                         "file must be the .sprofile of the run or its recording"},
    [SUMMARY_BY_FILE] = {"file", "source files: programs need debug information (-g) to have them, "
                                 "and the file must be the .sprofile of the run or its recording"},
    [SUMMARY_BY_MODULE] = {"module", "modules" IN_SPROFILE},
    [SUMMARY_BY_THREAD] = {"thread", "threads" IN_SPROFILE},
    [SUMMARY_BY_PROCESS] = {"process", "processes" IN_SPROFILE},
    [SUMMARY_BY_COMMAND] = {"command", "processes" IN_SPROFILE},
    [SUMMARY_BY_LABEL] = {"label", "labels: the program sets them with sampler_label (sampler.h)"},
};
#define N_BY (sizeof by_table / sizeof by_table[0])

struct top {
    const struct options *options;
    const struct profile *profile;
    enum summary_by by;
    struct summary summary;
    size_t n_rows; /* to show */
};

static enum summary_by summary_by_from(const struct options *options)
{
    enum summary_by by = SUMMARY_BY_FUNCTION;
    while (by + 1 < N_BY && !options_is(options, OPTION_BY, by_table[by].word))
        by++;
    return by;
}

/* ---- as text --------------------------------------------------------------------------------- */

/* Columns there are for names: those left on a terminal, any number elsewhere. */
static size_t name_columns(size_t used)
{
    struct winsize size;
    if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
        size.ws_col == 0)
        return SIZE_MAX;
    if (size.ws_col < used + LEAST_NAME_COLUMNS)
        return LEAST_NAME_COLUMNS;
    return size.ws_col - used;
}

/* Names come from files: nothing in them may steer the terminal. Bytes of UTF-8 go through, and
 * count as columns of their own, so a line is rather too short than too long. */
static void print_name(struct text name, size_t columns)
{
    bool cut = name.length > columns;
    size_t n = cut ? columns - 3 : name.length;
    for (size_t i = 0; i < n; i++)
        putchar(char_is_control(name.bytes[i]) ? '?' : (unsigned char)name.bytes[i]);
    if (cut)
        fputs("...", stdout);
}

static void print_weight(uint64_t weight, uint64_t all, enum profile_unit unit)
{
    double percent = all == 0 ? 0 : 100.0 * (double)weight / (double)all;
    printf("%6.1f %% ", percent);
    if (unit == PROFILE_UNIT_NS)
        printf("%10.3f s", (double)weight / 1e9);
    else
        printf("%12" PRIu64, weight);
    fputs("  ", stdout);
}

/* What the numbers are of. */
static struct text measure_words(const struct top *top)
{
    struct text measure = profile_text(top->profile, top->summary.measure);
    switch (top->summary.unit) {
    case PROFILE_UNIT_NS:
        if (text_is(measure, "cpu"))
            return text_make("CPU time");
        return text_make(text_is(measure, "wall") ? "wall time" : "time");
    case PROFILE_UNIT_BYTES:
    case PROFILE_UNIT_EVENTS:
        if (measure.length > 0)
            return measure;
        return text_make(top->summary.unit == PROFILE_UNIT_BYTES ? "bytes" : "events");
    case PROFILE_UNIT_NONE:
    case PROFILE_UNIT_COUNT:
        break;
    }
    return text_make("samples");
}

static void print_row_name(const struct top *top, const struct summary_row *row, size_t columns)
{
    uint64_t number = summary_row_number(top->profile, top->by, row);
    print_name(summary_row_name(top->profile, top->by, row), columns);
    if (number != 0)
        printf(" (%" PRIu64 ")", number);
    if (top->by != SUMMARY_BY_LINE || row->line == 0)
        return;
    putchar(' ');
    print_name(profile_text(top->profile, top->profile->functions[row->id].file), SIZE_MAX);
    printf(":%" PRIu32, row->line);
}

static void print_heading(const struct top *top, bool has_total)
{
    struct text measure = measure_words(top);
    printf("%8s %12.*s  ", has_total ? "self" : "", (int)measure.length, measure.bytes);
    if (has_total)
        printf("%8s %12.*s  ", "total", (int)measure.length, measure.bytes);
    puts(by_table[top->by].word);
}

static void print_text(const struct top *top)
{
    const struct summary *summary = &top->summary;
    bool has_total = !summary_is_of_samples(top->by);
    size_t used = has_total ? 2 * WEIGHT_COLUMNS : WEIGHT_COLUMNS;
    size_t columns = name_columns(used);
    print_heading(top, has_total);
    for (size_t i = 0; i < top->n_rows; i++) {
        const struct summary_row *row = &summary->rows[i];
        print_weight(row->self, summary->all, summary->unit);
        if (has_total)
            print_weight(row->total, summary->all, summary->unit);
        print_row_name(top, row, columns);
        putchar('\n');
    }
    if (summary->n == 0)
        puts(summary->idle == 0 ? "no samples" : "no samples but those of threads that waited");
    if (summary->n > top->n_rows)
        printf("%*s%zu more; -n shows them\n", (int)used, "", summary->n - top->n_rows);
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static void json_text_or_nothing(struct json *json, const char *key, struct text text)
{
    if (text.length == 0)
        return;
    json_key(json, key);
    json_text(json, text);
}

static void json_number_or_nothing(struct json *json, const char *key, uint64_t number)
{
    if (number == 0)
        return;
    json_key(json, key);
    json_u64_exact(json, number);
}

/* Where a function is, or the line that runs. */
static void json_place(const struct top *top, struct json *json, const struct summary_row *row)
{
    const struct profile *profile = top->profile;
    const struct profile_function *function = &profile->functions[row->id];
    if (top->by != SUMMARY_BY_FUNCTION && top->by != SUMMARY_BY_LINE)
        return;
    json_text_or_nothing(json, "file", profile_text(profile, function->file));
    json_number_or_nothing(json, "line", top->by == SUMMARY_BY_LINE ? row->line : function->line);
    json_text_or_nothing(json, "module",
                         profile_text(profile, profile->modules[function->module].path));
}

static void json_row(const struct top *top, struct json *json, const struct summary_row *row)
{
    json_object_begin(json);
    json_key(json, "self");
    json_u64_exact(json, row->self);
    json_key(json, "total");
    json_u64_exact(json, row->total);
    json_key(json, "name");
    json_text(json, summary_row_name(top->profile, top->by, row));
    json_place(top, json, row);
    if (top->by == SUMMARY_BY_THREAD) {
        const struct profile_thread *thread = &top->profile->threads[row->id];
        json_number_or_nothing(json, "tid", thread->tid);
        json_number_or_nothing(json, "pid", top->profile->processes[thread->process].pid);
    }
    if (top->by == SUMMARY_BY_PROCESS)
        json_number_or_nothing(json, "pid", summary_row_number(top->profile, top->by, row));
    json_object_end(json);
}

static const char *unit_word(enum profile_unit unit)
{
    switch (unit) {
    case PROFILE_UNIT_NS:
        return "ns";
    case PROFILE_UNIT_BYTES:
        return "bytes";
    case PROFILE_UNIT_EVENTS:
        return "events";
    case PROFILE_UNIT_NONE:
    case PROFILE_UNIT_COUNT:
        break;
    }
    return "samples";
}

static void json_top(const struct top *top, struct json *json)
{
    const struct summary *summary = &top->summary;
    json_object_begin(json);
    json_key(json, "by");
    json_cstring(json, by_table[top->by].word);
    json_key(json, "unit");
    json_cstring(json, unit_word(summary->unit));
    json_text_or_nothing(json, "measure", profile_text(top->profile, summary->measure));
    json_key(json, "total");
    json_u64_exact(json, summary->all);
    json_key(json, "idle");
    json_u64_exact(json, summary->idle);
    json_key(json, "more_rows");
    json_u64(json, summary->n - top->n_rows);
    json_key(json, "rows");
    json_array_begin(json);
    for (size_t i = 0; i < top->n_rows; i++)
        json_row(top, json, &summary->rows[i]);
    json_array_end(json);
    json_object_end(json);
    sink_text(json->out, "\n");
}

static bool print_json(const struct top *top, struct err *err)
{
    struct sink *sink = NULL;
    if (!sink_create_file("-", &sink, err))
        return false;
    struct json json = json_make(sink, 1);
    json_top(top, &json);
    return sink_close(sink, err);
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool check_is_known(const struct top *top, struct err *err)
{
    if (summary_is_known(top->profile, top->by))
        return true;
    err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET, "holds no %s", by_table[top->by].missing);
    return top->options->n_operands == 1 ? err_name_file(err, top->options->operands[0]) : false;
}

static bool show(struct top *top, struct err *err)
{
    if (!check_is_known(top, err) || !summary_init(&top->summary, top->profile, top->by, err))
        return false;
    if (options_is(top->options, OPTION_SORT, "total"))
        summary_sort_by_total(&top->summary);
    uint64_t most = options_number(top->options, OPTION_ROWS);
    top->n_rows = most == 0 || most > top->summary.n ? top->summary.n : (size_t)most;
    bool ok = true;
    if (options_flag(top->options, OPTION_JSON))
        ok = print_json(top, err);
    else
        print_text(top);
    summary_deinit(&top->summary);
    return ok;
}

int command_top(const struct options *options)
{
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    bool ok = input_load(options, &profile, &err);
    if (ok) {
        struct top top = {.options = options, .profile = profile, .by = summary_by_from(options)};
        ok = show(&top, &err);
    }
    profile_destroy(profile);
    if (ok)
        return 0;
    complain("sampler", &err);
    return err.code == ERR_USAGE ? 2 : 1;
}
