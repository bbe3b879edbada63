/* list_code_text.c - instructions of functions for people.
 *
 *   /usr/bin/app: 1040 to 10f0, 0.92 s
 *      self     total  address
 *                              work.c:14  for (int i = 0; i < n; i++)
 *         .         .     1052   cmp    $0x10, %eax
 *    0.80 s    0.80 s     1055 > imul   %rax, %rdx
 *
 * ">" marks the hot ones. A function has thousands of instructions, of which few matter: those that
 * have little are left out where they are far from others, with the sum of what they have. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "list/list_text.h"
#include "number.h"
#include "saturated.h"
#include "text.h"

#define HOT_PART 10       /* of the piece's self: one in so many */
#define SHOWN_PART 200    /* the same, of what an instruction needs to be shown */
#define LEAST_LEFT_OUT 2u /* instructions of a gap are shown if they are no more */
#define MOST_PIECES 3u    /* ... and pieces, but those with little */
#define MARK_COLUMNS 2u

VECTOR_DEFINE(source_vector, struct source *)
VECTOR_DEFINE(source_names, struct text)

/* Sources of the instructions of a function: code inlined from many files. */
struct sources {
    struct source_vector all;
    struct source_names names;
};

/* A piece while it is printed. */
struct printing {
    struct listing *listing;
    const struct summary_row *row; /* the function it is of */
    const struct list_piece *piece;
    struct sources *sources;
    const uint8_t *is_shown; /* by instruction */
};

/* ---- source lines ---------------------------------------------------------------------------- */

static void sources_deinit(struct sources *sources)
{
    for (size_t i = 0; i < sources->all.n; i++) {
        source_deinit(sources->all.items[i]);
        free(sources->all.items[i]);
    }
    source_vector_deinit(&sources->all);
    source_names_deinit(&sources->names);
}

/* NULL when out of memory. */
static const struct source *source_for(struct printing *printing, struct text name, struct err *err)
{
    struct sources *sources = printing->sources;
    const struct list *list = printing->listing->list;
    for (size_t i = 0; i < sources->all.n; i++)
        if (text_equal(sources->names.items[i], name))
            return sources->all.items[i];
    struct source *source = calloc(1, sizeof *source);
    if (source == NULL || !source_vector_reserve(&sources->all, 1) ||
        !source_names_reserve(&sources->names, 1)) {
        free(source);
        err_fail_memory(err);
        return NULL;
    }
    source_vector_push(&sources->all, source);
    source_names_push(&sources->names, name);
    return source_init(source, list->input->profile, name,
                       list->options->values[OPTION_SOURCE_PATH], err)
               ? source
               : NULL;
}

static void print_blanks(struct screen *screen, size_t n)
{
    fprintf(screen->out, "%*s", (int)n, "");
}

static size_t address_end(const struct listing *listing)
{
    return 2 * ((size_t)listing_weight_columns(listing) + 2) + (size_t)listing->number_columns + 1;
}

static struct text without_indent(struct text line)
{
    size_t n = 0;
    while (n < line.length && (line.bytes[n] == ' ' || line.bytes[n] == '\t'))
        n++;
    return text_from(line, n);
}

/* "work.c:14  for (...)". */
static bool print_line(struct printing *printing, const struct code_instruction *instruction,
                       struct err *err)
{
    struct listing *listing = printing->listing;
    struct screen *screen = &listing->screen;
    const struct source *source = source_for(printing, instruction->file, err);
    if (source == NULL)
        return false;
    struct text name = text_base_name(instruction->file);
    char place[64];
    int n = snprintf(place, sizeof place, "%.*s:%u", (int)min_u64(name.length, 40), name.bytes,
                     instruction->line);
    struct text text = without_indent(source_line(source, instruction->line));
    size_t used = address_end(listing);
    print_blanks(screen, used);
    screen_style(screen, STYLE_DIM);
    screen_text(screen, (struct text){place, (size_t)n});
    if (text.length > 0) {
        print_blanks(screen, 2);
        listing_print_text(listing, text, columns_left(screen, used + (size_t)n + 2));
    }
    screen_style(screen, STYLE_PLAIN);
    fputc('\n', screen->out);
    return true;
}

/* ---- instructions ---------------------------------------------------------------------------- */

static bool is_hot(const struct list_piece *piece, uint64_t self)
{
    return self != 0 && self >= piece->self / HOT_PART;
}

static void print_instruction(struct printing *printing, size_t i)
{
    struct listing *listing = printing->listing;
    struct screen *screen = &listing->screen;
    const struct list_piece *piece = printing->piece;
    const struct instruction_weight *weight = &piece->weights[i];
    const struct code_instruction *instruction =
        &piece->code->instructions[piece->function->first + i];
    listing_print_number(listing, weight->self);
    listing_print_number(listing, weight->total);
    screen_style(screen, STYLE_DIM);
    fprintf(screen->out, "%*" PRIx64 " ", listing->number_columns, instruction->vaddr);
    screen_style(screen, is_hot(piece, weight->self) ? STYLE_HOT : STYLE_PLAIN);
    fputs(is_hot(piece, weight->self) ? "> " : "  ", screen->out);
    listing_print_text(listing, instruction->text,
                       columns_left(screen, address_end(listing) + MARK_COLUMNS));
    screen_style(screen, STYLE_PLAIN);
    fputc('\n', screen->out);
}

/* `n` instructions from the first one on. */
static void print_left_out(struct printing *printing, size_t first, size_t n)
{
    struct listing *listing = printing->listing;
    uint64_t self = 0;
    for (size_t i = first; i < first + n; i++)
        add_to(&self, printing->piece->weights[i].self);
    listing_print_number(listing, self);
    print_blanks(&listing->screen, (size_t)listing_weight_columns(listing) + 2);
    print_remark(&listing->screen, "%*s   %zu instruction%s", listing->number_columns, "...", n,
                 n == 1 ? "" : "s");
}

static bool is_same_line(const struct code_instruction *a, const struct code_instruction *b)
{
    return a->line == b->line && text_equal(a->file, b->file);
}

static bool print_instructions(struct printing *printing, struct err *err)
{
    const struct code_function *function = printing->piece->function;
    const struct code_instruction *all = printing->piece->code->instructions + function->first;
    const struct code_instruction *before = NULL;
    for (size_t i = 0; i < function->n; i++) {
        size_t first = i;
        while (i < function->n && printing->is_shown[i] == 0)
            i++;
        if (i > first) {
            print_left_out(printing, first, i - first);
            before = NULL;
        }
        if (i == function->n)
            break;
        if (all[i].line != 0 && (before == NULL || !is_same_line(before, &all[i])) &&
            !print_line(printing, &all[i], err))
            return false;
        before = &all[i];
        print_instruction(printing, i);
    }
    return true;
}

/* No remark in place of what takes no more room. */
static void gaps_fill(uint8_t *is_shown, size_t n)
{
    size_t first = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_shown[i] == 0)
            continue;
        if (i - first <= LEAST_LEFT_OUT)
            memset(is_shown + first, 1, i - first);
        first = i + 1;
    }
    if (n - first <= LEAST_LEFT_OUT)
        memset(is_shown + first, 1, n - first);
}

/* Those with enough weight, and what is near them. */
static void shown_mark(const struct list_piece *piece, uint8_t *is_shown)
{
    size_t n = piece->function->n, until = 0;
    for (size_t i = 0; i < n; i++) {
        const struct instruction_weight *weight = &piece->weights[i];
        bool is_enough = (weight->self != 0 && weight->self >= piece->self / SHOWN_PART) ||
                         (weight->total != 0 && weight->total >= piece->total_most / SHOWN_PART);
        if (!is_enough)
            continue;
        size_t from = i > LIST_CONTEXT ? i - LIST_CONTEXT : 0;
        for (size_t k = max_u64(from, until); k < n && k <= i + LIST_CONTEXT; k++)
            is_shown[k] = 1;
        until = i;
    }
    gaps_fill(is_shown, n);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Whose code it is; false when out of memory. */
static bool print_place(struct printing *printing)
{
    struct listing *listing = printing->listing;
    struct screen *screen = &listing->screen;
    const struct profile *profile = listing->list->input->profile;
    const struct list_piece *piece = printing->piece;
    char last[32], range[80];
    int columns = snprintf(last, sizeof last, "%" PRIx64, piece->function->end);
    listing->number_columns = columns < 7 ? 7 : columns; /* "address" stands above them */
    if (!listing_print_path(listing, profile_text(profile, profile->modules[piece->module].path)))
        return false;
    int used = snprintf(range, sizeof range, "%" PRIx64 " to %s", piece->function->start, last);
    fputs(range, screen->out);
    if (piece->inlined_into != 0) {
        fputs(" in ", screen->out);
        if (!listing_print_name(listing, piece->inlined_into, (size_t)used + strlen(" in ")))
            return false;
        fputc('\n', screen->out);
    } else {
        fputs(", ", screen->out);
    }
    listing_print_sum(listing, "self", piece->self);
    if (piece->self > printing->row->self)
        fputs(" with what is inlined", screen->out);
    fputc('\n', screen->out);
    return true;
}

static bool print_piece(struct printing *printing, struct err *err)
{
    if (!print_place(printing)) {
        err_fail_memory(err);
        return false;
    }
    listing_print_heading(printing->listing, "address");
    return print_instructions(printing, err);
}

static bool piece_show(struct printing *printing, const struct list_piece *piece, struct err *err)
{
    uint8_t *is_shown = calloc(piece->function->n + 1, 1);
    bool ok = is_shown != NULL;
    printing->piece = piece;
    printing->is_shown = is_shown;
    if (ok) {
        shown_mark(piece, is_shown);
        ok = print_piece(printing, err);
    } else {
        err_fail_memory(err);
    }
    free(is_shown);
    return ok;
}

static void print_missing(struct listing *listing, const struct list_pieces *pieces)
{
    const struct list_module *module = &listing->list->code.modules[pieces->missing_module];
    char why[512];
    if (pieces->missing_module == 0)
        return;
    listing_print_sum(listing, "self in code that is not here", pieces->self_elsewhere);
    fputc('\n', listing->screen.out);
    if (module->err.code != ERR_NONE)
        print_remark(&listing->screen, "%s", err_describe(&module->err, why, sizeof why));
}

static bool pieces_show(struct listing *listing, const struct list_pieces *pieces,
                        const struct summary_row *row, struct err *err)
{
    struct sources sources = {.all = {0}};
    struct printing printing = {.listing = listing, .row = row, .sources = &sources};
    uint64_t most = pieces->all.n > 0 ? pieces->all.items[0].self : 0, left_out = 0;
    size_t n_left_out = 0;
    bool ok = true;
    listing->indent = 0;
    for (size_t i = 0; ok && i < pieces->all.n; i++) {
        const struct list_piece *piece = &pieces->all.items[i];
        if (i < MOST_PIECES || (most != 0 && piece->self >= most / HOT_PART)) {
            ok = piece_show(&printing, piece, err);
        } else {
            add_to(&left_out, piece->self);
            n_left_out++;
        }
    }
    sources_deinit(&sources);
    if (n_left_out > 0) {
        listing_print_sum(listing, "left out: self", left_out);
        fprintf(listing->screen.out, " in %zu more place%s\n", n_left_out,
                n_left_out == 1 ? "" : "s");
    }
    print_missing(listing, pieces);
    return ok;
}

bool list_code_show(struct listing *listing, const struct summary_row *row, struct err *err)
{
    struct list_pieces pieces;
    bool ok = list_pieces_init(&pieces, &listing->list->code, row->key.id);
    if (ok)
        ok = pieces_show(listing, &pieces, row, err);
    else
        err_fail_memory(err);
    list_pieces_deinit(&pieces);
    return ok;
}
