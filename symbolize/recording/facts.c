/* facts.c - see facts.h, and the questions of recording.h that are asked with a key or a time.
 *
 * Three numbers need care where a recording has no end (a killed program): its length is then
 * that of the last record, its CPU time is not known, and ends of threads are not told apart
 * from threads that were never seen. */
#include "recording/facts.h"

#include "number.h"

struct text recording_info_get(const struct recording *recording, const char *key)
{
    for (size_t i = recording->n_infos; i-- > 0;) {
        const struct recording_info *info = &recording->infos[i];
        if (text_is(info->key, key))
            return info->value;
    }
    return (struct text){"", 0};
}

uint64_t recording_paused_ns(const struct recording *recording, uint64_t length_ns)
{
    uint64_t paused_ns = 0, stopped_ns = 0;
    bool is_stopped = false;
    for (size_t i = 0; i < recording->n_pauses; i++) {
        const struct recording_pause *pause = &recording->pauses[i];
        uint64_t time_ns = min_u64(pause->time_ns, length_ns);
        if (is_stopped && !pause->stops)
            paused_ns += time_ns - stopped_ns;
        if (!is_stopped)
            stopped_ns = time_ns;
        is_stopped = pause->stops;
    }
    return is_stopped ? paused_ns + (length_ns - stopped_ns) : paused_ns;
}

static enum measure measure_of(const struct capture_header *header)
{
    return header->clock == CAPTURE_CLOCK_EVENT  ? MEASURE_EVENTS
           : header->clock == CAPTURE_CLOCK_WALL ? MEASURE_WALL
                                                 : MEASURE_CPU;
}

static uint64_t length_ns_of(const struct recording *recording)
{
    const struct capture_header *header = &recording->header;
    uint64_t last_ns = 0;
    if (header->end_time_ns > header->start_time_ns)
        return header->end_time_ns - header->start_time_ns;
    for (size_t i = 0; i < recording->n_threads; i++)
        last_ns = max_u64(last_ns, recording->threads[i].end_ns);
    return last_ns;
}

/* Words joined by NUL, perhaps with one after the last, as one line. NULL when out of memory. */
static const char *command_line(const struct recording *recording, struct arena *arena)
{
    struct text words = recording_info_get(recording, "command");
    while (words.length > 0 && words.bytes[words.length - 1] == '\0')
        words.length--;
    char *line = arena_text(arena, words.bytes, words.length);
    for (size_t i = 0; line != NULL && i < words.length; i++) {
        if (line[i] == '\0')
            line[i] = ' ';
    }
    return line;
}

/* What the threads of a process used after their own last word: libc's and the kernel's part of a
 * thread's end. The process's CPU time has it, its threads' clocks have not. It is some 30 us, and 0.8 ms
 * where libc gives 7 MiB of used stack back. More than this for each thread must be something else,
 * say threads that are not recorded. */
#define THREAD_EXIT_MOST_NS UINT64_C(2000000)

static uint64_t thread_exit_ns_of(const struct recording *recording)
{
    const struct capture_header *header = &recording->header;
    uint64_t threads_ns = 0;
    if (header->end != CAPTURE_EXITED || header->n_threads_missed != 0 || recording->n_threads < 2)
        return 0;
    for (size_t i = 0; i < recording->n_threads; i++) {
        const struct recording_thread *thread = &recording->threads[i];
        if (!thread->ended || thread->end_cpu_ns < thread->start_cpu_ns)
            return 0;
        threads_ns = add_saturated(threads_ns, thread->end_cpu_ns - thread->start_cpu_ns);
    }
    uint64_t most_ns = multiply_saturated(recording->n_threads - 1, THREAD_EXIT_MOST_NS);
    uint64_t rest_ns =
        recording->facts.cpu_ns > threads_ns ? recording->facts.cpu_ns - threads_ns : 0;
    return rest_ns <= most_ns ? rest_ns : 0;
}

static uint64_t own_ns_of(const struct recording *recording)
{
    uint64_t own_ns = 0;
    for (size_t i = 0; i < recording->n_threads; i++)
        add_to(&own_ns, recording->threads[i].own_cpu_ns);
    return own_ns;
}

void recording_note_running(struct recording *recording, uint64_t cpu_ns, uint64_t children_ns)
{
    struct recording_facts *facts = &recording->facts;
    uint64_t start_ns = recording->header.start_cpu_ns;
    facts->is_running = true;
    facts->children_known = true;
    facts->children_ns = children_ns;
    if (facts->cpu_known || facts->ends_stopped || cpu_ns < start_ns)
        return;
    facts->cpu_known = true;
    facts->cpu_ns = cpu_ns - start_ns;
}

bool facts_find(struct recording *recording, struct arena *arena)
{
    const struct capture_header *header = &recording->header;
    struct recording_facts *facts = &recording->facts;
    facts->measure = measure_of(header);
    facts->cpu_known = header->end_cpu_ns != 0 && header->end_cpu_ns >= header->start_cpu_ns;
    facts->cpu_ns = facts->cpu_known ? header->end_cpu_ns - header->start_cpu_ns : 0;
    facts->children_known = header->end == CAPTURE_EXITED && header->end_ppid != 0;
    facts->children_ns = header->end_children_cpu_ns;
    facts->ends_stopped =
        recording->n_pauses > 0 && recording->pauses[recording->n_pauses - 1].stops;
    facts->length_ns = length_ns_of(recording);
    facts->stopped_ns = recording_paused_ns(recording, facts->length_ns);
    facts->thread_exit_ns = thread_exit_ns_of(recording);
    facts->own_ns = own_ns_of(recording);
    facts->command = command_line(recording, arena);
    return facts->command != NULL;
}
