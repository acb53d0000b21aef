// test_json.c - the JSON writer, UTF-8 reading and Markdown escaping.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "model/json.h"
#include "model/utf8.h"
#include "report/md.h"
#include "report/sentences.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void check_text(const char *from, size_t len, const char *expected) {
    Buf buf = {0};
    Json json;
    json_init(&json, &buf);
    json_str(&json, (Str){from, len});
    assert_string_equal(buf.at, expected);
    buf_free(&buf);
}

static void test_escapes(void **state) {
    (void)state;
    check_text("", 0, "\"\"");
    check_text("a\"b\\c\n\t\r", 8, "\"a\\\"b\\\\c\\n\\t\\r\"");
    check_text("\0\x1f\x7f", 3, "\"\\u0000\\u001f\\u007f\"");
    check_text("</script>", 9, "\"\\u003c/script>\"");
    check_text("\xE2\x80\xA8\xE2\x80\xA9", 6, "\"\\u2028\\u2029\"");
    check_text("\xE2\x80\xAE", 3, "\"\\u202e\"");
    check_text("中文", 6, "\"中文\"");
    check_text("\xF0\x9F\x98\x80", 4, "\"\xF0\x9F\x98\x80\"");
    check_text("\xF3\xA0\x80\x81", 4, "\"\\udb40\\udc01\"");
}

#define BAD "\xEF\xBF\xBD"

static void test_invalid_utf8(void **state) {
    (void)state;
    check_text("a\xFFz", 3, "\"a" BAD "z\"");
    check_text("\xC3", 1, "\"" BAD "\"");
    check_text("\xC3(", 2, "\"" BAD "(\"");
    check_text("\xC0\x80", 2, "\"" BAD BAD "\"");         // overlong
    check_text("\xE0\x80\x80", 3, "\"" BAD BAD BAD "\""); // overlong
    check_text("\xED\xA0\x80", 3, "\"" BAD BAD BAD "\""); // surrogate
    check_text("\xF4\x90\x80\x80", 4, "\"" BAD BAD BAD BAD "\"");
    check_text(BAD "x", 4, "\"" BAD "x\"");
}

static void test_layout(void **state) {
    (void)state;
    Buf buf = {0};
    Json json;
    json_init(&json, &buf);
    json_object(&json, JSON_BLOCK);
    json_key(&json, "a");
    json_array(&json, JSON_BLOCK);
    json_end(&json);
    json_key(&json, "b");
    json_object(&json, JSON_LINE);
    json_key(&json, "c");
    json_array(&json, JSON_BLOCK);
    json_uint(&json, 1);
    json_bool(&json, true);
    json_end(&json);
    json_key(&json, "d");
    json_null(&json);
    json_end(&json);
    json_key(&json, "e");
    json_array(&json, JSON_BLOCK);
    json_uint(&json, UINT64_MAX);
    json_end(&json);
    json_end(&json);
    assert_string_equal(buf.at, "{\n"
                                "  \"a\": [],\n"
                                "  \"b\": {\"c\": [1, true], \"d\": null},\n"
                                "  \"e\": [\n"
                                "    18446744073709551615\n"
                                "  ]\n"
                                "}\n");
    buf_free(&buf);
}

static void test_doubles(void **state) {
    (void)state;
    static const struct {
        double number;
        const char *text;
    } rows[] = {
        {0.1, "0.1"},       {1e-6, "1e-06"},    {1.0 / 3, "0.3333333333333333"},
        {NAN, "null"},      {INFINITY, "null"}, {-INFINITY, "null"},
        {123456789, "123456789"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        Buf buf = {0};
        Json json;
        json_init(&json, &buf);
        json_double(&json, rows[i].number);
        assert_string_equal(buf.at, rows[i].text);
        buf_free(&buf);
    }
}

static void check_md(void (*write)(Buf *, MdPlace, Str), MdPlace place,
                     const char *text, const char *expected) {
    Buf buf = {0};
    write(&buf, place, str_of(text));
    assert_string_equal(buf.at ? buf.at : "", expected);
    buf_free(&buf);
}

// The shortest text that reads back as the number, from the slow way: every
// precision from six digits on.
static void check_shortest(double number) {
    char expected[40];
    Buf buf = {0};
    Json json;
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(expected, sizeof(expected), "%.*g", digits, number);
        if (strtod(expected, NULL) == number) break;
    }
    json_init(&json, &buf);
    json_double(&json, number);
    assert_string_equal(buf.at, expected);
    buf_free(&buf);
}

// Decimals and others, from 1e-4 to 1e6, both signs.
static void test_short_doubles(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double units = (double)(random >> 34), power = pow(10, (double)(random % 7) + 4);
        check_shortest(units / power);
        check_shortest(-units / power / 3);
        check_shortest(nextafter(units / power, 0));
    }
    check_shortest(1e-4);
    check_shortest(nextafter(1e-4, 0));
    check_shortest(999999.5);
    check_shortest(999999.9999999999);
}

static void test_integers(void **state) {
    (void)state;
    Buf buf = {0};
    Json json;
    json_init(&json, &buf);
    json_array(&json, JSON_LINE);
    json_int_write(&json, INT64_MIN);
    json_int_write(&json, INT64_MAX);
    json_int_write(&json, 0);
    json_int_write(&json, -1);
    json_uint(&json, UINT64_MAX);
    json_end(&json);
    assert_string_equal(buf.at, "[-9223372036854775808, 9223372036854775807, 0, -1, "
                        "18446744073709551615]\n");
    buf_free(&buf);
}

static void test_markdown_prose(void **state) {
    (void)state;
    check_md(md_text, MD_LINE, "x_y of _z_ * 2 < 3", "x_y of \\_z\\_ * 2 < 3");
    check_md(md_text, MD_LINE, "<b>&amp; *x*", "\\<b>\\&amp; \\*x\\*");
    check_md(md_text, MD_LINE, "# [a]: b", "\\# [a\\]: b");
    check_md(md_text, MD_LINE, "[x] y", "\\[x] y");
    check_md(md_text, MD_CELL, "a|b\nc", "a\\|b c");
    check_md(md_text, MD_CELL, "`a` and `b", "`a` and \\`b");
    check_md(md_text, MD_CELL, "`a|b`", "<code>a&#124;b</code>");
    check_md(md_text, MD_LINE, " 1. a", "1\\. a");
    check_md(md_text, MD_LINE, "1.5 of 2", "1.5 of 2");
    check_md(md_text, MD_LINE, "``", "\\`\\`");
    check_md(md_text, MD_LINE, "\x1b[31m", "\\u001b[31m");
}

static void test_markdown_code(void **state) {
    (void)state;
    check_md(md_code, MD_LINE, "a|b", "`a|b`");
    check_md(md_code, MD_LINE, "a`b", "``a`b``");
    check_md(md_code, MD_LINE, "`a``b`", "``` `a``b` ```");
    check_md(md_code, MD_LINE, "  ", "");
    check_md(md_code, MD_LINE, "a\r\nb", "`a b`");
    check_md(md_code, MD_CELL, "</code>|", "<code>&#60;&#47;code&#62;&#124;"
                                           "</code>");
}

static void test_markdown_fence(void **state) {
    (void)state;
    Buf buf = {0};
    md_fence(&buf, "python", STR("x = 1\r\n````\n\n\n"));
    assert_string_equal(buf.at, "`````python\nx = 1\n````\n`````\n");
    buf_free(&buf);
}

static void test_columns(void **state) {
    (void)state;
    assert_int_equal(utf8_columns(STR("abc")), 3);
    assert_int_equal(utf8_columns(STR("推荐")), 4);
    assert_int_equal(utf8_columns(STR("e\xCC\x81")), 1);
}

static void test_sentences(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    Str known = STR("the form is proven; every requirement is settled");
    Str strange = STR("a sentence nobody has translated");
    assert_true(str_eq(sentence(&arena, LANG_EN, known), known));
    assert_true(str_is(sentence(&arena, LANG_ZH, known),
                       "形式已证实，各项要求均已确认"));
    assert_true(str_eq(sentence(&arena, LANG_ZH, strange), strange));
    // A hole, a sentence in a hole, and two sentences with a colon.
    assert_true(str_is(sentence(&arena, LANG_ZH,
                                STR("the input has at most 8 dimensions")),
                       "输入至多 8 维"));
    assert_true(str_is(sentence(&arena, LANG_ZH,
                                STR("unproven: the input is not empty (x: y)")),
                       "未能证实：输入非空（x: y）"));
    assert_true(str_is(sentence(&arena, LANG_ZH,
                                STR("the input is contiguous: made without "
                                    "gaps")),
                       "输入在内存中连续：生成时即连续"));
    assert_true(str_is(sentence(&arena, LANG_ZH,
                                STR("the input is contiguous: a: b")),
                       "输入在内存中连续：a: b"));
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_invalid_utf8),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_short_doubles),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_markdown_prose),
        cmocka_unit_test(test_markdown_code),
        cmocka_unit_test(test_markdown_fence),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
