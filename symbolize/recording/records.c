/* records.c - the records of a stream, one function per tag; see records.h.
 *
 * A record is read in whole before any of it counts, so a record cut in the middle leaves no
 * trace. */
#include "recording/records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "saturated.h"
#include "text.h"

/* Capture writes up to 16 MiB a module and 64 MiB in all, in pieces of 4 KiB. */
#define IMAGE_MAX_BYTES ((uint64_t)32 << 20)
#define IMAGES_MAX_BYTES ((uint64_t)128 << 20)
#define IMAGE_MAX_PIECES 65536u

/* Far above what a process has (capture stops at 4096); keeps the search below linear in practice.
 */
#define MODULES_LIMIT 16384u

static uint64_t time_scale(const struct reader *reader, uint64_t units)
{
    return multiply_saturated(units, reader->time_unit_ns);
}

/* A view into the chunk; copy it with text_keep before the chunk goes. */
static struct text text_read(struct cursor *c)
{
    uint64_t length = cursor_uleb128(c);
    if (length > cursor_left(c)) {
        cursor_fail(c);
        return (struct text){"", 0};
    }
    const uint8_t *bytes = cursor_bytes(c, (size_t)length);
    return bytes == NULL ? (struct text){"", 0} : (struct text){(const char *)bytes, length};
}

static struct text text_keep(struct reader *reader, struct text view)
{
    const char *copy = arena_text(reader->arena, view.bytes, view.length);
    if (copy == NULL) {
        reader->no_memory = true;
        return (struct text){"", 0};
    }
    return (struct text){copy, view.length};
}

static uint32_t u32_read(struct cursor *c)
{
    uint64_t value = cursor_uleb128(c);
    if (value > UINT32_MAX)
        cursor_fail(c);
    return (uint32_t)value;
}

/* The stream's current thread; one of unknown id where the recording names none. */
static struct recording_thread *thread_now(struct reader *reader, struct stream_state *stream)
{
    if (!stream->has_thread) {
        if (!threads_push(&reader->tables->threads, (struct recording_thread){.name = {"", 0}})) {
            reader->no_memory = true;
            return NULL;
        }
        stream->thread = (uint32_t)(reader->tables->threads.n - 1);
        stream->has_thread = true;
    }
    return &reader->tables->threads.items[stream->thread];
}

static void info_read(struct reader *reader, struct cursor *c)
{
    struct text key = text_read(c);
    struct text value = text_read(c);
    if (c->failed)
        return;
    const struct recording_info info = {text_keep(reader, key), text_keep(reader, value)};
    reader->no_memory |= !infos_push(&reader->tables->infos, info);
}

static void thread_start_read(struct reader *reader, struct stream_state *stream, struct cursor *c)
{
    uint64_t tid = cursor_uleb128(c);
    uint64_t start = cursor_uleb128(c);
    uint64_t cpu_ns = cursor_uleb128(c);
    struct text name = text_read(c);
    if (c->failed)
        return;
    stream->has_thread = false;
    stream->label = 0;
    struct recording_thread *thread = thread_now(reader, stream);
    if (thread == NULL)
        return;
    stream->time_ns = time_scale(reader, start);
    thread->tid = tid;
    thread->start_ns = stream->time_ns;
    thread->end_ns = stream->time_ns;
    thread->start_cpu_ns = cpu_ns;
    thread->name = text_keep(reader, name);
}

static void thread_name_read(struct reader *reader, struct stream_state *stream, struct cursor *c)
{
    struct text name = text_read(c);
    if (c->failed)
        return;
    struct recording_thread *thread = thread_now(reader, stream);
    if (thread != NULL)
        thread->name = text_keep(reader, name);
}

static void thread_end_read(struct reader *reader, struct stream_state *stream, struct cursor *c)
{
    uint64_t delta = cursor_uleb128(c);
    uint64_t cpu_ns = cursor_uleb128(c);
    if (c->failed)
        return;
    struct recording_thread *thread = thread_now(reader, stream);
    if (thread == NULL)
        return;
    stream->time_ns = add_saturated(stream->time_ns, time_scale(reader, delta));
    thread->end_ns = stream->time_ns;
    thread->end_cpu_ns = cpu_ns;
    thread->ended = true;
}

static void clock_read(struct reader *reader, struct stream_state *stream, struct cursor *c)
{
    uint32_t clock = u32_read(c);
    uint32_t clock_errno = u32_read(c);
    if (c->failed)
        return;
    struct recording_thread *thread = thread_now(reader, stream);
    if (thread == NULL)
        return;
    /* What it was once explains the rate of the whole. */
    if (thread->clock != CAPTURE_CLOCK_STAND_IN)
        thread->clock = clock;
    if (clock != CAPTURE_CLOCK_STAND_IN)
        thread->clock_errno = clock_errno;
}

static void thread_cost_read(struct reader *reader, struct stream_state *stream, struct cursor *c)
{
    uint64_t begin_cpu_ns = cursor_uleb128(c);
    uint64_t own_cpu_ns = cursor_uleb128(c);
    if (c->failed)
        return;
    struct recording_thread *thread = thread_now(reader, stream);
    if (thread == NULL)
        return;
    add_to(&thread->begin_cpu_ns, begin_cpu_ns);
    add_to(&thread->own_cpu_ns, own_cpu_ns);
}

/* Whether two descriptions of one id agree; the image comes in records of its own. */
static bool module_equal(const struct recording_module *a, const struct recording_module *b)
{
    return a->start == b->start && a->end == b->end && a->bias == b->bias && a->dev == b->dev &&
           a->ino == b->ino && a->size_bytes == b->size_bytes && a->mtime_s == b->mtime_s &&
           text_equal(a->build_id, b->build_id) && text_equal(a->path, b->path);
}

static void module_read(struct reader *reader, struct cursor *c, uint64_t offset)
{
    struct recording_module module = {0};
    module.id = u32_read(c);
    module.flags = u32_read(c);
    module.start = cursor_uleb128(c);
    module.end = cursor_uleb128(c);
    module.bias = cursor_uleb128(c);
    module.dev = cursor_uleb128(c);
    module.ino = cursor_uleb128(c);
    module.size_bytes = cursor_uleb128(c);
    module.mtime_s = cursor_uleb128(c);
    module.build_id = text_read(c);
    module.path = text_read(c);
    module.image = (struct text){"", 0};
    if (c->failed)
        return;
    for (size_t i = 0; i < reader->tables->modules.n; i++) {
        const struct recording_module *known = &reader->tables->modules.items[i];
        if (known->id != module.id)
            continue;
        if (!module_equal(known, &module))
            reader_warn(reader, offset,
                        "module %" PRIu32 " comes twice and differs; kept: the first", module.id);
        return;
    }
    if (reader->tables->modules.n >= MODULES_LIMIT) {
        reader_warn(reader, offset, "more than %u modules; module %" PRIu32 " is left out",
                    MODULES_LIMIT, module.id);
        return;
    }
    module.build_id = text_keep(reader, module.build_id);
    module.path = text_keep(reader, module.path);
    reader->no_memory |= !modules_push(&reader->tables->modules, module);
}

static void image_read(struct reader *reader, struct cursor *c, uint64_t record_offset)
{
    uint32_t id = u32_read(c);
    uint64_t offset = cursor_uleb128(c);
    struct text bytes = text_read(c);
    if (c->failed)
        return;
    if (reader->tables->images.n >= IMAGE_MAX_PIECES || offset > IMAGE_MAX_BYTES ||
        bytes.length > IMAGE_MAX_BYTES - offset) {
        reader_warn(
            reader, record_offset,
            "image of module %" PRIu32 " is larger than an image can be; a piece is left out", id);
        return;
    }
    const struct image_piece piece = {id, offset, text_keep(reader, bytes)};
    reader->no_memory |= !images_push(&reader->tables->images, piece);
}

static bool node_add(struct reader *reader, struct stream_state *stream, struct recording_node node)
{
    struct nodes *nodes = &reader->tables->nodes;
    reader->no_memory |= nodes->n >= UINT32_MAX || !nodes_push(nodes, node);
    stream->n_nodes++;
    return !reader->no_memory;
}

/* False: the parent is none, so the numbering of the rest cannot be trusted. */
static bool node_read(struct reader *reader, struct stream_state *stream, struct cursor *c,
                      uint64_t record_offset)
{
    uint64_t parent = cursor_uleb128(c);
    uint64_t module_exact = cursor_uleb128(c);
    uint64_t offset = cursor_uleb128(c);
    if (c->failed)
        return true;
    if (parent > stream->n_nodes || module_exact >> 1 > UINT32_MAX) {
        reader_warn(
            reader, record_offset, "node %" PRIu32 " names %s; the rest of the stream is left out",
            stream->n_nodes + 1,
            parent > stream->n_nodes ? "a later node as its parent" : "an impossible module");
        return false;
    }
    const struct recording_node node = {
        .parent = parent == 0 ? 0 : stream->first_node + (uint32_t)parent,
        .module = (uint32_t)(module_exact >> 1), /* the id; records_finish makes it an index */
        .exact = module_exact & 1,
        .offset = offset,
    };
    return node_add(reader, stream, node);
}

static bool node_cut_read(struct reader *reader, struct stream_state *stream, struct cursor *c)
{
    uint64_t reason = cursor_uleb128(c);
    if (c->failed)
        return true;
    uint8_t cut = reason == 0 || reason > UINT8_MAX ? UINT8_MAX : (uint8_t)reason;
    return node_add(reader, stream, (struct recording_node){.cut = cut});
}

static void sample_read(struct reader *reader, struct stream_state *stream, struct cursor *c,
                        uint8_t tag, uint64_t record_offset)
{
    uint64_t delta = cursor_uleb128(c);
    uint64_t steps = tag == CAPTURE_SAMPLE ? 1 : cursor_uleb128(c);
    uint64_t node = cursor_uleb128(c);
    if (c->failed)
        return;
    stream->time_ns = add_saturated(stream->time_ns, time_scale(reader, delta));
    if (node > stream->n_nodes) {
        reader_warn(reader, record_offset,
                    "a sample names node %" PRIu64 " of %" PRIu32 "; its stack is taken as unknown",
                    node, stream->n_nodes);
        node = 0;
    }
    if (!stream->has_thread)
        reader_warn(reader, record_offset, "a sample before any thread");
    struct recording_thread *thread = thread_now(reader, stream);
    if (thread == NULL)
        return;
    if (!thread->ended)
        thread->end_ns = stream->time_ns;
    const struct recording_sample sample = {
        .time_ns = stream->time_ns,
        .steps = steps,
        .thread = stream->thread,
        .node = node == 0 ? 0 : stream->first_node + (uint32_t)node,
        .label = stream->label,
        .kind = tag == CAPTURE_SAMPLE_CREDIT ? RECORDING_CREDIT : RECORDING_TICK,
    };
    reader->no_memory |= !samples_push(&reader->tables->samples, sample);
}

static void child_read(struct reader *reader, struct cursor *c)
{
    uint64_t time = cursor_uleb128(c);
    uint64_t why = cursor_uleb128(c);
    struct text path = text_read(c);
    if (c->failed)
        return;
    const struct recording_child child = {.time_ns = time_scale(reader, time),
                                          .why = (uint32_t)min_u64(why, UINT32_MAX),
                                          .path = text_keep(reader, path)};
    reader->no_memory |= !children_push(&reader->tables->children, child);
}

/* Counts for the samples of the stream that follow; an empty label takes it away. */
static void label_read(struct reader *reader, struct stream_state *stream, struct cursor *c)
{
    struct text label = text_read(c);
    if (!c->failed && !intern_add(reader->labels, label.bytes, label.length, &stream->label))
        reader->no_memory = true;
}

static void pause_read(struct reader *reader, struct cursor *c)
{
    uint64_t time = cursor_uleb128(c);
    uint64_t stops = cursor_uleb128(c);
    if (c->failed)
        return;
    const struct recording_pause pause = {.time_ns = time_scale(reader, time), .stops = stops != 0};
    reader->no_memory |= !pauses_push(&reader->tables->pauses, pause);
}

/* False: nothing after this record can be read. */
static bool record_read(struct reader *reader, struct stream_state *stream, struct cursor *c,
                        uint64_t record_offset)
{
    uint8_t tag = cursor_u8(c);
    switch (tag) {
    case CAPTURE_PAD:
        return true;
    case CAPTURE_INFO:
        info_read(reader, c);
        return true;
    case CAPTURE_THREAD_START:
        thread_start_read(reader, stream, c);
        return true;
    case CAPTURE_THREAD_NAME:
        thread_name_read(reader, stream, c);
        return true;
    case CAPTURE_THREAD_END:
        thread_end_read(reader, stream, c);
        return true;
    case CAPTURE_CLOCK:
        clock_read(reader, stream, c);
        return true;
    case CAPTURE_MODULE:
        module_read(reader, c, record_offset);
        return true;
    case CAPTURE_MODULE_IMAGE:
        image_read(reader, c, record_offset);
        return true;
    case CAPTURE_NODE:
        return node_read(reader, stream, c, record_offset);
    case CAPTURE_NODE_CUT:
        return node_cut_read(reader, stream, c);
    case CAPTURE_SAMPLE:
    case CAPTURE_SAMPLE_WEIGHTED:
    case CAPTURE_SAMPLE_CREDIT:
        sample_read(reader, stream, c, tag, record_offset);
        return true;
    case CAPTURE_CHILD:
        child_read(reader, c);
        return true;
    case CAPTURE_THREAD_LABEL:
        label_read(reader, stream, c);
        return true;
    case CAPTURE_THREAD_COST:
        thread_cost_read(reader, stream, c);
        return true;
    case CAPTURE_PAUSE:
        pause_read(reader, c);
        return true;
    default:
        reader_warn(reader, record_offset, "unknown record %u; the rest of the stream is left out",
                    tag);
        return false;
    }
}

bool records_read(struct reader *reader, struct stream_state *stream, struct cursor *records,
                  uint64_t base_offset, bool whole)
{
    while (!cursor_at_end(records) && !reader->no_memory) {
        uint64_t record_offset = base_offset + cursor_offset(records);
        if (!record_read(reader, stream, records, record_offset))
            return false;
        if (records->failed) {
            if (whole)
                reader_warn(reader, record_offset,
                            "a record does not fit what was committed, or a number its bits; the "
                            "rest of the stream is left out");
            return false;
        }
    }
    return !reader->no_memory;
}

struct module_index {
    uint32_t id;
    uint32_t index;
};

static int module_index_compare(const void *left, const void *right)
{
    uint32_t a = ((const struct module_index *)left)->id;
    uint32_t b = ((const struct module_index *)right)->id;
    return a < b ? -1 : a > b;
}

/* Index + 1 of the module, 0 if there is none. */
static uint32_t module_find(const struct module_index *sorted, size_t n, uint32_t id)
{
    const struct module_index key = {.id = id};
    const struct module_index *found =
        n == 0 ? NULL : bsearch(&key, sorted, n, sizeof key, module_index_compare);
    return found == NULL ? 0 : found->index + 1;
}

/* Ids of modules become indexes only now, as a module may be described in another stream than
 * its nodes. Parents come first, so what cuts a stack is passed on from its outermost node. */
static void nodes_bind(struct reader *reader, const struct module_index *sorted)
{
    size_t n_unknown = 0;
    for (size_t i = 1; i < reader->tables->nodes.n; i++) {
        struct recording_node *node = &reader->tables->nodes.items[i];
        const struct recording_node *parent = &reader->tables->nodes.items[node->parent];
        node->stack_cut = node->parent != 0 ? parent->stack_cut : node->cut;
        if (node->module == 0)
            continue;
        node->module = module_find(sorted, reader->tables->modules.n, node->module);
        if (node->module == 0) {
            node->unknown = 1;
            n_unknown++;
        }
    }
    if (n_unknown != 0)
        reader_warn(reader, ERR_NO_OFFSET, "%zu stack nodes name modules that are not recorded",
                    n_unknown);
}

static int piece_compare(const void *left, const void *right)
{
    const struct image_piece *a = left, *b = right;
    return (a->module_id > b->module_id) - (a->module_id < b->module_id);
}

/* The pieces of one image, which may come in any order; holes are zero. */
static void image_build(struct reader *reader, struct recording_module *module,
                        const struct image_piece *pieces, size_t n, uint64_t *all_bytes)
{
    uint64_t size_bytes = 0;
    for (size_t i = 0; i < n; i++)
        if (pieces[i].offset + pieces[i].bytes.length > size_bytes)
            size_bytes = pieces[i].offset + pieces[i].bytes.length;
    if (size_bytes == 0 || size_bytes > IMAGES_MAX_BYTES - *all_bytes)
        return;
    *all_bytes += size_bytes;
    char *image = arena_alloc(reader->arena, size_bytes);
    if (image == NULL) {
        reader->no_memory = true;
        return;
    }
    for (size_t i = 0; i < n; i++)
        memcpy(image + pieces[i].offset, pieces[i].bytes.bytes, pieces[i].bytes.length);
    module->image = (struct text){image, size_bytes};
}

static void images_build(struct reader *reader, const struct module_index *sorted)
{
    struct images *images = &reader->tables->images;
    struct modules *modules = &reader->tables->modules;
    uint64_t all_bytes = 0;
    if (images->n > 1)
        qsort(images->items, images->n, sizeof(struct image_piece), piece_compare);
    for (size_t i = 0, n = 0; i < images->n; i += n) {
        const struct image_piece *pieces = &images->items[i];
        for (n = 1; i + n < images->n && pieces[n].module_id == pieces->module_id; n++)
            continue;
        uint32_t found = module_find(sorted, modules->n, pieces->module_id);
        if (found != 0)
            image_build(reader, &modules->items[found - 1], pieces, n, &all_bytes);
    }
}

static int pause_compare(const void *left, const void *right)
{
    const struct recording_pause *a = left;
    const struct recording_pause *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->stops ? 1 : 0) - (b->stops ? 1 : 0);
}

void records_finish(struct reader *reader)
{
    /* They come in the streams of whichever threads asked. */
    if (reader->tables->pauses.n > 1)
        qsort(reader->tables->pauses.items, reader->tables->pauses.n,
              sizeof(struct recording_pause), pause_compare);
    struct module_index *sorted =
        arena_array(reader->arena, reader->tables->modules.n, sizeof *sorted);
    if (sorted == NULL) {
        reader->no_memory = true;
        return;
    }
    for (size_t i = 0; i < reader->tables->modules.n; i++) {
        struct recording_module *module = &reader->tables->modules.items[i];
        sorted[i] = (struct module_index){module->id, (uint32_t)i};
    }
    if (reader->tables->modules.n > 1)
        qsort(sorted, reader->tables->modules.n, sizeof *sorted, module_index_compare);
    nodes_bind(reader, sorted);
    images_build(reader, sorted);
}
