/* match.h - which frames somebody means: --focus and its like, and FUNC of --callers.
 *
 *   pattern   a POSIX extended regular expression, for any part of the function's name; with "file:"
 *             or "module:" in front for the path of its source file or module
 *   name      a function as people type it: its whole name; where there is none, the name without
 *             result and arguments; the same without namespaces and classes; a pattern
 *
 * Functions are marked one by one; a frame is as its function is. */
#ifndef SAMPLER_MATCH_H
#define SAMPLER_MATCH_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "model/profile.h"

/* What of a frame is looked at. */
enum match_subject { MATCH_FUNCTION, MATCH_FILE, MATCH_MODULE };

struct match {
    const char *option; /* "--focus", for errors; borrowed     */
    const char *text;   /* borrowed; NULL: nothing was asked   */
    enum match_subject subject;
    bool is_compiled;
    regex_t regex;
};

/* ERR_USAGE: `text` is no regular expression. NULL is taken: nothing matches then. The match is to be
 * given back in every case. */
MUST_CHECK bool match_init(struct match *match, const char *option, const char *text,
                           struct err *err);
void match_deinit(struct match *match); /* takes zeros */

/* Whether the regular expression is met by a text, which may hold any bytes. */
bool match_text(const struct match *match, struct text text);

/* Sets `bit` in marks[id] of every function of the profile that matches; `marks` has one for each.
 * ERR_UNSUPPORTED: none does. Nothing asked: nothing is set, and that is fine. */
MUST_CHECK bool match_mark_pattern(const struct match *match, const struct profile *profile,
                                   uint8_t *marks, uint8_t bit, struct err *err);

/* The same, the text being a name. */
MUST_CHECK bool match_mark_name(const struct match *match, const struct profile *profile,
                                uint8_t *marks, uint8_t bit, struct err *err);

/* The name people see of a function; may be empty. */
struct text match_function_name(const struct profile *profile, uint32_t function);

#endif
