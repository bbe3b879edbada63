/* options.c - see options.h. All of it SETUP. */
#include "options.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "line.h"
#include "os.h"

struct word {
    const char *word;
    int value;
};

/* Ends a complaint about one variable and says it. SETUP */
static void say_bad(const char *name, const char *value, const char *expected)
{
    char bytes[600];
    struct line line;
    line_init(&line, bytes, sizeof bytes);
    line_add(&line, name);
    line_add(&line, "=");
    line_add(&line, value);
    line_add(&line, " is not understood (");
    line_add(&line, expected);
    line_add(&line, ")");
    line_say(&line);
}

/* Empty counts as not set: `SAMPLER_TOOL= command` is how people switch a thing off. SETUP */
static const char *value_of(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* A copy the program cannot change by writing into its environment. SETUP */
static const char *text_of(const char *name, const char *otherwise)
{
    const char *value = value_of(name);
    if (value == NULL)
        return otherwise;
    size_t n_bytes = strlen(value) + 1;
    char *copy = os_map(n_bytes);
    if (copy == NULL)
        return otherwise;
    memcpy(copy, value, n_bytes);
    return copy;
}

/* SETUP */
static int word_of(const char *name, const struct word *words, const char *expected, int otherwise)
{
    const char *value = value_of(name);
    if (value == NULL)
        return otherwise;
    for (const struct word *w = words; w->word != NULL; w++)
        if (strcmp(value, w->word) == 0)
            return w->value;
    say_bad(name, value, expected);
    return otherwise;
}

/* SETUP */
static uint64_t number_of(const char *name, uint64_t min, uint64_t max, const char *expected,
                          uint64_t otherwise)
{
    const char *value = value_of(name);
    if (value == NULL)
        return otherwise;
    uint64_t number = 0;
    const char *c = value;
    while (*c >= '0' && *c <= '9' && number <= max)
        number = number * 10 + (uint64_t)(*c++ - '0');
    if (*c == '\0' && number >= min && number <= max)
        return number;
    say_bad(name, value, expected);
    return otherwise;
}

static const struct word flag_words[] = {{"0", 0}, {"1", 1}, {NULL, 0}};
static const struct word follow_words[] = {{"all", 1}, {"none", 0}, {NULL, 0}};
static const struct word handler_words[] = {{"sample", 0}, {"empty", 1}, {NULL, 0}};
static const struct word clock_words[] = {{"auto", OPTIONS_CLOCK_AUTO},
                                          {"perf", OPTIONS_CLOCK_PERF},
                                          {"timer", OPTIONS_CLOCK_TIMER},
                                          {NULL, 0}};
static const struct word unwinder_words[] = {
    {"table", UNWIND_TABLE}, {"libunwind", UNWIND_LIBUNWIND}, {"fp", UNWIND_FP}, {NULL, 0}};

/* Signals that a program cannot do without, or that cannot be caught, are refused; so are those of
 * real time: they queue, and a tick for which there is no room in the queue comes as SIGIO, which
 * ends the program. SETUP */
static int signal_of(const char *name)
{
    int signo = (int)number_of(name, 1, 31, "expected a signal number from 1 to 31", SIGPROF);
    static const int unfit[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE,
                                SIGILL,  SIGTRAP, SIGABRT, SIGCHLD};
    bool ok = true;
    for (size_t i = 0; i < sizeof unfit / sizeof unfit[0]; i++)
        ok = ok && signo != unfit[i];
    if (ok)
        return signo;
    say_bad(name, getenv(name), "that signal cannot be used");
    return SIGPROF;
}

/* What is measured. An event that cannot be used is no reason to measure another thing: nothing is
 * sampled then. SETUP */
static void read_event(struct options *options)
{
    const char *name = value_of("SAMPLER_EVENT");
    options->measure = OPTIONS_CPU;
    options->step = options->period_ns;
    if (name == NULL || strcmp(name, "cpu") == 0)
        return;
    if (strcmp(name, "wall") == 0) {
        options->measure = OPTIONS_WALL;
        return;
    }
    options->measure = OPTIONS_EVENT;
    const char *why = NULL;
    if (!event_parse(name, &options->event, &why))
        options->event_bad = why;
    options->step = number_of("SAMPLER_PERIOD", 1, UINT64_C(1) << 48, "expected a number of events",
                              options->event.default_period);
    if (options->event.at_return)
        options->signo = SIGTRAP; /* the only one that such ticks send */
}

/* SETUP */
void options_read(struct options *options)
{
    uint64_t hz = number_of("SAMPLER_FREQUENCY", 1, 100000, "expected 1 to 100000 Hz", 999);
    options->frequency_hz = (uint32_t)hz;
    options->period_ns = OS_NS_PER_S / hz;
    options->output = text_of("SAMPLER_OUTPUT", "%n.%p.folded");
    options->tool = text_of("SAMPLER_TOOL", NULL);
    options->recording_dir = text_of("SAMPLER_RECORDING_DIR", NULL);
    options->max_nodes = (uint32_t)number_of("SAMPLER_MAX_NODES", 16, 1u << 28,
                                             "expected 16 to 268435456 nodes", 1u << 20);
    options->signo = signal_of("SAMPLER_SIGNAL");
    options->clock = (enum options_clock)word_of(
        "SAMPLER_CLOCK", clock_words, "expected auto, perf or timer", OPTIONS_CLOCK_AUTO);
    options->unwinder = (enum unwind_engine)word_of(
        "SAMPLER_UNWINDER", unwinder_words, "expected table, libunwind or fp", UNWIND_TABLE);
    options->follow = word_of("SAMPLER_FOLLOW", follow_words, "expected all or none", 1) != 0;
    options->quiet = word_of("SAMPLER_QUIET", flag_words, "expected 0 or 1", 0) != 0;
    options->keep = word_of("SAMPLER_KEEP", flag_words, "expected 0 or 1", 0) != 0;
    options->empty_handler =
        word_of("SAMPLER_HANDLER", handler_words, "expected sample or empty", 0) != 0;
    options->check = word_of("SAMPLER_CHECK", flag_words, "expected 0 or 1", 0) != 0;
    read_event(options);
}

/* any context but SIGNAL */
const char *options_unwinder_name(enum unwind_engine engine)
{
    for (const struct word *w = unwinder_words; w->word != NULL; w++)
        if (w->value == (int)engine)
            return w->word;
    return "table";
}
