// gate.c - the loss gate. One comparison, said in one sentence.
#include "base/base.h"

#include "trial/gate.h"

#include <math.h>

double gate_rel_diff(double base, double other) {
    if (!isfinite(base) || !isfinite(other)) return INFINITY;
    return fabs(base - other) / fmax(fabs(base), 1e-3);
}

bool gate_is_apart(const StepRecord *base, const StepRecord *other, double threshold) {
    double digit = fmax(base->quantum, other->quantum) * (1 + 1e-9);
    double limit = fmax(threshold, digit / fmax(fabs(base->loss), 1e-3));
    return !(gate_rel_diff(base->loss, other->loss) <= limit);
}

// What a log resolves. One number may end in zeros that were not printed, so all
// of them are asked: the finest last digit, and the most digits.
typedef struct Resolution {
    double finest; // worth of the finest last digit
    double grain;  // least (worth of the last digit / value)
} Resolution;

static Resolution resolution_of(const StepList *list) {
    Resolution out = {INFINITY, INFINITY};
    for (uint32_t i = 0; i < list->len; i++) {
        const StepRecord *step = &list->at[i];
        if (!step->has_loss || !isfinite(step->loss)) continue;
        out.finest = fmin(out.finest, step->quantum);
        if (step->loss != 0) out.grain = fmin(out.grain, step->quantum / fabs(step->loss));
    }
    return out;
}

static double quantum_of(const StepRecord *step, Resolution r) {
    return fmin(step->quantum, fmax(r.finest, r.grain * fabs(step->loss)));
}

typedef struct Limit {
    double threshold;
    Resolution base, other;
} Limit;

// What one step's limit is: the threshold, or what the logs can tell apart.
static double limit_of(const StepRecord *base, const StepRecord *other, const Limit *limit) {
    double quantum = fmax(quantum_of(base, limit->base), quantum_of(other, limit->other));
    quantum *= 1 + 1e-9; // 2.8 - 2.7 is a little more than 0.1
    return fmax(limit->threshold, quantum / fmax(fabs(base->loss), 1e-3));
}

static void note_fail(Gate *out, int64_t step) {
    if (out->has_first_fail) return;
    out->has_first_fail = true;
    out->first_fail_step = step;
}

static void compare_step(Gate *out, const StepRecord *base, const StepRecord *other,
                         const Limit *limit) {
    double rel = gate_rel_diff(base->loss, other->loss);
    out->common++;
    if (rel > out->max_rel_diff) out->max_rel_diff = rel;
    if (rel > limit_of(base, other, limit)) note_fail(out, base->step);
}

// Means of the last GATE_WINDOW steps that both have.
static double window_diff(const StepList *base, const StepList *other) {
    double sum_base = 0, sum_other = 0;
    uint32_t count = 0;
    for (uint32_t i = base->len; i-- > 0 && count < GATE_WINDOW;) {
        const StepRecord *a = &base->at[i], *b = step_list_find(other, a->step);
        if (!a->has_loss || !b || !b->has_loss) continue;
        sum_base += a->loss / GATE_WINDOW; // so that no sum is beyond a double
        sum_other += b->loss / GATE_WINDOW;
        count++;
    }
    double share = (double)GATE_WINDOW / (count ? count : 1);
    return count ? gate_rel_diff(sum_base * share, sum_other * share) : INFINITY;
}

static Str say_fail(const Gate *out, Arena *arena, double threshold, const StepRecord *base,
                    const StepRecord *other) {
    if (!out->has_first_fail) {
        return arena_printf(arena, "the mean of the last %d losses differs by %.3g, more than %g",
                            GATE_WINDOW, out->window_rel_diff, threshold);
    }
    long long step = out->first_fail_step;
    if (!other || !other->has_loss) {
        return arena_printf(arena, "no loss at step %lld", step);
    }
    if (!base || !base->has_loss) {
        return arena_printf(arena, "the unchanged run has no loss at step %lld (here: %.7g)", step,
                            other->loss);
    }
    if (!isfinite(other->loss) || !isfinite(base->loss)) {
        return arena_printf(arena, "the loss is %g at step %lld (unchanged: %g)", other->loss, step,
                            base->loss);
    }
    return arena_printf(arena, "the loss differs by %.3g at step %lld (%.7g, unchanged %.7g), more "
                        "than %g; at most by %.3g", gate_rel_diff(base->loss, other->loss), step,
                        other->loss, base->loss, threshold, out->max_rel_diff);
}

static void judge(Gate *out, Arena *arena, GateLimits limits) {
    if (out->common < limits.min_steps) {
        out->verdict = GATE_TOO_SHORT;
        out->reason = arena_printf(arena, "%u common steps with a loss, %u are needed", out->common,
                                   limits.min_steps);
        return;
    }
    out->verdict = GATE_PASS;
    bool is_coarse = out->max_rel_diff > limits.threshold;
    out->reason = arena_printf(arena, "the loss follows over %u steps, at most %.3g apart (limit "
                               "%g%s)", out->common, out->max_rel_diff, limits.threshold,
                               is_coarse ? "; that is the last digit that the log prints" : "");
}

// The first step with a loss of `other` alone that lies among those of `base`:
// Megatron prints no loss that is not positive. What `other` has before and behind
// them is no fault, since a run may be ended a step later.
static void find_hole(Gate *out, const StepList *base, const StepList *other) {
    bool begins = false;
    uint32_t i = 0, last = base->len;
    while (last > 0 && !base->at[last - 1].has_loss) last--;
    for (uint32_t k = 0; k < other->len; k++) {
        const StepRecord *b = &other->at[k];
        for (; i < last && base->at[i].step < b->step; i++) begins |= base->at[i].has_loss;
        if (i == last) return;
        bool has = base->at[i].step == b->step && base->at[i].has_loss;
        if (!begins || has || !b->has_loss) continue;
        if (out->has_first_fail && out->first_fail_step < b->step) return;
        out->has_first_fail = true;
        out->first_fail_step = b->step;
        return;
    }
}

void gate_compare(Gate *out, Arena *arena, const StepList *base, const StepList *other,
                  GateLimits limits) {
    double threshold = limits.threshold;
    Limit limit = {threshold, resolution_of(base), resolution_of(other)};
    *out = (Gate){0};
    double coarse = threshold; // of the window
    for (uint32_t i = 0; i < base->len; i++) {
        const StepRecord *a = &base->at[i], *b = step_list_find(other, a->step);
        if (!a->has_loss) continue;
        if (b && b->has_loss) {
            compare_step(out, a, b, &limit);
            coarse = fmax(coarse, limit_of(a, b, &limit));
        } else {
            note_fail(out, a->step);
        }
    }
    find_hole(out, base, other);
    out->window_rel_diff = window_diff(base, other);
    if (out->has_first_fail || (out->common && !(out->window_rel_diff <= coarse))) {
        out->verdict = GATE_FAIL;
        const StepRecord *a = step_list_find(base, out->first_fail_step);
        const StepRecord *b = step_list_find(other, out->first_fail_step);
        out->reason = say_fail(out, arena, threshold, a, b);
        return;
    }
    judge(out, arena, limits);
}

// ---- metrics ----------------------------------------------------------------------------

static void add_number(Json *json, const char *name, bool has, double value) {
    json_key(json, name);
    json_double_if(json, has, value);
}

static void write_metric(Json *json, const StepRecord *base, const StepRecord *fused) {
    static const StepRecord none;
    const StepRecord *any = base ? base : fused;
    if (!base) base = &none;
    if (!fused) fused = &none;
    json_object(json, JSON_LINE);
    json_key(json, "step");
    json_int_write(json, any->step);
    json_key(json, "phase");
    if (any->phase[0]) json_str(json, str_of(any->phase));
    else json_null(json);
    add_number(json, "base_loss", base->has_loss, base->loss);
    add_number(json, "fused_loss", fused->has_loss, fused->loss);
    add_number(json, "base_time", base->has_time, base->step_time_s);
    add_number(json, "fused_time", fused->has_time, fused->step_time_s);
    json_end(json);
}

void metrics_write(Json *json, const StepList *base, const StepList *fused) {
    uint32_t i = 0, k = 0;
    json_array(json, JSON_BLOCK);
    while (i < base->len || k < fused->len) {
        const StepRecord *a = i < base->len ? &base->at[i] : NULL;
        const StepRecord *b = k < fused->len ? &fused->at[k] : NULL;
        if (a && b && a->step != b->step) {
            if (a->step < b->step) b = NULL;
            else a = NULL;
        }
        write_metric(json, a, b);
        i += a != NULL;
        k += b != NULL;
    }
    json_end(json);
}
