/* code_ranges.c - see code_ranges.h. All FDEs are read once, in the order of the file, and sorted; the
 * pointer encoding of each is its CIE's. */
#include "names/code_ranges.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "number.h"

/* A CIE by where it stands. */
struct cie {
    uint64_t offset;
    uint8_t encoding; /* DW_EH_PE_* of the FDEs that refer to it */
};

VECTOR_DEFINE(cies, struct cie)

struct frames {
    const unsigned char *ident; /* of the file                    */
    Elf_Data *data;             /* .eh_frame                      */
    uint64_t vaddr;             /* of its first byte              */
    struct cies cies;           /* as they stand in it: ascending */
    struct code_ranges *ranges;
};

/* ---- regions --------------------------------------------------------------------------------- */

static void sections_add(struct code_range_list *regions, const struct elf_file *file)
{
    GElf_Shdr header;
    for (Elf_Scn *section = elf_nextscn(file->elf, NULL); section != NULL;
         section = elf_nextscn(file->elf, section))
        if (gelf_getshdr(section, &header) != NULL &&
            (header.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) == (SHF_ALLOC | SHF_EXECINSTR) &&
            header.sh_size <= UINT64_MAX - header.sh_addr)
            code_range_list_push(
                regions, (struct code_range){header.sh_addr, header.sh_addr + header.sh_size});
}

static void segments_add(struct code_range_list *regions, const struct elf_file *file)
{
    size_t n = 0;
    GElf_Phdr header;
    if (elf_getphdrnum(file->elf, &n) != 0)
        return;
    for (size_t i = 0; i < n && i < INT_MAX; i++)
        if (gelf_getphdr(file->elf, (int)i, &header) != NULL && header.p_type == PT_LOAD &&
            (header.p_flags & PF_X) != 0 && header.p_memsz <= UINT64_MAX - header.p_vaddr)
            code_range_list_push(
                regions, (struct code_range){header.p_vaddr, header.p_vaddr + header.p_memsz});
}

/* ---- lists ----------------------------------------------------------------------------------- */

static int range_compare(const void *left, const void *right)
{
    const struct code_range *a = left, *b = right;
    return a->start != b->start ? compare_u64(a->start, b->start) : compare_u64(a->end, b->end);
}

/* Of ranges with one start the longest stays; one that reaches into the next ends there. */
static void list_sort(struct code_range_list *list)
{
    struct code_range *ranges = list->items;
    size_t n = 0;
    if (list->n > 1)
        qsort(ranges, list->n, sizeof *ranges, range_compare);
    for (size_t i = 0; i < list->n; i++) {
        if (n > 0 && ranges[n - 1].start == ranges[i].start)
            n--;
        else if (n > 0)
            ranges[n - 1].end = min_u64(ranges[n - 1].end, ranges[i].start);
        ranges[n++] = ranges[i];
    }
    list->n = n;
}

/* Index of the first range that starts behind `vaddr`. */
static size_t first_behind(const struct code_range_list *list, uint64_t vaddr)
{
    size_t low = 0, high = list->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->items[middle].start <= vaddr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The region that holds `vaddr`; NULL: none. */
static const struct code_range *region_find(const struct code_ranges *ranges, uint64_t vaddr)
{
    size_t behind = first_behind(&ranges->regions, vaddr);
    if (behind == 0 || ranges->regions.items[behind - 1].end <= vaddr)
        return NULL;
    return &ranges->regions.items[behind - 1];
}

/* ---- .eh_frame ------------------------------------------------------------------------------- */

/* What a CIE says of the pointers in its FDEs. Letters of its augmentation other than the usual
 * ones end the search: what they mean for the data is not known. */
static uint8_t cie_encoding(const Dwarf_CIE *cie)
{
    static const uint8_t FORM_BYTES[16] = {
        [DW_EH_PE_absptr] = 8, [DW_EH_PE_udata2] = 2, [DW_EH_PE_udata4] = 4, [DW_EH_PE_udata8] = 8,
        [DW_EH_PE_sdata2] = 2, [DW_EH_PE_sdata4] = 4, [DW_EH_PE_sdata8] = 8};
    struct cursor data = cursor_make(cie->augmentation_data, cie->augmentation_data_size);
    for (const char *letter = cie->augmentation; *letter != '\0' && !data.failed; letter++) {
        if (*letter == 'R')
            return cursor_left(&data) > 0 ? cursor_u8(&data) : DW_EH_PE_omit;
        if (*letter == 'P') /* of a personality; a form without a size is none that is used */
            cursor_skip(&data, FORM_BYTES[cursor_u8(&data) & 0xf]);
        else if (*letter == 'L')
            cursor_skip(&data, 1);
        else if (strchr("zSBG", *letter) == NULL)
            return DW_EH_PE_omit;
    }
    return DW_EH_PE_absptr;
}

/* The next pointer of an encoding's form; the cursor fails on forms nobody writes there. */
static uint64_t pointer_read(struct cursor *in, uint8_t encoding)
{
    switch (encoding & 0xf) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        return cursor_u64le(in);
    case DW_EH_PE_udata4:
        return cursor_u32le(in);
    case DW_EH_PE_sdata4:
        return (uint64_t)(int64_t)(int32_t)cursor_u32le(in);
    default:
        return cursor_fail(in);
    }
}

static uint8_t encoding_of(const struct frames *frames, uint64_t cie_offset)
{
    size_t low = 0, high = frames->cies.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (frames->cies.items[middle].offset < cie_offset)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_there = low < frames->cies.n && frames->cies.items[low].offset == cie_offset;
    return is_there ? frames->cies.items[low].encoding : DW_EH_PE_omit;
}

/* Code that the linker threw away leaves FDEs of address 0 behind, which is in no region. */
static void fde_add(struct frames *frames, const Dwarf_FDE *fde)
{
    uint8_t encoding = encoding_of(frames, fde->CIE_pointer);
    uint64_t offset = (uint64_t)(fde->start - (const uint8_t *)frames->data->d_buf);
    bool is_relative = (encoding & 0x70) == DW_EH_PE_pcrel;
    if ((!is_relative && (encoding & 0x70) != 0) || (encoding & DW_EH_PE_indirect) != 0)
        return; /* DW_EH_PE_omit is among these */
    struct cursor in = cursor_make(fde->start, (size_t)(fde->end - fde->start));
    uint64_t start = pointer_read(&in, encoding) + (is_relative ? frames->vaddr + offset : 0);
    uint64_t n_bytes = pointer_read(&in, encoding & 0xf);
    const struct code_range *region = region_find(frames->ranges, start);
    if (!in.failed && n_bytes > 0 && region != NULL)
        code_range_list_push(
            &frames->ranges->functions,
            (struct code_range){start, start + min_u64(n_bytes, region->end - start)});
}

/* An entry that cannot be read is left out where the next one can be found. */
static void frames_walk(struct frames *frames)
{
    Dwarf_Off offset = 0, next = 0;
    Dwarf_CFI_Entry entry;
    int result = 0;
    while ((result = dwarf_next_cfi(frames->ident, frames->data, true, offset, &next, &entry)) !=
               1 &&
           next > offset) {
        if (result == 0 && dwarf_cfi_cie_p(&entry))
            cies_push(&frames->cies, (struct cie){offset, cie_encoding(&entry.cie)});
        else if (result == 0)
            fde_add(frames, &entry.fde);
        offset = next;
    }
}

/* By its header's segment, for files without section headers: from where that says to the end of the
 * loaded segment; .eh_frame ends in a zero of its own. */
static bool frames_find_by_segment(struct frames *frames, Elf *elf)
{
    size_t n = 0;
    GElf_Phdr header;
    uint64_t hdr_vaddr = 0;
    Elf_Data *hdr = NULL;
    if (elf_getphdrnum(elf, &n) != 0)
        return false;
    for (size_t i = 0; i < n && i < INT_MAX && hdr == NULL; i++) {
        if (gelf_getphdr(elf, (int)i, &header) == NULL || header.p_type != PT_GNU_EH_FRAME)
            continue;
        hdr_vaddr = header.p_vaddr;
        hdr = elf_getdata_rawchunk(elf, (int64_t)header.p_offset, 8, ELF_T_BYTE);
    }
    if (hdr == NULL)
        return false;
    struct cursor in = cursor_make(hdr->d_buf, hdr->d_size);
    uint8_t version = cursor_u8(&in), encoding = cursor_u8(&in);
    cursor_skip(&in, 2); /* encodings of the table, which is not read */
    frames->vaddr = hdr_vaddr + 4 + pointer_read(&in, encoding);
    if (in.failed || version != 1 || encoding != (DW_EH_PE_pcrel | DW_EH_PE_sdata4))
        return false;
    for (size_t i = 0; i < n && i < INT_MAX && frames->data == NULL; i++) {
        if (gelf_getphdr(elf, (int)i, &header) == NULL || header.p_type != PT_LOAD ||
            frames->vaddr < header.p_vaddr || frames->vaddr - header.p_vaddr >= header.p_filesz)
            continue;
        uint64_t inside = frames->vaddr - header.p_vaddr;
        frames->data = elf_getdata_rawchunk(elf, (int64_t)(header.p_offset + inside),
                                            header.p_filesz - inside, ELF_T_BYTE);
    }
    return frames->data != NULL;
}

static bool frames_find(struct frames *frames, const struct elf_file *file)
{
    GElf_Shdr header;
    Elf_Scn *section = elf_file_section(file, ".eh_frame", &header);
    if (section == NULL)
        return frames_find_by_segment(frames, file->elf);
    if (header.sh_type == SHT_NOBITS) /* of a debug file */
        return false;
    frames->vaddr = header.sh_addr;
    frames->data = elf_rawdata(section, NULL);
    return frames->data != NULL && frames->data->d_buf != NULL;
}

/* ---- all together ---------------------------------------------------------------------------- */

bool code_ranges_load(struct code_ranges *ranges, const struct elf_file *file)
{
    *ranges = (struct code_ranges){.regions = {.items = NULL}};
    sections_add(&ranges->regions, file);
    if (ranges->regions.n == 0)
        segments_add(&ranges->regions, file);
    list_sort(&ranges->regions);
    struct frames frames = {.ident = (const unsigned char *)elf_getident(file->elf, NULL),
                            .data = NULL,
                            .ranges = ranges};
    if (frames.ident != NULL && frames_find(&frames, file))
        frames_walk(&frames);
    list_sort(&ranges->functions);
    bool no_memory =
        frames.cies.no_memory || ranges->regions.no_memory || ranges->functions.no_memory;
    cies_deinit(&frames.cies);
    return !no_memory;
}

void code_ranges_deinit(struct code_ranges *ranges)
{
    code_range_list_deinit(&ranges->regions);
    code_range_list_deinit(&ranges->functions);
}

bool code_ranges_find(const struct code_ranges *ranges, uint64_t vaddr, struct code_range *out)
{
    const struct code_range_list *functions = &ranges->functions;
    const struct code_range *region = region_find(ranges, vaddr);
    if (region == NULL)
        return false;
    *out = *region;
    size_t behind = first_behind(functions, vaddr);
    if (behind > 0 && vaddr < functions->items[behind - 1].end) {
        *out = functions->items[behind - 1];
        return true;
    }
    if (behind > 0)
        out->start = max_u64(out->start, functions->items[behind - 1].end);
    if (behind < functions->n)
        out->end = min_u64(out->end, functions->items[behind].start);
    return true;
}
