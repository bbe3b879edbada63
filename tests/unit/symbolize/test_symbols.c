/* test_symbols.c - the promises of symbolize/names/symbols.h about which symbol an address belongs to. */
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "files/cut_guard.h"
#include "names/symbols.h"
#include "unit.h"

struct fixture {
    struct arena *arena;
    struct symbols symbols;
};

static void fixture_make(struct fixture *fixture, const struct symbol *symbols, size_t n)
{
    fixture->arena = arena_create();
    symbols_init(&fixture->symbols, fixture->arena);
    for (size_t i = 0; i < n; i++) {
        struct symbol symbol = symbols[i];
        symbol.length = (uint32_t)strlen(symbol.name);
        assert_true(symbols_add(&fixture->symbols, &symbol));
    }
    symbols_finish(&fixture->symbols);
}

static void fixture_drop(struct fixture *fixture)
{
    symbols_deinit(&fixture->symbols);
    arena_destroy(fixture->arena);
}

static const char *name_at(const struct fixture *fixture, uint64_t vaddr)
{
    const struct symbol *symbol = symbols_find(&fixture->symbols, vaddr);
    return symbol == NULL ? "" : symbol->name;
}

static void sizes_are_respected(void **state)
{
    (void)state;
    const struct symbol table[] = {
        {.vaddr = 0x200, .end = 0x210, .name = "second"},
        {.vaddr = 0x100, .end = 0x120, .name = "first"},
    };
    struct fixture fixture;
    fixture_make(&fixture, table, N_ELEMENTS(table));
    assert_string_equal(name_at(&fixture, 0xff), "");
    assert_string_equal(name_at(&fixture, 0x100), "first");
    assert_string_equal(name_at(&fixture, 0x11f), "first");
    assert_string_equal(name_at(&fixture, 0x120), "");
    assert_string_equal(name_at(&fixture, 0x20f), "second");
    assert_string_equal(name_at(&fixture, 0x210), "");
    fixture_drop(&fixture);
}

/* The C run-time's frame_dummy has no size: the padding behind later functions is not its. */
static void a_symbol_without_size_ends_at_the_next(void **state)
{
    (void)state;
    const struct symbol table[] = {
        {.vaddr = 0x100, .end = 0x1000, .name = "frame_dummy", .sizeless = true},
        {.vaddr = 0x200, .end = 0x210, .name = "sized"},
        {.vaddr = 0x300, .end = 0x1000, .name = "last", .sizeless = true},
    };
    struct fixture fixture;
    fixture_make(&fixture, table, N_ELEMENTS(table));
    assert_string_equal(name_at(&fixture, 0x1ff), "frame_dummy");
    assert_string_equal(name_at(&fixture, 0x218), "");
    assert_string_equal(name_at(&fixture, 0xfff), "last");
    fixture_drop(&fixture);
}

/* Hand-written assembly has labels for its loops, and other places where labels are all there is. */
static void a_label_in_a_function_is_a_place_in_it(void **state)
{
    (void)state;
    const struct symbol table[] = {
        {.vaddr = 0x100, .end = 0x180, .name = "sad"},
        {.vaddr = 0x110, .end = 0x1000, .name = "sad.loop", .sizeless = true, .is_label = true},
        {.vaddr = 0x120, .end = 0x130, .name = "sad.table", .is_label = true},
        {.vaddr = 0x140, .end = 0x1000, .name = "entry", .sizeless = true},
        {.vaddr = 0x180, .end = 0x1000, .name = "copy", .sizeless = true, .is_label = true},
        {.vaddr = 0x190, .end = 0x1000, .name = "copy.loop", .sizeless = true, .is_label = true},
    };
    struct fixture fixture;
    fixture_make(&fixture, table, N_ELEMENTS(table));
    assert_string_equal(name_at(&fixture, 0x115), "sad");
    assert_string_equal(name_at(&fixture, 0x125), "sad.table");
    assert_string_equal(name_at(&fixture, 0x150), "entry");
    assert_string_equal(name_at(&fixture, 0x185), "copy");
    assert_string_equal(name_at(&fixture, 0x195), "copy.loop");
    fixture_drop(&fixture);
}

static void an_enclosing_symbol_is_found_behind_inner_ones(void **state)
{
    (void)state;
    const struct symbol table[] = {
        {.vaddr = 0x100, .end = 0x200, .name = "outer"},
        {.vaddr = 0x120, .end = 0x130, .name = "inner"},
    };
    struct fixture fixture;
    fixture_make(&fixture, table, N_ELEMENTS(table));
    assert_string_equal(name_at(&fixture, 0x125), "inner");
    assert_string_equal(name_at(&fixture, 0x150), "outer");
    fixture_drop(&fixture);
}

static void of_aliases_the_best_rank_wins_in_any_order(void **state)
{
    (void)state;
    const struct symbol table[] = {
        {.vaddr = 0x100, .end = 0x200, .name = "__libc_malloc", .rank = 2},
        {.vaddr = 0x100, .end = 0x200, .name = "malloc", .rank = 0},
        {.vaddr = 0x100, .end = 0x200, .name = "__malloc", .rank = 2},
    };
    for (size_t first = 0; first < N_ELEMENTS(table); first++) {
        const struct symbol turned[] = {table[first], table[(first + 1) % 3],
                                        table[(first + 2) % 3]};
        struct fixture fixture;
        fixture_make(&fixture, turned, N_ELEMENTS(turned));
        assert_string_equal(name_at(&fixture, 0x180), "malloc");
        assert_int_equal(fixture.symbols.n_sorted, 1);
        fixture_drop(&fixture);
    }
}

/* The vdso as a recording holds it: what its segment maps, without the section headers behind. */
static void the_vdso_has_names_without_section_headers(void **state)
{
    (void)state;
    const char *vdso =
        (const char *)getauxval(AT_SYSINFO_EHDR); /* NOLINT(performance-no-int-to-ptr) */
    if (vdso == NULL) {
        skip();
        return;
    }
    Elf64_Ehdr header;
    memcpy(&header, vdso, sizeof header);
    struct elf_file *file;
    struct err err = ERR_INIT;
    assert_true(header.e_shoff > sizeof header);
    assert_true(elf_file_open_image(vdso, header.e_shoff, &file, &err));
    struct fixture fixture = {.arena = arena_create()};
    symbols_init(&fixture.symbols, fixture.arena);
    assert_true(symbols_add_file(&fixture.symbols, file));
    symbols_finish(&fixture.symbols);
    const struct symbol *table = fixture.symbols.table.items;
    bool found = false;
    for (size_t i = 0; i < fixture.symbols.n_sorted; i++)
        found |= strstr(table[i].name, "clock_gettime") != NULL;
    assert_true(found);
    fixture_drop(&fixture);
    elf_file_close(file);
}

/* A file of 1000 bytes may have 40 symbols of one name that takes all of it. */
static void a_name_for_each_symbol_is_read_within_limits(void **state)
{
    (void)state;
    struct symbols symbols = {.left_bytes = 16};
    assert_int_equal(symbols_name_length(&symbols, "main", 5), 4);
    assert_int_equal(symbols_name_length(&symbols, "main", 4), 0); /* without an end */
    assert_int_equal(symbols_name_length(&symbols, "", 1), 0);
    assert_int_equal(symbols_name_length(&symbols, "seven__", SIZE_MAX), 7);
    assert_int_equal(symbols_name_length(&symbols, "ab", SIZE_MAX), 0); /* 1 is left */
}

/* This program's own file, of which half is cut off between two looks. */
static void a_file_that_is_cut_while_it_is_read(void **state)
{
    (void)state;
    char path[] = "/tmp/test-symbols-XXXXXX";
    struct elf_file *own, *file;
    struct err err = ERR_INIT;
    size_t n;
    assert_true(elf_file_open("/proc/self/exe", &own, &err));
    const char *bytes = elf_rawfile(own->elf, &n);
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    assert_true(elf_file_open(path, &file, &err));
    assert_false(elf_file_changed(file));
    const char *map = elf_rawfile(file->elf, &n);
    assert_memory_equal(map, bytes, n);
    cut_guard_install();
    assert_int_equal(ftruncate(fd, (off_t)n / 2), 0);
    assert_true(elf_file_changed(file));
    assert_int_equal(map[n - 1], 0);
    struct fixture fixture;
    fixture_make(&fixture, NULL, 0);
    assert_true(symbols_load(&fixture.symbols, file, NULL));
    fixture_drop(&fixture);
    elf_file_close(file);
    elf_file_close(own);
    close(fd);
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_respected),
        cmocka_unit_test(a_symbol_without_size_ends_at_the_next),
        cmocka_unit_test(a_label_in_a_function_is_a_place_in_it),
        cmocka_unit_test(a_name_for_each_symbol_is_read_within_limits),
        cmocka_unit_test(a_file_that_is_cut_while_it_is_read),
        cmocka_unit_test(an_enclosing_symbol_is_found_behind_inner_ones),
        cmocka_unit_test(the_vdso_has_names_without_section_headers),
        cmocka_unit_test(of_aliases_the_best_rank_wins_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
