/* common.c - how the parts of the parser report what is wrong or odd: see
 * formats/easyprofiler/parse.h. */
#include <stdarg.h>
#include <stdio.h>

#include "formats/easyprofiler/parse.h"

bool easyprofiler_fail_truncated(struct easyprofiler_parser *p, uint64_t offset, const char *what)
{
    return err_fail(p->err, ERR_TRUNCATED, offset, "the file ends inside %s", what);
}

bool easyprofiler_odd(struct easyprofiler_parser *p, uint64_t offset, const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (p->strict)
        return err_fail(p->err, ERR_FORMAT, offset, "%s", text);
    format_note(p->notes, "%s", text);
    return true;
}
