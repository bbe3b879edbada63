/* notes.c - see model/notes.h. */
#include "model/notes.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

void format_note(const struct format_notes *notes, const char *format, ...)
{
    if (notes == NULL || notes->note == NULL)
        return;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    notes->note(notes->context, text);
}
