/* main.c - sampler: one word says which command, its file does it. */
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "append.h"
#include "commands/commands.h"
#include "diff/command.h"
#include "files/cut_guard.h"
#include "list/command.h"
#include "options/messages.h"
#include "report/files.h"
#include "report/newest.h"

#define USAGE_STATUS 2
#define LARGE_BYTES (256 * 1024)

static const struct {
    enum command_id id;
    int (*run)(const struct options *options);
} commands[] = {
    {COMMAND_REPORT, command_report},   {COMMAND_CONVERT, command_convert},
    {COMMAND_DIFF, command_diff},       {COMMAND_TOP, command_top},
    {COMMAND_TREE, command_tree},       {COMMAND_LIST, command_list},
    {COMMAND_VIEW, command_view},       {COMMAND_DUMP, command_dump},
    {COMMAND_FORMATS, command_formats}, {COMMAND_CACHE, command_cache},
};
#define N_ROWS (sizeof commands / sizeof commands[0])

static void print_help(FILE *out)
{
    fputs("Usage: sampler COMMAND [OPTION]... [FILE]...\n"
          "Profiles of native Linux programs: from recordings to any format, and on the terminal.\n"
          "\n",
          out);
    for (size_t i = 0; i < N_ROWS; i++)
        fprintf(out, "  %-9s %s\n", command_table[commands[i].id].name,
                command_table[commands[i].id].about);
    fputs("\n"
          "`sampler COMMAND --help` lists the options. To profile a program:\n"
          "  sampler-run ./app                       writes app.PID.folded and app.PID.sprofile\n"
          "  sampler top                             where the time of that run went\n"
          "  sampler view --open                     the same as a page in your browser\n"
          "  LD_PRELOAD=/path/libsampler.so ./app    without the launcher\n",
          out);
}

static int refuse_word(const char *word)
{
    char words[256] = "";
    char near[32];
    size_t used = 0;
    for (size_t i = 0; i < N_ROWS; i++)
        append(words, sizeof words, &used, "%s%s", i > 0 ? "|" : "",
               command_table[commands[i].id].name);
    const char *kind = word[0] == '-' ? "option" : "command";
    char text[256];
    if (word_nearest(word, words, near, sizeof near) != NULL)
        snprintf(text, sizeof text, "unknown %s '%.60s'; nearest is '%s'", kind, word, near);
    else
        snprintf(text, sizeof text, "unknown %s '%.60s'; --help lists the commands", kind, word);
    tell("sampler", text);
    return USAGE_STATUS;
}

/* The first operand of a command that takes a name, unless it is a profile: where only files are
 * given, none is asked for. */
static void take_name(struct options *options)
{
    if (!command_table[options->command].takes_name || options->n_operands == 0 ||
        path_is_profile(options->operands[0]))
        return;
    options->name = options->operands[0];
    options->operands++;
    options->n_operands--;
}

/* Where no file is named and the command is content with the newest here: that one. */
static bool find_operand(struct options *options, bool is_quiet, struct err *err)
{
    static struct newest_names newest;
    static char *operands[] = {newest.names[0], newest.names[1], NULL};
    char line[sizeof newest.names + 64];
    enum newest which = command_table[options->command].newest;
    if (options->n_operands > 0 || which == NEWEST_NONE)
        return true;
    if (!newest_find(which, &newest, err))
        return false;
    options->operands = operands;
    options->n_operands = newest.n;
    snprintf(line, sizeof line, "reading %s%s%s, the newest here", newest.names[0],
             newest.n > 1 ? " and " : "", newest.names[1]);
    if (!is_quiet)
        tell("sampler", line);
    return true;
}

static int run_row(size_t row, int argc, char **argv)
{
    struct options options;
    struct err err = ERR_INIT;
    if (!options_parse(commands[row].id, argc, argv, &options, &err)) {
        complain("sampler", &err);
        return USAGE_STATUS;
    }
    bool is_quiet = options_flag(&options, OPTION_QUIET);
    if (is_quiet)
        notes_silence();
    int status = 0;
    take_name(&options);
    if (!options.help && !options.version && !find_operand(&options, is_quiet, &err)) {
        complain("sampler", &err);
        return USAGE_STATUS;
    }
    if (options.help)
        options_print_help(commands[row].id, stdout);
    else if (options.version)
        printf("sampler %s\n", SAMPLER_VERSION);
    else
        status = commands[row].run(&options);
    if (fflush(stdout) != 0 && status == 0) {
        perror("sampler: stdout");
        return 1;
    }
    return status;
}

int main(int argc, char **argv)
{
    /* Large arrays grow by moving pages, whatever was freed before: less memory at the peak. */
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    cut_guard_install();
    if (argc < 2) {
        print_help(stderr);
        return USAGE_STATUS;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return fflush(stdout) == 0 ? 0 : 1;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("sampler %s\n", SAMPLER_VERSION);
        return fflush(stdout) == 0 ? 0 : 1;
    }
    for (size_t i = 0; i < N_ROWS; i++)
        if (strcmp(argv[1], command_table[commands[i].id].name) == 0)
            return run_row(i, argc - 1, argv + 1);
    return refuse_word(argv[1]);
}
