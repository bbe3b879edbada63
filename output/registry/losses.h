/* losses.h - what a profile has and a format does not keep, reported once before it is written.
 *
 * Driven by the format's `keeps` and by what is in the profile: no writer has to know.
 *
 * Reported       things a user may miss in a viewer of that format
 * Not reported   what every profile has and no such viewer shows: executed lines, metadata, that a
 *                sample has a count besides its time; nor, of formats that are but stacks with
 *                counts (folded), what belongs to functions and threads
 * By the writer  what a format changes rather than drops: depth, names, levels */
#ifndef SAMPLER_LOSSES_H
#define SAMPLER_LOSSES_H

#include "formats/format.h"

#define LOSSES_BYTES 300

/* "cpuprofile does not keep: which frames are inlined, modules, bookmarks" in `out`, which has
 * LOSSES_BYTES; returns it. "" when there is nothing to say. */
const char *losses_describe(const struct profile *profile, const struct format *format, char *out);

/* The same as a note, if there is something to say. */
void losses_note(const struct profile *profile, const struct format *format,
                 const struct format_notes *notes);

#endif
