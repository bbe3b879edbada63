/* inputs.c - see inputs.h. */
#include "report/inputs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/files.h"
#include "run/recording_dir.h"

bool path_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool path_check_profile(const char *path, struct err *err)
{
    bool is_folder = path_is_folder(path);
    if (!is_folder && !path_is_recording(path))
        return true;
    err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
             "is %s; make a profile of it with `sampler report`",
             is_folder ? "a folder" : "a recording");
    return err_name_file(err, path);
}

static bool add(struct report_inputs *inputs, const char *path, bool of_run, struct err *err)
{
    const struct report_input input = {.path = strdup(path), .may_be_bad = of_run};
    if (input.path != NULL && report_inputs_push(inputs, input))
        return true;
    free(input.path);
    return err_fail_memory(err);
}

static bool add_folder(struct report_inputs *inputs, const char *folder, bool may_be_empty,
                       struct err *err)
{
    struct recording_list list = {0};
    bool ok = recording_dir_list(folder, &list, err);
    if (ok && list.n == 0 && !may_be_empty) {
        err_fail(err, ERR_FORMAT, ERR_NO_OFFSET, "no recording of a run is in this folder");
        ok = err_name_file(err, folder);
    }
    for (size_t i = 0; ok && i < list.n; i++)
        ok = add(inputs, list.files[i].path, true, err);
    recording_list_free(&list);
    return ok;
}

bool report_inputs_add_operand(struct report_inputs *inputs, const char *path, bool may_be_empty,
                               struct err *err)
{
    return path_is_folder(path) ? add_folder(inputs, path, may_be_empty, err)
                                : add(inputs, path, false, err);
}

void report_inputs_free(struct report_inputs *inputs)
{
    for (size_t i = 0; i < inputs->n; i++)
        free(inputs->items[i].path);
    report_inputs_deinit(inputs);
}
