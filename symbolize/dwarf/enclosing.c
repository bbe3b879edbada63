/* enclosing.c - what a DIE stands in: its parents, which DWARF does not state.
 *
 *   offset of a declaration -> the DIEs whose bytes it lies in -> its name with theirs
 *
 * The walk over the unit (scopes.c) knows them only where it is, and declarations lie elsewhere, often
 * in what it steps over. So the DIEs that functions may stand in are listed here, level by level, and
 * of a level only when a declaration lies in it: most of a unit is never looked into. */
#include <dwarf.h>

#include "dwarf/builder.h"
#include "dwarf/qualified.h"

/* Of one in the list, which is searched as often as it likes. */
#define ENCLOSING_WORK 16u

/* Of looking through one level of it. */
#define LEVEL_WORK 4u

static bool may_enclose(const struct abbrev *abbrev)
{
    return abbrev->has_children &&
           (qualified_encloses(abbrev->tag) || abbrev->tag == DW_TAG_lexical_block ||
            abbrev->tag == DW_TAG_try_block || abbrev->tag == DW_TAG_catch_block);
}

/* The children of the one at `c` go into the list. False: the unit is damaged. */
static bool inner_list(struct builder *builder, struct cursor c)
{
    const struct unit *unit = &builder->unit;
    while (!cursor_at_end(&c)) { /* a unit may end without a null entry */
        struct enclosing inner = {.offset = cursor_offset(&c)};
        uint64_t code = cursor_uleb128(&c);
        if (code == 0)
            break;
        const struct abbrev *abbrev = abbrevs_find(unit->abbrevs, code);
        if (abbrev == NULL || !work_spend(&builder->work, UNIT_DIE_WORK + abbrev->n))
            return false;
        unit_skip_attributes(unit, &c, abbrev);
        unit_skip_children(unit, &c, abbrev, &builder->work);
        if (c.failed || builder->work.spent)
            return false;
        inner.end = cursor_offset(&c);
        inner.tag = abbrev->tag;
        if (may_enclose(abbrev) && work_spend(&builder->work, ENCLOSING_WORK) &&
            !enclosing_list_push(&builder->unit_enclosing, inner))
            builder->no_memory = true;
    }
    return !c.failed && !builder->no_memory;
}

/* Where the children of the one at `index` begin; [0] is the unit's own DIE. */
static struct cursor inner_cursor(struct builder *builder, size_t index)
{
    const struct unit *unit = &builder->unit;
    struct cursor c = unit->bytes;
    if (index == 0) {
        c.pos = c.start + unit->first_child;
        return c;
    }
    c = unit_cursor(unit, builder->unit_enclosing.items[index].offset);
    unit_skip_attributes(unit, &c, abbrevs_find(unit->abbrevs, cursor_uleb128(&c)));
    return c;
}

static bool inner_look_for(struct builder *builder, size_t index)
{
    struct enclosing_list *list = &builder->unit_enclosing;
    size_t first = list->n;
    if (list->items[index].looked_for)
        return true;
    if (list->n >= UINT32_MAX || !inner_list(builder, inner_cursor(builder, index)))
        return false;
    list->items[index].looked_for = true;
    list->items[index].inner = (uint32_t)first;
    list->items[index].n_inner = (uint32_t)(list->n - first);
    return true;
}

/* The one of those in `index` that `offset` lies in, its own start excepted; 0: none. */
static size_t inner_find(const struct builder *builder, size_t index, uint64_t offset)
{
    const struct enclosing *all = builder->unit_enclosing.items;
    size_t low = all[index].inner;
    size_t high = low + all[index].n_inner;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all[middle].end <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < (size_t)all[index].inner + all[index].n_inner && all[low].offset < offset ? low
                                                                                           : 0;
}

/* The innermost DIE a name of what is at `offset` begins with; 0: none. */
static size_t enclosing_find(struct builder *builder, uint64_t offset)
{
    struct enclosing_list *list = &builder->unit_enclosing;
    size_t found = 0;
    if (list->n == 0) {
        struct enclosing unit = {.tag = DW_TAG_compile_unit};
        if (!enclosing_list_push(list, unit)) {
            builder->no_memory = true;
            return 0;
        }
    }
    size_t at = 0;
    for (unsigned depth = 0; depth < QUALIFIED_MAX_DEPTH; depth++) {
        if (!work_spend(&builder->work, LEVEL_WORK) || !inner_look_for(builder, at))
            break;
        at = inner_find(builder, at, offset);
        if (at == 0)
            break;
        if (qualified_encloses(list->items[at].tag))
            found = at;
    }
    return found;
}

const char *enclosing_qualify(struct builder *builder, struct die_facts *facts)
{
    struct qualified_part parts[QUALIFIED_MAX_PARTS] = {
        {.tag = DW_TAG_subprogram, .name = facts->name}};
    size_t n = 1;
    uint64_t at = facts->last;
    for (; n < QUALIFIED_MAX_PARTS; n++) {
        struct die_facts outer;
        size_t found = enclosing_find(builder, at);
        if (found == 0 ||
            !die_facts_read(builder, builder->unit_enclosing.items[found].offset, &outer))
            break;
        parts[n] = (struct qualified_part){.tag = builder->unit_enclosing.items[found].tag,
                                           .name = outer.name,
                                           .line = outer.line};
        if (n == 1 && !facts->has_line && qualified_is_lambda(&parts[1], &parts[0])) {
            facts->has_file = outer.has_file;
            facts->has_line = outer.has_line;
            facts->file = outer.file;
            facts->line = outer.line;
        }
        at = outer.last;
    }
    bool written = n > 1 && qualified_write(parts, n, &builder->qualified);
    builder->no_memory |= builder->qualified.no_memory;
    return written ? builder->qualified.items : NULL;
}

void enclosing_forget(struct builder *builder)
{
    builder->unit_enclosing.n = 0;
}
