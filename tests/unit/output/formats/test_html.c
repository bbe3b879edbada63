/* test_html.c - the page of the html format as a file: base64, the profile in it, damage. What it keeps
 * of a profile is held to by test_formats.c, what it shows by tests/e2e/tools/test_html.py. */
#include <stdlib.h>
#include <string.h>

#include "alloc_fault.h"
#include "format_help.h"
#include "formats/html/html.h"
#include "formats/html/page.h"
#include "formats/sprofile/sprofile.h"
#include "profile_help.h"
#include "text/base64.h"
#include "unit.h"

/* ---- base64 ---- */

static struct bytes encoded(const void *data, size_t n)
{
    struct err err = ERR_INIT;
    struct sink *sink = NULL;
    assert_true(sink_create_buffer(&sink, &err));
    base64_write(sink, data, n);
    struct bytes out;
    const void *text = sink_buffer(sink, &out.n);
    out.bytes = malloc(out.n + 1);
    memcpy(out.bytes, text, out.n);
    sink_abandon(sink);
    return out;
}

static void bytes_come_back(void **state)
{
    (void)state;
    /* From RFC 4648, section 10. */
    static const char *const known[][2] = {{"f", "Zg==\n"},         {"fo", "Zm8=\n"},
                                           {"foo", "Zm9v\n"},       {"foob", "Zm9vYg==\n"},
                                           {"fooba", "Zm9vYmE=\n"}, {"foobar", "Zm9vYmFy\n"}};
    for (size_t i = 0; i < N_ELEMENTS(known); i++) {
        struct bytes text = encoded(known[i][0], strlen(known[i][0]));
        assert_int_equal(text.n, strlen(known[i][1]));
        assert_memory_equal(text.bytes, known[i][1], text.n);
        free(text.bytes);
    }
    uint8_t data[7000], back[BASE64_BYTES_MOST(10000)];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 197 + i / 256);
    for (size_t n = 0; n <= sizeof data; n += n < 10 || (n > 3068 && n < 3078) ? 1 : 9) {
        struct err err = ERR_INIT;
        size_t n_back;
        struct bytes text = encoded(data, n);
        assert_true(base64_read((const char *)text.bytes, text.n, back, &n_back, &err));
        assert_int_equal(n_back, n);
        assert_memory_equal(back, data, n);
        free(text.bytes);
    }
}

static void what_is_no_base64(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t offset;
    } wrong[] = {{"Zm9*", 3}, {"-m9v", 0}, {"Zg==Zg==", 4}, {"Z\xc3\xa9==", 1}, {"Zg=\nA", 4}};
    uint8_t out[32];
    size_t n;
    for (size_t i = 0; i < N_ELEMENTS(wrong); i++) {
        struct err err = ERR_INIT;
        assert_false(base64_read(wrong[i].text, strlen(wrong[i].text), out, &n, &err));
        assert_int_equal(err.code, ERR_FORMAT);
        assert_int_equal(err.offset, wrong[i].offset);
    }
    struct err err = ERR_INIT;
    assert_true(base64_read(" Z\tm9v\r\nYg ", 11, out, &n, &err)); /* padding may be missing */
    assert_int_equal(n, 4);
    assert_memory_equal(out, "foob", 4);
}

/* ---- the page ---- */

static struct profile *profile_make(void)
{
    struct profile_builder *builder = builder_make(PROFILE_UNIT_NS, 1000);
    sample_add(builder, thread_add(builder, "app", 10, "worker", 11), "</script><!--", 5, 1000);
    return builder_finish(builder);
}

/* A name in a profile can end no element: what holds the profile has letters only. */
static void nothing_of_it_is_markup(void **state)
{
    (void)state;
    struct profile *profile = profile_make();
    struct bytes page = profile_write(&format_html, profile, NULL, NULL);
    struct text before = html_page_before(), after = html_page_after();
    size_t begin_length = strlen(HTML_PROFILE_BEGIN);
    assert_memory_equal(page.bytes, before.bytes, before.length);
    assert_memory_equal(page.bytes + page.n - after.length, after.bytes, after.length);
    assert_memory_equal(before.bytes + before.length - begin_length, HTML_PROFILE_BEGIN,
                        begin_length);
    assert_memory_equal(after.bytes, HTML_PROFILE_END, strlen(HTML_PROFILE_END));
    for (size_t i = before.length; i < page.n - after.length; i++)
        assert_non_null(strchr(
            "\nABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=", page.bytes[i]));
    assert_int_equal(format_html.sniff((const uint8_t *)page.bytes, 512), 100);
    assert_true(before.length + after.length < 400000);
    free(page.bytes);
    profile_destroy(profile);
}

static void other_pages_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } pages[] = {
        {"<!doctype html><p>", "a page that Sampler wrote expected"},
        {HTML_PROFILE_BEGIN "U1BST0ZJTEU?" HTML_PROFILE_END, "base64 expected"},
        {HTML_PROFILE_BEGIN, "SPROFILE"},
        {HTML_PROFILE_BEGIN "AAAA" HTML_PROFILE_END, "SPROFILE"},
    };
    for (size_t i = 0; i < N_ELEMENTS(pages); i++) {
        struct bytes page = {(char *)(uintptr_t)pages[i].text, strlen(pages[i].text)};
        struct err err = ERR_INIT, dump_err = ERR_INIT;
        struct profile *profile = NULL;
        assert_false(bytes_try_read(&format_html, page, false, NULL, &profile, &err));
        assert_non_null(strstr(err.text, pages[i].says));
        assert_false(bytes_try_dump(&format_html, page, NULL, &dump_err));
        assert_string_equal(dump_err.text, err.text);
    }
    struct err err = ERR_INIT;
    struct bytes page = {(char *)(uintptr_t)pages[1].text, strlen(pages[1].text)};
    struct profile *profile = NULL;
    assert_false(bytes_try_read(&format_html, page, false, NULL, &profile, &err));
    assert_int_equal(err.offset, strlen(HTML_PROFILE_BEGIN) + 11);
}

static bool write_and_read(const struct profile *profile, struct bytes page, struct err *err)
{
    struct sink *sink = NULL;
    struct profile *back = NULL;
    bool ok = sink_create_buffer(&sink, err) && format_html.write(profile, NULL, NULL, sink, err) &&
              !sink_failed(sink);
    ok = ok && bytes_try_read(&format_html, page, true, NULL, &back, err);
    profile_destroy(back);
    sink_abandon(sink);
    return ok;
}

static void no_memory_is_told(void **state)
{
    (void)state;
    struct profile *profile = profile_make();
    struct bytes page = profile_write(&format_html, profile, NULL, NULL);
    unsigned n_failed = 0;
    bool fired = true;
    for (unsigned n = 1; fired; n++) {
        struct err err = ERR_INIT;
        alloc_fault_arm(n);
        bool ok = write_and_read(profile, page, &err);
        fired = alloc_fault_fired();
        assert_true(ok || fired);
        n_failed += !ok;
    }
    assert_true(n_failed > 20);
    free(page.bytes);
    profile_destroy(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_back),         cmocka_unit_test(what_is_no_base64),
        cmocka_unit_test(nothing_of_it_is_markup), cmocka_unit_test(other_pages_are_told),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
