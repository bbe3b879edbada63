/* test_call_tree.c - who calls whom: both directions, from the outermost frames and from functions in
 * between, by function, line and module. */
#include <stdio.h>
#include <string.h>

#include "alloc_fault.h"
#include "fold/call_tree.h"
#include "profile_help.h"
#include "unit.h"

static void add(struct profile_builder *builder, const char *frames, uint64_t value)
{
    const struct profile_sample sample = {.stack = module_stack(builder, frames)};
    profile_add_sample(builder, &sample, &value);
}

static struct profile *profile_make(void)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, 0);
    add(builder, "x/m:1;x/f:2;y/g:3", 8);
    add(builder, "x/m:1;x/f:4;y/g:3", 1);
    add(builder, "x/m:1;x/f:2", 2);
    add(builder, "x/m:1;y/g:3", 4);
    add(builder, "x/m:1;x/f:2;y/g:3;x/f:2;y/h:1", 16);
    add(builder, "x/m:1;x/f:2;x/i", 100);
    add(builder, "", 32);
    return builder_finish(builder);
}

/* "  name[:line] total self" per node, two blanks per step down, node 0 left out. */
static void describe(const struct call_tree *tree, const struct profile *profile,
                     enum summary_by by, char *text, size_t room)
{
    uint32_t depth = 0;
    size_t n = 0;
    text[0] = '\0';
    for (uint32_t id = 0; (id = call_tree_next(tree, id, false, &depth)) != 0;) {
        const struct call_node *node = &tree->nodes[id];
        char line[16] = "";
        if (node->key.line != 0)
            snprintf(line, sizeof line, ":%u", node->key.line);
        n += (size_t)snprintf(text + n, room - n, "%*s%s%s %llu %llu\n", (int)(2 * (depth - 1)), "",
                              summary_row_name(profile, by, node->key).bytes, line,
                              (unsigned long long)node->total, (unsigned long long)node->self);
        assert_true(n < room);
    }
    assert_int_equal(depth, 0);
}

/* starts: letters of the names of functions where the tree begins; NULL: whole stacks. */
static void expect(enum summary_by by, enum call_tree_direction direction, const char *starts,
                   uint64_t total, const char *expected)
{
    struct profile *profile = profile_make();
    struct call_tree tree;
    uint8_t marks[16] = {0};
    char text[2000];
    assert_true(profile->n_functions <= sizeof marks);
    for (uint32_t id = 1; starts != NULL && id < profile->n_functions; id++)
        marks[id] =
            strchr(starts, profile_text(profile, profile->functions[id].name).bytes[0]) != 0;
    const struct call_tree_request request = {
        .by = by, .direction = direction, .starts = starts == NULL ? NULL : marks};
    assert_true(call_tree_init(&tree, profile, &request, &(struct err)ERR_INIT));
    describe(&tree, profile, by, text, sizeof text);
    assert_string_equal(text, expected);
    assert_int_equal(tree.nodes[0].total, total);
    assert_int_equal(tree.weighed.all, 63);
    assert_int_equal(tree.weighed.idle, 100);
    call_tree_deinit(&tree);
    profile_destroy(profile);
}

static void down_from_the_outermost_frames(void **state)
{
    (void)state;
    expect(SUMMARY_BY_FUNCTION, CALL_TREE_DOWN, NULL, 63,
           "[unknown] 32 32\n"
           "m 31 0\n"
           "  f 27 2\n"
           "    g 25 9\n"
           "      f 16 0\n"
           "        h 16 16\n"
           "  g 4 4\n");
}

static void up_from_the_leaves(void **state)
{
    (void)state;
    expect(SUMMARY_BY_FUNCTION, CALL_TREE_UP, NULL, 63,
           "[unknown] 32 32\n"
           "h 16 0\n"
           "  f 16 0\n"
           "    g 16 0\n"
           "      f 16 0\n"
           "        m 16 16\n"
           "g 13 0\n"
           "  f 9 0\n"
           "    m 9 9\n"
           "  m 4 4\n"
           "f 2 0\n"
           "  m 2 2\n");
}

/* A function that calls itself counts once: its outermost call is the one. */
static void from_a_function_on(void **state)
{
    (void)state;
    expect(SUMMARY_BY_FUNCTION, CALL_TREE_DOWN, "f", 27,
           "f 27 2\n"
           "  g 25 9\n"
           "    f 16 0\n"
           "      h 16 16\n");
    expect(SUMMARY_BY_FUNCTION, CALL_TREE_UP, "f", 27,
           "f 27 0\n"
           "  m 27 27\n");
    expect(SUMMARY_BY_FUNCTION, CALL_TREE_UP, "g", 29,
           "g 29 0\n"
           "  f 25 0\n"
           "    m 25 25\n"
           "  m 4 4\n");
    expect(SUMMARY_BY_FUNCTION, CALL_TREE_DOWN, "hg", 29,
           "g 29 13\n"
           "  f 16 0\n"
           "    h 16 16\n");
    expect(SUMMARY_BY_FUNCTION, CALL_TREE_DOWN, "", 0, "");
}

static void lines_are_nodes_of_their_own(void **state)
{
    (void)state;
    expect(SUMMARY_BY_LINE, CALL_TREE_DOWN, "f", 27,
           "f:2 26 2\n"
           "  g:3 24 8\n"
           "    f:2 16 0\n"
           "      h:1 16 16\n"
           "f:4 1 0\n"
           "  g:3 1 1\n");
}

static void frames_of_one_module_are_one(void **state)
{
    (void)state;
    expect(SUMMARY_BY_MODULE, CALL_TREE_DOWN, NULL, 63,
           "[unknown] 32 32\n"
           "x 31 2\n"
           "  y 29 13\n"
           "    x 16 0\n"
           "      y 16 16\n");
    expect(SUMMARY_BY_MODULE, CALL_TREE_UP, "h", 16,
           "y 16 0\n"
           "  x 16 0\n"
           "    y 16 0\n"
           "      x 16 16\n");
}

/* Of functions and lines each call is a node. */
static void a_call_of_itself_is_a_node(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, 0);
    add(builder, "x/f:1;x/f:1;x/f:1", 5);
    struct profile *profile = builder_finish(builder);
    static const enum summary_by each[] = {SUMMARY_BY_FUNCTION, SUMMARY_BY_LINE, SUMMARY_BY_MODULE};
    static const char *const trees[] = {"f 5 0\n  f 5 0\n    f 5 5\n",
                                        "f:1 5 0\n  f:1 5 0\n    f:1 5 5\n", "x 5 5\n"};
    for (size_t i = 0; i < N_ELEMENTS(each); i++) {
        const struct call_tree_request request = {.by = each[i]};
        struct call_tree tree;
        char text[200];
        assert_true(call_tree_init(&tree, profile, &request, &(struct err)ERR_INIT));
        describe(&tree, profile, each[i], text, sizeof text);
        assert_string_equal(text, trees[i]);
        call_tree_deinit(&tree);
    }
    profile_destroy(profile);
}

static void branches_can_be_passed_over(void **state)
{
    (void)state;
    struct profile *profile = profile_make();
    const struct call_tree_request request = {.by = SUMMARY_BY_FUNCTION};
    struct call_tree tree;
    uint32_t depth = 0;
    assert_true(call_tree_init(&tree, profile, &request, &(struct err)ERR_INIT));
    uint32_t unknown = call_tree_next(&tree, 0, false, &depth);
    uint32_t m = call_tree_next(&tree, unknown, false, &depth);
    assert_int_equal(tree.nodes[m].total, 31);
    assert_int_equal(depth, 1);
    assert_int_equal(call_tree_next(&tree, m, true, &depth), 0);
    assert_int_equal(depth, 0);
    uint32_t f = call_tree_next(&tree, m, false, &(uint32_t){1});
    depth = 2;
    uint32_t g = call_tree_next(&tree, f, true, &depth);
    assert_int_equal(tree.nodes[g].total, 4);
    assert_int_equal(depth, 2);
    call_tree_deinit(&tree);
    profile_destroy(profile);
}

static void of_no_samples_nothing_grows(void **state)
{
    (void)state;
    struct profile *profile = builder_finish(builder_make(PROFILE_UNIT_COUNT, 0));
    const struct call_tree_request request = {.by = SUMMARY_BY_FUNCTION};
    struct call_tree tree;
    assert_true(call_tree_init(&tree, profile, &request, &(struct err)ERR_INIT));
    assert_int_equal(call_tree_next(&tree, 0, false, &(uint32_t){0}), 0);
    call_tree_deinit(&tree);
    profile_destroy(profile);
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    struct profile *profile = profile_make();
    const struct call_tree_request request = {.by = SUMMARY_BY_LINE};
    for (unsigned n = 1;; n++) {
        struct err err = ERR_INIT;
        struct call_tree tree;
        alloc_fault_arm(n);
        bool ok = call_tree_init(&tree, profile, &request, &err);
        bool fired = alloc_fault_fired();
        assert_int_equal(ok, !fired);
        if (ok)
            call_tree_deinit(&tree);
        else
            assert_int_equal(err.code, ERR_MEMORY);
        if (!fired)
            break;
    }
    profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(down_from_the_outermost_frames),
        cmocka_unit_test(up_from_the_leaves),
        cmocka_unit_test(from_a_function_on),
        cmocka_unit_test(lines_are_nodes_of_their_own),
        cmocka_unit_test(frames_of_one_module_are_one),
        cmocka_unit_test(a_call_of_itself_is_a_node),
        cmocka_unit_test(branches_can_be_passed_over),
        cmocka_unit_test(of_no_samples_nothing_grows),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
