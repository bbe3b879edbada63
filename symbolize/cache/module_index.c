/* module_index.c - see module_index.h. */
#include "cache/module_index.h"

static bool kept_get(struct symbol_cache *cache, const struct cache_key *key,
                     struct dwarf_index *index)
{
    struct cache_index kept;
    if (!symbol_cache_get(cache, key, &kept))
        return false;
    *index = (struct dwarf_index){.block = kept.bytes, .size_bytes = kept.size_bytes};
    if (dwarf_index_is_valid(index))
        return true;
    dwarf_index_deinit(index); /* another version of ours has made it */
    return false;
}

enum index_outcome module_index_open(struct symbol_cache *cache, const struct elf_file *file,
                                     struct module_index *out)
{
    *out = (struct module_index){.to_keep = false};
    bool has_key = cache != NULL && cache_key_make(file, &out->key);
    if (has_key && kept_get(cache, &out->key, &out->index))
        return INDEX_DONE;
    enum index_outcome outcome = dwarf_index_build(file, &out->index);
    out->to_keep = has_key && outcome == INDEX_DONE && !elf_file_changed(file);
    return outcome;
}

void module_index_close(struct symbol_cache *cache, struct text path, struct module_index *index)
{
    if (!index->to_keep) {
        dwarf_index_deinit(&index->index);
        return;
    }
    symbol_cache_put(
        cache, &index->key, path,
        (struct cache_index){.bytes = index->index.block, .size_bytes = index->index.size_bytes});
    *index = (struct module_index){.to_keep = false};
}
