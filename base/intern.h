/* intern.h - texts by number: equal bytes, equal id.
 *
 * Ids are dense from 1 in order of first appearance; id 0 is the empty text. Texts may hold any
 * byte, NUL included. They are copied into the arena, which must outlive the table. Context: one
 * thread at a time, not signal safe. */
#ifndef SAMPLER_BASE_INTERN_H
#define SAMPLER_BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct intern;

struct text {
    const char *bytes; /* NUL behind them, never NULL  */
    size_t length;     /* without the NUL              */
};

struct intern *intern_create(struct arena *arena); /* keeps the arena */
void intern_destroy(struct intern *intern);        /* takes NULL; the texts stay with the arena */

/* The id of a text, added if new. Borrows. False when out of memory. */
bool intern_add(struct intern *intern, const char *bytes, size_t length, uint32_t *id);

/* `id` < intern_count. */
struct text intern_text(const struct intern *intern, uint32_t id);

/* Number of texts, the empty one included: always >= 1. */
uint32_t intern_count(const struct intern *intern);

#endif
