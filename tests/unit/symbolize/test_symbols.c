/* test_symbols.c - the promises of symbolize/names/symbols.h about which symbol an address belongs to. */
#include <string.h>
#include <sys/auxv.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_respected),
        cmocka_unit_test(a_symbol_without_size_ends_at_the_next),
        cmocka_unit_test(an_enclosing_symbol_is_found_behind_inner_ones),
        cmocka_unit_test(the_vdso_has_names_without_section_headers),
        cmocka_unit_test(of_aliases_the_best_rank_wins_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
