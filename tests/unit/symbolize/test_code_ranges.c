/* test_code_ranges.c - the promises of symbolize/names/code_ranges.h, on this program itself: what its
 * symbol table calls a function is one range, also when the file has no section headers or is damaged. */
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "names/code_ranges.h"
#include "unit.h"

#define DAMAGES 300u

/* A copy of this program in memory. */
struct image {
    char *bytes;
    size_t n;
};

static struct image image_read(void)
{
    struct stat status;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &status), 0);
    struct image image = {malloc((size_t)status.st_size), (size_t)status.st_size};
    assert_non_null(image.bytes);
    for (size_t done = 0; done < image.n;) {
        ssize_t n = read(fd, image.bytes + done, image.n - done);
        assert_true(n > 0);
        done += (size_t)n;
    }
    close(fd);
    return image;
}

static struct elf_file *file_open(struct image image)
{
    struct elf_file *file;
    struct err err = ERR_INIT;
    assert_true(elf_file_open_image(image.bytes, image.n, &file, &err));
    return file;
}

/* What `sstrip` leaves. */
static void section_headers_remove(struct image image)
{
    Elf64_Ehdr header;
    memcpy(&header, image.bytes, sizeof header);
    header.e_shoff = 0;
    header.e_shnum = header.e_shstrndx = 0;
    memcpy(image.bytes, &header, sizeof header);
}

/* ---- beside the symbol table ----------------------------------------------------------------- */

/* Calls `see` with each function that .symtab knows the size of. */
static void functions_each(const struct elf_file *file, void (*see)(void *, const GElf_Sym *),
                           void *context)
{
    GElf_Shdr header;
    Elf_Scn *section = elf_file_section(file, ".symtab", &header);
    Elf_Data *data = section == NULL ? NULL : elf_getdata(section, NULL);
    assert_non_null(data);
    for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
        GElf_Sym symbol;
        assert_non_null(gelf_getsym(data, (int)i, &symbol));
        if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
            symbol.st_size > 0)
            see(context, &symbol);
    }
}

struct comparison {
    const struct code_ranges *ranges;
    size_t n;
    size_t n_same;
};

static void function_compare(void *context, const GElf_Sym *symbol)
{
    struct comparison *comparison = context;
    struct code_range first, last;
    assert_true(code_ranges_find(comparison->ranges, symbol->st_value, &first));
    assert_true(
        code_ranges_find(comparison->ranges, symbol->st_value + symbol->st_size - 1, &last));
    comparison->n++;
    comparison->n_same += first.start == symbol->st_value && last.start == symbol->st_value &&
                          first.end == symbol->st_value + symbol->st_size;
}

static void image_compare(struct image image, const struct elf_file *with_symbols)
{
    struct elf_file *file = file_open(image);
    struct code_ranges ranges;
    assert_true(code_ranges_load(&ranges, file));
    struct comparison comparison = {&ranges, 0, 0};
    functions_each(with_symbols, function_compare, &comparison);
    assert_true(comparison.n > 20);
    assert_true(100 * comparison.n_same >= 99 * comparison.n);
    code_ranges_deinit(&ranges);
    elf_file_close(file);
}

static void functions_are_those_of_the_symbol_table(void **state)
{
    (void)state;
    struct image image = image_read(), bare = image_read();
    struct elf_file *file = file_open(image);
    section_headers_remove(bare);
    image_compare(image, file);
    image_compare(bare, file);
    elf_file_close(file);
    free(image.bytes);
    free(bare.bytes);
}

/* ---- what no FDE covers ---------------------------------------------------------------------- */

/* .init has none: it is one range, as it is a section; nothing reaches from one section to another. */
static void a_section_without_entries_is_one_range(void **state)
{
    (void)state;
    struct image image = image_read();
    struct elf_file *file = file_open(image);
    struct code_ranges ranges;
    struct code_range range;
    GElf_Shdr header;
    assert_true(code_ranges_load(&ranges, file));
    assert_non_null(elf_file_section(file, ".init", &header));
    assert_true(code_ranges_find(&ranges, header.sh_addr + header.sh_size / 2, &range));
    assert_int_equal(range.start, header.sh_addr);
    assert_int_equal(range.end, header.sh_addr + header.sh_size);
    assert_non_null(elf_file_section(file, ".rodata", &header));
    assert_false(code_ranges_find(&ranges, header.sh_addr, &range));
    assert_false(code_ranges_find(&ranges, UINT64_MAX, &range));
    code_ranges_deinit(&ranges);
    elf_file_close(file);
    free(image.bytes);
}

/* Without .eh_frame each section is one; the gap between two functions is one as well. */
static void what_lies_between_functions_is_one_range(void **state)
{
    (void)state;
    struct code_range functions[] = {{0x120, 0x140}, {0x180, 0x190}},
                      regions[] = {{0x100, 0x200}, {0x300, 0x400}}, range;
    struct code_ranges ranges = {.regions = {.items = regions, .n = 2},
                                 .functions = {.items = functions, .n = 2}};
    static const struct {
        uint64_t vaddr, start, end;
    } expected[] = {
        {0x100, 0x100, 0x120}, {0x11f, 0x100, 0x120}, {0x120, 0x120, 0x140}, {0x13f, 0x120, 0x140},
        {0x140, 0x140, 0x180}, {0x17f, 0x140, 0x180}, {0x190, 0x190, 0x200}, {0x3ff, 0x300, 0x400},
    };
    for (size_t i = 0; i < N_ELEMENTS(expected); i++) {
        assert_true(code_ranges_find(&ranges, expected[i].vaddr, &range));
        assert_int_equal(range.start, expected[i].start);
        assert_int_equal(range.end, expected[i].end);
    }
    assert_false(code_ranges_find(&ranges, 0xff, &range));
    assert_false(code_ranges_find(&ranges, 0x200, &range));
    assert_false(code_ranges_find(&ranges, 0x400, &range));
}

/* ---- damage ---------------------------------------------------------------------------------- */

static uint32_t random_next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Ranges ascend, do not overlap, hold something and lie within a region: whatever was read. */
static void ranges_check(const struct code_ranges *ranges)
{
    uint64_t behind = 0;
    for (size_t i = 0; i < ranges->functions.n; i++) {
        const struct code_range *function = &ranges->functions.items[i];
        struct code_range found;
        assert_true(function->start >= behind && function->end > function->start);
        assert_true(code_ranges_find(ranges, function->start, &found));
        assert_true(found.start == function->start && found.end == function->end);
        behind = function->end;
    }
}

static void damage_costs_single_entries(void **state)
{
    (void)state;
    struct image image = image_read();
    struct elf_file *file = file_open(image);
    GElf_Shdr header;
    assert_non_null(elf_file_section(file, ".eh_frame", &header));
    elf_file_close(file);
    uint32_t seed = 1;
    for (size_t i = 0; i < DAMAGES; i++) {
        size_t at = header.sh_offset + random_next(&seed) % header.sh_size;
        char kept = image.bytes[at];
        image.bytes[at] = (char)random_next(&seed);
        file = file_open(image);
        struct code_ranges ranges;
        assert_true(code_ranges_load(&ranges, file));
        ranges_check(&ranges);
        code_ranges_deinit(&ranges);
        elf_file_close(file);
        image.bytes[at] = kept;
    }
    free(image.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_those_of_the_symbol_table),
        cmocka_unit_test(a_section_without_entries_is_one_range),
        cmocka_unit_test(what_lies_between_functions_is_one_range),
        cmocka_unit_test(damage_costs_single_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
