// The gate on losses: what fails, what does not, and what it says.
#include "base/base.h"

#include "trial/gate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

enum { STEPS = 60 };

typedef struct World {
    Arena arena;
    StepList base, other;
    Gate gate;
} World;

static double falling(int64_t step) {
    return 2 + 8 * exp(-(double)step / 20);
}

static void put(World *w, StepList *list, int64_t step, double loss) {
    StepRecord record = {.step = step, .loss = loss, .has_loss = true};
    step_list_add(list, &w->arena, &record);
}

static int setup(void **state) {
    static World world;
    World *w = &world;
    *w = (World){0};
    arena_init(&w->arena);
    for (int64_t i = 0; i < STEPS; i++) {
        put(w, &w->base, i, falling(i));
        put(w, &w->other, i, falling(i));
    }
    *state = w;
    return 0;
}

static int teardown(void **state) {
    World *w = *state;
    arena_free(&w->arena);
    return 0;
}

static void compare(World *w) {
    gate_compare(&w->gate, &w->arena, &w->base, &w->other, (GateLimits){0.01, GATE_MIN_STEPS});
}

static void expect_fail(World *w, int64_t step, const char *reason) {
    compare(w);
    assert_int_equal(w->gate.verdict, GATE_FAIL);
    assert_int_equal(w->gate.has_first_fail, step >= 0);
    if (step >= 0) assert_int_equal(w->gate.first_fail_step, step);
    const char *said = arena_cstr(&w->arena, w->gate.reason);
    if (!strstr(said, reason)) fail_msg("'%s' does not hold '%s'", said, reason);
}

static void the_difference_is_relative(void **state) {
    (void)state;
    assert_true(gate_rel_diff(2, 2.5) == 0.25);
    assert_true(gate_rel_diff(-2, -2.5) == 0.25);
    assert_true(gate_rel_diff(0, 0.5e-3) == 0.5); // against 1e-3 at least
    assert_true(gate_rel_diff(1, 1) == 0);
    assert_true(isinf(gate_rel_diff(NAN, NAN)));
    assert_true(isinf(gate_rel_diff(1, INFINITY)));
    assert_true(isinf(gate_rel_diff(INFINITY, INFINITY)));
}

static void the_same_losses_pass(void **state) {
    World *w = *state;
    compare(w);
    assert_int_equal(w->gate.verdict, GATE_PASS);
    assert_int_equal(w->gate.common, STEPS);
    assert_false(w->gate.has_first_fail);
    assert_true(w->gate.max_rel_diff == 0 && w->gate.window_rel_diff == 0);
}

static void a_step_at_the_limit_passes(void **state) {
    World *w = *state;
    put(w, &w->other, 30, falling(30) * 1.0099);
    compare(w);
    assert_int_equal(w->gate.verdict, GATE_PASS);
    assert_true(fabs(w->gate.max_rel_diff - 0.0099) < 1e-9);
    put(w, &w->other, 30, falling(30) * 1.0101);
    expect_fail(w, 30, "the loss differs by 0.0101 at step 30");
}

static void the_first_step_may_fail(void **state) {
    World *w = *state;
    put(w, &w->other, 0, 20);
    put(w, &w->other, 9, 20);
    expect_fail(w, 0, "at step 0 (20, unchanged 10)");
}

static void a_loss_that_is_not_finite_fails(void **state) {
    World *w = *state;
    put(w, &w->other, 17, NAN);
    expect_fail(w, 17, "the loss is nan at step 17");
    assert_true(isinf(w->gate.max_rel_diff));
    put(w, &w->base, 5, INFINITY);
    put(w, &w->other, 5, INFINITY);
    expect_fail(w, 5, "the loss is inf at step 5 (unchanged: inf)");
}

static void a_missing_step_fails(void **state) {
    World *w = *state;
    w->other.len -= 3;
    expect_fail(w, STEPS - 3, "no loss at step 57");
    assert_int_equal(w->gate.common, STEPS - 3);
}

static void more_steps_of_the_other_do_not(void **state) {
    World *w = *state;
    put(w, &w->other, STEPS, 1);
    compare(w);
    assert_int_equal(w->gate.verdict, GATE_PASS);
}

// Without the loss, and without the whole record.
static void a_hole_in_the_base_fails(void **state) {
    World *w = *state;
    w->base.at[30].has_loss = false;
    expect_fail(w, 30, "the unchanged run has no loss at step 30");
    w->base.at[30] = w->base.at[0];
    memmove(w->base.at + 30, w->base.at + 31, (STEPS - 31) * sizeof(*w->base.at));
    w->base.len--;
    expect_fail(w, 30, "the unchanged run has no loss at step 30");
    w->other.at[20].loss = NAN;
    expect_fail(w, 20, "nan");
    w->other.at[20].loss = falling(20);
    w->other.at[40].loss = NAN;
    expect_fail(w, 30, "the unchanged run has no loss at step 30");
}

static void steps_before_those_of_the_base_do_not(void **state) {
    World *w = *state;
    w->base.at[0].has_loss = false;
    w->base.at[STEPS - 1].has_loss = false;
    compare(w);
    assert_int_equal(w->gate.verdict, GATE_PASS);
    assert_int_equal(w->gate.common, STEPS - 2);
}

static void too_few_steps_are_undecided(void **state) {
    World *w = *state;
    w->base.len = w->other.len = GATE_MIN_STEPS - 1;
    compare(w);
    assert_int_equal(w->gate.verdict, GATE_TOO_SHORT);
    w->base.len = w->other.len = GATE_MIN_STEPS;
    compare(w);
    assert_int_equal(w->gate.verdict, GATE_PASS);
    w->base.len = w->other.len = 0;
    compare(w);
    assert_int_equal(w->gate.verdict, GATE_TOO_SHORT);
}

// A few steps are enough to say no.
static void a_short_run_may_fail(void **state) {
    World *w = *state;
    w->base.len = w->other.len = 3;
    put(w, &w->other, 1, 1);
    expect_fail(w, 1, "at step 1");
}

// Losses of both signs: each step is within 1 % of its own, the mean is not.
static void the_last_window_may_fail(void **state) {
    World *w = *state;
    for (int64_t i = STEPS - GATE_WINDOW; i < STEPS; i++) {
        put(w, &w->base, i, i % 2 ? 1 : -0.9);
        put(w, &w->other, i, (i % 2 ? 1 : -0.9) + 0.008);
    }
    expect_fail(w, -1, "the mean of the last 10 losses differs by 0.16");
}

static void print_with(World *w, StepList *list, double quantum) {
    (void)w;
    for (uint32_t i = 0; i < list->len; i++) {
        list->at[i].quantum = quantum;
        list->at[i].loss = round(list->at[i].loss / quantum) * quantum;
    }
}

// Logs of one decimal cannot tell 2.1 from 2.14.
static void a_limit_is_not_below_the_last_digit(void **state) {
    World *w = *state;
    print_with(w, &w->base, 0.1);
    print_with(w, &w->other, 0.1);
    w->other.at[50].loss += 0.1;
    compare(w);
    assert_int_equal(w->gate.verdict, GATE_PASS);
    assert_false(gate_is_apart(&w->base.at[50], &w->other.at[50], 0.01));
    w->other.at[50].loss += 0.1;
    assert_true(gate_is_apart(&w->base.at[50], &w->other.at[50], 0.01));
    expect_fail(w, 50, "at step 50");
}

// "2" among losses of four decimals is 2.0000.
static void zeros_that_were_not_printed_count(void **state) {
    World *w = *state;
    print_with(w, &w->base, 1e-4);
    print_with(w, &w->other, 1e-4);
    put(w, &w->base, 40, 2);
    put(w, &w->other, 40, 3);
    w->base.at[40].quantum = w->other.at[40].quantum = 1;
    expect_fail(w, 40, "at step 40");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_difference_is_relative),
        TEST(the_same_losses_pass),
        TEST(a_step_at_the_limit_passes),
        TEST(the_first_step_may_fail),
        TEST(a_loss_that_is_not_finite_fails),
        TEST(a_missing_step_fails),
        TEST(more_steps_of_the_other_do_not),
        TEST(a_hole_in_the_base_fails),
        TEST(steps_before_those_of_the_base_do_not),
        TEST(too_few_steps_are_undecided),
        TEST(a_short_run_may_fail),
        TEST(the_last_window_may_fail),
        TEST(a_limit_is_not_below_the_last_digit),
        TEST(zeros_that_were_not_printed_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
