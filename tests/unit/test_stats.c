// The verdict on step times: on recorded ones, and on simulated equal arms.
//
// data/*.txt were recorded: a run a line, its name (A: unchanged, B: fused) and
// the seconds of its steps. The steps of quiet_equal wait 30 ms, as for a device;
// the others train a small model with PyTorch on a busy CPU.
#include "base/base.h"

#include "base/file.h"
#include "trial/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { RUNS_MAX = 12, STEPS = 60 };

typedef struct World {
    Arena arena;
    TimedRun runs[RUNS_MAX];
    uint32_t count;
    Stats stats;
} World;

static int setup(void **state) {
    static World world;
    world = (World){0};
    arena_init(&world.arena);
    *state = &world;
    return 0;
}

static int teardown(void **state) {
    World *w = *state;
    arena_free(&w->arena);
    return 0;
}

static TimedRun *add_run(World *w, const char *name, uint32_t steps) {
    assert_true(w->count < RUNS_MAX);
    TimedRun *run = &w->runs[w->count++];
    *run = (TimedRun){.name = name, .is_fused = name[0] == 'B'};
    run->times = NEW_N(&w->arena, double, steps + 1);
    return run;
}

static void judge(World *w) {
    stats_judge(&w->stats, &w->arena, w->runs, w->count, 1);
}

static void expect_speed(const World *w, Speed speed) {
    if (w->stats.speed != speed) {
        fail_msg("%s, expected %s: %s", speed_name(w->stats.speed), speed_name(speed),
                 arena_cstr((Arena *)(uintptr_t)&w->arena, w->stats.reason));
    }
}

static void expect_reason(World *w, const char *part) {
    const char *reason = arena_cstr(&w->arena, w->stats.reason);
    if (!strstr(reason, part)) fail_msg("'%s' does not hold '%s'", reason, part);
}

// ---- recorded -------------------------------------------------------------------------

static void load(World *w, const char *name) {
    char path[400];
    Str text;
    Err err;
    snprintf(path, sizeof(path), SOURCE_ROOT "/tests/unit/data/%s.txt", name);
    if (!file_read(&text, &w->arena, path, 1 << 20, &err)) fail_msg("%s", err.text);
    char *at = arena_cstr(&w->arena, text);
    while (*at) {
        TimedRun *run = add_run(w, at, STEPS);
        at = strchr(at, ' ');
        assert_non_null(at);
        *at++ = 0;
        while (*at && *at != '\n') {
            assert_true(run->count < STEPS);
            run->times[run->count++] = strtod(at, &at);
        }
        at += *at == '\n';
    }
}

// Keeps the first `count` runs of each arm.
static void keep_runs(World *w, uint32_t count) {
    uint32_t seen[2] = {0}, kept = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        if (seen[w->runs[i].is_fused]++ < count) w->runs[kept++] = w->runs[i];
    }
    w->count = kept;
}

static void scale(World *w, double base, double fused) {
    for (uint32_t i = 0; i < w->count; i++) {
        TimedRun *run = &w->runs[i];
        for (uint32_t k = 0; k < run->count; k++) run->times[k] *= run->is_fused ? fused : base;
    }
}

static void equal_quiet_arms_gain_nothing(void **state) {
    World *w = *state;
    load(w, "quiet_equal");
    judge(w);
    expect_speed(w, SPEED_NO_GAIN);
    assert_true(w->stats.low <= 1 && w->stats.high >= 1);
    assert_true(w->stats.noise < 0.05);
}

static void a_third_of_the_time_is_faster(void **state) {
    World *w = *state;
    load(w, "three_times_faster");
    judge(w);
    expect_speed(w, SPEED_FASTER);
    assert_true(w->stats.ratio > 0.3 && w->stats.ratio < 0.45);
    assert_true(w->stats.low <= w->stats.ratio && w->stats.ratio <= w->stats.high);
    assert_true(w->stats.high < 0.5);
    expect_reason(w, "shorter");
}

static void three_times_the_time_is_slower(void **state) {
    World *w = *state;
    load(w, "three_times_slower");
    judge(w);
    expect_speed(w, SPEED_SLOWER);
    assert_true(w->stats.ratio > 2.5);
    expect_reason(w, "longer");
}

static void noisy_equal_arms_are_undecided(void **state) {
    World *w = *state;
    load(w, "noisy_equal");
    judge(w);
    expect_speed(w, SPEED_UNDECIDED);
    assert_true(w->stats.noise > 0.05);
    assert_true(w->stats.runs_needed > 5);
    expect_reason(w, "undecided: needs ");
    expect_reason(w, "runs a side, 5 were made");
}

static void a_tenth_is_found_in_quiet_runs(void **state) {
    World *w = *state;
    load(w, "quiet_equal");
    scale(w, 1, 0.9);
    judge(w);
    expect_speed(w, SPEED_FASTER);
    scale(w, 1, 1 / 0.81);
    judge(w);
    expect_speed(w, SPEED_SLOWER);
}

static void one_run_a_side_is_not_enough(void **state) {
    World *w = *state;
    load(w, "three_times_faster");
    keep_runs(w, 1);
    judge(w);
    expect_speed(w, SPEED_UNDECIDED);
    assert_int_equal(w->stats.runs_needed, 3);
    expect_reason(w, "1 runs a side, 3 are needed");
}

static void runs_of_one_kind_are_not_enough(void **state) {
    World *w = *state;
    load(w, "three_times_faster");
    for (uint32_t i = 0; i < w->count; i++) w->runs[i].is_fused = false;
    judge(w);
    expect_speed(w, SPEED_UNDECIDED);
    assert_true(isnan(w->stats.ratio));
}

static void too_few_steps_are_not_enough(void **state) {
    World *w = *state;
    load(w, "three_times_faster");
    for (uint32_t i = 0; i < w->count; i++) w->runs[i].count = 20;
    judge(w);
    expect_speed(w, SPEED_UNDECIDED);
    expect_reason(w, "at least 20 steps behind the warm-up");
}

// Every eighth step takes four times as long: the median is lower, the tail is not.
static void slow_steps_take_the_gain_away(void **state) {
    World *w = *state;
    load(w, "quiet_equal");
    scale(w, 1, 0.8);
    for (uint32_t i = 0; i < w->count; i++) {
        for (uint32_t k = 6; w->runs[i].is_fused && k < STEPS; k += 8) w->runs[i].times[k] *= 4;
    }
    judge(w);
    expect_speed(w, SPEED_NO_GAIN);
    expect_reason(w, "p95");
}

static void the_warm_up_is_left_out(void **state) {
    World *w = *state;
    for (int i = 0; i < 6; i++) {
        TimedRun *run = add_run(w, i % 2 ? "B" : "A", 50);
        run->count = 50;
        for (uint32_t k = 0; k < 50; k++) run->times[k] = k < 8 ? 5 : i % 2 ? 0.5 : 1;
    }
    judge(w);
    expect_speed(w, SPEED_FASTER);
    // The running median is over five steps: three slow ones weigh most.
    assert_true(w->runs[0].dropped >= 5 && w->runs[0].dropped <= 8);
    assert_true(w->runs[0].median == 1 && w->runs[1].median == 0.5);
    assert_true(w->stats.ratio == 0.5);
}

// Three times the time, printed in whole seconds, and 2 % less in tenths.
static void few_digits_make_the_interval_wide(void **state) {
    World *w = *state;
    for (int i = 0; i < 6; i++) {
        TimedRun *run = add_run(w, i % 2 ? "B" : "A", STEPS);
        run->count = STEPS;
        run->quantum_s = 1;
        for (uint32_t k = 0; k < STEPS; k++) run->times[k] = i % 2 ? 9 : 3;
    }
    judge(w);
    expect_speed(w, SPEED_SLOWER);
    assert_true(w->stats.low > 2.3 && w->stats.low < 2.4);
    for (int i = 0; i < 6; i++) {
        w->runs[i].quantum_s = 0.1;
        for (uint32_t k = 0; k < STEPS; k++) w->runs[i].times[k] = i % 2 ? 4.9 : 5;
    }
    judge(w);
    expect_speed(w, SPEED_UNDECIDED);
    assert_int_equal(w->stats.runs_needed, 0);
    expect_reason(w, "printed with too few digits, 2 % of a step");
}

static void a_drift_is_told(void **state) {
    World *w = *state;
    load(w, "quiet_equal");
    judge(w);
    assert_true(fabs(w->stats.drift) < 0.05);
    for (uint32_t i = 0; i < w->count; i++) {
        for (uint32_t k = 0; k < STEPS; k++) w->runs[i].times[k] *= 1 + 0.3 * k / STEPS;
    }
    judge(w);
    expect_speed(w, SPEED_UNDECIDED); // blocks of a run differ by 17 %
    assert_true(w->stats.drift > 0.12 && w->stats.drift < 0.22);
    expect_reason(w, "; step times rise by 1");
}

static void the_same_seed_gives_the_same_interval(void **state) {
    World *w = *state;
    load(w, "noisy_equal");
    judge(w);
    double low = w->stats.low, high = w->stats.high;
    judge(w);
    assert_true(low == w->stats.low && high == w->stats.high);
}

// ---- simulated ------------------------------------------------------------------------

typedef struct Noise {
    double step;   // of ln(time), each step
    double run;    // of ln(time), each run
    double drift;  // of ln(time), over one run
    double spikes; // share of the steps that take two to six times as long
} Noise;

static double uniform(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state) {
    double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(6.283185307179586 * uniform(state));
}

static void simulate(World *w, const Noise *noise, double fused, uint64_t *state) {
    w->count = 0;
    for (int i = 0; i < 6; i++) {
        TimedRun *run = add_run(w, i % 2 ? "B" : "A", STEPS);
        double level = noise->run * normal(state) + (i % 2 ? log(fused) : 0);
        double slope = noise->drift * normal(state);
        for (uint32_t k = 0; k < STEPS; k++) {
            double t = 0.1 * exp(level + slope * k / STEPS + noise->step * normal(state));
            if (k < 3) t *= 10.0 / (k + 1);
            if (uniform(state) < noise->spikes) t *= 2 + 4 * uniform(state);
            run->times[run->count++] = t;
        }
    }
    judge(w);
}

typedef struct Tally {
    int of[SPEED_UNDECIDED + 1];
} Tally;

static Tally simulate_many(World *w, const Noise *noise, double fused, int times) {
    Tally tally = {{0}};
    uint64_t state = 20260301;
    for (int i = 0; i < times; i++) {
        simulate(w, noise, fused, &state);
        tally.of[w->stats.speed]++;
        if (i % 20 == 19) arena_free(&w->arena), arena_init(&w->arena);
    }
    if (getenv("NPUFUSE_SHOW")) {
        printf("step %g run %g drift %g spikes %g ratio %g: faster %d no_gain %d slower %d "
               "undecided %d\n", noise->step, noise->run, noise->drift, noise->spikes, fused,
               tally.of[SPEED_FASTER], tally.of[SPEED_NO_GAIN], tally.of[SPEED_SLOWER],
               tally.of[SPEED_UNDECIDED]);
    }
    return tally;
}

static const Noise quiet = {0.003, 0.001, 0.001, 0.01};
static const Noise usual = {0.02, 0.01, 0.01, 0.03};
static const Noise loud = {0.1, 0.05, 0.05, 0.08};

// Over 2000 simulations each `faster` was said of 0.65 % (usual), 1.25 % (loud) and
// 0 % (quiet) of equal arms, and `no_gain` of all quiet ones.
static void equal_arms_are_seldom_faster(void **state) {
    World *w = *state;
    Tally tally = simulate_many(w, &usual, 1, 200);
    assert_true(tally.of[SPEED_FASTER] <= 4);
    tally = simulate_many(w, &loud, 1, 200);
    assert_true(tally.of[SPEED_FASTER] <= 4);
    tally = simulate_many(w, &quiet, 1, 200);
    assert_int_equal(tally.of[SPEED_FASTER], 0);
    assert_true(tally.of[SPEED_NO_GAIN] >= 198);
}

static void true_gains_are_found(void **state) {
    World *w = *state;
    assert_true(simulate_many(w, &quiet, 0.95, 50).of[SPEED_FASTER] >= 48);
    assert_true(simulate_many(w, &usual, 0.9, 50).of[SPEED_FASTER] >= 48);
    assert_true(simulate_many(w, &usual, 1.1, 50).of[SPEED_SLOWER] >= 48);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(equal_quiet_arms_gain_nothing),
        TEST(a_third_of_the_time_is_faster),
        TEST(three_times_the_time_is_slower),
        TEST(noisy_equal_arms_are_undecided),
        TEST(a_tenth_is_found_in_quiet_runs),
        TEST(one_run_a_side_is_not_enough),
        TEST(runs_of_one_kind_are_not_enough),
        TEST(too_few_steps_are_not_enough),
        TEST(slow_steps_take_the_gain_away),
        TEST(the_warm_up_is_left_out),
        TEST(few_digits_make_the_interval_wide),
        TEST(a_drift_is_told),
        TEST(the_same_seed_gives_the_same_interval),
        TEST(equal_arms_are_seldom_faster),
        TEST(true_gains_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
