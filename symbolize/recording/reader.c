/* reader.c - see reader.h. The first RECORDING_MAX_WARNINGS are kept: a file of noise has one
 * for each byte. */
#include "recording/reader.h"

#include <stdarg.h>
#include <stdio.h>

void reader_warn(struct reader *reader, uint64_t offset, const char *format, ...)
{
    if (reader->tables->warnings.n >= RECORDING_MAX_WARNINGS) {
        reader->recording->n_warnings_dropped++;
        return;
    }
    char text[200];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t n = length < 0 ? 0 : (size_t)length;
    if (n >= sizeof text)
        n = sizeof text - 1;
    const char *copy = arena_text(reader->arena, text, n);
    reader->no_memory |=
        copy == NULL ||
        !warnings_push(&reader->tables->warnings, (struct recording_warning){offset, {copy, n}});
}
