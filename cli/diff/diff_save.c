/* diff_save.c - `sampler diff -o`: before and after side by side, for viewers of flame graphs. Most
 * formats cannot hold two numbers of each stack. A folded file holds the names of two runs as they
 * are (fold/diff.h); all others functions matched as on the terminal, and what is chance
 * (compare/side_by_side.h). */
#include <stdlib.h>

#include "compare/side_by_side.h"
#include "diff/diff.h"
#include "fold/diff.h"
#include "formats/folded/folded.h"
#include "options/format_names.h"
#include "registry/registry.h"
#include "report/browser.h"
#include "report/files.h"
#include "report/progress.h"
#include "report/save.h"

/* NULL with *err where there is none. */
static const struct format *output_format(const char *path, struct err *err)
{
    const struct format *format = path_is_stream(path) ? &format_diff_folded : format_by_path(path);
    if (format != NULL && format->write != NULL &&
        (format->for_browsers || (format->keeps & KEEPS_ALL_KINDS) != 0))
        return format;
    err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
             "%.100s: not a file for two numbers of each stack; take FILE.html, FILE.svg or "
             "FILE.diff.folded",
             path);
    return NULL;
}

/* What --open opens; NULL: none of the outputs. */
static const char *page_of(const struct options *options)
{
    for (size_t i = 0; i < options->n_outputs; i++)
        if (!path_is_stream(options->outputs[i]) &&
            format_is_for_browsers(options->outputs[i], NULL))
            return options->outputs[i];
    return NULL;
}

bool diff_outputs_check(const struct options *options, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < options->n_outputs; i++)
        ok = output_format(options->outputs[i], err) != NULL;
    if (ok && options_flag(options, OPTION_OPEN) && page_of(options) == NULL)
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                        "--open: name the page to be made with -o FILE.html");
    return ok;
}

/* Names as they are, or functions that are matched: NULL until an output asks for it. */
struct both {
    struct profile *folded;
    struct profile *matched;
};

static bool folded_make(const struct diff *diff, struct profile **out, struct err *err)
{
    struct format_options format_options = format_options_from(diff->options);
    struct format_notes notes = notes_to_stderr("diff");
    if (diff->sides.n_before != 1 || diff->sides.n_after != 1)
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                        "a .diff.folded file is one run beside one other; several runs of a side "
                        "can be an .html or .svg file, or compared without -o");
    return profile_diff(diff->inputs[0].profile, diff->inputs[1].profile, format_options.count_ns,
                        &notes, out, err);
}

static bool matched_make(const struct diff *diff, struct profile **out, struct err *err)
{
    struct format_notes notes = notes_to_stderr("diff");
    const struct profile **profiles = diff_profiles(diff);
    if (profiles == NULL)
        return err_fail_memory(err);
    struct changes_request request = diff_request(diff, profiles);
    request.by = SUMMARY_BY_FUNCTION;
    request.scope = ROWS_OF_TREE;
    struct progress *progress = progress_start("comparing", NULL);
    bool ok =
        profile_side_by_side(&request, (const char *const *)diff->sides.paths, &notes, out, err);
    progress_stop(progress);
    free(profiles);
    return ok;
}

static bool output_write(const struct diff *diff, const char *path, struct both *both,
                         struct err *err)
{
    struct save_request request = {
        .options = diff->options, .path = path, .format = output_format(path, err)};
    if (request.format == NULL)
        return false;
    bool is_folded = request.format == &format_diff_folded;
    struct profile **profile = is_folded ? &both->folded : &both->matched;
    if (*profile == NULL && !(is_folded ? folded_make : matched_make)(diff, profile, err))
        return false;
    request.profile = *profile;
    return profile_save(&request, err);
}

bool diff_save(const struct diff *diff, struct err *err)
{
    struct both both = {.folded = NULL};
    bool ok = true;
    for (size_t i = 0; ok && i < diff->options->n_outputs; i++)
        ok = output_write(diff, diff->options->outputs[i], &both, err);
    profile_destroy(both.folded);
    profile_destroy(both.matched);
    return ok &&
           (!options_flag(diff->options, OPTION_OPEN) || browser_open(page_of(diff->options), err));
}
