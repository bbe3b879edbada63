/* test_formats_corpus.c - every file of the corpora through every format: read as a profile,
 * written as the format, read again; what the format's `keeps` names must be there, and writing
 * twice must give the same bytes. Files of tests/data, and those found elsewhere where the corpora
 * stand beside the project ($SAMPLER_SHARED, or `shared` next to it). */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format_help.h"
#include "format_round.h"
#include "unit.h"

static struct format_rounds rounds;

/* False if it is no profile. */
static bool file_try(const char *path)
{
    struct bytes in = file_load(path);
    const struct format *format = format_by_path(path);
    const struct format_options options = {.strict = false};
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    bool is_profile = in.bytes != NULL && format != NULL && format->read != NULL &&
                      format->read((const uint8_t *)in.bytes, in.n, &options, NULL, &profile, &err);
    if (is_profile)
        format_rounds_add(&rounds, path, profile);
    profile_destroy(profile);
    free(in.bytes);
    return is_profile;
}

/* How many profiles there are in a folder and those below it. */
static unsigned folder_try(const char *folder)
{
    unsigned n = 0;
    struct dirent **entries;
    int n_entries = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n_entries; i++) {
        char path[1000];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            n += entries[i]->d_type == DT_DIR ? folder_try(path) : file_try(path);
        free(entries[i]);
    }
    if (n_entries >= 0)
        free(entries);
    return n;
}

static void every_file_keeps_what_formats_say(void **state)
{
    (void)state;
    unsigned n = folder_try(TEST_DATA_DIR);
    assert_true(n > 150);
    static const char *const found[] = {"easyprofiler", "hawktracer", "cpuprofile", "nytprof",
                                        "folded"};
    for (size_t i = 0; i < N_ELEMENTS(found); i++) {
        const char *shared = getenv("SAMPLER_SHARED");
        char path[1000];
        snprintf(path, sizeof path, "%s/corpus/%s/found",
                 shared != NULL ? shared : TEST_DATA_DIR "/../../../shared", found[i]);
        n += folder_try(path);
    }
    print_message("%u profiles\n", n);
    assert_int_equal(rounds.n_failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_keeps_what_formats_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
