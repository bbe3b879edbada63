/* dwarf_names.c - which units to look at, and the chains in the end; see dwarf_names.h.
 *
 * Three ways to a unit, from the surest to the last resort: the ranges it states, .debug_aranges
 * (DWARF 5, 6.1.2), and, for addresses nobody has claimed, every unit that states none. An address
 * belongs to the first unit that takes it. */
#include "names/dwarf_names.h"

#include <dwarf.h>
#include <stdlib.h>

#include "names/dwarf_search.h"

/* Ranges looked at per module before we give up on it: some ten times what the largest programs
 * have. */
#define MAX_RANGES ((uint64_t)1 << 28)

/* Addresses of [start, end) without a unit become this one's. */
static bool unit_take(struct search *search, uint32_t unit, uint64_t start, uint64_t end)
{
    bool taken = false;
    if (start <= DWARF_DEAD_VADDR)
        return false;
    for (size_t i = search_lower(search, start); i < search->n && search->vaddrs[i] < end; i++) {
        if (search->places[i].unit != 0)
            continue;
        search->places[i].unit = unit;
        taken = true;
        if (i < search->unit_first)
            search->unit_first = i;
        if (i >= search->unit_end)
            search->unit_end = i + 1;
    }
    return taken;
}

static bool unit_touched(struct search *search, uint32_t unit, Dwarf_Die *die)
{
    Dwarf_Addr base;
    Dwarf_Addr start;
    Dwarf_Addr end;
    bool touched = false;
    for (ptrdiff_t at = 0; search->ranges_left > 0;) {
        at = dwarf_ranges(die, at, &base, &start, &end);
        if (at <= 0)
            break;
        search->ranges_left--;
        touched |= unit_take(search, unit, start, end);
    }
    return touched;
}

/* Before unit_take for another unit. */
static void unit_begin(struct search *search)
{
    search->unit_first = search->n;
    search->unit_end = 0;
}

static void unit_read(struct search *search, uint32_t unit, Dwarf_Die *die)
{
    dwarf_scopes_find(search, unit, die);
    dwarf_lines_find(search, unit, die);
}

static bool has_ranges(Dwarf_Die *die)
{
    return dwarf_hasattr(die, DW_AT_ranges) != 0 || dwarf_hasattr(die, DW_AT_high_pc) != 0;
}

/* Units that state their ranges. Returns the number of units seen. */
static uint32_t units_with_ranges(struct search *search)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    uint32_t unit = 0;
    while (!search->no_memory && unit < UINT32_MAX - 1 &&
           dwarf_get_units(search->dwarf, cu, &cu, NULL, NULL, &die, NULL) == 0) {
        unit++;
        unit_begin(search);
        if (dwarf_tag(&die) == DW_TAG_compile_unit && unit_touched(search, unit, &die))
            unit_read(search, unit, &die);
    }
    return unit;
}

/* For addresses no unit's own ranges cover: .debug_aranges. Returns whether some are still left. */
static bool units_by_aranges(struct search *search, uint32_t *unit)
{
    Dwarf_Aranges *aranges;
    size_t n_aranges;
    bool have = dwarf_getaranges(search->dwarf, &aranges, &n_aranges) == 0 && n_aranges > 0;
    bool left = false;
    for (size_t i = 0; i < search->n && !search->no_memory; i++) {
        if (search->places[i].unit != 0)
            continue;
        Dwarf_Arange *arange = have ? dwarf_getarange_addr(aranges, search->vaddrs[i]) : NULL;
        Dwarf_Addr start;
        Dwarf_Word length;
        Dwarf_Off offset;
        Dwarf_Die die;
        left = true;
        if (arange == NULL || *unit >= UINT32_MAX - 1 ||
            dwarf_getarangeinfo(arange, &start, &length, &offset) != 0 ||
            dwarf_offdie(search->dwarf, offset, &die) == NULL)
            continue;
        (*unit)++;
        unit_begin(search);
        unit_take(search, *unit, start, start + length);
        unit_read(search, *unit, &die);
    }
    return left;
}

/* For what is left: units that state no ranges at all, one after the other. */
static void units_without_ranges(struct search *search, uint32_t unit)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    while (!search->no_memory && unit < UINT32_MAX - 1 &&
           dwarf_get_units(search->dwarf, cu, &cu, NULL, NULL, &die, NULL) == 0) {
        if (dwarf_tag(&die) != DW_TAG_compile_unit || has_ranges(&die))
            continue;
        unit++;
        unit_begin(search);
        unit_take(search, unit, DWARF_DEAD_VADDR + 1, UINT64_MAX);
        unit_read(search, unit, &die);
        for (size_t i = search->unit_first; i < search->unit_end;
             i++) { /* what it did not know is free for the next */
            struct place *place = &search->places[i];
            if (place->unit == unit && place->scope == 0 && place->line == 0)
                place->unit = 0;
        }
    }
}

/* The chain of one address: its scope, then outward until a function that is not inlined. */
static void chain_make(struct search *search, const struct place *place, struct chain *chain,
                       struct chain_frames *frames)
{
    chain->first = (uint32_t)frames->n;
    struct chain_frame at = {.file = place->file, .line = place->line, .column = place->column};
    uint32_t index = place->scope;
    do {
        const struct scope *scope = &search->scopes.items[index]; /* [0]: no function */
        at.name = scope->name;
        at.decl_file = scope->decl_file;
        at.decl_line = scope->decl_line;
        at.inlined = scope->inlined && scope->parent != 0;
        at.unmangled = scope->unmangled;
        at.entry = scope->entry;
        if (frames->n >= UINT32_MAX || !chain_frames_push(frames, at)) {
            search->no_memory = true;
            return;
        }
        chain->n++;
        at = (struct chain_frame){
            .file = scope->call_file, .line = scope->call_line, .column = scope->call_column};
        index = scope->inlined ? scope->parent : 0;
    } while (index != 0);
}

bool dwarf_names_find(Dwarf *dwarf, const uint64_t *vaddrs, size_t n,
                      const struct dwarf_names_result *result)
{
    struct search search = {
        .dwarf = dwarf,
        .vaddrs = vaddrs,
        .n = n,
        .places = calloc(n == 0 ? 1 : n, sizeof(struct place)),
        .texts = result->texts,
        .ranges_left = MAX_RANGES,
    };
    if (search.places == NULL || !scopes_extend(&search.scopes, 1))
        search.no_memory = true;
    if (!search.no_memory) {
        uint32_t unit = units_with_ranges(&search);
        if (units_by_aranges(&search, &unit))
            units_without_ranges(&search, unit);
    }
    for (size_t i = 0; i < n && !search.no_memory; i++) {
        const struct place *place = &search.places[i];
        if (place->scope != 0 || place->line != 0)
            chain_make(&search, place, &result->chains[i], result->frames);
    }
    scopes_deinit(&search.scopes);
    enclosing_dies_deinit(&search.enclosing);
    map_deinit(&search.enclosing_units);
    chars_deinit(&search.qualified);
    free(search.places);
    return !search.no_memory;
}
