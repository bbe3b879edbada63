/* bounds.c - see bounds.h. */
#include "code/bounds.h"

#include <dwarf.h>
#include <limits.h>
#include <string.h>

#include "number.h"

#define HEADER_BYTES 12u /* version, three encodings, where .eh_frame is, number of pairs */
#define PAIR_BYTES 8u

/* Bytes of the file that are mapped from `vaddr` to the end of its segment; *vaddr_start: where that
 * begins. Of segments of `type`, executable if `is_code`. */
static struct text segment_find(const struct elf_file *file, uint32_t type, uint64_t vaddr,
                                uint64_t *start)
{
    size_t size_bytes = 0, n = 0;
    const char *bytes = elf_rawfile(file->elf, &size_bytes);
    if (bytes == NULL || elf_getphdrnum(file->elf, &n) != 0)
        n = 0;
    for (size_t i = 0; i < n && i < INT_MAX; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(file->elf, (int)i, &header) == NULL || header.p_type != type ||
            header.p_offset >= size_bytes)
            continue;
        uint64_t n_bytes = min_u64(header.p_filesz, size_bytes - header.p_offset);
        bool is_code = (header.p_flags & PF_X) != 0;
        *start = header.p_vaddr;
        if (type != PT_LOAD ||
            (is_code && vaddr >= header.p_vaddr && vaddr - header.p_vaddr < n_bytes))
            return (struct text){bytes + header.p_offset, n_bytes};
    }
    return (struct text){"", 0};
}

static int32_t number_at(struct text bytes, size_t offset)
{
    int32_t number;
    memcpy(&number, bytes.bytes + offset, sizeof number);
    return number;
}

static void starts_find(struct bounds *bounds)
{
    struct text table = segment_find(bounds->file, PT_GNU_EH_FRAME, 0, &bounds->starts_vaddr);
    static const char encodings[] = {1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
                                     DW_EH_PE_datarel | DW_EH_PE_sdata4};
    bounds->starts = (struct text){"", 0};
    if (table.length < HEADER_BYTES || memcmp(table.bytes, encodings, sizeof encodings) != 0)
        return;
    uint64_t n = min_u64((uint32_t)number_at(table, 8), (table.length - HEADER_BYTES) / PAIR_BYTES);
    bounds->starts = (struct text){table.bytes + HEADER_BYTES, n * PAIR_BYTES};
}

bool bounds_init(struct bounds *bounds, struct arena *arena, const struct elf_file *file,
                 const struct elf_file *debug)
{
    bounds->file = file;
    symbols_init(&bounds->symbols, arena);
    starts_find(bounds);
    return symbols_load(&bounds->symbols, file, debug);
}

void bounds_deinit(struct bounds *bounds)
{
    symbols_deinit(&bounds->symbols);
}

const struct symbol *bounds_symbol(const struct bounds *bounds, uint64_t vaddr)
{
    return symbols_find(&bounds->symbols, vaddr);
}

static uint64_t start_at(const struct bounds *bounds, size_t i)
{
    return bounds->starts_vaddr + (uint64_t)(int64_t)number_at(bounds->starts, i * PAIR_BYTES);
}

/* By .eh_frame_hdr, whose pairs are sorted. */
static bool frame_find(const struct bounds *bounds, uint64_t vaddr, struct code_bounds *out)
{
    size_t n = bounds->starts.length / PAIR_BYTES, low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (start_at(bounds, middle) <= vaddr)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    out->start = start_at(bounds, low - 1);
    out->end = low < n ? start_at(bounds, low) : UINT64_MAX;
    out->symbol = (struct text){"", 0};
    return true;
}

bool bounds_find(const struct bounds *bounds, uint64_t vaddr, struct code_bounds *out)
{
    const struct symbol *symbol = bounds_symbol(bounds, vaddr);
    uint64_t segment = 0;
    struct text bytes = segment_find(bounds->file, PT_LOAD, vaddr, &segment);
    if (bytes.length == 0)
        return false;
    if (symbol != NULL)
        *out = (struct code_bounds){
            .start = symbol->vaddr, .end = symbol->end, .symbol = {symbol->name, symbol->length}};
    else if (!frame_find(bounds, vaddr, out))
        return false;
    out->start = max_u64(out->start, segment);
    out->end = min_u64(out->end, segment + bytes.length);
    out->bytes = (const uint8_t *)bytes.bytes + (out->start - segment);
    return out->start <= vaddr && vaddr < out->end;
}
