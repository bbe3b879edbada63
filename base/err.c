/* err.c - see err.h. All the ways to fail end in one function, so that "the first error wins" is
 * written once. */
#include "err.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "append.h"

__attribute__((format(printf, 6, 0))) static bool fill(struct err *err, enum err_code code,
                                                       int sys_errno, uint64_t offset,
                                                       uint64_t line, const char *format,
                                                       va_list args)
{
    if (err->code != ERR_NONE)
        return false;
    err->code = code;
    err->sys_errno = sys_errno;
    err->offset = offset;
    err->line = line;
    vsnprintf(err->text, sizeof err->text, format, args);
    return false;
}

bool err_fail(struct err *err, enum err_code code, uint64_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(err, code, 0, offset, 0, format, args);
    va_end(args);
    return false;
}

bool err_fail_line(struct err *err, enum err_code code, uint64_t line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(err, code, 0, ERR_NO_OFFSET, line, format, args);
    va_end(args);
    return false;
}

bool err_fail_errno(struct err *err, int sys_errno, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(err, ERR_IO, sys_errno, ERR_NO_OFFSET, 0, format, args);
    va_end(args);
    return false;
}

bool err_fail_memory(struct err *err)
{
    return err_fail(err, ERR_MEMORY, ERR_NO_OFFSET, "out of memory");
}

bool err_name_file(struct err *err, const char *path)
{
    if (err->file[0] == '\0')
        snprintf(err->file, sizeof err->file, "%s", path);
    return false;
}

const char *err_describe(const struct err *err, char *out, size_t out_bytes)
{
    size_t used = 0;
    out[0] = '\0';
    if (err->file[0] != '\0')
        append(out, out_bytes, &used, "%s: ", err->file);
    if (err->line != 0)
        append(out, out_bytes, &used, "line %" PRIu64 ": ", err->line);
    if (err->offset != ERR_NO_OFFSET)
        append(out, out_bytes, &used, "offset %" PRIu64 ": ", err->offset);
    append(out, out_bytes, &used, "%s", err->text);
    if (err->sys_errno != 0)
        append(out, out_bytes, &used, ": %s", strerror(err->sys_errno));
    return out;
}
