/* same_name.c - see same_name.h. */
#include "compare/same_name.h"

#include <inttypes.h>
#include <stdio.h>

#define RUST_HASH_DIGITS ((size_t)16)

/* What gcc and clang put behind a dot; numbers may follow, each behind a dot of its own. */
static const char *const clone_words[] = {".cold",     ".constprop",  ".isra", ".part",
                                          ".lto_priv", ".localalias", ".llvm"};
#define N_CLONE_WORDS (sizeof clone_words / sizeof clone_words[0])

static struct text without_end(struct text text, size_t n)
{
    return (struct text){.bytes = text.bytes, .length = text.length - n};
}

static struct text without_numbers(struct text name)
{
    for (;;) {
        size_t n_digits = 0;
        while (n_digits < name.length && char_is_digit(name.bytes[name.length - 1 - n_digits]))
            n_digits++;
        if (n_digits == 0 || n_digits == name.length ||
            name.bytes[name.length - 1 - n_digits] != '.')
            return name;
        name = without_end(name, n_digits + 1);
    }
}

/* " [clone .part.0]", as demanglers write it. */
static struct text without_bracket(struct text name)
{
    static const char begin[] = " [clone .";
    size_t n_begin = sizeof begin - 1;
    if (!text_ends(name, "]"))
        return name;
    for (size_t at = name.length; at-- > 0;) {
        if (name.bytes[at] == '[')
            return at > 1 && text_starts(text_from(name, at - 1), begin) &&
                           at - 1 + n_begin < name.length
                       ? without_end(name, name.length - (at - 1))
                       : name;
    }
    return name;
}

static struct text without_word(struct text name)
{
    struct text bare = without_numbers(name);
    for (size_t i = 0; i < N_CLONE_WORDS; i++) {
        size_t length = strlen(clone_words[i]);
        if (text_ends(bare, clone_words[i]) && bare.length > length)
            return without_end(bare, length);
    }
    return name;
}

/* "::h0123456789abcdef" */
static struct text without_hash(struct text name)
{
    size_t length = RUST_HASH_DIGITS + 3;
    if (name.length <= length || !text_starts(text_from(name, name.length - length), "::h"))
        return name;
    for (size_t i = name.length - RUST_HASH_DIGITS; i < name.length; i++) {
        char c = name.bytes[i];
        if (!char_is_digit(c) && !(c >= 'a' && c <= 'f'))
            return name;
    }
    return without_end(name, length);
}

struct text same_name_of_function(struct text name)
{
    for (;;) {
        struct text shorter = without_hash(without_word(without_bracket(name)));
        if (shorter.length == name.length)
            return name;
        name = shorter;
    }
}

bool same_name_append(struct chars *out, const struct profile *profile, enum summary_by by,
                      struct summary_key key)
{
    struct text name = summary_row_name(profile, by, key);
    if (by == SUMMARY_BY_MODULE)
        name = text_base_name(name);
    if (by == SUMMARY_BY_FUNCTION || by == SUMMARY_BY_LINE || by == SUMMARY_BY_LABEL)
        name = same_name_of_function(name);
    if (!chars_append(out, name.bytes, name.length) || by != SUMMARY_BY_LINE)
        return !out->no_memory;
    uint32_t file = key.file != 0 ? key.file : profile->functions[key.id].file;
    struct text base = text_base_name(profile_text(profile, file));
    char line[16];
    int n = snprintf(line, sizeof line, ":%" PRIu32, key.line);
    return chars_append(out, "\n", 1) && chars_append(out, base.bytes, base.length) &&
           chars_append(out, line, (size_t)n);
}
