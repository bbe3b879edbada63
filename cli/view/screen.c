/* screen.c - see screen.h. All of it is gathered first: only then is known whether a pager is
 * needed, and a failing command leaves no half table. */
#include "view/screen.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "view/width.h"

#define LEAST_COLUMNS 40 /* narrower terminals get lines of this width all the same */
#define NO_SUCH_COMMAND 127

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0';
}

/* What the user's locale writes; the program's own stays "C" but for widths. */
static bool locale_is_utf8(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (locale == (locale_t)0)
        return false;
    bool is_utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return is_utf8;
}

static void terminal_ask(struct screen *screen)
{
    struct winsize size;
    const char *term = getenv("TERM");
    screen->is_terminal = isatty(STDOUT_FILENO) == 1;
    if (!screen->is_terminal)
        return;
    screen->has_color = !is_set("NO_COLOR") && term != NULL && strcmp(term, "dumb") != 0;
    screen->is_utf8 = locale_is_utf8();
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return; /* of unknown size: as wide as it takes, without a pager */
    screen->columns = size.ws_col < LEAST_COLUMNS ? LEAST_COLUMNS : size.ws_col;
    screen->rows = size.ws_row;
}

bool screen_open(struct screen *screen, struct err *err)
{
    *screen = (struct screen){.columns = SIZE_MAX};
    width_init();
    terminal_ask(screen);
    screen->out = open_memstream(&screen->text, &screen->text_bytes);
    return screen->out != NULL || err_fail_memory(err);
}

/* ---- showing --------------------------------------------------------------------------------- */

static bool is_longer_than_terminal(const struct screen *screen)
{
    size_t n = 1; /* the prompt */
    for (size_t i = 0; i < screen->text_bytes; i++)
        n += screen->text[i] == '\n';
    return screen->rows != 0 && n > screen->rows;
}

static bool is_in_path(const char *program)
{
    const char *path = getenv("PATH");
    char file[4096];
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        if (snprintf(file, sizeof file, "%.*s/%s", (int)length, path, program) < (int)sizeof file &&
            access(file, X_OK) == 0)
            return true;
        path += length;
        path += *path == ':';
    }
    return false;
}

/* NULL: none. */
static const char *pager_choose(void)
{
    const char *pager = getenv("SAMPLER_PAGER");
    if (pager == NULL)
        pager = getenv("PAGER");
    if (pager == NULL && is_in_path("less"))
        pager = "less";
    return pager == NULL || pager[0] == '\0' || strcmp(pager, "cat") == 0 ? NULL : pager;
}

/* False if there is no such pager, and nothing was shown. */
static bool pager_show(const struct screen *screen, const char *pager)
{
    (void)setenv("LESS", "FRX", 0); /* colours as they are; it ends if all fits */
    FILE *pipe = popen(pager, "w"); /* NOLINT(cert-env33-c): the user's own command */
    if (pipe == NULL)
        return false;
    /* The keys are the pager's, and it may end before all is written. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGQUIT, SIG_IGN);
    (void)fwrite(screen->text, 1, screen->text_bytes, pipe);
    int status = pclose(pipe);
    return !WIFEXITED(status) || WEXITSTATUS(status) != NO_SUCH_COMMAND;
}

bool screen_close(struct screen *screen, struct err *err)
{
    bool ok = fclose(screen->out) == 0;
    if (!ok)
        err_fail_memory(err);
    const char *pager = ok && is_longer_than_terminal(screen) ? pager_choose() : NULL;
    bool is_shown = pager != NULL && pager_show(screen, pager);
    if (ok && !is_shown && fwrite(screen->text, 1, screen->text_bytes, stdout) < screen->text_bytes)
        ok = err_fail_errno(err, errno, "stdout");
    free(screen->text);
    return ok;
}

/* ---- pieces of lines ------------------------------------------------------------------------- */

void screen_style(struct screen *screen, enum screen_style style)
{
    static const char *const codes[N_STYLES] = {
        [STYLE_PLAIN] = "0",  [STYLE_HEADING] = "1", [STYLE_HOT] = "1;31", [STYLE_WARM] = "33",
        [STYLE_DIM] = "2;37", [STYLE_BAR] = "31",    [STYLE_LESS] = "32"};
    if (screen->has_color)
        fprintf(screen->out, "\033[%sm", codes[style]);
}

struct text screen_mark(const struct screen *screen)
{
    return text_make(screen->is_utf8 ? "\u2026" : "...");
}

void screen_bar(struct screen *screen, double part, size_t columns)
{
    enum { EIGHTHS = 8 };
    static const char *const ends[EIGHTHS] = {"",       "\u258f", "\u258e", "\u258d",
                                              "\u258c", "\u258b", "\u258a", "\u2589"};
    size_t filled = (size_t)(part * (double)(columns * EIGHTHS) + 0.5);
    size_t n_whole = filled / EIGHTHS, n_end = filled % EIGHTHS;
    if (!screen->is_utf8) {
        n_whole = (filled + EIGHTHS / 2) / EIGHTHS;
        n_end = 0;
    }
    for (size_t i = 0; i < n_whole; i++)
        fputs(screen->is_utf8 ? "\u2588" : "#", screen->out);
    fputs(ends[n_end], screen->out);
    n_whole += n_end > 0;
    fprintf(screen->out, "%*s", (int)(columns - n_whole), "");
}

void screen_text(struct screen *screen, struct text text)
{
    while (text.length > 0) {
        struct glyph glyph = glyph_next(text);
        (void)fwrite(glyph.bytes, 1, glyph.n_bytes, screen->out);
        text = text_from(text, glyph.n_taken);
    }
}
