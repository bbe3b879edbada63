/* format_help.h - reading, writing and dumping in memory, for tests of formats. */
#ifndef SAMPLER_TESTS_FORMAT_HELP_H
#define SAMPLER_TESTS_FORMAT_HELP_H

#include "registry/registry.h"

/* Bytes on the heap with a NUL behind them; the test frees `bytes`. */
struct bytes {
    char *bytes;
    size_t n;
};

/* A file of tests/data, or NULL in `bytes` if it is not there. */
struct bytes data_load(const char *path);

/* Any file, or NULL in `bytes`. */
struct bytes file_load(const char *path);

/* A file, or the first bytes of one, with nothing behind them: a sanitizer sees a read of one byte
 * too many. */
struct bytes path_load(const char *path);
struct bytes bytes_part(struct bytes in, size_t n);

/* What went to notes, one per line. */
struct note_log {
    unsigned n;
    char text[4000];
};
struct format_notes note_log_make(struct note_log *log);

/* Each but bytes_try_... fails the test when the format does. `notes` may be NULL. */
struct profile *text_read(const struct format *format, const char *text,
                          const struct format_notes *notes);
struct profile *bytes_read(const struct format *format, struct bytes in,
                           const struct format_notes *notes);
bool bytes_try_read(const struct format *format, struct bytes in, bool is_strict,
                    const struct format_notes *notes, struct profile **out, struct err *err);
bool bytes_try_dump(const struct format *format, struct bytes in, const struct format_notes *notes,
                    struct err *err);
struct bytes profile_write(const struct format *format, const struct profile *profile,
                           const struct format_options *options, const struct format_notes *notes);
struct bytes bytes_dump(const struct format *format, struct bytes in);

/* The profile written equals `expected`. */
void expect_written(const struct format *format, const struct profile *profile,
                    const struct format_options *options, const char *expected);

#endif
