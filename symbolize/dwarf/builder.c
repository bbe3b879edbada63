/* builder.c - see builder.h. */
#include "dwarf/builder.h"

#include <dwarf.h>
#include <string.h>

#define LEB128_MAX_BYTES 10u

/* libdw follows as many; compilers make three. */
#define CHAIN_MAX 16u

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

/* ---- what a DIE says ---- */

static bool is_set(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static void string_take(const struct unit *unit, struct cursor *c,
                        const struct attribute *attribute, const char **text, bool *lasts)
{
    const char *found = unit_string(unit, c, attribute);
    if (is_set(*text) || !is_set(found))
        return;
    *text = found;
    *lasts = attribute->form != DW_FORM_string;
}

static void number_take(const struct unit *unit, struct cursor *c,
                        const struct attribute *attribute, uint64_t *number, bool *has)
{
    uint64_t found = form_number(c, attribute, unit->version);
    if (!*has)
        *number = found;
    *has = true;
}

static void reference_take(const struct unit *unit, struct cursor *c,
                           const struct attribute *attribute, struct die_facts *facts)
{
    uint64_t offset = form_number(c, attribute, unit->version);
    bool is_origin = attribute->name == DW_AT_abstract_origin;
    if (!form_is_unit_ref(attribute->form) || (facts->next != 0 && facts->next_is_origin))
        return;
    facts->next = offset;
    facts->next_is_origin = is_origin;
}

static void attribute_take(const struct unit *unit, struct cursor *c,
                           const struct attribute *attribute, struct die_facts *facts)
{
    switch (attribute->name) {
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
        string_take(unit, c, attribute, &facts->linkage_name, &facts->linkage_name_lasts);
        return;
    case DW_AT_name:
        string_take(unit, c, attribute, &facts->name, &facts->name_lasts);
        return;
    case DW_AT_decl_file:
        number_take(unit, c, attribute, &facts->file, &facts->has_file);
        return;
    case DW_AT_decl_line:
        number_take(unit, c, attribute, &facts->line, &facts->has_line);
        return;
    case DW_AT_external:
        facts->is_external |= form_number(c, attribute, unit->version) != 0;
        return;
    case DW_AT_abstract_origin:
    case DW_AT_specification:
        reference_take(unit, c, attribute, facts);
        return;
    default:
        form_skip(c, attribute->form, unit->version);
    }
}

/* Takes in what the DIE at `offset` says and is not known yet; facts->next is the one to go on
 * with. */
static bool die_take(struct builder *builder, uint64_t offset, struct die_facts *facts)
{
    const struct unit *unit = &builder->unit;
    struct cursor c = unit_cursor(unit, offset);
    const struct abbrev *abbrev = abbrevs_find(unit->abbrevs, cursor_uleb128(&c));
    facts->next = 0;
    if (abbrev == NULL || !work_spend(&builder->work, abbrev->n))
        return false;
    const struct attribute *attribute = abbrev_attributes(unit->abbrevs, abbrev);
    for (uint32_t i = 0; i < abbrev->n; i++)
        attribute_take(unit, &c, &attribute[i], facts);
    return !c.failed && work_spend(&builder->work, cursor_offset(&c) - offset);
}

bool die_facts_read(struct builder *builder, uint64_t offset, struct die_facts *facts)
{
    uint64_t at = offset;
    *facts = (struct die_facts){.name = NULL};
    for (unsigned i = 0; i < CHAIN_MAX && at != 0; i++) {
        facts->last = at;
        if (!die_take(builder, at, facts))
            return false;
        at = facts->next;
    }
    return true;
}
