/* save.c - see save.h. */
#include "report/save.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compare/side_by_side.h"
#include "fold/diff.h"
#include "model/convert.h"
#include "options/format_names.h"
#include "options/messages.h"
#include "options/pattern.h"
#include "registry/losses.h"
#include "report/files.h"
#include "report/progress.h"

/* ---- losses, reported once
 * ----------------------------------------------------------------------- */

/* Different notes of one output, "; " between. */
struct heard {
    char text[1024];
    size_t length;
};

static bool is_known(const struct heard *heard, const char *text, size_t length)
{
    for (const char *at = heard->text; (at = strstr(at, text)) != NULL; at++) {
        bool begins = at == heard->text || at[-1] == ' ';
        if (begins && (at[length] == ';' || at[length] == '\0'))
            return true;
    }
    return false;
}

static void hear(void *context, const char *text)
{
    struct heard *heard = context;
    size_t length = strlen(text);
    if (heard->length + length + 3 > sizeof heard->text || is_known(heard, text, length))
        return;
    heard->length +=
        (size_t)snprintf(heard->text + heard->length, sizeof heard->text - heard->length, "%s%s",
                         heard->length > 0 ? "; " : "", text);
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool write_file(const struct save_request *request, const struct profile *profile,
                       uint32_t thread, const char *path, struct heard *heard, struct err *err)
{
    struct format_options options = format_options_from(request->options);
    options.thread = thread;
    const struct format_notes notes = {.note = hear, .context = heard};
    struct sink *sink = NULL;
    if (!sink_create_file(path, &sink, err))
        return false;
    if (!request->format->write(profile, &options, &notes, sink, err)) {
        sink_abandon(sink);
        return err_name_file(err, path);
    }
    if (!sink_close(sink, err))
        return err_name_file(err, path);
    if (request->wrote != NULL)
        request->wrote(request->context, path);
    return true;
}

/* A thread with samples. */
struct sampled {
    uint64_t tid, pid;
    uint32_t thread;
};

static int sampled_compare(const void *left, const void *right)
{
    const struct sampled *a = left, *b = right;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/* Samples are in order of threads. False when out of memory. */
static bool sampled_find(const struct profile *profile, struct sampled **out, size_t *n_out)
{
    struct sampled *all = calloc(profile->n_threads, sizeof *all);
    size_t n = 0;
    for (size_t i = 0; all != NULL && i < profile->n_samples; i++) {
        uint32_t thread = profile->samples[i].thread;
        if (n > 0 && all[n - 1].thread == thread)
            continue;
        const struct profile_thread *row = &profile->threads[thread];
        all[n++] = (struct sampled){
            .tid = row->tid, .pid = profile->processes[row->process].pid, .thread = thread};
    }
    if (n > 0)
        qsort(all, n, sizeof *all, sampled_compare);
    *out = all;
    *n_out = n;
    return all != NULL;
}

/* Whether a neighbour in the order has the same thread id (and process). */
static bool is_shared(const struct sampled *all, size_t n, size_t i, bool of_process)
{
    for (size_t k = i == 0 ? 1 : i - 1; k < n && k <= i + 1; k += 2) {
        if (all[k].tid == all[i].tid && (!of_process || all[k].pid == all[i].pid))
            return true;
    }
    return false;
}

/* "app.cpuprofile" -> "app.TID.cpuprofile"; with the process as well where another's thread has
 * that id, with a number as well where the process used the id again. Without ids: the number
 * alone. */
static bool thread_path(const char *path, const struct sampled *all, size_t n, size_t i, char *out,
                        struct err *err)
{
    char with_pid[PATH_MAX], with_tid[PATH_MAX];
    if (all[i].tid == 0)
        return path_add_pid(path, all[i].thread, out, PATH_MAX, err);
    if (!is_shared(all, n, i, false))
        return path_add_pid(path, all[i].tid, out, PATH_MAX, err);
    if (!path_add_pid(path, all[i].pid, with_pid, sizeof with_pid, err))
        return false;
    if (!is_shared(all, n, i, true))
        return path_add_pid(with_pid, all[i].tid, out, PATH_MAX, err);
    return path_add_pid(with_pid, all[i].tid, with_tid, sizeof with_tid, err) &&
           path_add_pid(with_tid, all[i].thread, out, PATH_MAX, err);
}

/* Pipes, devices and stdout take one file only. */
static bool is_regular(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && (stat(path, &st) != 0 || S_ISREG(st.st_mode));
}

static bool save_threads(const struct save_request *request, const struct profile *profile,
                         struct heard *heard, struct err *err)
{
    struct sampled *all = NULL;
    size_t n = 0;
    if (!sampled_find(profile, &all, &n))
        return err_fail_memory(err);
    /* Thread 0, of formats that know none, cannot be told apart from "all". */
    bool is_one_file = n < 2 || profile->samples[0].thread == 0 || !is_regular(request->path) ||
                       options_is(request->options, OPTION_THREADS, "merge");
    bool ok = true;
    if (is_one_file)
        ok = write_file(request, profile, n == 1 ? all[0].thread : 0, request->path, heard, err);
    for (size_t i = 0; ok && !is_one_file && i < n; i++) {
        char path[PATH_MAX];
        ok = thread_path(request->path, all, n, i, path, err) &&
             write_file(request, profile, all[i].thread, path, heard, err);
    }
    free(all);
    return ok;
}

/* Pages and pictures show two numbers of a stack with what of them is chance. `*made`: the
 * caller's, or NULL. */
static bool with_changes(const struct save_request *request, const struct format_notes *notes,
                         struct profile **made, struct err *err)
{
    const struct profile *profile = request->profile;
    return !request->format->for_browsers || !profile_is_diff(profile) ||
           profile_is_side_by_side(profile) || profile_diff_side_by_side(profile, notes, made, err);
}

static bool save(const struct save_request *request, struct heard *heard, struct err *err)
{
    struct profile *made = NULL;
    const struct profile *samples = request->profile;
    const struct format_notes notes = {.note = hear, .context = heard};
    losses_note(request->profile, request->format, &notes);
    bool ok = with_changes(request, &notes, &made, err);
    if (ok && request->format->is_one_thread)
        ok = profile_with_samples(request->profile, &samples, &made, err) &&
             save_threads(request, samples, heard, err);
    else if (ok)
        ok = write_file(request, made != NULL ? made : request->profile, 0, request->path, heard,
                        err);
    profile_destroy(made);
    return ok;
}

bool profile_save(const struct save_request *request, struct err *err)
{
    struct heard heard = {.length = 0};
    bool is_stream = path_is_stream(request->path); /* which may be the terminal */
    struct progress *progress = is_stream ? NULL : progress_start("writing", request->path);
    bool ok = save(request, &heard, err);
    progress_stop(progress);
    if (ok && heard.length > 0 && !options_flag(request->options, OPTION_QUIET)) {
        char line[sizeof heard.text + PATH_MAX];
        snprintf(line, sizeof line, "%s: %s", request->path, heard.text);
        tell("sampler", line);
    }
    return ok;
}
