/* list.c - sampler list: the source text of functions, or with --asm their instructions, with self and
 * total of each line, on the terminal or as JSON. */
#include "list/list.h"

#include <stdlib.h>

#include "list/command.h"
#include "number.h"
#include "report/progress.h"
#include "report/symbol_sources.h"
#include "select/match.h"
#include "select/select.h"
#include "view/rows_by.h"

#define MOST_FUNCTIONS_UNASKED 3 /* when neither FUNC nor -n is given */

static bool has_source(const struct list *list, uint32_t function, bool *has, struct err *err)
{
    const struct profile *profile = list->input->profile;
    const char *search_path = list->options->values[OPTION_SOURCE_PATH];
    struct list_part part = {.rows = NULL};
    struct source source;
    bool ok = true;
    *has = false;
    while (ok && !*has && list_part_next(list, function, &part)) {
        if (part.rows[part.n - 1].key.line == 0)
            continue;
        ok = source_init(&source, profile, profile_text(profile, part.file), search_path, err);
        *has = ok && source.path[0] != '\0';
        source_deinit(&source);
    }
    return ok;
}

/* `marks`: the functions of FUNC; NULL: any. */
static bool choose(struct list *list, const uint8_t *marks, bool needs_source, struct err *err)
{
    size_t most = (size_t)options_number(list->options, OPTION_ROWS);
    if (marks == NULL && !list->options->given[OPTION_ROWS])
        most = MOST_FUNCTIONS_UNASKED;
    for (size_t i = 0; i < list->functions.n; i++) {
        const struct summary_row *row = &list->functions.rows[i];
        bool is_meant =
            list->with_code ? list->has_code[row->key.id] != 0 : list_has_lines(list, row->key.id);
        if ((marks != NULL && marks[row->key.id] == 0) || row->total == 0)
            continue;
        if (marks == NULL && most != 0 && list->n_meant == most)
            break;
        if (is_meant && needs_source && !has_source(list, row->key.id, &is_meant, err))
            return false;
        if (is_meant) {
            list->meant[list->n_meant++] = row;
        } else {
            if (list->left_out == NULL) {
                list->left_out = row;
                list->left_out_leads = list->n_meant == 0;
            }
            list->n_left_out++;
            list->left_out_self += row->self;
        }
    }
    list->n_shown = most == 0 || most > list->n_meant ? list->n_meant : most;
    return true;
}

/* The self of functions when time in libraries stands where the user's own code called them. Nothing
 * of it is known where a profile has no such code (my_code.h). */
static bool own_self_find(struct list *list, struct err *err)
{
    struct selection selection = SELECTION_ALL;
    struct profile *own = NULL;
    struct summary summary;
    selection.my_code = true;
    if (!profile_select(list->input->profile, &selection, &own, err)) {
        bool is_none = err->code == ERR_UNSUPPORTED;
        *err = is_none ? (struct err)ERR_INIT : *err;
        return is_none;
    }
    uint64_t *selves = calloc(own->n_functions, sizeof *selves);
    bool ok = summary_init(&summary, own, SUMMARY_BY_FUNCTION, err) &&
              (selves != NULL || err_fail_memory(err));
    for (size_t i = 0; ok && selves != NULL && i < summary.n; i++)
        selves[summary.rows[i].key.id] = summary.rows[i].self;
    list->own_self = selves;
    summary_deinit(&summary);
    profile_destroy(own);
    return ok;
}

static int own_first(const void *left, const void *right, void *own_self)
{
    const struct summary_row *a = left, *b = right;
    const uint64_t *selves = own_self;
    int order = compare_u64(selves[b->key.id], selves[a->key.id]);
    return order != 0 ? order : compare_u64(b->self, a->self);
}

/* Those of the user's own code in which, or in whose calls of libraries, most time was spent: what a
 * person can change. Without such code those with most self. */
static bool choose_unasked(struct list *list, struct err *err)
{
    if (!own_self_find(list, err))
        return false;
    if (list->own_self != NULL)
        qsort_r(list->functions.rows, list->functions.n, sizeof *list->functions.rows, own_first,
                list->own_self);
    if (!choose(list, NULL, !list->with_code, err))
        return false;
    if (list->n_meant > 0)
        return true;
    list->left_out = NULL;
    list->left_out_leads = false;
    list->n_left_out = 0;
    list->left_out_self = 0;
    return choose(list, NULL, false, err);
}

/* Nothing to show though there are samples. */
static bool refuse(const struct list *list, struct err *err)
{
    const struct profile *profile = list->input->profile;
    struct summary_key key = list->left_out->key;
    struct text name = summary_row_name(profile, SUMMARY_BY_FUNCTION, key);
    struct text module =
        profile_text(profile, profile->modules[profile->functions[key.id].module].path);
    if (list->with_code)
        err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
                 "no addresses are known of %.*s: of code in files, recordings and .sprofile files "
                 "keep them",
                 (int)min_u64(name.length, 60), name.bytes);
    else
        err_fail(
            err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
            "no lines are known of %.*s: %.*s has no debug information (-g), or had none where the "
            "profile was made",
            (int)min_u64(name.length, 60), name.bytes, (int)min_u64(module.length, 90),
            module.length > 0 ? module.bytes : "");
    return input_name_file(list->input, err);
}

static bool print(const struct list *list, struct err *err)
{
    return options_flag(list->options, OPTION_JSON) ? list_print_json(list, err)
                                                    : list_print_text(list, err);
}

/* A function that was asked for, none of whose code is here. */
static bool has_any_code(const struct list *list, struct err *err)
{
    const struct list_code *code = &list->code;
    const struct err *why = NULL;
    for (size_t i = 0; i < code->n_modules; i++) {
        if (code->modules[i].code != NULL && code->modules[i].code->n_functions > 0)
            return true;
        if (code->modules[i].err.code != ERR_NONE && why == NULL)
            why = &code->modules[i].err;
    }
    if (why == NULL)
        return true;
    *err = *why;
    return false;
}

static bool print_with_code(struct list *list, struct err *err)
{
    const struct profile *profile = list->input->profile;
    uint8_t *is_shown = calloc(profile->n_functions, 1);
    if (is_shown == NULL) {
        err_fail_memory(err);
        return false;
    }
    for (size_t i = 0; i < list->n_shown; i++)
        is_shown[list->meant[i]->key.id] = 1;
    struct symbol_sources sources = symbol_sources_open(list->options);
    const struct code_options options = {.is_intel = options_flag(list->options, OPTION_INTEL),
                                         .sources = sources};
    struct progress *progress =
        progress_start_described("reading code", symbol_sources_describe, &sources);
    bool ok = list_code_init(&list->code, profile, is_shown, &options, err);
    progress_stop(progress);
    ok = ok && (list->n_shown == 0 || has_any_code(list, err)) && print(list, err);
    symbol_sources_close(&sources);
    list_code_deinit(&list->code);
    free(is_shown);
    return ok;
}

static bool show_functions(struct list *list, const uint8_t *marks, struct err *err)
{
    list->meant = calloc(list->functions.n + 1, sizeof(const struct summary_row *));
    if (list->meant == NULL) {
        err_fail_memory(err);
        return false;
    }
    if (list->asked != NULL)
        summary_sort_by_total(&list->functions);
    list_lines_sort(&list->lines);
    bool ok = marks != NULL ? choose(list, marks, false, err) : choose_unasked(list, err);
    if (ok && list->n_shown == 0 && list->left_out != NULL)
        ok = refuse(list, err);
    else if (ok)
        ok = list->with_code ? print_with_code(list, err) : print(list, err);
    free(list->meant);
    free(list->own_self);
    return ok;
}

static bool show(struct list *list, const uint8_t *marks, struct err *err)
{
    const struct profile *profile = list->input->profile;
    list->has_code = calloc(profile->n_functions, 1);
    if (list->has_code == NULL) {
        err_fail_memory(err);
        return false;
    }
    code_weights_mark_known(profile, list->has_code);
    bool ok = summary_init(&list->functions, profile, SUMMARY_BY_FUNCTION, err) &&
              summary_init(&list->lines, profile, SUMMARY_BY_LINE, err) &&
              show_functions(list, marks, err);
    summary_deinit(&list->functions);
    summary_deinit(&list->lines);
    free(list->has_code);
    return ok;
}

static bool mark(const struct list *list, uint8_t *marks, struct err *err)
{
    struct match match;
    bool ok = match_init(&match, "list", list->asked, err) &&
              (match_mark_name(&match, list->input->profile, marks, 1, err) ||
               input_name_file(list->input, err));
    match_deinit(&match);
    return ok;
}

static bool show_asked(struct list *list, struct err *err)
{
    uint8_t *marks = calloc(list->input->profile->n_functions, 1);
    if (marks == NULL) {
        err_fail_memory(err);
        return false;
    }
    bool ok = mark(list, marks, err) && show(list, marks, err);
    free(marks);
    return ok;
}

int command_list(const struct options *options)
{
    struct err err = ERR_INIT;
    struct input input;
    bool ok = input_load(options, &input, &err);
    if (ok) {
        struct list list = {.options = options,
                            .input = &input,
                            .asked = options->name,
                            .with_code = options_flag(options, OPTION_ASM) ||
                                         options_flag(options, OPTION_INTEL)};
        ok = (list.with_code || rows_by_check(&input, SUMMARY_BY_LINE, &err)) &&
             (list.asked == NULL ? show(&list, NULL, &err) : show_asked(&list, &err));
    }
    input_unload(&input);
    return view_status(ok, &err);
}
