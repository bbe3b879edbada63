/* index_find.c - chains of ascending addresses from an index; see index.h for what is in it.
 *
 * Addresses that fall into one tree are looked up in one pass over it: each node in the order of the
 * DWARF takes over the addresses its ranges cover, so that inner ones win over outer ones. */
#include <stdlib.h>
#include <string.h>

#include "cursor.h"
#include "dwarf/index.h"
#include "dwarf/work.h"
#include "map.h"
#include "number.h"

/* Nesting of the trees we write is less: scopes.c. */
#define MAX_DEPTH 512u

#define NO_NODE UINT32_MAX

/* The account of work: the largest trees there are a hundred times, and some for each address. What
 * it is spent on has only lines. */
#define WORK_FREE ((uint64_t)1 << 28)
#define WORK_PER_VADDR ((uint64_t)1 << 12)
#define NODE_WORK 8u
#define RANGE_WORK 4u

/* A function (the first node of a tree) or a call inlined into the one before it. */
struct node {
    uint32_t parent; /* NO_NODE: of the first                */
    uint32_t origin;
    struct index_line call;
};

VECTOR_DEFINE(nodes, struct node)

struct find {
    const struct index_header *header;
    const struct index_piece *functions;
    const struct index_piece *lines;
    const struct index_origin *origins;
    const uint32_t *texts;
    const uint8_t *trees;
    const uint8_t *line_bytes;
    const char *text_bytes;
    const struct dwarf_names_result *result;
    const uint64_t *vaddrs;
    size_t n;
    uint32_t *node_of; /* of each address, in the tree in work */
    struct nodes nodes;
    uint64_t entry;       /* of its function                      */
    struct map texts_had; /* text of the index -> of the result   */
    struct work_account work;
    bool no_memory;
};

/* ---- the block ---- */

/* The parts of the block; false if they are not as long as it. */
static bool block_open(struct find *find, const struct dwarf_index *index)
{
    const uint8_t *at = index->block;
    if (at == NULL || index->size_bytes < sizeof *find->header)
        return false;
    const struct index_header *h = find->header = (const void *)at;
    at += sizeof *h;
    find->functions = (const void *)at;
    at += (size_t)h->n_functions * sizeof(struct index_piece);
    find->lines = (const void *)at;
    at += (size_t)h->n_lines * sizeof(struct index_piece);
    find->origins = (const void *)at;
    at += (size_t)h->n_origins * sizeof(struct index_origin);
    find->texts = (const void *)at;
    at += (size_t)h->n_texts * sizeof(uint32_t);
    find->trees = at;
    at += h->trees_bytes;
    find->line_bytes = at;
    at += h->lines_bytes;
    find->text_bytes = (const char *)at;
    return h->size_bytes == index->size_bytes && h->texts_bytes <= UINT32_MAX &&
           (size_t)(at - index->block) + h->texts_bytes == index->size_bytes &&
           h->texts_bytes > 0 && find->text_bytes[h->texts_bytes - 1] == '\0' &&
           memcmp(h->magic, INDEX_MAGIC, sizeof h->magic) == 0;
}

bool dwarf_index_is_valid(const struct dwarf_index *index)
{
    struct find find = {.header = NULL};
    return block_open(&find, index);
}

/* A text of the index as one of the result. */
static uint32_t text_of(struct find *find, uint64_t text)
{
    uint32_t id = 0;
    if (text == 0 || text >= find->header->n_texts ||
        find->texts[text] >= find->header->texts_bytes)
        return 0;
    uint32_t had = map_find(&find->texts_had, text, 0);
    if (had != MAP_NONE)
        return had;
    const char *bytes = find->text_bytes + find->texts[text];
    size_t length = strlen(bytes);
    if (!work_spend(&find->work, length))
        return 0;
    if (!intern_add(find->result->texts, bytes, length, &id) ||
        map_add(&find->texts_had, text, 0, id) == MAP_NONE)
        find->no_memory = true;
    return id;
}

/* The piece that holds an address, NULL if there is none. */
static const struct index_piece *piece_find(const struct index_piece *pieces, uint32_t n,
                                            uint64_t vaddr)
{
    size_t low = 0;
    size_t high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pieces[middle].start <= vaddr)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || vaddr - pieces[low - 1].start >= pieces[low - 1].size_bytes)
        return NULL;
    return &pieces[low - 1];
}

static int64_t cursor_folded(struct cursor *c)
{
    uint64_t value = cursor_uleb128(c);
    return (int64_t)(value >> 1 ^ ((value & 1) != 0 ? UINT64_MAX : 0));
}

/* ---- lines ---- */

static uint64_t line_row_read(struct cursor *c, struct index_line *line)
{
    uint64_t head = cursor_uleb128(c);
    uint64_t step = head >> INDEX_LINE_STEP_SHIFT;
    if (step >= INDEX_LINE_STEP_MAX)
        step += cursor_uleb128(c);
    line->line += (uint32_t)cursor_folded(c);
    if ((head & INDEX_LINE_COLUMN) != 0)
        line->column = (uint32_t)cursor_uleb128(c);
    if ((head & INDEX_LINE_FILE) != 0)
        line->file += (uint32_t)cursor_folded(c);
    return step;
}

/* The line of an address, zero if there is none. */
static struct index_line line_find(const struct find *find, uint64_t vaddr)
{
    struct index_line found = {0, 0, 0};
    struct index_line line = {0, 0, 0};
    const struct index_piece *piece = piece_find(find->lines, find->header->n_lines, vaddr);
    if (piece == NULL || piece->offset >= find->header->lines_bytes)
        return found;
    struct cursor c =
        cursor_make(find->line_bytes + piece->offset, find->header->lines_bytes - piece->offset);
    uint64_t at = cursor_uleb128(&c);
    uint64_t n = cursor_uleb128(&c);
    for (uint64_t i = 0; i < n && i < INDEX_BLOCK_ROWS && !c.failed; i++) {
        at += line_row_read(&c, &line);
        if (at > vaddr || c.failed)
            break;
        found = line;
    }
    return found;
}

/* ---- trees ---- */

/* Those of addresses [first, end) that the node's ranges cover are its own from now on. */
static void ranges_take(struct find *find, struct cursor *c, uint64_t *at, uint32_t node,
                        size_t first, size_t end)
{
    uint64_t n = cursor_uleb128(c);
    for (uint64_t k = 0; k < n && !c->failed && work_spend(&find->work, RANGE_WORK); k++) {
        uint64_t start = *at + (uint64_t)cursor_folded(c);
        *at = start + cursor_uleb128(c);
        for (size_t i = first + lower_bound_u64(find->vaddrs + first, end - first, start);
             i < end && find->vaddrs[i] < *at && work_spend(&find->work, 1); i++)
            find->node_of[i] = node;
    }
}

/* Reads a tree; addresses [first, end) get their innermost node. */
static void tree_read(struct find *find, uint32_t offset, size_t first, size_t end)
{
    uint32_t path[MAX_DEPTH + 1]; /* the node at each depth */
    uint64_t at = 0;
    uint32_t deepest = 0;
    struct cursor c = cursor_make(find->trees, find->header->trees_bytes);
    cursor_skip(&c, offset);
    find->nodes.n = 0;
    struct node node = {.parent = NO_NODE, .origin = (uint32_t)cursor_uleb128(&c)};
    find->entry = cursor_uleb128(&c);
    path[0] = 0;
    if (!nodes_push(&find->nodes, node))
        return;
    ranges_take(find, &c, &at, 0, first, end);
    for (;;) {
        uint64_t depth = cursor_uleb128(&c);
        if (depth == 0 || depth > MAX_DEPTH || depth > deepest + 1 || c.failed ||
            !work_spend(&find->work, NODE_WORK))
            return;
        deepest = (uint32_t)depth;
        node.parent = path[depth - 1];
        node.origin = (uint32_t)cursor_uleb128(&c);
        node.call.file = (uint32_t)cursor_uleb128(&c);
        node.call.line = (uint32_t)cursor_uleb128(&c);
        node.call.column = (uint32_t)cursor_uleb128(&c);
        path[depth] = (uint32_t)find->nodes.n;
        if (!nodes_push(&find->nodes, node))
            return;
        ranges_take(find, &c, &at, path[depth], first, end);
    }
}

/* ---- chains ---- */

static void frame_push(struct find *find, struct chain *chain, struct chain_frame frame)
{
    struct chain_frames *frames = find->result->frames;
    if (frames->n >= UINT32_MAX || !chain_frames_push(frames, frame))
        find->no_memory = true;
    else
        chain->n++;
}

static struct chain_frame frame_at(struct find *find, struct index_line line)
{
    return (struct chain_frame){
        .file = text_of(find, line.file), .line = line.line, .column = line.column};
}

/* From the node of address i outward. */
static void chain_make(struct find *find, size_t i, bool in_tree)
{
    struct chain *chain = &find->result->chains[i];
    struct index_line line = line_find(find, find->vaddrs[i]);
    uint32_t node = in_tree ? find->node_of[i] : NO_NODE;
    if (line.line > INT32_MAX)
        line.line = 0;
    chain->first = (uint32_t)find->result->frames->n;
    if (node == NO_NODE && line.line != 0)
        frame_push(find, chain, frame_at(find, line));
    while (node != NO_NODE && !find->no_memory) {
        const struct node *at = &find->nodes.items[node];
        struct chain_frame frame = frame_at(find, line);
        if (at->origin < find->header->n_origins) {
            const struct index_origin *origin = &find->origins[at->origin];
            frame.name = text_of(find, origin->name);
            frame.decl_file = text_of(find, origin->decl_file);
            frame.decl_line = origin->decl_line;
            frame.unmangled = origin->unmangled != 0;
        }
        frame.inlined = at->parent != NO_NODE;
        frame.entry = frame.inlined ? 0 : find->entry;
        frame_push(find, chain, frame);
        line = at->call;
        node = at->parent;
    }
}

/* Address i and those after it that lie in the same piece; returns the first that does not. */
static size_t group_find(struct find *find, size_t i)
{
    const struct index_piece *piece =
        piece_find(find->functions, find->header->n_functions, find->vaddrs[i]);
    size_t end = i + 1;
    if (piece == NULL) {
        chain_make(find, i, false);
        return end;
    }
    while (end < find->n && find->vaddrs[end] - piece->start < piece->size_bytes)
        end++;
    for (size_t k = i; k < end; k++)
        find->node_of[k] = NO_NODE;
    tree_read(find, piece->offset, i, end);
    find->no_memory |= find->nodes.no_memory;
    for (size_t k = i; k < end && !find->no_memory; k++)
        chain_make(find, k, !find->work.spent);
    return end;
}

bool dwarf_index_find(const struct dwarf_index *index, const uint64_t *vaddrs, size_t n,
                      const struct dwarf_names_result *result)
{
    struct find find = {.result = result, .vaddrs = vaddrs, .n = n};
    find.work.left = WORK_FREE + WORK_PER_VADDR * n;
    if (n == 0 || !block_open(&find, index))
        return true;
    find.node_of = malloc(n * sizeof *find.node_of);
    find.no_memory = find.node_of == NULL;
    for (size_t i = 0; i < n && !find.no_memory;)
        i = group_find(&find, i);
    bool done = !find.no_memory;
    nodes_deinit(&find.nodes);
    map_deinit(&find.texts_had);
    free(find.node_of);
    return done;
}
