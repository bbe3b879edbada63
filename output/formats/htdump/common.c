/* common.c - what reader and dump report of odd and of cut files: see formats/htdump/htdump.h. */
#include <inttypes.h>

#include "formats/htdump/htdump.h"

void htdump_note_oddities(const struct htdump_oddities *oddities, const struct format_notes *notes)
{
    if (oddities->n_redefined != 0)
        format_note(notes,
                    "classes or fields described again, but differently (%" PRIu32
                    "): the first description holds",
                    oddities->n_redefined);
    if (oddities->n_count_mismatches != 0)
        format_note(notes, "classes with more or fewer fields than announced: %" PRIu32,
                    oddities->n_count_mismatches);
}

bool htdump_cut_accept(const struct err *cut, bool has_content, bool is_strict,
                       const struct format_notes *notes, struct err *err)
{
    if (cut->code == ERR_NONE)
        return true;
    if (cut->code != ERR_TRUNCATED || !has_content || is_strict) {
        if (err->code == ERR_NONE)
            *err = *cut;
        return false;
    }
    format_note(notes, "offset %" PRIu64 ": %s; what stands before it was read", cut->offset,
                cut->text);
    return true;
}
