/* input.c - see input.h. */
#include "view/input.h"

#include <stdlib.h>

#include "fold/summary.h"
#include "model/merge.h"
#include "options/messages.h"
#include "report/files.h"
#include "report/report.h"
#include "select/select.h"

static struct selection selection_from(const struct options *options)
{
    return (struct selection){.focus = options->values[OPTION_FOCUS],
                              .ignore = options->values[OPTION_IGNORE],
                              .hide = options->values[OPTION_HIDE],
                              .my_code = options_flag(options, OPTION_MY_CODE),
                              .thread = options->values[OPTION_THREAD],
                              .process = options->values[OPTION_PROCESS],
                              .label = options->values[OPTION_LABEL],
                              .from_ns = options_ns(options, OPTION_FROM, 0),
                              .to_ns = options_ns(options, OPTION_TO, UINT64_MAX)};
}

static bool load_file(const char *path, const struct options *options, struct profile **out,
                      struct err *err)
{
    struct file_bytes bytes;
    struct format_options format_options = format_options_from(options);
    if (!file_load(path, &bytes, err))
        return false;
    bool ok = profile_load(path, &bytes, &format_options, out, err);
    file_unload(&bytes);
    return ok;
}

struct profiles {
    struct profile **items;
    size_t n;
};

static bool profiles_init(struct profiles *profiles, size_t n_most, struct err *err)
{
    *profiles = (struct profiles){.items = calloc(n_most + 1, sizeof(struct profile *))};
    return profiles->items != NULL || err_fail_memory(err);
}

static void profiles_deinit(struct profiles *profiles)
{
    for (size_t i = 0; i < profiles->n; i++)
        profile_destroy(profiles->items[i]);
    free(profiles->items);
}

/* One, or a folder of them. */
static bool is_recording(const char *path)
{
    return path_is_recording(path) || path_is_folder(path);
}

static bool load_all(const struct options *options, char *const *paths, size_t n,
                     struct profiles *profiles, struct err *err)
{
    char **recordings = calloc(n + 1, sizeof *recordings);
    size_t n_recordings = 0;
    if (recordings == NULL)
        return err_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        if (is_recording(paths[i]))
            recordings[n_recordings++] = paths[i];
    bool ok = n_recordings == 0 ||
              recordings_load_profile(options, recordings, n_recordings, &profiles->items[0], err);
    profiles->n = ok && n_recordings > 0;
    free(recordings);
    for (size_t i = 0; ok && i < n; i++) {
        if (is_recording(paths[i]))
            continue;
        ok = load_file(paths[i], options, &profiles->items[profiles->n], err);
        profiles->n += ok;
    }
    return ok;
}

/* The only one, or a merged one. */
static bool merge_all(struct profiles *profiles, struct profile **out, struct err *err)
{
    if (profiles->n == 1) {
        profiles->n = 0;
        *out = profiles->items[0];
        return true;
    }
    struct format_notes notes = notes_to_stderr("merging");
    return profile_merge((const struct profile *const *)profiles->items, profiles->n, &notes, out,
                         err);
}

static bool weigh(const struct profile *profile, uint64_t *weight, struct err *err)
{
    struct summary summary;
    if (!summary_init(&summary, profile, SUMMARY_BY_COMMAND, err))
        return false;
    *weight = summary.weighed.all;
    summary_deinit(&summary);
    return true;
}

/* Takes `all`. */
static bool select_part(const struct selection *selection, struct profile *all, struct input *out,
                        struct err *err)
{
    out->profile = all;
    out->is_part = !selection_is_all(selection);
    if (!weigh(all, &out->whole, err))
        return false;
    if (!out->is_part)
        return true;
    bool ok = profile_select(all, selection, &out->profile, err);
    profile_destroy(all);
    if (ok)
        return true;
    out->profile = NULL;
    return input_name_file(out, err);
}

bool input_name_file(const struct input *input, struct err *err)
{
    return input->path == NULL ? false : err_name_file(err, input->path);
}

bool input_load_files(const struct options *options, char *const *paths, size_t n,
                      struct input *out, struct err *err)
{
    struct selection selection = selection_from(options);
    struct profiles profiles;
    struct profile *all = NULL;
    *out = (struct input){.path = n == 1 ? paths[0] : NULL};
    if (!selection_check(&selection, err) || !profiles_init(&profiles, n, err))
        return false;
    bool ok = load_all(options, paths, n, &profiles, err) && merge_all(&profiles, &all, err);
    profiles_deinit(&profiles);
    return ok && select_part(&selection, all, out, err);
}

bool input_load(const struct options *options, struct input *out, struct err *err)
{
    return input_load_files(options, options->operands, options->n_operands, out, err);
}

int view_status(bool ok, const struct err *err)
{
    if (ok)
        return 0;
    complain("sampler", err);
    return err->code == ERR_USAGE ? 2 : 1;
}

void input_unload(struct input *input)
{
    profile_destroy(input->profile);
    *input = (struct input){.profile = NULL};
}
