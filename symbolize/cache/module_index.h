/* module_index.h - the index of a file with debug information: kept by an earlier run, or made now. */
#ifndef SAMPLER_CACHE_MODULE_INDEX_H
#define SAMPLER_CACHE_MODULE_INDEX_H

#include <stdbool.h>

#include "cache/cache.h"
#include "dwarf/index.h"
#include "files/elf_file.h"
#include "intern.h"

struct module_index {
    struct dwarf_index index;
    struct cache_key key;
    bool to_keep; /* it was made, and has a key */
};

/* `cache` NULL: made in every case. Only after INDEX_DONE there is something to close. */
enum index_outcome module_index_open(struct symbol_cache *cache, const struct elf_file *file,
                                     struct module_index *out);

/* `path`: of the module, for people who look into the cache. */
void module_index_close(struct symbol_cache *cache, struct text path, struct module_index *index);

#endif
