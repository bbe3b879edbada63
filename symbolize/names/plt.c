/* plt.c - names for the entries of procedure linkage tables: malloc@plt.
 *
 *   entry -> the GOT slot it jumps through (or the relocation index it pushes) -> relocation ->
 * name
 *
 * Reading the entry's own instructions makes one rule do for every layout linkers have come up
 * with: lazy and eager, with and without IBT, .plt, .plt.sec and .plt.got. x86-64 only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names/symbols.h"
#include "text.h"

#define PLT_ENTRY_BYTES 16u
#define NAME_MAX_BYTES 4096u

/* What is read and made in all, in sizes of the file: in a hostile one all sections may be the same bytes. */
#define BYTES_PER_FILE 4u

struct slot {
    uint64_t got_vaddr; /* where the relocation puts the address */
    const char *name;   /* "" for an IRELATIVE one               */
    uint64_t addend;    /* its resolver                          */
    struct text shown;  /* "malloc@plt", of the arena; length 0: not made yet */
};

VECTOR_DEFINE(slots, struct slot)

struct plt {
    struct symbols *symbols;
    const struct elf_file *file;
    struct slots slots; /* sorted by got_vaddr       */
    struct slots lazy;  /* those of .rela.plt, in its order */
    uint64_t left_bytes;
    bool no_memory;
};

/* False: it has been too much. */
static bool bytes_take(struct plt *plt, uint64_t n)
{
    if (n > plt->left_bytes)
        return false;
    plt->left_bytes -= n;
    return true;
}

/* Name of symbol `index` of the table `table_index`, "" if it cannot be read. */
static const char *relocation_name(const struct elf_file *file, size_t table_index, size_t index)
{
    Elf_Scn *section = elf_getscn(file->elf, table_index);
    GElf_Shdr header;
    GElf_Sym symbol;
    if (section == NULL || gelf_getshdr(section, &header) == NULL || index > INT32_MAX)
        return "";
    Elf_Data *data = elf_getdata(section, NULL);
    if (data == NULL || data->d_buf == NULL || gelf_getsym(data, (int)index, &symbol) == NULL)
        return "";
    const char *name = elf_strptr(file->elf, header.sh_link, symbol.st_name);
    return name == NULL ? "" : name;
}

static void relocations_read(struct plt *plt, Elf_Scn *section, const GElf_Shdr *header)
{
    bool of_plt = strcmp(elf_file_section_name(plt->file, header), ".rela.plt") == 0;
    Elf_Data *data = elf_getdata(section, NULL);
    bool is_taken = data != NULL && data->d_buf != NULL && bytes_take(plt, data->d_size);
    size_t n = is_taken ? data->d_size / sizeof(Elf64_Rela) : 0;
    for (size_t i = 0; i < n && i <= INT32_MAX && !plt->slots.no_memory; i++) {
        GElf_Rela raw;
        if (gelf_getrela(data, (int)i, &raw) == NULL)
            return;
        uint64_t type = GELF_R_TYPE(raw.r_info);
        bool named = type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
        if (!named && type != R_X86_64_IRELATIVE && !of_plt)
            continue;
        const struct slot slot = {
            .got_vaddr = raw.r_offset,
            .name =
                named ? relocation_name(plt->file, header->sh_link, GELF_R_SYM(raw.r_info)) : "",
            .addend = (uint64_t)raw.r_addend,
            .shown = {"", 0},
        };
        slots_push(&plt->slots, slot);
        if (of_plt)
            slots_push(&plt->lazy, slot);
    }
}

static int slot_compare(const void *left, const void *right)
{
    uint64_t a = ((const struct slot *)left)->got_vaddr;
    uint64_t b = ((const struct slot *)right)->got_vaddr;
    return a < b ? -1 : a > b;
}

static struct slot *slot_find(const struct plt *plt, uint64_t got_vaddr)
{
    const struct slot key = {.got_vaddr = got_vaddr};
    if (plt->slots.n == 0)
        return NULL;
    return bsearch(&key, plt->slots.items, plt->slots.n, sizeof key, slot_compare);
}

/* The slot an entry stands for, NULL if it is none (the first entry, padding). */
static struct slot *entry_decode(const struct plt *plt, const uint8_t *code, size_t n,
                                 uint64_t vaddr)
{
    for (size_t i = 0; i + 6 <= n; i++) {
        int32_t displacement;
        memcpy(&displacement, code + i + 2, 4);
        if (code[i] == 0xff && code[i + 1] == 0x35)
            return NULL; /* push GOT[1](%rip): the entry all lazy ones jump to */
        if (code[i] == 0xff && code[i + 1] == 0x25) /* jmp *slot(%rip) */
            return slot_find(plt, vaddr + i + 6 + (uint64_t)(int64_t)displacement);
        uint32_t index;
        memcpy(&index, code + i + 1, 4);
        if (code[i] == 0x68 && index < plt->lazy.n) /* push $index: a lazy entry with IBT */
            return &plt->lazy.items[index];
    }
    return NULL;
}

/* Gives the slot the name it is shown by; length 0: it has none. */
static void slot_name(struct plt *plt, struct slot *slot)
{
    char name[NAME_MAX_BYTES];
    const char *target = slot->name;
    size_t length = strnlen(target, sizeof name);
    if (length == 0) { /* IRELATIVE: named after its resolver, as the function it chooses for */
        const struct symbol *resolver = symbols_find(plt->symbols, slot->addend);
        if (resolver == NULL)
            return;
        target = resolver->name;
        length = resolver->length;
    }
    if (length >= sizeof name)
        return;
    int n = snprintf(name, sizeof name, "%.*s@plt", (int)length, target);
    if (n <= 0 || (size_t)n >= sizeof name || !bytes_take(plt, (uint64_t)n))
        return;
    const char *kept = arena_text(plt->symbols->arena, name, (size_t)n);
    if (kept == NULL)
        plt->no_memory = true;
    else
        slot->shown = (struct text){kept, (size_t)n};
}

static void entry_add(struct plt *plt, struct slot *slot, uint64_t vaddr, uint64_t end)
{
    if (slot->shown.length == 0)
        slot_name(plt, slot);
    const struct symbol symbol = {
        .vaddr = vaddr,
        .end = end,
        .name = slot->shown.bytes,
        .length = (uint32_t)slot->shown.length,
    };
    if (symbol.length != 0 && !symbols_add(plt->symbols, &symbol))
        plt->no_memory = true;
}

static void section_read(struct plt *plt, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_rawdata(section, NULL);
    if (data == NULL || data->d_buf == NULL || !bytes_take(plt, data->d_size))
        return;
    size_t entry_bytes = header->sh_entsize == 8 ? 8 : PLT_ENTRY_BYTES;
    for (size_t at = 0; at + entry_bytes <= data->d_size && !plt->no_memory; at += entry_bytes) {
        uint64_t vaddr = header->sh_addr + at;
        struct slot *slot =
            entry_decode(plt, (const uint8_t *)data->d_buf + at, entry_bytes, vaddr);
        if (slot == NULL)
            continue;
        entry_add(plt, slot, vaddr, vaddr + entry_bytes);
    }
}

static void sections_each(struct plt *plt, bool relocations)
{
    for (Elf_Scn *section = elf_nextscn(plt->file->elf, NULL); section != NULL;
         section = elf_nextscn(plt->file->elf, section)) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL)
            continue;
        bool is_plt = header.sh_type == SHT_PROGBITS && (header.sh_flags & SHF_EXECINSTR) != 0 &&
                      strncmp(elf_file_section_name(plt->file, &header), ".plt", 4) == 0;
        if (relocations && header.sh_type == SHT_RELA)
            relocations_read(plt, section, &header);
        else if (!relocations && is_plt)
            section_read(plt, section, &header);
    }
}

bool symbols_add_plt(struct symbols *symbols, const struct elf_file *file)
{
    GElf_Ehdr header;
    if (gelf_getehdr(file->elf, &header) == NULL || header.e_machine != EM_X86_64)
        return true;
    struct plt plt = {.symbols = symbols, .file = file};
    size_t size_bytes = 0;
    (void)elf_rawfile(file->elf, &size_bytes);
    plt.left_bytes = BYTES_PER_FILE * (uint64_t)size_bytes;
    sections_each(&plt, true);
    if (plt.slots.n > 1)
        qsort(plt.slots.items, plt.slots.n, sizeof(struct slot), slot_compare);
    sections_each(&plt, false);
    slots_deinit(&plt.slots);
    slots_deinit(&plt.lazy);
    return !plt.no_memory && !plt.slots.no_memory && !plt.lazy.no_memory;
}
