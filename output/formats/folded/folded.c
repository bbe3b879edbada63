/* folded.c - the format "folded": its row in the table, its writer, and how its files are
 * recognised. */
#include "formats/folded/folded.h"

#include <inttypes.h>
#include <string.h>

#include "fold/fold.h"

struct line_writer {
    struct sink *out;
    uint32_t n_columns;
};

static void line_write(void *context, const char *stack, size_t length, const uint64_t *numbers)
{
    const struct line_writer *writer = context;
    sink_write(writer->out, stack, length);
    for (uint32_t column = 0; column < writer->n_columns; column++) {
        sink_write(writer->out, " ", 1);
        sink_u64(writer->out, numbers[column]);
    }
    sink_write(writer->out, "\n", 1);
}

bool folded_write_fold(struct fold *fold, const struct format_notes *notes, struct sink *out,
                       struct err *err, uint32_t n_columns)
{
    struct line_writer writer = {.out = out, .n_columns = n_columns};
    if (!fold_visit(fold, line_write, &writer, err))
        return false;
    struct fold_losses losses = fold_losses(fold);
    if (losses.n_cut > 0)
        format_note(notes, "%" PRIu64 " stacks were cut to the %d frames next to the leaf",
                    losses.n_cut, FOLD_MAX_DEPTH);
    if (losses.n_idle > 0)
        format_note(notes, "%" PRIu64 " idle samples are left out", losses.n_idle);
    if (losses.n_saturated > 0)
        format_note(notes, "%" PRIu64 " sums are over 2^64 - 1 and stay there", losses.n_saturated);
    return true;
}

static void unit_note(const struct profile *profile, const struct fold_unit *unit, bool count_ns,
                      const struct format_notes *notes)
{
    if (profile->n_samples == 0) {
        if (!count_ns && profile->n_spans > 1)
            format_note(notes, "counts are nanoseconds: the profile has intervals, no samples");
        return;
    }
    if (count_ns && unit->unit == PROFILE_UNIT_COUNT)
        format_note(notes, "counts are samples: the profile does not know their time");
    else if (!count_ns && unit->unit == PROFILE_UNIT_NS)
        format_note(notes, "counts are nanoseconds: the profile knows no sampling period");
}

static bool folded_write(const struct profile *profile, const struct format_options *options,
                         const struct format_notes *notes, struct sink *out, struct err *err)
{
    static const struct format_options defaults;
    if (options == NULL)
        options = &defaults;
    struct fold *fold = NULL;
    if (!fold_create(1, FOLD_CLEAN, &fold, err))
        return false;
    struct fold_unit unit = fold_unit_choose(profile, options->count_ns);
    unit_note(profile, &unit, options->count_ns, notes);
    const struct fold_roots roots = {.processes = fold_needs_process_roots(profile),
                                     .threads = options->split_threads};
    bool ok =
        fold_add(fold, 0, profile, unit, roots, err) && folded_write_fold(fold, notes, out, err, 1);
    fold_destroy(fold);
    return ok;
}

static bool folded_read(const uint8_t *data, size_t size_bytes,
                        const struct format_options *options, const struct format_notes *notes,
                        struct profile **out, struct err *err)
{
    return folded_read_columns(data, size_bytes, 1, options, notes, out, err);
}

static bool folded_dump(const uint8_t *data, size_t size_bytes, const struct format_notes *notes,
                        struct sink *out, struct err *err)
{
    (void)notes; /* the dump itself lists the bad lines */
    return folded_dump_columns(data, size_bytes, 1, out, err);
}

#define SNIFF_BYTES ((size_t)64 * 1024)

/* How much of a file to look at: whole lines, one at least. A single line without its end may be
 * the beginning of anything that fits in a line. */
static size_t sniff_bytes(const uint8_t *head, size_t head_bytes)
{
    size_t n = head_bytes < SNIFF_BYTES ? head_bytes : SNIFF_BYTES;
    const uint8_t *newline = n == 0 ? NULL : memrchr(head, '\n', n);
    if (newline == NULL && n < head_bytes)
        newline = memchr(head + n, '\n', head_bytes - n);
    return newline == NULL ? 0 : (size_t)(newline - head) + 1;
}

/* Nothing marks a folded file: it may be one if its first lines read as such. */
static int folded_sniff(const uint8_t *head, size_t head_bytes)
{
    size_t n = sniff_bytes(head, head_bytes);
    struct folded_content content;
    struct err err = ERR_INIT;
    if (n == 0 || !folded_parse(head, n, 1, &content, &err))
        return 0;
    int score = content.n_records > 0 && content.bad.n == 0 ? 40 : 0;
    folded_content_deinit(&content);
    return score;
}

static const char *const extensions[] = {"collapsed", "folded", NULL};

const struct format format_folded = {
    .name = "folded",
    .extensions = extensions,
    .about = "collapsed stacks, one per line with a count (flame graph tools, speedscope)",
    .keeps = KEEPS_SAMPLES,
    .sniff = folded_sniff,
    .read = folded_read,
    .write = folded_write,
    .dump = folded_dump,
};
