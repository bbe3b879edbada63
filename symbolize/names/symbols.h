/* symbols.h - names from symbol tables, for code without debug information.
 *
 *   .symtab (of the file or of its debug file), else .dynsym  -\
 *   .plt, .plt.sec, .plt.got + relocations -> malloc@plt       --> one sorted table -> lookups
 *
 * Of several names for one address the global one with the fewest leading underscores wins, so that
 * the answer does not depend on the order of the table. Names are views into the ELF files, which
 * must outlive the table, or copies in the arena. */
#ifndef SAMPLER_SYMBOLS_H
#define SAMPLER_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "files/elf_file.h"
#include "vector.h"

struct symbol {
    uint64_t vaddr;
    uint64_t end;     /* half-open; of a symbol without size the next one's start at most */
    const char *name; /* may carry an "@VERSION": length says where the name ends          */
    uint32_t length;
    uint32_t rank; /* of the names of one address the lowest is shown */
    bool sizeless; /* the table does not say where it ends            */
    bool is_label; /* nor that it is a function: it may be a place in one */
};

VECTOR_DEFINE(symbol_table, struct symbol)

struct symbols {
    struct arena *arena;
    struct symbol_table table;
    size_t n_sorted;     /* of them sorted by vaddr, one per address              */
    bool has_symtab;     /* static functions are known as well                            */
    uint64_t left_bytes; /* of names that are read still, of the file of symbols_begin_file */
};

void symbols_init(struct symbols *symbols, struct arena *arena); /* keeps the arena */
void symbols_deinit(struct symbols *symbols);

/* Adds .symtab, or .dynsym where there is no .symtab. What cannot be read is left out. False only
 * when out of memory. */
MUST_CHECK bool symbols_add_file(struct symbols *symbols, const struct elf_file *file);

/* Adds .dynsym: what the module exports. */
MUST_CHECK bool symbols_add_exported(struct symbols *symbols, const struct elf_file *file);

/* The same by PT_DYNAMIC, for files without section headers (symbols_dynamic.c); what
 * symbols_add_exported does when it finds no .dynsym. */
MUST_CHECK bool symbols_add_dynamic(struct symbols *symbols, const struct elf_file *file);

/* Adds the PLT entries of x86-64 files (plt.c). `file` is the module itself, not its debug file.
 * Names of IFUNC entries come from the symbols finished before. */
MUST_CHECK bool symbols_add_plt(struct symbols *symbols, const struct elf_file *file);

/* For the readers of tables: a hostile file may have one name of a megabyte for each of its symbols. */
void symbols_begin_file(struct symbols *symbols, const struct elf_file *file);

/* Length of the name that begins at `name`, of which `room` bytes are there; 0: it has no end, or
 * the names so far are longer than the file's can be. */
size_t symbols_name_length(struct symbols *symbols, const char *name, size_t room);

/* For symbols_add_plt. `name` is kept. */
MUST_CHECK bool symbols_add(struct symbols *symbols, const struct symbol *symbol);

/* All names there are of a module: the tables of its debug file (if that is MiniDebugInfo, with what the
 * module exports), else its own, then its PLT. Either file may be NULL. Finishes. */
MUST_CHECK bool symbols_load(struct symbols *symbols, const struct elf_file *file,
                             const struct elf_file *debug);

/* Makes what was added so far known to lookups. May be called again after more was added. */
void symbols_finish(struct symbols *symbols);

/* The symbol whose code holds `vaddr`, NULL if there is none. */
const struct symbol *symbols_find(const struct symbols *symbols, uint64_t vaddr);

#endif
