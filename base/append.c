/* append.c - see append.h. */
#include "append.h"

#include <stdarg.h>
#include <stdio.h>

void append(char *out, size_t out_bytes, size_t *used, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(out + *used, out_bytes - *used, format, args);
    va_end(args);
    if (n > 0)
        *used = (size_t)n < out_bytes - *used ? *used + (size_t)n : out_bytes - 1;
}
