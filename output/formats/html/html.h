/* html.h - a page that shows a profile, in one file that opens from disk.
 *
 *   page = what stands before | a .sprofile file in base64 | what comes after
 *
 * Why        A person wants to look, not to find a viewer. The page needs no network, no server and no
 *            other file, so it can be kept beside a build, mailed, and opened in ten years.
 * Data       The same bytes that the tools work on (formats/sprofile), so a page can be asked further
 *            questions (`sampler top app.html`), and what it shows can be compared with the answers.
 * The page   is made of viewer/ when Sampler is built (cmake/HtmlPage.cmake). Nothing of a profile
 *            is ever part of its markup; its policy forbids network and foreign script. */
#ifndef SAMPLER_HTML_H
#define SAMPLER_HTML_H

#include "formats/format.h"

extern const struct format format_html;

#endif
