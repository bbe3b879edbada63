/* subs.c - the subs of a real NYTProf stream as JSON, with who called them from where:
 * by name, their edges by place, callers by name. */
#include <stdlib.h>
#include <string.h>

#include "formats/nytprof/dump/dump.h"

/* A row and where it goes; sorted without a context by carrying all that the order needs. */
struct ranked {
    struct text name;
    uint32_t group; /* of callers: the edge                */
    uint32_t row;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *left = a;
    const struct ranked *right = b;
    if (left->group != right->group)
        return left->group < right->group ? -1 : 1;
    return text_compare(left->name, right->name);
}

struct ranked_edge {
    struct nytprof_edge edge;
    uint32_t row;
};

static int compare_edges(const void *a, const void *b)
{
    const struct nytprof_edge *left = &((const struct ranked_edge *)a)->edge;
    const struct nytprof_edge *right = &((const struct ranked_edge *)b)->edge;
    if (left->sub != right->sub)
        return left->sub < right->sub ? -1 : 1;
    if (left->fid != right->fid)
        return left->fid < right->fid ? -1 : 1;
    return (left->line > right->line) - (left->line < right->line);
}

struct sub_tables {
    struct ranked *subs;       /* by name                  */
    struct ranked *callers;    /* by edge, then name       */
    struct ranked_edge *edges; /* by sub, then fid, line   */
    size_t n_subs, n_callers, n_edges;
    size_t *first_caller; /* by edge: in callers      */
    size_t *first_edge;   /* by sub: in edges         */
};

static bool sub_tables_init(struct sub_tables *tables, const struct nytprof_content *content)
{
    *tables = (struct sub_tables){
        .n_subs = content->subs.n, .n_callers = content->callers.n, .n_edges = content->edges.n};
    tables->subs = calloc(tables->n_subs + 1, sizeof *tables->subs);
    tables->callers = calloc(tables->n_callers + 1, sizeof *tables->callers);
    tables->edges = calloc(tables->n_edges + 1, sizeof *tables->edges);
    tables->first_caller = calloc(tables->n_edges + 1, sizeof *tables->first_caller);
    tables->first_edge = calloc(tables->n_subs + 1, sizeof *tables->first_edge);
    if (tables->subs == NULL || tables->callers == NULL || tables->edges == NULL ||
        tables->first_caller == NULL || tables->first_edge == NULL)
        return false;
    for (size_t i = 0; i < tables->n_subs; i++) {
        const struct nytprof_sub *sub = array_at(&content->subs, i);
        tables->subs[i] =
            (struct ranked){.name = intern_text(content->texts, sub->name), .row = (uint32_t)i};
    }
    for (size_t i = 0; i < tables->n_callers; i++) {
        const struct nytprof_caller *caller = array_at(&content->callers, i);
        tables->callers[i] = (struct ranked){.name = intern_text(content->texts, caller->name),
                                             .group = caller->edge};
    }
    for (size_t i = 0; i < tables->n_edges; i++) {
        const struct nytprof_edge *edge = array_at(&content->edges, i);
        tables->edges[i] = (struct ranked_edge){.edge = *edge, .row = (uint32_t)i};
    }
    qsort(tables->subs, tables->n_subs, sizeof *tables->subs, compare_ranked);
    qsort(tables->callers, tables->n_callers, sizeof *tables->callers, compare_ranked);
    qsort(tables->edges, tables->n_edges, sizeof *tables->edges, compare_edges);
    for (size_t i = tables->n_callers; i-- > 0;)
        tables->first_caller[tables->callers[i].group] = i;
    for (size_t i = tables->n_edges; i-- > 0;)
        tables->first_edge[tables->edges[i].edge.sub] = i;
    return true;
}

static void sub_tables_deinit(struct sub_tables *tables)
{
    free(tables->subs);
    free(tables->callers);
    free(tables->edges);
    free(tables->first_caller);
    free(tables->first_edge);
}

static void dump_edge(struct nytprof_dump *dump, const struct sub_tables *tables,
                      const struct ranked_edge *ranked)
{
    const struct nytprof_edge *edge = &ranked->edge;
    json_object_begin(&dump->out.json);
    nytprof_put_u64(&dump->out, "fid", edge->fid);
    nytprof_put_u64(&dump->out, "line", edge->line);
    nytprof_put_u64(&dump->out, "count", edge->count);
    nytprof_put_double(&dump->out, "incl", edge->inclusive);
    nytprof_put_double(&dump->out, "excl", edge->exclusive);
    nytprof_put_double(&dump->out, "reci", edge->recursive);
    nytprof_put_u64(&dump->out, "rec_depth", edge->depth);
    json_key(&dump->out.json, "callers");
    json_array_begin(&dump->out.json);
    for (size_t i = tables->first_caller[ranked->row];
         i < tables->n_callers && tables->callers[i].group == ranked->row; i++)
        json_text(&dump->out.json, nytprof_readable(&dump->out, tables->callers[i].name));
    json_array_end(&dump->out.json);
    json_object_end(&dump->out.json);
}

/* `CORE::name` or `PACKAGE::CORE:name`: an operator of the language. */
static bool is_operator(struct text name)
{
    static const char word[] = "CORE:";
    const size_t n_word = sizeof word - 1;
    size_t end = name.length;
    size_t at = end;
    while (at > 0 &&
           (name.bytes[at - 1] == '_' || (name.bytes[at - 1] >= '0' && name.bytes[at - 1] <= '9') ||
            ((name.bytes[at - 1] | 0x20) >= 'a' && (name.bytes[at - 1] | 0x20) <= 'z')))
        at--;
    if (at == end)
        return false;
    if (at == n_word + 1 && memcmp(name.bytes, "CORE::", at) == 0)
        return true;
    return at >= n_word + 2 && memcmp(name.bytes + at - n_word - 2, "::CORE:", n_word + 2) == 0;
}

static const char *sub_kind(struct text name, const struct nytprof_sub *sub)
{
    if (sub->first_line == 0 && sub->last_line == 0 && is_operator(name))
        return "opcode";
    return sub->has_lines && sub->first_line == 0 && sub->last_line == 0 ? "xsub" : "perl";
}

static void put_if(struct nytprof_dump *dump, const char *key, bool is_known, uint32_t value)
{
    json_key(&dump->out.json, key);
    if (is_known)
        json_u64(&dump->out.json, value);
    else
        json_null(&dump->out.json);
}

static void dump_sub(struct nytprof_dump *dump, const struct sub_tables *tables, uint32_t row)
{
    const struct nytprof_sub *sub = array_at(&dump->content.subs, row);
    struct text name = intern_text(dump->content.texts, sub->name);
    bool is_homeless = !sub->has_fid && sub->calls != 0;
    json_object_begin(&dump->out.json);
    nytprof_put_text(&dump->out, "name", name);
    json_key(&dump->out.json, "kind");
    json_cstring(&dump->out.json, sub_kind(name, sub));
    put_if(dump, "fid", sub->has_fid || is_homeless, is_homeless ? 1 : sub->fid);
    put_if(dump, "first_line", sub->has_lines, sub->first_line);
    put_if(dump, "last_line", sub->has_lines, sub->last_line);
    nytprof_put_u64(&dump->out, "calls", sub->calls);
    nytprof_put_double(&dump->out, "incl", sub->inclusive);
    nytprof_put_double(&dump->out, "excl", sub->exclusive);
    nytprof_put_u64(&dump->out, "rec_depth", sub->depth);
    nytprof_put_double(&dump->out, "reci", sub->recursive);
    json_key(&dump->out.json, "called_by");
    json_array_begin(&dump->out.json);
    for (size_t i = tables->first_edge[row];
         i < tables->n_edges && tables->edges[i].edge.sub == row; i++)
        dump_edge(dump, tables, &tables->edges[i]);
    json_array_end(&dump->out.json);
    json_object_end(&dump->out.json);
}

bool nytprof_dump_subs(struct nytprof_dump *dump)
{
    struct sub_tables tables;
    bool ok = sub_tables_init(&tables, &dump->content);
    if (ok) {
        json_key(&dump->out.json, "subs");
        json_array_begin(&dump->out.json);
        for (size_t i = 0; i < tables.n_subs; i++)
            dump_sub(dump, &tables, tables.subs[i].row);
        json_array_end(&dump->out.json);
    }
    sub_tables_deinit(&tables);
    return ok;
}
