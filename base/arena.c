/* arena.c - see arena.h.
 *
 * Blocks in a list and a bump pointer in the newest. Blocks double from 4 to 256 KiB: small
 * files cost little, large ones few calls. A request of more than a quarter of the next block
 * gets a block of its own, so that the rest of the current one is not wasted on it. calloc is
 * what zeroes: for large blocks it gets fresh pages from the kernel and need not write them. */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BLOCK_BYTES ((size_t)4 * 1024)
#define LARGEST_BLOCK_BYTES ((size_t)256 * 1024)
#define ALIGN_BYTES ((size_t)16)

struct block {
    struct block *next;
    size_t size_bytes;
};

struct arena {
    struct block *blocks;
    unsigned char *pos;
    unsigned char *end;
    size_t next_bytes; /* room in the next block; 0: there was none yet */
    size_t size_bytes;
};

static unsigned fail_countdown;

void arena_fail_after(unsigned n)
{
    fail_countdown = n;
}

struct arena *arena_create(void)
{
    return calloc(1, sizeof(struct arena));
}

void arena_destroy(struct arena *arena)
{
    if (arena == NULL)
        return;
    for (struct block *block = arena->blocks; block != NULL;) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
    free(arena);
}

static unsigned char *block_add(struct arena *arena, size_t payload_bytes)
{
    size_t header_bytes = (sizeof(struct block) + ALIGN_BYTES - 1) & ~(ALIGN_BYTES - 1);
    if (payload_bytes > SIZE_MAX - header_bytes)
        return NULL;
    struct block *block = calloc(1, header_bytes + payload_bytes);
    if (block == NULL)
        return NULL;
    block->next = arena->blocks;
    block->size_bytes = header_bytes + payload_bytes;
    arena->blocks = block;
    arena->size_bytes += block->size_bytes;
    return (unsigned char *)block + header_bytes;
}

void *arena_alloc(struct arena *arena, size_t size_bytes)
{
    if (fail_countdown != 0 && --fail_countdown == 0)
        return NULL;
    if (size_bytes > SIZE_MAX - ALIGN_BYTES)
        return NULL;
    size_t rounded = (size_bytes + ALIGN_BYTES - 1) & ~(ALIGN_BYTES - 1);
    if (rounded == 0)
        rounded = ALIGN_BYTES;
    if ((size_t)(arena->end - arena->pos) >= rounded) {
        void *result = arena->pos;
        arena->pos += rounded;
        return result;
    }
    size_t block_bytes = arena->next_bytes == 0 ? FIRST_BLOCK_BYTES : arena->next_bytes;
    if (rounded > block_bytes / 4)
        return block_add(arena, rounded);
    unsigned char *payload = block_add(arena, block_bytes);
    if (payload == NULL)
        return NULL;
    arena->pos = payload + rounded;
    arena->end = payload + block_bytes;
    if (block_bytes < LARGEST_BLOCK_BYTES)
        arena->next_bytes = 2 * block_bytes;
    return payload;
}

void *arena_array(struct arena *arena, size_t n, size_t size_bytes)
{
    size_t total;
    if (__builtin_mul_overflow(n, size_bytes, &total))
        return NULL;
    return arena_alloc(arena, total);
}

char *arena_text(struct arena *arena, const char *text, size_t length)
{
    if (length == SIZE_MAX)
        return NULL;
    char *copy = arena_alloc(arena, length + 1);
    if (copy != NULL && length != 0)
        memcpy(copy, text, length);
    return copy;
}

size_t arena_size_bytes(const struct arena *arena)
{
    return arena->size_bytes;
}
