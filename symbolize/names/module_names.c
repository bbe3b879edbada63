/* module_names.c - see module_names.h. In short mode both forms of each name are made; sorted by
 * the short one, those that differ in the full one stand next to each other. */
#include "names/module_names.h"

#include <stdlib.h>
#include <string.h>

#include "vector.h"

struct name {
    uint32_t raw;  /* text of the module  */
    uint32_t made; /* text of the profile */
    uint32_t full; /* text of the profile, in short mode only */
};

VECTOR_DEFINE(names, struct name)

static uint32_t name_make(const struct module_symbols *symbols, uint32_t raw, enum names_mode mode,
                          struct profile_builder *builder, struct names_buffer *buffer)
{
    struct text text = intern_text(symbols->texts, raw);
    const char *made = demangle(text.bytes, mode, buffer);
    return profile_add_text(builder, made, strlen(made));
}

/* The distinct names of the frames, demangled. */
static bool names_collect(const struct module_symbols *symbols, enum names_mode mode,
                          struct profile_builder *builder, uint32_t *made, struct names *names)
{
    struct names_buffer *buffer = malloc(sizeof *buffer);
    for (size_t i = 0; i < symbols->n_frames && buffer != NULL; i++) {
        uint32_t raw = symbols->frames[i].name;
        if (raw == 0 || made[raw] != 0)
            continue;
        made[raw] = name_make(symbols, raw, mode, builder, buffer);
        if (mode != NAMES_SHORT)
            continue;
        names_push(names, (struct name){raw, made[raw],
                                        name_make(symbols, raw, NAMES_FULL, builder, buffer)});
    }
    bool done = buffer != NULL && !names->no_memory;
    free(buffer);
    return done;
}

static int name_compare(const void *left, const void *right)
{
    const struct name *a = left;
    const struct name *b = right;
    return a->made < b->made ? -1 : a->made > b->made;
}

/* Equal short names of different functions become full ones. */
static void names_keep_apart(const struct names *names, uint32_t *made)
{
    struct name *all = names->items;
    if (names->n > 1)
        qsort(all, names->n, sizeof *all, name_compare);
    for (size_t first = 0; first < names->n;) {
        size_t end = first + 1;
        bool differ = false;
        for (; end < names->n && all[end].made == all[first].made; end++)
            differ |= all[end].full != all[first].full;
        for (size_t i = first; i < end && differ; i++)
            made[all[i].raw] = all[i].full;
        first = end;
    }
}

bool module_names_make(const struct module_symbols *symbols, enum names_mode mode,
                       struct profile_builder *builder, uint32_t **out)
{
    uint32_t *made = calloc(intern_count(symbols->texts), sizeof *made);
    if (made == NULL)
        return false;
    struct names names = {0};
    bool done = names_collect(symbols, mode, builder, made, &names);
    if (done)
        names_keep_apart(&names, made);
    else
        free(made);
    names_deinit(&names);
    if (done)
        *out = made;
    return done;
}
