/* text.h - small things about struct text that several files need. */
#ifndef SAMPLER_BASE_TEXT_H
#define SAMPLER_BASE_TEXT_H

#include <stdbool.h>
#include <string.h>

#include "intern.h"

static inline bool text_equal(struct text a, struct text b)
{
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

#endif
