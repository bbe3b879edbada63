/* symbols_elf.c - symbols of the tables that have section headers, .symtab and .dynsym; see
 * symbols.h. Which of them are code, and which of several names of one address is the best, is
 * decided here. */
#include <string.h>

#include "names/symbols.h"

#define MOST_UNDERSCORES 9u

/* Lower is better: functions before labels, global and weak before local, few underscores. */
static uint32_t rank_of(const GElf_Sym *symbol, const char *name)
{
    uint32_t rank = GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE ? 1000 : 0;
    rank += symbol->st_size == 0 ? 500 : 0;
    unsigned binding = GELF_ST_BIND(symbol->st_info);
    rank += binding == STB_LOCAL ? 200 : 0;
    uint32_t underscores = 0;
    while (underscores < MOST_UNDERSCORES && name[underscores] == '_')
        underscores++;
    return rank + underscores;
}

static bool is_code(const GElf_Sym *symbol, const char *name, const GElf_Shdr *section)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    if (name[0] == '\0' || (section->sh_flags & SHF_EXECINSTR) == 0)
        return false;
    if (type == STT_NOTYPE)
        return name[0] != '.' && name[0] != '$'; /* labels of assemblers, mapping symbols */
    return type == STT_FUNC || type == STT_GNU_IFUNC;
}

static bool table_add(struct symbols *symbols, const struct elf_file *file, Elf_Scn *section,
                      const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    if (data == NULL || data->d_buf == NULL || header->sh_entsize == 0)
        return true;
    size_t n = data->d_size / sizeof(Elf64_Sym);
    symbols_begin_file(symbols, file);
    for (size_t i = 1; i < n && i <= INT32_MAX; i++) {
        GElf_Sym raw;
        GElf_Shdr where;
        if (gelf_getsym(data, (int)i, &raw) == NULL || raw.st_shndx == SHN_UNDEF ||
            raw.st_shndx >= SHN_LORESERVE)
            continue;
        const char *name = elf_strptr(file->elf, header->sh_link, raw.st_name);
        Elf_Scn *code = elf_getscn(file->elf, raw.st_shndx);
        if (name == NULL || code == NULL || gelf_getshdr(code, &where) == NULL ||
            !is_code(&raw, name, &where))
            continue;
        uint64_t end;
        if (raw.st_size == 0 || __builtin_add_overflow(raw.st_value, raw.st_size, &end))
            end = where.sh_addr + where.sh_size;
        /* "memcpy@@GLIBC_2.14": linkers have put the version into .symtab names at times. */
        size_t length =
            symbols_name_length(symbols, name, SIZE_MAX); /* it has an end: elf_strptr */
        if (length == 0 || end <= raw.st_value)
            continue;
        const char *at = memchr(name + 1, '@', length - 1);
        const struct symbol symbol = {
            .vaddr = raw.st_value,
            .end = end,
            .name = name,
            .length = at == NULL ? (uint32_t)length : (uint32_t)(at - name),
            .rank = rank_of(&raw, name),
            .sizeless = raw.st_size == 0,
            .is_label = GELF_ST_TYPE(raw.st_info) == STT_NOTYPE,
        };
        if (!symbols_add(symbols, &symbol))
            return false;
    }
    return true;
}

static Elf_Scn *table_find(const struct elf_file *file, uint32_t type, GElf_Shdr *header)
{
    for (Elf_Scn *section = elf_nextscn(file->elf, NULL); section != NULL;
         section = elf_nextscn(file->elf, section)) {
        if (gelf_getshdr(section, header) != NULL && header->sh_type == type)
            return section;
    }
    return NULL;
}

bool symbols_add_file(struct symbols *symbols, const struct elf_file *file)
{
    GElf_Shdr header;
    Elf_Scn *section = table_find(file, SHT_SYMTAB, &header);
    if (section == NULL)
        return symbols_add_exported(symbols, file);
    symbols->has_symtab = true;
    return table_add(symbols, file, section, &header);
}

bool symbols_add_exported(struct symbols *symbols, const struct elf_file *file)
{
    GElf_Shdr header;
    Elf_Scn *section = table_find(file, SHT_DYNSYM, &header);
    if (section == NULL)
        return symbols_add_dynamic(symbols, file);
    return table_add(symbols, file, section, &header);
}
