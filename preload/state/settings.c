/* settings.c - see settings.h. All of it SETUP. */
#include "state/settings.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "environment.h"
#include "state/program.h"
#include "sys/keep.h"
#include "sys/line.h"
#include "sys/os.h"

struct word {
    const char *word;
    int value;
};

/* Reports a variable that cannot be used. SETUP */
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

/* Empty counts as not set: `SAMPLER_TOOL= command` is how people switch something off. SETUP */
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
    const char *copy = keep_text(value);
    return copy != NULL ? copy : otherwise;
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
static const struct word clock_words[] = {{"auto", SETTINGS_CLOCK_AUTO},
                                          {"perf", SETTINGS_CLOCK_PERF},
                                          {"timer", SETTINGS_CLOCK_TIMER},
                                          {NULL, 0}};
static const struct word unwinder_words[] = {
    {"table", UNWIND_TABLE}, {"libunwind", UNWIND_LIBUNWIND}, {"fp", UNWIND_FP}, {NULL, 0}};

/* The signals that have a use, by name. */
static const struct word signal_words[] = {
    {"HUP", SIGHUP},   {"INT", SIGINT},       {"QUIT", SIGQUIT}, {"USR1", SIGUSR1},
    {"USR2", SIGUSR2}, {"PIPE", SIGPIPE},     {"ALRM", SIGALRM}, {"TERM", SIGTERM},
    {"CONT", SIGCONT}, {"TSTP", SIGTSTP},     {"TTIN", SIGTTIN}, {"TTOU", SIGTTOU},
    {"URG", SIGURG},   {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF}, {"WINCH", SIGWINCH},
    {"IO", SIGIO},     {"PWR", SIGPWR},       {NULL, 0}};

/* Seconds with a fraction, in nanoseconds. SETUP */
static uint64_t seconds_of(const char *name)
{
    const char *value = value_of(name);
    const uint64_t most_s = 1000000000;
    if (value == NULL)
        return 0;
    uint64_t seconds = 0, fraction_ns = 0, digit_ns = OS_NS_PER_S / 10;
    const char *c = value;
    while (*c >= '0' && *c <= '9' && seconds <= most_s)
        seconds = seconds * 10 + (uint64_t)(*c++ - '0');
    bool has_digits = c != value;
    if (*c == '.') {
        for (c++; *c >= '0' && *c <= '9'; digit_ns /= 10, has_digits = true)
            fraction_ns += digit_ns * (uint64_t)(*c++ - '0');
    }
    if (*c == '\0' && has_digits && seconds <= most_s)
        return seconds * OS_NS_PER_S + fraction_ns;
    say_bad(name, value, "expected seconds, such as 2.5");
    return 0;
}

/* A decimal number that is all of `text`, -1 otherwise. SETUP */
static int small_number(const char *text)
{
    int number = 0;
    if (*text == '\0')
        return -1;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || number > 1000)
            return -1;
        number = number * 10 + (*text - '0');
    }
    return number;
}

/* Whether a signal can be caught, and the program can do without it. SETUP */
static bool signal_is_fit(int signo)
{
    static const int unfit[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE,
                                SIGILL,  SIGTRAP, SIGABRT, SIGCHLD};
    bool ok =
        signo >= 1 && signo <= 64 && (signo < 32 || signo >= SIGRTMIN); /* 32 and 33: libc's */
    for (size_t i = 0; i < sizeof unfit / sizeof unfit[0]; i++)
        ok = ok && signo != unfit[i];
    return ok;
}

/* Real-time signals are refused here: they queue, and a tick that finds the queue full comes as
 * SIGIO, which ends a program that has no handler for it. SETUP */
static int signal_of(const char *name, int otherwise)
{
    int signo =
        (int)number_of(name, 1, 31, "expected a signal number from 1 to 31", (uint64_t)otherwise);
    if (signal_is_fit(signo))
        return signo;
    say_bad(name, getenv(name), "that signal cannot be used");
    return otherwise;
}

/* The number of "USR2", "SIGUSR2", "12" or "RTMIN+3"; 0 when there is no such signal. SETUP */
static int signal_named(const char *word)
{
    if (strncmp(word, "SIG", 3) == 0)
        word += 3;
    if (strncmp(word, "RTMIN", 5) == 0) {
        int above = word[5] == '+' ? small_number(word + 6) : word[5] == '\0' ? 0 : -1;
        return above >= 0 ? SIGRTMIN + above : 0;
    }
    for (const struct word *w = signal_words; w->word != NULL; w++)
        if (strcmp(w->word, word) == 0)
            return w->value;
    int number = small_number(word);
    return number > 0 ? number : 0;
}

/* SETUP */
static int toggle_of(const char *name, int ours)
{
    const char *value = value_of(name);
    if (value == NULL)
        return 0;
    int signo = signal_named(value);
    if (signal_is_fit(signo) && signo != ours)
        return signo;
    say_bad(name, value, "expected a signal that is free, such as USR2");
    return 0;
}

/* The signal to sample by, where nobody chose one: nothing else may have it set behind libc's
 * functions, where no hook of ours sees that. SETUP */
static int signal_for_program(void)
{
    if (program_is_go())
        return SIGRTMIN; /* its runtime takes a SIGIO without harm */
    return program_is_gprof() || value_of("LD_PROFILE") != NULL ? SIGSTKFLT : SIGPROF;
}

/* What is measured. An event that cannot be used is no reason to measure something else: nothing is
 * sampled then. SETUP */
static void read_event(struct settings *settings)
{
    const char *name = value_of(ENVIRONMENT_EVENT);
    settings->measure = SETTINGS_CPU;
    settings->step = settings->period_ns;
    if (name == NULL || strcmp(name, "cpu") == 0)
        return;
    if (strcmp(name, "wall") == 0) {
        settings->measure = SETTINGS_WALL;
        return;
    }
    settings->measure = SETTINGS_EVENT;
    const char *why = NULL;
    if (!event_parse(name, &settings->event, &why))
        settings->event_bad = why;
    settings->step = number_of(ENVIRONMENT_PERIOD, 1, ENVIRONMENT_PERIOD_MOST,
                               "expected a number of events", settings->event.default_period);
    if (settings->event.at_return)
        settings->signo = SIGTRAP; /* the only signal that such ticks send */
}

/* SETUP */
void settings_read(struct settings *settings)
{
    uint64_t hz = number_of(ENVIRONMENT_FREQUENCY, 1, ENVIRONMENT_FREQUENCY_MOST,
                            "expected 1 to " ENVIRONMENT_TEXT(ENVIRONMENT_FREQUENCY_MOST) " Hz",
                            ENVIRONMENT_FREQUENCY_DEFAULT);
    settings->frequency_hz = (uint32_t)hz;
    settings->period_ns = OS_NS_PER_S / hz;
    settings->output = text_of(ENVIRONMENT_OUTPUT, ENVIRONMENT_OUTPUT_DEFAULT);
    settings->is_default_output =
        value_of(ENVIRONMENT_OUTPUT) == NULL && value_of(ENVIRONMENT_FORMAT) == NULL;
    settings->tool = text_of("SAMPLER_TOOL", NULL);
    settings->recording_dir = text_of(ENVIRONMENT_RECORDING_DIR, NULL);
    settings->others_dir = text_of(ENVIRONMENT_OTHERS_DIR, NULL);
    settings->max_nodes = (uint32_t)number_of("SAMPLER_MAX_NODES", 16, 1u << 28,
                                              "expected 16 to 268435456 nodes", 1u << 20);
    settings->signo = signal_of("SAMPLER_SIGNAL", signal_for_program());
    settings->toggle_signo = toggle_of(ENVIRONMENT_TOGGLE, settings->signo);
    settings->delay_ns = seconds_of(ENVIRONMENT_DELAY);
    settings->duration_ns = seconds_of(ENVIRONMENT_DURATION);
    settings->since_ns =
        number_of(ENVIRONMENT_SINCE, 0, UINT64_MAX / 16, "expected nanoseconds", 0);
    settings->paused = word_of(ENVIRONMENT_PAUSED, flag_words, "expected 0 or 1", 0) != 0;
    settings->clock = (enum settings_clock)word_of(
        ENVIRONMENT_CLOCK, clock_words, "expected auto, perf or timer", SETTINGS_CLOCK_AUTO);
    settings->unwinder = (enum unwind_engine)word_of(
        ENVIRONMENT_UNWINDER, unwinder_words, "expected table, libunwind or fp", UNWIND_TABLE);
    settings->follow = word_of(ENVIRONMENT_FOLLOW, follow_words, "expected all or none", 1) != 0;
    settings->quiet = word_of(ENVIRONMENT_QUIET, flag_words, "expected 0 or 1", 0) != 0;
    settings->keep = word_of(ENVIRONMENT_KEEP, flag_words, "expected 0 or 1", 0) != 0;
    settings->empty_handler =
        word_of("SAMPLER_HANDLER", handler_words, "expected sample or empty", 0) != 0;
    settings->check = word_of(ENVIRONMENT_CHECK, flag_words, "expected 0 or 1", 0) != 0;
    read_event(settings);
}

/* any context */
const char *settings_unwinder_name(enum unwind_engine engine)
{
    for (const struct word *w = unwinder_words; w->word != NULL; w++)
        if (w->value == (int)engine)
            return w->word;
    return "table";
}
