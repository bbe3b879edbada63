/* reporter.c - see reporter.h. */
#include "run/reporter.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "options/messages.h"
#include "run/places.h"
#include "run/preload_env.h"

#define FIXED_WORDS 8u /* sampler report --run VALUE -- FOLDER NULL */

/* The argument vector being made; room for all there can be. */
struct words {
    char *words[FIXED_WORDS + 2 * (N_OPTIONS + OPTION_MAX_REPEATS)];
    char long_names[N_OPTIONS][32];
    size_t n;
};

/* execv takes words it does not write to; there is no other type for that. */
static void add_word(struct words *words, const char *word)
{
    union {
        const char *constant;
        char *word;
    } both = {.constant = word};
    words->words[words->n++] = both.word;
}

/* By the name both programs have for the option; `report` looks for values in the same
 * environment, and knows the same defaults, but what was given is handed over whatever it is. */
static void add_option(struct words *words, const struct options *options, enum option_id id)
{
    const struct option_row *row = &option_table[id];
    char *name = words->long_names[id];
    snprintf(name, sizeof words->long_names[id], "--%s", row->long_name);
    size_t n_values = row->repeats ? options->n_outputs : 1;
    for (size_t i = 0; i < n_values; i++) {
        add_word(words, name);
        if (row->argument != NULL)
            add_word(words, row->repeats ? options->outputs[i] : options->values[id]);
    }
}

static void add_options(struct words *words, const struct options *options)
{
    for (enum option_id id = 0; id < N_OPTIONS; id++) {
        if (options->given[id] && (option_table[id].commands & 1u << COMMAND_REPORT) != 0)
            add_option(words, options, id);
    }
}

static bool prepare(void *context)
{
    (void)context;
    return preload_env_leave();
}

/* Starts `tool` and waits for its end. False, with *err, when it could not be started. */
static bool run_tool(const struct reporter_request *request, const char *tool, char *const *argv,
                     int *wait_status, struct err *err)
{
    pid_t child = 0;
    int sys_errno = 0;
    struct rusage usage;
    if (!child_start(request->guard, tool, argv, prepare, NULL, &child, &sys_errno)) {
        err_fail_errno(err, sys_errno, "cannot start the symbolizer");
        return err_name_file(err, tool);
    }
    child_wait(request->guard, child, wait_status, &usage);
    return true;
}

bool reporter_run(const struct reporter_request *request, const char *own_name)
{
    struct err err = ERR_INIT;
    struct words words = {.n = 0};
    char tool[PATH_MAX];
    char *run = NULL;
    int wait_status = 0;
    if (asprintf(&run, "%" PRIu64 ":%" PRIu64 ":%s", request->pid, request->cpu_ns,
                 request->command) < 0) {
        err_fail_memory(&err);
        complain(own_name, &err);
        return false;
    }
    add_word(&words, "sampler");
    add_word(&words, "report");
    add_options(&words, request->options);
    add_word(&words, "--run");
    add_word(&words, run);
    add_word(&words, "--");
    add_word(&words, request->folder);
    add_word(&words, NULL);
    bool started = place_beside_us("sampler", tool, sizeof tool, &err) &&
                   run_tool(request, tool, words.words, &wait_status, &err);
    free(run);
    if (!started)
        complain(own_name, &err);
    else if (WIFSIGNALED(wait_status))
        fprintf(stderr, "%s: symbolizing ended by signal %d (%s)\n", own_name,
                WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
    return started && wait_status == 0;
}

static bool part_parse(const char **at, uint64_t *out)
{
    char *end = NULL;
    if (**at < '0' || **at > '9')
        return false;
    *out = strtoull(*at, &end, 10);
    *at = end + 1;
    return *end == ':';
}

bool reported_run_parse(const char *value, struct reported_run *out, struct err *err)
{
    struct reported_run run = {.command = value};
    if (!part_parse(&run.command, &run.pid) || !part_parse(&run.command, &run.cpu_ns))
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "--run: '%.60s' is not PID:CPU_NS:COMMAND",
                        value);
    *out = run;
    return true;
}
