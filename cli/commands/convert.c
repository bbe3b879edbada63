/* convert.c - sampler convert: profiles in, one profile out. Outputs are checked before the first input
 * is read, as reading may take long. */
#include <stdio.h>
#include <stdlib.h>

#include "commands/commands.h"
#include "model/merge.h"
#include "options/messages.h"
#include "options/outputs.h"
#include "registry/registry.h"
#include "report/files.h"
#include "report/save.h"

struct inputs {
    struct profile **profiles;
    size_t n;
};

static bool load_one(const char *path, const struct format_options *options, struct profile **out,
                     struct err *err)
{
    struct file_bytes bytes;
    if (path_is_recording(path)) {
        err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
                 "is a recording; make a profile of it with `sampler report`");
        return err_name_file(err, path);
    }
    if (!file_load(path, &bytes, err))
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

/* To every -o, each in its format. */
static bool save(const struct options *options, const struct profile *profile, struct err *err)
{
    for (size_t i = 0; i < options->n_outputs; i++) {
        struct save_request request = {
            .profile = profile, .options = options, .path = options->outputs[i]};
        request.format = format_for_writing(request.path, options->values[OPTION_FORMAT], err);
        if (request.format == NULL || !profile_save(&request, err))
            return false;
    }
    return true;
}

/* 0, or 2 after saying what is wrong with the command line. */
static int check_outputs(const struct options *options, struct err *err)
{
    if (options->n_outputs == 0)
        err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "convert: no output; name one with -o FILE");
    for (size_t i = 0; i < options->n_outputs && err->code == ERR_NONE; i++)
        (void)format_for_writing(options->outputs[i], options->values[OPTION_FORMAT], err);
    if (err->code == ERR_NONE)
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
    int status = check_outputs(options, &err);
    if (status != 0)
        return status;
    bool ok = inputs_load(options, &inputs, &err);
    if (ok && inputs.n == 1) {
        ok = save(options, inputs.profiles[0], &err);
    } else if (ok) {
        struct profile *merged = NULL;
        struct format_notes notes = notes_to_stderr("merging");
        ok = profile_merge((const struct profile *const *)inputs.profiles, inputs.n, &notes,
                           &merged, &err) &&
             save(options, merged, &err);
        profile_destroy(merged);
    }
    return finish(&inputs, ok, &err);
}
