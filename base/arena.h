/* arena.h - allocate freely, free once: memory that lives and dies together.
 *
 * Contract  Allocations are zeroed, aligned to 16 bytes, and freed only with the whole arena.
 *           NULL when out of memory; what was allocated before stays valid.
 * Use       Texts and tables of one file or one profile: no cleanup path has to know them one by
 *           one. Not for what grows: an arena cannot give back the smaller copy (vector.h can).
 * Context   One thread at a time. Not signal safe. */
#ifndef SAMPLER_BASE_ARENA_H
#define SAMPLER_BASE_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_create(void);
void arena_destroy(struct arena *arena); /* takes NULL */

/* `size_bytes` of zeros. 0 bytes give a pointer too, which is different from all others. */
void *arena_alloc(struct arena *arena, size_t size_bytes);

/* n elements of `size_bytes`, the multiplication checked (NULL if it overflows). */
void *arena_array(struct arena *arena, size_t n, size_t size_bytes);

/* A copy of `length` bytes with a NUL after them. Borrows `text`. */
char *arena_text(struct arena *arena, const char *text, size_t length);

/* Bytes the arena holds from the system; for tests and reports. */
size_t arena_size_bytes(const struct arena *arena);

/* For fault tests: of all arenas of this process the n-th allocation from now on (1 = the next)
 * fails, once; 0 = none. */
void arena_fail_after(unsigned n);

#endif
