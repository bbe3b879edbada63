/* cpuprofile_parse.c - both layouts of a .cpuprofile into struct cpuprofile (cpuprofile.h).
 *
 *   events -> nodes with the ids of their children, samples, times as stored -> cpuprofile_resolve
 *
 * Keys may come in any order and the last of two equal ones wins, so nothing is resolved before the
 * end. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "cpuprofile.h"
#include "json_read.h"

/* What was read so far. */
struct parsing {
    struct json_reader *reader;
    struct cpuprofile *file;
    struct array children; /* of struct cpuprofile_child */
    struct array deltas;   /* of double       */
    struct array stamps;   /* of double       */
    struct array head;     /* of struct cpuprofile_node, the old layout */
    bool has_nodes, has_head, has_samples, has_deltas, has_stamps, has_start, has_end;
    bool is_quoted; /* startTime or endTime is a text */
    struct err *err;
};

static bool key_is(const struct json_event *event, const char *key)
{
    size_t length = strlen(key);
    return event->length == length && memcmp(event->bytes, key, length) == 0;
}

static bool refuse(struct parsing *p, const char *text)
{
    return err_fail(p->err, ERR_FORMAT, json_offset(p->reader), "%s", text);
}

/* Takes the event that follows a key; what begins there is left out unless it is a scalar. */
static bool scalar(struct parsing *p, struct json_event *event)
{
    if (!json_next(p->reader, event, p->err))
        return false;
    if (event->kind == JSON_OBJECT_BEGIN || event->kind == JSON_ARRAY_BEGIN)
        json_skip(p->reader);
    return true;
}

/* A name: a number is shown as its digits, null and anything else as nothing. */
static bool text_value(struct parsing *p, struct text *out)
{
    struct json_event event;
    if (!scalar(p, &event))
        return false;
    *out = (struct text){.bytes = ""};
    if (event.kind == JSON_STRING)
        *out = (struct text){.bytes = event.bytes, .length = event.length};
    if (event.kind == JSON_NUMBER) {
        char digits[32];
        int length = snprintf(digits, sizeof digits, "%.15g", event.number);
        *out = (struct text){.bytes = arena_text(p->file->arena, digits, (size_t)length),
                             .length = (size_t)length};
    }
    return out->bytes != NULL || err_fail_memory(p->err);
}

/* Stored from 0 (nodes) or from 1 (head); what cannot be a line is unknown. Older V8 wrote -1 as
 * 4294967295. */
static bool place_value(struct parsing *p, bool is_one_based, uint32_t *out)
{
    struct json_event event;
    if (!scalar(p, &event))
        return false;
    double value = event.kind == JSON_NUMBER ? event.number + (is_one_based ? 0 : 1) : 0;
    *out = value >= 1 && value <= 4294967295.0 ? (uint32_t)value : 0;
    return true;
}

static bool id_value(struct parsing *p, int64_t *out)
{
    struct json_event event;
    if (!scalar(p, &event))
        return false;
    if (event.kind != JSON_NUMBER || !event.is_integer || fabs(event.number) > CPUPROFILE_MAX_EXACT)
        return refuse(p, "node id is not an integer");
    *out = (int64_t)event.number;
    return true;
}

static bool time_value(struct parsing *p, double *out, bool *is_there)
{
    struct json_event event;
    if (!scalar(p, &event))
        return false;
    char digits[64];
    *is_there = event.kind == JSON_NUMBER;
    *out = event.number;
    if (event.kind == JSON_STRING && event.length < sizeof digits) {
        /* Some writers of the old layout quote their times; check_outer refuses it for the new one.
         */
        p->is_quoted = true;
        memcpy(digits, event.bytes, event.length);
        digits[event.length] = '\0';
        char *end;
        *out = strtod(digits, &end);
        *is_there = event.length > 0 && *end == '\0' && isfinite(*out);
    }
    return true;
}

/* ---- nodes ------------------------------------------------------------------------------------
 */

static bool call_frame_key(struct parsing *p, const struct json_event *key, bool is_one_based,
                           struct cpuprofile_node *node, bool *is_ours)
{
    *is_ours = true;
    if (key_is(key, "functionName"))
        return text_value(p, &node->name);
    if (key_is(key, "url"))
        return text_value(p, &node->url);
    if (key_is(key, "lineNumber"))
        return place_value(p, is_one_based, &node->line);
    if (key_is(key, "columnNumber"))
        return place_value(p, is_one_based, &node->column);
    *is_ours = false;
    return true;
}

static bool call_frame(struct parsing *p, struct cpuprofile_node *node)
{
    struct json_event event;
    if (!json_next(p->reader, &event, p->err))
        return false;
    if (event.kind == JSON_ARRAY_BEGIN)
        json_skip(p->reader);
    if (event.kind != JSON_OBJECT_BEGIN)
        return true;
    for (;;) {
        bool is_ours;
        if (!json_next(p->reader, &event, p->err))
            return false;
        if (event.kind == JSON_OBJECT_END)
            return true;
        if (!call_frame_key(p, &event, false, node, &is_ours))
            return false;
        if (!is_ours)
            json_skip(p->reader);
    }
}

static bool child_ids(struct parsing *p, uint32_t parent)
{
    struct json_event event;
    if (!json_next(p->reader, &event, p->err))
        return false;
    if (event.kind == JSON_NULL)
        return true;
    if (event.kind != JSON_ARRAY_BEGIN)
        return refuse(p, "children is not a list");
    for (;;) {
        if (!json_next(p->reader, &event, p->err))
            return false;
        if (event.kind == JSON_ARRAY_END)
            return true;
        if (event.kind == JSON_OBJECT_BEGIN || event.kind == JSON_ARRAY_BEGIN)
            json_skip(p->reader);
        /* What is no id names no node; such children are passed over like ids of nodes that are not
         * there. */
        if (event.kind != JSON_NUMBER || !event.is_integer ||
            fabs(event.number) > CPUPROFILE_MAX_EXACT)
            continue;
        struct cpuprofile_child *child = array_push(&p->children);
        if (child == NULL)
            return err_fail_memory(p->err);
        *child = (struct cpuprofile_child){.parent = parent, .id = (int64_t)event.number};
    }
}

static bool parent_value(struct parsing *p, struct cpuprofile_parent *out)
{
    struct json_event event;
    if (!scalar(p, &event))
        return false;
    out->is_there =
        event.kind == JSON_NUMBER && event.is_integer && fabs(event.number) <= CPUPROFILE_MAX_EXACT;
    out->id = out->is_there ? (int64_t)event.number : 0;
    return true;
}

static bool node_object(struct parsing *p, struct array *parents)
{
    struct cpuprofile_node node = {.name.bytes = "", .url.bytes = "", .parent = CPUPROFILE_NO_NODE};
    struct cpuprofile_parent parent = {0};
    uint32_t index = (uint32_t)p->file->nodes.n;
    size_t n_children = p->children.n;
    bool has_id = false;
    for (;;) {
        struct json_event event;
        bool ok = true;
        if (!json_next(p->reader, &event, p->err))
            return false;
        if (event.kind == JSON_OBJECT_END)
            break;
        if (key_is(&event, "id")) {
            has_id = true;
            ok = id_value(p, &node.id);
        } else if (key_is(&event, "callFrame")) {
            ok = call_frame(p, &node);
        } else if (key_is(&event, "children")) {
            p->children.n = n_children; /* the last of two equal keys wins */
            ok = child_ids(p, index);
        } else if (key_is(&event, "parent")) {
            ok = parent_value(p, &parent);
        } else {
            json_skip(p->reader);
        }
        if (!ok)
            return false;
    }
    if (!has_id)
        return refuse(p, "node id is not an integer");
    struct cpuprofile_node *slot = array_push(&p->file->nodes);
    struct cpuprofile_parent *parent_slot = array_push(parents);
    if (slot == NULL || parent_slot == NULL)
        return err_fail_memory(p->err);
    *slot = node;
    *parent_slot = parent;
    return true;
}

static bool node_list(struct parsing *p, struct array *parents)
{
    struct json_event event;
    if (!json_next(p->reader, &event, p->err))
        return false;
    p->has_nodes = event.kind == JSON_ARRAY_BEGIN;
    p->file->nodes.n = p->children.n = parents->n = 0;
    if (event.kind == JSON_OBJECT_BEGIN)
        json_skip(p->reader);
    if (!p->has_nodes)
        return true;
    for (;;) {
        if (!json_next(p->reader, &event, p->err))
            return false;
        if (event.kind == JSON_ARRAY_END)
            return true;
        if (event.kind != JSON_OBJECT_BEGIN)
            return refuse(p, "a node is not an object");
        if (p->file->nodes.n >= CPUPROFILE_NO_NODE)
            return err_fail(p->err, ERR_LIMIT, json_offset(p->reader), "more than 2^32 nodes");
        if (!node_object(p, parents))
            return false;
    }
}

/* ---- the old layout ---------------------------------------------------------------------------
 */

static uint32_t head_add(struct parsing *p, uint32_t parent)
{
    struct cpuprofile_node *node = p->head.n < CPUPROFILE_NO_NODE ? array_push(&p->head) : NULL;
    if (node == NULL) {
        err_fail_memory(p->err);
        return CPUPROFILE_NO_NODE;
    }
    *node = (struct cpuprofile_node){.name.bytes = "", .url.bytes = "", .parent = parent};
    return (uint32_t)(p->head.n - 1);
}

/* One key of a node object of the old layout. A list of children is only begun here: its nodes are
 * the loop's. */
static bool head_key(struct parsing *p, const struct json_event *key, uint32_t index, bool *has_id,
                     bool *is_list)
{
    struct cpuprofile_node node = *(struct cpuprofile_node *)array_at(&p->head, index);
    struct json_event event;
    bool is_ours = true;
    bool ok = true;
    *is_list = false;
    if (key_is(key, "id")) {
        *has_id = true;
        ok = id_value(p, &node.id);
    } else if (key_is(key, "children")) {
        ok = json_next(p->reader, &event, p->err);
        *is_list = ok && event.kind == JSON_ARRAY_BEGIN;
        if (ok && event.kind == JSON_OBJECT_BEGIN)
            json_skip(p->reader);
    } else {
        ok = call_frame_key(p, key, true, &node, &is_ours);
    }
    if (ok && !is_ours)
        json_skip(p->reader);
    if (ok)
        *(struct cpuprofile_node *)array_at(&p->head, index) = node;
    return ok;
}

/* Nested objects, walked with the parents as the way back: a node ends when its object does. */
static bool head_tree(struct parsing *p)
{
    struct json_event event;
    if (!json_next(p->reader, &event, p->err))
        return false;
    p->has_head = event.kind == JSON_OBJECT_BEGIN;
    p->head.n = 0;
    if (event.kind == JSON_ARRAY_BEGIN)
        json_skip(p->reader);
    if (!p->has_head)
        return true;
    uint32_t node = head_add(p, CPUPROFILE_NO_NODE);
    bool in_list = false; /* between the nodes of a list of children of `node` */
    struct array ids;     /* of bool: whether each node had an id              */
    array_init(&ids, sizeof(bool));
    bool ok = node != CPUPROFILE_NO_NODE && array_push(&ids) != NULL;
    while (ok && node != CPUPROFILE_NO_NODE) {
        if (!(ok = json_next(p->reader, &event, p->err)))
            break;
        if (event.kind == JSON_OBJECT_END) {
            if (!*(bool *)array_at(&ids, node) && !(ok = refuse(p, "node id is not an integer")))
                break;
            node = ((struct cpuprofile_node *)array_at(&p->head, node))->parent;
            in_list = true;
        } else if (event.kind == JSON_ARRAY_END) {
            in_list = false;
        } else if (in_list && event.kind == JSON_OBJECT_BEGIN) {
            node = head_add(p, node);
            ok = node != CPUPROFILE_NO_NODE && array_push(&ids) != NULL;
            in_list = false;
        } else if (in_list) {
            ok = refuse(p, "a node is not an object");
        } else {
            ok = head_key(p, &event, node, array_at(&ids, node), &in_list);
        }
    }
    array_deinit(&ids);
    return ok || (err_fail_memory(p->err), false);
}

/* ---- the outer object -------------------------------------------------------------------------
 */

static bool number_list(struct parsing *p, const char *what, struct array *out, bool *is_there)
{
    struct json_event event;
    out->n = 0;
    *is_there = false;
    if (!json_next(p->reader, &event, p->err))
        return false;
    if (event.kind == JSON_NULL)
        return true;
    if (event.kind != JSON_ARRAY_BEGIN)
        return err_fail(p->err, ERR_FORMAT, json_offset(p->reader),
                        "%s: expected a list of numbers", what);
    *is_there = true;
    return json_numbers(p->reader, what, out, p->err);
}

static bool outer_key(struct parsing *p, const struct json_event *key, struct array *parents)
{
    if (key_is(key, "nodes"))
        return node_list(p, parents);
    if (key_is(key, "head"))
        return head_tree(p);
    if (key_is(key, "samples"))
        return number_list(p, "a sample", &p->file->samples, &p->has_samples);
    if (key_is(key, "timeDeltas"))
        return number_list(p, "a time delta", &p->deltas, &p->has_deltas);
    if (key_is(key, "timestamps"))
        return number_list(p, "a timestamp", &p->stamps, &p->has_stamps);
    if (key_is(key, "startTime"))
        return time_value(p, &p->file->start_us, &p->has_start);
    if (key_is(key, "endTime"))
        return time_value(p, &p->file->end_us, &p->has_end);
    json_skip(p->reader);
    return true;
}

static bool outer_object(struct parsing *p, struct array *parents)
{
    struct json_event event;
    if (!json_next(p->reader, &event, p->err))
        return false;
    if (event.kind != JSON_OBJECT_BEGIN)
        return refuse(p, "not a JSON object");
    for (;;) {
        if (!json_next(p->reader, &event, p->err))
            return false;
        if (event.kind == JSON_OBJECT_END)
            return json_next(p->reader, &event, p->err); /* END, or text after the object */
        if (!outer_key(p, &event, parents))
            return false;
    }
}

/* ---- all together -----------------------------------------------------------------------------
 */

static bool check_outer(struct parsing *p)
{
    struct cpuprofile *file = p->file;
    if (!p->has_nodes && !p->has_head)
        return err_fail(p->err, ERR_FORMAT, ERR_NO_OFFSET,
                        "not a .cpuprofile: neither nodes nor head");
    if (p->has_nodes && file->nodes.n == 0)
        return err_fail(p->err, ERR_FORMAT, ERR_NO_OFFSET, "no nodes");
    if (p->has_nodes && p->has_deltas && !p->has_samples)
        return err_fail(p->err, ERR_FORMAT, ERR_NO_OFFSET, "timeDeltas without samples");
    if (!p->has_start || !p->has_end || (p->is_quoted && p->has_nodes) ||
        !(fabs(file->start_us) <= CPUPROFILE_MAX_EXACT) ||
        !(fabs(file->end_us) <= CPUPROFILE_MAX_EXACT))
        return err_fail(p->err, ERR_FORMAT, ERR_NO_OFFSET,
                        "startTime or endTime is missing or no number");
    return true;
}

static bool parse_all(struct parsing *p, struct array *parents)
{
    struct cpuprofile *file = p->file;
    if (!outer_object(p, parents) || !check_outer(p))
        return false;
    file->is_old = !p->has_nodes;
    if (!file->is_old)
        return cpuprofile_resolve(file, &p->children, parents, p->has_deltas ? &p->deltas : NULL,
                                  p->err);
    array_deinit(&file->nodes);
    file->nodes = p->head;
    array_init(&p->head, sizeof(struct cpuprofile_node));
    p->children.n = parents->n = 0; /* parents are known already */
    file->start_us *= 1e6;
    file->end_us *= 1e6;
    return cpuprofile_resolve(file, &p->children, parents, p->has_stamps ? &p->stamps : NULL,
                              p->err);
}

static bool text_keep(struct intern *texts, struct text *text)
{
    uint32_t id;
    if (!intern_add(texts, text->bytes, text->length, &id))
        return false;
    *text = intern_text(texts, id);
    return true;
}

/* Names are few and often equal; the reader that has them holds the whole file and an index of it,
 * and is done. */
static bool texts_keep(struct cpuprofile *file, struct err *err)
{
    struct intern *texts = intern_create(file->arena);
    bool ok = texts != NULL;
    for (size_t i = 0; ok && i < file->nodes.n; i++) {
        struct cpuprofile_node *node = array_at(&file->nodes, i);
        ok = text_keep(texts, &node->name) && text_keep(texts, &node->url);
    }
    intern_destroy(texts);
    json_reader_destroy(file->reader);
    file->reader = NULL;
    return ok || err_fail_memory(err);
}

bool cpuprofile_parse(const uint8_t *data, size_t size_bytes, struct cpuprofile *file,
                      struct err *err)
{
    *file = (struct cpuprofile){.arena = arena_create(), .root = CPUPROFILE_NO_NODE};
    array_init(&file->nodes, sizeof(struct cpuprofile_node));
    array_init(&file->samples, sizeof(double));
    array_init(&file->times, sizeof(double));
    struct parsing p = {.file = file, .err = err};
    struct array parents;
    array_init(&p.children, sizeof(struct cpuprofile_child));
    array_init(&p.deltas, sizeof(double));
    array_init(&p.stamps, sizeof(double));
    array_init(&p.head, sizeof(struct cpuprofile_node));
    array_init(&parents, sizeof(struct cpuprofile_parent));
    bool ok = (file->arena != NULL || err_fail_memory(err)) &&
              json_reader_create(data, size_bytes, &file->reader, err);
    p.reader = file->reader;
    ok = ok && parse_all(&p, &parents) && texts_keep(file, err);
    array_deinit(&p.children);
    array_deinit(&p.deltas);
    array_deinit(&p.stamps);
    array_deinit(&p.head);
    array_deinit(&parents);
    return ok;
}

void cpuprofile_deinit(struct cpuprofile *file)
{
    json_reader_destroy(file->reader);
    file->reader = NULL;
    arena_destroy(file->arena);
    file->arena = NULL;
    array_deinit(&file->nodes);
    array_deinit(&file->samples);
    array_deinit(&file->times);
}

double cpuprofile_weight_us(const struct cpuprofile *file, size_t index)
{
    double time = *(double *)array_at(&file->times, index);
    double next =
        index + 1 < file->times.n ? *(double *)array_at(&file->times, index + 1) : file->end_us;
    return next > time ? next - time : 0;
}
