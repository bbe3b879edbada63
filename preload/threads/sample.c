/* sample.c - see sample.h.
 *
 * A record must not name what is not in the file yet: first the modules of new frames, then their
 * nodes, outermost first, then the sample. Frames that are the same as in the thread's previous
 * stack (unwind_result.n_same) need no look-up: their nodes are in thread->path. */
#include "threads/sample.h"

#include <string.h>

#include "state/infos.h"
#include "state/run.h"
#include "sys/os.h"
#include "threads/children.h"
#include "threads/held_back.h"
#include "threads/wall_place.h"
#include "unwind/modules.h"

/* A tail longer than this (and than a few periods) does not belong to the last stack: the clock
 * must have failed, or its signal was held back. A timer on a loaded machine may miss some ten
 * ticks of the kernel. */
#define TAIL_MAX_NS UINT64_C(100000000)
#define TAIL_MAX_STEPS 4u

/* SIGNAL */
SIGNAL_SAFE static void lose(enum capture_loss why, uint64_t steps)
{
    recording_count(&session.recording.header->lost[why], steps);
}

/* The module's record, once; two threads that find it missing at the same time both write it, which
 * is allowed. SIGNAL */
SIGNAL_SAFE static bool record_module(struct thread *thread, struct module *module)
{
    uint32_t number = session.recording.number;
    if (likely(__atomic_load_n(&module->recorded_in, __ATOMIC_ACQUIRE) == number))
        return true;
    if (!stream_put_module(&thread->stream, module))
        return false;
    /* Release: whoever sees the mark may commit nodes of this module after the record. */
    __atomic_store_n(&module->recorded_in, number, __ATOMIC_RELEASE);
    return true;
}

/* The root node that stands for the reason a stack was cut; 0 when it cannot be recorded. Has room
 * even in a full table. SIGNAL */
SIGNAL_SAFE static uint32_t cut_node(struct thread *thread, uint32_t cut)
{
    if (cut >= THREAD_CUTS)
        cut = CAPTURE_CUT_BAD_MEMORY;
    if (thread->cut_nodes[cut] != 0)
        return thread->cut_nodes[cut];
    thread->stacks.last_number++;
    if (!stack_table_reserve(&thread->stacks) || !stream_put_node_cut(&thread->stream, cut)) {
        thread->stacks.last_number--;
        return 0;
    }
    thread->cut_nodes[cut] = stack_table_add(&thread->stacks, 0, STACK_PLACE_CUT, cut);
    return thread->cut_nodes[cut];
}

enum add_result { ADD_OK, ADD_FULL, ADD_NO_ROOM };

/* The node of one frame below `parent`, new if need be. SIGNAL */
SIGNAL_SAFE static inline enum add_result
frame_node(struct thread *thread, uint32_t parent, const struct unwind_frame *frame, uint32_t *node)
{
    struct module *module = frame->module != 0 ? modules_get(frame->module) : NULL;
    uint64_t offset = module != NULL ? frame->pc - module->bias : frame->pc;
    uint32_t place = frame->module << 1 | (frame->exact != 0 ? 1u : 0u);
    *node = stack_table_find(&thread->stacks, parent, place, offset);
    if (likely(*node != 0))
        return ADD_OK;
    if (!stack_table_reserve(&thread->stacks))
        return ADD_FULL;
    if ((module != NULL && !record_module(thread, module)) ||
        !stream_put_node(&thread->stream, parent, place, offset))
        return ADD_NO_ROOM;
    *node = stack_table_add(&thread->stacks, parent, place, offset);
    return ADD_OK;
}

/* The node of a whole stack, into last_node; as much of it as there is room for. SIGNAL */
SIGNAL_SAFE static enum add_result stack_node(struct thread *thread,
                                              const struct unwind_frame *frames,
                                              const struct unwind_result *result)
{
    uint32_t parent = 0, depth = 0;
    if (result->n_same > 0 && result->cut == thread->last_cut && result->n_same <= thread->n_path) {
        depth = result->n_same;
        parent = thread->path[depth - 1];
    } else if (result->cut != 0) {
        parent = cut_node(thread, result->cut);
        if (parent == 0)
            return ADD_NO_ROOM;
    }
    enum add_result added = ADD_OK;
    thread->last_cut = result->cut;
    for (; depth < result->n_frames; depth++) {
        uint32_t node;
        added = frame_node(thread, parent, &frames[result->n_frames - 1 - depth], &node);
        if (unlikely(added != ADD_OK))
            break;
        thread->path[depth] = node;
        parent = node;
    }
    thread->n_path = depth;
    if (parent == 0)
        parent = cut_node(thread, CAPTURE_CUT_NODES_FULL);
    if (added != ADD_NO_ROOM)
        thread->last_node = parent;
    return added;
}

/* SIGNAL */
bool sample_locate(struct thread *thread, const void *context)
{
    const struct unwind_frame *frames;
    infos_put(&thread->stream);
    struct unwind_result result = unwind_stack(thread->unwind, context, &frames);
    if (stack_node(thread, frames, &result) == ADD_NO_ROOM)
        return false;
    if (thread->wall != NULL)
        wall_note_place(thread, context, frames, result.n_frames);
    return true;
}

/* A name that the thread sets itself is noticed in time for a program that gets killed, at little
 * cost: at samples 1, 2, 4, 8 ... and every 1024th. SIGNAL */
SIGNAL_SAFE static void look_at_name(struct thread *thread)
{
    uint64_t n = thread->n_samples;
    char name[16];
    if ((n & (n - 1)) != 0 && (n & 1023) != 0)
        return;
    if (os_thread_name(name) != 0 || memcmp(name, thread->name, strnlen(name, 15) + 1) == 0)
        return;
    if (stream_put_thread_name(&thread->stream, name))
        memcpy(thread->name, name, sizeof name);
}

/* SIGNAL, HOOK, EXIT */
bool sample_is_late(const struct thread *thread, uint64_t steps)
{
    /* Not for events: their counter is exact, and it takes a raw system call to hold back one of
     * their ticks. */
    return session.settings.measure != SETTINGS_EVENT && steps > TAIL_MAX_STEPS &&
           steps * thread->grid.period_ns > TAIL_MAX_NS;
}

/* The steps of this tick without those that were held back and have no stack to go to. What it
 * waited for a processor is no sign of that, however long it was. SIGNAL */
SIGNAL_SAFE static uint64_t steps_on_time(struct thread *thread, const void *context,
                                          const struct tick *tick)
{
    enum capture_clock clock = clock_kind(&thread->clock);
    bool is_exact = clock == CAPTURE_CLOCK_PERF && tick->kind != CLOCK_TICK_LOOK;
    uint64_t all = tick->steps + tick->wait_steps;
    if (likely(!sample_is_late(thread, tick->steps)) || clock == CAPTURE_CLOCK_NONE ||
        clock == CAPTURE_CLOCK_EVENT || !held_back_tick(context, is_exact))
        return all;
    lose(CAPTURE_LOST_BLOCKED, all - 1);
    return 1;
}

/* The label the program has given the thread since its last sample. SIGNAL, by the thread */
SIGNAL_SAFE static inline void put_label(struct thread *thread)
{
    if (likely(__atomic_load_n(&thread->label.is_new, __ATOMIC_ACQUIRE) == 0))
        return;
    if (stream_put_label(&thread->stream, thread->label.text))
        __atomic_store_n(&thread->label.is_new, 0, __ATOMIC_RELAXED);
}

/* SIGNAL */
void sample_take(struct thread *thread, const void *context, const struct tick *tick)
{
    const struct unwind_frame *frames;
    if (unlikely(!recording_place(&session.recording))) {
        lose(CAPTURE_LOST_DISK, tick->steps + tick->wait_steps);
        return;
    }
    infos_put(&thread->stream);
    struct unwind_result result = unwind_stack(thread->unwind, context, &frames);
    enum add_result added = stack_node(thread, frames, &result);
    uint64_t steps = steps_on_time(thread, context, tick);
    put_label(thread);
    if (unlikely(added == ADD_NO_ROOM || thread->last_node == 0 ||
                 !stream_put_sample(&thread->stream, tick->time_ns, steps, thread->last_node))) {
        lose(CAPTURE_LOST_DISK, steps);
        return;
    }
    if (unlikely(added == ADD_FULL))
        lose(CAPTURE_LOST_NODES, steps);
    thread->n_samples++;
    recording_count(&session.n_samples, 1);
    look_at_name(thread);
    if (unlikely(children_are_waiting()))
        children_write(thread);
    if (thread->wall != NULL)
        wall_note_place(thread, context, frames, result.n_frames);
}

/* The watcher (watcher.h) */
void sample_known(struct thread *thread, uint64_t time_ns, uint64_t steps, uint32_t node)
{
    if (!stream_put_sample(&thread->stream, time_ns, steps, node)) {
        lose(CAPTURE_LOST_DISK, steps);
        return;
    }
    thread->n_samples++;
    recording_count(&session.n_samples, 1);
}

/* The watcher; HOOK, EXIT */
void sample_credit(struct thread *thread, uint64_t time_ns, uint64_t steps, uint32_t node)
{
    if (!stream_put_credit(&thread->stream, time_ns, steps, node))
        lose(CAPTURE_LOST_DISK, steps);
}

/* any context */
void sample_lose_tail(const struct thread *thread, uint64_t steps)
{
    lose(thread->held_back == HELD_BACK_ALL    ? CAPTURE_LOST_ALL_BLOCKED
         : thread->held_back == HELD_BACK_OURS ? CAPTURE_LOST_BLOCKED
                                               : CAPTURE_LOST_TAIL,
         steps);
}

/* HOOK, EXIT */
void sample_credit_tail(struct thread *thread, uint64_t steps)
{
    /* A timer in place of the event may not have seen the thread for long (clock/pace.c). */
    bool is_unseen =
        clock_kind(&thread->clock) == CAPTURE_CLOCK_STAND_IN && thread->held_back == HELD_BACK_NOT;
    if (thread->last_node == 0 || (sample_is_late(thread, steps) && !is_unseen))
        sample_lose_tail(thread, steps);
    else
        sample_credit(thread, os_clock_ns(CLOCK_MONOTONIC), steps, thread->last_node);
}
