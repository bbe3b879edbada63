/* select.c - see select.h.
 *
 * Each condition is decided once for each function, thread, process or label, then once for each
 * stack (parents come first in the table, so a stack needs its parent's answer and its own frame's);
 * a sample costs two look-ups. */
#include "select/select.h"

#include <stdlib.h>
#include <string.h>

#include "append.h"
#include "model/convert.h"
#include "model/copy.h"
#include "number.h"
#include "select/match.h"
#include "select/my_code.h"

/* Of an error. */
#define LIST_NAMES 6u
#define LIST_NAME_BYTES 20u

/* ---- patterns -------------------------------------------------------------------------------- */

/* Of threads, processes and labels. */
struct row_pattern {
    struct match match;
    bool is_number;
    uint64_t number;
};

static bool is_all_digits(const char *text)
{
    return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

static bool row_pattern_init(struct row_pattern *pattern, const char *option, const char *text,
                             bool has_ids, struct err *err)
{
    *pattern = (struct row_pattern){.match = {.option = option, .text = text}};
    pattern->is_number = text != NULL && has_ids && is_all_digits(text);
    pattern->number = pattern->is_number ? strtoull(text, NULL, 10) : 0;
    return pattern->is_number || match_init(&pattern->match, option, text, err);
}

static bool row_is_met(const struct row_pattern *pattern, uint64_t number, struct text name)
{
    if (pattern->match.text == NULL)
        return true;
    return pattern->is_number ? number == pattern->number : match_text(&pattern->match, name);
}

/* ---- decisions ------------------------------------------------------------------------------- */

enum mark {
    MARK_FOCUS = 1,  /* the frame, or one it was called from, is in focus */
    MARK_IGNORE = 2, /* ... is to be ignored                              */
    MARK_HIDE = 4,   /* the frame itself                                  */
};

struct selecting {
    const struct profile *in;
    const struct selection *selection;
    struct match focus, ignore, hide;
    struct row_pattern thread, process, label;
    uint8_t *function_marks;
    uint8_t *stack_marks;
    uint32_t *labels;    /* function, by stack */
    bool *wanted_labels; /* by function */
    bool *wanted_threads;
    uint32_t *stacks; /* new ones by old ones; NULL: nothing is hidden */
    struct profile_builder *builder;
};

static bool patterns_make(struct selecting *s, struct err *err)
{
    const struct selection *want = s->selection;
    if (want->from_ns >= want->to_ns)
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "--to is not after --from");
    return match_init(&s->focus, "--focus", want->focus, err) &&
           match_init(&s->ignore, "--ignore", want->ignore, err) &&
           match_init(&s->hide, "--hide", want->hide, err) &&
           row_pattern_init(&s->thread, "--thread", want->thread, true, err) &&
           row_pattern_init(&s->process, "--process", want->process, true, err) &&
           row_pattern_init(&s->label, "--label", want->label, false, err);
}

static void selecting_deinit(struct selecting *s)
{
    match_deinit(&s->focus);
    match_deinit(&s->ignore);
    match_deinit(&s->hide);
    match_deinit(&s->thread.match);
    match_deinit(&s->process.match);
    match_deinit(&s->label.match);
    free(s->function_marks);
    free(s->stack_marks);
    free(s->labels);
    free(s->wanted_labels);
    free(s->wanted_threads);
    free(s->stacks);
    profile_builder_destroy(s->builder);
}

static bool tables_alloc(struct selecting *s, struct err *err)
{
    const struct profile *in = s->in;
    s->function_marks = calloc(in->n_functions, sizeof *s->function_marks);
    s->stack_marks = calloc(in->n_stacks, sizeof *s->stack_marks);
    s->labels = calloc(in->n_stacks, sizeof *s->labels);
    s->wanted_labels = calloc(in->n_functions, sizeof *s->wanted_labels);
    s->wanted_threads = calloc(in->n_threads, sizeof *s->wanted_threads);
    bool hides = s->hide.text != NULL || s->selection->my_code;
    s->stacks = hides ? calloc(in->n_stacks, sizeof *s->stacks) : NULL;
    bool ok = s->function_marks != NULL && s->stack_marks != NULL && s->labels != NULL &&
              s->wanted_labels != NULL && s->wanted_threads != NULL &&
              (!hides || s->stacks != NULL);
    return ok || err_fail_memory(err);
}

static bool mark_functions(struct selecting *s, struct err *err)
{
    return match_mark_pattern(&s->focus, s->in, s->function_marks, MARK_FOCUS, err) &&
           match_mark_pattern(&s->ignore, s->in, s->function_marks, MARK_IGNORE, err) &&
           match_mark_pattern(&s->hide, s->in, s->function_marks, MARK_HIDE, err) &&
           (!s->selection->my_code ||
            my_code_mark_others(s->in, s->function_marks, MARK_HIDE, err));
}

static void mark_stacks(struct selecting *s)
{
    const struct profile *in = s->in;
    for (uint32_t id = 1; id < in->n_stacks; id++) {
        const struct profile_stack *stack = &in->stacks[id];
        const struct profile_frame *frame = &in->frames[stack->frame];
        s->stack_marks[id] = (uint8_t)((s->stack_marks[stack->parent] & ~MARK_HIDE) |
                                       s->function_marks[frame->function]);
        if (s->label.match.text != NULL)
            s->labels[id] = profile_stack_label(in, id);
    }
}

/* What there is, for an error: "make (301), cc1plus (302 and 5 more)". */
struct list {
    struct listed {
        struct text name;
        uint64_t id; /* of the first, 0: none */
        size_t n;    /* of this name          */
    } items[LIST_NAMES];
    size_t n;
    bool has_more;
};

static void list_add(struct list *list, struct text name, uint64_t id)
{
    for (size_t i = 0; i < list->n; i++)
        if (text_equal(list->items[i].name, name)) {
            list->items[i].n++;
            return;
        }
    if (list->n == LIST_NAMES)
        list->has_more = true;
    else
        list->items[list->n++] = (struct listed){.name = name, .id = id, .n = 1};
}

static void list_join(const struct list *list, char *out, size_t out_bytes)
{
    size_t used = 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct listed *item = &list->items[i];
        append(out, out_bytes, &used, i == 0 ? "" : ", ");
        append(out, out_bytes, &used, "%.*s", (int)min_u64(item->name.length, LIST_NAME_BYTES),
               item->name.bytes);
        if (item->id != 0)
            append(out, out_bytes, &used, " (%llu", (unsigned long long)item->id);
        if (item->id != 0 && item->n > 1)
            append(out, out_bytes, &used, " and %zu more", item->n - 1);
        append(out, out_bytes, &used, item->id != 0 ? ")" : "");
    }
    if (list->has_more)
        append(out, out_bytes, &used, ", ...");
}

static bool refuse_with_list(const struct match *match, const char *what, const struct list *list,
                             struct err *err)
{
    char names[LIST_NAMES * (LIST_NAME_BYTES + 40)];
    bool is_one = list->n == 1 && list->items[0].n == 1;
    if (list->n == 0)
        return err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET, "%s '%.60s': has no %s%s",
                        match->option, match->text, what,
                        what[strlen(what) - 1] == 's' ? "es" : "s");
    list_join(list, names, sizeof names);
    return err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET, "%s '%.60s': no %s matches; there %s %s",
                    match->option, match->text, what, is_one ? "is" : "are", names);
}

static struct text thread_name(const struct profile *in, uint32_t id)
{
    const struct profile_thread *thread = &in->threads[id];
    uint32_t name = thread->name != 0 ? thread->name : in->processes[thread->process].name;
    return profile_text(in, name);
}

static bool mark_threads(struct selecting *s, struct err *err)
{
    const struct profile *in = s->in;
    struct list threads = {0}, processes = {0};
    bool any_thread = false, any_process = false;
    uint32_t last_process = 0;
    for (uint32_t id = 0; id < in->n_threads; id++) {
        const struct profile_thread *thread = &in->threads[id];
        const struct profile_process *process = &in->processes[thread->process];
        struct text process_name = profile_text(in, process->name);
        bool is_thread = row_is_met(&s->thread, thread->tid, thread_name(in, id));
        bool is_process = row_is_met(&s->process, process->pid, process_name);
        s->wanted_threads[id] = is_thread && is_process;
        if (id == 0)
            continue; /* of formats without threads: nobody's */
        any_thread = any_thread || is_thread;
        any_process = any_process || is_process;
        list_add(&threads, thread_name(in, id), thread->tid);
        if (thread->process != last_process)
            list_add(&processes, process_name, process->pid);
        last_process = thread->process;
    }
    if (!any_thread && s->thread.match.text != NULL)
        return refuse_with_list(&s->thread.match, "thread", &threads, err);
    if (!any_process && s->process.match.text != NULL)
        return refuse_with_list(&s->process.match, "process", &processes, err);
    return true;
}

static bool mark_labels(struct selecting *s, struct err *err)
{
    const struct profile *in = s->in;
    struct list labels = {0};
    bool any = s->label.match.text == NULL;
    for (uint32_t id = 1; id < in->n_stacks && s->label.match.text != NULL; id++) {
        const struct profile_stack *stack = &in->stacks[id];
        uint32_t label = s->labels[id];
        if (stack->parent != 0 || label == 0)
            continue;
        s->wanted_labels[label] = match_text(&s->label.match, match_function_name(in, label));
        any = any || s->wanted_labels[label];
        list_add(&labels, match_function_name(in, label), 0);
    }
    return any || refuse_with_list(&s->label.match, "label", &labels, err);
}

/* ---- the samples ----------------------------------------------------------------------------- */

/* A stack loses its hidden frames. Of one that loses all of them something must be seen. */
static void hide_frames(struct selecting *s)
{
    static const char NAME[] = "[hidden]";
    const struct profile *in = s->in;
    uint32_t frame = profile_add_named_frame(s->builder, NAME, sizeof NAME - 1);
    uint32_t all_hidden = profile_add_stack(s->builder, 0, frame);
    for (uint32_t id = 1; id < in->n_stacks; id++) {
        uint32_t parent = s->stacks[in->stacks[id].parent];
        bool is_hidden = s->stack_marks[id] & MARK_HIDE;
        if (!is_hidden)
            parent = profile_add_stack(s->builder, parent == all_hidden ? 0 : parent,
                                       in->stacks[id].frame);
        else if (parent == 0)
            parent = all_hidden;
        s->stacks[id] = parent;
    }
}

static bool is_wanted(const struct selecting *s, const struct profile_sample *sample)
{
    uint8_t marks = s->stack_marks[sample->stack];
    return s->wanted_threads[sample->thread] && (s->focus.text == NULL || marks & MARK_FOCUS) &&
           !(marks & MARK_IGNORE) &&
           (s->label.match.text == NULL || s->wanted_labels[s->labels[sample->stack]]) &&
           sample->time_ns >= s->selection->from_ns &&
           (sample->time_ns < s->selection->to_ns || s->selection->to_ns == UINT64_MAX);
}

static void copy_samples(struct selecting *s)
{
    enum { BATCH = 512 };
    const struct profile *in = s->in;
    struct profile_sample samples[BATCH];
    uint64_t values[PROFILE_MAX_KINDS][BATCH];
    const uint64_t *const columns[PROFILE_MAX_KINDS] = {values[0], values[1], values[2], values[3]};
    size_t n = 0;
    for (size_t i = 0; i < in->n_samples; i++) {
        if (!is_wanted(s, &in->samples[i]))
            continue;
        samples[n] = in->samples[i];
        if (s->stacks != NULL)
            samples[n].stack = s->stacks[samples[n].stack];
        for (uint32_t kind = 0; kind < in->n_kinds; kind++)
            values[kind][n] = profile_value(in, i, kind);
        if (++n == BATCH) {
            profile_add_samples(s->builder, n, samples, columns);
            n = 0;
        }
    }
    profile_add_samples(s->builder, n, samples, columns);
}

static bool select_samples(struct selecting *s, struct profile **out, struct err *err)
{
    const struct selection *want = s->selection;
    if ((want->from_ns != 0 || want->to_ns != UINT64_MAX) && !s->in->has_times)
        return err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
                        "has no times: --from and --to need a .sprofile or a recording");
    if (!tables_alloc(s, err) || !mark_functions(s, err))
        return false;
    mark_stacks(s);
    if (!mark_threads(s, err) || !mark_labels(s, err))
        return false;
    if (!profile_builder_like(s->in, &s->builder, err))
        return false;
    if (s->stacks != NULL)
        hide_frames(s);
    copy_samples(s);
    struct profile_builder *builder = s->builder;
    s->builder = NULL; /* finish takes it in every case */
    return profile_builder_finish(builder, out, err);
}

bool selection_is_all(const struct selection *selection)
{
    return selection->focus == NULL && selection->ignore == NULL && selection->hide == NULL &&
           !selection->my_code && selection->thread == NULL && selection->process == NULL &&
           selection->label == NULL && selection->from_ns == 0 && selection->to_ns == UINT64_MAX;
}

bool selection_check(const struct selection *selection, struct err *err)
{
    struct selecting selecting = {.selection = selection};
    bool ok = patterns_make(&selecting, err);
    selecting_deinit(&selecting);
    return ok;
}

bool profile_select(const struct profile *in, const struct selection *selection,
                    struct profile **out, struct err *err)
{
    struct profile *made = NULL;
    struct selecting selecting = {.selection = selection};
    bool ok = patterns_make(&selecting, err) &&
              profile_with_samples(in, &selecting.in, &made, err) &&
              select_samples(&selecting, out, err);
    selecting_deinit(&selecting);
    profile_destroy(made);
    return ok;
}
