/* name.c - see formats/nytprof/name.h.
 *
 * One pass from left to right that knows how deep in brackets it is. What makes names of C++ hard are operators, whose
 * `<`, `>`, `(` and `[` are no brackets: operator_length steps over them. */
#include "formats/nytprof/name.h"

#include <string.h>

/* As in an identifier; bytes of non-ASCII letters are taken for that. */
static bool is_word(char c)
{
    return char_is_letter(c) || char_is_digit(c) || c == '_' || (c & 0x80) != 0;
}

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

static bool starts_at(struct text text, size_t at, const char *word)
{
    return text_starts(text_from(text, at), word);
}

/* Length of an `operator...` token at `at`, 0 if there is none: its `<`, `(`, `[` are no brackets.
 */
static size_t operator_length(struct text text, size_t at)
{
    static const char *const signs[] = {
        "<=>", "->*", "<<=", ">>=", "<<", ">>", "<=", ">=", "->", "()", "[]", "<", ">"};
    static const char word[] = "operator";
    size_t end = at + sizeof word - 1;
    if (text.bytes[at] != word[0] || !starts_at(text, at, word) ||
        (at > 0 && is_word(text.bytes[at - 1])) || (end < text.length && is_word(text.bytes[end])))
        return 0;
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (starts_at(text, end, signs[i]))
            return end + strlen(signs[i]) - at;
    }
    return end - at;
}

/* How deep in brackets the text is behind the character `c`. */
static size_t next_depth(size_t depth, char c)
{
    switch (c) {
    case '<':
    case '(':
    case '[':
    case '{':
        return depth + 1;
    case '>':
    case ')':
    case ']':
    case '}':
        return depth > 0 ? depth - 1 : 0;
    default:
        return depth;
    }
}

/* Where the part behind the last `::` outside of brackets begins; 0 if there is none. */
static size_t find_tail(struct text name)
{
    size_t depth = 0;
    size_t tail = 0;
    for (size_t i = 0; i < name.length;) {
        size_t n = operator_length(name, i);
        if (n == 0 && starts_at(name, i, "::")) {
            n = 2;
            tail = depth == 0 ? i + 2 : tail;
        } else if (n == 0) {
            n = 1;
            depth = next_depth(depth, name.bytes[i]);
        }
        i += n;
    }
    return tail;
}

void nytprof_append_plain(struct chars *out, struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        chars_push(out, (char)(char_is_control(text.bytes[i]) ? ' ' : text.bytes[i]));
}

/* Appends with the characters that no name may have replaced. */
static void append_clean(struct chars *out, struct text text)
{
    size_t first = out->n;
    nytprof_append_plain(out, text);
    for (size_t i = first; i < out->n; i++)
        out->items[i] = (char)(out->items[i] == ';' ? ',' : out->items[i]);
}

static bool begins_markup(struct text name, size_t at)
{
    return at < name.length && (char_is_letter(name.bytes[at]) || is_one_of(name.bytes[at], "/!?"));
}

/* Appends `name` with `::` in brackets as `.` and the blanks behind `<`. */
static void append_bracketed(struct chars *out, struct text name)
{
    size_t depth = 0;
    for (size_t i = 0; i < name.length;) {
        size_t n = operator_length(name, i);
        if (n == 0 && starts_at(name, i, "::")) {
            n = 2;
            chars_append(out, depth == 0 ? "::" : ".", depth == 0 ? 2 : 1);
        } else {
            depth = n == 0 ? next_depth(depth, name.bytes[i]) : depth;
            n = n == 0 ? 1 : n;
            chars_append(out, name.bytes + i, n);
        }
        i += n;
        if (name.bytes[i - 1] == '<' && begins_markup(name, i))
            chars_push(out, ' ');
    }
}

void nytprof_name_encode(struct text name, struct text object, struct chars *out)
{
    struct chars clean = {0};
    struct chars packaged = {0};
    append_clean(&clean, name.length != 0 ? name : text_make("??"));
    struct text whole = {.bytes = clean.items, .length = clean.n};
    size_t tail = find_tail(whole);
    size_t head = 0; /* Perl warns of names that begin with `::` */
    while (head < whole.length && whole.bytes[head] == ':')
        head++;
    if (tail <= head) {
        append_clean(&packaged, object.length != 0 ? object : text_make("main"));
        chars_append(&packaged, "::", 2);
    }
    chars_append(&packaged, whole.bytes + head, whole.length - head);
    if (tail >= whole.length)
        chars_append(&packaged, "??", 2);
    append_bracketed(out, chars_text(&packaged));
    out->no_memory = out->no_memory || clean.no_memory || packaged.no_memory;
    chars_deinit(&clean);
    chars_deinit(&packaged);
}

/* Length of the package nytprof_name_encode puts in front, with its `::`: `main`, a name with a dot
 * in it, or one in square brackets. */
static size_t package_length(struct text name)
{
    if (starts_at(name, 0, "main::"))
        return 6;
    size_t end = 0;
    if (name.length != 0 && name.bytes[0] == '[') {
        const char *bracket = memchr(name.bytes, ']', name.length);
        end = bracket == NULL ? 0 : (size_t)(bracket - name.bytes) + 1;
    } else {
        bool has_dot = false;
        for (; end < name.length && !is_one_of(name.bytes[end], ":<([ "); end++)
            has_dot = has_dot || name.bytes[end] == '.';
        end = has_dot ? end : 0;
    }
    return end != 0 && starts_at(name, end, "::") ? end + 2 : 0;
}

/* Whether the `.` at `at` was a `::`. */
static bool was_colons(struct text name, size_t at)
{
    if (name.bytes[at] != '.' || at == 0 || at + 1 >= name.length)
        return false;
    char before = name.bytes[at - 1];
    char after = name.bytes[at + 1];
    return (is_word(before) || is_one_of(before, ">)}]")) &&
           ((is_word(after) && !(after >= '0' && after <= '9')) || is_one_of(after, "~{(*"));
}

void nytprof_name_decode(struct text name, struct chars *out)
{
    size_t depth = 0;
    for (size_t i = package_length(name); i < name.length;) {
        size_t n = operator_length(name, i);
        depth = n == 0 ? next_depth(depth, name.bytes[i]) : depth;
        n = n == 0 ? 1 : n;
        if (depth != 0 && n == 1 && was_colons(name, i))
            chars_append(out, "::", 2);
        else
            chars_append(out, name.bytes + i, n);
        i += n;
        if (starts_at(name, i, " ") && name.bytes[i - 1] == '<' && begins_markup(name, i + 1))
            i++;
    }
}

/* ---- namesakes ---- */

static bool is_hex(char c)
{
    return char_is_digit(c) || (c >= 'a' && c <= 'f');
}

/* `text` without the digits at its end. */
static struct text without_digits(struct text text, bool (*is_one)(char c))
{
    while (text.length > 0 && is_one(text.bytes[text.length - 1]))
        text.length--;
    return text;
}

struct text nytprof_name_bare(struct text label)
{
    struct text bare = label;
    struct text rest = without_digits(label, char_is_digit);
    if (rest.length < label.length && text_ends(rest, " #"))
        bare.length = rest.length - 2;
    if (!text_ends(bare, "]"))
        return bare;
    struct text inner = {.bytes = bare.bytes, .length = bare.length - 1};
    struct text before_line = without_digits(inner, char_is_digit);
    struct text before_vaddr = without_digits(inner, is_hex);
    bool has_line = before_line.length < inner.length && text_ends(before_line, ":");
    bool has_vaddr = before_vaddr.length < inner.length && text_ends(before_vaddr, "+0x");
    size_t at = has_line || has_vaddr ? bare.length : 0;
    while (at > 0 && !starts_at(bare, at, " ["))
        at--;
    if (at > 0)
        bare.length = at;
    return bare;
}
