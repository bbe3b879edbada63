/* main.c - sampler: one word says which command, its file does it. */
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "append.h"
#include "commands/commands.h"
#include "options/messages.h"
#include "report/files.h"

#define USAGE_STATUS 2
#define LARGE_BYTES (256 * 1024)

static const struct {
    enum command_id id;
    int (*run)(const struct options *options);
} commands[] = {
    {COMMAND_REPORT, command_report}, {COMMAND_CONVERT, command_convert},
    {COMMAND_DIFF, command_diff},     {COMMAND_TOP, command_top},
    {COMMAND_DUMP, command_dump},     {COMMAND_FORMATS, command_formats},
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
          "  sampler-run ./app                       app.PID.folded, where its time went\n"
          "  sampler top app.PID.folded              the same on the terminal\n"
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

static int run_row(size_t row, int argc, char **argv)
{
    struct options options;
    struct err err = ERR_INIT;
    if (!options_parse(commands[row].id, argc, argv, &options, &err)) {
        complain("sampler", &err);
        return USAGE_STATUS;
    }
    if (options_flag(&options, OPTION_QUIET))
        notes_silence();
    int status = 0;
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
