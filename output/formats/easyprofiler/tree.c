/* tree.c - sections to threads, their blocks by number, and the tree EasyProfiler
 * shows of them.
 *
 * Blocks are stored when they end, children before parents, without any link. EasyProfiler keeps a
 * list of the blocks without a parent so far; a new one that begins before the end of the last of
 * them takes it, and before it all that begin no earlier than itself. Only the last one's end is
 * looked at, so overlapping or misplaced blocks come out oddly, but always in the same way; that is
 * what this does too. Every block enters and leaves the list once: linear. What a block takes is
 * the tail of the list, so what is in it has the numbers just before its own. */
#include <stdlib.h>
#include <string.h>

#include "formats/easyprofiler/easyprofiler.h"

static uint64_t load_u64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static struct easyprofiler_block block_of_record(const struct easyprofiler_file *file,
                                                 const uint8_t *record)
{
    struct easyprofiler_block block = {.begin_ns = easyprofiler_to_ns(file, load_u64(record)),
                                       .end_ns = easyprofiler_to_ns(file, load_u64(record + 8)),
                                       .record = record};
    memcpy(&block.descriptor, record + 16, sizeof block.descriptor);
    if (block.end_ns < block.begin_ns)
        block.end_ns = block.begin_ns;
    return block;
}

static struct easyprofiler_place *place_at(const struct easyprofiler_file *file, uint32_t number)
{
    return &file->places.items[number];
}

struct easyprofiler_block easyprofiler_block_at(const struct easyprofiler_file *file,
                                                uint32_t number)
{
    return block_of_record(file, file->data + place_at(file, number)->offset);
}

uint64_t easyprofiler_shown_begin(const struct easyprofiler_file *file, uint64_t begin_ns,
                                  uint64_t end_ns)
{
    return begin_ns < file->begin_ns && end_ns >= file->begin_ns ? file->begin_ns : begin_ns;
}

/* ---- sections and threads ------------------------------------------------------------------- */

static int compare_sections(const void *left, const void *right)
{
    const struct easyprofiler_section *a = left;
    const struct easyprofiler_section *b = right;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Sections of one id are one thread; the last name of any size counts. */
static bool merge_sections(struct easyprofiler_file *file)
{
    uint32_t n_sections = (uint32_t)file->sections.n;
    if (n_sections == 0)
        return true;
    struct easyprofiler_section *sections = file->sections.items;
    qsort(sections, n_sections, sizeof *sections, compare_sections);
    file->threads = calloc(n_sections, sizeof *file->threads);
    if (file->threads == NULL)
        return false;
    for (uint32_t i = 0; i < n_sections; i++) {
        if (i == 0 || sections[i].tid != sections[i - 1].tid)
            file->threads[file->n_threads++] = (struct easyprofiler_thread){
                .tid = sections[i].tid, .name = "", .first_section = i};
        struct easyprofiler_thread *thread = &file->threads[file->n_threads - 1];
        thread->n_sections++;
        if (sections[i].name != NULL) {
            thread->name = sections[i].name;
            thread->name_length = sections[i].name_length;
        }
    }
    return true;
}

/* ---- the tree ------------------------------------------------------------------------------- */

/* A block without a parent so far. */
struct root {
    uint64_t begin_ns; /* as shown */
    uint64_t end_ns;
    uint32_t block;
    uint32_t n_levels; /* of the tree below it, itself included */
};

VECTOR_DEFINE(roots, struct root)

/* The shown tree of the thread's blocks so far takes the block that comes next. */
static bool nest_block(struct easyprofiler_file *file, struct easyprofiler_thread *thread,
                       struct roots *roots, const uint8_t *record)
{
    uint32_t number = (uint32_t)file->places.n;
    struct easyprofiler_place place = {.offset = (uint64_t)(record - file->data) &
                                                 EASYPROFILER_OFFSET_MAX};
    const struct easyprofiler_block block = block_of_record(file, record);
    if (block.begin_ns < thread->begin_ns)
        thread->begin_ns = block.begin_ns;
    if (block.end_ns > thread->end_ns)
        thread->end_ns = block.end_ns;
    uint64_t begin_ns = easyprofiler_shown_begin(file, block.begin_ns, block.end_ns);
    uint32_t n_levels = 1;
    const struct root *all = roots->items;
    size_t first = roots->n;
    if (first != 0 && begin_ns < all[first - 1].end_ns) {
        do {
            first--;
            if (n_levels <= all[first].n_levels)
                n_levels = all[first].n_levels + 1;
        } while (first > 0 && all[first - 1].begin_ns >= begin_ns);
        uint32_t lowest = all[first].block - easyprofiler_n_within(file, all[first].block);
        place.n_within = number - lowest;
        roots->n = first;
    }
    return easyprofiler_places_push(&file->places, place) &&
           roots_push(roots, (struct root){begin_ns, block.end_ns, number, n_levels});
}

static bool nest_thread(struct easyprofiler_file *file, struct easyprofiler_thread *thread,
                        struct roots *roots)
{
    roots->n = 0;
    thread->first_block = (uint32_t)file->places.n;
    thread->begin_ns = UINT64_MAX;
    thread->end_ns = 0;
    for (uint32_t i = 0; i < thread->n_sections; i++) {
        struct easyprofiler_section *section = &file->sections.items[thread->first_section + i];
        const uint8_t *pos = file->data + section->blocks_offset;
        section->first_block = (uint32_t)file->places.n;
        for (uint32_t k = 0; k < section->n_blocks; k++) {
            uint16_t size_bytes;
            memcpy(&size_bytes, pos, sizeof size_bytes);
            pos += sizeof size_bytes;
            if (!nest_block(file, thread, roots, pos))
                return false;
            pos += size_bytes;
        }
    }
    thread->n_blocks = (uint32_t)file->places.n - thread->first_block;
    thread->n_levels = 1;
    for (size_t i = 0; i < roots->n; i++) {
        if (thread->n_levels < roots->items[i].n_levels)
            thread->n_levels = roots->items[i].n_levels;
    }
    return true;
}

bool easyprofiler_gather(struct easyprofiler_file *file)
{
    struct roots roots = {0};
    bool ok = merge_sections(file) && easyprofiler_places_extend(&file->places, 1);
    for (uint32_t i = 0; ok && i < file->n_threads; i++)
        ok = nest_thread(file, &file->threads[i], &roots);
    roots_deinit(&roots);
    return ok;
}

/* ---- the walk ------------------------------------------------------------------------------- */

/* The blocks numbered `first` to `last` and not in one another, the last one first. */
static void walk_push(struct easyprofiler_walk *walk, uint32_t first, uint32_t last)
{
    for (uint32_t block = last; block >= first && !walk->pending.no_memory;
         block -= easyprofiler_n_within(walk->file, block) + 1)
        ids_push(&walk->pending, block);
}

struct easyprofiler_walk easyprofiler_walk_make(const struct easyprofiler_file *file,
                                                const struct easyprofiler_thread *thread)
{
    struct easyprofiler_walk walk = {.file = file};
    walk_push(&walk, thread->first_block, thread->first_block + thread->n_blocks - 1);
    return walk;
}

void easyprofiler_walk_deinit(struct easyprofiler_walk *walk)
{
    ids_deinit(&walk->pending);
    ids_deinit(&walk->around);
}

uint32_t easyprofiler_walk_next(struct easyprofiler_walk *walk, uint32_t *level)
{
    const uint32_t *pending = walk->pending.items;
    if (walk->pending.n == 0 || easyprofiler_walk_failed(walk))
        return 0;
    uint32_t block = pending[--walk->pending.n];
    const uint32_t *around = walk->around.items;
    while (walk->around.n > 0 && block > around[walk->around.n - 1])
        walk->around.n--;
    *level = (uint32_t)walk->around.n;
    uint32_t n_within = easyprofiler_n_within(walk->file, block);
    if (n_within == 0)
        return block;
    ids_push(&walk->around, block);
    walk_push(walk, block - n_within, block - 1);
    return block;
}

struct text easyprofiler_runtime_name(const struct easyprofiler_block *block)
{
    /* The parser made sure of the 0 at its end. */
    const char *name = (const char *)block->record + EASYPROFILER_BLOCK_BYTES;
    return (struct text){name, *name == '\0' ? 0 : strlen(name)};
}

struct easyprofiler_value easyprofiler_block_value(const struct easyprofiler_block *block)
{
    const uint8_t *head = block->record + EASYPROFILER_BLOCK_BYTES + 2;
    struct easyprofiler_value value = {.type = head[2],
                                       .is_array = head[3] != 0,
                                       .data = block->record + EASYPROFILER_VALUE_BYTES};
    memcpy(&value.data_bytes, head, sizeof value.data_bytes);
    memcpy(&value.id, head + 4, sizeof value.id);
    return value;
}

size_t easyprofiler_data_bytes(uint8_t type)
{
    static const uint8_t bytes[EASYPROFILER_N_DATA] = {1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 0};
    return type < EASYPROFILER_N_DATA ? bytes[type] : 0;
}

static uint64_t load_unsigned(const uint8_t *data, size_t n_bytes)
{
    uint64_t value = 0;
    memcpy(&value, data, n_bytes);
    return value;
}

/* The low `n_bytes` of a number in two's complement, widened. */
static int64_t widen_signed(uint64_t value, size_t n_bytes)
{
    uint64_t sign = (uint64_t)1 << (n_bytes * 8 - 1);
    return (int64_t)((value ^ sign) - sign);
}

struct easyprofiler_number easyprofiler_number_at(uint8_t type, const uint8_t *data)
{
    struct easyprofiler_number number = {.type = PROFILE_VALUE_U64};
    size_t n_bytes = easyprofiler_data_bytes(type);
    uint64_t bits = load_unsigned(data, n_bytes);
    switch (type) {
    case EASYPROFILER_BOOL:
        number.type = PROFILE_VALUE_BOOL;
        number.as.u64 = bits != 0;
        break;
    case EASYPROFILER_CHAR:
    case EASYPROFILER_I8:
    case EASYPROFILER_I16:
    case EASYPROFILER_I32:
    case EASYPROFILER_I64:
        number.type = PROFILE_VALUE_I64;
        number.as.i64 = widen_signed(bits, n_bytes);
        break;
    case EASYPROFILER_FLOAT: {
        float value;
        memcpy(&value, data, sizeof value);
        number.type = PROFILE_VALUE_F64;
        number.as.f64 = (double)value;
        break;
    }
    case EASYPROFILER_DOUBLE:
        number.type = PROFILE_VALUE_F64;
        memcpy(&number.as.f64, data, sizeof number.as.f64);
        break;
    default:
        number.as.u64 = bits;
        break;
    }
    return number;
}
