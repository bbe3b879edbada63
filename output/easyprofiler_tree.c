/* easyprofiler_tree.c - from the flat list of a thread's blocks to the tree EasyProfiler shows, and
 * what a single block holds.
 *
 * Blocks are stored when they end, children before parents, without any link. EasyProfiler keeps a
 * list of the blocks without a parent so far; a new one that begins before the end of the last of
 * them takes it, and before it all that begin no earlier than itself. Only the last one's end is
 * looked at, so overlapping or misplaced blocks come out oddly, but always in the same way; that is
 * what this does too. Every block enters and leaves the list once: linear. */
#include <stdlib.h>
#include <string.h>

#include "easyprofiler.h"

struct root {
    uint32_t block;
    uint32_t n_levels; /* of the tree below it, itself included */
};

uint64_t easyprofiler_shown_begin(const struct easyprofiler_file *file, uint64_t begin_ns,
                                  uint64_t end_ns)
{
    return begin_ns < file->begin_ns && end_ns >= file->begin_ns ? file->begin_ns : begin_ns;
}

static uint64_t shown_begin(const struct easyprofiler_file *file, uint32_t number)
{
    const struct easyprofiler_block *block = easyprofiler_block_at(file, number);
    return easyprofiler_shown_begin(file, block->begin_ns, block->end_ns);
}

/* Makes blocks of roots[first..end) siblings of one another and children of `parent`. */
static void link_siblings(struct easyprofiler_file *file, const struct array *roots, size_t first,
                          uint32_t parent)
{
    for (size_t i = first; i < roots->n; i++) {
        struct root *root = array_at(roots, i);
        struct easyprofiler_block *block = easyprofiler_block_at(file, root->block);
        struct root *next = i + 1 < roots->n ? array_at(roots, i + 1) : NULL;
        block->parent = parent;
        block->next_sibling = next != NULL ? next->block : 0;
    }
}

static bool nest_block(struct easyprofiler_file *file, struct array *roots, uint32_t number)
{
    struct easyprofiler_block *block = easyprofiler_block_at(file, number);
    uint64_t begin_ns = shown_begin(file, number);
    uint32_t n_levels = 1;
    struct root *last = roots->n != 0 ? array_at(roots, roots->n - 1) : NULL;
    if (last != NULL && begin_ns < easyprofiler_block_at(file, last->block)->end_ns) {
        size_t first = roots->n - 1;
        while (first > 0 &&
               shown_begin(file, ((struct root *)array_at(roots, first - 1))->block) >= begin_ns)
            first--;
        for (size_t i = first; i < roots->n; i++) {
            const struct root *child = array_at(roots, i);
            if (n_levels < child->n_levels + 1)
                n_levels = child->n_levels + 1;
        }
        block->first_child = ((struct root *)array_at(roots, first))->block;
        link_siblings(file, roots, first, number);
        roots->n = first;
    }
    struct root *root = array_push(roots);
    if (root == NULL)
        return false;
    *root = (struct root){number, n_levels};
    return true;
}

static bool nest_thread(struct easyprofiler_file *file, struct easyprofiler_thread *thread,
                        struct array *roots)
{
    roots->n = 0;
    for (uint32_t i = 0; i < thread->n_sections; i++) {
        const struct easyprofiler_section *section =
            array_at(&file->sections, thread->first_section + i);
        for (uint32_t k = 0; k < section->n_blocks; k++) {
            if (!nest_block(file, roots, section->first_block + k))
                return false;
        }
    }
    link_siblings(file, roots, 0, 0);
    thread->n_levels = 1;
    for (size_t i = 0; i < roots->n; i++) {
        const struct root *root = array_at(roots, i);
        if (thread->n_levels < root->n_levels)
            thread->n_levels = root->n_levels;
    }
    thread->first_root = roots->n != 0 ? ((struct root *)roots->items)->block : 0;
    return true;
}

bool easyprofiler_nest(struct easyprofiler_file *file)
{
    struct array roots;
    array_init(&roots, sizeof(struct root));
    bool ok = true;
    for (uint32_t i = 0; ok && i < file->n_threads; i++)
        ok = nest_thread(file, &file->threads[i], &roots);
    array_deinit(&roots);
    return ok;
}

uint32_t easyprofiler_next(const struct easyprofiler_file *file, uint32_t number, uint32_t *level)
{
    const struct easyprofiler_block *block = easyprofiler_block_at(file, number);
    if (block->first_child != 0) {
        ++*level;
        return block->first_child;
    }
    while (block->next_sibling == 0 && block->parent != 0) {
        --*level;
        block = easyprofiler_block_at(file, block->parent);
    }
    return block->next_sibling;
}

struct text easyprofiler_runtime_name(const struct easyprofiler_block *block)
{
    /* The parser made sure of the 0 at its end. */
    const char *name = (const char *)block->record + EASYPROFILER_BLOCK_BYTES;
    return (struct text){name, strlen(name)};
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
