/* test_htdump_corpus.c - files made by others: the dump says what the expected lines say; bad ones
 * are refused, or read as far as they go, as the README beside them proposes. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/htdump/htdump.h"
#include "htdump_fixture.h"
#include "unit.h"

/* ---- JSON lines, compared by content ---- */

#define MAX_MEMBERS 64

struct member {
    const char *key;
    const char *value; /* of a string: " and its decoded bytes; else the number as it stands */
};

struct line {
    struct member members[MAX_MEMBERS];
    size_t n;
    char *texts; /* backing of all of them */
};

static unsigned hex_value(const char *digits)
{
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        char c = digits[i];
        value = value * 16 + (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

/* A lone surrogate \udc80 to \udcff is the byte 80 to ff. */
static char *code_put(char *out, unsigned code)
{
    if (code >= 0xdc80 && code <= 0xdcff) {
        *out++ = (char)(code - 0xdc00);
    } else if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3f));
    } else {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    }
    return out;
}

/* Decodes the string that begins at **in; the NUL-terminated result goes to **out. */
static char *string_take(const char **in, char **out)
{
    static const char names[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    char *start = *out;
    const char *p = *in;
    assert_int_equal(*p++, '"');
    while (*p != '"') {
        assert_true((unsigned char)*p >= 0x20);
        if (*p != '\\') {
            *(*out)++ = *p++;
        } else if (p[1] == 'u') {
            *out = code_put(*out, hex_value(p + 2));
            p += 6;
        } else {
            *(*out)++ = meanings[strchr(names, p[1]) - names];
            p += 2;
        }
    }
    *(*out)++ = '\0';
    *in = p + 1;
    return start;
}

static char *value_take(const char **in, char **out)
{
    char *start = *out;
    if (**in == '"') {
        *(*out)++ = '"';
        string_take(in, out);
        return start;
    }
    size_t length = strcspn(*in, ",} ");
    memcpy(*out, *in, length);
    *out += length;
    *(*out)++ = '\0';
    *in += length;
    return start;
}

static int member_compare(const void *a, const void *b)
{
    return strcmp(((const struct member *)a)->key, ((const struct member *)b)->key);
}

static void expect_text(const char **in, const char *text)
{
    assert_int_equal(strncmp(*in, text, strlen(text)), 0);
    *in += strlen(text);
}

static struct line line_parse(const char *text)
{
    struct line line = {.texts = malloc(2 * strlen(text) + 16)};
    char *out = line.texts;
    const char *in = text;
    assert_non_null(out);
    expect_text(&in, "{\"klass\": ");
    line.members[line.n++] = (struct member){"", value_take(&in, &out)};
    expect_text(&in, ", \"fields\": {");
    while (*in != '}') {
        assert_true(line.n < MAX_MEMBERS);
        struct member *member = &line.members[line.n++];
        member->key = string_take(&in, &out);
        expect_text(&in, ": ");
        member->value = value_take(&in, &out);
        if (*in == ',')
            expect_text(&in, ", ");
    }
    expect_text(&in, "}}");
    assert_int_equal(*in, '\0');
    qsort(line.members, line.n, sizeof line.members[0], member_compare);
    return line;
}

static bool values_are_equal(const char *a, const char *b)
{
    if (strcmp(a, b) == 0)
        return true;
    if (*a == '"' || *b == '"' || (strpbrk(a, ".e") == NULL && strpbrk(b, ".e") == NULL))
        return false;
    double x = strtod(a, NULL), y = strtod(b, NULL);
    return x == y && !signbit(x) == !signbit(y); /* -0 is not 0 */
}

static void lines_compare(const char *path, size_t number, const char *found, const char *expected)
{
    struct line a = line_parse(found), b = line_parse(expected);
    bool ok = a.n == b.n;
    for (size_t i = 0; ok && i < a.n; i++)
        ok = strcmp(a.members[i].key, b.members[i].key) == 0 &&
             values_are_equal(a.members[i].value, b.members[i].value);
    free(a.texts);
    free(b.texts);
    if (!ok)
        fail_msg("%s: line %zu\n  found    %s\n  expected %s", path, number, found, expected);
}

/* Cuts the next line off; NULL at the end. */
static char *line_next(char **rest)
{
    char *line = *rest;
    if (*line == '\0')
        return NULL;
    char *end = strchr(line, '\n');
    assert_non_null(end);
    *end = '\0';
    *rest = end + 1;
    return line;
}

static char *text_of(struct bytes *bytes)
{
    bytes->data = realloc(bytes->data, bytes->n + 1);
    assert_non_null(bytes->data);
    bytes->data[bytes->n] = '\0';
    return (char *)bytes->data;
}

static void dump_compare(const char *path)
{
    struct heard heard;
    struct format_notes notes = notes_into(&heard);
    struct bytes in = file_load(path);
    struct bytes dump = dump_bytes(&in, &notes);
    char expected_path[512];
    snprintf(expected_path, sizeof expected_path, "%.*s.expected.jsonl",
             (int)(strlen(path) - strlen(".htdump")), path);
    struct bytes expected = file_load(expected_path);
    char *found_rest = text_of(&dump), *expected_rest = text_of(&expected);
    for (size_t number = 1;; number++) {
        char *found_line = line_next(&found_rest), *expected_line = line_next(&expected_rest);
        if (found_line == NULL && expected_line == NULL)
            break;
        if (found_line == NULL || expected_line == NULL)
            fail_msg("%s: %s lines than expected from %zu", path,
                     found_line == NULL ? "fewer" : "more", number);
        lines_compare(path, number, found_line, expected_line);
    }
    assert_int_equal(heard.n, 0);
    assert_true(format_htdump.sniff(in.data, in.n < 64 ? in.n : 64) >= 90);
    free(in.data);
    free(dump.data);
    free(expected.data);
}

static unsigned folder_compare(const char *folder)
{
    unsigned n = 0;
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    if (dir == NULL) {
        fail_msg("cannot open %s", folder);
        return 0;
    }
    while ((entry = readdir(dir)) != NULL) {
        const char *extension = strrchr(entry->d_name, '.');
        if (extension == NULL || strcmp(extension, ".htdump") != 0)
            continue;
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        dump_compare(path);
        n++;
    }
    closedir(dir);
    return n;
}

static void dump_equals_expected_lines(void **state)
{
    (void)state;
    assert_int_equal(folder_compare(TEST_DATA_DIR "/htdump/made"), 15);
}

static void dump_equals_expected_lines_of_shared_corpus(void **state)
{
    (void)state;
    char folder[512];
    if (shared_folder() == NULL)
        skip();
    snprintf(folder, sizeof folder, "%s/corpus/hawktracer/made", shared_folder());
    assert_true(folder_compare(folder) > 0);
    snprintf(folder, sizeof folder, "%s/corpus/hawktracer/found", shared_folder());
    assert_true(folder_compare(folder) > 0);
}

/* ---- bad files ---- */

struct bad_file {
    const char *name;
    enum err_code code; /* ERR_NONE: accepted                              */
    uint64_t offset;    /* of the error                                    */
    unsigned n_notes;   /* when accepted                                   */
    unsigned n_calls;   /* spans of the profile, when accepted             */
    const char *says;   /* part of the error or of the last note           */
};

static const struct bad_file bad_files[] = {
    {"big_endian_unannounced", ERR_FORMAT, 0, 0, 0, "unknown class 33554432"},
    {"cyclic_pair", ERR_FORMAT, 2380, 0, 0, "Ping contains itself"},
    {"cyclic_self", ERR_FORMAT, 2174, 0, 0, "Self contains itself"},
    {"data_type_0", ERR_FORMAT, 2132, 0, 0, "data type 0"},
    {"data_type_100", ERR_FORMAT, 2132, 0, 0, "data type 100"},
    {"data_type_7", ERR_FORMAT, 2132, 0, 0, "data type 7"},
    {"duplicate_field_name", ERR_FORMAT, 2176, 0, 0, "second field x in class Twice"},
    {"empty", ERR_FORMAT, 0, 0, 0, "not a HawkTracer stream"},
    {"endianness_2", ERR_FORMAT, 0, 0, 0, "byte order 2"},
    {"endianness_lies", ERR_FORMAT, 21, 0, 0, "unknown class 33554432"},
    {"field_count_too_big", ERR_NONE, 0, 1, 2, "more or fewer fields"},
    {"field_count_too_small", ERR_NONE, 0, 1, 2, "more or fewer fields"},
    {"field_of_unknown_klass", ERR_FORMAT, 2054, 0, 0, "class 50"},
    {"int_size_0", ERR_FORMAT, 2131, 0, 0, "0 bytes"},
    {"int_size_3", ERR_NONE, 0, 1, 2, "fields"},
    {"int_size_huge", ERR_LIMIT, 2131, 0, 0, "18446744073709551615 bytes"},
    {"klass_described_late", ERR_FORMAT, 2054, 0, 0, "unknown class 30"},
    {"klass_redefined", ERR_NONE, 0, 1, 2, "first description holds"},
    {"seed_literal", ERR_FORMAT, 0, 0, 0, "unknown class 1000"},
    {"seed_types", ERR_FORMAT, 209, 0, 0, "unknown class string"},
    {"struct_bomb", ERR_LIMIT, 6335, 0, 0, "nested deeper than 32"},
    {"struct_of_unknown_klass", ERR_FORMAT, 2180, 0, 0, "NoSuchKlass"},
    {"text", ERR_FORMAT, 0, 0, 0, "not a HawkTracer stream"},
    {"truncated_header", ERR_NONE, 0, 1, 1, "offset 2054"},
    {"truncated_metadata", ERR_TRUNCATED, 687, 0, 0, "13 of 20 bytes"},
    {"truncated_number", ERR_NONE, 0, 1, 1, "offset 2054"},
    {"unknown_klass", ERR_FORMAT, 2054, 0, 0, "unknown class 77"},
    {"unterminated_string", ERR_NONE, 0, 1, 1, "offset 2054"},
    {"writer_late_klass", ERR_FORMAT, 2055, 0, 0, "unknown class 9"},
    {"writer_nested_struct", ERR_FORMAT, 2505, 0, 0, "unknown class 1711276032"},
    {"writer_null_string", ERR_FORMAT, 2286, 0, 0, "unknown class 635437056"},
};

static void outcome_check(const struct bad_file *file, bool ok, const struct err *err,
                          const struct heard *heard)
{
    const char *said = ok ? heard->last : err->text;
    if (ok != (file->code == ERR_NONE) || err->code != file->code ||
        (!ok && err->offset != file->offset) || strstr(said, file->says) == NULL)
        fail_msg("%s: code %d, offset %llu, %s", file->name, (int)err->code,
                 (unsigned long long)err->offset, said);
}

static void bad_file_check(const struct bad_file *file)
{
    const struct format_options options = {0};
    const struct format_options strict = {.strict = true};
    struct heard heard;
    struct format_notes notes = notes_into(&heard);
    struct err err = ERR_INIT, dump_err = ERR_INIT, strict_err = ERR_INIT;
    struct profile *profile = NULL;
    struct sink *sink;
    char path[512];
    snprintf(path, sizeof path, "%s/htdump/bad/%s.htdump", TEST_DATA_DIR, file->name);
    struct bytes in = file_load(path);
    bool ok = format_htdump.read(in.data, in.n, &options, &notes, &profile, &err);
    outcome_check(file, ok, &err, &heard);
    if (ok) {
        assert_int_equal(heard.n, file->n_notes);
        assert_int_equal(profile->n_spans - 1, file->n_calls);
    } else {
        assert_null(profile); /* outputs are written on success only */
    }
    profile_destroy(profile);

    assert_true(sink_create_buffer(&sink, &dump_err));
    assert_int_equal(format_htdump.dump(in.data, in.n, &notes, sink, &dump_err), ok);
    assert_int_equal(dump_err.code, err.code);
    sink_abandon(sink);

    profile = NULL;
    bool is_cut = ok && strstr(file->says, "offset") != NULL;
    assert_int_equal(format_htdump.read(in.data, in.n, &strict, &notes, &profile, &strict_err),
                     ok && !is_cut);
    if (is_cut)
        assert_int_equal(strict_err.code, ERR_TRUNCATED);
    profile_destroy(profile);
    free(in.data);
}

static void bad_files_get_what_they_should(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ELEMENTS(bad_files); i++)
        bad_file_check(&bad_files[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dump_equals_expected_lines),
        cmocka_unit_test(dump_equals_expected_lines_of_shared_corpus),
        cmocka_unit_test(bad_files_get_what_they_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
