/* settings.h - what the environment asks of the library.
 *
 * The variables, their values and defaults are in include/environment.h. An empty value counts as
 * not set.
 *
 * Context    settings_read: SETUP. Constant afterwards, but for `unwinder`, which start.c sets back
 *            to UNWIND_TABLE where the one requested is not available (SETUP too). */
#ifndef SAMPLER_SETTINGS_H
#define SAMPLER_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "state/event.h"
#include "unwind/unwind.h"

enum settings_clock { SETTINGS_CLOCK_AUTO, SETTINGS_CLOCK_PERF, SETTINGS_CLOCK_TIMER };

/* What is measured: the unit of weights follows from it. */
enum settings_measure { SETTINGS_CPU, SETTINGS_WALL, SETTINGS_EVENT };

/* Texts are copies, never freed: the program may change its environment. */
struct settings {
    const char *output;        /* a pattern */
    bool is_default_output;    /* neither it nor a format was given: the sprofile next to it, too */
    const char *tool;          /* NULL: look near the library */
    const char *recording_dir; /* NULL: none */
    const char *others_dir;    /* where we may not write there; NULL: none */
    uint64_t period_ns; /* of time, also where events are counted: how long things may take */
    uint64_t step;      /* of the grid, what a sample weighs: period_ns, or events */
    enum settings_measure measure;
    struct event event;    /* of SETTINGS_EVENT */
    const char *event_bad; /* why the event requested is none; NULL: it is one */
    bool check;
    uint32_t frequency_hz;
    uint32_t max_nodes;
    uint64_t delay_ns;
    uint64_t duration_ns; /* 0: no end */
    uint64_t since_ns;    /* 0: now */
    int signo;
    int toggle_signo; /* 0: none */
    enum settings_clock clock;
    enum unwind_engine unwinder;
    bool follow;
    bool quiet;
    bool keep;
    bool empty_handler;
    bool paused; /* begin stopped */
};

void settings_read(struct settings *settings);

/* The name of an engine, as SAMPLER_UNWINDER has it. any context */
SIGNAL_SAFE const char *settings_unwinder_name(enum unwind_engine engine);

#endif
