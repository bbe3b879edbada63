/* perf_map.c - see perf_map.h. A map may have a million lines and few of them matter, so lines are
 * looked at one by one against the addresses asked for, and none is kept. */
#include "jit/perf_map.h"

#include <string.h>

#include "digits.h"

/* Of either case; -1: it is no digit. */
static int digit_value(char digit)
{
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return hex_digit_value(digit);
}

/* One hexadecimal number and the blank after it. */
static bool number_read(struct text *rest, uint64_t *number)
{
    if (text_starts(*rest, "0x") || text_starts(*rest, "0X"))
        *rest = text_from(*rest, 2);
    size_t n = 0;
    *number = 0;
    for (; n < rest->length && digit_value(rest->bytes[n]) >= 0; n++)
        *number = *number << 4 | (uint64_t)digit_value(rest->bytes[n]);
    if (n == 0 || n > 16 || n == rest->length || rest->bytes[n] != ' ')
        return false;
    *rest = text_from(*rest, n + 1);
    return true;
}

static void line_read(struct text line, struct codes_said *codes)
{
    uint64_t start, size_bytes;
    struct text name = line;
    if (!number_read(&name, &start) || !number_read(&name, &size_bytes))
        return;
    while (name.length > 0 &&
           (name.bytes[name.length - 1] == '\r' || name.bytes[name.length - 1] == ' '))
        name.length--;
    for (size_t i = codes_said_from(codes, start);
         i < codes->n && codes->items[i].pc - start < size_bytes && name.length > 0 &&
         codes_said_listen(codes);
         i++) {
        codes->items[i].entry = start;
        codes->items[i].name = name;
    }
}

void perf_map_read(struct text map, struct codes_said *codes)
{
    struct text rest = map;
    const char *end;
    while ((end = memchr(rest.bytes, '\n', rest.length)) != NULL) {
        size_t length = (size_t)(end - rest.bytes);
        line_read((struct text){rest.bytes, length}, codes);
        rest = text_from(rest, length + 1);
    }
}
