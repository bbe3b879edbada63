/* page.h - the page without a profile, as it was built. */
#ifndef SAMPLER_HTML_PAGE_H
#define SAMPLER_HTML_PAGE_H

#include <stdbool.h>

#include "text.h"

struct text html_page_before(void); /* ends where the profile begins */
struct text html_page_after(void);

/* Whether this version of Sampler wrote it: around the profile, and in its place, there is nothing else. */
bool html_page_is_ours(struct text page);

/* By these a page is known, and the profile in it is found, whatever version wrote it. */
#define HTML_PAGE_SIGN "<!-- A profile by Sampler"
#define HTML_PROFILE_BEGIN "<script id=\"profile\" type=\"application/octet-stream\">"
#define HTML_PROFILE_END "</script>"

#endif
