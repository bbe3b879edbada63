/* options.h - one table of options: it drives parsing, --help, the environment handed to the
 * preloaded library, and the test that compares it with the manual pages.
 *
 * A row says everything about one option, and which commands take it. A value comes from the
 * command line, else from the option's environment variable, else it is the row's default. What is
 * not understood is refused with the nearest valid word; nothing is abbreviated or guessed.
 *
 * Adding an option: 1. its id in enum option_id; 2. its row in option_table.c; 3. its paragraph in
 * docs/man. Context: the tools' main thread. */
#ifndef SAMPLER_CLI_OPTIONS_H
#define SAMPLER_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "err.h"

enum command_id {
    COMMAND_RUN, /* the program sampler-run */
    COMMAND_REPORT,
    COMMAND_CONVERT,
    COMMAND_DIFF,
    COMMAND_TOP,
    COMMAND_TREE,
    COMMAND_LIST,
    COMMAND_VIEW,
    COMMAND_DUMP,
    COMMAND_FORMATS,
    COMMAND_CACHE,
    N_COMMANDS
};

enum option_id {
    OPTION_FREQUENCY,
    OPTION_EVENT,
    OPTION_PERIOD,
    OPTION_CLOCK,
    OPTION_OUTPUT,
    OPTION_FORMAT,
    OPTION_OPEN,
    OPTION_THREADS,
    OPTION_PROCESSES,
    OPTION_NO_INLINES,
    OPTION_OWN_COST,
    OPTION_NAMES,
    OPTION_DEBUG_DIR,
    OPTION_NO_CACHE,
    OPTION_COUNT,
    OPTION_UNWINDER,
    OPTION_JIT,
    OPTION_FOLLOW,
    OPTION_DELAY,
    OPTION_DURATION,
    OPTION_PAUSED,
    OPTION_TOGGLE,
    OPTION_NO_WAIT,
    OPTION_KEEP,
    OPTION_REMOVE,
    OPTION_RUN,
    OPTION_ACCOUNT,
    OPTION_JSON,
    OPTION_ACCOUNT_FILE,
    OPTION_BY,
    OPTION_SORT,
    OPTION_ROWS,
    OPTION_UP,
    OPTION_CALLERS,
    OPTION_CALLEES,
    OPTION_MIN,
    OPTION_SOURCE_PATH,
    OPTION_EMBED_SOURCE,
    OPTION_ASM,
    OPTION_INTEL,
    OPTION_AGAINST,
    OPTION_TOTAL,
    OPTION_NORMALIZE,
    OPTION_FAIL_OVER,
    OPTION_FOCUS,
    OPTION_IGNORE,
    OPTION_HIDE,
    OPTION_MY_CODE,
    OPTION_THREAD,
    OPTION_PROCESS,
    OPTION_LABEL,
    OPTION_FROM,
    OPTION_TO,
    OPTION_CLEAR,
    OPTION_STRICT,
    OPTION_QUIET,
    N_OPTIONS
};

struct option_row {
    const char *long_name;   /* "frequency", without the dashes                                  */
    const char *argument;    /* "HZ"; NULL for a flag                                            */
    const char *words;       /* "auto|perf|timer": the only values taken; NULL: any              */
    const char *environment; /* "SAMPLER_FREQUENCY"; NULL: none. A flag is set there by "1"      */
    const char *fallback;    /* the value when none is given, as text; NULL: none                */
    const char *unit;        /* of `fallback`, for --help; NULL: none                            */
    const char *help;        /* one line; --help adds the default                                */
    uint64_t least, most;    /* numbers: the range taken; most = 0: not a number                 */
    uint32_t commands;       /* bit 1 << command_id for each that takes it                       */
    char short_name;         /* 'F'; 0: none                                                     */
    bool seconds;            /* the value is a number of seconds, with or without a fraction      */
    bool percent;            /* the same of percents; "%" may follow                              */
    bool begins_side;        /* its value is an operand, and divides them: options.n_first        */
    bool repeats;            /* may be given several times; all values are kept                  */
    bool for_capture;        /* sampler-run hands it to the library through `environment`        */
};

/* What is meant where no file is named: the newest of the folder the user is in. */
enum newest {
    NEWEST_NONE,      /* a file has to be named                                                  */
    NEWEST_RUN,       /* a profile (.sprofile), or the recording of a run that was cut off       */
    NEWEST_RECORDING, /* a recording (.sampler)                                                  */
};

struct command_row {
    const char *name;     /* "sampler-run", "report" ...                                         */
    const char *usage;    /* operands after the options                                          */
    const char *about;    /* one line                                                            */
    const char *examples; /* lines for --help, each ending in a newline; NULL: none              */
    size_t least_operands;
    enum newest newest;   /* without a file, which one here (report/newest.h)                    */
    bool takes_name;      /* the first operand, unless it is a profile, is no file (options.name) */
    bool ends_at_operand; /* what follows the first operand belongs to the command to run        */
};

extern const struct option_row option_table[N_OPTIONS];
extern const struct command_row command_table[N_COMMANDS];

#define OPTION_MAX_REPEATS 16u

/* What was asked for. Texts point into argv, the environment or the table, which outlive it. */
struct options {
    enum command_id command;
    const char *values[N_OPTIONS]; /* the last one given; NULL: not given and no default         */
    bool given[N_OPTIONS];         /* on the command line or in the environment                  */
    const char *outputs[OPTION_MAX_REPEATS]; /* every value of the option that repeats           */
    size_t n_outputs;
    const char *name; /* FUNC of a command that takes_name; NULL: none (main.c sets it)          */
    char **operands;  /* borrowed from argv, NULL after the last                                 */
    size_t n_operands;
    size_t n_first; /* with an option that begins_side: those before it                          */
    bool help;    /* --help was given: nothing else was checked                                  */
    bool version; /* --version was given: nothing else was checked                               */
};

/* Parses `argv` (`argc` of them, the first being the command's own name; reordered so that operands
 * stand together). On false, err->text is one line for the user. */
MUST_CHECK bool options_parse(enum command_id command, int argc, char **argv, struct options *out,
                              struct err *err);

/* The value as a number; the option must be one (most > 0) and have a value. */
uint64_t options_number(const struct options *options, enum option_id id);

/* The value of an option in seconds, as nanoseconds; `otherwise` when it has none. */
uint64_t options_ns(const struct options *options, enum option_id id, uint64_t otherwise);

/* The value of an option in percent; it must have one. */
double options_percent(const struct options *options, enum option_id id);

/* True when a flag is set. */
bool options_flag(const struct options *options, enum option_id id);

/* True when the option's value is `word`. */
bool options_is(const struct options *options, enum option_id id, const char *word);

/* "-F, --frequency HZ": how an option is written in --help and the manual; returns `out`. */
const char *option_signature(enum option_id id, char *out, size_t out_bytes);

/* The word of `words` (separated by '|') most like `word`, copied to `out`; NULL when none is near.
 */
const char *word_nearest(const char *word, const char *words, char *out, size_t out_bytes);

void options_print_help(enum command_id command, FILE *out);

#endif
