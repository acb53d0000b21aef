// Reading JSON: values, places of faults, and that what was read is written
// again as it was.
#include "base/base.h"

#include "model/json_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static Arena arena;

static int open_arena(void **state) {
    (void)state;
    arena_init(&arena);
    return 0;
}

static int close_arena(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

static const JsonVal *must_read(const char *text) {
    const JsonVal *v = NULL;
    Err err;
    if (!json_read(&v, &arena, str_of(text), "t.json", &err)) fail_msg("%s", err.text);
    return v;
}

static void values(void **state) {
    (void)state;
    const JsonVal *v = must_read("{\"a\": [1, -2, 0.5, \"x\\u0000y\", true, null],"
                                 " \"big\": 18446744073709551615, \"a\": 3}");
    const JsonVal *a = json_member(v, "a");
    assert_int_equal(json_count(v), 3);
    assert_int_equal(json_count(a), 6);
    assert_int_equal(json_int(json_at(a, 0), 9), 1);
    assert_int_equal(json_int(json_at(a, 1), 9), -2);
    assert_int_equal(json_int(json_at(a, 2), 9), 9);
    assert_true(json_number(json_at(a, 2), 9) == 0.5);
    assert_true(str_eq(json_text(json_at(a, 3)), (Str){"x\0y", 3}));
    assert_true(json_truth(json_at(a, 4), false));
    assert_true(json_is_null(json_at(a, 5)));
    assert_int_equal(json_int(json_member(v, "big"), -1), -1);
    assert_null(json_at(a, 6));
    assert_null(json_member(a, "a"));
    assert_null(json_member(NULL, "a"));
    assert_int_equal(json_text(NULL).len, 0);
}

static void members_in_order(void **state) {
    (void)state;
    const JsonVal *v = must_read("{\"b\": 1, \"a\": {\"c\": [2]}, \"d\": []}");
    const char *keys[] = {"b", "a", "d"};
    uint32_t n = 0;
    for (JsonIter it = json_first(v); it.value; json_next(&it)) {
        assert_true(str_is(it.key, keys[n++]));
    }
    assert_int_equal(n, 3);
    assert_null(json_first(json_member(v, "d")).value);
}

static void faults(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "'t.json':1:1: not valid JSON: the file is empty"},
        {"{\n  \"a\": 1,\n", "'t.json':3:1: not valid JSON: "},
        {"{\"a\": nan}", "'t.json':1:7: not valid JSON: "},
        {"[1] x", "'t.json':1:5: not valid JSON: "},
        {"[\"\xff\"]", "'t.json':1:3: not valid JSON: "},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const JsonVal *v;
        Err err = {""};
        assert_false(json_read(&v, &arena, str_of(rows[i].text), "t.json", &err));
        if (!str_starts(str_of(err.text), rows[i].message)) {
            fail_msg("row %zu: %s", i, err.text);
        }
    }
}

static void too_deep(void **state) {
    (void)state;
    Buf text = {0};
    for (int i = 0; i < 100000; i++) buf_add_char(&text, '[');
    const JsonVal *v;
    Err err;
    assert_false(json_read(&v, &arena, buf_str(&text), "t.json", &err));
    assert_string_equal(err.text, "'t.json': nested deeper than 64 levels");
    buf_free(&text);
}

// Brackets in a string are none, and a quote behind a slash ends no string.
static void depth_of_strings(void **state) {
    (void)state;
    const struct {
        const char *begin, *end;
        bool ok;
    } rows[] = {
        {"[\"", "\"]", true},              {"[\"\\\"", "\"]", true},
        {"[\"\\\\\", \"", "\"]", true},    {"[\"\\\\\\\"", "\\\\\"]", true},
        {"[\"\\\\\", ", "\"\"]", false},    {"[\"\", ", "]", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        Buf text = {0};
        buf_addf(&text, "%s", rows[i].begin);
        for (int k = 0; k < 100; k++) buf_add_char(&text, '[');
        buf_addf(&text, "%s", rows[i].end);
        const JsonVal *v;
        Err err;
        assert_true(json_read(&v, &arena, buf_str(&text), "t.json", &err) == rows[i].ok);
        if (!rows[i].ok) {
            assert_string_equal(err.text, "'t.json': nested deeper than 64 levels");
        }
        buf_free(&text);
    }
}

static void copies(void **state) {
    (void)state;
    const char *text = "{\n  \"a\": [\n    1,\n    -7,\n    0.25,\n    \"\\u003c\"\n  ],\n"
                       "  \"b\": {},\n  \"c\": null,\n  \"d\": false\n}\n";
    Buf out = {0};
    Json json;
    json_init(&json, &out);
    json_copy(&json, must_read(text));
    assert_string_equal(out.at, text);
    buf_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),   cmocka_unit_test(members_in_order),
        cmocka_unit_test(faults),   cmocka_unit_test(too_deep),
        cmocka_unit_test(depth_of_strings),
        cmocka_unit_test(copies),
    };
    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
