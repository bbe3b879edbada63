/* parse.c - both layouts of a .cpuprofile into struct cpuprofile (cpuprofile.h).
 *
 *   events -> nodes with the ids of their children, samples, times as stored -> cpuprofile_resolve
 *
 * Keys may come in any order and the last of two equal ones wins, so nothing is resolved before the
 * end. Every event is either of the place it comes in (a key, the end of an object) or the value of
 * the key that was last. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "formats/cpuprofile/cpuprofile.h"
#include "intern.h"
#include "text/json_read.h"

/* What reading is in the middle of. */
enum place {
    BEFORE,        /* the outer object            */
    OUTER,         /* in it                       */
    NODE_LIST,     /* "nodes"                     */
    NODE,          /* an object of "nodes"        */
    CHILD_IDS,     /* "children" of it            */
    CALL_FRAME,    /* "callFrame" of it           */
    HEAD_NODE,     /* a node of the old layout    */
    HEAD_CHILDREN, /* its "children"              */
};

/* Keys we know, in whatever place they count. */
enum key {
    KEY_NONE,
    KEY_NODES,
    KEY_HEAD,
    KEY_SAMPLES,
    KEY_DELTAS,
    KEY_STAMPS,
    KEY_START,
    KEY_END,
    KEY_ID,
    KEY_CALL_FRAME,
    KEY_CHILDREN,
    KEY_PARENT,
    KEY_NAME,
    KEY_URL,
    KEY_LINE,
    KEY_COLUMN,
};

#define IN(place) (1u << (place))
#define TEXT(text)                                                                                 \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

static const struct {
    struct text text;
    enum key key;
    unsigned places;
} key_table[] = {
    {TEXT("nodes"), KEY_NODES, IN(OUTER)},
    {TEXT("head"), KEY_HEAD, IN(OUTER)},
    {TEXT("samples"), KEY_SAMPLES, IN(OUTER)},
    {TEXT("timeDeltas"), KEY_DELTAS, IN(OUTER)},
    {TEXT("timestamps"), KEY_STAMPS, IN(OUTER)},
    {TEXT("startTime"), KEY_START, IN(OUTER)},
    {TEXT("endTime"), KEY_END, IN(OUTER)},
    {TEXT("id"), KEY_ID, IN(NODE) | IN(HEAD_NODE)},
    {TEXT("callFrame"), KEY_CALL_FRAME, IN(NODE)},
    {TEXT("children"), KEY_CHILDREN, IN(NODE) | IN(HEAD_NODE)},
    {TEXT("parent"), KEY_PARENT, IN(NODE)},
    {TEXT("functionName"), KEY_NAME, IN(CALL_FRAME) | IN(HEAD_NODE)},
    {TEXT("url"), KEY_URL, IN(CALL_FRAME) | IN(HEAD_NODE)},
    {TEXT("lineNumber"), KEY_LINE, IN(CALL_FRAME) | IN(HEAD_NODE)},
    {TEXT("columnNumber"), KEY_COLUMN, IN(CALL_FRAME) | IN(HEAD_NODE)},
};

VECTOR_DEFINE(flags, bool)

/* What was read so far. */
struct parsing {
    struct cpuprofile *file;
    struct intern *texts; /* names and urls, in the file's arena */
    enum place place;
    enum key key; /* whose value comes next */
    /* the node being read */
    struct cpuprofile_node node;
    struct cpuprofile_parent parent;
    size_t n_children_before;
    bool has_id;
    /* the new layout */
    struct cpuprofile_children children;
    struct cpuprofile_parents parents; /* of struct cpuprofile_parent, one for each node */
    struct number_list deltas;
    /* the old one: nodes are added as they begin, the way back up is by their parents */
    struct cpuprofile_nodes head;
    struct flags ids; /* of bool: whether each of `head` has an id */
    uint32_t head_node;
    struct number_list stamps;
    bool has_nodes, has_head, has_samples, has_deltas, has_stamps, has_start, has_end;
    bool is_start_quoted, is_end_quoted; /* a text */
    struct json_walk *walk;
    struct err *err;
};

static bool refuse(struct parsing *p, const char *text)
{
    return err_fail(p->err, ERR_FORMAT, json_offset(p->walk), "%s", text);
}

static bool is_nested(const struct json_event *event)
{
    return event->kind == JSON_OBJECT_BEGIN || event->kind == JSON_ARRAY_BEGIN;
}

/* ---- scalars ----------------------------------------------------------------------------------
 * What begins where a scalar belongs is left out. */

/* A name: a number is shown as its digits, null and anything else as nothing. */
static bool text_value(struct parsing *p, const struct json_event *event, struct text *out)
{
    char digits[32];
    const char *bytes = "";
    size_t length = 0;
    if (event->kind == JSON_STRING) {
        bytes = event->bytes;
        length = event->length;
    } else if (event->kind == JSON_NUMBER) {
        length = (size_t)snprintf(digits, sizeof digits, "%.15g", event->number);
        bytes = digits;
    }
    uint32_t id;
    if (!intern_add(p->texts, bytes, length, &id))
        return err_fail_memory(p->err);
    *out = intern_text(p->texts, id);
    return true;
}

/* Stored from 0 (nodes) or from 1 (head); what cannot be a line is unknown. Older V8 wrote -1 as
 * 4294967295. */
static uint32_t place_value(const struct json_event *event, bool is_one_based)
{
    double value = event->kind == JSON_NUMBER ? event->number + (is_one_based ? 0 : 1) : 0;
    return value >= 1 && value <= 4294967295.0 ? (uint32_t)value : 0;
}

static bool is_id(const struct json_event *event)
{
    return event->kind == JSON_NUMBER && event->is_integer &&
           fabs(event->number) <= CPUPROFILE_MAX_EXACT;
}

static bool id_value(struct parsing *p, const struct json_event *event, int64_t *out)
{
    if (!is_id(event))
        return refuse(p, "node id is not an integer");
    *out = (int64_t)event->number;
    return true;
}

static void time_value(const struct json_event *event, double *out, bool *is_there, bool *is_quoted)
{
    char digits[64];
    *is_there = event->kind == JSON_NUMBER;
    *is_quoted = false;
    *out = event->number;
    if (event->kind == JSON_STRING && event->length < sizeof digits) {
        /* Some writers of the old layout quote their times; check_outer refuses it for the new one.
         */
        *is_quoted = true;
        memcpy(digits, event->bytes, event->length);
        digits[event->length] = '\0';
        char *end;
        *out = strtod(digits, &end);
        *is_there = event->length > 0 && *end == '\0' && isfinite(*out);
    }
}

/* What both layouts say of a function. */
static bool frame_value(struct parsing *p, const struct json_event *event, bool is_one_based,
                        struct cpuprofile_node *node)
{
    if (is_nested(event))
        json_skip(p->walk);
    if (p->key == KEY_NAME)
        return text_value(p, event, &node->name);
    if (p->key == KEY_URL)
        return text_value(p, event, &node->url);
    if (p->key == KEY_LINE)
        node->line = place_value(event, is_one_based);
    if (p->key == KEY_COLUMN)
        node->column = place_value(event, is_one_based);
    return true;
}

/* ---- nodes ------------------------------------------------------------------------------------
 */

static struct cpuprofile_node node_empty(uint32_t parent)
{
    return (struct cpuprofile_node){.name.bytes = "", .url.bytes = "", .parent = parent};
}

static bool node_list(struct parsing *p, const struct json_event *event)
{
    p->has_nodes = event->kind == JSON_ARRAY_BEGIN;
    p->file->nodes.n = p->children.n = p->parents.n = 0;
    if (p->has_nodes)
        p->place = NODE_LIST;
    else if (is_nested(event))
        json_skip(p->walk);
    return true;
}

static bool in_node_list(struct parsing *p, const struct json_event *event)
{
    if (event->kind == JSON_ARRAY_END) {
        p->place = OUTER;
        return true;
    }
    if (event->kind != JSON_OBJECT_BEGIN)
        return refuse(p, "a node is not an object");
    if (p->file->nodes.n >= CPUPROFILE_MAX_NODES)
        return err_fail(p->err, ERR_LIMIT, json_offset(p->walk), "more than 2^31 nodes");
    p->place = NODE;
    p->node = node_empty(CPUPROFILE_NO_NODE);
    p->parent = (struct cpuprofile_parent){.is_there = false};
    p->n_children_before = p->children.n;
    p->has_id = false;
    return true;
}

static bool node_end(struct parsing *p)
{
    if (!p->has_id)
        return refuse(p, "node id is not an integer");
    p->place = NODE_LIST;
    return (cpuprofile_nodes_push(&p->file->nodes, p->node) &&
            cpuprofile_parents_push(&p->parents, p->parent)) ||
           err_fail_memory(p->err);
}

static bool node_value(struct parsing *p, const struct json_event *event)
{
    bool goes_on = (p->key == KEY_CHILDREN && event->kind == JSON_ARRAY_BEGIN) ||
                   (p->key == KEY_CALL_FRAME && event->kind == JSON_OBJECT_BEGIN);
    if (is_nested(event) && !goes_on)
        json_skip(p->walk);
    if (p->key == KEY_ID) {
        p->has_id = true;
        return id_value(p, event, &p->node.id);
    }
    if (p->key == KEY_PARENT) {
        p->parent.is_there = is_id(event);
        p->parent.id = p->parent.is_there ? (int64_t)event->number : 0;
    } else if (p->key == KEY_CHILDREN) {
        p->children.n = p->n_children_before; /* the last of two equal keys wins */
        if (!goes_on && event->kind != JSON_NULL)
            return refuse(p, "children is not a list");
    } else if (p->key == KEY_CALL_FRAME) {
        const struct cpuprofile_node nothing = node_empty(CPUPROFILE_NO_NODE);
        p->node.name = nothing.name; /* here too */
        p->node.url = nothing.url;
        p->node.line = p->node.column = 0;
    }
    if (goes_on)
        p->place = p->key == KEY_CHILDREN ? CHILD_IDS : CALL_FRAME;
    return true;
}

/* What is no id names no node; such children are passed over like ids of nodes that are not there.
 */
static bool in_child_ids(struct parsing *p, const struct json_event *event)
{
    if (event->kind == JSON_ARRAY_END)
        p->place = NODE;
    if (is_nested(event))
        json_skip(p->walk);
    if (!is_id(event))
        return true;
    const struct cpuprofile_child child = {.parent = (uint32_t)p->file->nodes.n,
                                           .id = (int64_t)event->number};
    return cpuprofile_children_push(&p->children, child) || err_fail_memory(p->err);
}

/* ---- the old layout ---------------------------------------------------------------------------
 */

static bool head_add(struct parsing *p, uint32_t parent)
{
    if (p->head.n >= CPUPROFILE_MAX_NODES)
        return err_fail(p->err, ERR_LIMIT, json_offset(p->walk), "more than 2^31 nodes");
    if (!cpuprofile_nodes_push(&p->head, node_empty(parent)) || !flags_push(&p->ids, false))
        return err_fail_memory(p->err);
    p->head_node = (uint32_t)(p->head.n - 1);
    p->place = HEAD_NODE;
    return true;
}

static bool head_begin(struct parsing *p, const struct json_event *event)
{
    p->has_head = event->kind == JSON_OBJECT_BEGIN;
    p->head.n = p->ids.n = 0;
    if (p->has_head)
        return head_add(p, CPUPROFILE_NO_NODE);
    if (is_nested(event))
        json_skip(p->walk);
    return true;
}

static bool head_node_end(struct parsing *p)
{
    if (!p->ids.items[p->head_node])
        return refuse(p, "node id is not an integer");
    p->head_node = p->head.items[p->head_node].parent;
    p->place = p->head_node == CPUPROFILE_NO_NODE ? OUTER : HEAD_CHILDREN;
    return true;
}

static bool head_node_value(struct parsing *p, const struct json_event *event)
{
    struct cpuprofile_node *node = &p->head.items[p->head_node];
    if (p->key == KEY_CHILDREN) {
        /* Nodes after this one are all below it, of an earlier list. */
        p->head.n = p->ids.n = p->head_node + 1;
        if (event->kind == JSON_ARRAY_BEGIN) {
            p->place = HEAD_CHILDREN;
            return true;
        }
    }
    if (p->key == KEY_ID) {
        p->ids.items[p->head_node] = true;
        return id_value(p, event, &node->id);
    }
    return frame_value(p, event, true, node);
}

static bool in_head_children(struct parsing *p, const struct json_event *event)
{
    if (event->kind == JSON_OBJECT_BEGIN)
        return head_add(p, p->head_node);
    if (event->kind != JSON_ARRAY_END)
        return refuse(p, "a node is not an object");
    p->place = HEAD_NODE;
    return true;
}

/* ---- the outer object -------------------------------------------------------------------------
 */

static bool number_list(struct parsing *p, const struct json_event *event, const char *what,
                        struct number_list *out, bool *is_there)
{
    number_list_clear(out);
    *is_there = event->kind == JSON_ARRAY_BEGIN;
    if (*is_there)
        json_numbers(p->walk, what, out);
    else if (event->kind != JSON_NULL)
        return err_fail(p->err, ERR_FORMAT, json_offset(p->walk), "%s: expected a list of numbers",
                        what);
    return true;
}

static bool outer_value(struct parsing *p, const struct json_event *event)
{
    if (p->key == KEY_NODES)
        return node_list(p, event);
    if (p->key == KEY_HEAD)
        return head_begin(p, event);
    if (p->key == KEY_SAMPLES)
        return number_list(p, event, "a sample", &p->file->samples, &p->has_samples);
    if (p->key == KEY_DELTAS)
        return number_list(p, event, "a time delta", &p->deltas, &p->has_deltas);
    if (p->key == KEY_STAMPS)
        return number_list(p, event, "a timestamp", &p->stamps, &p->has_stamps);
    if (is_nested(event))
        json_skip(p->walk);
    if (p->key == KEY_START)
        time_value(event, &p->file->start_us, &p->has_start, &p->is_start_quoted);
    else
        time_value(event, &p->file->end_us, &p->has_end, &p->is_end_quoted);
    return true;
}

/* ---- events -----------------------------------------------------------------------------------
 */

static enum key key_find(const struct json_event *event, enum place place)
{
    const struct text text = {event->bytes, event->length};
    for (size_t i = 0; i < sizeof key_table / sizeof key_table[0]; i++) {
        if ((key_table[i].places & IN(place)) != 0 && text_equal(key_table[i].text, text))
            return key_table[i].key;
    }
    return KEY_NONE;
}

static bool object_end(struct parsing *p)
{
    if (p->place == NODE)
        return node_end(p);
    if (p->place == HEAD_NODE)
        return head_node_end(p);
    if (p->place == CALL_FRAME)
        p->place = NODE;
    return true;
}

static bool key_value(struct parsing *p, const struct json_event *event)
{
    if (p->place == NODE)
        return node_value(p, event);
    if (p->place == CALL_FRAME)
        return frame_value(p, event, false, &p->node);
    if (p->place == HEAD_NODE)
        return head_node_value(p, event);
    return outer_value(p, event);
}

static bool take_event(void *context, struct json_walk *walk, const struct json_event *event,
                       struct err *err)
{
    struct parsing *p = context;
    p->walk = walk;
    p->err = err;
    if (event->kind == JSON_KEY) {
        p->key = key_find(event, p->place);
        if (p->key == KEY_NONE)
            json_skip(walk);
        return true;
    }
    if (p->place == BEFORE) {
        p->place = OUTER;
        return event->kind == JSON_OBJECT_BEGIN || refuse(p, "not a JSON object");
    }
    if (p->place == NODE_LIST)
        return in_node_list(p, event);
    if (p->place == CHILD_IDS)
        return in_child_ids(p, event);
    if (p->place == HEAD_CHILDREN)
        return in_head_children(p, event);
    if (event->kind == JSON_OBJECT_END)
        return object_end(p);
    return event->kind == JSON_ARRAY_END || key_value(p, event);
}

/* ---- all together -----------------------------------------------------------------------------
 */

static bool check_outer(const struct parsing *p, struct err *err)
{
    const struct cpuprofile *file = p->file;
    if (!p->has_nodes && !p->has_head)
        return err_fail(err, ERR_FORMAT, ERR_NO_OFFSET,
                        "not a .cpuprofile: neither nodes nor head");
    if (p->has_nodes && file->nodes.n == 0)
        return err_fail(err, ERR_FORMAT, ERR_NO_OFFSET, "no nodes");
    if (p->has_nodes && p->has_deltas && !p->has_samples)
        return err_fail(err, ERR_FORMAT, ERR_NO_OFFSET, "timeDeltas without samples");
    if (!p->has_start || !p->has_end ||
        ((p->is_start_quoted || p->is_end_quoted) && p->has_nodes) ||
        !(fabs(file->start_us) <= CPUPROFILE_MAX_EXACT) ||
        !(fabs(file->end_us) <= CPUPROFILE_MAX_EXACT))
        return err_fail(err, ERR_FORMAT, ERR_NO_OFFSET,
                        "startTime or endTime is missing or no number");
    return true;
}

static bool parse_all(struct parsing *p, const uint8_t *data, size_t size_bytes, struct err *err)
{
    struct cpuprofile *file = p->file;
    const struct json_visitor visitor = {.event = take_event, .context = p};
    if (!json_read(data, size_bytes, &visitor, err) || !check_outer(p, err))
        return false;
    file->is_old = !p->has_nodes;
    if (!file->is_old)
        return cpuprofile_resolve(file, &p->children, &p->parents,
                                  p->has_deltas ? &p->deltas : NULL, err);
    cpuprofile_nodes_deinit(&file->nodes);
    file->nodes = p->head;
    p->head = (struct cpuprofile_nodes){0};
    p->children.n = p->parents.n = 0; /* parents are known already */
    file->start_us *= 1e6;
    file->end_us *= 1e6;
    return cpuprofile_resolve(file, &p->children, &p->parents, p->has_stamps ? &p->stamps : NULL,
                              err);
}

bool cpuprofile_parse(const uint8_t *data, size_t size_bytes, struct cpuprofile *file,
                      struct err *err)
{
    *file = (struct cpuprofile){.arena = arena_create(), .root = CPUPROFILE_NO_NODE};
    struct parsing p = {.file = file};
    p.texts = file->arena == NULL ? NULL : intern_create(file->arena);
    bool ok = p.texts == NULL ? err_fail_memory(err) : parse_all(&p, data, size_bytes, err);
    intern_destroy(p.texts);
    cpuprofile_children_deinit(&p.children);
    cpuprofile_parents_deinit(&p.parents);
    cpuprofile_nodes_deinit(&p.head);
    flags_deinit(&p.ids);
    number_list_deinit(&p.deltas);
    number_list_deinit(&p.stamps);
    return ok;
}

void cpuprofile_deinit(struct cpuprofile *file)
{
    arena_destroy(file->arena);
    file->arena = NULL;
    cpuprofile_nodes_deinit(&file->nodes);
    number_list_deinit(&file->samples);
    number_list_deinit(&file->times);
}
