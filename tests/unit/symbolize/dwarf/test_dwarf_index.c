/* test_dwarf_index.c - the promises of symbolize/dwarf/index.h: what a module of each version of
 * DWARF says comes out of the index, as libdw says it too; damage anywhere stays where it is; no
 * memory is told as such.
 *
 * The module is that of dwarf_builder.h. Damage is done to every byte and every length of it, so a
 * sanitizer (preset asan) sees any read that is not bounded: the damaged section is the last one of
 * the file. */
#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "alloc_fault.h"
#include "dwarf_builder.h"
#include "dwarf_compare.h"
#include "unit.h"

enum { FIRST_VADDR = 0xff0, N_VADDRS = 0x470 };

static uint64_t vaddrs[N_VADDRS];

static int vaddrs_fill(void **state)
{
    (void)state;
    /* Without those of the call in a dropped function, which libdw takes at its word. */
    for (size_t i = 0; i < N_VADDRS; i++)
        vaddrs[i] = FIRST_VADDR + i + (FIRST_VADDR + i < 0x1240 ? 0 : 0x20);
    return 0;
}

/* ---- running it ---- */

static struct elf_file *image_open(const uint8_t *image, size_t size)
{
    struct elf_file *file = NULL;
    struct err err = ERR_INIT;
    return elf_file_open_image(image, size, &file, &err) ? file : NULL;
}

static enum index_outcome image_index(const uint8_t *image, size_t size, struct dwarf_index *index)
{
    *index = (struct dwarf_index){.block = NULL};
    struct elf_file *file = image_open(image, size);
    if (file == NULL)
        return INDEX_NOT_FOR_US;
    enum index_outcome outcome = dwarf_index_build(file, index);
    elf_file_close(file);
    return outcome;
}

/* Names of the module, or of nothing. */
static bool name_is_known(const char *name)
{
    static const char *const names[] = {"",           "_ZN2ns3box3getEv",
                                        "_Z6helperv", "_Z4deepv",
                                        "get",        "helper",
                                        "deep",       "plain",
                                        "second",     "ns::box::get::local::lambda"};
    for (size_t i = 0; i < N_ELEMENTS(names); i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

struct verdict {
    enum index_outcome outcome;
    uint32_t n_damaged;
    size_t n_named; /* addresses with a function */
};

/* What becomes of an image, which is freed. `names_known`: other names than the module's would be
 * wrong. */
static struct verdict judge(uint8_t *image, size_t size, bool names_known)
{
    struct verdict verdict = {.n_damaged = 0};
    struct dwarf_index index;
    verdict.outcome = image_index(image, size, &index);
    free(image);
    if (verdict.outcome != INDEX_DONE)
        return verdict;
    struct dwarf_said said;
    verdict.n_damaged = dwarf_index_n_damaged(&index);
    assert_true(dwarf_said_by_index(&said, &index, vaddrs, N_VADDRS));
    for (size_t i = 0; i < said.n; i++) {
        const struct chain *chain = &said.chains[i];
        assert_true(chain->n <= 16);
        for (uint32_t k = 0; k < chain->n; k++) {
            const struct chain_frame *frame = &said.frames.items[chain->first + k];
            assert_true(!names_known || name_is_known(dwarf_said_text(&said, frame->name)));
            assert_true(frame->inlined == (k + 1 < chain->n));
        }
        verdict.n_named += chain->n != 0 && said.frames.items[chain->first].name != 0;
    }
    dwarf_said_drop(&said);
    dwarf_index_deinit(&index);
    return verdict;
}

static struct verdict sample_judge(const struct dwarf_sample *sample, enum dwarf_part last)
{
    size_t size;
    uint8_t *image = dwarf_sample_image(sample, last, &size);
    return judge(image, size, last != PART_STR && last != PART_STR_OFFSETS && last != PART_INFO);
}

/* All functions have 0x100 + 0x100 + 0x40 + 0x40 + 0x40 bytes. */
enum { N_NAMED = 0x2c0, N_NAMED_OF_C = 0x40 };

/* ---- what is written is what is said ---- */

static void image_check(const uint8_t *image, size_t size)
{
    struct elf_file *file = image_open(image, size);
    struct dwarf_index index;
    struct dwarf_said ours;
    struct dwarf_said theirs;
    assert_non_null(file);
    assert_int_equal(dwarf_index_build(file, &index), INDEX_DONE);
    assert_int_equal(dwarf_index_n_damaged(&index), 0);
    assert_true(dwarf_said_by_index(&ours, &index, vaddrs, N_VADDRS));
    assert_true(dwarf_said_by_libdw(&theirs, file, vaddrs, N_VADDRS));
    assert_int_equal(dwarf_said_differ(&ours, &theirs, vaddrs, stderr), 0);
    dwarf_said_drop(&ours);
    dwarf_said_drop(&theirs);
    dwarf_index_deinit(&index);
    elf_file_close(file);
}

static void every_version_is_said_as_by_libdw(void **state)
{
    (void)state;
    for (unsigned version = 2; version <= 5; version++) {
        struct dwarf_sample sample;
        struct elf_part parts[N_PARTS + 1];
        size_t size;
        dwarf_sample_make(&sample, version);
        uint8_t *image = dwarf_sample_image(&sample, PART_INFO, &size);
        image_check(image, size);
        free(image);
        dwarf_sample_parts(&sample, PART_INFO, parts);
        for (size_t i = 1; i < N_ELEMENTS(parts); i++)
            parts[i].pack = parts[i].n != 0;
        image = elf_build(parts, N_ELEMENTS(parts), &size);
        image_check(image, size);
        free(image);
        dwarf_sample_drop(&sample);
    }
}

static void frame_check(const struct dwarf_said *said, const struct chain_frame *frame,
                        const char *name, const char *file, unsigned line, unsigned column,
                        const char *decl_file, unsigned decl_line, uint64_t entry)
{
    assert_string_equal(dwarf_said_text(said, frame->name), name);
    assert_string_equal(dwarf_said_text(said, frame->file), file);
    assert_int_equal(frame->line, line);
    assert_int_equal(frame->column, column);
    assert_string_equal(dwarf_said_text(said, frame->decl_file), decl_file);
    assert_int_equal(frame->decl_line, decl_line);
    assert_int_equal(frame->entry, entry);
}

/* In words and not only as libdw: both could be wrong. */
static void a_chain_has_all_its_fields(void **state)
{
    (void)state;
    static const uint64_t wanted[] = {0x1012, 0x1038, 0x1320, 0x1410, 0x1210, 0x1250};
    struct dwarf_sample sample;
    struct dwarf_index index;
    struct dwarf_said said;
    size_t size;
    dwarf_sample_make(&sample, 5);
    uint8_t *image = dwarf_sample_image(&sample, PART_INFO, &size);
    assert_int_equal(image_index(image, size, &index), INDEX_DONE);
    free(image);
    assert_true(dwarf_said_by_index(&said, &index, wanted, N_ELEMENTS(wanted)));
    assert_int_equal(said.chains[0].n, 3);
    const struct chain_frame *frames = said.frames.items;
    const char *const box = "/usr/include/inc/box.h";
    frame_check(&said, &frames[0], "_Z4deepv", box, 18, 17, "/src/main.cc", 300, 0);
    frame_check(&said, &frames[1], "_Z6helperv", "/src/main.cc", 41, 0, "/src/main.cc", 20, 0);
    frame_check(&said, &frames[2], "_ZN2ns3box3getEv", box, 33, 5, box, 7, 0x1000);
    assert_true(frames[0].inlined && frames[1].inlined && !frames[2].inlined);
    assert_int_equal(said.chains[1].n, 2);
    frame_check(&said, &frames[3], "_Z6helperv", "/src/main.cc", 14, 17, "/src/main.cc", 20, 0);
    assert_int_equal(said.chains[2].n, 1);
    frame_check(&said, &frames[5], "plain", box, 1, 0, box, 50, 0x1300);
    assert_true(frames[5].unmangled && !frames[2].unmangled);
    frame_check(&said, &frames[6], "second", "", 0, 0, "", 3, 0x1400);
    assert_false(frames[6].unmangled); /* C has no mangled names */
    assert_int_equal(said.chains[4].n, 1);
    frame_check(&said, &frames[7], "ns::box::get::local::lambda", "", 0, 0, "/src/main.cc", 60,
                0x1200);
    assert_int_equal(said.chains[5].n, 0);
    dwarf_said_drop(&said);
    dwarf_index_deinit(&index);
    dwarf_sample_drop(&sample);
}

/* The way files go: mapped by us. */
static void a_file_is_read_as_an_image_is(void **state)
{
    (void)state;
    struct dwarf_sample sample;
    struct elf_part parts[N_PARTS + 1];
    struct dwarf_index index;
    struct err err = ERR_INIT;
    struct elf_file *file;
    char path[64];
    size_t size;
    dwarf_sample_make(&sample, 4);
    dwarf_sample_parts(&sample, PART_LINE, parts);
    parts[N_PARTS].pack = true;
    uint8_t *image = elf_build(parts, N_ELEMENTS(parts), &size);
    int fd = memfd_create("image", MFD_CLOEXEC);
    assert_true(fd >= 0 && write(fd, image, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_true(elf_file_open(path, &file, &err));
    assert_int_equal(dwarf_index_build(file, &index), INDEX_DONE);
    elf_file_close(file);
    close(fd);
    struct dwarf_index of_image;
    assert_int_equal(image_index(image, size, &of_image), INDEX_DONE);
    assert_int_equal(index.size_bytes, of_image.size_bytes);
    assert_memory_equal(index.block, of_image.block, index.size_bytes);
    dwarf_index_deinit(&index);
    dwarf_index_deinit(&of_image);
    free(image);
    dwarf_sample_drop(&sample);
}

/* ---- damage ---- */

static void every_section_may_end_anywhere(void **state)
{
    (void)state;
    for (unsigned version = 2; version <= 5; version++) {
        struct dwarf_sample sample;
        dwarf_sample_make(&sample, version);
        for (enum dwarf_part id = 0; id < N_PARTS; id++) {
            size_t n = sample.of[id].n;
            for (size_t kept = 0; kept < n; kept++) {
                sample.of[id].n = kept;
                struct verdict verdict = sample_judge(&sample, id);
                assert_true(verdict.outcome == INDEX_DONE || verdict.outcome == INDEX_NOT_FOR_US);
                if (id == PART_INFO && kept > 0 && kept < sample.second_unit) {
                    assert_int_equal(verdict.outcome, INDEX_DONE);
                    assert_int_equal(verdict.n_damaged, 1);
                    assert_int_equal(verdict.n_named, 0);
                } else if (id == PART_INFO && kept > sample.second_unit) {
                    assert_int_equal(verdict.n_damaged, 1);
                    assert_int_equal(verdict.n_named, N_NAMED - N_NAMED_OF_C);
                }
            }
            sample.of[id].n = n;
        }
        dwarf_sample_drop(&sample);
    }
}

static void every_byte_may_be_wrong(void **state)
{
    (void)state;
    static const uint8_t wrong[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    for (unsigned version = 2; version <= 5; version++) {
        struct dwarf_sample sample;
        dwarf_sample_make(&sample, version);
        for (enum dwarf_part id = 0; id < N_PARTS; id++) {
            for (size_t at = 0; at < sample.of[id].n; at++) {
                uint8_t right = sample.of[id].bytes[at];
                for (size_t i = 0; i < N_ELEMENTS(wrong); i++) {
                    size_t size;
                    sample.of[id].bytes[at] = wrong[i];
                    uint8_t *image = dwarf_sample_image(&sample, id, &size);
                    struct verdict verdict = judge(image, size, false);
                    assert_true(verdict.outcome == INDEX_DONE ||
                                verdict.outcome == INDEX_NOT_FOR_US);
                }
                sample.of[id].bytes[at] = right;
            }
        }
        dwarf_sample_drop(&sample);
    }
}

/* Sets `n` bytes for the length of one judgement. */
static struct verdict lie(struct dwarf_sample *sample, enum dwarf_part id, size_t at,
                          uint64_t value, size_t n)
{
    uint64_t right = 0;
    size_t size;
    assert_true(at + n <= sample->of[id].n);
    memcpy(&right, sample->of[id].bytes + at, n);
    memcpy(sample->of[id].bytes + at, &value, n);
    uint8_t *image = dwarf_sample_image(sample, id, &size);
    struct verdict verdict = judge(image, size, false);
    memcpy(sample->of[id].bytes + at, &right, n);
    return verdict;
}

static void a_damaged_unit_leaves_the_others(void **state)
{
    (void)state;
    struct dwarf_sample sample;
    dwarf_sample_make(&sample, 4);
    size_t first_die = 11;
    struct verdict verdict = lie(&sample, PART_INFO, first_die, 0x7e, 1); /* no such code */
    assert_int_equal(verdict.outcome, INDEX_DONE);
    assert_int_equal(verdict.n_damaged, 1);
    assert_int_equal(verdict.n_named, N_NAMED_OF_C);
    verdict = lie(&sample, PART_INFO, sample.second_unit + first_die, 0x7e, 1);
    assert_int_equal(verdict.n_damaged, 1);
    assert_int_equal(verdict.n_named, N_NAMED - N_NAMED_OF_C);
    verdict = lie(&sample, PART_INFO, sample.last_function, 0x7e, 1);
    assert_int_equal(verdict.n_damaged, 1);
    assert_int_equal(verdict.n_named, N_NAMED_OF_C);
    verdict = lie(&sample, PART_INFO, sample.declaration, 0x7e, 1);
    assert_int_equal(verdict.n_damaged, 1);
    assert_int_equal(verdict.n_named, N_NAMED_OF_C);
    dwarf_sample_drop(&sample);
}

static void lengths_that_lie_cost_what_they_are_of(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {0, 1, 6, 0xff, 0x10000, 0x7fffffff, 0xffffffef};
    for (unsigned version = 2; version <= 5; version++) {
        struct dwarf_sample sample;
        dwarf_sample_make(&sample, version);
        for (size_t i = 0; i < N_ELEMENTS(lengths); i++) {
            struct verdict verdict = lie(&sample, PART_INFO, sample.second_unit, lengths[i], 4);
            assert_int_equal(verdict.outcome, INDEX_DONE);
            assert_true(verdict.n_damaged > 0);
            assert_int_equal(verdict.n_named, N_NAMED - N_NAMED_OF_C);
            /* A line table takes its unit's lines, and nothing else. */
            verdict = lie(&sample, PART_LINE, 0, lengths[i], 4);
            assert_int_equal(verdict.n_named, N_NAMED);
            verdict = lie(&sample, PART_LINE, version >= 5 ? 8 : 6, lengths[i], 4);
            assert_int_equal(verdict.n_named, N_NAMED);
        }
        /* 64-bit DWARF is for libdw. */
        assert_int_equal(lie(&sample, PART_INFO, 0, 0xffffffff, 4).outcome, INDEX_NOT_FOR_US);
        dwarf_sample_drop(&sample);
    }
}

static void sizes_of_sections_that_lie_are_not_for_us(void **state)
{
    (void)state;
    static const uint64_t lies[] = {1, 0x1000, UINT32_MAX, UINT64_MAX / 2, UINT64_MAX - 0x100};
    struct dwarf_sample sample;
    struct elf_part parts[N_PARTS + 1];
    dwarf_sample_make(&sample, 5);
    for (enum dwarf_part id = 0; id < N_PARTS; id++) {
        if (sample.of[id].n == 0)
            continue;
        for (size_t i = 0; i < N_ELEMENTS(lies); i++) {
            size_t size;
            dwarf_sample_parts(&sample, id, parts);
            parts[N_PARTS].size_lie = lies[i];
            uint8_t *image = elf_build(parts, N_ELEMENTS(parts), &size);
            struct verdict verdict = judge(image, size, false);
            assert_true(verdict.outcome != INDEX_NO_MEMORY && verdict.n_named <= N_NAMED);
            dwarf_sample_parts(&sample, id, parts);
            parts[N_PARTS].pack = true;
            parts[N_PARTS].unpacked_lie = lies[i];
            image = elf_build(parts, N_ELEMENTS(parts), &size);
            verdict = judge(image, size, false);
            assert_true(verdict.outcome == INDEX_NOT_FOR_US || verdict.outcome == INDEX_TOO_LARGE);
        }
    }
    dwarf_sample_drop(&sample);
}

/* Nothing of a packed section is believed whose checksum is wrong or missing. */
static void packed_sections_are_whole_or_nothing(void **state)
{
    (void)state;
    struct dwarf_sample sample;
    struct elf_part parts[N_PARTS + 1];
    dwarf_sample_make(&sample, 5);
    for (enum dwarf_part id = 0; id < N_PARTS; id++) {
        size_t size;
        if (sample.of[id].n == 0)
            continue;
        dwarf_sample_parts(&sample, id, parts);
        parts[N_PARTS].pack = true;
        uint8_t *image = elf_build(parts, N_ELEMENTS(parts), &size);
        image[size - 1] ^= 1; /* of the checksum */
        assert_int_equal(judge(image, size, true).outcome, INDEX_NOT_FOR_US);
        for (size_t cut = 1; cut <= 6; cut++) {
            parts[N_PARTS].packed_cut = cut;
            image = elf_build(parts, N_ELEMENTS(parts), &size);
            assert_int_equal(judge(image, size, true).outcome, INDEX_NOT_FOR_US);
        }
    }
    dwarf_sample_drop(&sample);
}

static void circles_of_references_end(void **state)
{
    (void)state;
    struct dwarf_sample sample;
    dwarf_sample_make(&sample, 4);
    /* A DIE that is a specification of itself, and one that leads back to its user. */
    struct verdict verdict = lie(&sample, PART_INFO, sample.abstract_ref, sample.abstract, 4);
    assert_int_equal(verdict.outcome, INDEX_DONE);
    assert_int_equal(verdict.n_damaged, 0);
    assert_int_equal(verdict.n_named, N_NAMED);
    verdict = lie(&sample, PART_INFO, sample.abstract_ref, sample.specification - 1, 4);
    assert_int_equal(verdict.n_damaged, 0);
    assert_int_equal(verdict.n_named, N_NAMED);
    /* A DIE that is the one after itself. */
    verdict = lie(&sample, PART_INFO, sample.sibling, sample.class, 4);
    assert_int_equal(verdict.outcome, INDEX_DONE);
    assert_int_equal(verdict.n_named, N_NAMED);
    /* References to nowhere. */
    verdict = lie(&sample, PART_INFO, sample.specification, 0xfffffff0, 4);
    assert_int_equal(verdict.n_damaged, 1);
    verdict = lie(&sample, PART_INFO, sample.origin_of_call, 3, 4);
    assert_int_equal(verdict.n_damaged, 1);
    assert_int_equal(verdict.n_named, N_NAMED_OF_C);
    dwarf_sample_drop(&sample);
}

static void numbers_too_long_are_damage(void **state)
{
    (void)state;
    struct dwarf_sample sample;
    dwarf_sample_make(&sample, 3);
    struct dwarf_bytes *info = &sample.of[PART_INFO];
    size_t unit = info->n;
    dwarf_put(info, 0, 4);
    dwarf_put(info, 3, 2);
    dwarf_put(info, 0, 4);
    dwarf_put(info, 8, 1);
    for (unsigned i = 0; i < 10; i++)
        dwarf_put(info, 0xff, 1);
    dwarf_put(info, 1, 1); /* a code of more than 64 bits */
    dwarf_length_set(info, unit);
    struct verdict verdict = sample_judge(&sample, PART_INFO);
    assert_int_equal(verdict.outcome, INDEX_DONE);
    assert_int_equal(verdict.n_damaged, 1);
    assert_int_equal(verdict.n_named, N_NAMED);
    dwarf_sample_drop(&sample);
}

/* An index from a file may be damaged as well. */
static void a_damaged_index_gives_wrong_names_at_most(void **state)
{
    (void)state;
    static const uint8_t wrong[] = {0x00, 0x7f, 0x80, 0xff};
    struct dwarf_sample sample;
    struct dwarf_index index;
    size_t size;
    dwarf_sample_make(&sample, 5);
    uint8_t *image = dwarf_sample_image(&sample, PART_INFO, &size);
    assert_int_equal(image_index(image, size, &index), INDEX_DONE);
    for (size_t at = 0; at < index.size_bytes; at++) {
        uint8_t right = index.block[at];
        for (size_t i = 0; i < N_ELEMENTS(wrong); i++) {
            struct dwarf_said said;
            index.block[at] = wrong[i];
            assert_true(dwarf_said_by_index(&said, &index, vaddrs, N_VADDRS));
            dwarf_said_drop(&said);
        }
        index.block[at] = right;
    }
    for (size_t kept = 0; kept < index.size_bytes; kept++) {
        struct dwarf_said said;
        struct dwarf_index cut = {.block = malloc(kept + 1), .size_bytes = kept};
        assert_non_null(cut.block);
        memcpy(cut.block, index.block, kept);
        assert_true(dwarf_said_by_index(&said, &cut, vaddrs, N_VADDRS));
        assert_int_equal(said.frames.n, 0);
        dwarf_said_drop(&said);
        dwarf_index_deinit(&cut);
    }
    free(image);
    dwarf_index_deinit(&index);
    dwarf_sample_drop(&sample);
}

/* ---- no memory ---- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (unsigned version = 4; version <= 5; version++) {
        for (unsigned packed = 0; packed <= 1; packed++) {
            struct dwarf_sample sample;
            struct elf_part parts[N_PARTS + 1];
            size_t size;
            dwarf_sample_make(&sample, version);
            dwarf_sample_parts(&sample, PART_INFO, parts);
            for (size_t i = 1; i < N_ELEMENTS(parts); i++)
                parts[i].pack = packed && parts[i].n != 0;
            uint8_t *image = elf_build(parts, N_ELEMENTS(parts), &size);
            struct elf_file *file = image_open(image, size);
            struct dwarf_index index = {.block = NULL};
            unsigned n = 1;
            for (;; n++) {
                alloc_fault_arm(n);
                enum index_outcome outcome = dwarf_index_build(file, &index);
                if (!alloc_fault_fired())
                    break;
                assert_int_equal(outcome, INDEX_NO_MEMORY);
                assert_null(index.block);
            }
            assert_true(n > 10);
            struct dwarf_said said;
            for (n = 1;; n++) {
                alloc_fault_arm(n);
                bool done = dwarf_said_by_index(&said, &index, vaddrs, N_VADDRS);
                bool fired = alloc_fault_fired();
                dwarf_said_drop(&said);
                assert_true(done != fired);
                if (!fired)
                    break;
            }
            assert_true(n > 5);
            dwarf_index_deinit(&index);
            elf_file_close(file);
            free(image);
            dwarf_sample_drop(&sample);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_is_said_as_by_libdw),
        cmocka_unit_test(a_chain_has_all_its_fields),
        cmocka_unit_test(a_file_is_read_as_an_image_is),
        cmocka_unit_test(every_section_may_end_anywhere),
        cmocka_unit_test(every_byte_may_be_wrong),
        cmocka_unit_test(a_damaged_unit_leaves_the_others),
        cmocka_unit_test(lengths_that_lie_cost_what_they_are_of),
        cmocka_unit_test(sizes_of_sections_that_lie_are_not_for_us),
        cmocka_unit_test(packed_sections_are_whole_or_nothing),
        cmocka_unit_test(circles_of_references_end),
        cmocka_unit_test(numbers_too_long_are_damage),
        cmocka_unit_test(a_damaged_index_gives_wrong_names_at_most),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, vaddrs_fill, NULL);
}
