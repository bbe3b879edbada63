/* runtime_name.c - see runtime_name.h. */
#include "jit/runtime_name.h"

#include <string.h>

/* Before the mark, in the order of V8's versions. */
static const char *const v8_kinds[] = {"JS:", "Function:", "LazyCompile:", "Eval:", "Script:"};

static bool is_v8_mark(char mark)
{
    return mark == '~' || mark == '^' || mark == '+' || mark == '*';
}

/* `said` without its kind and mark; length 0: not V8's. */
static struct text v8_rest(struct text said)
{
    for (size_t i = 0; i < sizeof v8_kinds / sizeof v8_kinds[0]; i++) {
        size_t n = strlen(v8_kinds[i]);
        if (text_starts(said, v8_kinds[i]) && said.length > n && is_v8_mark(said.bytes[n]))
            return text_from(said, n + 1);
    }
    return (struct text){"", 0};
}

bool runtime_name_is_v8(struct text said)
{
    return v8_rest(said).length != 0;
}

struct text runtime_file(struct text said)
{
    return text_starts(said, "file:///") ? text_from(said, strlen("file://")) : said;
}

/* Takes ":NUMBER" off the end. */
static bool number_take(struct text *text, uint32_t *number)
{
    uint64_t value = 0, unit = 1;
    size_t at = text->length;
    for (; at > 0 && char_is_digit(text->bytes[at - 1]) && unit < 1000000000; at--, unit *= 10)
        value += unit * (uint64_t)(text->bytes[at - 1] - '0');
    if (at == text->length || at == 0 || text->bytes[at - 1] != ':' || value > UINT32_MAX)
        return false;
    *number = (uint32_t)value;
    text->length = at - 1;
    return true;
}

/* Where the file begins in "NAME FILE": both may hold blanks, so the first one that a path or a URL
 * follows; else the last blank. */
static size_t file_begins(struct text text)
{
    static const char *const starts[] = {
        " /", " file:", " node:", " http:", " https:", " webpack:"};
    size_t last = 0;
    for (size_t at = 0; at < text.length; at++) {
        if (text.bytes[at] != ' ')
            continue;
        last = at;
        for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
            if (text_starts(text_from(text, at), starts[i]))
                return at;
    }
    return last;
}

static struct runtime_name v8_split(struct text said, struct text rest)
{
    struct runtime_name name = {.identity = rest};
    uint32_t column;
    struct text text = rest;
    if (!number_take(&text, &column) || !number_take(&text, &name.line) ||
        memchr(text.bytes, ' ', text.length) == NULL)
        return (struct runtime_name){
            .name = said, .identity = said, .file = {"", 0}, .place = {"", 0}};
    size_t at = file_begins(text);
    name.name = (struct text){text.bytes, at};
    name.file = runtime_file(text_from(text, at + 1));
    struct text base = text_base_name(name.file);
    name.place = (struct text){base.bytes, (size_t)(rest.bytes + rest.length - base.bytes)};
    return name;
}

/* py::NAME:FILE */
static struct runtime_name python_split(struct text said)
{
    struct text rest = text_from(said, strlen("py::"));
    const char *colon = memchr(rest.bytes, ':', rest.length);
    struct runtime_name name = {.name = rest, .identity = said, .file = {"", 0}, .place = {"", 0}};
    if (colon == NULL || colon == rest.bytes)
        return name;
    name.name.length = (size_t)(colon - rest.bytes);
    name.file = text_from(rest, name.name.length + 1);
    return name;
}

/* .NET says last how it compiled the function. */
static struct text without_tier(struct text said)
{
    static const char *const tiers[] = {"[PreJIT]",           "[MinOptJitted]",
                                        "[QuickJitted]",      "[Optimized]",
                                        "[OptimizedTier1]",   "[OptimizedTier1OSR]",
                                        "[InstrumentedTier]", "[InstrumentedTierOptimized]"};
    for (size_t i = 0; i < sizeof tiers / sizeof tiers[0]; i++)
        if (text_ends(said, tiers[i]))
            return (struct text){said.bytes, said.length - strlen(tiers[i])};
    return said;
}

struct runtime_name runtime_name_split(struct text said)
{
    struct text rest = v8_rest(said);
    if (rest.length != 0)
        return v8_split(said, rest);
    if (text_starts(said, "py::"))
        return python_split(said);
    said = without_tier(said);
    return (struct runtime_name){.name = said, .identity = said, .file = {"", 0}, .place = {"", 0}};
}
