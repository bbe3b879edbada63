/* diff_folded.c - the format "diff-folded": two counts per stack, before and after, as
 * difffolded.pl writes and flamegraph.pl reads them. Reading and writing are those of "folded"
 * with two columns. */
#include "fold/diff.h"
#include "fold/fold.h"
#include "formats/folded/folded.h"

static bool diff_folded_write(const struct profile *profile, const struct format_options *options,
                              const struct format_notes *notes, struct sink *out, struct err *err)
{
    const struct fold_roots roots = {.processes = fold_needs_process_roots(profile),
                                     .threads = options != NULL && options->split_threads};
    if (!profile_is_diff(profile))
        return err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
                        "a diff needs two profiles, before and after: use sampler diff");
    struct fold *fold = NULL;
    if (!fold_create(2, FOLD_CLEAN, &fold, err))
        return false;
    bool ok = true;
    for (uint32_t kind = 0; kind < 2 && ok; kind++) {
        const struct fold_unit unit = {.kind = kind, .multiplier = 1, .divisor = 1};
        ok = fold_add(fold, kind, profile, unit, roots, err);
    }
    ok = ok && folded_write_fold(fold, notes, out, err, 2);
    fold_destroy(fold);
    return ok;
}

static bool diff_folded_read(const uint8_t *data, size_t size_bytes,
                             const struct format_options *options, const struct format_notes *notes,
                             struct profile **out, struct err *err)
{
    return folded_read_columns(data, size_bytes, 2, options, notes, out, err);
}

static bool diff_folded_dump(const uint8_t *data, size_t size_bytes,
                             const struct format_notes *notes, struct sink *out, struct err *err)
{
    (void)notes; /* the dump itself lists the bad lines */
    return folded_dump_columns(data, size_bytes, 2, out, err);
}

static const char *const extensions[] = {"diff.folded", NULL};

/* No sniffing: "a b 3 5" is right in both formats, and only the name of the file can tell. */
const struct format format_diff_folded = {
    .name = "diff-folded",
    .extensions = extensions,
    .about = "collapsed stacks with two counts, before and after (differential flame graphs)",
    .keeps = KEEPS_SAMPLES | KEEPS_ALL_KINDS,
    .sniff = NULL,
    .read = diff_folded_read,
    .write = diff_folded_write,
    .dump = diff_folded_dump,
};
