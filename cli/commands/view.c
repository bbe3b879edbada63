/* view.c - sampler view: a profile as a page to look at. Its path is all that goes to stdout, so
 * that `firefox "$(sampler view)"` does. The text of source files is in the page if it can be found,
 * as whoever looks sits where the program was built, mostly; `sampler convert` makes pages without. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/commands.h"
#include "formats/html/html.h"
#include "formats/html/page.h"
#include "options/format_names.h"
#include "options/messages.h"
#include "report/browser.h"
#include "report/files.h"
#include "report/save.h"
#include "source/embed.h"
#include "view/input.h"

#define HEAD_BYTES 1024 /* by which a page of ours is known */

struct view {
    const struct options *options;
    char named[PATH_MAX];  /* after the first file, where there is no -o; else ""    */
    char folder[PATH_MAX]; /* made for it, as nothing can be written here; else "" */
    bool is_there;         /* `named` is the file that is looked at: a page already */
};

static size_t outputs_n(const struct view *view)
{
    return view->options->n_outputs == 0 ? 1 : view->options->n_outputs;
}

static const char *output_path(const struct view *view, size_t i)
{
    return view->options->n_outputs == 0 ? view->named : view->options->outputs[i];
}

static bool is_same_file(const char *path, const char *other)
{
    struct stat a, b;
    return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* A folder of our own where temporary files go: others may write there, and a name that can be foreseen may be
 * taken, and a profile, with its sources, is not for everyone to read. */
static bool make_folder(struct view *view, struct err *err)
{
    const char *temporary = getenv("TMPDIR");
    temporary = temporary != NULL && temporary[0] == '/' ? temporary : "/tmp";
    int n = snprintf(view->folder, sizeof view->folder, "%s/sampler-XXXXXX", temporary);
    if (n > 0 && (size_t)n < sizeof view->folder && mkdtemp(view->folder) != NULL)
        return true;
    view->folder[0] = '\0';
    return err_fail_errno(err, errno, "no page can be written here, nor a folder made there") ||
           err_name_file(err, temporary);
}

/* `name` in this folder, or in the one that was made; never to be taken for an option. */
static bool place_page(struct view *view, const char *name, struct err *err)
{
    const char *folder = view->folder[0] != '\0' ? view->folder : name[0] == '-' ? "." : "";
    int n = snprintf(view->named, sizeof view->named, "%s%s%s", folder,
                     folder[0] == '\0' ? "" : "/", name);
    return (n >= 0 && (size_t)n < sizeof view->named) ||
           err_fail(err, ERR_LIMIT, ERR_NO_OFFSET, "%.100s: the file name is too long", name);
}

/* What was not named by the user may replace a page of ours, and nothing else. */
static bool check_replaced(const char *path, struct err *err)
{
    uint8_t head[HEAD_BYTES];
    struct stat status;
    if (lstat(path, &status) != 0)
        return true;
    int fd = S_ISREG(status.st_mode) ? open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);
    if (fd >= 0)
        close(fd);
    return (n > 0 && format_html.sniff(head, (size_t)n) > 0) ||
           err_fail(
               err, ERR_USAGE, ERR_NO_OFFSET,
               "%.100s: is there already, and no page by Sampler; name the output with -o FILE",
               path);
}

/* In this folder, or where temporary files go if nothing can be written here. */
static bool name_page(struct view *view, struct err *err)
{
    const char *input = view->options->operands[0];
    char name[NAME_MAX + 1];
    if (!format_output_of(strcmp(input, "-") == 0 ? "stdin" : input, "html", name, sizeof name,
                          err) ||
        (access(".", W_OK | X_OK) != 0 && !make_folder(view, err)) || !place_page(view, name, err))
        return false;
    for (size_t i = 0; i < view->options->n_operands; i++)
        view->is_there = view->is_there || is_same_file(view->named, view->options->operands[i]);
    return view->is_there || check_replaced(view->named, err);
}

/* All that can be wrong with the command line, before the first file is read. */
static bool check_outputs(struct view *view, struct err *err)
{
    if (view->options->n_outputs == 0)
        return name_page(view, err);
    if (options_flag(view->options, OPTION_OPEN) && path_is_stream(view->options->outputs[0]))
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET, "--open: %.100s is no file to open",
                        view->options->outputs[0]);
    for (size_t i = 0; i < view->options->n_outputs; i++) {
        const char *path = view->options->outputs[i];
        const struct format *format = format_for_writing(path, NULL, err);
        if (format == NULL)
            return false;
        if (!format->for_browsers)
            return err_fail(
                err, ERR_USAGE, ERR_NO_OFFSET,
                "%.100s: not a file to look at; take FILE.html or FILE.svg, or `sampler convert`",
                path);
    }
    return true;
}

/* A page that is looked at as a whole needs no writing, if it is what we would write: one from elsewhere
 * may have a script of its own, and what a browser gets from us is ours. */
static bool is_written_already(struct view *view, const struct input *input, bool *is_ours,
                               struct err *err)
{
    struct file_bytes bytes;
    char name[PATH_MAX];
    if (input->is_part || view->options->n_operands > 1)
        return err_fail(err, ERR_USAGE, ERR_NO_OFFSET,
                        "%.100s: is the input; name the output with -o FILE", view->named);
    if (!file_load(view->named, &bytes, err))
        return false;
    *is_ours = html_page_is_ours((struct text){(const char *)bytes.data, bytes.size_bytes});
    file_unload(&bytes);
    snprintf(name, sizeof name, "%s", view->named);
    if (*is_ours)
        return true;
    if (!options_flag(view->options, OPTION_QUIET))
        tell("sampler", "the page is not of this version of sampler, so it is made anew");
    return make_folder(view, err) && place_page(view, name, err);
}

static bool save_all(const struct view *view, const struct profile *profile, struct err *err)
{
    for (size_t i = 0; i < outputs_n(view); i++) {
        struct save_request request = {
            .profile = profile, .options = view->options, .path = output_path(view, i)};
        request.format = format_for_writing(request.path, NULL, err);
        if (request.format == NULL || !profile_save(&request, err))
            return false;
    }
    return true;
}

static bool make(struct view *view, struct err *err)
{
    struct input input;
    bool is_done = false;
    bool ok = input_load(view->options, &input, err);
    if (ok && view->is_there)
        ok = is_written_already(view, &input, &is_done, err);
    if (ok && !is_done)
        ok =
            embed_sources(&input.profile, view->options, err) && save_all(view, input.profile, err);
    input_unload(&input);
    return ok;
}

static bool print_paths(const struct view *view, struct err *err)
{
    for (size_t i = 0; i < outputs_n(view); i++)
        if (!path_is_stream(output_path(view, i)))
            puts(output_path(view, i));
    return fflush(stdout) == 0 || err_fail_errno(err, errno, "cannot write to stdout");
}

int command_view(const struct options *options)
{
    struct err err = ERR_INIT;
    struct view view = {.options = options};
    bool ok = check_outputs(&view, &err) && make(&view, &err);
    if (!ok && view.folder[0] != '\0')
        (void)rmdir(view.folder);
    ok = ok && print_paths(&view, &err) &&
         (!options_flag(options, OPTION_OPEN) || browser_open(output_path(&view, 0), &err));
    return view_status(ok, &err);
}
