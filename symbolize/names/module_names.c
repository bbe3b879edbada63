/* module_names.c - see module_names.h. In short mode both forms of each name are made; a short one
 * stands for as many functions as it has full ones. */
#include "names/module_names.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "map.h"

/* The full names that a short one stands for, of all short ones. */
struct together {
    struct arena *arena;
    struct intern *fulls;
    struct map pairs;  /* (short, full) -> 0                     */
    struct map counts; /* short -> full ones seen with it        */
    uint32_t n;
    bool no_memory;
};

static bool together_init(struct together *together)
{
    *together = (struct together){.arena = arena_create()};
    together->fulls = together->arena == NULL ? NULL : intern_create(together->arena);
    return together->fulls != NULL;
}

static void together_deinit(struct together *together)
{
    map_deinit(&together->counts);
    map_deinit(&together->pairs);
    intern_destroy(together->fulls);
    arena_destroy(together->arena);
}

/* Notes that the function `full` has the name `brief`, a text of the profile. */
static void together_note(struct together *together, uint32_t brief, const char *full)
{
    uint32_t full_id;
    size_t before = together->pairs.n;
    if (!intern_add(together->fulls, full, strlen(full), &full_id) ||
        map_add(&together->pairs, brief, full_id, 0) == MAP_NONE) {
        together->no_memory = true;
        return;
    }
    if (together->pairs.n == before)
        return;
    uint32_t known = map_find(&together->counts, brief, 0);
    uint32_t count = known == MAP_NONE ? 1 : known + 1;
    if (!map_set(&together->counts, brief, 0, count))
        together->no_memory = true;
    together->n += count == 1 ? 0 : count == 2 ? 2 : 1;
}

/* The distinct names of the frames, demangled. */
static bool names_collect(const struct module_symbols *symbols, enum names_mode mode,
                          struct profile_builder *builder, uint32_t *made,
                          struct together *together)
{
    struct names_buffer *buffer = malloc(sizeof *buffer);
    for (size_t i = 0; i < symbols->n_frames && buffer != NULL; i++) {
        uint32_t raw = symbols->frames[i].name;
        if (raw == 0 || made[raw] != 0)
            continue;
        struct text text = intern_text(symbols->texts, raw);
        made[raw] = profile_add_cstring(builder, demangle(text.bytes, mode, buffer));
        if (mode == NAMES_SHORT)
            together_note(together, made[raw], demangle(text.bytes, NAMES_FULL, buffer));
    }
    bool done = buffer != NULL && !together->no_memory;
    free(buffer);
    return done;
}

bool module_names_make(const struct module_symbols *symbols, enum names_mode mode,
                       struct profile_builder *builder, struct module_names *out)
{
    struct together together;
    *out = (struct module_names){.made = calloc(intern_count(symbols->texts), sizeof *out->made)};
    bool done = together_init(&together) && out->made != NULL &&
                names_collect(symbols, mode, builder, out->made, &together);
    out->n_together = together.n;
    together_deinit(&together);
    if (!done)
        free(out->made);
    return done;
}
