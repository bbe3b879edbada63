/* test_nytprof_tools.c - Perl's own tools on what our writer makes: none may fail or say a word.
 * Skipped where they are not installed (Debian: libdevel-nytprof-perl). */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "nytprof.h"
#include "nytprof_profiles.h"
#include "nytprof_support.h"
#include "unit.h"

static const struct format_options plain = {.no_compression = true};

static void check_with_tools(const struct profile *profile, const struct format_options *options)
{
    char folder[] = "/tmp/test_nytprof.XXXXXX";
    char path[64];
    char line[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out.nytprof", folder);
    struct bytes file = profile_write(&format_nytprof, profile, options, NULL);
    FILE *out = fopen(path, "wbe");
    assert_non_null(out);
    assert_int_equal(fwrite(file.bytes, 1, file.n, out), file.n);
    assert_int_equal(fclose(out), 0);
    free(file.bytes);
    bool is_installed = check_tool("nytprofcalls", path) &&
                        check_tool("nytprofcsv --out csv --file", path) &&
                        check_tool("nytprofcg --out callgrind --file", path) &&
                        check_tool("nytprofhtml --delete --out html --file", path) &&
                        check_tool("nytprofmerge --out merged", path);
    snprintf(line, sizeof line, "rm -r %s", folder);
    assert_int_equal(system(line), 0); /* NOLINT(cert-env33-c,concurrency-mt-unsafe) */
    if (!is_installed)
        skip();
}

static void perl_tools_take_a_real_profile(void **state)
{
    (void)state;
    struct profile *profile = make_real_profile();
    check_with_tools(profile, NULL);
    check_with_tools(profile, &plain);
    profile_destroy(profile);
}

static void perl_tools_take_odd_profiles(void **state)
{
    (void)state;
    static const uint64_t weights[] = {5000000, 600000000000, 1};
    static const uint64_t huge[] = {(uint64_t)1 << 63};
    struct profile *profiles[] = {
        make_empty_profile(),
        make_profile(PROFILE_UNIT_NS, 0, 1, weights, 3),
        make_profile(PROFILE_UNIT_NS, 0, 300, weights, 3),
        make_profile(PROFILE_UNIT_COUNT, 0, 2, weights, 1),
        make_profile(PROFILE_UNIT_NS, 0, 2, huge, 1),
        make_profile(PROFILE_UNIT_NS, 0, 0, weights, 3),
    };
    for (size_t i = 0; i < N_ELEMENTS(profiles); i++) {
        check_with_tools(profiles[i], NULL);
        profile_destroy(profiles[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(perl_tools_take_a_real_profile),
        cmocka_unit_test(perl_tools_take_odd_profiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
