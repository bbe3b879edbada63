/* test_match.c - which functions somebody means by a name or a pattern. */
#include <string.h>

#include "profile_help.h"
#include "select/match.h"
#include "unit.h"

static const char *const names[] = {
    "parse",
    "parse(int)",
    "void parse<int>(int)",
    "ns::parse<std::vector<int> >(int)",
    "ns::parse<char>",
    "ns::parse_all()",
    "Table<int>::find(int)",
    "int Table<int>::find<long>(int) const",
    "<Vec<u8> as Drop>::drop",
    "reparse(bool (*)(int))",
    "run<&io::pull(int)>(int)",
    "unpull",
};

/* `expected`: a letter for each name above, 'x' where it is meant. NULL: refused with `why`. */
static void means(const char *typed, bool is_pattern, const char *expected, const char *why)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_COUNT, 0);
    uint32_t ids[N_ELEMENTS(names)];
    uint8_t marks[N_ELEMENTS(names) + 1] = {0};
    char found[N_ELEMENTS(names) + 1] = "";
    struct err err = ERR_INIT;
    struct match match;
    for (size_t i = 0; i < N_ELEMENTS(names); i++) {
        const struct profile_function function = {.name = profile_add_cstring(builder, names[i])};
        ids[i] = profile_add_function(builder, &function);
    }
    struct profile *profile = builder_finish(builder);
    bool ok = match_init(&match, "--callers", typed, &err) &&
              (is_pattern ? match_mark_pattern(&match, profile, marks, 2, &err)
                          : match_mark_name(&match, profile, marks, 2, &err));
    match_deinit(&match);
    for (size_t i = 0; i < N_ELEMENTS(names); i++)
        found[i] = marks[ids[i]] == 2 ? 'x' : '.';
    assert_string_equal(found, expected != NULL ? expected : "............");
    if (ok != (expected != NULL) || (!ok && strstr(err.text, why) == NULL))
        fail_msg("'%s': %s", typed, ok ? "taken" : err.text);
    profile_destroy(profile);
}

/* The first of these that any function meets: its whole name, the name without result
 * and arguments, that without scope, a part. */
static void a_name_as_exact_as_it_can_be(void **state)
{
    (void)state;
    means("parse", false, "x...........", NULL);
    means("parse(int)", false, ".x..........", NULL);
    means("ns::parse", false, "...xx.......", NULL);
    means("parse_all", false, ".....x......", NULL); /* not those with more in front */
    means("ns::parse_all", false, ".....x......", NULL);
    means("Table<int>::find", false, "......xx....", NULL);
    means("find", false, "......xx....", NULL);
    means("drop", false, "........x...", NULL);
    means("pull", false, "..........xx", NULL);  /* no name but an argument: a pattern */
    means("Table", false, "......xx....", NULL); /* the name of none: a pattern */
    means("^ns::", false, "...xxx......", NULL);
    means("arse", false, "xxxxxx...x..", NULL);
    means("parse(", false, NULL, "no regular expression");
    means("lookup", false, NULL, "--callers 'lookup': no function matches");
}

static void a_pattern_is_met_by_any_part(void **state)
{
    (void)state;
    means("parse", true, "xxxxxx...x..", NULL);
    means("^parse$", true, "x...........", NULL);
    means("file:parse", true, NULL, "no source file matches");
    means("module:parse", true, NULL, "no module matches");
    means("file::open", true, NULL, "no function matches");
    means(NULL, true, "............", NULL);
    means(NULL, false, "............", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_as_exact_as_it_can_be),
        cmocka_unit_test(a_pattern_is_met_by_any_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
