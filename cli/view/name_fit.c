/* name_fit.c - see name_fit.h.
 *
 * A name is cut into its bracket groups once. Folding a group takes its columns from all groups
 * around it, so one pass over the groups, in the order in which they may go, is all that is needed,
 * however long a name is (C++ has some of 10 000 bytes). */
#include "view/name_fit.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "text.h"
#include "view/width.h"

#define NO_GROUP SIZE_MAX
#define MAX_ROUNDS 4    /* words that a row may need to be told from all others */
#define MAX_GROUPS 1000 /* a name with more is cut, not folded */

/* "<...>", "(...)" or "{...}". */
struct group {
    size_t open, close; /* the brackets' offsets                       */
    size_t parent;      /* index, < own; NO_GROUP                      */
    size_t depth;       /* 0: outermost                                */
    size_t columns;     /* that are seen between the brackets          */
    size_t order;       /* of folding: small first                     */
    bool is_folded;     /* the mark stands for what is between         */
};

VECTOR_DEFINE(groups, struct group)

/* ---- brackets -------------------------------------------------------------------------------- */

static bool is_name_char(char c)
{
    return char_is_letter(c) || char_is_digit(c) || c == '_' || c == '$' || (unsigned char)c >= 128;
}

/* Bytes at `text` whose brackets are none: of an operator of C++, an arrow, a name in parentheses. */
static size_t no_bracket_bytes(struct text text, bool is_name_before)
{
    static const char *const whole[] = {"->", "=>", "(anonymous namespace)", "(anonymous)"};
    static const char *const operators[] = {"()",  "<<=", "<=>", "<<", "<=", "<",
                                            ">>=", ">>",  "->*", "->", ">=", ">"};
    static const char word[] = "operator";
    size_t length = sizeof word - 1;
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (text_starts(text, whole[i]))
            return strlen(whole[i]);
    if (is_name_before || !text_starts(text, word))
        return 0;
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        if (text_starts(text_from(text, length), operators[i]))
            return length + strlen(operators[i]);
    return 0;
}

static char bracket_closing(char c)
{
    switch (c) {
    case '<':
        return '>';
    case '(':
        return ')';
    case '{':
        return '}';
    default:
        return '\0';
    }
}

static bool is_closing(char c)
{
    return c == '>' || c == ')' || c == '}';
}

/* False where brackets do not match (such a name is none of C++ or Rust) or are too many. */
static bool groups_find(struct groups *groups, struct text name)
{
    size_t inner = NO_GROUP;
    for (size_t at = 0; at < name.length;) {
        bool is_name_before = at > 0 && is_name_char(name.bytes[at - 1]);
        size_t skipped = no_bracket_bytes(text_from(name, at), is_name_before);
        char c = name.bytes[at];
        if (skipped > 0) {
            at += skipped;
            continue;
        }
        if (bracket_closing(c) != '\0') {
            size_t depth = inner == NO_GROUP ? 0 : groups->items[inner].depth + 1;
            if (groups->n == MAX_GROUPS ||
                !groups_push(groups, (struct group){.open = at, .parent = inner, .depth = depth}))
                return false;
            inner = groups->n - 1;
        } else if (is_closing(c)) {
            if (inner == NO_GROUP || bracket_closing(name.bytes[groups->items[inner].open]) != c)
                return false;
            groups->items[inner].close = at;
            inner = groups->items[inner].parent;
        }
        at++;
    }
    return inner == NO_GROUP;
}

/* ---- folding --------------------------------------------------------------------------------- */

/* Arguments of the function go first, then the deepest brackets. */
static size_t folding_order(const struct group *group, struct text name)
{
    bool is_arguments = name.bytes[group->open] == '(' && group->depth == 0;
    return is_arguments ? 0 : SIZE_MAX - group->depth;
}

static int order_compare(const void *a, const void *b)
{
    const struct group *const *x = a, *const *y = b;
    int order = compare_u64((*x)->order, (*y)->order);
    return order != 0 ? order : compare_u64((*x)->open, (*y)->open);
}

static void fold_group(struct groups *groups, struct group *group, size_t mark_columns,
                       size_t *columns)
{
    size_t saved = group->columns - mark_columns;
    group->is_folded = true;
    *columns -= saved;
    for (size_t at = group->parent; at != NO_GROUP; at = groups->items[at].parent)
        groups->items[at].columns -= saved;
}

static bool is_in_folded(const struct groups *groups, const struct group *group)
{
    size_t at = group->parent;
    while (at != NO_GROUP && !groups->items[at].is_folded)
        at = groups->items[at].parent;
    return at != NO_GROUP;
}

/* Folds as many groups as it takes to come from `columns` to `most`; false when out of memory. What
 * a name begins with, "<Vec<u8> as Drop>::drop" of Rust, is not folded: too little would be left. */
static bool groups_fold(struct groups *groups, struct text name, size_t columns, size_t most,
                        size_t mark_columns)
{
    struct group **sorted = calloc(groups->n, sizeof(struct group *));
    if (sorted == NULL)
        return false;
    for (size_t i = 0; i < groups->n; i++) {
        struct group *group = &groups->items[i];
        struct text between = {.bytes = name.bytes + group->open + 1,
                               .length = group->close - group->open - 1};
        group->columns = text_columns(between);
        group->order = folding_order(group, name);
        sorted[i] = group;
    }
    qsort(sorted, groups->n, sizeof(struct group *), order_compare);
    for (size_t i = 0; i < groups->n && columns > most; i++)
        if (sorted[i]->open > 0 && sorted[i]->columns > mark_columns &&
            !is_in_folded(groups, sorted[i]))
            fold_group(groups, sorted[i], mark_columns, &columns);
    free(sorted);
    return true;
}

/* The name with the mark in folded groups. */
static bool folded_append(struct chars *out, const struct groups *groups, struct text name,
                          struct text mark)
{
    size_t at = 0;
    for (size_t i = 0; i < groups->n; i++) {
        const struct group *group = &groups->items[i];
        if (!group->is_folded || group->open < at)
            continue;
        struct text before = {.bytes = name.bytes + at, .length = group->open + 1 - at};
        if (!text_append_clean(out, before) || !chars_append(out, mark.bytes, mark.length))
            return false;
        at = group->close;
    }
    return text_append_clean(out, text_from(name, at));
}

/* C++ writes the type that a template returns before its name: "void sort<int>(int*, int*)". */
static struct text without_return_type(struct text name)
{
    size_t depth = 0, start = 0;
    bool has_arguments = false;
    for (size_t at = 0; at < name.length && !has_arguments;) {
        char c = name.bytes[at];
        struct text here = text_from(name, at);
        size_t skipped = no_bracket_bytes(here, at > 0 && is_name_char(name.bytes[at - 1]));
        has_arguments = skipped == 0 && depth == 0 && c == '(';
        if (skipped > 0) {
            at += skipped;
            at += text_starts(text_from(name, at), " <"); /* operator< <int> */
            continue;
        }
        depth += bracket_closing(c) != '\0';
        depth -= depth > 0 && is_closing(c);
        if (depth == 0 && c == ' ')
            start = at + 1;
        at++;
    }
    struct text before = {.bytes = name.bytes, .length = start};
    bool is_type = has_arguments && !text_ends(before, "operator ") && !text_ends(before, " to ") &&
                   !text_ends(before, " for ");
    return is_type ? text_from(name, start) : name;
}

/* ---- cutting --------------------------------------------------------------------------------- */

/* The longest beginning that takes no more than `columns`. */
static struct text text_head(struct text text, size_t columns)
{
    struct text left = text;
    while (left.length > 0) {
        struct glyph glyph = glyph_next(left);
        if (glyph.columns > columns)
            break;
        columns -= glyph.columns;
        left = text_from(left, glyph.n_taken);
    }
    text.length -= left.length;
    return text;
}

/* The longest end. */
static struct text text_tail(struct text text, size_t columns)
{
    size_t all = text_columns(text);
    while (text.length > 0) {
        struct glyph glyph = glyph_next(text);
        if (all <= columns && glyph.columns > 0)
            break; /* not in the middle of a character and what combines with it */
        all -= glyph.columns;
        text = text_from(text, glyph.n_taken);
    }
    return text;
}

/* Head, mark and tail, `head_columns` being the head's share. */
static bool cut_append(struct chars *out, struct text text, size_t columns, size_t head_columns,
                       struct text mark)
{
    if (text_columns(text) <= columns)
        return text_append_clean(out, text);
    struct text head = text_head(text, head_columns);
    struct text tail = text_tail(text, columns - text_columns(mark) - text_columns(head));
    if (text_ends(head, mark.bytes)) /* one mark is enough */
        head.length -= mark.length;
    if (text_starts(tail, mark.bytes))
        tail = text_from(tail, mark.length);
    return text_append_clean(out, head) && chars_append(out, mark.bytes, mark.length) &&
           text_append_clean(out, tail);
}

bool path_fit(struct chars *out, struct text path, size_t columns, struct text mark)
{
    return cut_append(out, path, columns, 0, mark);
}

/* More of the end than of the beginning: there stands the function itself. */
static bool middle_append(struct chars *out, struct text text, size_t columns, struct text mark)
{
    return cut_append(out, text, columns, (columns - text_columns(mark)) * 2 / 5, mark);
}

/* "(...) const" at the end tells least: what is left without, if the name is too long with it. */
static struct text without_arguments(struct text name, struct text mark)
{
    struct text rest = name;
    if (text_ends(rest, " const"))
        rest.length -= strlen(" const");
    if (!text_ends(rest, ")") || rest.length < mark.length + 3)
        return name;
    rest.length -= mark.length + 2;
    bool is_folded = rest.bytes[rest.length] == '(' &&
                     memcmp(rest.bytes + rest.length + 1, mark.bytes, mark.length) == 0;
    return is_folded ? rest : name;
}

static bool cut_to_fit(struct chars *out, struct text name, const struct groups *groups,
                       size_t columns, struct text mark)
{
    struct chars folded = {0};
    bool ok = folded_append(&folded, groups, name, mark);
    name = chars_text(&folded);
    if (ok && text_columns(name) > columns)
        name = without_arguments(name, mark);
    ok = ok && middle_append(out, name, columns, mark);
    chars_deinit(&folded);
    return ok;
}

bool name_fit(struct chars *out, struct text name, size_t columns, struct text mark)
{
    struct groups groups = {0};
    if (text_columns(name) <= columns)
        return text_append_clean(out, name);
    bool ok = true;
    name = without_return_type(name);
    if (groups_find(&groups, name) && groups.n > 0) {
        ok = groups_fold(&groups, name, text_columns(name), columns, text_columns(mark)) &&
             cut_to_fit(out, name, &groups, columns, mark);
    } else {
        ok = !groups.no_memory && middle_append(out, name, columns, mark);
    }
    groups_deinit(&groups);
    return ok;
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct fitting {
    size_t columns;
    struct text mark;
    struct arena *arena;
};

static int fitted_compare(const void *a, const void *b)
{
    const struct name_cell *const *x = a, *const *y = b;
    int order = text_compare((*x)->fitted, (*y)->fitted);
    if (order == 0)
        order = text_compare((*x)->name, (*y)->name);
    return order != 0 ? order : (*x > *y) - (*x < *y);
}

static bool cell_keep(struct name_cell *cell, struct chars *text, struct arena *arena)
{
    const char *kept =
        text->no_memory ? NULL : arena_text(arena, text->n > 0 ? text->items : "", text->n);
    if (kept != NULL)
        cell->fitted = (struct text){.bytes = kept, .length = text->n};
    return kept != NULL;
}

static size_t common_bytes(struct text a, struct text b)
{
    size_t n = 0;
    while (n < a.length && n < b.length && a.bytes[n] == b.bytes[n])
        n++;
    return n;
}

/* The word in which name `i` parts from all others: as they are sorted, from its neighbours. Empty
 * where others go on and this one ends. */
static struct text differing_word(struct name_cell *const *cells, size_t n, size_t i)
{
    struct text name = cells[i]->name;
    size_t before = i > 0 ? common_bytes(name, cells[i - 1]->name) : 0;
    size_t next = i + 1 < n ? common_bytes(name, cells[i + 1]->name) : 0;
    size_t start = before > next ? before : next;
    if (start == name.length)
        return (struct text){.bytes = name.bytes};
    size_t end = start + (name.bytes[start] != '>'); /* "int" of "int>" */
    while (start > 0 && (is_name_char(name.bytes[start - 1]) || name.bytes[start - 1] == ':'))
        start--;
    while (end > start && end < name.length && is_name_char(name.bytes[end - 1]) &&
           (is_name_char(name.bytes[end]) || name.bytes[end] == ':'))
        end++;
    return (struct text){.bytes = name.bytes + start, .length = end - start};
}

/* "NAME [DIFFERENCE]". */
static bool cell_tell_apart(struct name_cell *cell, struct text difference,
                            const struct fitting *fitting)
{
    enum { BRACKETS = 3 };
    struct chars text = {0};
    size_t columns = fitting->columns;
    size_t most = columns / 2 > BRACKETS ? columns / 2 - BRACKETS : 0;
    if (difference.length == 0 || most < text_columns(fitting->mark))
        return true;
    size_t wanted = text_columns(difference);
    size_t room = columns - BRACKETS - (wanted < most ? wanted : most);
    bool ok = name_fit(&text, cell->name, room, fitting->mark) && chars_append(&text, " [", 2) &&
              name_fit(&text, difference, most, fitting->mark) && chars_append(&text, "]", 1) &&
              cell_keep(cell, &text, fitting->arena);
    chars_deinit(&text);
    return ok;
}

static bool is_named_as_a_neighbour(struct name_cell *const *cells, size_t n, size_t i)
{
    return (i > 0 && text_equal(cells[i]->name, cells[i - 1]->name)) ||
           (i + 1 < n && text_equal(cells[i]->name, cells[i + 1]->name));
}

/* "WORD, DIFFERENCE" */
static bool difference_extend(struct name_cell *cell, struct text word, struct arena *arena)
{
    struct chars all = {0};
    bool ok = chars_append(&all, word.bytes, word.length);
    if (ok && cell->difference.length > 0 && word.length > 0)
        ok = chars_append(&all, ", ", 2);
    ok = ok && chars_append(&all, cell->difference.bytes, cell->difference.length);
    const char *kept = ok && all.n > 0 ? arena_text(arena, all.items, all.n) : NULL;
    if (kept != NULL)
        cell->difference = (struct text){.bytes = kept, .length = all.n};
    ok = ok && (all.n == 0 || kept != NULL);
    chars_deinit(&all);
    return ok;
}

/* `n` cells that look the same, sorted by name. */
static bool cells_tell_apart(struct name_cell *const *cells, size_t n, unsigned round,
                             const struct fitting *fitting)
{
    for (size_t i = 0; i < n; i++) {
        struct text word = differing_word(cells, n, i);
        if (is_named_as_a_neighbour(cells, n, i))
            word = round == 0 ? cells[i]->detail : (struct text){.bytes = ""};
        if (!difference_extend(cells[i], word, fitting->arena) ||
            !cell_tell_apart(cells[i], cells[i]->difference, fitting))
            return false;
    }
    return true;
}

/* Has all cells that look the same tell one word more; *any: there were some. */
static bool looks_tell_apart(struct name_cell **cells, size_t n, unsigned round,
                             const struct fitting *fitting, bool *any)
{
    *any = false;
    qsort(cells, n, sizeof(struct name_cell *), fitted_compare);
    for (size_t i = 0, next = 1; i < n; i = next, next = i + 1) {
        struct text look = cells[i]->fitted; /* it changes as they are told apart */
        while (next < n && text_equal(cells[next]->fitted, look))
            next++;
        *any = *any || next - i > 1;
        if (next - i > 1 && !cells_tell_apart(cells + i, next - i, round, fitting))
            return false;
    }
    return true;
}

bool names_fit(struct name_cell *cells, size_t n, size_t columns, struct text mark,
               struct arena *arena)
{
    const struct fitting fitting = {.columns = columns, .mark = mark, .arena = arena};
    struct name_cell **sorted = calloc(n + 1, sizeof(struct name_cell *));
    bool ok = sorted != NULL, any = true;
    for (size_t i = 0; ok && i < n; i++) {
        struct chars text = {0};
        ok = name_fit(&text, cells[i].name, columns, mark) && cell_keep(&cells[i], &text, arena);
        chars_deinit(&text);
        cells[i].difference = (struct text){.bytes = ""};
        sorted[i] = &cells[i];
    }
    for (unsigned round = 0; ok && any && round < MAX_ROUNDS; round++)
        ok = looks_tell_apart(sorted, n, round, &fitting, &any);
    free(sorted);
    return ok;
}
