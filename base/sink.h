/* sink.h - where writers put their bytes: a file that appears whole or not at all, a buffer, or a
 * failing test double.
 *
 * Contract  Writing is sticky: after a failure every later write returns false and changes nothing.
 *           Writers need not look at each result; sink_close reports what went wrong.
 * File      Written into the same folder without a name (O_TMPFILE; under a temporary one where the
 *           file system has none such), and put in place of the final one by a successful
 *           sink_close: readers see the old file or the new one, whole. What is abandoned, fails or
 *           is killed leaves nothing. A file of ours that is replaced keeps its permissions, a
 *           new one has 0666 & ~umask; a symbolic link is replaced itself, not what it leads to.
 * Stream    A path that is a pipe, a socket or a terminal ("-" and "/dev/stdout", too) is written
 *           to directly: it cannot be renamed, and what has left cannot be called back.
 * Buffer    Bytes gather on the heap; read them with sink_buffer before sink_close.
 * Context   One thread at a time. Not signal safe. */
#ifndef SAMPLER_BASE_SINK_H
#define SAMPLER_BASE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct sink;

MUST_CHECK bool sink_create_file(const char *path, struct sink **out, struct err *err);

/* Grows on the heap; read it with sink_buffer before sink_close. */
MUST_CHECK bool sink_create_buffer(struct sink **out, struct err *err);

/* For tests: takes `limit_bytes` bytes, then fails with ENOSPC. */
MUST_CHECK bool sink_create_failing(uint64_t limit_bytes, struct sink **out, struct err *err);

/* Each is true while nothing failed. Numbers other than sink_u64 are binary. */
bool sink_write(struct sink *sink, const void *data, size_t size_bytes);
bool sink_text(struct sink *sink, const char *text);
bool sink_format(struct sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool sink_u64(struct sink *sink, uint64_t value); /* decimal digits */
bool sink_u8(struct sink *sink, uint8_t value);
bool sink_u16le(struct sink *sink, uint16_t value);
bool sink_u32le(struct sink *sink, uint32_t value);
bool sink_u64le(struct sink *sink, uint64_t value);

/* Bytes written so far. */
uint64_t sink_offset(const struct sink *sink);

bool sink_failed(const struct sink *sink);

/* The buffer's content; borrowed until the next write. Only for buffer sinks. */
const void *sink_buffer(const struct sink *sink, size_t *size_bytes);

/* Flushes, puts the file under its final name, frees the sink in every case. */
MUST_CHECK bool sink_close(struct sink *sink, struct err *err);

/* Throws away what was written (a half file never stays) and frees the sink. Takes NULL. */
void sink_abandon(struct sink *sink);

#endif
