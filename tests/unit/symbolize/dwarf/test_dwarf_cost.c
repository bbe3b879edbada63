/* test_dwarf_cost.c - what a hostile file may cost at most: files of up to 1 MB that say much in few
 * bytes, or the same thing very often, are given up within LIMIT_S of processor time and a gigabyte.
 *
 * Each case is one way to multiply: without the account of work (work.h) it takes minutes or more. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "dwarf_builder.h"
#include "dwarf_compare.h"
#include "unit.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMIT_S 60.0 /* and memory is the sanitizer's */
#define MEMORY_MAX_KB INT64_MAX
#else
#define LIMIT_S 8.0 /* less than 1 s on a machine that has nothing else to do */
#define MEMORY_MAX_KB ((int64_t)1 << 20)
#endif

#define FILE_MAX_BYTES ((size_t)1 << 20)

enum { VERSION = 4, MANY_UNITS = 200000 };

/* ---- what files are made of ---- */

static size_t unit_put(struct dwarf_sample *sample, size_t abbrevs, unsigned code)
{
    struct dwarf_bytes *info = &sample->of[PART_INFO];
    size_t unit = info->n;
    dwarf_put(info, 0, 4);
    dwarf_put(info, VERSION, 2);
    dwarf_put(info, abbrevs, 4);
    dwarf_put(info, 8, 1);
    dwarf_put(info, code, 1);
    return unit;
}

static void unit_abbrev_put(struct dwarf_sample *sample, const unsigned *attributes)
{
    dwarf_put_abbrev(&sample->of[PART_ABBREV], 1, DW_TAG_compile_unit, true, attributes);
}

static const unsigned no_attributes[] = {0};

/* ---- what they cost ---- */

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int64_t peak_kb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* The index of the sample, its sections packed. Drops the sample. */
static enum index_outcome cost_check(const char *name, struct dwarf_sample *sample,
                                     struct dwarf_index *index)
{
    struct elf_part parts[N_PARTS + 1];
    struct elf_file *file;
    struct err err = ERR_INIT;
    size_t size;
    dwarf_sample_parts(sample, PART_INFO, parts);
    parts[0].code_bytes = (uint64_t)1 << 40;
    for (size_t i = 1; i <= N_PARTS; i++)
        parts[i].pack = parts[i].n != 0;
    uint8_t *image = elf_build(parts, N_ELEMENTS(parts), &size);
    assert_true(size <= FILE_MAX_BYTES);
    image = realloc(image, FILE_MAX_BYTES); /* the larger the file the more it may cost */
    assert_non_null(image);
    memset(image + size, 0, FILE_MAX_BYTES - size);
    dwarf_sample_drop(sample);
    assert_true(elf_file_open_image(image, FILE_MAX_BYTES, &file, &err));
    double start_s = cpu_s();
    *index = (struct dwarf_index){.block = NULL};
    enum index_outcome outcome = dwarf_index_build(file, index);
    double used_s = cpu_s() - start_s;
    print_message("%s: %zu kB, outcome %d, %.2f s, peak %lld MB\n", name, size >> 10, (int)outcome,
                  used_s, (long long)peak_kb() >> 10);
    assert_true(used_s < LIMIT_S);
    assert_true(peak_kb() < MEMORY_MAX_KB);
    elf_file_close(file);
    free(image);
    return outcome;
}

static void refused(const char *name, struct dwarf_sample *sample)
{
    struct dwarf_index index;
    assert_int_equal(cost_check(name, sample, &index), INDEX_TOO_LARGE);
}

/* Done or refused: what counts is the cost. */
static void bounded(const char *name, struct dwarf_sample *sample)
{
    struct dwarf_index index;
    enum index_outcome outcome = cost_check(name, sample, &index);
    assert_true(outcome == INDEX_DONE || outcome == INDEX_TOO_LARGE);
    dwarf_index_deinit(&index);
}

/* ---- ways to multiply ---- */

static void a_bomb(void **state)
{
    (void)state;
    struct dwarf_sample sample = {.second_unit = 0};
    dwarf_put(&sample.of[PART_INFO], 0, 8);
    dwarf_repeat(&sample.of[PART_INFO], 0, (size_t)100 << 17);
    refused("a bomb", &sample);
}

/* Nine sections that are the same bytes of the file would be as many bombs: their sum counts. */
static void bombs_in_each_section(void **state)
{
    (void)state;
    struct dwarf_sample sample = {.second_unit = 0};
    for (size_t i = 0; i < N_PARTS; i++) {
        dwarf_put(&sample.of[i], 0, 8);
        dwarf_repeat(&sample.of[i], 0, (size_t)8 << 17);
    }
    refused("bombs in each section", &sample);
}

static void units_of_one_line_table(void **state)
{
    (void)state;
    static const unsigned attributes[] = {DW_AT_stmt_list, DW_FORM_sec_offset, 0};
    static const uint8_t header[] = {1, 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0};
    struct dwarf_sample sample = {.second_unit = 0};
    struct dwarf_bytes *line = &sample.of[PART_LINE];
    unit_abbrev_put(&sample, attributes);
    dwarf_put(&sample.of[PART_ABBREV], 0, 1);
    size_t unit = unit_put(&sample, 0, 1);
    dwarf_put(&sample.of[PART_INFO], 0, 4);
    dwarf_length_set(&sample.of[PART_INFO], unit);
    dwarf_repeat(&sample.of[PART_INFO], 0, MANY_UNITS);
    dwarf_put(line, 0, 4);
    dwarf_put(line, VERSION, 2);
    dwarf_put(line, sizeof header, 4);
    for (size_t i = 0; i < sizeof header; i++)
        dwarf_put(line, header[i], 1);
    size_t sequence = line->n;
    dwarf_put(line, 0, 1);
    dwarf_put(line, 9, 1);
    dwarf_put(line, DW_LNE_set_address, 1);
    dwarf_put(line, DWARF_CODE_START, 8);
    size_t rows = line->n;
    for (unsigned i = 0; i < 8; i++)
        dwarf_put(line, 0x1b + i, 1); /* a byte, some lines */
    dwarf_repeat(line, rows, 250000);
    dwarf_put(line, 0, 1);
    dwarf_put(line, 1, 1);
    dwarf_put(line, DW_LNE_end_sequence, 1);
    dwarf_repeat(line, sequence, 10);
    dwarf_length_set(line, 0);
    refused("units of one line table", &sample);
}

static void units_of_two_tables_of_abbreviations(void **state)
{
    (void)state;
    struct dwarf_sample sample = {.second_unit = 0};
    struct dwarf_bytes *abbrev = &sample.of[PART_ABBREV];
    unit_abbrev_put(&sample, no_attributes);
    for (unsigned code = 2; code < 20000; code++)
        dwarf_put_abbrev(abbrev, code, DW_TAG_member, false, no_attributes);
    dwarf_put(abbrev, 0, 1);
    size_t second = abbrev->n;
    dwarf_repeat(abbrev, 0, 2);
    size_t unit = unit_put(&sample, 0, 1);
    dwarf_length_set(&sample.of[PART_INFO], unit);
    unit = unit_put(&sample, second, 1);
    dwarf_length_set(&sample.of[PART_INFO], unit);
    dwarf_repeat(&sample.of[PART_INFO], 0, MANY_UNITS / 2);
    refused("units of two tables of abbreviations", &sample);
}

/* A code without a number near it: tables by code are large then. */
static void units_of_two_wide_tables(void **state)
{
    (void)state;
    struct dwarf_sample sample = {.second_unit = 0};
    struct dwarf_bytes *abbrev = &sample.of[PART_ABBREV];
    unit_abbrev_put(&sample, no_attributes);
    dwarf_put_abbrev(abbrev, 0xffff, DW_TAG_member, false, no_attributes);
    dwarf_put(abbrev, 0, 1);
    size_t second = abbrev->n;
    dwarf_repeat(abbrev, 0, 2);
    size_t unit = unit_put(&sample, 0, 1);
    dwarf_length_set(&sample.of[PART_INFO], unit);
    unit = unit_put(&sample, second, 1);
    dwarf_length_set(&sample.of[PART_INFO], unit);
    dwarf_repeat(&sample.of[PART_INFO], 0, MANY_UNITS / 2);
    refused("units of two wide tables", &sample);
}

/* One byte for each DIE, 60000 attributes for each byte: stepped over, and with code. */
static void attributes_without_bytes(void **state)
{
    (void)state;
    for (unsigned with_code = 0; with_code <= 2; with_code++) {
        enum { N = 60000 };
        struct dwarf_sample sample = {.second_unit = 0};
        struct dwarf_bytes *abbrev = &sample.of[PART_ABBREV];
        unsigned *attributes = calloc(2 * N + 4, sizeof *attributes);
        assert_non_null(attributes);
        for (size_t i = 0; i < N; i++) {
            attributes[2 * i] = i == 0 && with_code == 1 ? DW_AT_low_pc : DW_AT_external;
            attributes[2 * i + 1] = DW_FORM_flag_present;
        }
        attributes[2 * N] = DW_AT_type;
        attributes[2 * N + 1] = DW_FORM_udata; /* so that they are stepped over one by one */
        unit_abbrev_put(&sample, no_attributes);
        dwarf_put_abbrev(abbrev, 2, with_code == 2 ? DW_TAG_variable : DW_TAG_subprogram, false,
                         attributes);
        dwarf_put(abbrev, 0, 1);
        free(attributes);
        unit_put(&sample, 0, 1);
        size_t dies = sample.of[PART_INFO].n;
        dwarf_put(&sample.of[PART_INFO], 2, 2);
        dwarf_repeat(&sample.of[PART_INFO], dies, 20000000);
        dwarf_length_set(&sample.of[PART_INFO], 0);
        refused("attributes without bytes", &sample);
    }
}

/* Functions of the code 2, n bytes of attributes repeated. */
static void functions_put(struct dwarf_sample *sample, const unsigned *attributes)
{
    unit_abbrev_put(sample, no_attributes);
    dwarf_put_abbrev(&sample->of[PART_ABBREV], 2, DW_TAG_subprogram, false, attributes);
    dwarf_put(&sample->of[PART_ABBREV], 0, 1);
    unit_put(sample, 0, 1);
}

static void names_that_overlap(void **state)
{
    (void)state;
    static const unsigned attributes[] = {
        DW_AT_name, DW_FORM_strp, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data1, 0};
    struct dwarf_sample sample = {.second_unit = 0};
    struct dwarf_bytes *info = &sample.of[PART_INFO];
    functions_put(&sample, attributes);
    dwarf_put(&sample.of[PART_STR], 'a', 1);
    dwarf_repeat(&sample.of[PART_STR], 0, (size_t)40 << 20);
    for (unsigned i = 0; i < 20000; i++) {
        dwarf_put(info, 2, 1);
        dwarf_put(info, i, 4);
        dwarf_put(info, DWARF_CODE_START, 8);
        dwarf_put(info, 1, 1);
    }
    dwarf_length_set(info, 0);
    refused("names that overlap", &sample);
}

static void functions_of_ranges_at(const char *name, uint64_t vaddr)
{
    static const unsigned attributes[] = {DW_AT_ranges, DW_FORM_sec_offset, 0};
    struct dwarf_sample sample = {.second_unit = 0};
    struct dwarf_bytes *ranges = &sample.of[PART_RANGES];
    functions_put(&sample, attributes);
    size_t die = sample.of[PART_INFO].n;
    dwarf_put(&sample.of[PART_INFO], 2, 1);
    dwarf_put(&sample.of[PART_INFO], 0, 4);
    dwarf_repeat(&sample.of[PART_INFO], die, MANY_UNITS);
    dwarf_length_set(&sample.of[PART_INFO], 0);
    dwarf_put(ranges, vaddr, 8);
    dwarf_put(ranges, vaddr + 1, 8);
    dwarf_repeat(ranges, 0, 100000);
    dwarf_put(ranges, 0, 8);
    dwarf_put(ranges, 0, 8);
    refused(name, &sample);
}

static void functions_of_one_range_list(void **state)
{
    (void)state;
    functions_of_ranges_at("functions of one range list", DWARF_CODE_START);
    functions_of_ranges_at("functions of ranges without code", UINT64_MAX / 2);
}

static void as_many_functions_as_there_is_room_for(void **state)
{
    (void)state;
    static const unsigned attributes[] = {
        DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_implicit_const, 9, 0};
    struct dwarf_sample sample = {.second_unit = 0};
    struct dwarf_bytes *info = &sample.of[PART_INFO];
    functions_put(&sample, attributes);
    size_t die = info->n;
    for (unsigned i = 0; i < 256; i++) {
        dwarf_put(info, 2, 1);
        dwarf_put(info, DWARF_CODE_START + 15 * i, 8);
    }
    dwarf_repeat(info, die, 20000);
    dwarf_length_set(info, 0);
    bounded("as many functions as there is room for", &sample);
}

/* Three bytes each, and one name for all of them. */
static void instances_of_one_function(void **state)
{
    (void)state;
    static const unsigned unit[] = {DW_AT_addr_base, DW_FORM_sec_offset, 0};
    static const unsigned attributes[] = {DW_AT_abstract_origin,
                                          DW_FORM_ref1,
                                          DW_AT_low_pc,
                                          DW_FORM_addrx1,
                                          DW_AT_high_pc,
                                          DW_FORM_implicit_const,
                                          9,
                                          0};
    struct dwarf_sample sample = {.second_unit = 0};
    struct dwarf_bytes *info = &sample.of[PART_INFO];
    unit_abbrev_put(&sample, unit);
    dwarf_put_abbrev(&sample.of[PART_ABBREV], 2, DW_TAG_subprogram, false, attributes);
    dwarf_put_abbrev(&sample.of[PART_ABBREV], 3, DW_TAG_subprogram, false, no_attributes);
    dwarf_put(&sample.of[PART_ABBREV], 0, 1);
    dwarf_put(info, 0, 4);
    dwarf_put(info, 5, 2);
    dwarf_put(info, DW_UT_compile, 1);
    dwarf_put(info, 8, 1);
    dwarf_put(info, 0, 4);
    dwarf_put(info, 1, 1);
    dwarf_put(info, 0, 4);
    size_t origin = info->n;
    dwarf_put(info, 3, 1);
    size_t die = info->n;
    for (unsigned i = 0; i < 256; i++) {
        dwarf_put(&sample.of[PART_ADDR], DWARF_CODE_START + 15 * i, 8);
        dwarf_put(info, 2, 1);
        dwarf_put(info, origin, 1);
        dwarf_put(info, i, 1);
    }
    dwarf_repeat(info, die, 60000);
    dwarf_length_set(info, 0);
    refused("instances of one function", &sample);
}

static void files_with_long_paths(void **state)
{
    (void)state;
    static const unsigned attributes[] = {DW_AT_stmt_list, DW_FORM_sec_offset, 0};
    static const uint8_t header[] = {1, 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1};
    enum { N_FILES = 200000 };
    struct dwarf_sample sample = {.second_unit = 0};
    struct dwarf_bytes *line = &sample.of[PART_LINE];
    unit_abbrev_put(&sample, attributes);
    dwarf_put(&sample.of[PART_ABBREV], 0, 1);
    unit_put(&sample, 0, 1);
    dwarf_put(&sample.of[PART_INFO], 0, 4);
    dwarf_length_set(&sample.of[PART_INFO], 0);
    dwarf_put(line, 0, 4);
    dwarf_put(line, VERSION, 2);
    dwarf_put(line, 0, 4);
    for (size_t i = 0; i < sizeof header; i++)
        dwarf_put(line, header[i], 1);
    size_t folder = line->n;
    dwarf_put(line, 'f', 1);
    dwarf_repeat(line, folder, 4000);
    dwarf_put(line, 0, 2);
    size_t files = line->n;
    static char names[N_FILES][8];
    dwarf_put(line, 0, 8);
    dwarf_repeat(line, files, N_FILES);
    for (unsigned i = 0; i < N_FILES; i++) {
        snprintf(names[i], sizeof names[i], "%04x", i % 0x10000);
        memcpy(line->bytes + files + (size_t)i * 8, names[i], 4);
        line->bytes[files + (size_t)i * 8 + 5] = 1; /* folder; date and size are 0 */
    }
    dwarf_put(line, 0, 1);
    dwarf_length_set(line, 6);
    dwarf_put(line, 0, 1);
    dwarf_put(line, 9, 1);
    dwarf_put(line, DW_LNE_set_address, 1);
    dwarf_put(line, DWARF_CODE_START, 8);
    size_t rows = line->n;
    dwarf_put(line, 0, 5);
    dwarf_repeat(line, rows, N_FILES);
    for (unsigned i = 0; i < N_FILES; i++) {
        uint8_t *row = line->bytes + rows + (size_t)i * 5;
        row[0] = DW_LNS_set_file;
        row[1] = (uint8_t)(i | 0x80);
        row[2] = (uint8_t)(i >> 7 | 0x80);
        row[3] = (uint8_t)(i >> 14 & 0x7f);
        row[4] = 10 + 5 + 14; /* a byte, no line */
    }
    dwarf_put(line, 0, 1);
    dwarf_put(line, 1, 1);
    dwarf_put(line, DW_LNE_end_sequence, 1);
    dwarf_length_set(line, 0);
    refused("files with long paths", &sample);
}

/* Functions in functions wait for the outer ones to be done, each level once more. */
static void functions_in_functions(void **state)
{
    (void)state;
    static const unsigned attributes[] = {
        DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_implicit_const, 9, 0};
    enum { DEPTH = 400 };
    struct dwarf_sample sample = {.second_unit = 0};
    struct dwarf_bytes *info = &sample.of[PART_INFO];
    unit_abbrev_put(&sample, no_attributes);
    dwarf_put_abbrev(&sample.of[PART_ABBREV], 2, DW_TAG_subprogram, true, attributes);
    dwarf_put(&sample.of[PART_ABBREV], 0, 1);
    unit_put(&sample, 0, 1);
    size_t first = info->n;
    for (unsigned i = 0; i < DEPTH; i++) {
        dwarf_put(info, 2, 1);
        dwarf_put(info, DWARF_CODE_START + i, 8);
    }
    for (unsigned i = 0; i < DEPTH; i++)
        dwarf_put(info, 0, 1);
    dwarf_repeat(info, first, 11000);
    dwarf_length_set(info, 0);
    bounded("functions in functions", &sample);
}

/* Functions whose names are those of all the namespaces around them too, of which each is looked for
 * from the outermost on. */
static void functions_in_namespaces(void **state)
{
    (void)state;
    static const unsigned unit[] = {DW_AT_language, DW_FORM_data1, 0};
    static const unsigned space[] = {DW_AT_name, DW_FORM_strp, DW_AT_sibling, DW_FORM_ref4, 0};
    static const unsigned attributes[] = {
        DW_AT_name, DW_FORM_strp, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data1, 0};
    enum { DEPTH = 500, N_FUNCTIONS = 3000000 };
    struct dwarf_sample sample = {.second_unit = 0};
    struct dwarf_bytes *info = &sample.of[PART_INFO];
    unit_abbrev_put(&sample, unit);
    dwarf_put_abbrev(&sample.of[PART_ABBREV], 2, DW_TAG_namespace, true, space);
    dwarf_put_abbrev(&sample.of[PART_ABBREV], 3, DW_TAG_subprogram, false, attributes);
    dwarf_put(&sample.of[PART_ABBREV], 0, 1);
    dwarf_put(&sample.of[PART_STR], 'n', 2);
    unit_put(&sample, 0, 1);
    dwarf_put(info, DW_LANG_C_plus_plus_14, 1);
    size_t first = info->n;
    dwarf_put(info, 2, 5);
    dwarf_put(info, first + DEPTH * 9 + N_FUNCTIONS * 14, 4); /* behind all functions */
    dwarf_repeat(info, first, DEPTH);
    first = info->n;
    dwarf_put(info, 3, 5);
    dwarf_put(info, DWARF_CODE_START, 8);
    dwarf_put(info, 1, 1);
    dwarf_repeat(info, first, N_FUNCTIONS);
    first = info->n;
    dwarf_put(info, 0, 1);
    dwarf_repeat(info, first, DEPTH);
    dwarf_length_set(info, 0);
    refused("functions in namespaces", &sample);
}

/* A function in very many pieces, another one between them: each address asked for is in a piece of
 * its own, and its tree would be read for each. */
static void lookups_in_one_large_tree(void **state)
{
    (void)state;
    static const unsigned attributes[] = {DW_AT_ranges, DW_FORM_sec_offset, 0};
    enum { N_PIECES = DWARF_CODE_BYTES / 2, N_TIMES = 50 };
    static uint64_t vaddrs[N_PIECES];
    struct dwarf_sample sample = {.second_unit = 0};
    struct dwarf_bytes *ranges = &sample.of[PART_RANGES];
    struct dwarf_index index;
    struct dwarf_said said;
    functions_put(&sample, attributes);
    dwarf_put(&sample.of[PART_INFO], 2, 1);
    dwarf_put(&sample.of[PART_INFO], 0, 4);
    dwarf_length_set(&sample.of[PART_INFO], 0);
    for (unsigned i = 0; i < N_PIECES; i++) {
        vaddrs[i] = DWARF_CODE_START + 2 * i;
        dwarf_put(ranges, vaddrs[i], 8);
        dwarf_put(ranges, vaddrs[i] + 1, 8);
    }
    dwarf_repeat(ranges, 0, N_TIMES);
    dwarf_put(ranges, 0, 8);
    dwarf_put(ranges, 0, 8);
    assert_int_equal(cost_check("lookups in one large tree", &sample, &index), INDEX_DONE);
    double start_s = cpu_s();
    assert_true(dwarf_said_by_index(&said, &index, vaddrs, N_PIECES));
    print_message("  looked up in %.2f s\n", cpu_s() - start_s);
    assert_true(cpu_s() - start_s < LIMIT_S);
    assert_int_equal(said.chains[0].n, 1);
    dwarf_said_drop(&said);
    dwarf_index_deinit(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bomb),
        cmocka_unit_test(bombs_in_each_section),
        cmocka_unit_test(units_of_one_line_table),
        cmocka_unit_test(units_of_two_tables_of_abbreviations),
        cmocka_unit_test(units_of_two_wide_tables),
        cmocka_unit_test(attributes_without_bytes),
        cmocka_unit_test(names_that_overlap),
        cmocka_unit_test(functions_of_one_range_list),
        cmocka_unit_test(as_many_functions_as_there_is_room_for),
        cmocka_unit_test(instances_of_one_function),
        cmocka_unit_test(files_with_long_paths),
        cmocka_unit_test(functions_in_functions),
        cmocka_unit_test(functions_in_namespaces),
        cmocka_unit_test(lookups_in_one_large_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
