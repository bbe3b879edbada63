/* bytes.c - the reads of cfi/bytes.h that are too long to inline. */
#include "cfi/bytes.h"

uint64_t cfi_uleb128_long(struct cfi_bytes *in)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = cfi_u8(in);
        uint64_t bits = byte & 0x7fU;
        if (in->failed || shift > 63 || (bits << shift) >> shift != bits) {
            in->failed = true;
            return 0;
        }
        value |= bits << shift;
        if ((byte & 0x80U) == 0)
            return value;
    }
}

int64_t cfi_sleb128(struct cfi_bytes *in)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = cfi_u8(in);
        /* The tenth byte has room for bit 63 alone, which its other bits must repeat. */
        if (in->failed || shift > 63 || (shift == 63 && byte != 0 && byte != 0x7f)) {
            in->failed = true;
            return 0;
        }
        value |= (uint64_t)(byte & 0x7fU) << shift;
        if ((byte & 0x80U) == 0) {
            bool negative = shift + 7 < 64 && (byte & 0x40U) != 0;
            return (int64_t)(negative ? value | UINT64_MAX << (shift + 7) : value);
        }
    }
}

uint64_t cfi_pointer(struct cfi_bytes *in, unsigned encoding, uint64_t data_base)
{
    uint64_t base = 0;
    uint64_t value = 0;
    unsigned form = encoding & CFI_PE_FORM;
    if ((encoding & CFI_PE_RELATIVE) == CFI_PE_PCREL)
        base = (uint64_t)in->pos;
    else if ((encoding & CFI_PE_RELATIVE) == CFI_PE_DATAREL)
        base = data_base;
    else if ((encoding & CFI_PE_RELATIVE) != 0)
        in->failed = true;

    if (form == CFI_PE_SDATA4)
        value = cfi_sign_extend(cfi_number(in, 4), 4);
    else if (form == CFI_PE_UDATA4)
        value = cfi_number(in, 4);
    else if (form == CFI_PE_ABSPTR || form == CFI_PE_UDATA8 || form == CFI_PE_SDATA8)
        value = cfi_number(in, 8);
    else if (form == CFI_PE_SDATA2)
        value = cfi_sign_extend(cfi_number(in, 2), 2);
    else if (form == CFI_PE_UDATA2)
        value = cfi_number(in, 2);
    else if (form == CFI_PE_ULEB128)
        value = cfi_uleb128(in);
    else if (form == CFI_PE_SLEB128)
        value = (uint64_t)cfi_sleb128(in);
    else
        in->failed = true;

    /* The address of the pointer instead of the pointer: .eh_frame has that for personality
     * routines only, which nobody here follows. */
    if ((encoding & CFI_PE_INDIRECT) != 0)
        in->failed = true;
    return in->failed ? 0 : base + value;
}
