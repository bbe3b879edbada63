/* name.c - see name.h. */
#include "formats/nytprof/name.h"

#include <string.h>

#include "text/utf8.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* As in an identifier; bytes of non-ASCII letters are taken for that. */
static bool is_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || (c & 0x80) != 0;
}

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

static bool push(struct array *out, char c)
{
    char *item = array_push(out);
    if (item != NULL)
        *item = c;
    return item != NULL;
}

bool nytprof_append(struct array *out, const char *bytes, size_t length)
{
    size_t i = 0;
    for (; i < length && out->n + (length - i) > out->n_reserved; i++) { /* it grows on the way */
        if (!push(out, bytes[i]))
            return false;
    }
    if (i < length)
        memcpy((char *)out->items + out->n, bytes + i, length - i);
    out->n += length - i;
    return true;
}

static bool starts_with(struct text text, size_t at, const char *word)
{
    size_t length = strlen(word);
    return text.length - at >= length && memcmp(text.bytes + at, word, length) == 0;
}

/* Length of an `operator...` token at `at`, 0 if there is none: its `<`, `(`, `[` are no brackets.
 */
static size_t operator_length(struct text text, size_t at)
{
    static const char *const signs[] = {
        "<=>", "->*", "<<=", ">>=", "<<", ">>", "<=", ">=", "->", "()", "[]", "<", ">"};
    static const char word[] = "operator";
    size_t end = at + sizeof word - 1;
    if (text.bytes[at] != word[0] || !starts_with(text, at, word) ||
        (at > 0 && is_word(text.bytes[at - 1])) || (end < text.length && is_word(text.bytes[end])))
        return 0;
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (starts_with(text, end, signs[i]))
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
        if (n == 0 && starts_with(name, i, "::")) {
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

/* Appends with the characters that no name may have replaced. */
static bool append_clean(struct array *out, struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.bytes[i];
        if (is_control(c))
            c = ' ';
        if (!push(out, (char)(c == ';' ? ',' : c)))
            return false;
    }
    return true;
}

/* Appends `name` with `::` in brackets as `.` and the blanks behind `<`. */
static bool append_bracketed(struct array *out, struct text name)
{
    size_t depth = 0;
    for (size_t i = 0; i < name.length;) {
        size_t n = operator_length(name, i);
        bool ok;
        if (n == 0 && starts_with(name, i, "::")) {
            n = 2;
            ok = depth == 0 ? nytprof_append(out, "::", 2) : push(out, '.');
        } else {
            depth = n == 0 ? next_depth(depth, name.bytes[i]) : depth;
            n = n == 0 ? 1 : n;
            ok = nytprof_append(out, name.bytes + i, n);
        }
        i += n;
        bool is_markup = i < name.length && name.bytes[i - 1] == '<' &&
                         (is_letter(name.bytes[i]) || is_one_of(name.bytes[i], "/!?"));
        if (!ok || (is_markup && !push(out, ' ')))
            return false;
    }
    return true;
}

bool nytprof_name_encode(struct text name, struct text object, struct array *out)
{
    struct array clean;
    array_init(&clean, 1);
    bool ok = append_clean(&clean, name) && (clean.n != 0 || nytprof_append(&clean, "??", 2));
    struct text whole = {.bytes = clean.items, .length = clean.n};
    size_t tail = ok ? find_tail(whole) : 0;
    size_t head = 0; /* Perl warns of names that begin with `::` */
    while (head < whole.length && whole.bytes[head] == ':')
        head++;
    struct array packaged;
    array_init(&packaged, 1);
    if (ok && tail <= head) {
        if (object.length != 0)
            ok = append_clean(&packaged, object);
        else
            ok = nytprof_append(&packaged, "main", 4);
        ok = ok && nytprof_append(&packaged, "::", 2);
    }
    ok = ok && nytprof_append(&packaged, whole.bytes + head, whole.length - head) &&
         (tail < whole.length || nytprof_append(&packaged, "??", 2)) &&
         append_bracketed(out, (struct text){.bytes = packaged.items, .length = packaged.n});
    array_deinit(&clean);
    array_deinit(&packaged);
    return ok;
}

/* Length of the package nytprof_name_encode puts in front, with its `::`: `main`, a name with a dot
 * in it, or one in square brackets. */
static size_t package_length(struct text name)
{
    if (starts_with(name, 0, "main::"))
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
    return end != 0 && starts_with(name, end, "::") ? end + 2 : 0;
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

bool nytprof_name_decode(struct text name, struct array *out)
{
    size_t depth = 0;
    for (size_t i = package_length(name); i < name.length;) {
        size_t n = operator_length(name, i);
        depth = n == 0 ? next_depth(depth, name.bytes[i]) : depth;
        n = n == 0 ? 1 : n;
        bool ok = depth != 0 && n == 1 && was_colons(name, i)
                      ? nytprof_append(out, "::", 2)
                      : nytprof_append(out, name.bytes + i, n);
        i += n;
        if (i + 1 < name.length && name.bytes[i - 1] == '<' && name.bytes[i] == ' ' &&
            (is_letter(name.bytes[i + 1]) || is_one_of(name.bytes[i + 1], "/!?")))
            i++;
        if (!ok)
            return false;
    }
    return true;
}

/* Whether all of `text` is `part`, but for a package in front and what tells namesakes apart. */
static bool has_part(struct text text, struct text part)
{
    const char *at = text.bytes;
    const char *end = text.bytes + text.length;
    for (unsigned n_tries = 0; n_tries < 8 && part.length != 0; n_tries++, at++) {
        at = memmem(at, (size_t)(end - at), part.bytes, part.length);
        if (at == NULL) /* few tries, each linear */
            return false;
        const char *rest = at + part.length;
        bool begins = at == text.bytes || (at - text.bytes >= 2 && at[-1] == ':' && at[-2] == ':');
        bool ends = rest == end ||
                    (end - rest >= 2 && rest[0] == ' ' && (rest[1] == '[' || rest[1] == '#'));
        if (begins && ends)
            return true;
    }
    return false;
}

bool nytprof_name_fits(struct text sub, struct text name, bool *fits)
{
    struct array encoded;
    if (name.length != 0 && has_part(sub, name)) { /* most need no change but a package */
        *fits = true;
        return true;
    }
    array_init(&encoded, 1);
    bool ok = nytprof_name_encode(name, (struct text){.bytes = ""}, &encoded);
    if (ok) {
        struct text bare = {.bytes = encoded.items, .length = encoded.n};
        if (starts_with(bare, 0, "main::")) { /* a package put in front may be another */
            bare.bytes += 6;
            bare.length -= 6;
        }
        *fits = has_part(sub, bare);
    }
    array_deinit(&encoded);
    return ok;
}

bool nytprof_path_fits(struct text label, struct text path)
{
    size_t from = 0;
    size_t at = 0;
    if (label.length != 0 && label.bytes[0] == '[') {
        for (size_t i = 0; i < path.length; i++)
            from = path.bytes[i] == '/' ? i + 1 : from;
        at = from < path.length && path.bytes[from] == '[' ? 0 : 1;
    }
    if (label.length - at < path.length - from)
        return false;
    for (size_t i = from; i < path.length; i++, at++) {
        if (label.bytes[at] != (is_control(path.bytes[i]) ? ' ' : path.bytes[i]))
            return false;
    }
    return true;
}

bool nytprof_line_encode(struct text text, struct array *out)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.length;) {
        bool is_valid;
        size_t n = utf8_next(text.bytes + i, text.length - i, &is_valid);
        bool is_plain = is_valid && !is_control(text.bytes[i]) && text.bytes[i] != '%';
        if (is_plain && !nytprof_append(out, text.bytes + i, n))
            return false;
        for (size_t k = i; !is_plain && k < i + n; k++) {
            unsigned char byte = (unsigned char)text.bytes[k];
            char escape[] = {'%', digits[byte >> 4], digits[byte & 15]};
            if (!nytprof_append(out, escape, sizeof escape))
                return false;
        }
        i += n;
    }
    return true;
}

static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 16;
}

bool nytprof_line_decode(struct text text, struct array *out)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.bytes[i];
        if (c == '%' && text.length - i > 2 && digit_value(text.bytes[i + 1]) < 16 &&
            digit_value(text.bytes[i + 2]) < 16) {
            c = (char)(digit_value(text.bytes[i + 1]) << 4 | digit_value(text.bytes[i + 2]));
            i += 2;
        }
        if (!push(out, c))
            return false;
    }
    return true;
}
