// stats.c - step times to a verdict on speed.
//
// Steps of one run depend on each other, so the run is the unit: what is
// compared are medians of runs, and the interval comes from resampling runs and,
// within them, blocks of steps (a block bootstrap; B. Efron, 1979, and
// H. Kuensch, 1989), never narrower than Student's of the runs. The median is
// used since step times are not normal: a few slow steps must not decide.
#include "base/base.h"

#include "trial/stats.h"

#include <math.h>
#include <stdlib.h>

enum { WARMUP_MIN = 5, WINDOW = 5, BLOCK = 10, RESAMPLES = 2000, STEPS_MIN = 20, RUNS_MIN = 3 };

static const double MINIMUM_EFFECT = 0.01; // 1 %
static const double P95_RISE = 1.05;
static const double DRIFT_TOLD = 0.05;
static const double SETTLED = 1.05; // of the later median: no warm-up any more

bool timed_run_init(TimedRun *out, Arena *arena, const StepList *steps, const char *name,
                    bool is_fused) {
    *out = (TimedRun){.name = name, .is_fused = is_fused};
    out->times = NEW_N(arena, double, steps->len + 1);
    out->quantum_s = INFINITY;
    for (uint32_t i = 0; i < steps->len; i++) {
        const StepRecord *step = &steps->at[i];
        bool told = str_is(str_of(step->phase), "wait") || str_is(str_of(step->phase), "warmup");
        if (!step->has_time || !isfinite(step->step_time_s) || step->step_time_s <= 0) continue;
        if (told) continue;
        out->times[out->count++] = step->step_time_s;
        // The finest: one time may end in zeros that were not printed.
        out->quantum_s = fmin(out->quantum_s, step->time_quantum_s);
    }
    return out->count > 0;
}

// ---- order statistics -----------------------------------------------------------------

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// Sorts `at`. The quantile by linear interpolation, as numpy's default.
static double quantile(double *at, uint32_t count, double q) {
    qsort(at, count, sizeof(*at), compare_numbers);
    double place = q * (count - 1);
    uint32_t low = (uint32_t)place;
    if (low + 1 >= count) return at[count - 1];
    return at[low] + (place - low) * (at[low + 1] - at[low]);
}

static double median_of(double *scratch, const double *at, uint32_t count) {
    memcpy(scratch, at, count * sizeof(*at));
    return quantile(scratch, count, 0.5);
}

// ---- warm-up ----------------------------------------------------------------------------

// Steps at the start until a running median is that of the second half; at least
// WARMUP_MIN, at most 30 %.
static uint32_t find_warmup(const double *times, uint32_t count, double *scratch) {
    uint32_t most = count * 3 / 10;
    if (most <= WARMUP_MIN) return most;
    double later = median_of(scratch, times + count / 2, count - count / 2);
    uint32_t drop = WARMUP_MIN;
    while (drop < most && median_of(scratch, times + drop, WINDOW) > later * SETTLED) drop++;
    return drop;
}

// ---- resampling -------------------------------------------------------------------------

// splitmix64 (G. Steele et al., 2014): small, and the same everywhere.
static uint64_t next_random(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint32_t below(uint64_t *state, uint32_t bound) {
    return (uint32_t)((next_random(state) >> 32) * bound >> 32);
}

// The steps behind the warm-up: sorted, and the place of each among them. So the
// median of a resample is counted out; nothing is sorted again.
typedef struct Sample {
    double *sorted;
    uint32_t *place;
    uint32_t count;
} Sample;

static Sample sample_of(Arena *arena, const TimedRun *run) {
    const double *times = run->times + run->dropped;
    Sample out = {.count = run->count - run->dropped};
    out.sorted = NEW_N(arena, double, out.count + 1);
    out.place = NEW_N(arena, uint32_t, out.count + 1);
    memcpy(out.sorted, times, out.count * sizeof(*times));
    qsort(out.sorted, out.count, sizeof(*out.sorted), compare_numbers);
    for (uint32_t i = 0; i < out.count; i++) {
        const double *at = bsearch(&times[i], out.sorted, out.count, sizeof(*at), compare_numbers);
        out.place[i] = (uint32_t)(at - out.sorted);
    }
    return out;
}

typedef struct Arms {
    const TimedRun *runs[2][STATS_RUNS_MAX]; // unchanged, fused
    Sample samples[2][STATS_RUNS_MAX];
    uint32_t count[2];
    double *scratch;
    uint32_t *tally; // of how often each place was drawn
} Arms;

// The median of a run made of blocks drawn from it.
static double resampled_median(const Sample *run, uint64_t *state, uint32_t *tally) {
    uint32_t count = run->count, filled = 0, block = count < BLOCK ? count : BLOCK;
    memset(tally, 0, count * sizeof(*tally));
    while (filled < count) {
        uint32_t start = below(state, count - block + 1);
        for (uint32_t i = 0; i < block && filled < count; i++, filled++) {
            tally[run->place[start + i]]++;
        }
    }
    uint32_t at = 0, seen = tally[0];
    while (seen <= (count - 1) / 2) seen += tally[++at];
    double lower = run->sorted[at];
    while (seen <= count / 2) seen += tally[++at];
    return (lower + run->sorted[at]) / 2;
}

static double resampled_ratio(const Arms *arms, uint64_t *state) {
    double middle[2];
    for (int arm = 0; arm < 2; arm++) {
        double medians[STATS_RUNS_MAX];
        for (uint32_t i = 0; i < arms->count[arm]; i++) {
            const Sample *run = &arms->samples[arm][below(state, arms->count[arm])];
            medians[i] = resampled_median(run, state, arms->tally);
        }
        middle[arm] = quantile(medians, arms->count[arm], 0.5);
    }
    return middle[1] / middle[0];
}

// The 97.5 % quantile of Student's t (Cornish and Fisher, 1938: off by less than
// 0.01 from four degrees of freedom on).
static double student(uint32_t freedom) {
    double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z, n = freedom;
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

// A bootstrap over three runs is too narrow: three runs seldom show how much runs
// differ. So the interval is at least Student's of the runs' medians.
static void widen_interval(Stats *out, const Arms *arms) {
    double mean[2] = {0}, sum = 0, weight = 0;
    for (int arm = 0; arm < 2; arm++) {
        uint32_t count = arms->count[arm];
        for (uint32_t i = 0; i < count; i++) mean[arm] += log(arms->runs[arm][i]->median) / count;
        for (uint32_t i = 0; i < count; i++) {
            sum += pow(log(arms->runs[arm][i]->median) - mean[arm], 2);
        }
        weight += 1.0 / count;
    }
    uint32_t freedom = arms->count[0] + arms->count[1] - 2;
    if (!freedom) return;
    double half = student(freedom) * sqrt(sum / freedom * weight);
    out->low = fmin(out->low, exp(mean[1] - mean[0] - half));
    out->high = fmax(out->high, exp(mean[1] - mean[0] + half));
}

// What an arm's middle may be off, because its times were printed with few digits:
// a median of rounded numbers is one of them.
static double resolution_of(const Arms *arms, int arm) {
    double most = 0;
    for (uint32_t i = 0; i < arms->count[arm]; i++) {
        const TimedRun *run = arms->runs[arm][i];
        most = fmax(most, run->quantum_s / 2 / run->median);
    }
    return most;
}

static void find_interval(Stats *out, Arena *arena, const Arms *arms) {
    double *ratios = NEW_N(arena, double, RESAMPLES);
    uint64_t state = out->seed;
    for (int i = 0; i < RESAMPLES; i++) ratios[i] = resampled_ratio(arms, &state);
    out->low = quantile(ratios, RESAMPLES, 0.025);
    out->high = quantile(ratios, RESAMPLES, 0.975);
    widen_interval(out, arms);
    out->resolution = resolution_of(arms, 0) + resolution_of(arms, 1);
    out->low *= fmax(1 - out->resolution, 0);
    out->high *= 1 + out->resolution;
}

// ---- the verdict ---------------------------------------------------------------------------

typedef struct Spread {
    double least, most, middle; // of the runs' medians
    double p95, p95_least, p95_most; // the middle, least and most of theirs
    double deviation;           // relative standard deviation of the medians
} Spread;

static Spread spread_of(const Arms *arms, int arm) {
    double medians[STATS_RUNS_MAX], tails[STATS_RUNS_MAX], sum = 0;
    uint32_t count = arms->count[arm];
    for (uint32_t i = 0; i < count; i++) {
        medians[i] = arms->runs[arm][i]->median;
        tails[i] = arms->runs[arm][i]->p95;
    }
    Spread out = {.middle = quantile(medians, count, 0.5), .p95 = quantile(tails, count, 0.5)};
    out.least = medians[0];
    out.most = medians[count - 1];
    out.p95_least = tails[0];
    out.p95_most = tails[count - 1];
    for (uint32_t i = 0; i < count; i++) {
        sum += (medians[i] / out.middle - 1) * (medians[i] / out.middle - 1);
    }
    out.deviation = count > 1 ? sqrt(sum / (count - 1)) : 0;
    return out;
}

// Runs a side that tell the minimum effect from the noise of the runs:
// 2 (1.96 s / effect)^2, for the difference of two means.
static uint32_t runs_needed(const Spread *base, const Spread *fused) {
    double s = fmax(base->deviation, fused->deviation);
    double needed = ceil(2 * pow(1.96 * s / MINIMUM_EFFECT, 2));
    return needed < 10000 ? (uint32_t)needed : 10000;
}

// In the middle, and in every run: a p95 rests on few steps.
static bool has_slower_tail(const Spread *base, const Spread *fused) {
    return fused->p95 > base->p95 * P95_RISE && fused->p95_least > base->p95_most;
}

static Speed decide(Stats *out, Arena *arena, const Spread *base, const Spread *fused) {
    double percent = fabs(1 - out->ratio) * 100;
    if (out->high < 1 - MINIMUM_EFFECT && fused->most < base->least) {
        if (has_slower_tail(base, fused)) {
            out->reason = arena_printf(arena, "the median step is %.1f %% shorter, but the slow "
                                       "ones (p95) are %.1f %% longer", percent,
                                       (fused->p95 / base->p95 - 1) * 100);
            return SPEED_NO_GAIN;
        }
        out->reason = arena_printf(arena, "the step is %.1f %% shorter (95 %% interval of the "
                                   "ratio %.3f to %.3f)", percent, out->low, out->high);
        return SPEED_FASTER;
    }
    if (out->low > 1 + MINIMUM_EFFECT && fused->least > base->most) {
        out->reason = arena_printf(arena, "the step is %.1f %% longer (95 %% interval of the "
                                   "ratio %.3f to %.3f)", percent, out->low, out->high);
        return SPEED_SLOWER;
    }
    if (out->low >= 1 - MINIMUM_EFFECT) {
        out->reason = arena_printf(arena, "no step time is gained (95 %% interval of the ratio "
                                   "%.3f to %.3f)", out->low, out->high);
        return SPEED_NO_GAIN;
    }
    out->runs_needed = runs_needed(base, fused);
    return SPEED_UNDECIDED;
}

// The median of the last third of the steps against that of the first.
static double drift_of(const double *times, uint32_t count, double *scratch) {
    uint32_t third = count / 3;
    if (!third) return 0;
    double first = median_of(scratch, times, third);
    return median_of(scratch, times + count - third, third) / first - 1;
}

static double middle_drift(const TimedRun *runs, uint32_t count, Arena *arena) {
    double *drifts = NEW_N(arena, double, count + 1);
    for (uint32_t i = 0; i < count; i++) drifts[i] = runs[i].drift;
    return count ? quantile(drifts, count, 0.5) : 0;
}

static bool describe_runs(Arms *arms, Arena *arena, TimedRun *runs, uint32_t count) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++) most = runs[i].count > most ? runs[i].count : most;
    arms->scratch = NEW_N(arena, double, most + WINDOW);
    arms->tally = NEW_N(arena, uint32_t, most + 1);
    bool enough = true;
    for (uint32_t i = 0; i < count; i++) {
        TimedRun *run = &runs[i];
        run->dropped = find_warmup(run->times, run->count, arms->scratch);
        uint32_t left = run->count - run->dropped;
        run->median = median_of(arms->scratch, run->times + run->dropped, left);
        run->p95 = quantile(arms->scratch, left, 0.95);
        run->drift = drift_of(run->times + run->dropped, left, arms->scratch);
        enough &= left >= STEPS_MIN;
        if (arms->count[run->is_fused] < STATS_RUNS_MAX) {
            uint32_t place = arms->count[run->is_fused]++;
            arms->runs[run->is_fused][place] = run;
            arms->samples[run->is_fused][place] = sample_of(arena, run);
        }
    }
    return enough;
}

static void say_undecided(Stats *out, Arena *arena, uint32_t made) {
    if (out->resolution > MINIMUM_EFFECT) { // no number of runs helps
        out->runs_needed = 0;
        out->reason = arena_printf(arena, "undecided: the step times are printed with too few "
                                   "digits, %.2g %% of a step is not told apart; let the command "
                                   "print more", out->resolution * 100);
        return;
    }
    if (out->runs_needed <= made) out->runs_needed = made + 1;
    out->reason = arena_printf(arena, "undecided: needs %u runs a side, %u were made (95 %% "
                               "interval of the ratio %.3f to %.3f; the unchanged code differs "
                               "from itself by %.1f %%)", out->runs_needed, made, out->low,
                               out->high, out->noise * 100);
}

void stats_judge(Stats *out, Arena *arena, TimedRun *runs, uint32_t count, uint64_t seed) {
    Arms arms = {0};
    *out = (Stats){.speed = SPEED_UNDECIDED, .minimum_effect = MINIMUM_EFFECT, .seed = seed,
                   .ratio = NAN, .low = NAN, .high = NAN, .noise = NAN};
    bool enough = describe_runs(&arms, arena, runs, count);
    out->drift = middle_drift(runs, count, arena);
    uint32_t fewest = arms.count[0] < arms.count[1] ? arms.count[0] : arms.count[1];
    if (!fewest) {
        out->reason = STR("undecided: there is no timed run of each kind");
        return;
    }
    Spread base = spread_of(&arms, 0), fused = spread_of(&arms, 1);
    out->ratio = fused.middle / base.middle;
    out->noise = (base.most - base.least) / base.middle;
    find_interval(out, arena, &arms);
    if (!enough || fewest < RUNS_MIN) {
        out->runs_needed = fewest < RUNS_MIN ? RUNS_MIN : 0;
        out->reason = arena_printf(arena, "undecided: %u runs a side, %d are needed, each of at "
                                   "least %d steps behind the warm-up", fewest, RUNS_MIN,
                                   STEPS_MIN);
        return;
    }
    out->speed = decide(out, arena, &base, &fused);
    if (out->speed == SPEED_UNDECIDED) say_undecided(out, arena, fewest);
    if (fabs(out->drift) <= DRIFT_TOLD) return;
    out->reason = arena_printf(arena, "%.*s; step times %s by %.0f %% in the course of a run",
                               STR_FMT(out->reason), out->drift > 0 ? "rise" : "fall",
                               fabs(out->drift) * 100);
}

// ---- JSON -------------------------------------------------------------------------------------

static void write_run(Json *json, const TimedRun *run) {
    json_object(json, JSON_LINE);
    json_add_str(json, "name", str_of(run->name));
    json_add_str(json, "arm", run->is_fused ? STR("fused") : STR("baseline"));
    json_add_double(json, "median", run->median);
    json_add_double(json, "p95", run->p95);
    json_key(json, "dropped");
    json_uint(json, run->dropped);
    json_key(json, "times");
    json_array(json, JSON_LINE);
    for (uint32_t i = 0; i < run->count; i++) json_double(json, run->times[i]);
    json_end(json);
    json_end(json);
}

void stats_write(Json *json, const Stats *stats, const TimedRun *runs, uint32_t count) {
    json_object(json, JSON_BLOCK);
    json_add_str(json, "speed", str_of(speed_name(stats->speed)));
    json_add_double(json, "ratio", stats->ratio);
    json_add_double(json, "low", stats->low);
    json_add_double(json, "high", stats->high);
    json_add_double(json, "minimum_effect", stats->minimum_effect);
    json_add_double(json, "noise", stats->noise);
    json_add_double(json, "resolution", stats->resolution);
    json_add_double(json, "drift", stats->drift);
    json_key(json, "seed");
    json_uint(json, stats->seed);
    json_key(json, "runs");
    json_array(json, JSON_BLOCK);
    for (uint32_t i = 0; i < count; i++) write_run(json, &runs[i]);
    json_end(json);
    json_add_str(json, "reason", stats->reason);
    json_end(json);
}
