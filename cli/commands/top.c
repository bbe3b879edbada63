/* top.c - sampler top: where the time went, on the terminal. Recordings are built into one
 * profile, with it all files are merged, and the sums are those of output/fold/summary.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "commands/commands.h"
#include "fold/summary.h"
#include "model/merge.h"
#include "options/messages.h"
#include "report/files.h"
#include "report/report.h"

#define LEAST_NAME_COLUMNS 20
#define NUMBER_COLUMNS 44 /* what stands before the name */

static enum summary_by summary_by_from(const struct options *options)
{
    if (options_is(options, OPTION_BY, "module"))
        return SUMMARY_BY_MODULE;
    if (options_is(options, OPTION_BY, "line"))
        return SUMMARY_BY_LINE;
    if (options_is(options, OPTION_BY, "thread"))
        return SUMMARY_BY_THREAD;
    return SUMMARY_BY_FUNCTION;
}

/* Columns there are for names: those left on a terminal, any number elsewhere. */
static size_t name_columns(void)
{
    struct winsize size;
    if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
        size.ws_col == 0)
        return SIZE_MAX;
    if (size.ws_col < NUMBER_COLUMNS + LEAST_NAME_COLUMNS)
        return LEAST_NAME_COLUMNS;
    return size.ws_col - (size_t)NUMBER_COLUMNS;
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

static const char *unit_words(enum profile_unit unit)
{
    switch (unit) {
    case PROFILE_UNIT_NS:
        return "CPU time";
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

static void print_rows(const struct profile *profile, const struct summary *summary,
                       enum summary_by by, uint64_t n_rows)
{
    size_t columns = name_columns();
    static const char *const what[] = {"function", "module", "line", "thread"};
    printf("%8s %12s  %8s %12s  %s\n", "self", unit_words(summary->unit), "total",
           unit_words(summary->unit), what[by]);
    for (size_t i = 0; i < summary->n && i < n_rows; i++) {
        const struct summary_row *row = &summary->rows[i];
        print_weight(row->self, summary->all, summary->unit);
        print_weight(row->total, summary->all, summary->unit);
        print_name(summary_row_name(profile, by, row), columns);
        if (by == SUMMARY_BY_LINE && row->line != 0) {
            struct text file = profile_text(profile, profile->functions[row->id].file);
            putchar(' ');
            print_name(file, SIZE_MAX);
            printf(":%" PRIu32, row->line);
        }
        putchar('\n');
    }
    if (summary->n > n_rows)
        printf("%44s%zu more; -n shows them\n", "", summary->n - (size_t)n_rows);
}

static bool load_file(const char *path, const struct options *options, struct profile **out,
                      struct err *err)
{
    struct file_bytes bytes;
    struct format_options format_options = format_options_from(options);
    if (!file_load(path, &bytes, err))
        return false;
    bool ok = profile_load(path, &bytes, &format_options, out, err);
    file_unload(&bytes);
    return ok;
}

/* Recordings first, all in one profile; then the files. */
static bool load_all(const struct options *options, struct profile **profiles, size_t *n,
                     struct err *err)
{
    char **recordings = calloc(options->n_operands, sizeof *recordings);
    size_t n_recordings = 0;
    if (recordings == NULL)
        return err_fail_memory(err);
    bool ok = true;
    for (size_t i = 0; ok && i < options->n_operands; i++) {
        if (path_is_recording(options->operands[i]))
            recordings[n_recordings++] = options->operands[i];
        else
            ok = load_file(options->operands[i], options, &profiles[(*n)++], err);
    }
    if (ok && n_recordings > 0)
        ok = recordings_load_profile(options, recordings, n_recordings, &profiles[(*n)++], err);
    free(recordings);
    return ok;
}

static bool show(const struct options *options, const struct profile *profile, struct err *err)
{
    enum summary_by by = summary_by_from(options);
    struct summary summary;
    if (!summary_init(&summary, profile, by, err))
        return false;
    if (options_is(options, OPTION_SORT, "total"))
        summary_sort_by_total(&summary);
    print_rows(profile, &summary, by, options_number(options, OPTION_ROWS));
    summary_deinit(&summary);
    return true;
}

static bool merge_and_show(const struct options *options, struct profile *const *profiles, size_t n,
                           struct err *err)
{
    if (n == 1)
        return show(options, profiles[0], err);
    struct profile *merged = NULL;
    struct format_notes notes = notes_to_stderr("merging");
    bool ok = profile_merge((const struct profile *const *)profiles, n, &notes, &merged, err) &&
              show(options, merged, err);
    profile_destroy(merged);
    return ok;
}

int command_top(const struct options *options)
{
    struct err err = ERR_INIT;
    size_t n = 0;
    struct profile **profiles = calloc(options->n_operands + 1, sizeof(struct profile *));
    bool ok = profiles != NULL ? load_all(options, profiles, &n, &err) : err_fail_memory(&err);
    ok = ok && merge_and_show(options, profiles, n, &err);
    for (size_t i = 0; i < n; i++)
        profile_destroy(profiles[i]);
    free(profiles);
    if (ok)
        return 0;
    complain("sampler", &err);
    return 1;
}
