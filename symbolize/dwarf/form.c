/* form.c - see form.h. */
#include "dwarf/form.h"

#include <dwarf.h>

/* By form; 0: see below. */
static const int8_t fixed_bytes[DW_FORM_addrx4 + 1] = {
    [DW_FORM_addr] = 8,    [DW_FORM_data2] = 2,     [DW_FORM_data4] = 4,
    [DW_FORM_data8] = 8,   [DW_FORM_data1] = 1,     [DW_FORM_flag] = 1,
    [DW_FORM_strp] = 4,    [DW_FORM_ref1] = 1,      [DW_FORM_ref2] = 2,
    [DW_FORM_ref4] = 4,    [DW_FORM_ref8] = 8,      [DW_FORM_sec_offset] = 4,
    [DW_FORM_data16] = 16, [DW_FORM_line_strp] = 4, [DW_FORM_ref_sig8] = 8,
    [DW_FORM_strx1] = 1,   [DW_FORM_strx2] = 2,     [DW_FORM_strx3] = 3,
    [DW_FORM_strx4] = 4,   [DW_FORM_addrx1] = 1,    [DW_FORM_addrx2] = 2,
    [DW_FORM_addrx3] = 3,  [DW_FORM_addrx4] = 4,
};

int form_bytes(uint64_t form, unsigned version)
{
    switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
        return 0;
    case DW_FORM_ref_addr:
        return version < 3 ? 8 : 4;
    case DW_FORM_block1:
    case DW_FORM_block2:
    case DW_FORM_block4:
    case DW_FORM_block:
    case DW_FORM_exprloc:
    case DW_FORM_string:
    case DW_FORM_sdata:
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
        return FORM_VARIES;
    default:
        if (form < sizeof fixed_bytes && fixed_bytes[form] != 0)
            return fixed_bytes[form];
        return FORM_UNKNOWN;
    }
}

void form_skip(struct cursor *c, uint16_t form, unsigned version)
{
    size_t length;
    int fixed = form_bytes(form, version);
    if (fixed >= 0) {
        cursor_skip(c, (size_t)fixed);
        return;
    }
    switch (form) {
    case DW_FORM_string:
        (void)cursor_text(c, &length);
        return;
    case DW_FORM_block1:
        cursor_skip(c, cursor_u8(c));
        return;
    case DW_FORM_block2:
        cursor_skip(c, cursor_u16le(c));
        return;
    case DW_FORM_block4:
        cursor_skip(c, cursor_u32le(c));
        return;
    case DW_FORM_block:
    case DW_FORM_exprloc:
        cursor_skip(c, cursor_uleb128(c));
        return;
    case DW_FORM_sdata:
        (void)cursor_sleb128(c);
        return;
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
        (void)cursor_uleb128(c);
        return;
    default:
        cursor_fail(c);
    }
}

static uint64_t number_of_bytes(struct cursor *c, int n)
{
    switch (n) {
    case 1:
        return cursor_u8(c);
    case 2:
        return cursor_u16le(c);
    case 3: {
        uint64_t low = cursor_u16le(c);
        return low | (uint64_t)cursor_u8(c) << 16;
    }
    case 4:
        return cursor_u32le(c);
    case 8:
        return cursor_u64le(c);
    default:
        cursor_skip(c, (size_t)n);
        return 0;
    }
}

uint64_t form_number(struct cursor *c, const struct attribute *attribute, unsigned version)
{
    switch (attribute->form) {
    case DW_FORM_implicit_const:
        return (uint64_t)attribute->constant;
    case DW_FORM_flag_present:
        return 1;
    case DW_FORM_sdata:
        return (uint64_t)cursor_sleb128(c);
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_rnglistx:
        return cursor_uleb128(c);
    default:
        break;
    }
    int fixed = form_bytes(attribute->form, version);
    if (fixed >= 0)
        return number_of_bytes(c, fixed);
    form_skip(c, attribute->form, version);
    return 0;
}

bool form_is_unit_ref(uint16_t form)
{
    return form == DW_FORM_ref4 || form == DW_FORM_ref_udata || form == DW_FORM_ref1 ||
           form == DW_FORM_ref2 || form == DW_FORM_ref8;
}

bool form_is_addrx(uint16_t form)
{
    return form == DW_FORM_addrx || (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4);
}
