// test_counts.c - what processes counted, added up; files that are not whole.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/file.h"
#include "trial/counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Fixture {
    Arena arena;
    Err err;
    char folder[64];
} Fixture;

static int setup(void **state) {
    Fixture *x = calloc(1, sizeof(*x));
    arena_init(&x->arena);
    strcpy(x->folder, "/tmp/npufuse_counts_XXXXXX");
    assert_non_null(mkdtemp(x->folder));
    *state = x;
    return 0;
}

static int teardown(void **state) {
    Fixture *x = *state;
    assert_true(file_remove(x->folder, &x->err));
    arena_free(&x->arena);
    free(x);
    return 0;
}

static void put(Fixture *x, const char *name, Str text) {
    const char *path = path_join(&x->arena, str_of(x->folder), str_of(name));
    assert_true(file_write(path, text, &x->err));
}

// A file as counts.py makes it, of one candidate.
static Str whole(Fixture *x, unsigned rank, unsigned candidate, const unsigned values[5]) {
    static const char *const keys[] = {"loaded", "elsewhere", "fused", "else", "emulated"};
    Buf text = {0};
    buf_addf(&text, "npufuse %020u\nrank %020u\n", 1u, rank);
    for (size_t i = 0; i < COUNT(keys); i++) {
        buf_addf(&text, "%u.%s %020u\n", candidate, keys[i], values[i]);
    }
    Str kept = arena_str(&x->arena, buf_str(&text));
    buf_free(&text);
    return kept;
}

static Counts get(Fixture *x) {
    Counts counts;
    if (!counts_read(&counts, &x->arena, x->folder, &x->err)) fail_msg("%s", x->err.text);
    return counts;
}

static void assert_count(Count got, uint32_t candidate, uint64_t rank, const unsigned values[5]) {
    assert_int_equal(got.candidate, candidate);
    assert_int_equal(got.rank, rank);
    assert_int_equal(got.loaded, values[0]);
    assert_int_equal(got.elsewhere, values[1]);
    assert_int_equal(got.fused, values[2]);
    assert_int_equal(got.other, values[3]);
    assert_int_equal(got.emulated, values[4]);
}

static const unsigned a[5] = {1, 0, 60, 2, 62}, b[5] = {1, 1, 0, 7, 0};

static void processes_are_added_up(void **state) {
    Fixture *x = *state;
    put(x, "12-1.txt", whole(x, 0, 0, a));
    put(x, "13-1.txt", whole(x, 0, 0, b));
    put(x, "14-1.txt", whole(x, 0, 3, b));
    put(x, "15-1.part", whole(x, 0, 0, b)); // of another kind
    Counts counts = get(x);
    assert_int_equal(counts.len, 2);
    assert_count(counts.at[0], 0, 0, (const unsigned[]){2, 1, 60, 9, 62});
    assert_count(counts.at[1], 3, 0, b);
}

static void ranks_stay_apart(void **state) {
    enum { RANKS = 300 };
    Fixture *x = *state;
    for (unsigned rank = 0; rank < RANKS; rank++) {
        unsigned own[5] = {1, 0, rank, 2, 0};
        put(x, arena_printf(&x->arena, "%u-9.txt", 1000 - rank).at, whole(x, rank, 0, own));
    }
    Counts counts = get(x);
    assert_int_equal(counts.len, RANKS);
    for (unsigned rank = 0; rank < RANKS; rank++) {
        assert_count(counts.at[rank], 0, rank, (const unsigned[]){1, 0, rank, 2, 0});
    }
    Count sum = counts_sum(&counts, 0); // its rank: how many
    assert_count(sum, 0, RANKS, (const unsigned[]){RANKS, 0, RANKS * (RANKS - 1) / 2,
                                                   2 * RANKS, 0});
    assert_count(counts_sum(&counts, 1), 1, 0, (const unsigned[5]){0});
}

// Of a file that was cut, what stands in whole lines of the five counts, or nothing.
static void cut_files_tell_no_wrong_number(void **state) {
    Fixture *x = *state;
    Str text = whole(x, 4, 0, a);
    for (size_t n = 0; n < text.len; n++) {
        put(x, "1-1.txt", (Str){text.at, n});
        Counts counts = get(x);
        assert_true(counts.len <= 1);
        if (!counts.len) continue;
        Count got = counts.at[0];
        assert_int_equal(got.rank, 4);
        assert_true(got.loaded <= 1 && got.elsewhere == 0);
        assert_true(got.fused == 0 || got.fused == 60);
        assert_true(got.other == 0 || got.other == 2);
        assert_int_equal(got.emulated, 0); // the last line is never whole
    }
}

static void garbage_is_left_out(void **state) {
    Fixture *x = *state;
    static const char head[] = "npufuse 00000000000000000001\nrank 00000000000000000000\n";
    static const char *const garbage[] = {
        "", "\n", "hello\n",
        ("npufuse 00000000000000000002\nrank 00000000000000000000\n"
         "0.fused 00000000000000000009\n"),
        "rank 00000000000000000000\n0.fused 00000000000000000009\n",
        "npufuse 1\nrank 0\n0.fused 9\n",
    };
    for (size_t i = 0; i < COUNT(garbage); i++) {
        put(x, "1-1.txt", str_of(garbage[i]));
        assert_int_equal(get(x).len, 0);
    }
    static const char *const lines[] = {
        "0.fused 0000000000000000000x\n", "0.fused -0000000000000000009\n",
        "0.fused  0000000000000000009\n", "fused 00000000000000000009\n",
        "0.fuse 00000000000000000009\n",  "99999999999999999999.fused 00000000000000000009\n",
        "-1.fused 00000000000000000009\n", "10000.fused 00000000000000000009\n",
        " 0.fused 00000000000000000009\n", "+0.fused 00000000000000000009\n",
    };
    for (size_t i = 0; i < COUNT(lines); i++) {
        put(x, "1-1.txt", arena_printf(&x->arena, "%s%s", head, lines[i]));
        if (get(x).len) fail_msg("taken: %s", lines[i]);
    }
    char zeros[4096] = {0}; // a map that was made and never filled
    put(x, "1-1.txt", (Str){zeros, sizeof(zeros)});
    put(x, "2-1.txt", whole(x, 0, 0, a));
    Counts counts = get(x);
    assert_int_equal(counts.len, 1);
    assert_count(counts.at[0], 0, 0, a);
}

static void no_folder_is_no_count(void **state) {
    Fixture *x = *state;
    Counts counts;
    const char *path = path_join(&x->arena, str_of(x->folder), STR("counts"));
    assert_true(counts_read(&counts, &x->arena, path, &x->err));
    assert_int_equal(counts.len, 0);
}

static void counts_go_through_json(void **state) {
    Fixture *x = *state;
    put(x, "1-1.txt", whole(x, 0, 0, a));
    put(x, "2-1.txt", whole(x, 1, 2, b));
    Counts counts = get(x), again;
    Buf text = {0};
    Json json;
    json_init(&json, &text);
    counts_write(&json, &counts);
    const JsonVal *array;
    assert_true(json_read(&array, &x->arena, buf_str(&text), "counts", &x->err));
    counts_from_json(&again, &x->arena, array);
    assert_int_equal(again.len, 2);
    assert_count(again.at[0], 0, 0, a);
    assert_count(again.at[1], 2, 1, b);
    buf_free(&text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(processes_are_added_up),
        TEST(ranks_stay_apart),
        TEST(cut_files_tell_no_wrong_number),
        TEST(garbage_is_left_out),
        TEST(no_folder_is_no_count),
        TEST(counts_go_through_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
