/* base64.c - see text/base64.h. */
#include "text/base64.h"

#define LINE_LETTERS ((size_t)4096)
#define LINE_BYTES (LINE_LETTERS / 4 * 3)

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Four letters of up to three bytes; "=" stands for those that are missing. */
static void group_encode(const uint8_t *data, size_t n, char *out)
{
    uint32_t bits = (uint32_t)data[0] << 16 | (n > 1 ? (uint32_t)data[1] << 8 : 0) |
                    (n > 2 ? (uint32_t)data[2] : 0);
    for (size_t i = 0; i < 4; i++) {
        const char *letter = i <= n ? &letters[bits >> (18 - 6 * i) & 63] : "=";
        out[i] = *letter;
    }
}

void base64_write(struct sink *out, const uint8_t *data, size_t size_bytes)
{
    char line[LINE_LETTERS + 1];
    while (size_bytes > 0) {
        size_t n = size_bytes < LINE_BYTES ? size_bytes : LINE_BYTES, n_letters = 0;
        for (size_t i = 0; i < n; i += 3, n_letters += 4)
            group_encode(data + i, n - i, line + n_letters);
        line[n_letters] = '\n';
        sink_write(out, line, n_letters + 1);
        data += n;
        size_bytes -= n;
    }
}

/* 0 to 63, -1 for other characters. */
static int letter_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool is_white(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

bool base64_read(const char *text, size_t length, uint8_t *out, size_t *n, struct err *err)
{
    uint32_t bits = 0, n_bits = 0;
    size_t n_out = 0;
    bool is_padded = false;
    for (size_t i = 0; i < length; i++) {
        int value = letter_value(text[i]);
        if (is_white(text[i]))
            continue;
        is_padded = is_padded || text[i] == '=';
        if (is_padded ? text[i] != '=' : value < 0)
            return err_fail(err, ERR_FORMAT, i, "base64 expected");
        if (is_padded)
            continue;
        bits = bits << 6 | (uint32_t)value;
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            out[n_out++] = (uint8_t)(bits >> n_bits);
        }
    }
    *n = n_out;
    return true;
}
