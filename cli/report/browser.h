/* browser.h - the user's own browser, asked to show a file.
 *
 * Only on --open: nothing is served, and nothing opened unasked. The browser is that of the
 * variable BROWSER (commands with ":" between, "%s" in them the URL, as xdg-open knows it), else, where there is a
 * display, what the desktop says (xdg-open, sensible-browser). It runs on its own, without our
 * terminal. */
#ifndef SAMPLER_CLI_BROWSER_H
#define SAMPLER_CLI_BROWSER_H

#include <stdbool.h>

#include "err.h"

/* `path` is a file that exists. False: no browser could be started; *err says why, and what to do.
 * */
MUST_CHECK bool browser_open(const char *path, struct err *err);

#endif
