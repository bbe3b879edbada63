/* intern.h - texts by number: equal bytes, equal id.
 *
 * Ids       Dense from 1 in order of first appearance; id 0 is the empty text. So tables by id are
 *           plain arrays of intern_count elements, and texts are compared by comparing ids.
 * Texts     Any bytes, NUL included. Copied into the arena, with a NUL after them; they live as
 *           long as the arena, which must outlive the table.
 * Cost      A lookup is one hash and, mostly, one comparison; 24 bytes for each text besides its
 *           own, and 4 for each slot.
 * Seed      None: names come from the profiled program and from files of its user. A file made to
 *           collide costs its reader time and nothing else.
 * Context   One thread at a time. Not signal safe. */
#ifndef SAMPLER_BASE_INTERN_H
#define SAMPLER_BASE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

struct arena;
struct intern;

struct intern *intern_create(struct arena *arena); /* keeps the arena */
void intern_destroy(struct intern *intern);        /* takes NULL; the texts stay with the arena */

/* The id of a text, added if new. Borrows. False when out of memory. */
bool intern_add(struct intern *intern, const char *bytes, size_t length, uint32_t *id);

/* `id` < intern_count. */
struct text intern_text(const struct intern *intern, uint32_t id);

/* Number of texts, the empty one included: always >= 1. */
uint32_t intern_count(const struct intern *intern);

#endif
