/* formats.c - sampler formats, sampler dump: what the table of formats holds and reads. */
#include <stdio.h>
#include <string.h>

#include "append.h"
#include "commands/commands.h"
#include "options/messages.h"
#include "registry/registry.h"
#include "report/files.h"
#include "report/inputs.h"
#include "sink.h"
#include "text/json_write.h"

#define LINE_WIDTH 100

/* A list of words with a title, broken into lines. */
static void print_keeps(uint32_t keeps)
{
    static const char title[] = "    keeps ";
    int column = printf("%s", title);
    const char *comma = "";
    for (uint32_t i = 0; format_keeps_words[i] != NULL; i++) {
        const char *word = format_keeps_words[i];
        if (!(keeps & 1u << i))
            continue;
        column += printf("%s", comma);
        if (column + (int)strlen(word) > LINE_WIDTH)
            column = printf("\n%*s", (int)strlen(title) - 1, "") - 1;
        column += printf("%s%s", comma[0] != '\0' ? " " : "", word);
        comma = ",";
    }
    puts(keeps == 0 ? "sums alone" : "");
}

static void print_table(void)
{
    printf("%-16s %-20s\n", "NAME", "EXTENSION");
    for (const struct format *const *row = format_table; *row != NULL; row++) {
        char extensions[64] = "";
        size_t used = 0;
        for (const char *const *extension = (*row)->extensions; *extension != NULL; extension++)
            append(extensions, sizeof extensions, &used, "%s.%s", used > 0 ? " " : "", *extension);
        printf("%-16s %-20s %c%c%c    %s\n", (*row)->name, extensions,
               (*row)->read != NULL ? 'r' : '-', (*row)->write != NULL ? 'w' : '-',
               (*row)->dump != NULL ? 'd' : '-', (*row)->about);
        print_keeps((*row)->keeps);
    }
    puts("\nr: read, w: written, d: shown by `sampler dump`; keeps: what is there again in a file\n"
         "written and read (times: of samples; lines: the executed ones; files: and lines of\n"
         "functions; kinds: more than one number for a sample)");
}

static void json_formats(struct json *json)
{
    json_array_begin(json);
    for (const struct format *const *row = format_table; *row != NULL; row++) {
        json_object_begin(json);
        json_key(json, "name");
        json_cstring(json, (*row)->name);
        json_key(json, "extensions");
        json_array_begin(json);
        for (const char *const *extension = (*row)->extensions; *extension != NULL; extension++)
            json_cstring(json, *extension);
        json_array_end(json);
        json_key(json, "about");
        json_cstring(json, (*row)->about);
        json_key(json, "read");
        json_bool(json, (*row)->read != NULL);
        json_key(json, "write");
        json_bool(json, (*row)->write != NULL);
        json_key(json, "dump");
        json_bool(json, (*row)->dump != NULL);
        json_key(json, "keeps");
        json_array_begin(json);
        for (uint32_t i = 0; format_keeps_words[i] != NULL; i++) {
            if ((*row)->keeps & 1u << i)
                json_cstring(json, format_keeps_words[i]);
        }
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
    sink_text(json->out, "\n");
}

static bool print_json(struct err *err)
{
    struct sink *sink = NULL;
    if (!sink_create_file("-", &sink, err))
        return false;
    struct json json = json_make(sink, 1);
    json_formats(&json);
    return sink_close(sink, err);
}

int command_formats(const struct options *options)
{
    struct err err = ERR_INIT;
    if (options->n_operands > 0) {
        err_fail(&err, ERR_USAGE, ERR_NO_OFFSET, "formats takes no file: '%.60s'",
                 options->operands[0]);
        complain("sampler", &err);
        return 2;
    }
    if (!options_flag(options, OPTION_JSON)) {
        print_table();
    } else if (!print_json(&err)) {
        complain("sampler", &err);
        return 1;
    }
    return 0;
}

/* The output is opened only for a format that can be dumped: nothing is left of a refusal. */
static bool dump_as(const struct format *format, const struct file_bytes *bytes, const char *path,
                    const char *output, struct err *err)
{
    struct sink *sink = NULL;
    struct format_notes notes = notes_to_stderr(path);
    if (format->dump == NULL)
        return err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET, "format %s cannot be dumped",
                        format->name);
    if (!sink_create_file(output, &sink, err))
        return false;
    if (format->dump(bytes->data, bytes->size_bytes, &notes, sink, err))
        return sink_close(sink, err);
    sink_abandon(sink);
    return false;
}

static bool dump(const char *path, const char *output, struct err *err)
{
    struct file_bytes bytes;
    if (!file_load(path, &bytes, err))
        return false;
    const struct format *format = format_for_reading(path, &bytes, err);
    bool ok = format != NULL && dump_as(format, &bytes, path, output, err);
    file_unload(&bytes);
    return ok || err_name_file(err, path);
}

int command_dump(const struct options *options)
{
    struct err err = ERR_INIT;
    if (options->n_operands > 0 && !path_check_profile(options->operands[0], &err)) {
        complain("sampler", &err);
        return 1;
    }
    if (options->n_operands != 1 || options->n_outputs > 1) {
        fputs("sampler: dump takes one file and at most one -o\n", stderr);
        return 2;
    }
    const char *output = options->n_outputs > 0 ? options->outputs[0] : "-";
    if (dump(options->operands[0], output, &err))
        return 0;
    complain("sampler", &err);
    return 1;
}
