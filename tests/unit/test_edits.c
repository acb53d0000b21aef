// test_edits.c - candidates in a file: bytes, places, hunks, refusals, diffs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "patch/diff.h"
#include "patch/edits.h"

typedef struct Fixture {
    Arena arena;
    Err err;
    Edits edits;
} Fixture;

static int open_fixture(void **state) {
    static Fixture fixture;
    fixture = (Fixture){0};
    arena_init(&fixture.arena);
    *state = &fixture;
    return 0;
}

static int close_fixture(void **state) {
    Fixture *fixture = *state;
    arena_free(&fixture->arena);
    return 0;
}

static Finding edit(const char *id, uint32_t from, uint32_t to, const char *original,
                    const char *replacement) {
    return (Finding){.id = str_of(id), .file = STR("m.py"), .start_line = from, .end_line = to,
                     .original = str_of(original), .replacement = str_of(replacement)};
}

static void insert(Fixture *x, Finding *f, uint32_t line, uint32_t order, const char *text) {
    Insert piece = {line, order, str_of(text)};
    vec_push(&x->arena, &f->inserts, piece);
}

static bool render(Fixture *x, const char *pristine, const Finding *const *at, uint32_t len) {
    return edits_render(&x->edits, &x->arena, str_of(pristine), (EditList){at, len}, &x->err);
}

static void expect(Fixture *x, const char *pristine, const Finding *f, const char *text) {
    if (!render(x, pristine, &f, 1)) fail_msg("%s", x->err.text);
    assert_string_equal(x->edits.text.at, text);
    assert_int_equal(x->edits.text.len, strlen(text));
}

static void expect_refusal(Fixture *x, const char *pristine, const Finding *f,
                           const char *message) {
    assert_false(render(x, pristine, &f, 1));
    assert_string_equal(x->err.text, message);
}

static void test_nothing(void **state) {
    Fixture *x = *state;
    assert_true(render(x, "a\r\n\xEF\xBB\xBF b", NULL, 0));
    assert_string_equal(x->edits.text.at, "a\r\n\xEF\xBB\xBF b");
}

static void test_crlf_and_tabs(void **state) {
    Fixture *x = *state;
    Finding f = edit("a", 2, 2, "\ty = 1\r\n", "\tif z:\r\n\t\ty = 2\r\n");
    insert(x, &f, 1, 0, "import os\r\n");
    expect(x, "def f():\r\n\ty = 1\r\n\treturn y  # \xC3\xA9\r\n", &f,
           "import os\r\ndef f():\r\n\tif z:\r\n\t\ty = 2\r\n\treturn y  # \xC3\xA9\r\n");
    assert_int_equal(x->edits.places[0].start_line, 3);
    assert_int_equal(x->edits.places[0].end_line, 4);
}

static void test_mark_stays_first(void **state) {
    Fixture *x = *state;
    Finding f = edit("a", 1, 1, "y = 1\n", "y = 2\n");
    insert(x, &f, 1, 0, "import os\n");
    expect(x, "\xEF\xBB\xBFy = 1\n", &f, "\xEF\xBB\xBFimport os\ny = 2\n");
}

static void test_carriage_returns(void **state) {
    Fixture *x = *state;
    Finding f = edit("a", 2, 2, "y = 1\r", "y = 2\r");
    insert(x, &f, 2, 0, "import os\r");
    expect(x, "x = 0\ry = 1\rz = 2\r", &f, "x = 0\rimport os\ry = 2\rz = 2\r");
    assert_int_equal(x->edits.places[0].start_line, 3);
}

static void test_no_last_line_end(void **state) {
    Fixture *x = *state;
    Finding f = edit("a", 2, 2, "y = 1", "y = 2\nz = 3");
    expect(x, "x = 0\ny = 1", &f, "x = 0\ny = 2\nz = 3");
    assert_int_equal(x->edits.places[0].end_line, 3);
    f = edit("a", 1, 1, "x = 0\n", "x = 1\n");
    insert(x, &f, 3, 0, "import os\n");
    expect(x, "x = 0\ny = 1", &f, "x = 1\ny = 1\nimport os\n");
}

// Pieces of three candidates: sorted, equal ones once, whatever the order.
static void test_pieces_merge(void **state) {
    Fixture *x = *state;
    const char *pristine = "import torch\na = 1\nb = 1\nc = 1\n";
    Finding f[3] = {edit("a", 2, 2, "a = 1\n", "a = 2\n"), edit("b", 3, 3, "b = 1\n", "b = 2\n"),
                    edit("c", 4, 4, "c = 1\n", "c = 2\n")};
    for (int i = 0; i < 3; i++) {
        insert(x, &f[i], 2, 3, "def g\n");
        insert(x, &f[i], 2, 0, "import os\n");
    }
    insert(x, &f[0], 2, 2, "B\n");
    insert(x, &f[2], 2, 2, "A\n");
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int i = 0; i < 6; i++) {
        const Finding *list[3] = {&f[orders[i][0]], &f[orders[i][1]], &f[orders[i][2]]};
        assert_true(render(x, pristine, list, 3));
        assert_string_equal(x->edits.text.at, "import torch\nimport os\nA\nB\ndef g\n"
                                              "a = 2\nb = 2\nc = 2\n");
        for (int k = 0; k < 3; k++) {
            assert_int_equal(x->edits.places[k].start_line, 6 + orders[i][k]);
        }
    }
    const Finding *one[1] = {&f[1]};
    assert_true(render(x, pristine, one, 1));
    assert_string_equal(x->edits.text.at,
                        "import torch\nimport os\ndef g\na = 1\nb = 2\nc = 1\n");
}

static void test_hunks(void **state) {
    Fixture *x = *state;
    Finding f = edit("a", 3, 4, "c\nd\n", "C\nX\nD\n");
    insert(x, &f, 2, 0, "i\n");
    expect(x, "a\nb\nc\nd\ne\n", &f, "a\ni\nb\nC\nX\nD\ne\n");
    assert_int_equal(x->edits.change_count, 2);
    const Hunk *h = x->edits.hunks;
    assert_int_equal(h[0].old_line, 2);
    assert_int_equal(h[0].new_line, 2);
    assert_int_equal(h[0].old_code.len, 0);
    assert_true(str_is(h[0].new_code, "i\n"));
    assert_int_equal(h[1].old_line, 3);
    assert_int_equal(h[1].new_line, 4);
    assert_true(str_is(h[1].old_code, "c\nd\n"));
    assert_true(str_is(h[1].new_code, "C\nX\nD\n"));
}

static void test_overlaps(void **state) {
    Fixture *x = *state;
    Finding outer = edit("o", 1, 3, "a\nb\nc\n", "A\n");
    Finding nested = edit("n", 2, 2, "b\n", "B\n"), equal = edit("e", 1, 3, "a\nb\nc\n", "B\n");
    const Finding *list[] = {&nested, &outer};
    assert_false(render(x, "a\nb\nc\n", list, 2));
    assert_string_equal(x->err.text, "'m.py': lines 1-3 ('o') and 2-2 ('n') overlap; "
                                     "apply one of the two");
    const Finding *same[] = {&outer, &equal};
    assert_false(render(x, "a\nb\nc\n", same, 2));
    assert_string_equal(x->err.text, "'m.py': lines 1-3 ('e') and 1-3 ('o') overlap; "
                                     "apply one of the two");
    insert(x, &outer, 2, 0, "i\n");
    expect_refusal(x, "a\nb\nc\n", &outer,
                   "'m.py': an addition would stand inside replaced lines; scan again");
}

static void test_stale_lines(void **state) {
    Fixture *x = *state;
    const char *stale = "'m.py' line 1: the lines are not those of the candidate; scan again";
    Finding f = edit("a", 1, 1, "a\n", "b\n");
    expect_refusal(x, "A\n", &f, stale);
    expect_refusal(x, "", &f, stale);
    f.end_line = 4000000000u;
    expect_refusal(x, "a\n", &f, stale);
    f = edit("a", 1, 1, "a\n", "");
    expect_refusal(x, "a\n", &f, "'m.py' line 1: the candidate has no replacement");
    f = edit("a", 1, 1, "a\n", "b\n");
    insert(x, &f, 3, 0, "i\n");
    expect_refusal(x, "a\n", &f, "'m.py' line 1: an addition outside of the file; scan again");
}

static void test_encodings(void **state) {
    Fixture *x = *state;
    Finding f = edit("a", 2, 2, "y = 1\n", "y = 2\n");
    const char *latin = "# coding: latin-1\ny = 1\nz = '\xE9'\n";
    expect(x, latin, &f, "# coding: latin-1\ny = 2\nz = '\xE9'\n");
    Finding beyond = edit("a", 2, 2, "y = 1\n", "y = '\xC3\xA9'\n");
    const char *refusal = "'m.py' line 2: the file is not UTF-8, and the edit has characters "
                          "beyond ASCII; save the file as UTF-8, then scan again";
    expect_refusal(x, latin, &beyond, refusal);
    expect_refusal(x, "# coding: ascii\ny = 1\n", &beyond, refusal);
    expect(x, "# coding: utf-8\ny = 1\n", &beyond, "# coding: utf-8\ny = '\xC3\xA9'\n");
    // In UTF-7 a plus sign is none.
    Finding plus = edit("a", 2, 2, "y = 1\n", "y = 1 +2\n");
    assert_false(render(x, "# coding: utf-7\ny = 1\n", (const Finding *[]){&plus}, 1));
}

static void check_diff(Fixture *x, const char *pristine, const Finding *f, const char *wanted) {
    Edits before;
    assert_true(edits_render(&before, &x->arena, str_of(pristine), (EditList){0}, &x->err));
    if (!render(x, pristine, &f, 1)) fail_msg("%s", x->err.text);
    Buf out = {0};
    diff_write(&out, STR("pkg/m.py"), &before, &x->edits);
    assert_string_equal(out.at, wanted);
    buf_free(&out);
}

static void test_diff(void **state) {
    Fixture *x = *state;
    Finding f = edit("a", 6, 6, "6\n", "6\nsix\n");
    insert(x, &f, 1, 0, "i\n");
    check_diff(x, "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", &f,
               "--- a/pkg/m.py\n+++ b/pkg/m.py\n@@ -1,9 +1,11 @@\n+i\n 1\n 2\n 3\n 4\n 5\n 6\n"
               "+six\n 7\n 8\n 9\n");
    f = edit("a", 9, 9, "9\n", "nine\n");
    insert(x, &f, 1, 0, "i\n");
    check_diff(x, "1\n2\n3\n4\n5\n6\n7\n8\n9\n10", &f,
               "--- a/pkg/m.py\n+++ b/pkg/m.py\n@@ -1,3 +1,4 @@\n+i\n 1\n 2\n 3\n"
               "@@ -6,5 +7,5 @@\n 6\n 7\n 8\n-9\n+nine\n 10\n\\ No newline at end of file\n");
}

static void test_diff_at_the_end(void **state) {
    Fixture *x = *state;
    Finding f = edit("a", 1, 1, "1", "one");
    check_diff(x, "1", &f, "--- a/pkg/m.py\n+++ b/pkg/m.py\n@@ -1 +1 @@\n-1\n"
                           "\\ No newline at end of file\n+one\n\\ No newline at end of file\n");
    f = edit("a", 1, 1, "1\n", "one\n");
    insert(x, &f, 3, 0, "i\n");
    check_diff(x, "1\n2", &f, "--- a/pkg/m.py\n+++ b/pkg/m.py\n@@ -1,2 +1,3 @@\n-1\n+one\n-2\n"
                              "\\ No newline at end of file\n+2\n+i\n");
}

// One candidate more in a file that has one: only what is new is shown.
static void test_diff_of_two_sets(void **state) {
    Fixture *x = *state;
    Finding a = edit("a", 2, 2, "a\n", "A\n"), b = edit("b", 4, 4, "b\n", "B\n");
    insert(x, &a, 1, 0, "import os\n");
    insert(x, &a, 1, 2, "X\n");
    insert(x, &b, 1, 0, "import os\n");
    insert(x, &b, 1, 2, "Y\n");
    const Finding *list[] = {&a, &b};
    const char *pristine = "0\na\n1\nb\n";
    Edits before;
    assert_true(edits_render(&before, &x->arena, str_of(pristine), (EditList){list, 1}, &x->err));
    assert_true(render(x, pristine, list, 2));
    Buf out = {0};
    diff_write(&out, STR("a b\".py"), &before, &x->edits);
    assert_string_equal(out.at, "--- \"a/a b\\\".py\"\n+++ \"b/a b\\\".py\"\n@@ -1,6 +1,7 @@\n"
                                " import os\n X\n+Y\n 0\n A\n 1\n-b\n+B\n");
    buf_clear(&out);
    diff_write(&out, STR("a b.py"), &x->edits, &before);
    assert_string_equal(out.at, "--- a/a b.py\t\n+++ b/a b.py\t\n@@ -1,7 +1,6 @@\n"
                                " import os\n X\n-Y\n 0\n A\n 1\n-B\n+b\n");
    buf_free(&out);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        TEST(test_nothing), TEST(test_crlf_and_tabs), TEST(test_mark_stays_first),
        TEST(test_carriage_returns), TEST(test_no_last_line_end), TEST(test_pieces_merge),
        TEST(test_hunks), TEST(test_overlaps), TEST(test_stale_lines), TEST(test_encodings),
        TEST(test_diff), TEST(test_diff_at_the_end), TEST(test_diff_of_two_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
