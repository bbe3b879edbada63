/* program.c - see program.h. Both are read from the program's mapped file: a note, and a name that
 * it needs of libc. */
#include "state/program.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sys/segment.h"

/* What finds its question answered with yes returns 1 of the first file, which is the program
 * itself, else -1: the end of the walk. */

/* SETUP */
static int find_go_note(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_NOTE)
            continue;
        uint64_t at = info->dlpi_addr + part->p_vaddr, end = at + part->p_memsz;
        while (end - at >= sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *note = address_pointer(at);
            at += sizeof *note + (((uint64_t)note->n_namesz + 3) & ~UINT64_C(3)) +
                  (((uint64_t)note->n_descsz + 3) & ~UINT64_C(3));
            if (note->n_namesz == 4 && memcmp(note + 1, "Go\0", 4) == 0)
                return 1;
            if (at > end)
                break;
        }
    }
    return -1;
}

/* SETUP */
bool program_is_go(void)
{
    return dl_iterate_phdr(find_go_note, NULL) == 1;
}

/* What the dynamic linker fills in by name, in one of a file's two tables of relocations. */
struct relocations {
    const ElfW(Rela) * items;
    size_t n;
};

/* A file's dynamic section; addresses, or what the tag holds. 0 = it has none. */
struct dynamic {
    uint64_t symbols;
    uint64_t names;
    uint64_t calls; /* relocations of the PLT */
    uint64_t calls_bytes;
    uint64_t others; /* the other relocations, first those without a name */
    uint64_t others_bytes;
    uint64_t n_nameless;
};

/* The dynamic linker has made the addresses absolute, but where it may not write them. SETUP */
static const void *pointer_to(const struct dl_phdr_info *info, uint64_t address)
{
    return address_pointer(address < info->dlpi_addr ? info->dlpi_addr + address : address);
}

/* SETUP */
static struct dynamic dynamic_of(const struct dl_phdr_info *info)
{
    struct dynamic dynamic = {0};
    const struct {
        int64_t tag;
        uint64_t *value;
    } wanted[] = {{DT_SYMTAB, &dynamic.symbols},      {DT_STRTAB, &dynamic.names},
                  {DT_JMPREL, &dynamic.calls},        {DT_PLTRELSZ, &dynamic.calls_bytes},
                  {DT_RELA, &dynamic.others},         {DT_RELASZ, &dynamic.others_bytes},
                  {DT_RELACOUNT, &dynamic.n_nameless}};
    const ElfW(Dyn) *entry = NULL;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            entry = address_pointer(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; entry != NULL && entry->d_tag != DT_NULL; entry++)
        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
            if (entry->d_tag == wanted[i].tag)
                *wanted[i].value = entry->d_un.d_val;
    return dynamic;
}

/* SETUP */
static int find_gprof_start(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    const struct dynamic dynamic = dynamic_of(info);
    const ElfW(Sym) *symbols = pointer_to(info, dynamic.symbols);
    const char *names = pointer_to(info, dynamic.names);
    const struct relocations tables[] = {
        {pointer_to(info, dynamic.calls), dynamic.calls_bytes / sizeof(ElfW(Rela))},
        {pointer_to(info, dynamic.others), dynamic.others_bytes / sizeof(ElfW(Rela))}};
    size_t first[] = {0, dynamic.n_nameless};
    if (dynamic.symbols == 0 || dynamic.names == 0)
        return -1;
    for (size_t t = 0; t < 2; t++)
        for (size_t i = first[t]; i < tables[t].n; i++) {
            const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(tables[t].items[i].r_info)];
            if (strcmp(names + symbol->st_name, "__monstartup") == 0)
                return 1;
        }
    return -1;
}

/* SETUP */
bool program_is_gprof(void)
{
    return dl_iterate_phdr(find_gprof_start, NULL) == 1;
}
