/* bytes.h - bounded reading of call frame information, as the handler may do it.
 *
 * The same idea as the cursor of base/: failure is sticky, a failed read yields 0, one check per
 * record. Addresses are those of our own process, so a position is also an address (what
 * pc-relative encodings are relative to).
 *
 * Context    SIGNAL. The caller keeps the bytes readable: it takes them from a loaded segment
 *            (sys/segment.h). */
#ifndef SAMPLER_CFI_BYTES_H
#define SAMPLER_CFI_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sys/context.h"

/* Pointer encodings (DW_EH_PE_*; LSB Core 5.0, 10.5.1). */
enum {
    CFI_PE_ABSPTR = 0x00,
    CFI_PE_ULEB128 = 0x01,
    CFI_PE_UDATA2 = 0x02,
    CFI_PE_UDATA4 = 0x03,
    CFI_PE_UDATA8 = 0x04,
    CFI_PE_SLEB128 = 0x09,
    CFI_PE_SDATA2 = 0x0a,
    CFI_PE_SDATA4 = 0x0b,
    CFI_PE_SDATA8 = 0x0c,
    CFI_PE_FORM = 0x0f,
    CFI_PE_PCREL = 0x10,
    CFI_PE_DATAREL = 0x30,
    CFI_PE_RELATIVE = 0x70,
    CFI_PE_INDIRECT = 0x80,
    CFI_PE_OMIT = 0xff,
};

struct cfi_bytes {
    const uint8_t *pos;
    const uint8_t *end;
    bool failed;
};

SIGNAL_SAFE static inline size_t cfi_left(const struct cfi_bytes *in)
{
    return (size_t)(in->end - in->pos);
}

/* The next n bytes as a little-endian number, n <= 8. */
SIGNAL_SAFE static inline uint64_t cfi_number(struct cfi_bytes *in, unsigned n)
{
    uint64_t value = 0;
    if (in->failed || in->pos == NULL || cfi_left(in) < n) {
        in->failed = true;
        return 0;
    }
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(&value, in->pos, n); /* n is a number nearly everywhere: one load */
#else
    for (unsigned i = 0; i < n; i++)
        value |= (uint64_t)in->pos[i] << (8 * i);
#endif
    in->pos += n;
    return value;
}

SIGNAL_SAFE static inline uint8_t cfi_u8(struct cfi_bytes *in)
{
    return (uint8_t)cfi_number(in, 1);
}

/* The low n bytes of `value`, sign-extended; 1 <= n <= 8. */
SIGNAL_SAFE static inline uint64_t cfi_sign_extend(uint64_t value, unsigned n)
{
    uint64_t sign = 1ull << ((8 * n - 1) & 63);
    return n == 8 ? value : (value ^ sign) - sign;
}

SIGNAL_SAFE static inline void cfi_skip(struct cfi_bytes *in, uint64_t n)
{
    if (in->failed || cfi_left(in) < n)
        in->failed = true;
    else
        in->pos += n;
}

/* The next n bytes as a reader of their own; empty and failed when there are fewer. */
SIGNAL_SAFE static inline struct cfi_bytes cfi_piece(struct cfi_bytes *in, uint64_t n)
{
    struct cfi_bytes piece = {.pos = in->pos, .end = in->pos, .failed = false};
    cfi_skip(in, n);
    piece.failed = in->failed;
    if (!in->failed)
        piece.end = in->pos;
    return piece;
}

/* LEB128; what does not fit 64 bits fails. */
SIGNAL_SAFE uint64_t cfi_uleb128_long(struct cfi_bytes *in);
SIGNAL_SAFE int64_t cfi_sleb128(struct cfi_bytes *in);

SIGNAL_SAFE static inline uint64_t cfi_uleb128(struct cfi_bytes *in)
{
    if (likely(!in->failed && in->pos < in->end && *in->pos < 0x80))
        return *in->pos++;
    return cfi_uleb128_long(in);
}

/* A pointer in `encoding`; `data_base` is what DATAREL is relative to. Fails on encodings that have
 * no meaning in .eh_frame (text and function relative, aligned, indirect). */
SIGNAL_SAFE uint64_t cfi_pointer(struct cfi_bytes *in, unsigned encoding, uint64_t data_base);

#endif
