/* scopes.c - one walk over the DIEs of a unit: its functions with code, and the calls inlined into
 * them, as trees (index.h).
 *
 *   unit -> namespaces, blocks     entered
 *        -> types                  stepped over, where the language has no functions with code there
 *        -> function with code     a tree; what else can hold functions in it waits until it is done
 *             -> inlined call      a node of the tree, if its code is there
 *        -> function whose code the linker dropped, since another unit has it, too: as the next
 *        -> function that was inlined, as written: only for the types in it (lambdas, local classes)
 *
 * A walk in the order of the file, without recursion: a level for each DIE whose children it is in.
 * It only goes forward, so that it ends; what waits may wait again, but not often. Functions in types
 * where compilers put none yield to others at the same address. */
#include <dwarf.h>

#include "dwarf/builder.h"

/* Compilers nest far less: lexical blocks and inlined calls to some dozens. */
#define MAX_DEPTH 512u

/* Functions in types in functions in types ... */
#define MAX_ROUNDS 16u

#define RANK_FIRST ((uint64_t)1 << 40)

struct level {
    uint32_t depth;   /* of inlined calls that stand here, in their tree */
    bool in_function; /* be it one with code or not                      */
    bool late;        /* functions here yield to others                  */
    bool dropped;     /* the linker dropped the code of the function     */
};

/* A DIE that is walked when the tree that is open is done. */
struct waiting {
    uint32_t offset;
    uint16_t round;
    bool late;
};

VECTOR_DEFINE(waiting_list, struct waiting)

struct walk {
    struct builder *builder;
    const struct unit *unit;
    struct cursor c;
    struct level levels[MAX_DEPTH]; /* [0]: where the walk began */
    unsigned level;
    bool tree_open;
    unsigned tree_level;           /* of its function                                */
    uint64_t tree_end;             /* of the range written last                      */
    uint32_t tree_offset;          /* in the builder's trees                         */
    bool tree_late;                /* it yields                                      */
    struct range_list tree_ranges; /* of its function                               */
    struct range_list ranges;      /* of the DIE in work                             */
    struct waiting_list waiting;
    uint16_t round;
    bool damaged;
};

/* What a DIE with code says. */
struct code_die {
    struct unit_pcs pcs;
    uint64_t origin; /* the DIE its name is found from */
    uint64_t entry;  /* DW_AT_entry_pc, 0: none        */
    uint64_t call_file;
    uint64_t call_line;
    uint64_t call_column;
};

static bool names_something(uint16_t attribute)
{
    return attribute == DW_AT_name || attribute == DW_AT_linkage_name ||
           attribute == DW_AT_MIPS_linkage_name || attribute == DW_AT_decl_file ||
           attribute == DW_AT_decl_line;
}

/* Reads the DIE at `offset`, whose attributes begin at `c`. */
static bool code_die_read(struct builder *builder, struct cursor c, const struct abbrev *abbrev,
                          uint64_t offset, struct code_die *die)
{
    const struct unit *unit = &builder->unit;
    bool own_name = false;
    bool is_address;
    uint64_t refers_to = 0;
    const struct attribute *attribute = abbrev_attributes(unit->abbrevs, abbrev);
    *die = (struct code_die){.origin = offset};
    if (!work_spend(&builder->work, abbrev->n))
        return false;
    for (uint32_t i = 0; i < abbrev->n; i++, attribute++) {
        own_name |= names_something(attribute->name);
        if (unit_pcs_take(unit, &die->pcs, &c, attribute))
            continue;
        switch (attribute->name) {
        case DW_AT_entry_pc:
            die->entry = unit_address(unit, &c, attribute, &is_address);
            break;
        case DW_AT_abstract_origin:
            refers_to = form_number(&c, attribute, unit->version);
            own_name |= !form_is_unit_ref(attribute->form);
            break;
        case DW_AT_call_file:
            die->call_file = form_number(&c, attribute, unit->version);
            break;
        case DW_AT_call_line:
            die->call_line = form_number(&c, attribute, unit->version);
            break;
        case DW_AT_call_column:
            die->call_column = form_number(&c, attribute, unit->version);
            break;
        default:
            form_skip(&c, attribute->form, unit->version);
        }
    }
    /* Instances refer to what they are instances of: that one is looked up once for all of them. */
    if (!own_name && refers_to != 0)
        die->origin = refers_to;
    return !c.failed;
}

/* ---- writing trees ---- */

static void number_write(struct walk *walk, uint64_t value)
{
    builder_number(walk->builder, &walk->builder->trees, value);
}

static uint32_t fitting_u32(uint64_t value)
{
    return value <= UINT32_MAX ? (uint32_t)value : 0;
}

static void span_add(struct walk *walk, struct range range)
{
    struct spans *spans = &walk->builder->tree_spans;
    struct span span = {
        .start = range.start,
        .end = range.end,
        .rank = spans->n | (walk->tree_late ? 0 : RANK_FIRST),
        .unit = walk->builder->unit_number,
        .payload = walk->tree_offset,
    };
    builder_span(walk->builder, spans, span);
}

static void ranges_write(struct walk *walk)
{
    const struct range_list *ranges = &walk->ranges;
    number_write(walk, ranges->n);
    for (size_t i = 0; i < ranges->n; i++) {
        struct range range = ranges->items[i];
        builder_signed(walk->builder, &walk->builder->trees,
                       (int64_t)(range.start - walk->tree_end));
        number_write(walk, range.end - range.start);
        walk->tree_end = range.end;
    }
}

static bool covered_by_tree(struct walk *walk, struct range range)
{
    for (size_t i = 0; i < walk->tree_ranges.n && work_spend(&walk->builder->work, 1); i++) {
        const struct range *outer = &walk->tree_ranges.items[i];
        if (range.start >= outer->start && range.end <= outer->end)
            return true;
    }
    return false;
}

/* An inlined call; it may have code where its function has none. */
static bool call_write(struct walk *walk, const struct code_die *die)
{
    uint32_t origin;
    if (!origin_find(walk->builder, die->origin, &origin))
        return false;
    number_write(walk, walk->levels[walk->level].depth + 1);
    number_write(walk, origin);
    number_write(walk, lines_file(walk->builder, die->call_file));
    number_write(walk, fitting_u32(die->call_line));
    number_write(walk, fitting_u32(die->call_column));
    ranges_write(walk);
    for (size_t i = 0; i < walk->ranges.n; i++) {
        if (!covered_by_tree(walk, walk->ranges.items[i]))
            span_add(walk, walk->ranges.items[i]);
    }
    return true;
}

static bool tree_begin(struct walk *walk, const struct code_die *die, bool inlined)
{
    uint32_t origin;
    if (walk->builder->trees.n > UINT32_MAX || !origin_find(walk->builder, die->origin, &origin))
        return false;
    uint64_t entry = die->entry != 0    ? die->entry
                     : die->pcs.has_low ? die->pcs.low
                                        : walk->ranges.items[0].start;
    walk->tree_open = true;
    walk->tree_level = walk->level;
    walk->tree_offset = (uint32_t)walk->builder->trees.n;
    walk->tree_end = 0;
    walk->tree_late = walk->levels[walk->level].late;
    number_write(walk, origin);
    number_write(walk, inlined ? 0 : entry);
    ranges_write(walk);
    walk->tree_ranges.n = 0;
    for (size_t i = 0; i < walk->ranges.n; i++) {
        span_add(walk, walk->ranges.items[i]);
        range_list_push(&walk->tree_ranges, walk->ranges.items[i]);
    }
    return true;
}

static void tree_end(struct walk *walk)
{
    number_write(walk, 0);
    walk->tree_open = false;
}

/* ---- walking ---- */

static void wait(struct walk *walk, uint64_t offset, bool late)
{
    struct waiting waiting = {
        .offset = (uint32_t)offset, .round = (uint16_t)(walk->round + 1), .late = late};
    if (waiting.round < MAX_ROUNDS && !waiting_list_push(&walk->waiting, waiting))
        walk->builder->no_memory = true;
}

/* A DIE with code. Returns whether its children are to be walked, and with what. */
static bool code_visit(struct walk *walk, const struct abbrev *abbrev, struct cursor attributes,
                       uint64_t offset, struct level *inner)
{
    struct code_die die;
    bool inlined = abbrev->role == ROLE_INLINED;
    if (walk->tree_open && !inlined) {
        wait(walk, offset, inner->late);
        return false;
    }
    if (inlined && inner->dropped) /* its addresses are those of a section that begins at 0 */
        return false;
    walk->ranges.n = 0;
    if (!code_die_read(walk->builder, attributes, abbrev, offset, &die) ||
        !unit_ranges(walk->unit, &die.pcs, &walk->ranges, &walk->builder->work)) {
        walk->damaged = true;
        return false;
    }
    if (walk->ranges.n == 0) {
        /* Another unit's copy was linked. Of a function in its types ours may have been. */
        inner->in_function = inner->late = inner->dropped = true;
        return !inlined && walk->builder->language.mangles;
    }
    bool in_tree = walk->tree_open;
    if (in_tree ? !call_write(walk, &die) : !tree_begin(walk, &die, inlined)) {
        walk->damaged = true;
        return false;
    }
    inner->depth = in_tree ? inner->depth + 1 : 0;
    inner->in_function = true;
    inner->dropped = false;
    return true;
}

/* What has no code itself. Returns whether its children are to be walked, and with what. */
static bool other_visit(struct walk *walk, const struct abbrev *abbrev, uint64_t offset,
                        struct level *inner)
{
    bool through_types = walk->builder->language.through_types;
    switch (abbrev->role) {
    case ROLE_BLOCK:
        return true;
    case ROLE_TYPE:
        if (!inner->in_function && !through_types)
            return false;
        inner->late |= !through_types;
        break;
    case ROLE_ABSTRACT:
        inner->in_function = inner->late = true;
        break;
    default:
        return false;
    }
    if (walk->tree_open) {
        if (abbrev->has_children)
            wait(walk, offset, inner->late);
        return false;
    }
    return true;
}

static void level_leave(struct walk *walk)
{
    walk->level--;
    if (walk->tree_open && walk->level == walk->tree_level)
        tree_end(walk);
}

static void die_visit(struct walk *walk)
{
    uint64_t offset = cursor_offset(&walk->c);
    uint64_t code = cursor_uleb128(&walk->c);
    if (code == 0) {
        level_leave(walk);
        return;
    }
    const struct abbrev *abbrev = abbrevs_find(walk->unit->abbrevs, code);
    if (abbrev == NULL) {
        cursor_fail(&walk->c);
        return;
    }
    if (!work_spend(&walk->builder->work, UNIT_DIE_WORK + abbrev->n))
        return;
    struct cursor attributes = walk->c;
    unit_skip_attributes(walk->unit, &walk->c, abbrev);
    struct level inner = walk->levels[walk->level];
    bool had_tree = walk->tree_open;
    bool enter = abbrev->role == ROLE_OTHER ? false
                 : abbrev->role == ROLE_FUNCTION || abbrev->role == ROLE_INLINED
                     ? code_visit(walk, abbrev, attributes, offset, &inner)
                     : other_visit(walk, abbrev, offset, &inner);
    if (enter && abbrev->has_children && walk->level + 1 < MAX_DEPTH) {
        walk->levels[++walk->level] = inner;
        return;
    }
    if (!had_tree && walk->tree_open)
        tree_end(walk);
    unit_skip_children(walk->unit, &walk->c, abbrev, &walk->builder->work);
}

static bool walk_fine(const struct walk *walk)
{
    return !walk->c.failed && !walk->damaged && !walk->builder->no_memory &&
           !walk->builder->work.spent;
}

/* The unit's children; a unit may end without a null entry. */
static void unit_walk(struct walk *walk)
{
    walk->c = walk->unit->bytes;
    walk->c.pos = walk->c.start + walk->unit->first_child;
    walk->level = 1;
    while (walk->level > 0 && !cursor_at_end(&walk->c) && walk_fine(walk))
        die_visit(walk);
    if (walk->tree_open)
        tree_end(walk);
}

static void waiting_walk(struct walk *walk, struct waiting waiting)
{
    walk->c = unit_cursor(walk->unit, waiting.offset);
    walk->round = waiting.round;
    walk->levels[0] = (struct level){.in_function = true, .late = waiting.late};
    walk->level = 0;
    do
        die_visit(walk);
    while (walk->level > 0 && !cursor_at_end(&walk->c) && walk_fine(walk));
    if (walk->tree_open)
        tree_end(walk);
}

bool scopes_read(struct builder *builder)
{
    struct walk walk = {.builder = builder, .unit = &builder->unit};
    builder->language = language_of(builder->unit.language);
    map_deinit(&builder->unit_origins);
    enclosing_forget(builder);
    if (builder->unit.has_children)
        unit_walk(&walk);
    for (size_t i = 0; i < walk.waiting.n && walk_fine(&walk); i++)
        waiting_walk(&walk, walk.waiting.items[i]);
    if (walk.ranges.no_memory || walk.tree_ranges.no_memory || builder->unit_origins.no_memory)
        builder->no_memory = true;
    bool fine = walk_fine(&walk);
    range_list_deinit(&walk.ranges);
    range_list_deinit(&walk.tree_ranges);
    waiting_list_deinit(&walk.waiting);
    return fine;
}
