/* test_nytprof_tools.c - Perl's own tools on what our writer makes: none may fail or say a word.
 * Skipped where they are not installed (Debian: libdevel-nytprof-perl). */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/nytprof/nytprof.h"
#include "model/merge.h"
#include "nytprof_profiles.h"
#include "nytprof_support.h"
#include "unit.h"

static const struct format_options plain = {.no_compression = true};

struct folder {
    char path[32];
};

static struct folder folder_make(void)
{
    struct folder folder = {"/tmp/test_nytprof.XXXXXX"};
    assert_non_null(mkdtemp(folder.path));
    return folder;
}

static void folder_remove(const struct folder *folder)
{
    char line[64];
    snprintf(line, sizeof line, "rm -r %s", folder->path);
    assert_int_equal(system(line), 0); /* NOLINT(cert-env33-c,concurrency-mt-unsafe) */
}

static void save(const struct profile *profile, const struct format_options *options,
                 const char *path)
{
    struct bytes file = profile_write(&format_nytprof, profile, options, NULL);
    FILE *out = fopen(path, "wbe");
    assert_non_null(out);
    assert_int_equal(fwrite(file.bytes, 1, file.n, out), file.n);
    assert_int_equal(fclose(out), 0);
    free(file.bytes);
}

static bool reports_are_silent(const char *path)
{
    return check_tool("nytprofcalls", path) && check_tool("nytprofcsv --out csv --file", path) &&
           check_tool("nytprofcg --out callgrind --file", path) &&
           check_tool("nytprofhtml --delete --out html --file", path);
}

static void check_with_tools(const struct profile *profile, const struct format_options *options)
{
    struct folder folder = folder_make();
    char path[64];
    snprintf(path, sizeof path, "%s/out.nytprof", folder.path);
    save(profile, options, path);
    bool is_installed = reports_are_silent(path) && check_tool("nytprofmerge --out merged", path);
    folder_remove(&folder);
    if (!is_installed)
        skip();
}

/* Two runs of a program, which differ in the lines they were seen in, joined by nytprofmerge. Plain
 * ones: of a compressed file it loses the beginning of a comment here and there. */
static void joined_files_are_those_of_both_runs(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct profile *runs[] = {make_real_profile(), make_other_real_profile(100)};
    struct profile *both = NULL;
    struct err err = ERR_INIT;
    char path[64];
    snprintf(path, sizeof path, "%s/2", folder.path);
    save(runs[1], &plain, path);
    snprintf(path, sizeof path, "%s/1", folder.path);
    save(runs[0], &plain, path);
    bool is_installed = check_tool("nytprofmerge --out joined 2", path);
    snprintf(path, sizeof path, "%s/joined", folder.path);
    is_installed = is_installed && reports_are_silent(path);
    if (is_installed) {
        struct bytes file = path_load(path);
        struct note_log log;
        struct format_notes notes = note_log_make(&log);
        struct profile *joined = bytes_read(&format_nytprof, file, &notes);
        assert_string_equal(log.text, "");
        assert_true(profile_merge((const struct profile *const *)runs, 2, NULL, &both, &err));
        struct profile *kept = make_kept(both, 1, 1, "mill --words \"a=b\" (2 runs)");
        check_same_samples(joined, kept, 100);
        profile_destroy(kept);
        free(file.bytes);
        profile_destroy(joined);
    }
    profile_destroy(both);
    profile_destroy(runs[0]);
    profile_destroy(runs[1]);
    folder_remove(&folder);
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
        cmocka_unit_test(joined_files_are_those_of_both_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
