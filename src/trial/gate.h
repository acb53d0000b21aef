// gate.h - does the loss of one run follow that of another?
#ifndef NPUFUSE_GATE_H
#define NPUFUSE_GATE_H

#include "model/json.h"
#include "trial/steps.h"

enum { GATE_MIN_STEPS = 50, GATE_WINDOW = 10 };

typedef enum GateVerdict { GATE_PASS, GATE_FAIL, GATE_TOO_SHORT } GateVerdict;

typedef struct Gate {
    GateVerdict verdict;
    uint32_t common;       // steps that both have with a loss
    double max_rel_diff;   // over them; infinite where one is not finite
    bool has_first_fail;
    int64_t first_fail_step; // 0 is a step too
    double window_rel_diff;  // of the means of the last GATE_WINDOW common steps
    Str reason;              // a sentence, in the arena
} Gate;

typedef struct GateLimits {
    double threshold;   // of the relative difference
    uint32_t min_steps; // common ones
} GateLimits;

// |base - other| / max(|base|, 1e-3); infinite unless both are finite.
double gate_rel_diff(double base, double other);
// Whether two losses are further apart than `threshold` and than what their last
// digits are worth: what can be said of a step before the whole logs are known.
bool gate_is_apart(const StepRecord *base, const StepRecord *other, double threshold);
// Fails on a step beyond `threshold`, on one whose loss is not finite or that
// `other` does not have, on a step of `other` that `base` lacks among its own, and on
// the window. Never tighter than what the logs resolve.
void gate_compare(Gate *out, Arena *arena, const StepList *base, const StepList *other,
                  GateLimits limits);
// The array of {step, phase, base_loss, fused_loss, base_time, fused_time}:
// outer join by step; what is missing or not finite is null.
void metrics_write(Json *json, const StepList *base, const StepList *fused);

#endif
