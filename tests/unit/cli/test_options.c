/* test_options.c - the command line: what is taken, what is refused and how, names of outputs, and
 * that the manual pages say the same as the table. */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options/options.h"
#include "options/pattern.h"
#include "unit.h"

#define MAX_WORDS 16

/* Parses the words behind the command's own name, NULL at the end. */
static bool parse(enum command_id command, const char *const *words, struct options *out,
                  struct err *err)
{
    static char storage[MAX_WORDS][128];
    static char *argv[MAX_WORDS + 2];
    int argc = 0;
    static char own_name[] = "tool";
    argv[argc++] = own_name;
    for (size_t i = 0; words[i] != NULL; i++) {
        snprintf(storage[i], sizeof storage[i], "%s", words[i]);
        argv[argc++] = storage[i];
    }
    argv[argc] = NULL;
    *err = (struct err)ERR_INIT;
    return options_parse(command, argc, argv, out, err);
}

#define WORDS(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static int clear_environment(void **state)
{
    (void)state;
    for (enum option_id id = 0; id < N_OPTIONS; id++)
        if (option_table[id].environment != NULL)
            unsetenv(option_table[id].environment);
    return 0;
}

static void defaults_stand_when_nothing_is_said(void **state)
{
    (void)state;
    struct options options;
    struct err err;
    assert_true(parse(COMMAND_RUN, WORDS("true"), &options, &err));
    assert_int_equal(options_number(&options, OPTION_FREQUENCY), 999);
    assert_true(options_is(&options, OPTION_CLOCK, "auto"));
    assert_false(options_flag(&options, OPTION_KEEP));
    assert_int_equal(options.n_outputs, 0);
}

static void every_way_of_writing_an_option(void **state)
{
    (void)state;
    const char *const *const lines[] = {
        WORDS("-F", "50", "-q", "-o", "a", "x"),
        WORDS("-F50", "-qoa", "x"),
        WORDS("--frequency", "50", "--quiet", "--output", "a", "--", "x"),
        WORDS("--frequency=50", "--quiet", "--output=a", "x"),
    };
    for (size_t i = 0; i < N_ELEMENTS(lines); i++) {
        struct options options;
        struct err err;
        assert_true(parse(COMMAND_RUN, lines[i], &options, &err));
        assert_int_equal(options_number(&options, OPTION_FREQUENCY), 50);
        assert_true(options_flag(&options, OPTION_QUIET));
        assert_int_equal(options.n_outputs, 1);
        assert_string_equal(options.outputs[0], "a");
        assert_int_equal(options.n_operands, 1);
        assert_string_equal(options.operands[0], "x");
    }
}

static void seconds_become_nanoseconds(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t ns;
    } cases[] = {{"0", 0},
                 {"2", 2000000000},
                 {"2.5", 2500000000},
                 {".25", 250000000},
                 {"1.", 1000000000},
                 {"0.000000001", 1},
                 {"0.1234567899", 123456789},
                 {"999999999.999999999", 999999999999999999}};
    struct options options;
    struct err err;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(parse(COMMAND_TOP, WORDS("--from", cases[i].text, "x"), &options, &err));
        assert_int_equal(options_ns(&options, OPTION_FROM, 7), cases[i].ns);
        assert_int_equal(options_ns(&options, OPTION_TO, 7), 7);
    }
    assert_false(parse(COMMAND_TOP, WORDS("--from", "1.2.3", "x"), &options, &err));
}

static void percentages(void **state)
{
    (void)state;
    static const char *const bad[] = {"x", "-1", "100.1", "1%%", "1 %", "%", ".", "1e1", "nan"};
    struct options options;
    struct err err;
    assert_true(parse(COMMAND_TREE, WORDS("x"), &options, &err));
    assert_true(options_percent(&options, OPTION_MIN) == 1);
    assert_true(parse(COMMAND_TREE, WORDS("--min", "0", "x"), &options, &err));
    assert_true(options_percent(&options, OPTION_MIN) == 0);
    assert_true(parse(COMMAND_TREE, WORDS("--min", "100", "x"), &options, &err));
    assert_true(options_percent(&options, OPTION_MIN) == 100);
    assert_true(parse(COMMAND_TREE, WORDS("--min", "12.5", "x"), &options, &err));
    assert_true(options_percent(&options, OPTION_MIN) == 12.5);
    assert_true(parse(COMMAND_TREE, WORDS("--min", "2.5%", "x"), &options, &err));
    assert_true(options_percent(&options, OPTION_MIN) == 2.5);
    for (size_t i = 0; i < N_ELEMENTS(bad); i++) {
        assert_false(parse(COMMAND_TREE, WORDS("--min", bad[i], "x"), &options, &err));
        assert_non_null(strstr(err.text, "not a percentage from 0 to 100"));
    }
}

static void the_command_keeps_its_own_options(void **state)
{
    (void)state;
    struct options options;
    struct err err;
    assert_true(parse(COMMAND_RUN, WORDS("-q", "ls", "-q", "--", "-o"), &options, &err));
    assert_int_equal(options.n_operands, 4);
    assert_string_equal(options.operands[1], "-q");
    assert_string_equal(options.operands[2], "--");
    assert_int_equal(options.n_outputs, 0);
}

/* --against: its word is the first of the second part, wherever options stand. */
static void operands_in_two_parts(void **state)
{
    (void)state;
    struct options options;
    struct err err;
    assert_true(parse(COMMAND_DIFF,
                      WORDS("-n", "3", "a", "-q", "b", "--against", "c", "--json", "d"), &options,
                      &err));
    assert_int_equal(options.n_operands, 4);
    assert_int_equal(options.n_first, 2);
    assert_string_equal(options.operands[1], "b");
    assert_string_equal(options.operands[2], "c");
    assert_string_equal(options.operands[3], "d");
    assert_null(options.operands[4]);
    assert_true(parse(COMMAND_DIFF, WORDS("--against=a", "b"), &options, &err));
    assert_int_equal(options.n_first, 0);
    assert_string_equal(options.operands[0], "a");
    assert_string_equal(options.operands[1], "b");
    assert_false(parse(COMMAND_DIFF, WORDS("a", "--against"), &options, &err));
    assert_false(parse(COMMAND_DIFF, WORDS("a", "--against", ""), &options, &err));
    assert_false(
        parse(COMMAND_DIFF, WORDS("a", "--against", "b", "--against", "c"), &options, &err));
}

static void operands_and_options_mix_elsewhere(void **state)
{
    (void)state;
    struct options options;
    struct err err;
    assert_true(parse(COMMAND_CONVERT, WORDS("a", "-o", "out", "b", "-"), &options, &err));
    assert_int_equal(options.n_operands, 3);
    assert_string_equal(options.operands[1], "b");
    assert_string_equal(options.operands[2], "-");
    assert_null(options.operands[3]);
}

static void a_flag_of_the_environment_is_0_or_1(void **state)
{
    (void)state;
    struct options options;
    struct err err;
    setenv("SAMPLER_QUIET", "no", 1);
    assert_false(parse(COMMAND_RUN, WORDS("true"), &options, &err));
    assert_string_equal(err.text, "SAMPLER_QUIET: 'no' is none of 0|1");
}

static void the_environment_comes_before_the_default(void **state)
{
    (void)state;
    struct options options;
    struct err err;
    setenv("SAMPLER_FREQUENCY", "77", 1);
    setenv("SAMPLER_QUIET", "0", 1);
    setenv("SAMPLER_KEEP", "1", 1);
    setenv("SAMPLER_OUTPUT", "named", 1);
    assert_true(parse(COMMAND_RUN, WORDS("true"), &options, &err));
    assert_int_equal(options_number(&options, OPTION_FREQUENCY), 77);
    assert_false(options_flag(&options, OPTION_QUIET));
    assert_true(options_flag(&options, OPTION_KEEP));
    assert_string_equal(options.outputs[0], "named");
    assert_true(parse(COMMAND_RUN, WORDS("-F", "5", "-o", "x", "true"), &options, &err));
    assert_int_equal(options_number(&options, OPTION_FREQUENCY), 5);
    assert_int_equal(options.n_outputs, 1);
    assert_string_equal(options.outputs[0], "x");
    assert_true(parse(COMMAND_CONVERT, WORDS("a"), &options, &err));
    assert_int_equal(options.n_outputs,
                     0); /* a conversion is not the profiled program's business */
}

static void refusals_are_one_line_with_the_nearest_word(void **state)
{
    (void)state;
    const struct {
        enum command_id command;
        const char *const *words;
        const char *expected;
    } cases[] = {
        {COMMAND_RUN, WORDS("--frequnecy", "5", "x"), "nearest is '--frequency'"},
        {COMMAND_RUN, WORDS("--freq=5", "x"), "nearest is '--frequency'"},
        {COMMAND_RUN, WORDS("-Z", "x"), "unknown option '-Z'"},
        {COMMAND_RUN, WORDS("--rows", "5", "x"),
         "unknown option '--rows'; it belongs to diff, top, list"},
        {COMMAND_TREE, WORDS("-n5"), "unknown option '-n'; it belongs to diff, top, list"},
        {COMMAND_RUN, WORDS("--clock", "pref", "x"), "nearest is 'perf'"},
        {COMMAND_RUN, WORDS("--clock=zzzzzz", "x"), "none of auto|perf|timer"},
        {COMMAND_RUN, WORDS("-F", "0", "x"), "whole number from 1 to 100000"},
        {COMMAND_RUN, WORDS("-F", "1e3", "x"), "whole number"},
        {COMMAND_RUN, WORDS("-F", "99999999999999999999999", "x"), "whole number"},
        {COMMAND_RUN, WORDS("-F", "-5", "x"), "whole number"},
        {COMMAND_RUN, WORDS("--quiet=1", "x"), "takes no value"},
        {COMMAND_RUN, WORDS("-o"), "needs a value: FILE"},
        {COMMAND_RUN, WORDS("-o", "", "x"), "the value is empty"},
        {COMMAND_RUN, WORDS("-q"), "the command to run is missing"},
        {COMMAND_DIFF, WORDS("one"), "a file is missing"},
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        struct options options;
        struct err err;
        assert_false(parse(cases[i].command, cases[i].words, &options, &err));
        assert_int_equal(err.code, ERR_USAGE);
        assert_non_null(strstr(err.text, cases[i].expected));
        assert_null(strchr(err.text, '\n'));
    }
}

static void too_many_outputs_are_refused(void **state)
{
    (void)state;
    char storage[OPTION_MAX_REPEATS + 3][8] = {"tool"};
    char *argv[OPTION_MAX_REPEATS + 4];
    int argc = 0;
    argv[argc++] = storage[0];
    for (size_t i = 0; i <= OPTION_MAX_REPEATS; i++) {
        snprintf(storage[i + 1], sizeof storage[0], "-of%zu", i);
        argv[argc++] = storage[i + 1];
    }
    snprintf(storage[OPTION_MAX_REPEATS + 2], sizeof storage[0], "true");
    argv[argc++] = storage[OPTION_MAX_REPEATS + 2];
    argv[argc] = NULL;
    struct options options;
    struct err err = ERR_INIT;
    assert_false(options_parse(COMMAND_RUN, argc, argv, &options, &err));
    assert_non_null(strstr(err.text, "more than 16"));
}

/* Whether `text` holds `word`, and not only as the beginning of a longer one. */
static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        if (at[length] == ' ' || at[length] == '\n')
            return true;
    return false;
}

static void help_fits_a_screen_and_names_every_option(void **state)
{
    (void)state;
    for (enum command_id command = 0; command < N_COMMANDS; command++) {
        char *text = NULL;
        size_t size_bytes = 0;
        FILE *out = open_memstream(&text, &size_bytes);
        assert_non_null(out);
        options_print_help(command, out);
        fclose(out);
        size_t n_lines = 0;
        for (const char *line = text; *line != '\0'; n_lines++) {
            size_t length = strcspn(line, "\n");
            assert_true(length <= 100);
            line += length + 1;
        }
        assert_true(n_lines <= 40);
        for (enum option_id id = 0; id < N_OPTIONS; id++) {
            char signature[64];
            option_signature(id, signature, sizeof signature);
            bool taken = (option_table[id].commands & (1u << command)) != 0;
            assert_int_equal(has_word(text, signature), taken);
        }
        free(text);
    }
}

/* ---- the manual pages ------------------------------------------------------------------------ */

/* A page without font changes and escaped dashes. */
static char *page_read(const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", DOCS_MAN_DIR, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    static char raw[65536];
    size_t n = fread(raw, 1, sizeof raw - 1, file);
    fclose(file);
    assert_true(n > 0 && n < sizeof raw - 1);
    raw[n] = '\0';
    char *page = malloc(n + 1);
    assert_non_null(page);
    char *to = page;
    for (const char *from = raw; *from != '\0';) {
        if (from[0] == '\\' && from[1] == 'f') {
            from += 3;
        } else if (from[0] == '\\' && from[1] == '-') {
            *to++ = '-';
            from += 2;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    return page;
}

/* The paragraph below ".TP" + signature, up to the next one; NULL if there is none. */
static char *page_paragraph(const char *page, const char *signature)
{
    char head[96];
    snprintf(head, sizeof head, ".TP\n%s\n", signature);
    const char *start = strstr(page, head);
    if (start == NULL)
        return NULL;
    start += strlen(head);
    const char *end = strstr(start, "\n.TP\n");
    const char *section = strstr(start, "\n.SH ");
    if (end == NULL || (section != NULL && section < end))
        end = section;
    return end != NULL ? strndup(start, (size_t)(end - start)) : strdup(start);
}

static void paragraph_says(const char *paragraph, const char *what)
{
    if (strstr(paragraph, what) == NULL)
        fail_msg("'%s' is missing in: %s", what, paragraph);
}

static void paragraph_matches(enum option_id id, const char *paragraph)
{
    const struct option_row *row = &option_table[id];
    char text[128];
    if (row->fallback != NULL) {
        snprintf(text, sizeof text, "Default: %s%s%s.", row->fallback, row->unit != NULL ? " " : "",
                 row->unit != NULL ? row->unit : "");
        paragraph_says(paragraph, text);
    }
    for (const char *word = row->words; word != NULL && *word != '\0';) {
        size_t length = strcspn(word, "|");
        snprintf(text, sizeof text, "%.*s", (int)length, word);
        paragraph_says(paragraph, text);
        word += length + (word[length] == '|');
    }
}

/* Each line that heads an option on the page is one of the table's. */
static void page_knows_no_more(const char *page, uint32_t commands)
{
    for (const char *at = page; (at = strstr(at, ".TP\n-")) != NULL;) {
        at += strlen(".TP\n");
        size_t length = strcspn(at, "\n");
        bool known = strncmp(at, "--help", length) == 0 || strncmp(at, "--version", length) == 0;
        for (enum option_id id = 0; id < N_OPTIONS && !known; id++) {
            char signature[64];
            option_signature(id, signature, sizeof signature);
            known = (option_table[id].commands & commands) != 0 && strlen(signature) == length &&
                    memcmp(at, signature, length) == 0;
        }
        if (!known)
            fail_msg("no option of the table: %.*s", (int)length, at);
    }
}

static void the_page_of_sampler_run_is_the_table(void **state)
{
    (void)state;
    char *page = page_read("sampler-run.1");
    for (enum option_id id = 0; id < N_OPTIONS; id++) {
        if ((option_table[id].commands & (1u << COMMAND_RUN)) == 0)
            continue;
        char text[128];
        char *paragraph = page_paragraph(page, option_signature(id, text, sizeof text));
        if (paragraph == NULL)
            fail_msg("the page does not tell of %s", text);
        paragraph_matches(id, paragraph);
        const char *environment = option_table[id].environment;
        snprintf(text, sizeof text, "Environment: %s.", environment == NULL ? "none" : environment);
        paragraph_says(paragraph, text);
        free(paragraph);
    }
    page_knows_no_more(page, 1u << COMMAND_RUN);
    free(page);
}

static void the_page_of_sampler_is_the_table(void **state)
{
    (void)state;
    char *page = page_read("sampler.1");
    const uint32_t others = ~(1u << COMMAND_RUN);
    for (enum option_id id = 0; id < N_OPTIONS; id++) {
        if ((option_table[id].commands & others) == 0)
            continue;
        char text[128];
        char *paragraph = page_paragraph(page, option_signature(id, text, sizeof text));
        if (paragraph == NULL)
            fail_msg("the page does not tell of %s", text);
        paragraph_matches(id, paragraph);
        size_t used = (size_t)snprintf(text, sizeof text, "Taken by:");
        const char *separator = " ";
        for (enum command_id command = COMMAND_RUN + 1; command < N_COMMANDS; command++) {
            if ((option_table[id].commands & (1u << command)) == 0)
                continue;
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", separator,
                                     command_table[command].name);
            separator = ", ";
        }
        snprintf(text + used, sizeof text - used, ".\n");
        paragraph_says(paragraph, text);
        free(paragraph);
    }
    page_knows_no_more(page, others);
    free(page);
}

/* ---- names of outputs ------------------------------------------------------------------------ */

static void patterns_expand(void **state)
{
    (void)state;
    const struct pattern_values values = {.command = "/usr/bin/app", .pid = 42};
    char out[64];
    struct err err = ERR_INIT;
    setenv("PMI_RANK", "3", 1);
    assert_true(pattern_expand("%n.%p.r%r%%.folded", &values, out, sizeof out, &err));
    assert_string_equal(out, "app.42.r3%.folded");
    unsetenv("PMI_RANK");
    assert_true(pattern_expand("%r", &values, out, sizeof out, &err));
    assert_string_equal(out, "0");
    assert_false(pattern_expand("a%x", &values, out, sizeof out, &err));
    assert_non_null(strstr(err.text, "%x"));
    err = (struct err)ERR_INIT;
    assert_false(pattern_expand("a%", &values, out, sizeof out, &err));
    err = (struct err)ERR_INIT;
    assert_false(pattern_expand("%n%n", &values, out, 6, &err));
    assert_int_equal(err.code, ERR_LIMIT);
}

static void a_command_name_cannot_leave_the_folder(void **state)
{
    (void)state;
    const char *const names[][2] = {
        {"..", "_."}, {".hidden", "_hidden"}, {"a/b/", "program"}, {"a\nb\033c", "a_b_c"}};
    for (size_t i = 0; i < N_ELEMENTS(names); i++) {
        const struct pattern_values values = {.command = names[i][0]};
        char out[64];
        struct err err = ERR_INIT;
        assert_true(pattern_expand("%n", &values, out, sizeof out, &err));
        assert_string_equal(out, names[i][1]);
    }
}

static void folders_of_patterns(void **state)
{
    (void)state;
    const struct pattern_values values = {.command = "app"};
    char out[64];
    struct err err = ERR_INIT;
    assert_true(pattern_folder("x.folded", &values, out, sizeof out, &err));
    assert_string_equal(out, ".");
    assert_true(pattern_folder("/x.folded", &values, out, sizeof out, &err));
    assert_string_equal(out, "/");
    assert_true(pattern_folder("d/%n/x.%p", &values, out, sizeof out, &err));
    assert_string_equal(out, "d/app");
    assert_false(pattern_folder("d%p/x", &values, out, sizeof out, &err));
    assert_true(pattern_has_pid("%n.%p"));
    assert_false(pattern_has_pid("%%p"));
}

static void a_pid_goes_before_the_extension(void **state)
{
    (void)state;
    const char *const paths[][2] = {{"out.folded", "out.7.folded"},
                                    {"d.x/out", "d.x/out.7"},
                                    {"a.diff.folded", "a.7.diff.folded"},
                                    {"a.pb.gz", "a.7.pb.gz"},
                                    {".hidden", ".hidden.7"}};
    for (size_t i = 0; i < N_ELEMENTS(paths); i++) {
        char out[64];
        struct err err = ERR_INIT;
        assert_true(path_add_pid(paths[i][0], 7, out, sizeof out, &err));
        assert_string_equal(out, paths[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(defaults_stand_when_nothing_is_said, clear_environment),
        cmocka_unit_test_setup(every_way_of_writing_an_option, clear_environment),
        cmocka_unit_test_setup(seconds_become_nanoseconds, clear_environment),
        cmocka_unit_test_setup(percentages, clear_environment),
        cmocka_unit_test_setup(the_command_keeps_its_own_options, clear_environment),
        cmocka_unit_test_setup(operands_in_two_parts, clear_environment),
        cmocka_unit_test_setup(operands_and_options_mix_elsewhere, clear_environment),
        cmocka_unit_test_setup(a_flag_of_the_environment_is_0_or_1, clear_environment),
        cmocka_unit_test_setup(the_environment_comes_before_the_default, clear_environment),
        cmocka_unit_test_setup(refusals_are_one_line_with_the_nearest_word, clear_environment),
        cmocka_unit_test_setup(too_many_outputs_are_refused, clear_environment),
        cmocka_unit_test_setup(help_fits_a_screen_and_names_every_option, clear_environment),
        cmocka_unit_test(the_page_of_sampler_run_is_the_table),
        cmocka_unit_test(the_page_of_sampler_is_the_table),
        cmocka_unit_test(patterns_expand),
        cmocka_unit_test(a_command_name_cannot_leave_the_folder),
        cmocka_unit_test(folders_of_patterns),
        cmocka_unit_test(a_pid_goes_before_the_extension),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
