/* test_jit.c - what runtimes say of the code they make: maps, dumps, names, and whose files are believed. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jit/code_file.h"
#include "jit/jitdump.h"
#include "jit/perf_map.h"
#include "jit/runtime_name.h"
#include "unit.h"

#define PID 4711u
#define N_CODES 4u

/* Addresses 0x1000, 0x1010, 0x2000, 0x3000, seen at 100, 200, 300, 400. */
static struct code_said items[N_CODES];
static struct codes_said codes = {.items = items, .n = N_CODES};

static int reset(void **state)
{
    (void)state;
    static const uint64_t pcs[N_CODES] = {0x1000, 0x1010, 0x2000, 0x3000};
    for (size_t i = 0; i < N_CODES; i++)
        items[i] = (struct code_said){.pc = pcs[i],
                                      .seen_ns = 100 * (i + 1),
                                      .name = text_make(""),
                                      .file = text_make(""),
                                      .decl_file = text_make("")};
    return 0;
}

static void expect_name(size_t index, const char *name, uint64_t entry)
{
    if (!text_is(items[index].name, name) || (name[0] != '\0' && items[index].entry != entry))
        fail_msg("at %#lx: '%.*s' from %#lx, not '%s' from %#lx", (unsigned long)items[index].pc,
                 (int)items[index].name.length, items[index].name.bytes,
                 (unsigned long)items[index].entry, name, (unsigned long)entry);
}

/* ---- maps ---- */

static void test_map(void **state)
{
    (void)state;
    perf_map_read(text_make("1000 10 first one\n"
                            "0x1010 0x1 with 0x\n"
                            "1FF0 11 Upper(Case, and blanks)  \r\n"
                            "2fff 1 ends before 0x3000\n"),
                  &codes);
    expect_name(0, "first one", 0x1000);
    expect_name(1, "with 0x", 0x1010);
    expect_name(2, "Upper(Case, and blanks)", 0x1ff0);
    expect_name(3, "", 0);
}

static void test_map_later_line_wins(void **state)
{
    (void)state;
    perf_map_read(text_make("1000 2000 all\n1008 10 inside\n3000 1 last\n3000 0 empty\n"), &codes);
    expect_name(0, "all", 0x1000);
    expect_name(1, "inside", 0x1008);
    expect_name(2, "all", 0x1000);
    expect_name(3, "last", 0x3000);
}

static void test_map_lines_that_are_none(void **state)
{
    (void)state;
    perf_map_read(text_make("\n \n1000\n1000 10\n1000 10 \n1000  10 x\nxyz 10 x\n-1000 10 x\n"
                            "10000000000001000 10 too long a number\n1000 10 cut off"),
                  &codes);
    for (size_t i = 0; i < N_CODES; i++)
        expect_name(i, "", 0);
    perf_map_read(text_make("ffffffffffffffff ffffffffffffffff no wrap\n"), &codes);
    for (size_t i = 0; i < N_CODES; i++)
        expect_name(i, "", 0);
}

/* A file may say so much about each address that reading it would take hours. */
static void test_too_many_words(void **state)
{
    (void)state;
    const char *map = "1000 1 a\n1000 1 b\n1000 1 c\n";
    codes.n_words = CODES_MAX_WORDS - 2;
    perf_map_read(text_make(map), &codes);
    expect_name(0, "b", 0x1000);
    assert_int_equal(codes.n_words, CODES_MAX_WORDS);
    codes.n_words = 0;
    perf_map_read(text_make(map), &codes);
    expect_name(0, "c", 0x1000);
    assert_int_equal(codes.n_words, 3);
    codes.n_words = 0;
}

/* ---- dumps ---- */

struct bytes {
    char bytes[4096];
    size_t n;
};

static void put(struct bytes *out, uint64_t value, size_t n)
{
    memcpy(out->bytes + out->n, &value, n);
    out->n += n;
}

static void put_text(struct bytes *out, const char *text)
{
    memcpy(out->bytes + out->n, text, strlen(text) + 1);
    out->n += strlen(text) + 1;
}

static void put_header(struct bytes *out, uint32_t pid, uint64_t flags)
{
    *out = (struct bytes){.n = 0};
    put(out, 0x4a695444, 4), put(out, 1, 4), put(out, 40, 4), put(out, 62, 4);
    put(out, 0, 4), put(out, pid, 4), put(out, 0, 8), put(out, flags, 8);
}

/* Returns where its size is to be written. */
static size_t put_record(struct bytes *out, unsigned id, uint64_t time)
{
    size_t at = out->n;
    put(out, id, 4), put(out, 0, 4), put(out, time, 8);
    return at;
}

static void record_end(struct bytes *out, size_t at)
{
    uint32_t n = (uint32_t)(out->n - at);
    memcpy(out->bytes + at + 4, &n, sizeof n);
}

static void put_load(struct bytes *out, uint64_t time, uint64_t start, uint64_t size,
                     uint64_t index, const char *name)
{
    size_t at = put_record(out, 0, time);
    put(out, PID, 4), put(out, PID, 4), put(out, start, 8);
    put(out, start, 8), put(out, size, 8), put(out, index, 8);
    put_text(out, name);
    record_end(out, at);
}

static void put_move(struct bytes *out, uint64_t time, uint64_t from, uint64_t to, uint64_t size,
                     uint64_t index)
{
    size_t at = put_record(out, 1, time);
    put(out, PID, 4), put(out, PID, 4), put(out, to, 8);
    put(out, from, 8), put(out, to, 8), put(out, size, 8), put(out, index, 8);
    record_end(out, at);
}

struct line {
    uint64_t at;
    uint32_t line;
    const char *file;
};

static void put_lines(struct bytes *out, uint64_t start, const struct line *lines, size_t n)
{
    size_t at = put_record(out, 2, 0);
    put(out, start, 8), put(out, n, 8);
    for (size_t i = 0; i < n; i++) {
        put(out, lines[i].at, 8), put(out, lines[i].line, 4), put(out, 1, 4);
        put_text(out, lines[i].file);
    }
    record_end(out, at);
}

static void dump_read(const struct bytes *dump)
{
    assert_int_equal(jitdump_read((struct text){dump->bytes, dump->n}, PID, &codes), JITDUMP_READ);
}

static void expect_line(size_t index, const char *file, uint32_t line)
{
    if (!text_is(items[index].file, file) || items[index].line != line)
        fail_msg("at %#lx: %.*s:%u, not %s:%u", (unsigned long)items[index].pc,
                 (int)items[index].file.length, items[index].file.bytes, items[index].line, file,
                 line);
}

static void test_dump_times(void **state)
{
    (void)state;
    struct bytes dump;
    put_header(&dump, PID, 0);
    put_load(&dump, 50, 0x1000, 0x20, 1, "early");
    put_load(&dump, 150, 0x1000, 0x20, 2, "later");
    put_load(&dump, 301, 0x2000, 1, 3, "after it was seen");
    dump_read(&dump);
    expect_name(0, "early", 0x1000);
    expect_name(1, "later", 0x1000);
    expect_name(2, "", 0);

    /* Of another clock only the order counts. */
    reset(NULL);
    put_header(&dump, PID, 1);
    put_load(&dump, 5000, 0x1000, 0x20, 1, "early");
    put_load(&dump, 6000, 0x1000, 0x20, 2, "later");
    dump_read(&dump);
    expect_name(0, "later", 0x1000);
}

static void test_dump_moves(void **state)
{
    (void)state;
    static const struct line lines[] = {{0x1000, 7, "/srv/a.x"}, {0x1008, 8, "\377"}};
    struct bytes dump;
    put_header(&dump, PID, 0);
    put_lines(&dump, 0x1000, lines, N_ELEMENTS(lines));
    put_load(&dump, 10, 0x1000, 0x10, 9, "moving");
    put_move(&dump, 20, 0x1000, 0x1ff8, 0x10, 9);
    put_move(&dump, 30, 0x1000, 0x3000, 0x10, 9); /* it is there no more */
    put_move(&dump, 30, 0x1000, 0x3000, 0x10, 8); /* there is no such code */
    dump_read(&dump);
    expect_name(0, "moving", 0x1000);
    expect_line(0, "/srv/a.x", 7);
    expect_name(2, "moving", 0x1ff8);
    expect_line(2, "/srv/a.x", 8);
    expect_name(3, "", 0);
}

static void test_dump_lines(void **state)
{
    (void)state;
    static const struct line plain[] = {
        {0x1000, 3, "/srv/a.x"}, {0x1018, 5, "\377"}, {0x100c, 4, "/srv/b.x"}};
    static const struct line v8[] = {{0x2040, 12, "/srv/a.js"}, {0x2041, 13, "/srv/a.js"}};
    struct bytes dump;
    put_header(&dump, PID, 0);
    put_lines(&dump, 0x1000, plain, N_ELEMENTS(plain));
    put_load(&dump, 10, 0x1000, 0x20, 1, "plain");
    put_lines(&dump, 0x2000, v8, N_ELEMENTS(v8));
    put_load(&dump, 10, 0x2000, 0x20, 2, "JS:*f file:///srv/a.js:12:1");
    put_lines(&dump, 0x4000, plain, N_ELEMENTS(plain)); /* of other code */
    put_load(&dump, 10, 0x3000, 0x20, 3, "without");
    dump_read(&dump);
    expect_line(0, "/srv/a.x", 3);
    expect_line(1, "/srv/b.x", 4);
    assert_true(text_is(items[1].decl_file, "/srv/a.x"));
    assert_int_equal(items[1].decl_line, 3);
    expect_line(2, "/srv/a.js", 12);
    expect_line(3, "", 0);
}

/* Of a function all lines are believed, or none. */
static void test_dump_lines_that_make_no_sense(void **state)
{
    (void)state;
    static const struct line beyond[] = {{0x1000, 3, "/srv/a.x"}, {0x1021, 5, "/srv/a.x"}};
    static const struct line torn[] = {{0x2000, 3, "/srv/\a.x"}};
    static const struct line other[] = {{0x3040, 3, "Ps"}};
    struct bytes dump;
    put_header(&dump, PID, 0);
    put_lines(&dump, 0x1000, beyond, N_ELEMENTS(beyond));
    put_load(&dump, 10, 0x1000, 0x20, 1, "beyond");
    put_lines(&dump, 0x2000, torn, N_ELEMENTS(torn));
    put_load(&dump, 10, 0x2000, 0x20, 2, "torn");
    put_lines(&dump, 0x3000, other, N_ELEMENTS(other));
    put_load(&dump, 10, 0x3000, 0x20, 3, "JS:^g /srv/a.js:3:1");
    dump_read(&dump);
    expect_name(0, "beyond", 0x1000);
    expect_name(3, "JS:^g /srv/a.js:3:1", 0x3000);
    for (size_t i = 0; i < N_CODES; i++)
        expect_line(i, "", 0);
}

/* Whatever is cut off or changed: what is read stays within the dump (a sanitizer tells). */
static void test_dump_damaged(void **state)
{
    (void)state;
    static const struct line lines[] = {{0x1000, 7, "/srv/a.x"}, {0x1008, 8, "\377"}};
    struct bytes whole;
    put_header(&whole, PID, 0);
    put_lines(&whole, 0x1000, lines, N_ELEMENTS(lines));
    put_load(&whole, 10, 0x1000, 0x10, 1, "moving");
    put_move(&whole, 20, 0x1000, 0x2000, 0x10, 1);
    for (size_t n = 0; n <= whole.n; n++) {
        char *cut = malloc(n + 1);
        assert_non_null(cut);
        memcpy(cut, whole.bytes, n);
        for (size_t i = 0; i < n; i++) {
            char kept = cut[i];
            cut[i] = (char)~kept;
            (void)jitdump_read((struct text){cut, n}, PID, &codes);
            cut[i] = kept;
        }
        enum jitdump_outcome outcome = jitdump_read((struct text){cut, n}, PID, &codes);
        assert_int_equal(outcome, n < 40 ? JITDUMP_NONE : JITDUMP_READ);
        free(cut);
        reset(NULL);
    }
    assert_int_equal(jitdump_read((struct text){whole.bytes, whole.n}, PID + 1, &codes),
                     JITDUMP_NONE);
    expect_name(0, "", 0);
}

/* ---- names ---- */

static void expect_split(const char *said, const char *name, const char *file, uint32_t line,
                         const char *place)
{
    struct runtime_name split = runtime_name_split(text_make(said));
    if (!text_is(split.name, name) || !text_is(split.file, file) || split.line != line ||
        !text_is(split.place, place))
        fail_msg("%s: '%.*s' of '%.*s' line %u at '%.*s'", said, (int)split.name.length,
                 split.name.bytes, (int)split.file.length, split.file.bytes, split.line,
                 (int)split.place.length, split.place.bytes);
}

static void test_names(void **state)
{
    (void)state;
    expect_split("JS:*fib /srv/app.js:1:13", "fib", "/srv/app.js", 1, "app.js:1:13");
    expect_split("LazyCompile:~get size /srv/my app.js:10:3", "get size", "/srv/my app.js", 10,
                 "my app.js:10:3");
    expect_split("JS:^ file:///srv/m.mjs:3:46", "", "/srv/m.mjs", 3, "m.mjs:3:46");
    expect_split("Function:+a.b node:internal/fs:280:33", "a.b", "node:internal/fs", 280,
                 "fs:280:33");
    expect_split("JS:*x [eval]:2:5", "x", "[eval]", 2, "[eval]:2:5");
    expect_split("py::fib:/srv/app.py", "fib", "/srv/app.py", 0, "");
    expect_split("py::<listcomp>:/srv/a:b.py", "<listcomp>", "/srv/a:b.py", 0, "");
    expect_split("int32 [app] Ns.Sum::Of(int32)[QuickJitted]", "int32 [app] Ns.Sum::Of(int32)", "",
                 0, "");
    expect_split("int32 [app] Ns.Sum::Of(int32)[OptimizedTier1OSR]",
                 "int32 [app] Ns.Sum::Of(int32)", "", 0, "");
    static const char *const as_they_are[] = {
        "Builtin:ArrayMap",
        "JS:*",
        "JS:*fib",
        "JS:fib /srv/app.js:1:13",
        "JS:*fib /srv/app.js:1",
        "JS:*fib /srv/app.js:99999999999:1",
        "int Foo.bar(int, String)",
        "void [app] Foo::Bar(int32)[Tier0]",
        "int32[] [app] Foo::Bar[System.__Canon](int32[])",
        "py::",
        "",
        "RegExp:a:1:2",
    };
    for (size_t i = 0; i < N_ELEMENTS(as_they_are); i++) {
        struct text said = text_make(as_they_are[i]);
        struct runtime_name split = runtime_name_split(said);
        assert_true(text_equal(split.name, said) || text_is(said, "py::"));
        assert_int_equal(split.file.length, 0);
    }
    struct text compiled = runtime_name_split(text_make("JS:*f /srv/a.js:1:2")).identity;
    assert_true(
        text_equal(compiled, runtime_name_split(text_make("JS:~f /srv/a.js:1:2")).identity));
    assert_false(
        text_equal(compiled, runtime_name_split(text_make("JS:~f /srv/a.js:1:3")).identity));
}

/* ---- whose files ---- */

static char folder[] = "/tmp/test_jit.XXXXXX";
static char path[64], other_path[64];

static void file_make(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void expect_file(const struct code_file_owner *owner, enum code_file_outcome outcome,
                        const char *why)
{
    char *bytes = NULL;
    size_t n = 0;
    const char *told = "";
    assert_int_equal(code_file_read(path, owner, &bytes, &n, &told), outcome);
    if (outcome == CODE_FILE_READ)
        assert_true(n == 4 && memcmp(bytes, "text", 4) == 0);
    if (outcome == CODE_FILE_REFUSED && strstr(told, why) == NULL)
        fail_msg("told '%s', not '%s'", told, why);
    free(outcome == CODE_FILE_READ ? bytes : NULL);
}

static void test_whose_files(void **state)
{
    (void)state;
    struct stat status;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/map", folder);
    snprintf(other_path, sizeof other_path, "%s/other", folder);
    struct code_file_owner owner = {.uid = geteuid(), .end_realtime_ns = UINT64_MAX};
    expect_file(&owner, CODE_FILE_NONE, "");
    file_make("text");
    expect_file(&owner, CODE_FILE_READ, "");
    assert_int_equal(stat(path, &status), 0);

    owner.start_realtime_ns = (uint64_t)(status.st_mtim.tv_sec + 2) * 1000000000u;
    expect_file(&owner, CODE_FILE_REFUSED, "older");
    owner.start_realtime_ns = 0;
    owner.end_realtime_ns = (uint64_t)(status.st_mtim.tv_sec - 2) * 1000000000u;
    expect_file(&owner, CODE_FILE_REFUSED, "after the program");
    owner.end_realtime_ns = UINT64_MAX;

    assert_int_equal(link(path, other_path), 0);
    expect_file(&owner, CODE_FILE_REFUSED, "another name");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(other_path, path), 0);
    expect_file(&owner, CODE_FILE_REFUSED, "symbolic link");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_file(&owner, CODE_FILE_REFUSED, "regular");
    assert_int_equal(unlink(path), 0);
    if (geteuid() == 0) {
        file_make("text");
        assert_int_equal(chown(path, 12345, 12345), 0);
        expect_file(&owner, CODE_FILE_REFUSED, "another user");
        owner.uid = 12345;
        expect_file(&owner, CODE_FILE_READ, "");
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(unlink(other_path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_map, reset),
        cmocka_unit_test_setup(test_map_later_line_wins, reset),
        cmocka_unit_test_setup(test_map_lines_that_are_none, reset),
        cmocka_unit_test_setup(test_too_many_words, reset),
        cmocka_unit_test_setup(test_dump_times, reset),
        cmocka_unit_test_setup(test_dump_moves, reset),
        cmocka_unit_test_setup(test_dump_lines, reset),
        cmocka_unit_test_setup(test_dump_lines_that_make_no_sense, reset),
        cmocka_unit_test_setup(test_dump_damaged, reset),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_whose_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
