/* first_bracket.c - see text/first_bracket.h. */
#include "text/first_bracket.h"

#include "text/utf8.h"

char json_first_bracket(const uint8_t *head, size_t head_bytes)
{
    size_t pos = utf8_mark_bytes(head, head_bytes);
    while (pos < head_bytes && (head[pos] == ' ' || (head[pos] >= '\t' && head[pos] <= '\r')))
        pos++;
    if (pos == head_bytes || (head[pos] != '{' && head[pos] != '['))
        return '\0';
    return (char)head[pos];
}
