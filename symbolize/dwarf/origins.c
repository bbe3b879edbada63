/* origins.c - what a function is called and where it was written, as its DIE and those it refers to say.
 * Instances of one function share one origin. */
#include "dwarf/builder.h"

/* What a new one takes in two maps and a table. */
#define ORIGIN_WORK 64u

/* What is known under a plain name though the language mangles: functions no other unit calls, and
 * those that are external, by C's rules. */
static uint32_t name_add(struct builder *builder, struct die_facts *facts)
{
    const char *qualified = NULL;
    if (facts->linkage_name != NULL)
        return builder_text(builder, facts->linkage_name, facts->linkage_name_lasts);
    if (builder->language.qualifies && facts->name != NULL && !facts->is_external)
        qualified = enclosing_qualify(builder, facts);
    return qualified != NULL ? builder_text(builder, qualified, false)
                             : builder_text(builder, facts->name, facts->name_lasts);
}

static uint32_t origin_add(struct builder *builder, struct die_facts *facts)
{
    struct index_origin origin = {.name = name_add(builder, facts)};
    origin.unmangled = builder->language.mangles && facts->linkage_name == NULL;
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
    struct die_facts facts;
    if (!die_facts_read(builder, offset, &facts))
        return false;
    *origin = origin_add(builder, &facts);
    if (map_add(&builder->unit_origins, offset, 0, *origin) == MAP_NONE)
        builder->no_memory = true;
    return true;
}
