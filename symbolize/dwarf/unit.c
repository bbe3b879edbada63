/* unit.c - see unit.h. */
#include "dwarf/unit.h"

#include <dwarf.h>
#include <string.h>

#include "number.h"

/* Lengths from here on announce 64-bit DWARF, or are reserved (DWARF 5, 7.4). */
#define LENGTH_RESERVED 0xfffffff0u

/* Of an entry of a range list, which may be read for many DIEs. */
#define ENTRY_WORK sizeof(struct range)

uint64_t unit_length(const uint8_t *bytes)
{
    struct cursor c = cursor_make(bytes, UNIT_LENGTH_BYTES);
    uint32_t length = cursor_u32le(&c);
    return length >= LENGTH_RESERVED ? 0 : (uint64_t)length + UNIT_LENGTH_BYTES;
}

struct cursor unit_cursor(const struct unit *unit, uint64_t offset)
{
    struct cursor c = unit->bytes;
    if (offset < unit->first_die || offset >= (uint64_t)(c.end - c.start))
        cursor_fail(&c);
    else
        c.pos = c.start + offset;
    return c;
}

void unit_skip_attributes(const struct unit *unit, struct cursor *c, const struct abbrev *abbrev)
{
    if (abbrev->fixed_bytes >= 0) {
        cursor_skip(c, (size_t)abbrev->fixed_bytes);
        return;
    }
    const struct attribute *attribute = abbrev_attributes(unit->abbrevs, abbrev);
    for (uint32_t i = 0; i < abbrev->n; i++)
        form_skip(c, attribute[i].form, unit->version);
}

void unit_skip_children(const struct unit *unit, struct cursor *c, const struct abbrev *abbrev,
                        struct work_account *work)
{
    if (!abbrev->has_children || c->failed)
        return;
    if (abbrev->sibling_before >= 0) {
        struct cursor at = *c;
        at.pos -= abbrev->sibling_before;
        uint64_t sibling = cursor_u32le(&at);
        if (sibling >= cursor_offset(c) && sibling <= (uint64_t)(c->end - c->start)) {
            c->pos = c->start + sibling;
            return;
        }
    }
    for (uint64_t depth = 1; depth > 0 && !c->failed;) {
        uint64_t code = cursor_uleb128(c);
        if (code == 0) {
            depth--;
            continue;
        }
        const struct abbrev *inner = abbrevs_find(unit->abbrevs, code);
        if (inner == NULL) {
            cursor_fail(c);
            return;
        }
        if (!work_spend(work, 1 + inner->n))
            return;
        unit_skip_attributes(unit, c, inner);
        depth += inner->has_children;
    }
}

/* ---- values that lie in other sections ---- */

static const char *string_at(const struct section *section, uint64_t offset)
{
    return offset < section->size_bytes ? (const char *)section->bytes + offset : NULL;
}

/* Entry `index` of a table of `entry_bytes` each; false: there is none. */
static bool table_entry(const struct section *section, uint64_t base, uint64_t index,
                        unsigned entry_bytes, uint64_t *value)
{
    if (base > section->size_bytes || index >= (section->size_bytes - base) / entry_bytes)
        return false;
    struct cursor c = cursor_make(section->bytes + base + index * entry_bytes, entry_bytes);
    *value = entry_bytes == 4 ? cursor_u32le(&c) : cursor_u64le(&c);
    return true;
}

const char *unit_string(const struct unit *unit, struct cursor *c,
                        const struct attribute *attribute)
{
    const struct section *sections = unit->sections->of;
    size_t length;
    uint64_t number;
    switch (attribute->form) {
    case DW_FORM_string:
        return cursor_text(c, &length);
    case DW_FORM_strp:
        return string_at(&sections[SECTION_STR], cursor_u32le(c));
    case DW_FORM_line_strp:
        return string_at(&sections[SECTION_LINE_STR], cursor_u32le(c));
    case DW_FORM_strx:
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
        number = form_number(c, attribute, unit->version);
        if (!table_entry(&sections[SECTION_STR_OFFSETS], unit->str_offsets_base, number, 4,
                         &number))
            return NULL;
        return string_at(&sections[SECTION_STR], number);
    default:
        form_skip(c, attribute->form, unit->version);
        return NULL;
    }
}

static bool address_by_index(const struct unit *unit, uint64_t index, uint64_t *address)
{
    return table_entry(&unit->sections->of[SECTION_ADDR], unit->addr_base, index, 8, address);
}

uint64_t unit_address(const struct unit *unit, struct cursor *c, const struct attribute *attribute,
                      bool *is_address)
{
    uint64_t number = form_number(c, attribute, unit->version);
    *is_address = attribute->form == DW_FORM_addr;
    if (form_is_addrx(attribute->form))
        *is_address = address_by_index(unit, number, &number);
    return *is_address ? number : 0;
}

/* ---- ranges ---- */

bool unit_range_lives(const struct unit *unit, uint64_t start, uint64_t end)
{
    /* Linkers write 0 or 1 where they dropped the code, and the end is relative to that. */
    return start > 1 && start < end && start >= unit->sections->code_start &&
           end <= unit->sections->code_end;
}

static bool range_add(const struct unit *unit, struct range_list *out, uint64_t start, uint64_t end)
{
    return !unit_range_lives(unit, start, end) || range_list_push(out, (struct range){start, end});
}

/* .debug_ranges (DWARF 4, 2.17.3). */
static bool ranges_before_5(const struct unit *unit, struct cursor *c, struct range_list *out,
                            struct work_account *work)
{
    uint64_t base = unit->low_pc;
    while (work_spend(work, ENTRY_WORK)) {
        uint64_t start = cursor_u64le(c);
        uint64_t end = cursor_u64le(c);
        if (c->failed)
            return false;
        if (start == 0 && end == 0)
            return true;
        if (start == UINT64_MAX)
            base = end;
        else if (start != end && !range_add(unit, out, base + start, base + end))
            return false;
    }
    return false;
}

/* One entry of .debug_rnglists (DWARF 5, 2.17.3); *base as it stands. */
static bool rnglist_entry(const struct unit *unit, struct cursor *c, uint8_t kind, uint64_t *base,
                          struct range *range)
{
    *range = (struct range){0, 0};
    switch (kind) {
    case DW_RLE_base_addressx:
        return address_by_index(unit, cursor_uleb128(c), base);
    case DW_RLE_base_address:
        *base = cursor_u64le(c);
        return true;
    case DW_RLE_startx_endx:
        return address_by_index(unit, cursor_uleb128(c), &range->start) &&
               address_by_index(unit, cursor_uleb128(c), &range->end);
    case DW_RLE_startx_length:
        if (!address_by_index(unit, cursor_uleb128(c), &range->start))
            return false;
        range->end = range->start + cursor_uleb128(c);
        return true;
    case DW_RLE_offset_pair:
        range->start = *base + cursor_uleb128(c);
        range->end = *base + cursor_uleb128(c);
        return true;
    case DW_RLE_start_end:
        range->start = cursor_u64le(c);
        range->end = cursor_u64le(c);
        return true;
    case DW_RLE_start_length:
        range->start = cursor_u64le(c);
        range->end = range->start + cursor_uleb128(c);
        return true;
    default:
        return false;
    }
}

static bool ranges_of_5(const struct unit *unit, struct cursor *c, struct range_list *out,
                        struct work_account *work)
{
    uint64_t base = unit->low_pc;
    while (work_spend(work, ENTRY_WORK)) {
        struct range range;
        uint8_t kind = cursor_u8(c);
        if (kind == DW_RLE_end_of_list && !c->failed)
            return true;
        if (!rnglist_entry(unit, c, kind, &base, &range) || c->failed ||
            !range_add(unit, out, range.start, range.end))
            return false;
    }
    return false;
}

static bool list_read(const struct unit *unit, const struct unit_pcs *pcs, struct range_list *out,
                      struct work_account *work)
{
    bool five = unit->version >= 5;
    const struct section *section = &unit->sections->of[five ? SECTION_RNGLISTS : SECTION_RANGES];
    uint64_t offset = pcs->list;
    if (pcs->list_form.form == DW_FORM_rnglistx) {
        if (!table_entry(section, unit->rnglists_base, pcs->list, 4, &offset))
            return false;
        offset += unit->rnglists_base;
    }
    if (offset >= section->size_bytes)
        return false;
    struct cursor c = cursor_make(section->bytes + offset, section->size_bytes - offset);
    return five ? ranges_of_5(unit, &c, out, work) : ranges_before_5(unit, &c, out, work);
}

bool unit_pcs_take(const struct unit *unit, struct unit_pcs *pcs, struct cursor *c,
                   const struct attribute *attribute)
{
    bool is_address;
    switch (attribute->name) {
    case DW_AT_low_pc:
        pcs->low = unit_address(unit, c, attribute, &pcs->has_low);
        return true;
    case DW_AT_high_pc:
        if (attribute->form == DW_FORM_addr || form_is_addrx(attribute->form)) {
            pcs->high = unit_address(unit, c, attribute, &is_address);
            pcs->has_high = is_address;
        } else {
            pcs->high = form_number(c, attribute, unit->version);
            pcs->has_high = pcs->high_is_length = true;
        }
        return true;
    case DW_AT_ranges:
        pcs->list_form = *attribute;
        pcs->list = form_number(c, attribute, unit->version);
        pcs->has_list = true;
        return true;
    default:
        return false;
    }
}

bool unit_ranges(const struct unit *unit, const struct unit_pcs *pcs, struct range_list *out,
                 struct work_account *work)
{
    if (pcs->has_low && pcs->has_high) /* the usual case, and then a list is not looked at */
        return range_add(unit, out, pcs->low,
                         pcs->high_is_length ? pcs->low + pcs->high : pcs->high);
    return !pcs->has_list || list_read(unit, pcs, out, work);
}

/* ---- header and DIE ---- */

/* DWARF 5, 7.5.1; 2 to 4 have neither the kind nor the order of the rest. */
static enum unit_kind header_read(struct unit *unit, struct cursor *c)
{
    cursor_skip(c, UNIT_LENGTH_BYTES);
    unit->version = cursor_u16le(c);
    uint8_t kind = DW_UT_compile;
    uint8_t address_bytes;
    if (unit->version >= 5) {
        kind = cursor_u8(c);
        address_bytes = cursor_u8(c);
        unit->abbrev_offset = cursor_u32le(c);
    } else {
        unit->abbrev_offset = cursor_u32le(c);
        address_bytes = cursor_u8(c);
    }
    unit->first_die = cursor_offset(c);
    if (c->failed)
        return UNIT_DAMAGED;
    if (unit->version < 2 || unit->version > 5 || address_bytes != 8)
        return UNIT_FOREIGN;
    if (kind == DW_UT_type || kind == DW_UT_partial)
        return UNIT_SKIP;
    return kind == DW_UT_compile ? UNIT_COMPILE : UNIT_FOREIGN;
}

/* The tables that other attributes lead into, before those are read. */
static void bases_read(struct unit *unit, struct cursor c, const struct abbrev *abbrev)
{
    const struct attribute *attribute = abbrev_attributes(unit->abbrevs, abbrev);
    for (uint32_t i = 0; i < abbrev->n; i++, attribute++) {
        uint64_t *base = attribute->name == DW_AT_str_offsets_base ? &unit->str_offsets_base
                         : attribute->name == DW_AT_addr_base      ? &unit->addr_base
                         : attribute->name == DW_AT_rnglists_base  ? &unit->rnglists_base
                                                                   : NULL;
        if (base != NULL)
            *base = form_number(&c, attribute, unit->version);
        else
            form_skip(&c, attribute->form, unit->version);
    }
}

static void die_read(struct unit *unit, struct cursor *c, const struct abbrev *abbrev)
{
    struct unit_pcs pcs = {.has_low = false};
    const struct attribute *attribute = abbrev_attributes(unit->abbrevs, abbrev);
    for (uint32_t i = 0; i < abbrev->n; i++, attribute++) {
        if (unit_pcs_take(unit, &pcs, c, attribute))
            continue;
        switch (attribute->name) {
        case DW_AT_language:
            unit->language = form_number(c, attribute, unit->version);
            break;
        case DW_AT_comp_dir:
            unit->folder = unit_string(unit, c, attribute);
            break;
        case DW_AT_stmt_list:
            unit->lines_offset = form_number(c, attribute, unit->version);
            unit->has_lines = true;
            break;
        default:
            form_skip(c, attribute->form, unit->version);
        }
    }
    unit->low_pc = pcs.low;
    unit->states_ranges = pcs.has_list || pcs.has_high;
    unit->pcs = pcs;
}

enum unit_kind unit_open(struct unit *unit, const struct sections *sections,
                         struct abbrevs *abbrevs, const uint8_t *bytes, uint64_t n_bytes,
                         struct work_account *work)
{
    *unit = (struct unit){
        .sections = sections, .abbrevs = abbrevs, .bytes = cursor_make(bytes, n_bytes)};
    struct cursor c = unit->bytes;
    enum unit_kind kind = header_read(unit, &c);
    if (kind != UNIT_COMPILE)
        return kind;
    const struct section *section = &sections->of[SECTION_ABBREV];
    enum abbrevs_outcome outcome = abbrevs_read(abbrevs, section->bytes, section->size_bytes,
                                                unit->abbrev_offset, unit->version, work);
    if (outcome != ABBREVS_READ)
        return outcome == ABBREVS_FOREIGN   ? UNIT_FOREIGN
               : outcome == ABBREVS_DAMAGED ? UNIT_DAMAGED
                                            : UNIT_NO_MEMORY;
    uint64_t code = cursor_uleb128(&c);
    const struct abbrev *abbrev = abbrevs_find(abbrevs, code);
    if (abbrev == NULL)
        return code == 0 && !c.failed ? UNIT_SKIP : UNIT_DAMAGED;
    if (abbrev->tag != DW_TAG_compile_unit)
        return UNIT_SKIP;
    if (!work_spend(work, abbrev->n))
        return UNIT_DAMAGED;
    bases_read(unit, c, abbrev);
    die_read(unit, &c, abbrev);
    unit->first_child = cursor_offset(&c);
    unit->has_children = abbrev->has_children;
    return c.failed ? UNIT_DAMAGED : UNIT_COMPILE;
}
