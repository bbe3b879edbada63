/* builder.c - see builder.h. */
#include "dwarf/builder.h"

#include <string.h>

#define LEB128_MAX_BYTES 10u

void builder_number(struct builder *builder, struct chars *out, uint64_t value)
{
    if (!chars_reserve(out, LEB128_MAX_BYTES)) {
        builder->no_memory = true;
        return;
    }
    for (; value > 0x7f; value >>= 7)
        out->items[out->n++] = (char)(value | 0x80);
    out->items[out->n++] = (char)value;
}

void builder_signed(struct builder *builder, struct chars *out, int64_t value)
{
    builder_number(builder, out, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

void builder_span(struct builder *builder, struct spans *spans, struct span span)
{
    if (work_spend(&builder->work, sizeof span) && !spans_push(spans, span))
        builder->no_memory = true;
}

uint32_t builder_text(struct builder *builder, const char *text, bool lasts)
{
    uint32_t id = 0;
    if (text == NULL || text[0] == '\0')
        return 0;
    if (lasts) {
        id = map_find(&builder->texts_by_place, (uintptr_t)text, 0);
        if (id != MAP_NONE)
            return id;
    }
    size_t length = strlen(text);
    if (!work_spend(&builder->work, length)) /* texts may overlap */
        return 0;
    if (!intern_add(builder->texts, text, length, &id))
        builder->no_memory = true;
    if (lasts && map_add(&builder->texts_by_place, (uintptr_t)text, 0, id) == MAP_NONE)
        builder->no_memory = true;
    return id;
}
