// What changed between two schemas of one operator, and which calls it breaks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

#include "apidoc/compare.h"

#include <stdlib.h>

static int setup(void **state) {
    Arena *arena = calloc(1, sizeof(*arena));
    if (!arena) return -1;
    arena_init(arena);
    *state = arena;
    return 0;
}

static int teardown(void **state) {
    arena_free(*state);
    free(*state);
    return 0;
}

static Schema parse(Arena *arena, const char *text) {
    Schema schema;
    Err err;
    if (!schema_parse(&schema, arena, str_of(text), &err)) fail_msg("%s", err.text);
    return schema;
}

static Drifts compare(Arena *arena, const char *ours, const char *theirs) {
    Schema a = parse(arena, ours), b = parse(arena, theirs);
    Drifts drifts;
    schema_compare(&drifts, arena, &a, &b);
    return drifts;
}

// The only difference, which breaks the calls of `scope` that concern `arg`.
static void assert_breaks(Arena *arena, const char *ours, const char *theirs, DriftScope scope,
                          const char *arg) {
    Drifts drifts = compare(arena, ours, theirs);
    uint32_t breaking = 0;
    for (uint32_t i = 0; i < drifts.len; i++) {
        const Drift *drift = &drifts.at[i];
        if (!drift->breaks) continue;
        breaking++;
        if (drift->scope != scope || !str_is(drift->arg, arg)) fail_msg("%s", drift->text.at);
    }
    assert_int_equal(breaking, 1);
}

static void assert_harmless(Arena *arena, const char *ours, const char *theirs) {
    Drifts drifts = compare(arena, ours, theirs);
    for (uint32_t i = 0; i < drifts.len; i++) {
        if (drifts.at[i].breaks) fail_msg("%s", drifts.at[i].text.at);
    }
}

static void test_harmless(void **state) {
    Arena *a = *state;
    assert_int_equal(compare(a, "f(Tensor x, int n=1) -> Tensor",
                             "f(Tensor x, int n=1) -> Tensor").len, 0);
    assert_harmless(a, "f(Tensor self) -> Tensor", "f(Tensor input) -> Tensor");
    assert_harmless(a, "f(Tensor x) -> Tensor", "f(Tensor x, int n=1) -> Tensor");
    assert_harmless(a, "f(Tensor x, int n) -> Tensor", "f(Tensor x, int n=1) -> Tensor");
    assert_harmless(a, "f(Tensor x, int n) -> Tensor", "f(Tensor x, SymInt? n) -> Tensor");
    assert_harmless(a, "f(Tensor x, int[] n) -> Tensor", "f(Tensor x, int[4] n) -> Tensor");
    assert_harmless(a, "f(Tensor x, int[]? n) -> Tensor", "f(Tensor x, SymInt[2]? n) -> Tensor");
    assert_harmless(a, "f(Tensor x, *, int n=1) -> Tensor", "f(Tensor x, int n=1) -> Tensor");
}

static void test_arguments(void **state) {
    Arena *a = *state;
    assert_breaks(a, "f(Tensor x, int n=1) -> Tensor", "f(Tensor x) -> Tensor", DRIFT_GIVEN, "n");
    assert_breaks(a, "f(Tensor x) -> Tensor", "f(Tensor x, int n) -> Tensor", DRIFT_ANY, "");
    assert_breaks(a, "f(Tensor x, int n=1) -> Tensor", "f(Tensor x, int n) -> Tensor",
                  DRIFT_LEFT_OUT, "n");
    assert_breaks(a, "f(Tensor x, int n=1) -> Tensor", "f(Tensor x, int n=2) -> Tensor",
                  DRIFT_LEFT_OUT, "n");
    assert_breaks(a, "f(Tensor x, int n) -> Tensor", "f(Tensor x, float n) -> Tensor",
                  DRIFT_GIVEN, "n");
    assert_breaks(a, "f(Tensor x, int? n) -> Tensor", "f(Tensor x, int n) -> Tensor",
                  DRIFT_GIVEN, "n");
    assert_breaks(a, "f(Tensor x, int[4] n) -> Tensor", "f(Tensor x, int[] n) -> Tensor",
                  DRIFT_GIVEN, "n");
    assert_breaks(a, "f(Tensor x, int n=1) -> Tensor", "f(Tensor x, *, int n=1) -> Tensor",
                  DRIFT_POSITION, "n");
    // Two options at one place may be two things: also who gives it by position is told.
    assert_breaks(a, "f(Tensor x, int n=1) -> Tensor", "f(Tensor x, int m=1) -> Tensor",
                  DRIFT_GIVEN, "n");
}

static void test_order(void **state) {
    Arena *a = *state;
    // An option between others moves those behind it, by position alone.
    assert_breaks(a, "f(Tensor x, int n=1, int k=2) -> Tensor",
                  "f(Tensor x, int m=0, int n=1, int k=2) -> Tensor", DRIFT_POSITION, "n");
    assert_breaks(a, "f(Tensor x, Tensor y) -> Tensor", "f(Tensor y, Tensor x) -> Tensor",
                  DRIFT_POSITION, "x");
    assert_harmless(a, "f(Tensor x, *, int n=1, int k=2) -> Tensor",
                    "f(Tensor x, *, int k=2, int n=1) -> Tensor");
}

static void test_results(void **state) {
    Arena *a = *state;
    assert_breaks(a, "f(Tensor x) -> Tensor", "f(Tensor x) -> (Tensor, Tensor)", DRIFT_ANY, "");
    assert_breaks(a, "f(Tensor x) -> (Tensor, int)", "f(Tensor x) -> (Tensor, Tensor)", DRIFT_ANY,
                  "");
    assert_breaks(a, "f(Tensor x) -> Tensor", "f(Tensor(a!) x) -> Tensor", DRIFT_GIVEN, "x");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_harmless, setup, teardown),
        cmocka_unit_test_setup_teardown(test_arguments, setup, teardown),
        cmocka_unit_test_setup_teardown(test_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_results, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
