/* convert.h - samples as a time line, samples to spans, spans to samples. Here and nowhere else.
 *
 *   samples -> timeline (begin and end of each) -> span events (open, close)  -> profile of spans
 *   spans   -> maximal intervals of one innermost span                        -> profile of samples
 *
 * How long a sample lasts
 *   It stands for profile_sample_ns(), its weight. With times:
 *   - period != 0 (a sampling profile): it lasts exactly its weight, so that self times add up to
 *     the weights whatever the format. The weight passed before the sample was taken. Samples
 *     follow each other without a gap, up to half a period later than they were, as long as the
 *     thread runs; one that began later than that (the thread slept) begins where it did.
 *   - period == 0 (intervals measured, not sampled): it begins at its time and lasts its weight, at
 *     most until the next sample of its thread.
 *   - weight unknown: from its time until the next one; the last one to the end of the profile.
 *   Without times the samples of each thread are laid end to end from 0: an invented line, which
 *   writers have to say. So are those of a profile that counts events and nothing else: an event
 *   takes no time, so each is shown as CONVERT_EVENT_NS (convert_note_events says it).
 *
 * Which samples share a span
 *   Consecutive ones of a thread without a gap whose stacks agree, from the outermost frame on, in
 *   function and inlined or not. An idle sample ends all spans: there is a gap. Lines and addresses
 * change within a span and are not kept in it.
 */
#ifndef SAMPLER_CONVERT_H
#define SAMPLER_CONVERT_H

#include "model/notes.h"
#include "model/profile.h"

/* A count whose period nobody knows is shown as this long (1 ms). */
#define CONVERT_UNKNOWN_PERIOD_NS 1000000

/* An event is shown as this long where a format knows only time (1 us). */
#define CONVERT_EVENT_NS 1000

/* Whether the profile's numbers are events, with no time and no count besides them. */
bool profile_counts_events(const struct profile *profile);

/* Says, once per output, that a format of times shows events, and as how long. */
void convert_note_events(const struct profile *profile, const struct format_notes *notes);

/* Number of the first kind of that unit, or n_kinds. */
uint32_t profile_kind_find(const struct profile *profile, enum profile_unit unit);

/* The time sample `index` stands for: its value in ns; else its count times the period (in ns, or
 * CONVERT_UNKNOWN_PERIOD_NS); else 0 (no such kind). Saturates. */
uint64_t profile_sample_ns(const struct profile *profile, size_t index);

/* ---- the time line: O(1) memory ---- */

/* A sample's number of this kind, times ns_each, is how long it is; ns_each 0: nobody knows. */
struct profile_lengths {
    uint32_t kind;
    uint64_t ns_each;
};

struct profile_timeline {
    const struct profile *profile;
    struct profile_lengths lengths;
    size_t next;        /* sample to come                            */
    size_t end;         /* after the last                           */
    uint64_t cursor_ns; /* where the thread's line has come to       */
};

struct profile_slice {
    size_t sample; /* index */
    uint32_t thread;
    uint32_t stack;
    uint64_t begin_ns; /* not before the previous slice's end, in the same thread */
    uint64_t end_ns;   /* >= begin_ns */
};

/* Of all threads, one after another, or of one. */
struct profile_timeline profile_timeline_make(const struct profile *profile);
struct profile_timeline profile_timeline_make_thread(const struct profile *profile,
                                                     uint32_t thread);

/* The next sample in profile order (thread by thread, by time); false after the last. */
bool profile_timeline_next(struct profile_timeline *timeline, struct profile_slice *slice);

/* ---- spans from samples ---- */

struct profile_open_span {
    uint32_t thread;
    uint32_t stack; /* of the span's first sample, cut at this span: its frame, its callers */
    uint32_t depth; /* from 0 */
    uint64_t begin_ns;
    uint64_t end_ns; /* meaningful when closed */
};

/* Each may be NULL. Calls are nested properly, by time within a thread, thread by thread. */
struct profile_span_visitor {
    void (*opened)(void *context, const struct profile_open_span *span);
    void (*closed)(void *context, const struct profile_open_span *span);
    void *context;
};

/* Memory: 4 bytes per stack and 24 per frame of the deepest stack, however many samples. */
MUST_CHECK bool profile_visit_spans(const struct profile *profile,
                                    const struct profile_span_visitor *visitor, struct err *err);

/* A new profile with spans made from the samples of `in` (spans of `in` are not looked at) and no
 * samples; all else as in `in`. Span frames have no line and no address. */
MUST_CHECK bool profile_samples_to_spans(const struct profile *in, struct profile **out,
                                         struct err *err);

/* ---- samples from spans ----
 * A new profile with one sample for each maximal interval in which a span is the innermost of its
 * thread: the span's stack, time = begin, value = ns, period 0; and no spans; all else as in `in`.
 * Of spans that cross (neither holds the other) the later begun is the inner one from its begin on.
 */
MUST_CHECK bool profile_spans_to_samples(const struct profile *in, struct profile **out,
                                         struct err *err);

/* For writers that show samples: `*use` is `in` if that has samples or no spans; else `*made`,
 * which the caller destroys in every case (NULL if nothing was made). */
MUST_CHECK bool profile_with_samples(const struct profile *in, const struct profile **use,
                                     struct profile **made, struct err *err);

#endif
