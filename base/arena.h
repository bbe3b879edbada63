/* arena.h - allocate freely, free once: memory that lives and dies together.
 *
 * Contract  Allocations are zeroed, aligned to 16 bytes, and freed only with the whole arena. NULL
 * when out of memory. Context   One thread at a time. Not signal safe. */
#ifndef SAMPLER_BASE_ARENA_H
#define SAMPLER_BASE_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_create(void);
void arena_destroy(struct arena *arena); /* takes NULL */

void *arena_alloc(struct arena *arena, size_t size_bytes);

/* n elements of `size_bytes`, the multiplication checked (NULL if it overflows). */
void *arena_array(struct arena *arena, size_t n, size_t size_bytes);

/* A copy of `length` bytes with a NUL behind them. Borrows `text`. */
char *arena_text(struct arena *arena, const char *text, size_t length);

/* Bytes the arena holds from the system; for tests and reports. */
size_t arena_size_bytes(const struct arena *arena);

/* For fault tests: the n-th allocation from now on (1 = the next) of this process fails, once; 0 =
 * none. */
void arena_fail_after(unsigned n);

#endif
