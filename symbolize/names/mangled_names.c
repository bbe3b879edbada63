/* mangled_names.c - see mangled_names.h. */
#include "names/mangled_names.h"

#include <string.h>

#include "map.h"
#include "names/names.h"

/* Of functions of one name and place that have several symbols: overloads made by a macro, copies of
 * a constructor. Nobody knows which of them was inlined. */
#define NAME_SEVERAL 0u

bool is_mangled_name(const char *name, size_t length)
{
    return length > 2 && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == 'D');
}

/* Functions by their plain name and where they were written -> text of the mangled one. */
static void known_add(struct map *known, const struct chain_frame *frame, uint32_t mangled)
{
    uint64_t name_and_file = (uint64_t)frame->name << 32 | frame->decl_file;
    uint32_t before = map_add(known, name_and_file, frame->decl_line, mangled);
    if (before != MAP_NONE && before != mangled)
        map_set(known, name_and_file, frame->decl_line, NAME_SEVERAL);
}

static uint32_t known_find(const struct map *known, const struct chain_frame *frame)
{
    uint64_t name_and_file = (uint64_t)frame->name << 32 | frame->decl_file;
    uint32_t mangled = map_find(known, name_and_file, frame->decl_line);
    return mangled == MAP_NONE ? NAME_SEVERAL : mangled;
}

static void frame_name(struct chain_frame *frame, uint32_t mangled)
{
    frame->name = mangled;
    frame->unmangled = false;
}

/* By the symbol at its entry. False when out of memory. */
static bool outermost_name(const struct named_chains *named, struct chain_frame *frame,
                           const struct symbols *symbols, struct map *known)
{
    const struct symbol *symbol = symbols_find(symbols, frame->entry);
    uint32_t mangled, without_suffix; /* parts and variants of a function are it */
    if (symbol == NULL || symbol->vaddr != frame->entry ||
        !is_mangled_name(symbol->name, symbol->length))
        return true;
    struct text base = names_base((struct text){symbol->name, symbol->length});
    if (!intern_add(named->texts, symbol->name, symbol->length, &mangled) ||
        !intern_add(named->texts, base.bytes, base.length, &without_suffix))
        return false;
    known_add(known, frame, without_suffix);
    frame_name(frame, mangled);
    return true;
}

bool mangled_names_use(const struct named_chains *named, const struct symbols *symbols)
{
    struct map known = {.slots = NULL};
    bool done = true;
    for (size_t i = 0; i < named->n && done; i++) {
        const struct chain *chain = &named->chains[i];
        if (chain->n == 0)
            continue;
        struct chain_frame *frame = &named->frames[(size_t)chain->first + chain->n - 1];
        if (frame->unmangled && frame->name != 0)
            done = outermost_name(named, frame, symbols, &known);
    }
    for (size_t i = 0; i < named->n_frames && done && known.n != 0; i++) {
        struct chain_frame *frame = &named->frames[i];
        uint32_t mangled = frame->unmangled ? known_find(&known, frame) : NAME_SEVERAL;
        if (mangled != NAME_SEVERAL)
            frame_name(frame, mangled);
    }
    done = done && !known.no_memory;
    map_deinit(&known);
    return done;
}
