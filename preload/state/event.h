/* event.h - what -e may name: kernel events of perf_event_open.
 *
 *   "page-faults"              software
 *   "cycles"                   hardware
 *   "L1-dcache-load-misses"    hardware cache
 *   "r1a2"                     raw, hexadecimal, of the processor's own unit
 *   "sched:sched_switch"       tracepoint, where its number may be read
 *   NAME ":u"                  only what happens in user mode
 *
 * Only the name is judged here; whether this machine and user may count the event is the kernel's
 * answer (clock_check). Not here: events of other units (/sys/bus/event_source/devices).
 *
 * Context    event_parse: SETUP. */
#ifndef SAMPLER_EVENT_H
#define SAMPLER_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* at_return: the event happens inside system calls that may block. Its tick has to wait for the
 * return to user mode, or each tick would interrupt the call (clock/perf.c). */
struct event {
    char name[64];           /* as requested, ":u" included */
    uint32_t type;           /* of struct perf_event_attr */
    uint64_t config;         /* of struct perf_event_attr */
    uint64_t default_period; /* events from one sample to the next */
    bool user_only;          /* ":u" */
    bool at_return;
};

/* False, with the reason in *why, when `text` is no event. */
bool event_parse(const char *text, struct event *event, const char **why);

#endif
