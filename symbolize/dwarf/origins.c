/* origins.c - what a function is called and where it was written: attributes of its DIE, or, for
 * those it lacks, of the one it refers to by DW_AT_abstract_origin or DW_AT_specification, and so
 * on. Instances of one function share one origin. */
#include <dwarf.h>

#include "dwarf/builder.h"

/* What a new one takes in two maps and a table. */
#define ORIGIN_WORK 64u

/* libdw follows as many; compilers make three. */
#define CHAIN_MAX 16u

struct facts {
    const char *linkage_name;
    const char *name;
    bool linkage_name_lasts;
    bool name_lasts;
    bool has_file;
    bool has_line;
    uint64_t file; /* index            */
    uint64_t line;
    uint64_t next; /* DIE; 0: none     */
    bool next_is_origin;
};

static bool is_set(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static void string_take(const struct unit *unit, struct cursor *c,
                        const struct attribute *attribute, const char **text, bool *lasts)
{
    const char *found = unit_string(unit, c, attribute);
    if (is_set(*text) || !is_set(found))
        return;
    *text = found;
    *lasts = attribute->form != DW_FORM_string;
}

static void number_take(const struct unit *unit, struct cursor *c,
                        const struct attribute *attribute, uint64_t *number, bool *has)
{
    uint64_t found = form_number(c, attribute, unit->version);
    if (!*has)
        *number = found;
    *has = true;
}

static void reference_take(const struct unit *unit, struct cursor *c,
                           const struct attribute *attribute, struct facts *facts)
{
    uint64_t offset = form_number(c, attribute, unit->version);
    bool is_origin = attribute->name == DW_AT_abstract_origin;
    if (!form_is_unit_ref(attribute->form) || (facts->next != 0 && facts->next_is_origin))
        return;
    facts->next = offset;
    facts->next_is_origin = is_origin;
}

static void attribute_take(const struct unit *unit, struct cursor *c,
                           const struct attribute *attribute, struct facts *facts)
{
    switch (attribute->name) {
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
        string_take(unit, c, attribute, &facts->linkage_name, &facts->linkage_name_lasts);
        return;
    case DW_AT_name:
        string_take(unit, c, attribute, &facts->name, &facts->name_lasts);
        return;
    case DW_AT_decl_file:
        number_take(unit, c, attribute, &facts->file, &facts->has_file);
        return;
    case DW_AT_decl_line:
        number_take(unit, c, attribute, &facts->line, &facts->has_line);
        return;
    case DW_AT_abstract_origin:
    case DW_AT_specification:
        reference_take(unit, c, attribute, facts);
        return;
    default:
        form_skip(c, attribute->form, unit->version);
    }
}

/* Takes in what the DIE at `offset` says and is not known yet; facts->next is the one to go on
 * with. */
static bool die_take(struct builder *builder, uint64_t offset, struct facts *facts)
{
    const struct unit *unit = &builder->unit;
    struct cursor c = unit_cursor(unit, offset);
    const struct abbrev *abbrev = abbrevs_find(unit->abbrevs, cursor_uleb128(&c));
    facts->next = 0;
    if (abbrev == NULL || !work_spend(&builder->work, abbrev->n))
        return false;
    const struct attribute *attribute = unit->abbrevs->attributes.items + abbrev->first;
    for (uint32_t i = 0; i < abbrev->n; i++)
        attribute_take(unit, &c, &attribute[i], facts);
    return !c.failed;
}

static uint32_t origin_add(struct builder *builder, const struct facts *facts)
{
    struct index_origin origin = {.decl_line = 0};
    bool linkage = is_set(facts->linkage_name);
    origin.name = linkage ? builder_text(builder, facts->linkage_name, facts->linkage_name_lasts)
                          : builder_text(builder, facts->name, facts->name_lasts);
    origin.unmangled = builder->mangles && !linkage;
    if (facts->has_file && facts->file != 0)
        origin.decl_file = lines_file(builder, facts->file);
    if (facts->has_line && facts->line <= INT32_MAX)
        origin.decl_line = (uint32_t)facts->line;
    uint32_t n = (uint32_t)builder->origins.n;
    uint64_t key = (uint64_t)origin.name << 1 | origin.unmangled;
    uint32_t id =
        map_add(&builder->origin_map, key, (uint64_t)origin.decl_file << 32 | origin.decl_line, n);
    if (id == n && !index_origins_push(&builder->origins, origin))
        builder->no_memory = true;
    return id;
}

bool origin_find(struct builder *builder, uint64_t offset, uint32_t *origin)
{
    uint32_t known = map_find(&builder->unit_origins, offset, 0);
    if (known != MAP_NONE) {
        *origin = known;
        return true;
    }
    if (!work_spend(&builder->work, ORIGIN_WORK))
        return false;
    struct facts facts = {.name = NULL};
    uint64_t at = offset;
    for (unsigned i = 0; i < CHAIN_MAX && at != 0; i++) {
        if (!die_take(builder, at, &facts))
            return false;
        at = facts.next;
    }
    *origin = origin_add(builder, &facts);
    if (map_add(&builder->unit_origins, offset, 0, *origin) == MAP_NONE)
        builder->no_memory = true;
    return true;
}
