/* convert.c - see convert.h.
 *
 *   time line        one pass over the samples, a few words of state: slices of each thread in
 *                    order
 *   spans            the stack of open spans; two neighbouring slices are compared from the
 *                    outermost frame on, and what they have in common stays open
 *   whole profiles   the tables copied into a new builder, then spans from slices or samples from
 *                    spans
 *
 * Stacks are ids with parents: where two paths have the same id at one depth, all below is
 * equal, so a slice costs only the frames in which it differs from the one before. */
#include "model/convert.h"

#include <stdlib.h>

#include "model/copy.h"
#include "number.h"
#include "saturated.h"
#include "vector.h"

uint32_t profile_kind_find(const struct profile *profile, enum profile_unit unit)
{
    uint32_t kind = 0;
    while (kind < profile->n_kinds && profile->kinds[kind].unit != unit)
        kind++;
    return kind;
}

/* What tells how long samples are. */
static struct profile_lengths lengths_find(const struct profile *profile)
{
    struct profile_lengths lengths = {.kind = profile_kind_find(profile, PROFILE_UNIT_NS),
                                      .ns_each = 1};
    if (lengths.kind < profile->n_kinds)
        return lengths;
    lengths.kind = profile_kind_find(profile, PROFILE_UNIT_COUNT);
    if (lengths.kind == profile->n_kinds)
        lengths.ns_each = 0;
    else
        lengths.ns_each = profile->period != 0 ? profile->period : CONVERT_UNKNOWN_PERIOD_NS;
    return lengths;
}

bool profile_counts_events(const struct profile *profile)
{
    return profile->n_kinds > 0 && profile->kinds[0].unit == PROFILE_UNIT_EVENTS &&
           profile_kind_find(profile, PROFILE_UNIT_NS) == profile->n_kinds &&
           profile_kind_find(profile, PROFILE_UNIT_COUNT) == profile->n_kinds;
}

void convert_note_events(const struct profile *profile, const struct format_notes *notes)
{
    if (profile->n_samples == 0 || !profile_counts_events(profile))
        return;
    struct text name = profile_text(profile, profile->kinds[0].name);
    format_note(notes,
                "the format knows only time: 1 us stands for one of %.*s, laid end to end; the "
                "times say nothing else",
                (int)name.length, name.bytes);
}

/* What tells how long samples are on the line of their thread. */
static struct profile_lengths line_lengths_find(const struct profile *profile)
{
    if (profile_counts_events(profile))
        return (struct profile_lengths){.kind = 0, .ns_each = CONVERT_EVENT_NS};
    return lengths_find(profile);
}

static uint64_t length_ns(const struct profile *profile, struct profile_lengths lengths,
                          size_t index)
{
    return lengths.ns_each == 0
               ? 0
               : multiply_saturated(profile_value(profile, index, lengths.kind), lengths.ns_each);
}

uint64_t profile_sample_ns(const struct profile *profile, size_t index)
{
    return length_ns(profile, lengths_find(profile), index);
}

/* The first sample of `thread` or of a later one. */
static size_t first_sample(const struct profile *profile, uint64_t thread)
{
    size_t low = 0, high = profile->n_samples;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (profile->samples[middle].thread < thread)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct profile_timeline profile_timeline_make(const struct profile *profile)
{
    return (struct profile_timeline){
        .profile = profile, .lengths = line_lengths_find(profile), .end = profile->n_samples};
}

struct profile_timeline profile_timeline_make_thread(const struct profile *profile, uint32_t thread)
{
    return (struct profile_timeline){.profile = profile,
                                     .lengths = line_lengths_find(profile),
                                     .next = first_sample(profile, thread),
                                     .end = first_sample(profile, (uint64_t)thread + 1)};
}

/* A sample taken at its time, for what passed before it. */
static void place_sampled(const struct profile *profile, uint64_t cursor_ns, uint64_t weight_ns,
                          struct profile_slice *slice)
{
    uint64_t time_ns = profile->samples[slice->sample].time_ns;
    uint64_t begin_ns = time_ns > weight_ns ? time_ns - weight_ns : 0;
    bool runs_on = begin_ns <= add_saturated(cursor_ns, profile->period / 2);
    slice->begin_ns = runs_on ? cursor_ns : begin_ns;
    slice->end_ns = add_saturated(slice->begin_ns, weight_ns);
}

/* A sample that begins at its time. */
static void place_measured(const struct profile *profile, bool is_known, uint64_t weight_ns,
                           struct profile_slice *slice)
{
    const struct profile_sample *sample = &profile->samples[slice->sample];
    const struct profile_sample *next = sample + 1;
    bool has_next = slice->sample + 1 < profile->n_samples && next->thread == sample->thread;
    slice->begin_ns = sample->time_ns;
    if (is_known) {
        slice->end_ns = add_saturated(sample->time_ns, weight_ns);
        if (has_next)
            slice->end_ns = min_u64(slice->end_ns, next->time_ns);
    } else {
        slice->end_ns = has_next ? next->time_ns : max_u64(sample->time_ns, profile->duration_ns);
    }
}

/* Nothing is known of a thread before its first sample: that one begins where it did. */
static uint64_t line_start(const struct profile *profile, size_t index, uint64_t weight_ns)
{
    if (!profile->has_times || profile_counts_events(profile))
        return 0;
    uint64_t time_ns = profile->samples[index].time_ns;
    return time_ns > weight_ns ? time_ns - weight_ns : 0;
}

bool profile_timeline_next(struct profile_timeline *timeline, struct profile_slice *slice)
{
    const struct profile *profile = timeline->profile;
    size_t index = timeline->next;
    if (index == timeline->end)
        return false;
    timeline->next++;
    const struct profile_sample *sample = &profile->samples[index];
    uint64_t weight_ns = length_ns(profile, timeline->lengths, index);
    bool is_known = timeline->lengths.ns_each != 0;
    *slice =
        (struct profile_slice){.sample = index, .thread = sample->thread, .stack = sample->stack};
    if (index == 0 || sample[-1].thread != sample->thread)
        timeline->cursor_ns = line_start(profile, index, weight_ns);
    if (!profile->has_times || profile_counts_events(profile)) {
        slice->begin_ns = timeline->cursor_ns;
        slice->end_ns = add_saturated(slice->begin_ns, weight_ns);
    } else if (profile->period != 0 && is_known) {
        place_sampled(profile, timeline->cursor_ns, weight_ns, slice);
    } else {
        place_measured(profile, is_known, weight_ns, slice);
    }
    timeline->cursor_ns = slice->end_ns;
    return true;
}

/* The spans open at the moment, outermost first. */
struct open_spans {
    const struct profile *profile;
    const struct profile_span_visitor *visitor;
    uint32_t *depths; /* frames of each stack, by stack id */
    uint32_t *path;   /* by depth, the stack ids of the slice that was last */
    struct profile_open_span *open;
    uint32_t n_open;
    uint64_t end_ns; /* of the slice that was last */
};

static void open_spans_deinit(struct open_spans *spans)
{
    free(spans->depths);
    free(spans->path);
    free(spans->open);
}

static bool open_spans_init(struct open_spans *spans, const struct profile *profile,
                            const struct profile_span_visitor *visitor)
{
    *spans = (struct open_spans){.profile = profile, .visitor = visitor};
    spans->depths = calloc(profile->n_stacks, sizeof *spans->depths);
    if (spans->depths == NULL)
        return false;
    uint32_t deepest = 0;
    for (uint32_t id = 1; id < profile->n_stacks; id++) {
        spans->depths[id] = spans->depths[profile->stacks[id].parent] + 1;
        if (spans->depths[id] > deepest)
            deepest = spans->depths[id];
    }
    spans->path = calloc((size_t)deepest + 1, sizeof *spans->path);
    spans->open = calloc((size_t)deepest + 1, sizeof *spans->open);
    if (spans->path != NULL && spans->open != NULL)
        return true;
    open_spans_deinit(spans);
    return false;
}

static void close_down_to(struct open_spans *spans, uint32_t depth)
{
    while (spans->n_open > depth) {
        struct profile_open_span *span = &spans->open[--spans->n_open];
        span->end_ns = spans->end_ns;
        if (spans->visitor->closed != NULL)
            spans->visitor->closed(spans->visitor->context, span);
    }
}

static bool same_function(const struct profile *profile, uint32_t stack_a, uint32_t stack_b)
{
    const struct profile_frame *a = &profile->frames[profile->stacks[stack_a].frame];
    const struct profile_frame *b = &profile->frames[profile->stacks[stack_b].frame];
    return a->function == b->function &&
           (a->flags & PROFILE_FRAME_INLINED) == (b->flags & PROFILE_FRAME_INLINED);
}

/* Brings `path` up to the new stack and tells how many of the open spans go on in it. Where stack
 * ids agree, so does everything below: what two stacks have in common is not walked. */
static uint32_t path_follow(struct open_spans *spans, uint32_t stack)
{
    uint32_t n_frames = spans->depths[stack];
    uint32_t depth = n_frames;
    while (depth > 0 && (depth > spans->n_open || spans->path[depth - 1] != stack)) {
        spans->path[--depth] = stack;
        stack = spans->profile->stacks[stack].parent;
    }
    while (depth < spans->n_open && depth < n_frames &&
           same_function(spans->profile, spans->open[depth].stack, spans->path[depth]))
        depth++;
    return depth;
}

static void slice_show(struct open_spans *spans, const struct profile_slice *slice)
{
    if (spans->n_open > 0 &&
        (spans->open[0].thread != slice->thread || slice->begin_ns > spans->end_ns))
        close_down_to(spans, 0);
    if (profile_stack_is_idle(spans->profile, slice->stack)) {
        close_down_to(spans, 0);
        return;
    }
    close_down_to(spans, path_follow(spans, slice->stack));
    while (spans->n_open < spans->depths[slice->stack]) {
        uint32_t depth = spans->n_open++;
        spans->open[depth] = (struct profile_open_span){.thread = slice->thread,
                                                        .stack = spans->path[depth],
                                                        .depth = depth,
                                                        .begin_ns = slice->begin_ns};
        if (spans->visitor->opened != NULL)
            spans->visitor->opened(spans->visitor->context, &spans->open[depth]);
    }
    spans->end_ns = slice->end_ns;
}

bool profile_visit_spans(const struct profile *profile, const struct profile_span_visitor *visitor,
                         struct err *err)
{
    struct open_spans spans;
    if (!open_spans_init(&spans, profile, visitor))
        return err_fail_memory(err);
    struct profile_timeline timeline = profile_timeline_make(profile);
    struct profile_slice slice;
    while (profile_timeline_next(&timeline, &slice))
        slice_show(&spans, &slice);
    close_down_to(&spans, 0);
    open_spans_deinit(&spans);
    return true;
}

/* ---- whole profiles ---- */

VECTOR_DEFINE(spans, struct profile_span)
VECTOR_DEFINE(indexes, size_t)

/* Spans close innermost first, but of equal spans the one added first is the outer: they are
 * gathered as they open and added once their ends are known. */
struct span_gatherer {
    const struct profile *in;
    struct profile_builder *builder;
    struct spans spans;    /* in order of opening                     */
    struct indexes opened; /* of the open ones in `spans`, by depth   */
};

static bool gather_failed(const struct span_gatherer *gatherer)
{
    return gatherer->spans.no_memory || gatherer->opened.no_memory;
}

static void gather_opened(void *context, const struct profile_open_span *span)
{
    struct span_gatherer *gatherer = context;
    const struct profile *in = gatherer->in;
    if (gather_failed(gatherer))
        return;
    const struct profile_frame *at = &in->frames[in->stacks[span->stack].frame];
    const struct profile_frame frame = {.function = at->function, .flags = at->flags};
    gatherer->opened.n = span->depth;
    indexes_push(&gatherer->opened, gatherer->spans.n);
    spans_push(&gatherer->spans,
               (struct profile_span){.thread = span->thread,
                                     .frame = profile_add_frame(gatherer->builder, &frame),
                                     .begin_ns = span->begin_ns});
}

static void gather_closed(void *context, const struct profile_open_span *span)
{
    struct span_gatherer *gatherer = context;
    if (!gather_failed(gatherer))
        gatherer->spans.items[gatherer->opened.items[span->depth]].end_ns = span->end_ns;
}

static bool gather_spans(struct span_gatherer *gatherer, struct err *err)
{
    const struct profile_span_visitor visitor = {
        .opened = gather_opened, .closed = gather_closed, .context = gatherer};
    bool ok = profile_visit_spans(gatherer->in, &visitor, err);
    if (ok && gather_failed(gatherer))
        ok = err_fail_memory(err);
    for (size_t i = 0; ok && i < gatherer->spans.n; i++)
        profile_add_span(gatherer->builder, &gatherer->spans.items[i]);
    spans_deinit(&gatherer->spans);
    indexes_deinit(&gatherer->opened);
    return ok;
}

bool profile_samples_to_spans(const struct profile *in, struct profile **out, struct err *err)
{
    struct span_gatherer gatherer = {.in = in};
    if (!profile_builder_like(in, &gatherer.builder, err))
        return false;
    if (!gather_spans(&gatherer, err)) {
        profile_builder_destroy(gatherer.builder);
        return false;
    }
    return profile_builder_finish(gatherer.builder, out, err);
}

/* Walks the spans of each thread with a clock; `inner` is the innermost span at that time. */
struct self_walk {
    const struct profile *in;
    struct profile_builder *builder;
    uint32_t *stacks; /* stack of each span, by span id */
    uint32_t inner;   /* 0 = none */
    uint64_t clock_ns;
};

static void sample_until(struct self_walk *walk, uint64_t end_ns)
{
    if (walk->inner == 0 || end_ns <= walk->clock_ns)
        return;
    const struct profile_sample sample = {.thread = walk->in->spans[walk->inner].thread,
                                          .stack = walk->stacks[walk->inner],
                                          .time_ns = walk->clock_ns};
    const uint64_t value = end_ns - walk->clock_ns;
    profile_add_sample(walk->builder, &sample, &value);
    walk->clock_ns = end_ns;
}

/* Ends the open spans inside `outer`, none of them later than at `limit_ns`. */
static void leave_spans(struct self_walk *walk, uint32_t outer, uint64_t limit_ns)
{
    while (walk->inner != outer) {
        const struct profile_span *span = &walk->in->spans[walk->inner];
        sample_until(walk, min_u64(span->end_ns, limit_ns));
        walk->inner = span->parent;
    }
}

static void walk_self_times(struct self_walk *walk)
{
    const struct profile *in = walk->in;
    for (uint32_t id = 1; id < in->n_spans; id++) {
        const struct profile_span *span = &in->spans[id];
        walk->stacks[id] =
            profile_add_stack(walk->builder, walk->stacks[span->parent], span->frame);
        if (walk->inner != 0 && in->spans[walk->inner].thread != span->thread)
            leave_spans(walk, 0, UINT64_MAX);
        leave_spans(walk, span->parent, span->begin_ns);
        sample_until(walk, span->begin_ns);
        walk->clock_ns = span->begin_ns;
        walk->inner = id;
    }
    leave_spans(walk, 0, UINT64_MAX);
}

bool profile_spans_to_samples(const struct profile *in, struct profile **out, struct err *err)
{
    struct self_walk walk = {.in = in};
    if (!profile_builder_like(in, &walk.builder, err))
        return false;
    walk.stacks = calloc(in->n_spans, sizeof *walk.stacks);
    if (walk.stacks == NULL) {
        profile_builder_destroy(walk.builder);
        return err_fail_memory(err);
    }
    struct profile_scalars *scalars = profile_builder_scalars(walk.builder);
    scalars->n_kinds = 1;
    scalars->kinds[0] = (struct profile_kind){.name = profile_add_cstring(walk.builder, "time"),
                                              .unit = PROFILE_UNIT_NS};
    scalars->has_times = true;
    scalars->period = 0;
    walk_self_times(&walk);
    free(walk.stacks);
    return profile_builder_finish(walk.builder, out, err);
}

bool profile_with_samples(const struct profile *in, const struct profile **use,
                          struct profile **made, struct err *err)
{
    *made = NULL;
    *use = in;
    if (in->n_samples != 0 || in->n_spans <= 1)
        return true;
    if (!profile_spans_to_samples(in, made, err))
        return false;
    *use = *made;
    return true;
}
