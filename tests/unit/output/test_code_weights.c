/* test_code_weights.c - weights of addresses: leaf and return, inlined functions, recursion. */
#include <inttypes.h>
#include <string.h>

#include "alloc_fault.h"
#include "fold/code_weights.h"
#include "profile_help.h"
#include "unit.h"

struct place {
    const char *name;
    uint64_t address;
    uint32_t flags;
};

/* `places`: outermost first, until one without a name. */
static void add(struct profile_builder *builder, const struct place *places, uint64_t value)
{
    const struct profile_module module = {.path = profile_add_cstring(builder, "x")};
    uint32_t stack = 0;
    for (; places->name != NULL; places++) {
        const struct profile_function function = {
            .name = profile_add_cstring(builder, places->name),
            .module = places->name[0] == '[' ? 0 : profile_add_module(builder, &module)};
        const struct profile_frame frame = {.function = profile_add_function(builder, &function),
                                            .address = places->address,
                                            .flags = places->flags};
        stack = profile_add_stack(builder, stack, profile_add_frame(builder, &frame));
    }
    const struct profile_sample sample = {.stack = stack};
    profile_add_sample(builder, &sample, &value);
}

#define IN PROFILE_FRAME_INLINED
#define STACK(...) ((const struct place[]){__VA_ARGS__, {NULL, 0, 0}})

static struct profile *profile_make(void)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, 0);
    add(builder, STACK({"m", 0x10, 0}, {"f", 0x20, 0}, {"g", 0x20, IN}), 1);
    add(builder, STACK({"m", 0x10, 0}, {"f", 0x20, 0}, {"g", 0x20, IN}, {"h", 0x30, 0}), 2);
    add(builder, STACK({"m", 0x10, 0}, {"f", 0x21, 0}, {"f", 0x21, 0}, {"f", 0x28, 0}), 4);
    add(builder, STACK({"m", 0x10, 0}, {"f", 0x20, 0}, {"g", 0x20, IN}, {"g", 0x20, IN}), 8);
    add(builder, STACK({"m", 0x10, 0}, {"f", 0x20, 0}), 16);
    add(builder, STACK({"m", 0x10, 0}, {"(idle)", 0, PROFILE_FRAME_IDLE}), 32);
    /* Not at one address, whatever the flag says; and one without an address. */
    add(builder, STACK({"m", 0x10, 0}, {"g", 0x40, IN}, {"f", 0, 0}), 64);
    return builder_finish(builder);
}

/* "name address[r] [<outer>] self total" per row. */
static void expect(const char *asked, const char *expected)
{
    struct profile *profile = profile_make();
    struct code_weights weights;
    uint8_t marks[16] = {0};
    char text[2000] = "";
    size_t n = 0;
    assert_true(profile->n_functions <= sizeof marks);
    for (uint32_t id = 1; id < profile->n_functions; id++)
        marks[id] = strchr(asked, *profile_text(profile, profile->functions[id].name).bytes) != 0;
    assert_true(code_weights_init(&weights, profile, marks, &(struct err)ERR_INIT));
    for (size_t i = 0; i < weights.n; i++) {
        const struct code_weight *row = &weights.rows[i];
        const struct profile_function *functions = profile->functions;
        n += (size_t)snprintf(
            text + n, sizeof text - n, "%s %" PRIx64 "%s%s%s %" PRIu64 " %" PRIu64 "\n",
            profile_text(profile, functions[row->key.function].name).bytes, row->key.vaddr,
            row->key.is_return ? "r" : "", row->key.inlined_into != 0 ? " <" : "",
            profile_text(profile, functions[row->key.inlined_into].name).bytes, row->self,
            row->total);
        assert_int_equal(row->key.module, 1);
    }
    assert_string_equal(text, expected);
    code_weights_deinit(&weights);
    profile_destroy(profile);
}

static void of_a_function(void **state)
{
    (void)state;
    expect("f", "f 20 25 25\n"
                "f 20r 0 2\n"
                "f 21r 0 4\n"
                "f 28 4 4\n");
    expect("h", "h 30 2 2\n");
    expect("", "");
}

static void of_an_inlined_function(void **state)
{
    (void)state;
    expect("g", "g 20 <f 9 9\n"
                "g 20r <f 0 2\n"
                "g 40r 0 64\n");
}

static void of_several(void **state)
{
    (void)state;
    expect("mh", "m 10r 0 95\n"
                 "h 30 2 2\n");
}

static void known_addresses(void **state)
{
    (void)state;
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, 0);
    add(builder, STACK({"m", 0x10, 0}, {"f", 0, 0}, {"[anon]", 0x77, 0}), 1);
    struct profile *profile = builder_finish(builder);
    uint8_t marks[4] = {0};
    assert_int_equal(profile->n_functions, 4);
    code_weights_mark_known(profile, marks);
    assert_memory_equal(marks, ((uint8_t[]){0, 1, 0, 0}), 4);
    profile_destroy(profile);
}

static void no_memory(void **state)
{
    (void)state;
    struct profile *profile = profile_make();
    uint8_t marks[16];
    memset(marks, 1, sizeof marks);
    bool is_armed = true;
    for (unsigned n = 1; is_armed; n++) {
        struct code_weights weights;
        struct err err = ERR_INIT;
        alloc_fault_arm(n);
        bool ok = code_weights_init(&weights, profile, marks, &err);
        is_armed = alloc_fault_fired();
        assert_int_equal(err.code, ok ? ERR_NONE : ERR_MEMORY);
        assert_int_equal(ok, !is_armed);
        code_weights_deinit(&weights);
    }
    profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_function), cmocka_unit_test(of_an_inlined_function),
        cmocka_unit_test(of_several),    cmocka_unit_test(known_addresses),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
