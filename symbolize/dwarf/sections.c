/* sections.c - see sections.h. */
#include "dwarf/sections.h"

#include <isa-l.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "number.h"

/* Offsets of DWARF have 32 bits. */
#define SIZE_MAX_BYTES UINT32_MAX

#define PAGE_BYTES ((uintptr_t)4096)

static const char *const section_names[N_SECTIONS] = {
    [SECTION_INFO] = ".debug_info",
    [SECTION_ABBREV] = ".debug_abbrev",
    [SECTION_LINE] = ".debug_line",
    [SECTION_STR] = ".debug_str",
    [SECTION_LINE_STR] = ".debug_line_str",
    [SECTION_RANGES] = ".debug_ranges",
    [SECTION_RNGLISTS] = ".debug_rnglists",
    [SECTION_ADDR] = ".debug_addr",
    [SECTION_STR_OFFSETS] = ".debug_str_offsets",
};

/* Names of what needs more than this file, or another way of unpacking. */
static bool is_foreign(const char *name)
{
    return strcmp(name, ".gnu_debugaltlink") == 0 || strncmp(name, ".zdebug_", 8) == 0 ||
           strcmp(name, ".debug_sup") == 0;
}

static void file_map(struct sections *sections, const struct elf_file *file)
{
    if (file->fd < 0 || file->status.st_size <= 0)
        return;
    size_t bytes = (size_t)file->status.st_size;
    void *map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file->fd, 0);
    if (map == MAP_FAILED)
        return;
    sections->map = map;
    sections->map_bytes = bytes;
}

/* Where the bytes of a section are: in our mapping, else wherever libelf has them. */
static bool place_find(const struct sections *sections, Elf_Scn *scn, const GElf_Shdr *header,
                       struct section *section)
{
    if (sections->map != NULL) {
        if (header->sh_offset > sections->map_bytes ||
            header->sh_size > sections->map_bytes - header->sh_offset)
            return false;
        section->packed = (const uint8_t *)sections->map + header->sh_offset;
        section->packed_bytes = header->sh_size;
        section->pages_ours = true;
        return true;
    }
    const Elf_Data *data = elf_rawdata(scn, NULL);
    if (data == NULL || (data->d_buf == NULL && data->d_size != 0))
        return false;
    section->packed = data->d_buf;
    section->packed_bytes = data->d_size;
    return true;
}

/* Reads the header of a packed section off its bytes (gABI, "Section Compression"). */
static bool packing_read(struct section *section)
{
    Elf64_Chdr header;
    if (section->packed_bytes < sizeof header)
        return false;
    memcpy(&header, section->packed, sizeof header);
    section->is_packed = true;
    section->packed += sizeof header;
    section->packed_bytes -= sizeof header;
    section->size_bytes = header.ch_size;
    return header.ch_type == ELFCOMPRESS_ZLIB && section->packed_bytes <= UINT32_MAX;
}

static bool section_note(struct sections *sections, Elf_Scn *scn, const GElf_Shdr *header,
                         struct section *section)
{
    if (section->packed != NULL || !place_find(sections, scn, header, section))
        return false; /* two of one name: relocatable files have them */
    section->size_bytes = section->packed_bytes;
    if ((header->sh_flags & SHF_COMPRESSED) != 0 && !packing_read(section))
        return false;
    sections->total_bytes += min_u64(section->size_bytes, SIZE_MAX_BYTES);
    return section->size_bytes <= SIZE_MAX_BYTES;
}

static uint64_t file_bytes(const struct sections *sections, const struct elf_file *file)
{
    size_t size = 0;
    if (sections->map != NULL)
        return sections->map_bytes;
    return elf_rawfile(file->elf, &size) == NULL ? 0 : size;
}

static void code_note(struct sections *sections, const GElf_Shdr *header)
{
    uint64_t end = header->sh_addr + header->sh_size;
    if (end < header->sh_addr)
        end = UINT64_MAX;
    if (header->sh_addr < sections->code_start)
        sections->code_start = header->sh_addr;
    if (end > sections->code_end)
        sections->code_end = end;
}

enum sections_outcome sections_find(struct sections *sections, const struct elf_file *file)
{
    *sections = (struct sections){.code_start = UINT64_MAX};
    GElf_Ehdr elf_header;
    if (gelf_getehdr(file->elf, &elf_header) == NULL || elf_header.e_type == ET_REL)
        return SECTIONS_FOREIGN;
    file_map(sections, file);
    for (Elf_Scn *scn = elf_nextscn(file->elf, NULL); scn != NULL;
         scn = elf_nextscn(file->elf, scn)) {
        GElf_Shdr header;
        if (gelf_getshdr(scn, &header) == NULL)
            return SECTIONS_FOREIGN;
        if ((header.sh_flags & SHF_EXECINSTR) != 0)
            code_note(sections, &header);
        const char *name = elf_file_section_name(file, &header);
        if (is_foreign(name))
            return SECTIONS_FOREIGN;
        for (size_t i = 0; i < N_SECTIONS && header.sh_type != SHT_NOBITS; i++) {
            if (strcmp(name, section_names[i]) == 0 &&
                !section_note(sections, scn, &header, &sections->of[i]))
                return SECTIONS_FOREIGN;
        }
    }
    if (sections->of[SECTION_INFO].size_bytes == 0 || sections->code_start >= sections->code_end)
        return SECTIONS_FOREIGN;
    uint64_t most = SECTIONS_FREE_BYTES + SECTIONS_RATIO_MAX * file_bytes(sections, file);
    return sections->total_bytes <= most ? SECTIONS_FOUND : SECTIONS_TOO_LARGE;
}

void sections_drop(struct sections *sections)
{
    for (size_t i = 0; i < N_SECTIONS; i++)
        section_drop(&sections->of[i]);
    if (sections->map != NULL)
        munmap(sections->map, sections->map_bytes);
    sections->map = NULL;
}

static bool unpack(struct section *section, uint8_t *out)
{
    struct inflate_state *state = malloc(sizeof *state); /* 90 KB: not for the stack */
    section->no_memory = state == NULL;
    if (state == NULL)
        return false;
    isal_inflate_init(state);
    state->crc_flag = ISAL_ZLIB;
    /* ISA-L does not write to its input. */
    state->next_in = (uint8_t *)(uintptr_t)section->packed; /* NOLINT(performance-no-int-to-ptr) */
    state->avail_in = (uint32_t)section->packed_bytes;
    state->next_out = out;
    state->avail_out = (uint32_t)section->size_bytes;
    bool done = isal_inflate(state) == ISAL_DECOMP_OK && state->avail_out == 0 &&
                state->block_state == ISAL_BLOCK_FINISH;
    free(state);
    return done;
}

bool section_load(struct section *section)
{
    static const uint8_t none[1] = {0};
    if (section->bytes != NULL)
        return true;
    if (section->size_bytes == 0) {
        section->bytes = none;
        return true;
    }
    bool ends_in_nul = !section->is_packed && section->packed[section->packed_bytes - 1] == 0;
    if (ends_in_nul) {
        section->bytes = section->packed;
        return true;
    }
    /* One byte more, so that whatever is a string in it has an end. Untouched pages cost nothing.
     */
    uint8_t *bytes = malloc(section->size_bytes + 1);
    section->no_memory = bytes == NULL;
    if (bytes == NULL)
        return false;
    bytes[section->size_bytes] = 0;
    section->unpacked = bytes;
    if (!section->is_packed)
        memcpy(bytes, section->packed, section->size_bytes);
    else if (!unpack(section, bytes))
        return false;
    section_pages_drop(section, section->packed, section->packed + section->packed_bytes);
    section->bytes = bytes;
    return true;
}

void section_drop(struct section *section)
{
    free(section->unpacked);
    section->unpacked = NULL;
    section->bytes = NULL;
}

void section_pages_drop(const struct section *section, const uint8_t *start, const uint8_t *end)
{
    uintptr_t first = (uintptr_t)start & ~(PAGE_BYTES - 1);
    if (section->pages_ours && end > start) /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
        madvise((void *)first, (uintptr_t)end - first, MADV_DONTNEED);
}
