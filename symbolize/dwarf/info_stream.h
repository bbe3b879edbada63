/* info_stream.h - .debug_info in pieces as they come out of zlib, so that unpacking it (the longest
 * step of all, and one that cannot be divided) and reading it go on at the same time.
 *
 *   a thread of its own:  packed bytes -> [ ring ] -> the reader: need, at, done
 *
 * Ring      Mapped twice, one copy behind the other, so that a unit that wraps is in one piece too.
 *           Small enough to stay in the processor's cache, more or less, and in few pages. A ring of
 *           the whole section's size keeps all of it.
 * Unpacked  A section that is not packed is there at once, whole, without thread and ring.
 * Context   One reader. The thread touches nothing but the ring, its own mapping of the file and
 *           what the lock guards. */
#ifndef SAMPLER_DWARF_INFO_STREAM_H
#define SAMPLER_DWARF_INFO_STREAM_H

#include "dwarf/sections.h"

struct info_stream;

/* Holds units of up to `unit_max_bytes`, all of the section if that is less; NULL when out of
 * memory. Keeps the section. */
struct info_stream *info_stream_open(const struct section *section, size_t unit_max_bytes);
void info_stream_close(struct info_stream *stream); /* ends the thread; takes NULL */

/* Waits until the bytes before `end` are there. False: they never will, the section is damaged.
 * `end` is at most `unit_max_bytes` behind what was last done with. */
bool info_stream_need(struct info_stream *stream, uint64_t end);

/* Bytes at `offset`, which are there, and in one piece with all that are there after it. */
const uint8_t *info_stream_at(const struct info_stream *stream, uint64_t offset);

/* Bytes before `offset` are not looked at again, unless the ring holds all. */
void info_stream_done(struct info_stream *stream, uint64_t offset);

#endif
