/* outputs.c - see outputs.h. */
#include "options/outputs.h"

#include <limits.h>
#include <string.h>

#include "environment.h"
#include "options/format_names.h"

/* Without the page that --open adds. */
static size_t asked_count(const struct options *options)
{
    if (options->n_outputs > 0)
        return options->n_outputs;
    return options->values[OPTION_FORMAT] == NULL ? 2 : 1;
}

static const char *asked_name(const struct options *options, size_t index)
{
    if (options->n_outputs > 0)
        return options->outputs[index];
    if (options->values[OPTION_FORMAT] == NULL)
        return index == 0 ? ENVIRONMENT_OUTPUT_DEFAULT : ENVIRONMENT_PROFILE_DEFAULT;
    const char *name = format_default_output(options->values[OPTION_FORMAT]);
    return name == NULL ? ENVIRONMENT_OUTPUT_DEFAULT : name;
}

static bool adds_page(const struct options *options)
{
    if (!options_flag(options, OPTION_OPEN))
        return false;
    for (size_t i = 0; i < asked_count(options); i++)
        if (format_is_for_browsers(asked_name(options, i), options->values[OPTION_FORMAT]))
            return false;
    return true;
}

size_t outputs_count(const struct options *options)
{
    return asked_count(options) + adds_page(options);
}

bool outputs_is_added_page(const struct options *options, size_t index)
{
    return index == asked_count(options);
}

const char *outputs_name(const struct options *options, size_t index)
{
    return outputs_is_added_page(options, index) ? format_default_output("html")
                                                 : asked_name(options, index);
}

static bool is_pattern(const struct options *options, size_t index)
{
    return options->command == COMMAND_RUN || options->given[OPTION_RUN] ||
           options->n_outputs == 0 || outputs_is_added_page(options, index);
}

bool outputs_name_has_pid(const struct options *options, size_t index)
{
    return is_pattern(options, index) && pattern_has_pid(outputs_name(options, index));
}

bool outputs_expand(const struct options *options, size_t index,
                    const struct pattern_values *values, char *out, size_t out_bytes,
                    struct err *err)
{
    const char *name = outputs_name(options, index);
    if (is_pattern(options, index))
        return pattern_expand(name, values, out, out_bytes, err);
    int n = snprintf(out, out_bytes, "%s", name);
    return (n >= 0 && (size_t)n < out_bytes) ||
           err_fail(err, ERR_LIMIT, ERR_NO_OFFSET, "%.100s: the file name is too long", name);
}

static bool check_path(const struct options *options, const char *path, bool may_be_several,
                       struct err *err)
{
    const char *format = format_name_for_writing(path, options->values[OPTION_FORMAT], err);
    if (format == NULL)
        return false;
    if (strcmp(format, "diff-folded") == 0)
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                        "%.100s: a diff is made of two profiles; see `sampler diff --help`", path);
    if (may_be_several && options_is(options, OPTION_PROCESSES, "split") && path_is_stream(path))
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                        "%.100s: --processes split writes several files, which need a name", path);
    return true;
}

bool outputs_check(const struct options *options, bool may_be_several, struct err *err)
{
    const struct pattern_values values = {.command = "command"};
    char path[PATH_MAX];
    if (adds_page(options) && options->values[OPTION_FORMAT] != NULL)
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                        "--open: --format %.40s is not for browsers; leave it out",
                        options->values[OPTION_FORMAT]);
    for (size_t i = 0; i < outputs_count(options); i++) {
        if (!outputs_expand(options, i, &values, path, sizeof path, err) ||
            !check_path(options, path, may_be_several, err))
            return false;
    }
    return true;
}
