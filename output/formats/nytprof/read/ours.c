/* ours.c - see ours.h. */
#include "formats/nytprof/read/ours.h"

#include <string.h>

#include "formats/nytprof/name.h"

struct form {
    const char *key;
    unsigned n_numbers;
    bool has_text;
};

static const struct form forms[] = {
    {"names=1", 0, false}, {"profile", 4, false}, {"kind", 2, true},  {"process", 4, true},
    {"thread", 5, true},   {"key", 0, true},      {"value", 0, true}, {"section", 1, false},
    {"file", 0, true},     {"object", 0, true},   {"name", 0, true},  {"line", 1, false},
    {"self", 1, false},    {"return", 2, true},
};

/* Takes the text up to the next tab off the front of *rest. */
static struct text next_field(struct text *rest)
{
    const char *tab = rest->length == 0 ? NULL : memchr(rest->bytes, '\t', rest->length);
    struct text field = *rest;
    if (tab == NULL) {
        rest->bytes += rest->length;
        rest->length = 0;
        return field;
    }
    field.length = (size_t)(tab - rest->bytes);
    rest->bytes = tab + 1;
    rest->length -= field.length + 1;
    return field;
}

static bool read_number(struct text field, uint64_t *number)
{
    uint64_t value = 0;
    for (size_t i = 0; i < field.length; i++) {
        char c = field.bytes[i];
        if (c < '0' || c > '9' || __builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(c - '0'), &value))
            return false;
    }
    *number = value;
    return field.length != 0;
}

bool nytprof_ours_parse(const struct nytprof_record *comment, struct array *buffer,
                        struct nytprof_ours *out, bool *no_memory)
{
    static const char mark[] = "sampler ";
    const size_t n_mark = sizeof mark - 1;
    struct text rest = comment->text;
    if (rest.length < n_mark || memcmp(rest.bytes, mark, n_mark) != 0)
        return false;
    rest.bytes += n_mark;
    rest.length -= n_mark;
    struct text key = next_field(&rest);
    const struct form *form = NULL;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (strlen(forms[i].key) == key.length && memcmp(forms[i].key, key.bytes, key.length) == 0)
            form = &forms[i];
    }
    if (form == NULL)
        return false;
    *out = (struct nytprof_ours){.key = form->key, .text = {.bytes = ""}};
    for (unsigned i = 0; i < form->n_numbers; i++) {
        if (!read_number(next_field(&rest), &out->numbers[i]))
            return false;
    }
    if (!form->has_text)
        return true;
    buffer->n = 0;
    *no_memory = !nytprof_line_decode(rest, buffer);
    if (buffer->n != 0)
        out->text = (struct text){.bytes = buffer->items, .length = buffer->n};
    return !*no_memory;
}
