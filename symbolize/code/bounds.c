/* bounds.c - see bounds.h. */
#include "code/bounds.h"

#include <limits.h>

#include "number.h"

/* Executable bytes of the file that are mapped around `vaddr`; *start: where they begin. */
static struct text segment_find(const struct elf_file *file, uint64_t vaddr, uint64_t *start)
{
    size_t size_bytes = 0, n = 0;
    const char *bytes = elf_rawfile(file->elf, &size_bytes);
    if (bytes == NULL || elf_getphdrnum(file->elf, &n) != 0)
        n = 0;
    for (size_t i = 0; i < n && i < INT_MAX; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(file->elf, (int)i, &header) == NULL || header.p_type != PT_LOAD ||
            (header.p_flags & PF_X) == 0 || header.p_offset >= size_bytes)
            continue;
        uint64_t n_bytes = min_u64(header.p_filesz, size_bytes - header.p_offset);
        *start = header.p_vaddr;
        if (vaddr >= header.p_vaddr && vaddr - header.p_vaddr < n_bytes)
            return (struct text){bytes + header.p_offset, n_bytes};
    }
    return (struct text){"", 0};
}

bool bounds_init(struct bounds *bounds, struct arena *arena, const struct elf_file *file,
                 const struct elf_file *debug)
{
    bounds->file = file;
    symbols_init(&bounds->symbols, arena);
    return code_ranges_load(&bounds->ranges, file) && symbols_load(&bounds->symbols, file, debug);
}

void bounds_deinit(struct bounds *bounds)
{
    symbols_deinit(&bounds->symbols);
    code_ranges_deinit(&bounds->ranges);
}

const struct symbol *bounds_symbol(const struct bounds *bounds, uint64_t vaddr)
{
    return symbols_find(&bounds->symbols, vaddr);
}

bool bounds_find(const struct bounds *bounds, uint64_t vaddr, struct code_bounds *out)
{
    struct code_range range;
    uint64_t segment = 0;
    const struct symbol *symbol = bounds_symbol(bounds, vaddr);
    struct text bytes = segment_find(bounds->file, vaddr, &segment);
    if (bytes.length == 0)
        return false;
    if (symbol != NULL)
        *out = (struct code_bounds){
            .start = symbol->vaddr, .end = symbol->end, .symbol = {symbol->name, symbol->length}};
    else if (code_ranges_find(&bounds->ranges, vaddr, &range))
        *out = (struct code_bounds){.start = range.start, .end = range.end, .symbol = {"", 0}};
    else
        return false;
    out->start = max_u64(out->start, segment);
    out->end = min_u64(out->end, segment + bytes.length);
    out->bytes = (const uint8_t *)bytes.bytes + (out->start - segment);
    return out->start <= vaddr && vaddr < out->end;
}
