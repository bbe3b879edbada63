/* weight_words.c - see weight_words.h. */
#include "fold/weight_words.h"

#include <inttypes.h>
#include <stdio.h>

#include "text.h"

#define NS_PER_S 1000000000u
#define WEIGHT_BYTES 32

int weight_format(struct weight_style style, uint64_t weight, char *out, size_t out_bytes)
{
    if (style.unit != PROFILE_UNIT_NS)
        return snprintf(out, out_bytes, "%" PRIu64, weight);
    return style.is_ms ? snprintf(out, out_bytes, "%.1f ms", (double)weight / 1e6)
                       : snprintf(out, out_bytes, "%.3f s", (double)weight / 1e9);
}

struct weight_style weight_style_for(enum profile_unit unit, uint64_t largest)
{
    struct weight_style style = {.unit = unit,
                                 .is_ms = unit == PROFILE_UNIT_NS && largest < NS_PER_S};
    char text[WEIGHT_BYTES];
    style.columns = weight_format(style, largest, text, sizeof text);
    return style;
}

struct text measure_words(enum profile_unit unit, struct text measure)
{
    switch (unit) {
    case PROFILE_UNIT_NS:
        if (text_is(measure, "cpu"))
            return text_make("CPU time");
        return text_make(text_is(measure, "wall") ? "wall time" : "time");
    case PROFILE_UNIT_BYTES:
        return measure.length > 0 ? measure : text_make("bytes");
    case PROFILE_UNIT_EVENTS:
        return measure.length > 0 ? measure : text_make("events");
    case PROFILE_UNIT_NONE:
    case PROFILE_UNIT_COUNT:
        break;
    }
    return text_make("samples");
}
