// Strings, the arena, the buffer and the interner.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

#include "base/arena.h"
#include "base/aside.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/sym.h"

#include <stdio.h>

static void test_str(void **state) {
    (void)state;
    Str s = STR("abc.py");
    assert_int_equal(s.len, 6);
    assert_true(str_is(s, "abc.py"));
    assert_true(str_starts(s, "abc") && !str_starts(s, "abd"));
    assert_true(str_starts(s, "") && !str_starts(s, "abc.py2"));
    assert_true(str_ends(s, ".py") && !str_ends(s, ".pyc"));
    assert_false(str_ends(s, "xabc.py"));
    assert_int_equal(str_of(NULL).len, 0);
    assert_true(str_eq(str_of(NULL), STR("")));
    assert_false(str_eq(STR("a\0b"), STR("a\0c")));
}

static void test_str_take(void **state) {
    (void)state;
    Str rest = STR("one\n\nlast");
    assert_true(str_is(str_take(&rest, '\n'), "one"));
    assert_true(str_is(str_take(&rest, '\n'), "")); // an empty part
    assert_true(str_is(str_take(&rest, '\n'), "last"));
    assert_int_equal(rest.len, 0);
    assert_int_equal(str_take(&rest, '\n').len, 0);
}

static void test_str_order(void **state) {
    (void)state;
    assert_true(str_cmp(STR("a"), STR("b")) < 0);
    assert_true(str_cmp(STR("ab"), STR("a")) > 0);
    assert_true(str_cmp(STR(""), STR("a")) < 0);
    assert_int_equal(str_cmp(STR("a"), STR("a")), 0);
    // Bytes are unsigned: what is not ASCII comes last.
    assert_true(str_cmp(STR("z"), STR("\xc3\xa9")) < 0);
}

static void test_hash_chains(void **state) {
    (void)state;
    uint64_t whole = hash_bytes(HASH_SEED, "abcd", 4);
    uint64_t half = hash_bytes(HASH_SEED, "ab", 2);
    assert_true(hash_bytes(half, "cd", 2) == whole);
    assert_true(hash_bytes(HASH_SEED, "", 0) == HASH_SEED);
    assert_true(hash_bytes(HASH_SEED, "a", 1) ==
                UINT64_C(0xaf63dc4c8601ec8c)); // published FNV-1a of "a"
}

static void test_arena_gives_zeroed_aligned_memory(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    for (size_t bytes = 0; bytes < 300; bytes++) {
        char *at = arena_alloc(&arena, bytes);
        if (bytes == 0) continue;
        assert_int_equal((uintptr_t)at % 8, 0);
        for (size_t i = 0; i < bytes; i++) assert_int_equal(at[i], 0);
        memset(at, 0xff, bytes);
    }
    char *large = arena_alloc(&arena, 1 << 20);
    large[(1 << 20) - 1] = 1;
    arena_free(&arena);
    assert_int_equal(arena.total_bytes, 0);
}

static void test_arena_mark_and_reset(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    ArenaMark empty = arena_mark(&arena);
    Str kept = arena_str(&arena, STR("kept"));
    ArenaMark mark = arena_mark(&arena);
    size_t held = arena.total_bytes;
    for (int i = 0; i < 100; i++) {
        for (int n = 0; n < 40; n++) arena_alloc(&arena, 10000);
        arena_reset(&arena, mark);
        assert_int_equal(arena.total_bytes, held);
    }
    assert_string_equal(kept.at, "kept");
    char *again = arena_alloc(&arena, 64); // zeroed although it was used
    for (int i = 0; i < 64; i++) assert_int_equal(again[i], 0);
    arena_reset(&arena, empty);
    assert_int_equal(arena.total_bytes, 0);
}

static void test_arena_clear_keeps_the_largest_chunk(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    arena_clear(&arena); // nothing to do, nothing breaks
    arena_alloc(&arena, 1000);
    arena_alloc(&arena, 500000);
    arena_alloc(&arena, 100000);
    arena_clear(&arena);
    assert_true(arena.total_bytes >= 500000);
    assert_true(arena.total_bytes < 600000);
    arena_free(&arena);
}

static void test_arena_grow_keeps_what_was_there(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    VEC(int) numbers = {0};
    for (int i = 0; i < 1000; i++) {
        vec_push(&arena, &numbers, i);
        if (i % 7 == 0) arena_alloc(&arena, 8); // no longer the last one
    }
    assert_int_equal(numbers.len, 1000);
    for (int i = 0; i < 1000; i++) assert_int_equal(numbers.at[i], i);
    arena_free(&arena);
}

static void test_arena_text(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    assert_string_equal(arena_cstr(&arena, (Str){"abcdef", 3}), "abc");
    assert_string_equal(arena_cstr(&arena, str_of(NULL)), "");
    Str text = arena_printf(&arena, "%d-%.*s", 7, 2, "xyz");
    assert_true(str_is(text, "7-xy"));
    assert_int_equal(text.at[text.len], 0);
    Str nul = arena_str(&arena, STR("a\0b"));
    assert_int_equal(nul.len, 3);
    assert_memory_equal(nul.at, "a\0b", 4);
    arena_free(&arena);
}

static void test_buf(void **state) {
    (void)state;
    Buf buf = {0};
    assert_int_equal(buf_str(&buf).len, 0);
    buf_add(&buf, str_of(NULL));
    buf_add_char(&buf, 'a');
    for (int i = 0; i < 1000; i++) buf_addf(&buf, "%d,", i);
    assert_int_equal(buf.len, 1 + 10 * 2 + 90 * 3 + 900 * 4);
    assert_true(str_ends(buf_str(&buf), ",999,"));
    assert_int_equal(buf.at[buf.len], 0);
    buf_clear(&buf);
    assert_string_equal(buf.at, "");
    buf_add(&buf, STR("b"));
    assert_string_equal(buf.at, "b");
    buf_free(&buf);
    assert_null(buf.at);
}

static void test_symbols(void **state) {
    (void)state;
    SymTable table;
    sym_table_init(&table);
    const Sym *def = sym_intern_tag(&table, STR("def"), 7);
    assert_null(sym_find(&table, STR("x0")));
    const Sym *first = sym_intern(&table, STR("x0"));
    char name[16];
    for (int i = 0; i < 5000; i++) { // the table grows several times
        size_t len = (size_t)snprintf(name, sizeof(name), "x%d", i);
        sym_intern(&table, (Str){name, len});
    }
    assert_int_equal(table.len, 5001);
    assert_ptr_equal(sym_find(&table, STR("x0")), first);
    assert_ptr_equal(sym_intern(&table, (Str){"define", 3}), def);
    assert_int_equal(def->tag, 7);
    assert_string_equal(def->text, "def");
    assert_int_equal(sym_find(&table, STR("x4999"))->tag, 0);
    assert_int_equal(sym_intern(&table, STR(""))->len, 0);
    sym_table_free(&table);
}

static void test_err_is_cut_not_overrun(void **state) {
    (void)state;
    Err err;
    char text[2000];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    assert_false(err_set(&err, "cannot open '%s'", text));
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

static void *add_one(void *data) {
    ++*(int *)data;
    return NULL;
}

static void test_aside_works_once_with_and_without_a_thread(void **state) {
    (void)state;
    for (int allowed = 0; allowed < 2; allowed++) {
        int count = 0;
        Aside aside = {.work = add_one, .data = &count};
        aside_start(&aside, allowed);
        if (!allowed) assert_int_equal(count, 0);
        aside_wait(&aside);
        assert_int_equal(count, 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_str),
        cmocka_unit_test(test_str_take),
        cmocka_unit_test(test_str_order),
        cmocka_unit_test(test_hash_chains),
        cmocka_unit_test(test_arena_gives_zeroed_aligned_memory),
        cmocka_unit_test(test_arena_mark_and_reset),
        cmocka_unit_test(test_arena_clear_keeps_the_largest_chunk),
        cmocka_unit_test(test_arena_grow_keeps_what_was_there),
        cmocka_unit_test(test_arena_text),
        cmocka_unit_test(test_buf),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_aside_works_once_with_and_without_a_thread),
        cmocka_unit_test(test_err_is_cut_not_overrun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
