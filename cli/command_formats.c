/* command_formats.c - sampler formats, sampler dump: what the table of formats holds and reads. */
#include <stdio.h>

#include "append.h"
#include "commands.h"
#include "files.h"
#include "sink.h"

int command_formats(const struct options *options)
{
    if (options->n_operands > 0) {
        struct err err = ERR_INIT;
        err_fail(&err, ERR_USAGE, ERR_NO_OFFSET, "formats takes no file: '%.60s'",
                 options->operands[0]);
        complain("sampler", &err);
        return 2;
    }
    printf("%-16s %-20s %-6s %s\n", "NAME", "EXTENSION", "", "");
    for (const struct format *const *row = format_table; *row != NULL; row++) {
        char extensions[64] = "";
        size_t used = 0;
        for (const char *const *extension = (*row)->extensions; *extension != NULL; extension++)
            append(extensions, sizeof extensions, &used, "%s.%s", used > 0 ? " " : "", *extension);
        printf("%-16s %-20s %c%c%c    %s\n", (*row)->name, extensions,
               (*row)->read != NULL ? 'r' : '-', (*row)->write != NULL ? 'w' : '-',
               (*row)->dump != NULL ? 'd' : '-', (*row)->about);
    }
    puts("\nr: read, w: written, d: shown by `sampler dump`");
    return 0;
}

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
