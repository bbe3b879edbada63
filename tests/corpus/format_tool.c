/* format_tool.c - one format's functions on files, for tests that compare with other programs:
 *
 *   format_tool dump FORMAT FILE            the dump on stdout
 *   format_tool check FORMAT FILE           reads the profile and throws it away
 *   format_tool convert FROM IN TO OUT      reads as one format, writes as another
 *
 * Exit status 0; 1 refused, the error on stderr; notes on stderr begin with "note: ". With
 * FORMAT_TOOL_PEAK in the environment the last line of stderr is "peak: N kB", the most memory the
 * process had. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "registry/registry.h"

static void print_note(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "note: %s\n", text);
}

static uint8_t *load(const char *path, size_t *size_bytes)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    uint8_t *data = NULL;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0)
        data = malloc((size_t)size + 1);
    if (data != NULL)
        *size_bytes = fread(data, 1, (size_t)size, file);
    (void)fclose(file);
    if (data == NULL)
        return NULL;
    /* Exactly as large as the file, so that reading past its end is noticed. */
    uint8_t *exact = realloc(data, *size_bytes != 0 ? *size_bytes : 1);
    return exact != NULL ? exact : data;
}

static bool run(int argc, char **argv, const uint8_t *data, size_t size_bytes, struct err *err)
{
    const struct format_notes notes = {.note = print_note};
    const struct format_options options = {.count_ns = false};
    const struct format *format = format_by_name(argv[2]);
    const struct format *to = argc == 6 ? format_by_name(argv[4]) : format;
    if (format == NULL || to == NULL)
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "no such format");
    bool dumps = strcmp(argv[1], "dump") == 0;
    struct profile *profile = NULL;
    struct sink *sink = NULL;
    if (!dumps && !format->read(data, size_bytes, &options, &notes, &profile, err))
        return false;
    bool ok = strcmp(argv[1], "check") == 0;
    if (!ok && sink_create_file(dumps ? "-" : argv[argc - 1], &sink, err)) {
        ok = dumps ? format->dump(data, size_bytes, &notes, sink, err)
                   : to->write(profile, &options, &notes, sink, err);
        if (ok)
            ok = sink_close(sink, err);
        else
            sink_abandon(sink);
    }
    profile_destroy(profile);
    return ok;
}

/* Not from getrusage: that counts what the parent had before it started us, too. */
static void print_peak(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[128];
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0)
            fprintf(stderr, "peak: %lu kB\n", strtoul(line + 6, NULL, 10));
    }
    if (status != NULL)
        (void)fclose(status);
}

int main(int argc, char **argv)
{
    bool converts = argc == 6 && strcmp(argv[1], "convert") == 0;
    if (!converts &&
        !(argc == 4 && (strcmp(argv[1], "dump") == 0 || strcmp(argv[1], "check") == 0))) {
        fprintf(stderr, "usage: format_tool dump|check FORMAT FILE | convert FROM IN TO OUT\n");
        return 2;
    }
    struct err err = ERR_INIT;
    size_t size_bytes = 0;
    uint8_t *data = load(argv[3], &size_bytes);
    bool ok = data != NULL ? run(argc, argv, data, size_bytes, &err)
                           : err_fail(&err, ERR_IO, ERR_NO_OFFSET, "cannot be read");
    free(data);
    if (!ok) {
        char text[600];
        err_name_file(&err, argv[3]);
        fprintf(stderr, "%s\n", err_describe(&err, text, sizeof text));
    }
    if (getenv("FORMAT_TOOL_PEAK") != NULL)
        print_peak();
    return ok ? 0 : 1;
}
