/* shell_word.c - see shell_word.h. */
#include "options/shell_word.h"

#include <string.h>

#include "append.h"

void append_shell_word(const char *word, char *out, size_t out_bytes, size_t *used)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-+,=:@%";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        append(out, out_bytes, used, "%s", word);
        return;
    }
    append(out, out_bytes, used, "'");
    for (const char *at = word; *at != '\0'; at++)
        if (*at == '\'')
            append(out, out_bytes, used, "'\\''");
        else
            append(out, out_bytes, used, "%c", *at);
    append(out, out_bytes, used, "'");
}
