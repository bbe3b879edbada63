/* options.c - see options.h. The command line by hand and not by getopt_long: the table also
 * gives the environment, the range and the words of each option, and unknown words are answered
 * with the nearest one. */
#include "options/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"

#define WORD_BYTES 64

/* ---- near words ------------------------------------------------------------------------------ */

static size_t least_of(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Edits (insert, remove, replace one byte) from a to b; words longer than WORD_BYTES are far. */
static size_t word_distance(const char *a, const char *b, size_t b_length)
{
    size_t a_length = strlen(a);
    if (a_length >= WORD_BYTES || b_length >= WORD_BYTES)
        return WORD_BYTES;
    size_t row[WORD_BYTES + 1];
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t above = row[j];
            row[j] = least_of(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[b_length];
}

const char *word_nearest(const char *word, const char *words, char *out, size_t out_bytes)
{
    size_t best = WORD_BYTES;
    const char *best_start = NULL;
    size_t best_length = 0;
    for (const char *start = words; *start != '\0';) {
        size_t length = strcspn(start, "|");
        size_t distance = word_distance(word, start, length);
        if (length > strlen(word) && strlen(word) >= 2 && strncmp(word, start, strlen(word)) == 0)
            distance = 1; /* a beginning is as good as one slip of the finger */
        if (distance < best && distance * 2 <= length) {
            best = distance;
            best_start = start;
            best_length = length;
        }
        start += length;
        start += *start == '|';
    }
    if (best_start == NULL || best_length >= out_bytes)
        return NULL;
    memcpy(out, best_start, best_length);
    out[best_length] = '\0';
    return out;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool option_taken(enum option_id id, enum command_id command)
{
    return (option_table[id].commands & (1u << command)) != 0;
}

const char *option_signature(enum option_id id, char *out, size_t out_bytes)
{
    const struct option_row *row = &option_table[id];
    const char short_part[] = {'-', row->short_name, ',', ' ', '\0'};
    snprintf(out, out_bytes, "%s--%s%s%s", row->short_name != 0 ? short_part : "", row->long_name,
             row->argument != NULL ? " " : "", row->argument != NULL ? row->argument : "");
    return out;
}

static bool word_among(const char *word, const char *words)
{
    size_t length = strlen(word);
    for (const char *start = words; *start != '\0';) {
        size_t n = strcspn(start, "|");
        if (n == length && memcmp(start, word, n) == 0)
            return true;
        start += n;
        start += *start == '|';
    }
    return false;
}

static bool number_parse(const char *text, uint64_t *out)
{
    if (text[0] < '0' || text[0] > '9')
        return false;
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0')
        return false;
    *out = value;
    return true;
}

/* Digits with at most one point among them, and less than 1e9; `end` may follow. */
static bool decimal_is_good(const char *text, const char *end)
{
    size_t n_whole = strspn(text, "0123456789");
    size_t n_point = text[n_whole] == '.';
    size_t n_fraction = strspn(text + n_whole + n_point, "0123456789");
    const char *rest = text + n_whole + n_point + n_fraction;
    return n_whole <= 9 && n_whole + n_fraction > 0 && (*rest == '\0' || strcmp(rest, end) == 0);
}

/* Of a good decimal; by hand, since strtod goes by the locale. */
static double decimal(const char *text)
{
    double value = 0;
    double weight = 1;
    for (; *text >= '0' && *text <= '9'; text++)
        value = value * 10 + (*text - '0');
    for (text += *text == '.'; *text >= '0' && *text <= '9'; text++)
        value += (*text - '0') * (weight /= 10);
    return value;
}

/* `origin` names the option as the user wrote it: "--clock" or "SAMPLER_CLOCK". */
static bool value_check(enum option_id id, const char *origin, const char *value, struct err *err)
{
    const struct option_row *row = &option_table[id];
    if (row->words != NULL && !word_among(value, row->words)) {
        char near[WORD_BYTES];
        if (word_nearest(value, row->words, near, sizeof near) != NULL)
            return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                            "%s: '%.60s' is unknown; nearest is '%s'", origin, value, near);
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "%s: '%.60s' is none of %s", origin, value,
                        row->words);
    }
    uint64_t number = 0;
    if (row->most > 0 &&
        (!number_parse(value, &number) || number < row->least || number > row->most))
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                        "%s: '%.60s' is not a whole number from %llu to %llu", origin, value,
                        (unsigned long long)row->least, (unsigned long long)row->most);
    if (row->seconds && value[0] != '\0' && !decimal_is_good(value, ""))
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                        "%s: '%.60s' is not a number of seconds, such as 2.5", origin, value);
    if (row->percent && value[0] != '\0' && (!decimal_is_good(value, "%") || decimal(value) > 100))
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                        "%s: '%.60s' is not a percentage from 0 to 100, such as 0.5", origin,
                        value);
    if (row->argument != NULL && value[0] == '\0')
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "%s: the value is empty", origin);
    return true;
}

static bool value_set(struct options *options, enum option_id id, const char *origin,
                      const char *value, struct err *err)
{
    if (!value_check(id, origin, value, err))
        return false;
    options->values[id] = value;
    options->given[id] = true;
    if (option_table[id].repeats) {
        if (options->n_outputs == OPTION_MAX_REPEATS)
            return err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "%s: more than %u of them", origin,
                            OPTION_MAX_REPEATS);
        options->outputs[options->n_outputs++] = value;
    }
    return true;
}

/* ---- the command line ------------------------------------------------------------------------ */

/* All long names a command takes, as words for word_nearest. */
static void long_names(enum command_id command, char *out, size_t out_bytes)
{
    size_t used = 0;
    append(out, out_bytes, &used, "help|version");
    for (enum option_id id = 0; id < N_OPTIONS; id++)
        if (option_taken(id, command))
            append(out, out_bytes, &used, "|%s", option_table[id].long_name);
}

/* Short or long, without the dashes. */
static bool option_is_called(enum option_id id, const char *name)
{
    const struct option_row *row = &option_table[id];
    return strcmp(row->long_name, name) == 0 ||
           (row->short_name != 0 && name[0] == row->short_name && name[1] == '\0');
}

/* "top, list": the commands that take an option of this name; "" when none does. */
static void takers(const char *name, char *out, size_t out_bytes)
{
    size_t used = 0;
    out[0] = '\0';
    for (enum command_id command = 0; command < N_COMMANDS; command++)
        for (enum option_id id = 0; id < N_OPTIONS; id++)
            if (option_taken(id, command) && option_is_called(id, name))
                append(out, out_bytes, &used, "%s%s", used > 0 ? ", " : "",
                       command_table[command].name);
}

/* Whether another command takes it. */
static bool fail_belongs(const char *written, const char *name, struct err *err)
{
    char commands[128];
    takers(name, commands, sizeof commands);
    if (commands[0] != '\0')
        err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "unknown option '%.60s'; it belongs to %s", written,
                 commands);
    return commands[0] != '\0';
}

static bool fail_unknown(enum command_id command, const char *written, const char *name,
                         struct err *err)
{
    char names[512];
    char near[WORD_BYTES];
    long_names(command, names, sizeof names);
    if (strlen(name) > 1 && word_nearest(name, names, near, sizeof near) != NULL)
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "unknown option '%.60s'; nearest is '--%s'",
                        written, near);
    return err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "unknown option '%.60s'; --help lists them",
                    written);
}

struct scan {
    char **argv;
    int argc;
    int next;
};

static bool take_value(struct scan *scan, enum option_id id, const char *origin,
                       const char *attached, struct options *out, struct err *err)
{
    const struct option_row *row = &option_table[id];
    if (row->argument == NULL) {
        if (attached != NULL)
            return err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "%s takes no value", origin);
        return value_set(out, id, origin, "1", err);
    }
    if (attached == NULL) {
        if (scan->next >= scan->argc)
            return err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "%s needs a value: %s", origin,
                            row->argument);
        attached = scan->argv[scan->next++];
    }
    if (row->begins_side) {
        if (out->given[id])
            return err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "%s is given twice", origin);
        char *word = scan->argv[scan->next - 1]; /* the value is its end, or all of it */
        out->n_first = out->n_operands;
        out->operands[out->n_operands++] = word + (attached - word);
    }
    return value_set(out, id, origin, attached, err);
}

static bool take_long(struct scan *scan, const char *word, struct options *out, struct err *err)
{
    const char *name = word + 2;
    size_t length = strcspn(name, "=");
    const char *attached = name[length] == '=' ? name + length + 1 : NULL;
    for (enum option_id id = 0; id < N_OPTIONS; id++) {
        const struct option_row *row = &option_table[id];
        if (!option_taken(id, out->command) || strlen(row->long_name) != length ||
            memcmp(row->long_name, name, length) != 0)
            continue;
        char origin[WORD_BYTES];
        snprintf(origin, sizeof origin, "--%s", row->long_name);
        return take_value(scan, id, origin, attached, out, err);
    }
    char bare[WORD_BYTES];
    snprintf(bare, sizeof bare, "%.*s", (int)(length < WORD_BYTES ? length : WORD_BYTES - 1), name);
    return !fail_belongs(word, bare, err) && fail_unknown(out->command, word, bare, err);
}

/* -qF99 is -q -F 99: flags may stand together, the rest of the word is the value of the first
 * option that takes one. */
static bool take_shorts(struct scan *scan, const char *word, struct options *out, struct err *err)
{
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        const char origin[] = {'-', *letter, '\0'};
        enum option_id id = 0;
        while (id < N_OPTIONS &&
               !(option_taken(id, out->command) && option_table[id].short_name == *letter))
            id++;
        if (id == N_OPTIONS)
            return !fail_belongs(origin, origin + 1, err) &&
                   fail_unknown(out->command, word, word + 1, err);
        if (option_table[id].argument != NULL)
            return take_value(scan, id, origin, letter[1] != '\0' ? letter + 1 : NULL, out, err);
        if (!take_value(scan, id, origin, NULL, out, err))
            return false;
    }
    return true;
}

/* Operands and options may be mixed; for sampler-run all from the first operand on belongs to the
 * command it runs. `--` ends the options. */
static bool scan_words(struct scan *scan, struct options *out, struct err *err)
{
    bool only_operands = false;
    while (scan->next < scan->argc) {
        char *word = scan->argv[scan->next];
        bool is_option = !only_operands && word[0] == '-' && word[1] != '\0';
        if (!is_option && command_table[out->command].ends_at_operand) {
            out->operands = scan->argv + scan->next;
            out->n_operands = (size_t)(scan->argc - scan->next);
            return true;
        }
        scan->next++;
        if (!is_option) {
            out->operands[out->n_operands++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            only_operands = true;
            continue;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            out->help = true;
            return true;
        }
        if (strcmp(word, "--version") == 0) {
            out->version = true;
            return true;
        }
        if (word[1] == '-' ? !take_long(scan, word, out, err) : !take_shorts(scan, word, out, err))
            return false;
    }
    return true;
}

/* Only what runs next to the profiled program is configured by the environment: a SAMPLER_OUTPUT
 * meant for it must not name the output of a conversion. */
static bool from_environment(struct options *out, struct err *err)
{
    if (out->command != COMMAND_RUN && out->command != COMMAND_REPORT)
        return true;
    for (enum option_id id = 0; id < N_OPTIONS; id++) {
        const struct option_row *row = &option_table[id];
        if (out->given[id] || row->environment == NULL || !option_taken(id, out->command))
            continue;
        if (id == OPTION_OUTPUT && out->command == COMMAND_REPORT)
            continue; /* a pattern, of the library's; it tells us the name */
        const char *value = getenv(row->environment);
        if (value == NULL || value[0] == '\0')
            continue;
        if (row->argument == NULL && !word_among(value, "0|1"))
            return err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "%s: '%.60s' is none of 0|1",
                            row->environment, value);
        if (row->argument == NULL && value[0] == '0')
            continue;
        if (!value_set(out, id, row->environment, row->argument == NULL ? "1" : value, err))
            return false;
    }
    return true;
}

bool options_parse(enum command_id command, int argc, char **argv, struct options *out,
                   struct err *err)
{
    struct options parsed = {.command = command, .operands = argv + (argc > 0)};
    struct scan scan = {.argv = argv, .argc = argc, .next = argc > 0};
    if (!scan_words(&scan, &parsed, err))
        return false;
    if (!parsed.help && !parsed.version) {
        if (!from_environment(&parsed, err))
            return false;
        if (parsed.n_operands < command_table[command].least_operands)
            return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                            "%s is missing; usage: %s%s [OPTION]... %s",
                            command == COMMAND_RUN ? "the command to run" : "a file",
                            command == COMMAND_RUN ? "" : "sampler ", command_table[command].name,
                            command_table[command].usage);
    }
    if (!command_table[command].ends_at_operand)
        parsed.operands[parsed.n_operands] = NULL;
    for (enum option_id id = 0; id < N_OPTIONS; id++)
        if (parsed.values[id] == NULL && option_taken(id, command))
            parsed.values[id] = option_table[id].fallback;
    *out = parsed;
    return true;
}

uint64_t options_number(const struct options *options, enum option_id id)
{
    uint64_t number = 0;
    (void)number_parse(options->values[id], &number); /* was checked when it was set */
    return number;
}

uint64_t options_ns(const struct options *options, enum option_id id, uint64_t otherwise)
{
    enum { FRACTION_DIGITS = 9 };
    const char *at = options->values[id]; /* was checked when it was set */
    if (at == NULL)
        return otherwise;
    uint64_t ns = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        ns = ns * 10 + (uint64_t)(*at - '0');
    at += *at == '.';
    for (int i = 0; i < FRACTION_DIGITS; i++) {
        ns = ns * 10 + (*at != '\0' ? (uint64_t)(*at - '0') : 0);
        at += *at != '\0';
    }
    return ns;
}

double options_percent(const struct options *options, enum option_id id)
{
    return decimal(options->values[id]);
}

bool options_flag(const struct options *options, enum option_id id)
{
    return options->values[id] != NULL;
}

bool options_is(const struct options *options, enum option_id id, const char *word)
{
    return options->values[id] != NULL && strcmp(options->values[id], word) == 0;
}

/* ---- help ------------------------------------------------------------------------------------ */

/* One stands on the line of its heading. */
static void print_examples(const char *examples, FILE *out)
{
    if (examples == NULL)
        return;
    bool several = strchr(examples, '\n') != strrchr(examples, '\n');
    fprintf(out, "%s%s", several ? "\nExamples:\n" : "Example:", examples);
}

void options_print_help(enum command_id command, FILE *out)
{
    const struct command_row *row = &command_table[command];
    fprintf(out, "Usage: %s%s [OPTION]... %s\n%s\n\n", command == COMMAND_RUN ? "" : "sampler ",
            row->name, row->usage, row->about);
    for (enum option_id id = 0; id < N_OPTIONS; id++) {
        const struct option_row *option = &option_table[id];
        if (!option_taken(id, command))
            continue;
        char signature[WORD_BYTES];
        option_signature(id, signature, sizeof signature);
        /* Long names stand in one column, with a short one before them or not. */
        int indent = option->short_name != 0 ? 2 : 6;
        fprintf(out, "%*s%-*s %s", indent, "", 26 - indent, signature, option->help);
        if (option->fallback != NULL)
            fprintf(out, " (default %s%s%s)", option->fallback, option->unit != NULL ? " " : "",
                    option->unit != NULL ? option->unit : "");
        fputc('\n', out);
    }
    if (command == COMMAND_RUN)
        fputs("In FILE: %n command, %p pid, %h host, %r rank, %% percent; default %n.%p.folded, "
              "%n.%p.sprofile\n",
              out);
    print_examples(row->examples, out);
}
