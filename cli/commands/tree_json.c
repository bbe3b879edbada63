/* tree_json.c - the tree for programs: view/row_json.h. The nodes in one list, callers before what
 * they call: deep nesting is more than most readers of JSON take. */
#include "commands/tree.h"
#include "sink.h"
#include "view/row_json.h"

static void json_node(const struct tree *tree, struct json *json, uint32_t id, uint32_t depth)
{
    const struct call_node *node = &tree->calls.nodes[id];
    json_object_begin(json);
    row_json_number(json, "depth", depth);
    row_json_number(json, "total", node->total);
    row_json_number(json, "self", node->self);
    row_json_name(json, tree->input->profile, tree->by, node->key);
    json_object_end(json);
}

bool tree_print_json(const struct tree *tree, struct err *err)
{
    struct sink *sink = NULL;
    uint64_t n_left_out = 0;
    uint32_t depth = 0;
    bool is_left_out = false;
    if (!sink_create_file("-", &sink, err))
        return false;
    struct json json = json_make(sink, 1);
    json_object_begin(&json);
    row_json_head(&json, tree->input->profile, tree->by, &tree->calls.weighed);
    json_key(&json, "direction");
    json_cstring(&json, tree->direction == CALL_TREE_UP ? "up" : "down");
    row_json_number(&json, "in_tree", tree->calls.nodes[0].total);
    json_key(&json, "rows");
    json_array_begin(&json);
    for (uint32_t node = 0;
         (node = call_tree_next(&tree->calls, node, is_left_out, &depth)) != 0;) {
        is_left_out = !tree_shows(tree, node);
        n_left_out += is_left_out;
        if (!is_left_out)
            json_node(tree, &json, node, depth);
    }
    json_array_end(&json);
    row_json_number(&json, "more_branches", n_left_out);
    json_object_end(&json);
    sink_text(sink, "\n");
    return sink_close(sink, err);
}
