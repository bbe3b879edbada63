/* abbrev.c - see abbrev.h. Compilers number codes 1, 2, 3 ...; a table of others is searched by a
 * second one, which must not be much larger than what it is for. */
#include "dwarf/abbrev.h"

#include <dwarf.h>

#define CODE_MAX ((uint64_t)1 << 16)

struct seen {
    bool code;     /* low_pc, high_pc, ranges */
    bool abstract; /* DW_AT_inline            */
};

/* Of references that lead out of the unit, and of what lies in another file. */
static bool is_foreign(uint64_t name, uint64_t form)
{
    if (name == DW_AT_GNU_dwo_name || name == DW_AT_dwo_name)
        return true;
    return (name == DW_AT_abstract_origin || name == DW_AT_specification) &&
           (form == DW_FORM_ref_addr || form == DW_FORM_ref_sig8);
}

static void size_add(struct abbrev *row, const struct attribute *attribute, unsigned version)
{
    int bytes = form_bytes(attribute->form, version);
    if (attribute->name == DW_AT_sibling && attribute->form == DW_FORM_ref4)
        row->sibling_before = 0;
    if (bytes < 0)
        row->fixed_bytes = row->sibling_before = -1;
    if (row->fixed_bytes >= 0)
        row->fixed_bytes += bytes;
    if (row->sibling_before >= 0)
        row->sibling_before += bytes;
}

static enum abbrev_role role_of(uint64_t tag, struct seen seen)
{
    switch (tag) {
    case DW_TAG_subprogram:
        return seen.code ? ROLE_FUNCTION : seen.abstract ? ROLE_ABSTRACT : ROLE_OTHER;
    case DW_TAG_inlined_subroutine:
        return seen.code ? ROLE_INLINED : ROLE_OTHER;
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_common_block:
        return ROLE_BLOCK;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_variant_part:
    case DW_TAG_variant:
        return ROLE_TYPE;
    default:
        return ROLE_OTHER;
    }
}

/* The attributes of one abbreviation. */
static enum abbrevs_outcome attributes_read(struct abbrevs *abbrevs, struct cursor *c,
                                            struct abbrev *row, struct seen *seen)
{
    for (;;) {
        uint64_t name = cursor_uleb128(c);
        uint64_t form = cursor_uleb128(c);
        struct attribute attribute = {.name = name <= UINT16_MAX ? (uint16_t)name : 0};
        if (form == DW_FORM_implicit_const)
            attribute.constant = cursor_sleb128(c);
        if (c->failed)
            return ABBREVS_DAMAGED;
        if (name == 0 && form == 0)
            return ABBREVS_READ;
        if (form_bytes(form, abbrevs->version) == FORM_UNKNOWN || is_foreign(name, form))
            return ABBREVS_FOREIGN;
        attribute.form = (uint16_t)form;
        seen->code |= name == DW_AT_low_pc || name == DW_AT_ranges;
        seen->abstract |= name == DW_AT_inline;
        if (!attributes_push(&abbrevs->attributes, attribute))
            return ABBREVS_NO_MEMORY;
        if (++row->n > UINT16_MAX)
            return ABBREVS_DAMAGED;
        size_add(row, &attribute, abbrevs->version);
    }
}

static enum abbrevs_outcome code_set(struct abbrevs *abbrevs, uint64_t code)
{
    size_t n = abbrevs->rows.n;
    if (abbrevs->by_code.n == 0 && code == n)
        return ABBREVS_READ;
    if (code > CODE_MAX)
        return ABBREVS_FOREIGN;
    if (abbrevs->by_code.n == 0) { /* the first that is not the next one */
        if (!ids_extend(&abbrevs->by_code, n))
            return ABBREVS_NO_MEMORY;
        for (size_t i = 1; i < n; i++)
            abbrevs->by_code.items[i] = (uint32_t)i;
    }
    if (!ids_extend(&abbrevs->by_code, (size_t)code + 1))
        return ABBREVS_NO_MEMORY;
    if (abbrevs->by_code.items[code] == 0)
        abbrevs->by_code.items[code] = (uint32_t)n;
    return ABBREVS_READ;
}

static enum abbrevs_outcome table_read(struct abbrevs *abbrevs, struct cursor *c)
{
    for (;;) {
        uint64_t code = cursor_uleb128(c);
        if (c->failed)
            return ABBREVS_DAMAGED;
        if (code == 0)
            return ABBREVS_READ;
        uint64_t tag = cursor_uleb128(c);
        struct abbrev row = {
            .tag = tag <= UINT16_MAX ? (uint16_t)tag : 0,
            .has_children = cursor_u8(c) != 0,
            .first = (uint32_t)abbrevs->attributes.n,
            .sibling_before = -1,
        };
        struct seen seen = {false, false};
        enum abbrevs_outcome outcome = attributes_read(abbrevs, c, &row, &seen);
        if (outcome != ABBREVS_READ)
            return outcome;
        row.role = (uint8_t)role_of(tag, seen);
        if (!abbrev_rows_push(&abbrevs->rows, row))
            return ABBREVS_NO_MEMORY;
        outcome = code_set(abbrevs, code);
        if (outcome != ABBREVS_READ)
            return outcome;
    }
}

enum abbrevs_outcome abbrevs_read(struct abbrevs *abbrevs, const uint8_t *section,
                                  size_t section_bytes, uint64_t offset, unsigned version,
                                  struct work_account *work)
{
    if (abbrevs->filled && abbrevs->offset == offset && abbrevs->version == version)
        return ABBREVS_READ;
    abbrevs->filled = false;
    if (offset >= section_bytes)
        return ABBREVS_DAMAGED;
    abbrevs->rows.n = abbrevs->by_code.n = abbrevs->attributes.n = 0;
    abbrevs->offset = offset;
    abbrevs->version = version;
    struct cursor c = cursor_make(section + offset, section_bytes - offset);
    enum abbrevs_outcome outcome = table_read(abbrevs, &c);
    if (!work_spend(work, cursor_offset(&c) + abbrevs->by_code.n * sizeof(uint32_t)) &&
        outcome == ABBREVS_READ)
        outcome = ABBREVS_DAMAGED;
    abbrevs->filled = outcome == ABBREVS_READ;
    return outcome;
}

void abbrevs_deinit(struct abbrevs *abbrevs)
{
    abbrev_rows_deinit(&abbrevs->rows);
    ids_deinit(&abbrevs->by_code);
    attributes_deinit(&abbrevs->attributes);
    abbrevs->filled = false;
}
