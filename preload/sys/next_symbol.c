/* next_symbol.c - see next_symbol.h.
 *
 * The loader's list has what is loaded with the program in the order in which it searches it, and
 * the vDSO, which it does not search: its functions have libc's names and other arguments. The list
 * is read without the lock: libc is before all that the program may load and unload later. */
#include "sys/next_symbol.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include "sys/context.h"
#include "sys/segment.h"

#define VERSION_HIDDEN 0x8000u /* an old version, for programs that ask for it */
#define VDSO_MAX_BYTES 65536u

/* What of a module's dynamic section finds a symbol; NULL where it has none. */
struct tables {
    const Elf64_Sym *symbols;
    const char *names;
    const Elf64_Half *versions;
    const uint32_t *gnu_hash;
    const uint32_t *hash;
};

/* The loader has relocated the addresses, except where the section cannot be written to. */
static const void *relocated(const struct link_map *module, uint64_t address)
{
    return address_pointer(address < module->l_addr ? address + module->l_addr : address);
}

static struct tables tables_of(const struct link_map *module)
{
    struct tables tables = {.symbols = NULL};
    for (const Elf64_Dyn *entry = module->l_ld; entry != NULL && entry->d_tag != DT_NULL; entry++) {
        const void *at = relocated(module, entry->d_un.d_ptr);
        if (entry->d_tag == DT_SYMTAB)
            tables.symbols = at;
        else if (entry->d_tag == DT_STRTAB)
            tables.names = at;
        else if (entry->d_tag == DT_VERSYM)
            tables.versions = at;
        else if (entry->d_tag == DT_GNU_HASH)
            tables.gnu_hash = at;
        else if (entry->d_tag == DT_HASH)
            tables.hash = at;
    }
    return tables;
}

static bool is_wanted(const struct tables *tables, uint32_t i, const char *name)
{
    const Elf64_Sym *symbol = &tables->symbols[i];
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    return symbol->st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
           (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
           (tables->versions == NULL || (tables->versions[i] & VERSION_HIDDEN) == 0) &&
           strcmp(tables->names + symbol->st_name, name) == 0;
}

/* DT_GNU_HASH: buckets, first symbol in them, words and shift of a Bloom filter, the filter, the
 * buckets, then the symbols' hashes, of which the last in a bucket has bit 0 set. */
static const Elf64_Sym *find_gnu(const struct tables *tables, const char *name)
{
    const uint32_t *table = tables->gnu_hash;
    uint32_t n_buckets = table[0], first = table[1], n_words = table[2], shift = table[3];
    const uint64_t *filter = (const void *)(table + 4);
    const uint32_t *buckets = table + 4 + 2 * (size_t)n_words, *hashes = buckets + n_buckets;
    uint32_t hash = 5381;
    for (const char *c = name; *c != '\0'; c++)
        hash = hash * 33 + (uint8_t)*c;
    if (n_buckets == 0 || n_words == 0)
        return NULL;
    uint64_t word = filter[hash / 64 % n_words];
    if ((word >> hash % 64 & word >> (hash >> shift) % 64 & 1) == 0)
        return NULL;
    for (uint32_t i = buckets[hash % n_buckets]; i >= first; i++) {
        if ((hashes[i - first] | 1) == (hash | 1) && is_wanted(tables, i, name))
            return &tables->symbols[i];
        if ((hashes[i - first] & 1) != 0)
            break;
    }
    return NULL;
}

/* DT_HASH: the numbers of buckets and symbols, the buckets, and for each symbol the next one in its
 * bucket. */
static const Elf64_Sym *find_old(const struct tables *tables, const char *name)
{
    const uint32_t *table = tables->hash;
    uint32_t n_buckets = table[0], hash = 0;
    for (const char *c = name; *c != '\0'; c++) {
        hash = (hash << 4) + (uint8_t)*c;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    for (uint32_t i = n_buckets == 0 ? 0 : table[2 + hash % n_buckets]; i != STN_UNDEF;
         i = table[2 + n_buckets + i])
        if (is_wanted(tables, i, name))
            return &tables->symbols[i];
    return NULL;
}

static bool is_vdso(const struct link_map *module)
{
    return (uint64_t)module->l_ld - getauxval(AT_SYSINFO_EHDR) < VDSO_MAX_BYTES;
}

static void *find_in(const struct link_map *module, const char *name)
{
    const struct tables tables = tables_of(module);
    const Elf64_Sym *symbol = NULL;
    if (is_vdso(module) || tables.symbols == NULL || tables.names == NULL)
        return NULL;
    if (tables.gnu_hash != NULL)
        symbol = find_gnu(&tables, name);
    else if (tables.hash != NULL)
        symbol = find_old(&tables, name);
    if (symbol == NULL)
        return NULL;
    void *address = address_pointer(module->l_addr + symbol->st_value);
    if (ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC)
        return address;
    void *(*choose)(void);
    memcpy(&choose, &address, sizeof choose);
    return choose();
}

void *next_symbol(const char *name)
{
    struct dl_find_object own;
    void *found = NULL;
    if (_dl_find_object(address_pointer((uint64_t)next_symbol), &own) != 0)
        return NULL;
    for (const struct link_map *m = own.dlfo_link_map->l_next; m != NULL && found == NULL;
         m = m->l_next)
        found = find_in(m, name);
    for (const struct link_map *m = own.dlfo_link_map->l_prev; m != NULL && found == NULL;
         m = m->l_prev)
        found = find_in(m, name);
    return found;
}
