/* files.h - files in: read whole, in which format; and the format of a file going out (save.h).
 *
 * A file is read whole before its format is known: pipes cannot be read twice, and every reader
 * works on bytes in memory. Where input and profile do not fit into memory together, the reader
 * gives the input back early (input_done in formats/format.h). */
#ifndef SAMPLER_CLI_FILES_H
#define SAMPLER_CLI_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "formats/format.h"
#include "model/profile.h"
#include "options/options.h"

/* The bytes of a whole file, on the heap. */
struct file_bytes {
    uint8_t *data;
    size_t size_bytes;
};

/* "-" is stdin. */
MUST_CHECK bool file_load(const char *path, struct file_bytes *out, struct err *err);
void file_unload(struct file_bytes *bytes);

/* True when the file can be read and begins as a recording does. */
bool path_is_recording(const char *path);

/* True when the path is of a regular file and that file a recording, or called as profiles are. */
bool path_is_profile(const char *path);

/* The reader for a file: by content, else (and where content cannot tell) by extension. NULL with
 * *err when none fits. */
const struct format *format_for_reading(const char *path, const struct file_bytes *bytes,
                                        struct err *err);

/* The writer for an output: `name` (of --format) if not NULL, else by extension. NULL with *err
 * when there is none; err->text lists those there are. */
const struct format *format_for_writing(const char *path, const char *name, struct err *err);

/* Reads a profile of any format (not a recording). Warnings go to stderr, each named by the path.
 * The bytes may be unloaded already when it returns. */
MUST_CHECK bool profile_load(const char *path, struct file_bytes *bytes,
                             const struct format_options *options, struct profile **out,
                             struct err *err);

/* What the command line says about formats. */
struct format_options format_options_from(const struct options *options);

/* Notes of readers and writers, one line each on stderr: "sampler: PATH: TEXT". */
struct format_notes notes_to_stderr(const char *path);

/* From now on notes are dropped: --quiet. */
void notes_silence(void);

#endif
