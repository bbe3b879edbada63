/* profile_text.h - what a profile says, as lines of text and numbers: for tests that compare what
 * went into a format with what came out of it.
 *
 * Only the parts a set of `keeps` flags names are told, so that two profiles can be compared in
 * just those. Texts go through the format's rule for names; numbers may differ by its unit. */
#ifndef SAMPLER_TESTS_PROFILE_TEXT_H
#define SAMPLER_TESTS_PROFILE_TEXT_H

#include "array.h"
#include "formats/format.h"

enum name_rule {
    NAMES_TO_NUL, /* bytes as they are                                   */
    NAMES_UTF8,   /* other bytes and NUL became U+FFFD                   */
    NAMES_FOLDED, /* as a folded file can hold them                      */
    NAMES_BARE    /* only letters and digits are sure to survive         */
};

struct profile_text {
    struct array lines; /* sorted */
};

struct profile_text_rules {
    uint32_t keeps;        /* what to tell                                             */
    uint32_t format_keeps; /* of the format: are its samples or its spans the story?   */
    enum name_rule names;
    bool in_ns;            /* weights of samples as times                              */
    bool no_tids;          /* threads by name alone: the format gave out ids of its own */
    bool process_roots;    /* of several processes the name is the outermost frame     */
    bool process_in_names; /* of several processes the name stands behind the thread's */
    bool modules_as_files; /* where no file is known                                   */
    bool one_thread;       /* only what belongs to `thread`                              */
    uint32_t thread;
};

struct profile_text profile_text_make(const struct profile *profile,
                                      const struct profile_text_rules *rules);
void profile_text_free(struct profile_text *text);

/* Empty when the two agree, each number to `unit` for every sample in it; else what differs. */
#define PROFILE_TEXT_WHY 800
void profile_text_differ(const struct profile_text *found, const struct profile_text *expected,
                         uint64_t unit, char why[PROFILE_TEXT_WHY]);

#endif
