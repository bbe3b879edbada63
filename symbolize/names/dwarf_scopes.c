/* dwarf_scopes.c - the functions and inlined calls of one unit that cover wanted addresses; see
 * dwarf_search.h.
 *
 * A walk in the order of the file. A DIE that covers an address takes it over from what covered it
 * before, so that inner ones win over outer ones. First only where compilers put functions with
 * code; if addresses of the unit remain without a function, once more through everything. */
#include <dwarf.h>

#include "dwarf/qualified.h"
#include "names/dwarf_search.h"

/* Compilers nest far less: lexical blocks and inlined calls to some dozens. */
#define MAX_DEPTH 512u

struct walk {
    struct search *search;
    uint32_t unit;
    uint32_t first_scope; /* scopes from here on are of this walk                    */
    struct language language;
    bool everywhere;    /* second walk: for addresses that have no scope           */
    Dwarf_Files *files; /* of the unit, for DW_AT_call_file                        */
    size_t n_files;
};

static uint32_t attribute_u32(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (dwarf_attr(die, name, &attribute) == NULL || dwarf_formudata(&attribute, &value) != 0 ||
        value > UINT32_MAX)
        return 0;
    return (uint32_t)value;
}

/* The name by which linkers know the function, else the plain one; both may stand at the end of a
 * chain of DW_AT_abstract_origin and DW_AT_specification. */
static const char *function_name(Dwarf_Die *die, bool *is_linkage_name)
{
    static const unsigned names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        Dwarf_Attribute attribute;
        const char *text = dwarf_formstring(dwarf_attr_integrate(die, names[i], &attribute));
        *is_linkage_name = names[i] != DW_AT_name;
        if (text != NULL && text[0] != '\0')
            return text;
    }
    return NULL;
}

static uint32_t call_file(struct walk *walk, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word index;
    if (walk->files == NULL || dwarf_attr(die, DW_AT_call_file, &attribute) == NULL ||
        dwarf_formudata(&attribute, &index) != 0 || index >= walk->n_files)
        return 0;
    return search_path(walk->search, die->cu, dwarf_filesrc(walk->files, index, NULL, NULL));
}

/* The file of the definition; its attribute may stand in another unit, whose files then count. */
static uint32_t decl_file(struct walk *walk, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) == NULL)
        return 0;
    return search_path(walk->search, attribute.cu, dwarf_decl_file(die));
}

/* Where the function is entered: gcc and clang list the part with the entry first. 0 = unknown. */
static uint64_t function_entry(Dwarf_Die *die)
{
    Dwarf_Addr base;
    Dwarf_Addr start;
    Dwarf_Addr end;
    if (dwarf_entrypc(die, &start) == 0 || dwarf_ranges(die, 0, &base, &start, &end) > 0)
        return start;
    return 0;
}

static bool is_external(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    bool flag = false;
    return dwarf_formflag(dwarf_attr_integrate(die, DW_AT_external, &attribute), &flag) == 0 &&
           flag;
}

/* What is known under a plain name though the language mangles: functions no other unit calls, and
 * those that are external, by C's rules. */
static void scope_name(struct walk *walk, Dwarf_Die *die, struct scope *scope, Dwarf_Die *declared)
{
    bool is_linkage_name = false;
    const char *name = function_name(die, &is_linkage_name);
    const char *qualified = NULL;
    *declared = *die;
    if (!is_linkage_name && name != NULL && walk->language.qualifies && !is_external(die))
        qualified = search_qualify(walk->search, die, declared);
    scope->name = search_text(walk->search, qualified != NULL ? qualified : name);
    scope->unmangled = walk->language.mangles && !is_linkage_name;
}

/* The new scope's index, 0 when out of memory. */
static uint32_t scope_add(struct walk *walk, Dwarf_Die *die, uint32_t parent, bool inlined)
{
    struct search *search = walk->search;
    struct scope scope = {.parent = parent, .inlined = inlined};
    Dwarf_Die declared;
    scope_name(walk, die, &scope, &declared);
    scope.decl_file = decl_file(walk, &declared);
    int line = 0;
    if (dwarf_decl_line(&declared, &line) == 0 && line > 0)
        scope.decl_line = (uint32_t)line;
    if (inlined) {
        scope.call_file = call_file(walk, die);
        scope.call_line = attribute_u32(die, DW_AT_call_line);
        scope.call_column = attribute_u32(die, DW_AT_call_column);
    } else {
        scope.entry = function_entry(die);
    }
    if (search->scopes.n >= UINT32_MAX || !scopes_push(&search->scopes, scope)) {
        search->no_memory = true;
        return 0;
    }
    return (uint32_t)(search->scopes.n - 1);
}

/* Whether this walk may give address i a scope. */
static bool place_open(const struct walk *walk, const struct place *place)
{
    if (place->unit != walk->unit)
        return false;
    return !walk->everywhere || place->scope == 0 || place->scope >= walk->first_scope;
}

/* The addresses of [start, end) become `scope`'s, or are only counted if `scope` is 0. */
static size_t range_take(struct walk *walk, uint64_t start, uint64_t end, uint32_t scope)
{
    struct search *search = walk->search;
    size_t n_taken = 0;
    if (start <= DWARF_DEAD_VADDR)
        return 0;
    for (size_t i = search_lower(search, start); i < search->n && search->vaddrs[i] < end; i++) {
        struct place *place = &search->places[i];
        if (!place_open(walk, place))
            continue;
        n_taken++;
        if (scope == 0)
            return n_taken; /* one is enough to know that it is worth a scope */
        place->scope = scope;
    }
    return n_taken;
}

static size_t ranges_take(struct walk *walk, Dwarf_Die *die, uint32_t scope)
{
    struct search *search = walk->search;
    Dwarf_Addr base;
    Dwarf_Addr start;
    Dwarf_Addr end;
    size_t n_taken = 0;
    for (ptrdiff_t at = 0; search->ranges_left > 0;) {
        at = dwarf_ranges(die, at, &base, &start, &end);
        if (at <= 0)
            break;
        search->ranges_left--;
        n_taken += range_take(walk, start, end, scope);
        if (scope == 0 && n_taken != 0)
            break;
    }
    return n_taken;
}

static void children_walk(struct walk *walk, Dwarf_Die *parent, uint32_t scope, unsigned depth);

/* NOLINTBEGIN(misc-no-recursion): the tree's own shape; bounded by MAX_DEPTH */

/* A function or an inlined call: a scope if it covers an address, and then its inner ones. */
static void function_walk(struct walk *walk, Dwarf_Die *die, uint32_t scope, unsigned depth,
                          bool inlined)
{
    if (ranges_take(walk, die, 0) != 0) {
        uint32_t inner = scope_add(walk, die, inlined ? scope : 0, inlined);
        if (inner == 0)
            return;
        ranges_take(walk, die, inner);
        children_walk(walk, die, inner, depth);
    } else if (walk->everywhere) {
        children_walk(walk, die, scope, depth);
    }
}

static void die_walk(struct walk *walk, Dwarf_Die *die, uint32_t scope, unsigned depth)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_subprogram:
        function_walk(walk, die, scope, depth, false);
        break;
    case DW_TAG_inlined_subroutine:
        function_walk(walk, die, scope, depth, true);
        break;
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_common_block:
        children_walk(walk, die, scope, depth);
        break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_variant_part:
    case DW_TAG_variant:
        if (walk->language.through_types || walk->everywhere)
            children_walk(walk, die, scope, depth);
        break;
    default:
        break; /* no code in it */
    }
}

static void children_walk(struct walk *walk, Dwarf_Die *parent, uint32_t scope, unsigned depth)
{
    Dwarf_Die die;
    if (depth >= MAX_DEPTH || walk->search->no_memory || dwarf_child(parent, &die) != 0)
        return;
    for (;;) {
        die_walk(walk, &die, scope, depth + 1);
        Dwarf_Die next;
        /* A DW_AT_sibling that leads back would make an endless walk. */
        if (dwarf_siblingof(&die, &next) != 0 || next.addr <= die.addr || walk->search->no_memory)
            return;
        die = next;
    }
}

/* NOLINTEND(misc-no-recursion) */

static bool scopes_missing(const struct search *search, uint32_t unit)
{
    for (size_t i = search->unit_first; i < search->unit_end; i++) {
        if (search->places[i].unit == unit && search->places[i].scope == 0)
            return true;
    }
    return false;
}

void dwarf_scopes_find(struct search *search, uint32_t unit, Dwarf_Die *unit_die)
{
    struct walk walk = {.search = search, .unit = unit};
    int language = dwarf_srclang(unit_die);
    walk.language = language_of(language < 0 ? 0 : (uint64_t)language);
    if (dwarf_getsrcfiles(unit_die, &walk.files, &walk.n_files) != 0)
        walk.files = NULL;
    children_walk(&walk, unit_die, 0, 0);
    if (!scopes_missing(search, unit))
        return;
    walk.everywhere = true;
    walk.first_scope = (uint32_t)search->scopes.n;
    children_walk(&walk, unit_die, 0, 0);
}
