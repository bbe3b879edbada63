/* diff_save.c - `sampler diff -o`: both profiles side by side for viewers of flame graphs
 * (output/fold/diff.h). Most formats cannot hold two numbers of each stack. */
#include "diff/diff.h"
#include "fold/diff.h"
#include "formats/folded/folded.h"
#include "options/format_names.h"
#include "registry/registry.h"
#include "report/files.h"
#include "report/save.h"

/* NULL with *err where there is none. */
static const struct format *output_format(const char *path, struct err *err)
{
    const struct format *format = path_is_stream(path) ? &format_diff_folded : format_by_path(path);
    if (format != NULL && format->write != NULL && (format->keeps & KEEPS_ALL_KINDS) != 0)
        return format;
    err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
             "%.100s: not a file for two numbers of each stack; take FILE.diff.folded", path);
    return NULL;
}

bool diff_outputs_check(const struct options *options, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < options->n_outputs; i++)
        ok = output_format(options->outputs[i], err) != NULL;
    return ok;
}

static bool outputs_write(const struct options *options, const struct profile *profile,
                          struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < options->n_outputs; i++) {
        struct save_request request = {.profile = profile,
                                       .options = options,
                                       .path = options->outputs[i],
                                       .format = output_format(options->outputs[i], err)};
        ok = request.format != NULL && profile_save(&request, err);
    }
    return ok;
}

bool diff_save(const struct diff *diff, struct err *err)
{
    struct format_options format_options = format_options_from(diff->options);
    struct format_notes notes = notes_to_stderr("diff");
    struct profile *both = NULL;
    if (diff->sides.n_before != 1 || diff->sides.n_after != 1)
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                        "-o writes one run beside one other; several runs of a side are compared "
                        "without it");
    bool ok = profile_diff(diff->inputs[0].profile, diff->inputs[1].profile,
                           format_options.count_ns, &notes, &both, err) &&
              outputs_write(diff->options, both, err);
    profile_destroy(both);
    return ok;
}
