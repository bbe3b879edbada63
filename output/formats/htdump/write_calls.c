/* write_calls.c - the calls HawkTracer's own tools show: HT_CallstackIntEvent, with a
 * mapping of the label in front of the first use.
 *
 * The tools rebuild nesting from times alone, and one of them sorts equal starts in no order: so
 * every call begins at least 1 ns after the call around it, ends not later than it, and has a
 * length; what that leaves nothing of is not shown (the raw classes have it). Labels go into the
 * tools' output unescaped, so what JSON or a line cannot hold is replaced here, too.
 *
 * A thread with spans is shown by its spans, in order of their begin; any other by its samples, as
 * convert.h joins them, in order of their end. In both, ids count up in order of begin. */
#include <stdlib.h>
#include <string.h>

#include "formats/htdump/write.h"
#include "model/convert.h"
#include "number.h"

/* A call that has begun. */
struct open_call {
    uint64_t id;
    uint64_t start_ns; /* as written */
    uint64_t end_ns;   /* of spans: as written */
    uint64_t free_ns;  /* of spans: end of the last call within */
    uint32_t span;
};

VECTOR_DEFINE(open_calls, struct open_call)

struct calls {
    struct htdump_writer *writer;
    struct open_calls open;  /* outermost first */
    bool *is_shown_by_spans; /* by thread */
};

/* ---- one call ---- */

static void label_put(struct htdump_writer *writer, uint32_t name)
{
    if (writer->labels.of[name] != 0)
        return;
    writer->labels.of[name] = ++writer->labels.n;
    uint64_t identifier = writer->labels.of[name];
    htdump_event_put(writer, HTDUMP_CLASS_MAPPING, writer->base_ns, htdump_id_next(writer),
                     &identifier, sizeof identifier);
    struct text text = profile_text(writer->profile, name);
    if (text.length == 0)
        text = text_make("[unknown]");
    htdump_label_put(writer, text);
}

static void call_put(struct htdump_writer *writer, const struct open_call *call, uint64_t end_ns,
                     uint32_t thread, uint32_t frame)
{
    if (end_ns <= call->start_ns)
        return;
    const struct profile *profile = writer->profile;
    uint32_t name = profile->functions[profile->frames[frame].function].name;
    uint64_t duration_ns = end_ns - call->start_ns;
    uint8_t fields[20];
    label_put(writer, name);
    uint64_t label = writer->labels.of[name];
    memcpy(fields, &duration_ns, 8);
    memcpy(fields + 8, &writer->tables[HTDUMP_RAW_THREADS].of[thread], 4);
    memcpy(fields + 12, &label, 8);
    htdump_event_put(writer, HTDUMP_CLASS_CALL, writer->base_ns + call->start_ns, call->id, fields,
                     sizeof fields);
}

static uint64_t next_ns(uint64_t time_ns)
{
    return time_ns == UINT64_MAX ? time_ns : time_ns + 1;
}

/* ---- from samples ---- */

static void sample_call_open(void *context, const struct profile_open_span *span)
{
    struct calls *calls = context;
    if (calls->open.no_memory || calls->is_shown_by_spans[span->thread])
        return;
    struct open_call call = {.id = htdump_id_next(calls->writer), .start_ns = span->begin_ns};
    if (span->depth > 0)
        call.start_ns =
            max_u64(call.start_ns, next_ns(calls->open.items[span->depth - 1].start_ns));
    calls->open.n = span->depth;
    open_calls_push(&calls->open, call);
}

static void sample_call_close(void *context, const struct profile_open_span *span)
{
    struct calls *calls = context;
    if (calls->open.no_memory || calls->is_shown_by_spans[span->thread])
        return;
    call_put(calls->writer, &calls->open.items[span->depth], span->end_ns, span->thread,
             calls->writer->profile->stacks[span->stack].frame);
}

/* ---- from spans ---- */

static bool span_call_put(struct calls *calls, uint32_t id)
{
    const struct profile_span *span = &calls->writer->profile->spans[id];
    /* Entry 0 is the thread itself, around all of its calls. */
    while (calls->open.n > 1 && calls->open.items[calls->open.n - 1].span != span->parent)
        calls->open.n--;
    if (!open_calls_extend(&calls->open, calls->open.n + 1))
        return false;
    struct open_call *call = &calls->open.items[calls->open.n - 1], *outer = call - 1;
    bool is_outermost = calls->open.n == 2;
    call->span = id;
    call->id = htdump_id_next(calls->writer);
    call->start_ns = max_u64(span->begin_ns, outer->free_ns);
    if (!is_outermost)
        call->start_ns = max_u64(call->start_ns, next_ns(outer->start_ns));
    call->end_ns = min_u64(span->end_ns, outer->end_ns);
    call->free_ns = call->start_ns;
    if (call->end_ns > call->start_ns)
        outer->free_ns = call->end_ns;
    call_put(calls->writer, call, call->end_ns, span->thread, span->frame);
    return true;
}

static bool spans_put(struct calls *calls)
{
    const struct profile *profile = calls->writer->profile;
    uint32_t thread = 0;
    for (uint32_t id = 1; id < profile->n_spans && !sink_failed(calls->writer->out); id++) {
        if (id == 1 || profile->spans[id].thread != thread) {
            thread = profile->spans[id].thread;
            calls->open.n = 0;
            open_calls_push(&calls->open, (struct open_call){.end_ns = UINT64_MAX});
            if (calls->open.no_memory)
                return false;
        }
        if (!span_call_put(calls, id))
            return false;
    }
    return true;
}

/* ---- all ---- */

bool htdump_calls_put(struct htdump_writer *writer, struct err *err)
{
    const struct profile *profile = writer->profile;
    struct calls calls = {.writer = writer};
    calls.is_shown_by_spans = calloc(profile->n_threads, sizeof(bool));
    bool ok = calls.is_shown_by_spans != NULL;
    for (uint32_t id = 1; ok && id < profile->n_spans; id++)
        calls.is_shown_by_spans[profile->spans[id].thread] = true;
    ok = ok && spans_put(&calls);
    if (ok) {
        const struct profile_span_visitor visitor = {
            .opened = sample_call_open, .closed = sample_call_close, .context = &calls};
        ok = profile_visit_spans(profile, &visitor, err) && !calls.open.no_memory;
    }
    if (!ok)
        err_fail_memory(err);
    open_calls_deinit(&calls.open);
    free(calls.is_shown_by_spans);
    return ok;
}
