/* convert.c - sampler convert: profiles in, one profile out. Outputs are checked before the first
 * input is read, as reading may take long. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "commands/commands.h"
#include "model/merge.h"
#include "options/format_names.h"
#include "options/messages.h"
#include "registry/registry.h"
#include "report/files.h"
#include "report/inputs.h"
#include "report/save.h"
#include "source/embed.h"

struct inputs {
    struct profile **profiles;
    size_t n;
};

static bool load_one(const char *path, const struct format_options *options, struct profile **out,
                     struct err *err)
{
    struct file_bytes bytes;
    if (!path_check_profile(path, err) || !file_load(path, &bytes, err))
        return false;
    bool ok = profile_load(path, &bytes, options, out, err);
    file_unload(&bytes);
    return ok;
}

static bool inputs_load(const struct options *options, struct inputs *inputs, struct err *err)
{
    struct format_options format_options = format_options_from(options);
    inputs->profiles = calloc(options->n_operands, sizeof(struct profile *));
    if (inputs->profiles == NULL)
        return err_fail_memory(err);
    for (; inputs->n < options->n_operands; inputs->n++)
        if (!load_one(options->operands[inputs->n], &format_options, &inputs->profiles[inputs->n],
                      err))
            return false;
    return true;
}

static void inputs_unload(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->n; i++)
        profile_destroy(inputs->profiles[i]);
    free(inputs->profiles);
}

/* ---- outputs --------------------------------------------------------------------------------- */

struct outputs {
    const struct options *options;
    char named[PATH_MAX]; /* after the first input, where there is no -o; else ""  */
};

static size_t outputs_n(const struct outputs *outputs)
{
    return outputs->named[0] != '\0' ? 1 : outputs->options->n_outputs;
}

static const char *output_path(const struct outputs *outputs, size_t i)
{
    return outputs->named[0] != '\0' ? outputs->named : outputs->options->outputs[i];
}

/* A name nobody chose must not cost a file that is read. */
static bool output_is_input(const char *path, const struct options *options)
{
    struct stat output, input;
    if (stat(path, &output) != 0)
        return false;
    for (size_t i = 0; i < options->n_operands; i++)
        if (stat(options->operands[i], &input) == 0 && input.st_dev == output.st_dev &&
            input.st_ino == output.st_ino)
            return true;
    return false;
}

static bool output_name(struct outputs *outputs, struct err *err)
{
    const struct options *options = outputs->options;
    outputs->named[0] = '\0';
    if (options->n_outputs > 0)
        return true;
    if (!format_output_of(options->operands[0], options->values[OPTION_FORMAT], outputs->named,
                          sizeof outputs->named, err))
        return false;
    return !output_is_input(outputs->named, options) ||
           err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                    "%.100s: is the input; name the output with -o FILE or its format with -f",
                    outputs->named);
}

static void tell_wrote(void *context, const char *path)
{
    const struct outputs *outputs = context;
    char line[PATH_MAX + 16];
    if (outputs->named[0] == '\0' || options_flag(outputs->options, OPTION_QUIET))
        return; /* it is where it was asked for */
    snprintf(line, sizeof line, "wrote %s", path);
    tell("sampler", line);
}

/* To every output, each in its format. */
static bool save(struct outputs *outputs, const struct profile *profile, struct err *err)
{
    const struct options *options = outputs->options;
    for (size_t i = 0; i < outputs_n(outputs); i++) {
        struct save_request request = {.profile = profile,
                                       .options = options,
                                       .path = output_path(outputs, i),
                                       .wrote = tell_wrote,
                                       .context = outputs};
        request.format = format_for_writing(request.path, options->values[OPTION_FORMAT], err);
        if (request.format == NULL || !profile_save(&request, err))
            return false;
    }
    return true;
}

/* 0, or 2 after saying what is wrong with the command line. */
static int check_outputs(struct outputs *outputs, struct err *err)
{
    bool ok = output_name(outputs, err);
    for (size_t i = 0; ok && i < outputs_n(outputs); i++)
        ok = format_for_writing(output_path(outputs, i), outputs->options->values[OPTION_FORMAT],
                                err) != NULL;
    if (ok)
        return 0;
    complain("sampler", err);
    return 2;
}

static int finish(struct inputs *inputs, bool ok, const struct err *err)
{
    if (!ok)
        complain("sampler", err);
    inputs_unload(inputs);
    return ok ? 0 : 1;
}

int command_convert(const struct options *options)
{
    struct err err = ERR_INIT;
    struct inputs inputs = {0};
    struct outputs outputs = {.options = options};
    int status = check_outputs(&outputs, &err);
    if (status != 0)
        return status;
    bool ok = inputs_load(options, &inputs, &err);
    if (ok && inputs.n == 1) {
        ok = embed_sources_if_asked(&inputs.profiles[0], options, &err) &&
             save(&outputs, inputs.profiles[0], &err);
    } else if (ok) {
        struct profile *merged = NULL;
        struct format_notes notes = notes_to_stderr("merging");
        ok = profile_merge((const struct profile *const *)inputs.profiles, inputs.n, &notes,
                           &merged, &err) &&
             embed_sources_if_asked(&merged, options, &err) && save(&outputs, merged, &err);
        profile_destroy(merged);
    }
    return finish(&inputs, ok, &err);
}
