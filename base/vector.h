/* vector.h - growing arrays of one type, without casts and with one check at the end.
 *
 *     VECTOR_DEFINE(edges, struct edge)       struct edges, edges_push, edges_reserve,
 *                                             edges_extend, edges_deinit
 *     struct edges edges = {0};               zero bytes are an empty vector
 *     edges_push(&edges, (struct edge){...}); as often as needed, unchecked
 *     edges.items[i].weight++;                i < edges.n
 *     ok = !edges.no_memory;                  once, before the result counts
 *     edges_deinit(&edges);                   in every case
 *
 * Growth    Doubles from 16 elements. Elements move when it grows: keep indexes, not pointers.
 * Failure   Out of memory is sticky: `no_memory` stays set, the element that had no room is
 *           dropped, what was pushed before stays valid. Only a caller that
 *           needs the new element at once looks at the result of the push.
 * Owner     The vector owns `items`; truncating by setting `n` lower is fine.
 * Context   One thread at a time. Not signal safe.
 *
 * base/array.h is the older, untyped one: what is left of its users has rows of a size known at
 * run time only. */
#ifndef SAMPLER_BASE_VECTOR_H
#define SAMPLER_BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "text.h"

/* Storage for at least `n` more than `n_used` elements, `items` moved there; NULL (and `items`
 * unchanged) when out of memory. *n_reserved: how many elements there is room for. */
void *vector_grow(void *items, size_t n_used, size_t n, size_t item_bytes, size_t *n_reserved);
void vector_free(void *items);

/* NOLINTBEGIN(bugprone-macro-parentheses): a type and a name take none */
#define VECTOR_DEFINE(name, type)                                                                  \
    struct name {                                                                                  \
        type *items;                                                                               \
        size_t n;          /* elements in use                       */                             \
        size_t n_reserved; /* elements there is room for, n <= this */                             \
        bool no_memory;    /* sticky: something could not be pushed */                             \
    };                                                                                             \
                                                                                                   \
    /* Room for `n` more, so that their pushes cannot fail. */                                     \
    __attribute__((unused)) static inline bool name##_reserve(struct name *vector, size_t n)       \
    {                                                                                              \
        if (vector->n_reserved - vector->n >= n)                                                   \
            return true;                                                                           \
        type *items = vector_grow(vector->items, vector->n, n, sizeof(type), &vector->n_reserved); \
        vector->no_memory = vector->no_memory || items == NULL;                                    \
        vector->items = items == NULL ? vector->items : items;                                     \
        return items != NULL;                                                                      \
    }                                                                                              \
                                                                                                   \
    __attribute__((unused)) static inline bool name##_push(struct name *vector, type item)         \
    {                                                                                              \
        if (vector->n == vector->n_reserved && !name##_reserve(vector, 1))                         \
            return false;                                                                          \
        vector->items[vector->n++] = item;                                                         \
        return true;                                                                               \
    }                                                                                              \
                                                                                                   \
    /* At least `n` elements, the new ones all zero. */                                            \
    __attribute__((unused)) static inline bool name##_extend(struct name *vector, size_t n)        \
    {                                                                                              \
        if (n <= vector->n)                                                                        \
            return true;                                                                           \
        if (!name##_reserve(vector, n - vector->n))                                                \
            return false;                                                                          \
        memset(vector->items + vector->n, 0, (n - vector->n) * sizeof(type));                      \
        vector->n = n;                                                                             \
        return true;                                                                               \
    }                                                                                              \
                                                                                                   \
    __attribute__((unused)) static inline void name##_deinit(struct name *vector)                  \
    {                                                                                              \
        vector_free(vector->items);                                                                \
        *vector = (struct name){.items = NULL};                                                    \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

VECTOR_DEFINE(chars, char)
VECTOR_DEFINE(ids, uint32_t)

/* Appends `n` bytes. */
bool chars_append(struct chars *out, const char *from, size_t n);

/* A view of them, until they change. */
static inline struct text chars_text(const struct chars *chars)
{
    return (struct text){.bytes = chars->n == 0 ? "" : chars->items, .length = chars->n};
}

#endif
