/* vdso.c - see vdso.h. */
#include "sys/vdso.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include "sys/segment.h"

struct tables {
    const Elf64_Sym *symbols;
    const char *names; /* of the symbols */
    size_t n_symbols;
};

/* The symbol and string tables. The vDSO's dynamic section is read-only, so the addresses in it are
 * unrelocated. Newer kernels have no DT_HASH to count the symbols by; their names lie right after
 * them. SETUP */
static struct tables tables_of(const Elf64_Ehdr *header)
{
    uint64_t start = (uint64_t)header, bias = 0, dynamic = 0, symbols = 0, names = 0;
    const Elf64_Phdr *segment = address_pointer(start + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (segment[i].p_type == PT_LOAD)
            bias = start + segment[i].p_offset - segment[i].p_vaddr;
        else if (segment[i].p_type == PT_DYNAMIC)
            dynamic = start + segment[i].p_offset;
    }
    if (dynamic == 0)
        return (struct tables){.n_symbols = 0};
    for (const Elf64_Dyn *entry = address_pointer(dynamic); entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB)
            symbols = bias + entry->d_un.d_ptr;
        else if (entry->d_tag == DT_STRTAB)
            names = bias + entry->d_un.d_ptr;
    }
    return (struct tables){
        .symbols = address_pointer(symbols),
        .names = address_pointer(names),
        .n_symbols = symbols != 0 && names > symbols ? (names - symbols) / sizeof(Elf64_Sym) : 0};
}

/* SETUP */
void *vdso_symbol(const char *name)
{
    uint64_t start = getauxval(AT_SYSINFO_EHDR);
    if (start == 0)
        return NULL;
    struct tables tables = tables_of(address_pointer(start));
    for (size_t i = 0; i < tables.n_symbols; i++) {
        const Elf64_Sym *symbol = &tables.symbols[i];
        if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
            strcmp(tables.names + symbol->st_name, name) == 0)
            return address_pointer(start + symbol->st_value);
    }
    return NULL;
}
