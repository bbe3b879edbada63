/* symbols_dynamic.c - the exported symbols of a file without section headers, found as the dynamic
 * linker finds them: PT_DYNAMIC -> DT_SYMTAB, DT_STRTAB.
 *
 * Needed for the vdso (its section headers lie after what its segment maps), for images of modules
 * whose file has gone, and for files whose section headers were stripped. Nothing states the number
 * of symbols; every linker puts the names after the symbols, so the table ends at the latest where
 * they begin. */
#include <string.h>

#include "names/symbols.h"

/* Each symbol is looked for in all of them. */
#define MAX_SEGMENTS 1024u

struct dynamic {
    const struct elf_file *file;
    const char *bytes; /* the whole file */
    size_t size_bytes;
    size_t n_segments;
};

/* Where `vaddr` lies in the file and how many bytes of its segment follow; false if nowhere. */
static bool vaddr_locate(const struct dynamic *dynamic, uint64_t vaddr, uint64_t *file_off,
                         uint64_t *n_bytes)
{
    for (size_t i = 0; i < dynamic->n_segments && i <= INT32_MAX; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(dynamic->file->elf, (int)i, &segment) == NULL)
            return false;
        if (segment.p_type != PT_LOAD || vaddr < segment.p_vaddr ||
            vaddr - segment.p_vaddr >= segment.p_filesz)
            continue;
        uint64_t inside = vaddr - segment.p_vaddr;
        if (segment.p_offset > dynamic->size_bytes ||
            inside >= dynamic->size_bytes - segment.p_offset)
            return false;
        uint64_t in_file = dynamic->size_bytes - segment.p_offset - inside;
        *file_off = segment.p_offset + inside;
        *n_bytes = segment.p_filesz - inside < in_file ? segment.p_filesz - inside : in_file;
        return true;
    }
    return false;
}

/* Bytes from `vaddr` to the end of the code it is in, which need not be in the file (it is not in an
 * image that capture made); 0 if it is in none. */
static uint64_t code_left(const struct dynamic *dynamic, uint64_t vaddr)
{
    for (size_t i = 0; i < dynamic->n_segments && i <= INT32_MAX; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(dynamic->file->elf, (int)i, &segment) == NULL)
            return 0;
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 &&
            vaddr >= segment.p_vaddr && vaddr - segment.p_vaddr < segment.p_memsz)
            return segment.p_memsz - (vaddr - segment.p_vaddr);
    }
    return 0;
}

/* The values of DT_SYMTAB and DT_STRTAB, 0 where there is none. */
static void tables_find(const struct dynamic *dynamic, uint64_t *symtab, uint64_t *strtab)
{
    for (size_t i = 0; i < dynamic->n_segments && i <= INT32_MAX; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(dynamic->file->elf, (int)i, &segment) == NULL)
            return;
        if (segment.p_type != PT_DYNAMIC || segment.p_offset > dynamic->size_bytes)
            continue;
        uint64_t left = dynamic->size_bytes - segment.p_offset;
        uint64_t n = (segment.p_filesz < left ? segment.p_filesz : left) / sizeof(Elf64_Dyn);
        for (uint64_t entry = 0; entry < n; entry++) {
            Elf64_Dyn dyn;
            memcpy(&dyn, dynamic->bytes + segment.p_offset + entry * sizeof dyn, sizeof dyn);
            if (dyn.d_tag == DT_SYMTAB)
                *symtab = dyn.d_un.d_ptr;
            else if (dyn.d_tag == DT_STRTAB)
                *strtab = dyn.d_un.d_ptr;
        }
    }
}

static bool symbol_add(struct symbols *symbols, const struct dynamic *dynamic, const Elf64_Sym *raw,
                       const char *names, uint64_t names_bytes)
{
    unsigned type = ELF64_ST_TYPE(raw->st_info);
    uint64_t code_bytes = code_left(dynamic, raw->st_value);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || raw->st_shndx == SHN_UNDEF ||
        raw->st_name >= names_bytes || code_bytes == 0)
        return true;
    const char *name = names + raw->st_name;
    size_t length = symbols_name_length(symbols, name, names_bytes - raw->st_name);
    if (length == 0)
        return true;
    uint64_t size_bytes =
        raw->st_size == 0 || raw->st_size > code_bytes ? code_bytes : raw->st_size;
    const struct symbol symbol = {
        .vaddr = raw->st_value,
        .end = raw->st_value + size_bytes,
        .name = name,
        .length = (uint32_t)length,
        .rank = (uint32_t)strspn(name, "_"),
        .sizeless = raw->st_size == 0,
    };
    return symbols_add(symbols, &symbol);
}

bool symbols_add_dynamic(struct symbols *symbols, const struct elf_file *file)
{
    struct dynamic dynamic = {.file = file};
    uint64_t symtab = 0;
    uint64_t strtab = 0;
    uint64_t symbols_off;
    uint64_t symbols_bytes;
    uint64_t names_off;
    uint64_t names_bytes;
    dynamic.bytes = elf_rawfile(file->elf, &dynamic.size_bytes);
    if (dynamic.bytes == NULL || elf_getphdrnum(file->elf, &dynamic.n_segments) != 0 ||
        dynamic.n_segments > MAX_SEGMENTS)
        return true;
    symbols_begin_file(symbols, file);
    tables_find(&dynamic, &symtab, &strtab);
    if (symtab == 0 || strtab <= symtab ||
        !vaddr_locate(&dynamic, symtab, &symbols_off, &symbols_bytes) ||
        !vaddr_locate(&dynamic, strtab, &names_off, &names_bytes))
        return true;
    uint64_t n =
        (strtab - symtab < symbols_bytes ? strtab - symtab : symbols_bytes) / sizeof(Elf64_Sym);
    for (uint64_t i = 1; i < n; i++) {
        Elf64_Sym raw;
        memcpy(&raw, dynamic.bytes + symbols_off + i * sizeof raw, sizeof raw);
        if (!symbol_add(symbols, &dynamic, &raw, dynamic.bytes + names_off, names_bytes))
            return false;
    }
    return true;
}
