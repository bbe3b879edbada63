/* test_cfi.c - cfi.h: .eh_frame_hdr, cie, fde and programs, assembled byte by byte. */
#include <stdbool.h>
#include <string.h>

#include "cfi/cfi.h"
#include "unit.h"

/* A segment of bytes under construction. */
struct image {
    size_t n;
    _Alignas(8) uint8_t bytes[4096];
};

static void put(struct image *image, uint64_t value, unsigned n_bytes)
{
    for (unsigned i = 0; i < n_bytes; i++)
        image->bytes[image->n++] = (uint8_t)(value >> (8 * i));
}

static void put_bytes(struct image *image, const uint8_t *bytes, size_t n)
{
    memcpy(image->bytes + image->n, bytes, n);
    image->n += n;
}

static struct segments segments_of(const struct image *image)
{
    struct segments segments = {.n = 1};
    segments.segment[0] = (struct segment){.start = (uint64_t)image->bytes,
                                           .end = (uint64_t)image->bytes + image->n,
                                           .flags = SEGMENT_READ};
    return segments;
}

/* A cie "zR": code_align 1, data_align -8, ra 16, pointers pcrel sdata4; cfa = rsp + 8, ra at cfa
 * - 8. Returns its offset. */
static size_t put_cie(struct image *image, const char *augmentation, const uint8_t *data,
                      size_t n_data)
{
    size_t start = image->n;
    put(image, 0, 4); /* length, set below */
    put(image, 0, 4);
    put(image, 1, 1);
    put_bytes(image, (const uint8_t *)augmentation, strlen(augmentation) + 1);
    put(image, 1, 1);
    put(image, 0x78, 1);
    put(image, 16, 1);
    if (augmentation[0] == 'z') {
        put(image, n_data, 1);
        put_bytes(image, data, n_data);
    }
    const uint8_t program[] = {0x0c, 7, 8, 0x80 | 16, 1};
    put_bytes(image, program, sizeof program);
    uint32_t length = (uint32_t)(image->n - start - 4);
    memcpy(image->bytes + start, &length, 4);
    return start;
}

/* An fde for [pc, pc + n_pcs) of the cie at `cie` (pcrel sdata4). Returns its offset. */
static size_t put_fde(struct image *image, size_t cie, uint64_t pc, uint32_t n_pcs,
                      const uint8_t *program, size_t n_program)
{
    size_t start = image->n;
    put(image, 0, 4);
    put(image, image->n - cie, 4);
    put(image, pc - (uint64_t)(image->bytes + image->n), 4);
    put(image, n_pcs, 4);
    put(image, 0, 1); /* no augmentation data */
    if (n_program > 0)
        put_bytes(image, program, n_program);
    uint32_t length = (uint32_t)(image->n - start - 4);
    memcpy(image->bytes + start, &length, 4);
    return start;
}

static const uint8_t pcrel_sdata4[] = {0x1b};
static struct cfi_workspace workspace;

/* The row at `offset` into a function of 100 bytes with `program`; false when it is refused. */
static bool row_at(const uint8_t *program, size_t n, uint64_t offset, struct cfi_row *row)
{
    struct image image = {.n = 0};
    struct cfi_fde fde;
    uint64_t pc = (uint64_t)image.bytes + 0x10000;
    size_t cie = put_cie(&image, "zR", pcrel_sdata4, 1);
    size_t at = put_fde(&image, cie, pc, 100, program, n);
    struct segments segments = segments_of(&image);
    assert_true(cfi_fde_read(&segments, (uint64_t)image.bytes + at, &fde));
    assert_int_equal(fde.pc_start, pc);
    assert_int_equal(fde.pc_end, pc + 100);
    return cfi_row_find(&fde, pc + offset, &workspace, row);
}

#define ROW_AT(program, offset, row) row_at(program, sizeof(program), offset, row)

static void row_changes_with_the_pc(void **state)
{
    (void)state;
    struct cfi_row row;
    /* push rbp at 1, mov rsp,rbp at 4, ret at 9: remember around an early exit at 20 */
    const uint8_t program[] = {0x41, 0x0e, 16,   0x86, 2, 0x43, 0x0d, 6,
                               0x0a, 0x45, 0x0c, 7,    8, 0xc6, 0x41, 0x0b};
    assert_true(ROW_AT(program, 0, &row));
    assert_int_equal(row.cfa.kind, CFI_VAL_OFFSET);
    assert_int_equal(row.cfa.reg, 7);
    assert_int_equal(row.cfa.offset, 8);
    assert_int_equal(row.rules[16].kind, CFI_OFFSET);
    assert_int_equal(row.rules[16].offset, -8);
    assert_int_equal(row.rules[6].kind, CFI_SAME);
    assert_true(ROW_AT(program, 1, &row));
    assert_int_equal(row.cfa.offset, 16);
    assert_int_equal(row.rules[6].kind, CFI_OFFSET);
    assert_int_equal(row.rules[6].offset, -16);
    assert_true(ROW_AT(program, 4, &row));
    assert_int_equal(row.cfa.reg, 6);
    assert_true(ROW_AT(program, 9, &row));
    assert_int_equal(row.cfa.reg, 7);
    assert_int_equal(row.rules[6].kind, CFI_SAME); /* restore: back to the cie's rule */
    assert_true(ROW_AT(program, 10, &row));
    assert_int_equal(row.cfa.reg, 6); /* restore_state brings the cfa back too */
    assert_int_equal(row.rules[6].kind, CFI_OFFSET);
}

static void row_knows_every_opcode(void **state)
{
    (void)state;
    struct cfi_row row;
    const uint8_t program[] = {
        0x00,                                  /* nop                                    */
        0x02, 1,                               /* advance_loc1                           */
        0x03, 1,    0,                         /* advance_loc2                           */
        0x04, 1,    0,    0,    0,             /* advance_loc4                           */
        0x1d, 1,    0,    0,    0, 0, 0, 0, 0, /* MIPS_advance_loc8                   */
        0x05, 3,    4,                         /* offset_extended rbx 4: cfa - 32        */
        0x11, 12,   0x7b,                      /* offset_extended_sf r12 -5: cfa + 40    */
        0x2f, 13,   2,                         /* GNU_negative_offset_extended: cfa + 16 */
        0x14, 14,   1,                         /* val_offset r14: cfa - 8                */
        0x15, 15,   0x7f,                      /* val_offset_sf r15: cfa + 8             */
        0x09, 0,    1,                         /* register rax in rdx                    */
        0x07, 2,                               /* undefined rcx                          */
        0x08, 4,                               /* same_value rsi                         */
        0x10, 5,    2,    0x77, 8,             /* expression rdi: breg7 8                */
        0x16, 8,    1,    0x30,                /* val_expression r8: lit0                */
        0x05, 9,    1,    0x06, 9,             /* offset, then restore_extended r9       */
        0x2e, 16,                              /* GNU_args_size                          */
        0x05, 50,   1,                         /* a vector register: read and forgotten  */
        0x09, 10,   40,                        /* r10 in a register we do not keep       */
        0x12, 7,    0x7e,                      /* def_cfa_sf rsp + 16                    */
        0x13, 0x7d,                            /* def_cfa_offset_sf 24                   */
    };
    assert_true(ROW_AT(program, 4, &row));
    assert_int_equal(row.rules[3].offset, -32);
    assert_int_equal(row.rules[12].offset, 40);
    assert_int_equal(row.rules[13].offset, 16);
    assert_int_equal(row.rules[14].kind, CFI_VAL_OFFSET);
    assert_int_equal(row.rules[14].offset, -8);
    assert_int_equal(row.rules[15].offset, 8);
    assert_int_equal(row.rules[0].kind, CFI_REGISTER);
    assert_int_equal(row.rules[0].reg, 1);
    assert_int_equal(row.rules[2].kind, CFI_UNDEFINED);
    assert_int_equal(row.rules[4].kind, CFI_SAME);
    assert_int_equal(row.rules[5].kind, CFI_EXPRESSION);
    assert_int_equal(row.rules[5].expression_bytes, 2);
    assert_int_equal(row.rules[8].kind, CFI_VAL_EXPRESSION);
    assert_int_equal(row.rules[9].kind, CFI_SAME);
    assert_int_equal(row.rules[10].kind, CFI_UNDEFINED);
    assert_int_equal(row.cfa.offset, 24);
    assert_true(ROW_AT(program, 3, &row));
    assert_int_equal(row.rules[3].kind, CFI_SAME); /* the row before the last advance */
    const uint8_t by_expression[] = {0x0f, 3, 0x76, 0x78, 0x06};
    assert_true(ROW_AT(by_expression, 0, &row));
    assert_int_equal(row.cfa.kind, CFI_VAL_EXPRESSION);
    assert_int_equal(row.cfa.expression_bytes, 3);
}

static void row_refuses_malformed_programs(void **state)
{
    (void)state;
    struct cfi_row row;
    const uint8_t unknown[] = {0x3f};
    const uint8_t nothing_remembered[] = {0x0b};
    const uint8_t nested[] = {0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a};
    const uint8_t long_uleb[] = {0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
    const uint8_t cut_uleb[] = {0x0e, 0x80};
    const uint8_t cut_advance[] = {0x04, 1, 0};
    const uint8_t long_expression[] = {0x0f, 9, 0x77, 8};
    const uint8_t cfa_register[] = {0x0c, 17, 8};
    const uint8_t offset_of_expression[] = {0x0f, 1, 0x30, 0x0e, 8};
    const uint8_t downward[] = {0x1d, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    const uint8_t eight_deep[] = {0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0b};
    assert_false(ROW_AT(unknown, 50, &row));
    assert_false(ROW_AT(nothing_remembered, 50, &row));
    assert_false(ROW_AT(nested, 50, &row));
    assert_false(ROW_AT(long_uleb, 50, &row));
    assert_false(ROW_AT(cut_uleb, 50, &row));
    assert_false(ROW_AT(cut_advance, 50, &row));
    assert_false(ROW_AT(long_expression, 50, &row));
    assert_false(ROW_AT(cfa_register, 50, &row));
    assert_false(ROW_AT(offset_of_expression, 50, &row));
    assert_false(ROW_AT(downward, 50, &row));
    assert_true(ROW_AT(eight_deep, 50, &row));
}

/* .eh_frame_hdr with a table of n functions of 16 bytes at base, base + 32, ...; table encoding as
 * given (0x3b sdata4, 0x3c sdata8; 0xff: none). The .eh_frame lies in front. */
static uint64_t put_hdr(struct image *image, uint64_t base, unsigned n, unsigned encoding)
{
    size_t fdes[8];
    size_t eh_frame = image->n;
    size_t cie = put_cie(image, "zR", pcrel_sdata4, 1);
    for (unsigned i = 0; i < n; i++) {
        const uint8_t program[] = {0x0e, (uint8_t)(16 + 8 * i)};
        fdes[i] = put_fde(image, cie, base + 32 * i, 16, program, sizeof program);
    }
    put(image, 0, 4); /* terminator */
    uint64_t hdr = (uint64_t)image->bytes + image->n;
    put(image, 1, 1);
    put(image, 0x1b, 1);
    put(image, encoding == 0xff ? 0xff : 0x03, 1);
    put(image, encoding, 1);
    put(image, eh_frame - image->n, 4);
    if (encoding == 0xff)
        return hdr;
    put(image, n, 4);
    unsigned width = encoding == 0x3b ? 4 : 8;
    for (unsigned i = 0; i < n; i++) {
        put(image, base + 32 * i - hdr, width);
        put(image, (uint64_t)image->bytes + fdes[i] - hdr, width);
    }
    return hdr;
}

static void fde_is_found_by_table_and_without(void **state)
{
    (void)state;
    const unsigned encodings[] = {0x3b, 0x3c, 0xff, 0x1b};
    for (size_t e = 0; e < N_ELEMENTS(encodings); e++) {
        struct image image = {.n = 0};
        struct cfi_fde fde;
        struct cfi_row row;
        uint64_t base = (uint64_t)image.bytes + 0x10000;
        uint64_t hdr = put_hdr(&image, base, 5, encodings[e]);
        struct segments segments = segments_of(&image);
        for (unsigned i = 0; i < 5; i++) {
            assert_true(cfi_fde_find(&segments, hdr, base + 32 * i, &fde));
            assert_int_equal(fde.pc_start, base + 32 * i);
            assert_true(cfi_fde_find(&segments, hdr, base + 32 * i + 15, &fde));
            assert_true(cfi_row_find(&fde, base + 32 * i + 15, &workspace, &row));
            assert_int_equal(row.cfa.offset, 16 + 8 * i);
            assert_false(cfi_fde_find(&segments, hdr, base + 32 * i + 16, &fde)); /* gap */
        }
        assert_false(cfi_fde_find(&segments, hdr, base - 1, &fde));
        assert_false(cfi_fde_find(&segments, hdr, base + 1000, &fde));
    }
}

static void fde_find_survives_every_truncation(void **state)
{
    (void)state;
    struct image image = {.n = 0};
    struct cfi_fde fde;
    uint64_t base = (uint64_t)image.bytes + 0x10000;
    uint64_t hdr = put_hdr(&image, base, 5, 0x3b);
    size_t whole = image.n;
    for (size_t n = 0; n < whole; n++) {
        image.n = n;
        struct segments segments = segments_of(&image);
        assert_false(cfi_fde_find(&segments, hdr, base, &fde));
    }
    /* A count beyond the table's bytes, a version we do not know. */
    image.n = whole;
    struct segments segments = segments_of(&image);
    uint8_t *count = image.bytes + (hdr - (uint64_t)image.bytes) + 8;
    count[0] = 6;
    assert_false(cfi_fde_find(&segments, hdr, base, &fde));
    count[0] = 5;
    assert_true(cfi_fde_find(&segments, hdr, base, &fde));
    count[-8] = 2;
    assert_false(cfi_fde_find(&segments, hdr, base, &fde));
}

static void cie_augmentations(void **state)
{
    (void)state;
    const struct {
        const char *text;
        uint8_t data[16];
        size_t n;
        bool ok;
        bool signal_frame;
    } cases[] = {
        {"zR", {0x1b}, 1, true, false},
        {"zRS", {0x1b}, 1, true, true},
        {"zRSB", {0x1b}, 1, true, true},
        {"zPLR", {0x9b, 1, 2, 3, 4, 0x1b, 0x1b}, 7, true, false},
        {"zPLR", {0x9b, 1, 2, 3}, 4, false, false},
        {"zR!", {0x1b, 7, 7}, 3, true, false}, /* unknown letter: the length says where it ends */
        {"eh", {0}, 0, false, false},
    };
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        struct image image = {.n = 0};
        struct cfi_fde fde;
        uint64_t pc = (uint64_t)image.bytes + 0x1000;
        size_t cie = put_cie(&image, cases[i].text, cases[i].data, cases[i].n);
        size_t at = put_fde(&image, cie, pc, 9, NULL, 0);
        struct segments segments = segments_of(&image);
        bool ok = cfi_fde_read(&segments, (uint64_t)image.bytes + at, &fde);
        assert_int_equal(ok, cases[i].ok);
        if (ok)
            assert_int_equal(fde.signal_frame, cases[i].signal_frame);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_changes_with_the_pc),
        cmocka_unit_test(row_knows_every_opcode),
        cmocka_unit_test(row_refuses_malformed_programs),
        cmocka_unit_test(fde_is_found_by_table_and_without),
        cmocka_unit_test(fde_find_survives_every_truncation),
        cmocka_unit_test(cie_augmentations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
