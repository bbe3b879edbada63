/* tree_text.c - the tree for people.
 *
 *   100.0% 1.881 s  _start
 *   100.0% 1.881 s  main
 *    56.1% 1.055 s  ├ compute
 *    56.1% 1.055 s  │ sort
 *    43.9% 0.826 s  └ read
 *
 * Most of a tree is long chains with few forks, and names are long: a row is only moved to the right
 * where the one above it has more than one child to show. */
#include "commands/tree.h"
#include "number.h"
#include "view/cells.h"
#include "view/name_fit.h"
#include "view/rows_by.h"
#include "view/width.h"

#define COLUMNS_PER_FORK ((size_t)2)

/* A node on the way to the one in work, by depth. */
struct step {
    size_t n_forks;  /* up to here                        */
    bool ends_fork;  /* the last of those shown           */
    bool makes_fork; /* it has siblings that are shown    */
};

VECTOR_DEFINE(steps, struct step)
VECTOR_DEFINE(fork_ends, bool)

struct drawing {
    const struct tree *tree;
    struct screen screen;
    struct weight_style style;
    struct arena *arena;
    struct text *names; /* by node, fitted        */
    struct steps steps;
    struct fork_ends forks; /* that the row lies in: whether its part is their last */
    bool has_self;
    size_t columns; /* for forks and name */
    size_t most_forks;
    size_t n_left_out;
};

/* ---- names ----------------------------------------------------------------------------------- */

static size_t children_shown(const struct tree *tree, uint32_t parent)
{
    size_t n = 0;
    uint32_t node = tree->calls.nodes[parent].first_child;
    for (; tree_shows(tree, node); node = tree->calls.nodes[node].next_sibling)
        n++;
    return n;
}

static bool cell_make(const struct drawing *drawing, const struct call_node *node,
                      struct name_cell *cell)
{
    const struct tree *tree = drawing->tree;
    const struct profile *profile = tree->input->profile;
    cell->name = summary_row_name(profile, tree->by, node->key);
    if (tree->by != SUMMARY_BY_FUNCTION && tree->by != SUMMARY_BY_LINE)
        return true;
    cell->detail =
        row_place(profile, tree->by, node->key,
                  drawing->columns != SIZE_MAX || tree->by == SUMMARY_BY_FUNCTION, drawing->arena);
    return cell->detail.bytes != NULL;
}

/* "name  file.c:12" */
static bool line_fit(const struct drawing *drawing, struct name_cell *cell, size_t columns,
                     struct chars *out)
{
    size_t place = text_columns(cell->detail);
    size_t left = columns == SIZE_MAX                        ? SIZE_MAX
                  : columns > place + 2 + LEAST_NAME_COLUMNS ? columns - place - 2
                                                             : LEAST_NAME_COLUMNS;
    return name_fit(out, cell->name, left, screen_mark(&drawing->screen)) &&
           chars_append(out, "  ", place > 0 ? 2 : 0) &&
           chars_append(out, cell->detail.bytes, cell->detail.length);
}

static bool cell_fit(const struct drawing *drawing, struct name_cell *cell, size_t columns)
{
    struct chars name = {0};
    name.no_memory |= drawing->tree->by == SUMMARY_BY_LINE
                          ? !line_fit(drawing, cell, columns, &name)
                          : !path_fit(&name, cell->name, columns, screen_mark(&drawing->screen));
    cell->fitted = chars_keep(&name, drawing->arena);
    return cell->fitted.bytes != NULL;
}

/* The names of all children of a node: functions that look the same are told apart. */
static bool siblings_fit(struct drawing *drawing, uint32_t parent, size_t n, size_t n_forks)
{
    const struct call_node *nodes = drawing->tree->calls.nodes;
    size_t taken = COLUMNS_PER_FORK * (size_t)min_u64(n_forks, drawing->most_forks);
    size_t columns = drawing->columns == SIZE_MAX ? SIZE_MAX : drawing->columns - taken;
    struct name_cell *cells = arena_array(drawing->arena, n + 1, sizeof *cells);
    uint32_t node = nodes[parent].first_child;
    bool ok = cells != NULL;
    for (size_t i = 0; ok && i < n; i++, node = nodes[node].next_sibling)
        ok = cell_make(drawing, &nodes[node], &cells[i]) &&
             (drawing->tree->by == SUMMARY_BY_FUNCTION || cell_fit(drawing, &cells[i], columns));
    if (ok && drawing->tree->by == SUMMARY_BY_FUNCTION)
        ok = names_fit(cells, n, columns, screen_mark(&drawing->screen), drawing->arena);
    node = nodes[parent].first_child;
    for (size_t i = 0; ok && i < n; i++, node = nodes[node].next_sibling)
        drawing->names[node] = cells[i].fitted;
    return ok;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Of a row that lies in `n` forks; it begins a part of the last one, or goes on in it. */
static void print_forks(struct drawing *drawing, size_t n, bool begins)
{
    static const char *const drawn[2][4] = {{"| ", "  ", "|-", "`-"}, {"│ ", "  ", "├ ", "└ "}};
    size_t first = n > drawing->most_forks ? n - drawing->most_forks : 0;
    screen_style(&drawing->screen, STYLE_DIM);
    for (size_t i = first; i < n; i++) {
        bool begins_here = begins && i + 1 == n;
        fputs(drawn[drawing->screen.is_utf8][2 * begins_here + drawing->forks.items[i]],
              drawing->screen.out);
    }
    screen_style(&drawing->screen, STYLE_PLAIN);
}

static void print_row(struct drawing *drawing, uint32_t id, const struct step *step)
{
    const struct call_node *node = &drawing->tree->calls.nodes[id];
    uint64_t all = drawing->tree->calls.weighed.all;
    print_weight(&drawing->screen, drawing->style, node->total, all);
    if (drawing->has_self)
        print_weight(&drawing->screen, drawing->style, node->self, all);
    print_forks(drawing, step->n_forks, step->makes_fork);
    screen_text(&drawing->screen, drawing->names[id]);
    fputc('\n', drawing->screen.out);
}

static bool row_visit(struct drawing *drawing, uint32_t id, uint32_t depth)
{
    const struct tree *tree = drawing->tree;
    const struct call_node *node = &tree->calls.nodes[id];
    struct step step = drawing->steps.items[depth - 1];
    bool is_first = tree->calls.nodes[node->parent].first_child == id;
    step.ends_fork = !tree_shows(tree, node->next_sibling);
    step.makes_fork = !is_first || !step.ends_fork;
    step.n_forks += step.makes_fork;
    if (is_first &&
        !siblings_fit(drawing, node->parent, children_shown(tree, node->parent), step.n_forks))
        return false;
    drawing->steps.n = depth;
    drawing->forks.n = step.n_forks - step.makes_fork;
    if (!steps_push(&drawing->steps, step) ||
        (step.makes_fork && !fork_ends_push(&drawing->forks, step.ends_fork)))
        return false;
    print_row(drawing, id, &step);
    return true;
}

static bool print_rows(struct drawing *drawing)
{
    const struct tree *tree = drawing->tree;
    uint32_t depth = 0;
    bool is_left_out = false;
    if (!steps_push(&drawing->steps, (struct step){.n_forks = 0}))
        return false;
    for (uint32_t node = 0;
         (node = call_tree_next(&tree->calls, node, is_left_out, &depth)) != 0;) {
        is_left_out = !tree_shows(tree, node);
        drawing->n_left_out += is_left_out;
        if (!is_left_out && !row_visit(drawing, node, depth))
            return false;
    }
    return true;
}

static void print_heading(struct drawing *drawing)
{
    struct screen *screen = &drawing->screen;
    int columns = PERCENT_COLUMNS + 1 + drawing->style.columns;
    screen_style(screen, STYLE_HEADING);
    fprintf(screen->out, "%*s  ", columns, "total");
    if (drawing->has_self)
        fprintf(screen->out, "%*s  ", columns, "self");
    fprintf(screen->out, "%s%s", rows_by_word(drawing->tree->by),
            drawing->tree->direction == CALL_TREE_UP ? ", below it its callers" : "");
    screen_style(screen, STYLE_PLAIN);
    fputc('\n', screen->out);
}

/* How much room there is, and what it is for. */
static void layout(struct drawing *drawing)
{
    const struct tree *tree = drawing->tree;
    const struct screen *screen = &drawing->screen;
    drawing->style = weight_style_for(tree->calls.weighed.unit, tree->calls.weighed.all);
    drawing->has_self = tree->direction == CALL_TREE_DOWN && screen->columns >= WIDE_COLUMNS;
    size_t weight = weight_cell_columns(drawing->style);
    drawing->columns = columns_left(screen, drawing->has_self ? 2 * weight : weight);
    drawing->most_forks = drawing->columns == SIZE_MAX
                              ? SIZE_MAX
                              : (drawing->columns - LEAST_NAME_COLUMNS) / COLUMNS_PER_FORK;
}

/* The limit is a part of what the tree is of, which the percentages of its rows need not be of. */
static void print_left_out(struct drawing *drawing)
{
    const struct tree *tree = drawing->tree;
    if (drawing->n_left_out > 0)
        print_remark(&drawing->screen, "%zu branch%s below %s%%%s left out; --min 0 shows all",
                     drawing->n_left_out, drawing->n_left_out == 1 ? "" : "es",
                     tree->options->values[OPTION_MIN],
                     tree->from != NULL ? " of the function's total" : "");
}

static bool draw(struct drawing *drawing)
{
    const struct tree *tree = drawing->tree;
    struct screen *screen = &drawing->screen;
    layout(drawing);
    print_title(screen, tree->input, &tree->calls.weighed);
    if (tree->calls.nodes[0].total == 0) {
        if (tree->from != NULL)
            print_no_samples_in_function(screen, tree->input);
        else
            fputs(tree->calls.weighed.idle == 0 ? "no samples\n"
                                                : "no samples of threads that ran\n",
                  screen->out);
        return true;
    }
    print_heading(drawing);
    drawing->names = arena_array(drawing->arena, tree->calls.n, sizeof *drawing->names);
    if (drawing->names == NULL || !print_rows(drawing))
        return false;
    print_left_out(drawing);
    return true;
}

bool tree_print_text(const struct tree *tree, struct err *err)
{
    struct drawing drawing = {.tree = tree};
    if (!screen_open(&drawing.screen, err))
        return false;
    drawing.arena = arena_create();
    bool ok = drawing.arena != NULL && draw(&drawing);
    if (!ok)
        err_fail_memory(err);
    arena_destroy(drawing.arena);
    steps_deinit(&drawing.steps);
    fork_ends_deinit(&drawing.forks);
    return screen_close(&drawing.screen, err) && ok;
}
