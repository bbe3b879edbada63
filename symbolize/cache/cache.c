/* cache.c - see cache.h. Packing an index takes a tenth of what making it takes: it waits until the
 * answer is written, unless too much would wait. */
#include "cache/cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/folder.h"
#include "vector.h"

#define WAITING_MOST_BYTES ((size_t)128 << 20)

struct waiting {
    struct cache_key key;
    char *path; /* heap */
    struct cache_index index;
};

VECTOR_DEFINE(waiting_list, struct waiting)

struct symbol_cache {
    pthread_mutex_t lock; /* of all below */
    uint64_t limit_bytes;
    int folder; /* -1: not open, or not to be had */
    bool looked_for;
    struct waiting_list waiting;
    size_t waiting_bytes;
};

struct symbol_cache *symbol_cache_open(uint64_t limit_bytes)
{
    struct symbol_cache *cache = calloc(1, sizeof *cache);
    if (cache == NULL)
        return NULL;
    (void)pthread_mutex_init(&cache->lock, NULL); /* cannot fail in glibc */
    cache->limit_bytes = limit_bytes;
    cache->folder = -1;
    return cache;
}

static void waiting_drop(struct waiting *waiting)
{
    free(waiting->path);
    free(waiting->index.bytes);
}

static bool folder_make(struct symbol_cache *cache)
{
    struct err err = ERR_INIT;
    if (cache->folder < 0)
        cache->folder = cache_folder_open(true, &err);
    return cache->folder >= 0;
}

static void waiting_write(struct symbol_cache *cache)
{
    size_t n_written = 0;
    bool can = cache->waiting.n > 0 && folder_make(cache);
    for (size_t i = 0; i < cache->waiting.n; i++) {
        struct waiting *waiting = &cache->waiting.items[i];
        n_written += can && entry_write(cache->folder, &waiting->key, text_make(waiting->path),
                                        &waiting->index);
        waiting_drop(waiting);
    }
    cache->waiting.n = 0;
    cache->waiting_bytes = 0;
    if (n_written > 0)
        (void)cache_folder_trim(cache->folder, cache->limit_bytes);
}

void symbol_cache_close(struct symbol_cache *cache)
{
    if (cache == NULL)
        return;
    waiting_write(cache);
    if (cache->folder >= 0)
        close(cache->folder);
    waiting_list_deinit(&cache->waiting);
    (void)pthread_mutex_destroy(&cache->lock);
    free(cache);
}

/* A copy of one that is not written yet: each process of a run may ask for the same. */
static bool waiting_get(const struct symbol_cache *cache, const struct cache_key *key,
                        struct cache_index *index)
{
    for (size_t i = 0; i < cache->waiting.n; i++) {
        const struct waiting *waiting = &cache->waiting.items[i];
        if (strcmp(waiting->key.name, key->name) != 0)
            continue;
        index->bytes = malloc(waiting->index.size_bytes);
        if (index->bytes == NULL)
            return false;
        memcpy(index->bytes, waiting->index.bytes, waiting->index.size_bytes);
        index->size_bytes = waiting->index.size_bytes;
        return true;
    }
    return false;
}

/* The folder, looked for once; -1: there is none yet. */
static int folder_find(struct symbol_cache *cache)
{
    struct err err = ERR_INIT;
    if (!cache->looked_for)
        cache->folder = cache_folder_open(false, &err);
    cache->looked_for = true;
    return cache->folder;
}

bool symbol_cache_get(struct symbol_cache *cache, const struct cache_key *key,
                      struct cache_index *index)
{
    if (cache == NULL)
        return false;
    (void)pthread_mutex_lock(&cache->lock);
    int folder = folder_find(cache);
    bool found = waiting_get(cache, key, index);
    (void)pthread_mutex_unlock(&cache->lock);
    return found || (folder >= 0 && entry_read(folder, key, index));
}

static void waiting_add(struct symbol_cache *cache, struct waiting waiting)
{
    if (!waiting_list_push(&cache->waiting, waiting)) {
        waiting_drop(&waiting);
        return;
    }
    cache->waiting_bytes += waiting.index.size_bytes;
    if (cache->waiting_bytes > WAITING_MOST_BYTES)
        waiting_write(cache);
}

void symbol_cache_put(struct symbol_cache *cache, const struct cache_key *key, struct text path,
                      struct cache_index index)
{
    struct waiting waiting = {.key = *key, .index = index};
    if (cache != NULL && index.size_bytes >= CACHE_LEAST_BYTES)
        waiting.path = strndup(path.bytes, path.length);
    if (waiting.path == NULL) {
        waiting_drop(&waiting);
        return;
    }
    (void)pthread_mutex_lock(&cache->lock);
    waiting_add(cache, waiting);
    (void)pthread_mutex_unlock(&cache->lock);
}
