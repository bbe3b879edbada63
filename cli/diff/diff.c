/* diff.c - sampler diff: what changed from one run to another, or from several to several others,
 * and what of it is more than chance; on the terminal, as JSON, or with -o stack by stack. */
#include "diff/diff.h"

#include <math.h>
#include <stdlib.h>

#include "diff/command.h"
#include "options/messages.h"
#include "report/files.h"
#include "report/progress.h"
#include "view/rows_by.h"

static struct diff_verdict verdict_of(const struct changes *changes)
{
    struct diff_verdict verdict = {0};
    for (size_t i = 0; i < changes->n; i++) {
        const struct change *row = &changes->rows[i];
        verdict.n += row->is_beyond;
        verdict.sum += row->is_beyond ? change_of(row) : 0;
    }
    return verdict;
}

static bool changes_make(struct diff *diff, struct err *err)
{
    struct format_notes notes = notes_to_stderr("diff");
    const struct profile **profiles = diff_profiles(diff);
    if (profiles == NULL)
        return err_fail_memory(err);
    const struct changes_request request = diff_request(diff, profiles);
    struct progress *progress = progress_start("comparing", NULL);
    bool ok = changes_init(&diff->changes, &request, &notes, err);
    progress_stop(progress);
    free(profiles);
    if (ok)
        diff->verdict = verdict_of(&diff->changes);
    return ok;
}

static bool inputs_load(struct diff *diff, struct err *err)
{
    size_t n = diff->sides.n_before + diff->sides.n_after;
    bool ok = true;
    diff->inputs = calloc(n, sizeof *diff->inputs);
    if (diff->inputs == NULL)
        return err_fail_memory(err);
    for (size_t i = 0; ok && i < n; i++) {
        ok = input_load_files(diff->options, &diff->sides.paths[i], 1, &diff->inputs[i], err) &&
             rows_by_check(&diff->inputs[i], diff->by, err);
        diff->n_loaded++;
    }
    return ok;
}

static bool show(struct diff *diff, struct err *err)
{
    uint64_t most = options_number(diff->options, OPTION_ROWS);
    diff->n_rows = most == 0 || most > diff->changes.n ? diff->changes.n : (size_t)most;
    if (diff->options->n_outputs > 0)
        return diff_save(diff, err);
    return options_flag(diff->options, OPTION_JSON) ? diff_print_json(diff, err)
                                                    : diff_print_text(diff, err);
}

/* ---- --fail-over ----------------------------------------------------------------------------- */

/* Whether it grew, beyond chance, by more than the given part of all before; says so. */
static bool grew_too_much(const struct diff *diff, const struct change *change, const char *what)
{
    const struct options *options = diff->options;
    double allowed = options_percent(options, OPTION_FAIL_OVER) / 100 * diff->changes.whole.before;
    char line[512];
    if (change_of(change) <= allowed || !change->is_beyond)
        return false;
    snprintf(line, sizeof line, "%s grew by %.1f%% of the whole before, allowed are %g%%", what,
             100 * change_of(change) / diff->changes.whole.before,
             options_percent(options, OPTION_FAIL_OVER));
    tell("sampler", line);
    return true;
}

static bool is_failed(const struct diff *diff)
{
    const struct changes *changes = &diff->changes;
    bool failed = false;
    if (!options_flag(diff->options, OPTION_FAIL_OVER) || changes->whole.before <= 0)
        return false;
    failed |= grew_too_much(diff, &changes->whole, "the whole");
    for (size_t i = 0; i < changes->n; i++) {
        char name[256];
        struct text text = change_name(&changes->rows[i], diff->by);
        snprintf(name, sizeof name, "%.*s", (int)(text.length < 200 ? text.length : 200),
                 text.bytes);
        failed |= grew_too_much(diff, &changes->rows[i], name);
    }
    return failed;
}

int command_diff(const struct options *options)
{
    struct err err = ERR_INIT;
    struct diff diff = {.options = options,
                        .by = rows_by(options),
                        .by_total = options_flag(options, OPTION_TOTAL)};
    bool ok = sides_init(&diff.sides, options, &err) && diff_outputs_check(options, &err) &&
              inputs_load(&diff, &err) && changes_make(&diff, &err) && show(&diff, &err);
    int status = view_status(ok, &err);
    if (ok && is_failed(&diff))
        status = 1;
    changes_deinit(&diff.changes);
    for (size_t i = 0; i < diff.n_loaded; i++)
        input_unload(&diff.inputs[i]);
    free(diff.inputs);
    sides_deinit(&diff.sides);
    return status;
}
