/* files.c - see files.h. */
#include "report/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture.h"
#include "options/format_names.h"
#include "options/messages.h"
#include "registry/registry.h"
#include "report/progress.h"

#define FIRST_READ_BYTES ((size_t)64 * 1024)

/* Room for at least one byte more: a read of no bytes is how the end shows. */
static bool grow(struct file_bytes *bytes, size_t *room, struct err *err)
{
    if (bytes->size_bytes < *room)
        return true;
    if (*room > SIZE_MAX / 2)
        return err_fail_memory(err);
    uint8_t *larger = realloc(bytes->data, *room * 2);
    if (larger == NULL)
        return err_fail_memory(err);
    bytes->data = larger;
    *room *= 2;
    return true;
}

/* Reads to the end; st_size is only a first guess (pipes, files that grow, /proc). */
static bool read_whole(int fd, struct file_bytes *bytes, struct err *err)
{
    struct stat st;
    size_t room = FIRST_READ_BYTES;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        return err_fail_errno(err, EISDIR, "cannot read");
    if (S_ISREG(st.st_mode) && st.st_size > 0)
        room = (size_t)st.st_size + 1;
    bytes->data = malloc(room);
    if (bytes->data == NULL)
        return err_fail_memory(err);
    for (;;) {
        if (!grow(bytes, &room, err))
            return false;
        ssize_t n = read(fd, bytes->data + bytes->size_bytes, room - bytes->size_bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_fail_errno(err, errno, "cannot read");
        if (n == 0)
            return true;
        bytes->size_bytes += (size_t)n;
    }
}

bool file_load(const char *path, struct file_bytes *out, struct err *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        err_fail_errno(err, errno, "cannot read");
        return err_name_file(err, path);
    }
    struct file_bytes bytes = {0};
    struct progress *progress = progress_start("reading", path);
    bool ok = read_whole(fd, &bytes, err);
    progress_stop(progress);
    if (!is_stdin)
        close(fd);
    if (!ok) {
        file_unload(&bytes);
        return err_name_file(err, path);
    }
    *out = bytes;
    return true;
}

void file_unload(struct file_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct file_bytes){0};
}

bool path_is_recording(const char *path)
{
    char head[sizeof CAPTURE_MAGIC - 1]; /* of both kinds */
    struct stat st;
    /* A pipe opened and closed again kills whoever was waiting to write into it. */
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool yes = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
               pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
               (memcmp(head, CAPTURE_MAGIC, sizeof head) == 0 ||
                memcmp(head, CAPTURE_BRIEF_MAGIC, sizeof head) == 0);
    close(fd);
    return yes;
}

bool path_is_profile(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           (path_is_recording(path) || format_by_path(path) != NULL);
}

/* Formats look at the begin of a file, not at all of it. */
#define HEAD_BYTES ((size_t)256 * 1024)

/* Why a file that is no profile we read is refused; `written` is the format it is of, if we know.
 */
static void refuse_input(const struct format *written, const struct file_bytes *bytes,
                         struct err *err)
{
    if (bytes->size_bytes == 0)
        err_fail(err, ERR_FORMAT, ERR_NO_OFFSET, "the file is empty");
    else if (written != NULL)
        err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
                 "%s can be written, not read; take the recording or the profile it was made from",
                 written->name);
    else
        err_fail(err, ERR_FORMAT, ERR_NO_OFFSET,
                 "unknown file format; `sampler formats` lists those we read");
}

const struct format *format_for_reading(const char *path, const struct file_bytes *bytes,
                                        struct err *err)
{
    size_t head_bytes = bytes->size_bytes < HEAD_BYTES ? bytes->size_bytes : HEAD_BYTES;
    const struct format *format = format_by_content(bytes->data, head_bytes);
    const struct format *named = format_by_path(path);
    /* A format that cannot be told by its content (diff-folded) is what its name says. */
    if (format == NULL || (named != NULL && named->read != NULL && named->sniff == NULL))
        format = named;
    if (format != NULL && format->read != NULL)
        return format;
    refuse_input(format, bytes, err);
    err_name_file(err, path);
    return NULL;
}

const struct format *format_for_writing(const char *path, const char *name, struct err *err)
{
    const char *found = format_name_for_writing(path, name, err);
    return found == NULL ? NULL : format_by_name(found);
}

static void unload_input(void *input)
{
    file_unload(input);
}

bool profile_load(const char *path, struct file_bytes *bytes, const struct format_options *options,
                  struct profile **out, struct err *err)
{
    const struct format *format = format_for_reading(path, bytes, err);
    if (format == NULL)
        return false;
    struct format_notes notes = notes_to_stderr(path);
    struct format_options with_input = *options;
    with_input.input_done = unload_input;
    with_input.input = bytes;
    struct progress *progress = progress_start("reading", path);
    bool ok = format->read(bytes->data, bytes->size_bytes, &with_input, &notes, out, err);
    progress_stop(progress);
    return ok || err_name_file(err, path);
}

struct format_options format_options_from(const struct options *options)
{
    return (struct format_options){
        .count_ns = options_is(options, OPTION_COUNT, "ns"),
        .split_threads = options_is(options, OPTION_THREADS, "split"),
        .merge_threads = options_is(options, OPTION_THREADS, "merge"),
        .strict = options_flag(options, OPTION_STRICT),
    };
}

static bool notes_silent;

void notes_silence(void)
{
    notes_silent = true;
}

static void note_line(void *context, const char *text)
{
    char line[1024];
    const char *path = context;
    if (notes_silent)
        return;
    snprintf(line, sizeof line, "%s: %s", path, text);
    tell("sampler", line);
}

struct format_notes notes_to_stderr(const char *path)
{
    /* The context is only handed back to note_line, which does not change it. */
    union {
        const char *constant;
        void *context;
    } name = {.constant = path};
    return (struct format_notes){.note = note_line, .context = name.context};
}
