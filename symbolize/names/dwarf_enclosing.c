/* dwarf_enclosing.c - what a DIE stands in, with libdw; see dwarf_search.h and dwarf/enclosing.c, which
 * does the same to units our own reader takes.
 *
 * dwarf_getscopes_die walks the unit from its start for each DIE. Here the DIEs that functions may
 * stand in are listed level by level, when one is asked for that lies in them. */
#include <dwarf.h>

#include "dwarf/qualified.h"
#include "names/dwarf_search.h"

/* As in libdw. */
#define CHAIN_MAX 16u

static bool may_enclose(Dwarf_Die *die)
{
    unsigned tag = (unsigned)dwarf_tag(die);
    return dwarf_haschildren(die) > 0 && (qualified_encloses(tag) || tag == DW_TAG_lexical_block ||
                                          tag == DW_TAG_try_block || tag == DW_TAG_catch_block);
}

/* The children of the one at `index` go into the list. */
static void inner_look_for(struct search *search, size_t index)
{
    struct enclosing_dies *list = &search->enclosing;
    uint32_t first = (uint32_t)list->n;
    Dwarf_Die outer = list->items[index].die;
    const void *outer_end = list->items[index].end;
    Dwarf_Die die;
    Dwarf_Die next;
    if (list->items[index].looked_for)
        return;
    for (bool more = dwarf_child(&outer, &die) == 0; more; die = next) {
        /* A DW_AT_sibling that leads back would make an endless walk. */
        more = dwarf_siblingof(&die, &next) == 0 && next.addr > die.addr;
        struct enclosing_die inner = {.die = die, .end = more ? next.addr : outer_end};
        if (may_enclose(&die) && (list->n >= MAP_NONE || !enclosing_dies_push(list, inner))) {
            search->no_memory = true;
            return;
        }
    }
    list->items[index].looked_for = true;
    list->items[index].inner = first;
    list->items[index].n_inner = (uint32_t)list->n - first;
}

/* The one of those in `index` that `die` lies in; MAP_NONE: none. */
static uint32_t inner_find(struct search *search, uint32_t index, const Dwarf_Die *die)
{
    inner_look_for(search, index);
    const struct enclosing_die *all = search->enclosing.items;
    uint32_t low = all[index].inner;
    uint32_t end = low + all[index].n_inner;
    for (uint32_t high = end; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (all[middle].end != NULL && all[middle].end <= die->addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && all[low].die.addr < die->addr ? low : MAP_NONE;
}

/* The unit of the DIE in the list; MAP_NONE: out of memory, or it has none. */
static uint32_t root_find(struct search *search, const Dwarf_Die *die)
{
    struct enclosing_dies *list = &search->enclosing;
    struct enclosing_die root = {.end = NULL};
    if (dwarf_cu_die(die->cu, &root.die, NULL, NULL, NULL, NULL, NULL, NULL) == NULL)
        return MAP_NONE;
    uint64_t key = (uint64_t)(uintptr_t)root.die.addr;
    uint32_t index = map_find(&search->enclosing_units, key, 0);
    if (index != MAP_NONE)
        return index;
    index = map_add(&search->enclosing_units, key, 0, (uint32_t)list->n);
    if (index == MAP_NONE || list->n >= MAP_NONE || !enclosing_dies_push(list, root)) {
        search->no_memory = true;
        return MAP_NONE;
    }
    return index;
}

/* The innermost DIE a name of what is at `die` begins with; MAP_NONE: none. */
static uint32_t enclosing_find(struct search *search, const Dwarf_Die *die)
{
    uint32_t found = MAP_NONE;
    uint32_t at = root_find(search, die);
    for (unsigned depth = 0; depth < QUALIFIED_MAX_DEPTH && at != MAP_NONE; depth++) {
        at = inner_find(search, at, die);
        if (at != MAP_NONE &&
            qualified_encloses((unsigned)dwarf_tag(&search->enclosing.items[at].die)))
            found = at;
    }
    return found;
}

/* Of those `die` refers to by DW_AT_abstract_origin or DW_AT_specification the last, where it was
 * declared. */
static Dwarf_Die last_find(Dwarf_Die die)
{
    for (unsigned i = 1; i < CHAIN_MAX; i++) {
        Dwarf_Attribute attribute;
        Dwarf_Die next;
        if (dwarf_attr(&die, DW_AT_abstract_origin, &attribute) == NULL &&
            dwarf_attr(&die, DW_AT_specification, &attribute) == NULL)
            break;
        if (dwarf_formref_die(&attribute, &next) == NULL)
            break;
        die = next;
    }
    return die;
}

static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

static uint64_t line_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word line = 0;
    if (dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_line, &attribute), &line) != 0)
        return 0;
    return line;
}

const char *search_qualify(struct search *search, Dwarf_Die *function, Dwarf_Die *declared)
{
    struct qualified_part parts[QUALIFIED_MAX_PARTS] = {
        {.tag = DW_TAG_subprogram, .name = name_of(function)}};
    size_t n = 1;
    *declared = *function;
    for (Dwarf_Die at = last_find(*function); n < QUALIFIED_MAX_PARTS; n++) {
        uint32_t found = enclosing_find(search, &at);
        if (found == MAP_NONE)
            break;
        Dwarf_Die outer = search->enclosing.items[found].die;
        parts[n] = (struct qualified_part){
            .tag = (unsigned)dwarf_tag(&outer), .name = name_of(&outer), .line = line_of(&outer)};
        if (n == 1 && dwarf_hasattr_integrate(function, DW_AT_decl_line) == 0 &&
            qualified_is_lambda(&parts[1], &parts[0]))
            *declared = outer;
        at = last_find(outer);
    }
    bool written = n > 1 && qualified_write(parts, n, &search->qualified);
    search->no_memory |= search->qualified.no_memory;
    return written ? search->qualified.items : NULL;
}
