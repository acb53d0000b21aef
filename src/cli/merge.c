// merge.c - `npufuse merge`: the steps of two runs side by side, and whether the
// loss of one follows the other's.
#include "base/base.h"

#include "cli/commands.h"
#include "cli/output.h"
#include "trial/gate.h"

#include <math.h>
#include <stdlib.h>

typedef struct MergeArgs {
    const char *threshold, *min_steps;
} MergeArgs;

#define FIELD(name) offsetof(MergeArgs, name)

static const Option options[] = {
    {"threshold", 0, OPTION_TEXT, "X",
     "how much the loss of a step may differ, relatively (0.01)", FIELD(threshold)},
    {"min-steps", 0, OPTION_TEXT, "N", "common steps that are needed (50)", FIELD(min_steps)},
};

static const Usage usage = {
    .name = "merge",
    .operands = "BASE FUSED",
    .purpose =
        "Joins the steps of two runs (JSON lines, as 'npufuse steps' prints them) and\n"
        "prints the array for a report: step, phase, base_loss, fused_loss, base_time,\n"
        "fused_time. What is missing or not finite is null. The greatest relative\n"
        "difference and the first failing step go to standard error.",
    .example = "npufuse merge fusion_verify/baseline.jsonl fused.jsonl > metrics.json",
    .options = options,
    .option_count = COUNT(options),
    .exit_help = {
        [EXIT_NO] = "the loss does not follow: a step beyond the limit, not finite, or missing",
        [EXIT_BLOCKED] = "too few common steps to say",
    },
};

static bool read_limits(GateLimits *out, const MergeArgs *args, Err *err) {
    char *end = NULL;
    *out = (GateLimits){0.01, GATE_MIN_STEPS};
    if (args->threshold) {
        out->threshold = strtod(args->threshold, &end);
        if (end == args->threshold || *end || !isfinite(out->threshold) || out->threshold < 0) {
            return err_set(err, "'--threshold' takes a number from 0 up, not '%s'",
                           args->threshold);
        }
    }
    if (args->min_steps) {
        unsigned long steps = strtoul(args->min_steps, &end, 10);
        if (end == args->min_steps || *end || steps < 1 || steps > 1000000000) {
            return err_set(err, "'--min-steps' takes a number from 1 up, not '%s'",
                           args->min_steps);
        }
        out->min_steps = (uint32_t)steps;
    }
    return true;
}

static void tell(const Gate *gate) {
    Buf line = {0};
    buf_addf(&line, "max_rel_diff=%.6g first_fail_step=", gate->max_rel_diff);
    if (gate->has_first_fail) buf_addf(&line, "%lld\n", (long long)gate->first_fail_step);
    else buf_add(&line, STR("none\n"));
    buf_addf(&line, "%.*s\n", STR_FMT(gate->reason));
    output_talk(buf_str(&line));
    buf_free(&line);
}

static bool print_metrics(const StepList *base, const StepList *fused, Err *err) {
    Buf out = {0};
    Json json;
    json_init(&json, &out);
    metrics_write(&json, base, fused);
    bool ok = output_write(buf_str(&out), err);
    buf_free(&out);
    return ok;
}

int merge_command(const Args *args) {
    MergeArgs given = {0};
    ArgList files = {0};
    GateLimits limits;
    StepList base, fused;
    Gate gate;
    Err err;
    int code;
    if (!options_read(&given, &files, &usage, args, &code)) return code;
    if (files.len != 2) return output_fail(EXIT_USAGE, "merge takes two files, BASE and FUSED");
    if (!read_limits(&limits, &given, &err) ||
        !steps_read_jsonl(&base, args->run, files.at[0], &err) ||
        !steps_read_jsonl(&fused, args->run, files.at[1], &err) ||
        !print_metrics(&base, &fused, &err)) {
        return output_fail(EXIT_USAGE, "%s", err.text);
    }
    gate_compare(&gate, args->run, &base, &fused, limits);
    tell(&gate);
    if (gate.verdict == GATE_FAIL) return EXIT_NO;
    return gate.verdict == GATE_PASS ? EXIT_DONE : EXIT_BLOCKED;
}
