// profile_diff.c - what a comparison says: first the runs and their fused kernels,
// then which kernels went and came, then the modules. Times are of a step.
#include "base/base.h"

#include "cli/profile_diff.h"

#include "model/json.h"

enum { SHOWN = 15 };

static bool is_change(const PairEntry *entry) {
    double calls = entry->side[1].calls - entry->side[0].calls;
    double us = entry->side[1].us - entry->side[0].us;
    double most = entry->side[0].us > entry->side[1].us ? entry->side[0].us : entry->side[1].us;
    return calls > 0.01 || calls < -0.01 || us > 0.05 * most || us < -0.05 * most;
}

static const char *word_of(const PairEntry *entry) {
    if (entry->side[1].calls <= 0) return "vanished";
    return entry->side[0].calls <= 0 ? "new" : "changed";
}

// ", first row 39 -> 41": of the base, of the other; "-" where it is not.
static void add_first_rows(Buf *out, const PairSide side[2]) {
    buf_add(out, STR(", first row "));
    for (int s = 0; s < 2; s++) {
        if (side[s].calls > 0) buf_addf(out, "%u", (unsigned)side[s].first_row);
        else buf_add_char(out, '-');
        buf_add(out, s ? STR("\n") : STR(" -> "));
    }
}

static void add_run(Buf *out, const PairRun *run) {
    const PairSide *side = run->entry.side;
    buf_addf(out, "  %-22.*s %8.2f -> %-8.2f ", STR_FMT(run->entry.name), side[0].calls,
             side[1].calls);
    if (run->fate == FATE_FUSED) {
        buf_addf(out, "fused: %.*s runs %.2f times a step (%.2f in the base), %.3f ms; the run "
                 "took %.3f ms", STR_FMT(run->kernel), run->fused[1].calls, run->fused[0].calls,
                 run->fused[1].us / 1e3, side[0].us / 1e3);
        add_first_rows(out, (PairSide[]){side[0], run->fused[1]});
        return;
    }
    const char *fate = run->fate == FATE_GONE ? "gone, but" : "still there;";
    buf_addf(out, "%s the fused kernel %.*s is absent", fate, STR_FMT(run->kernel));
    add_first_rows(out, side);
}

static void add_runs(Buf *out, const PairReport *pair) {
    if (!pair->runs.len) {
        buf_add(out, STR("\nThe base has no run that a fused operator can replace.\n"));
        return;
    }
    buf_add(out, STR("\n  run                    calls a step\n"));
    for (uint32_t i = 0; i < pair->runs.len; i++) add_run(out, &pair->runs.at[i]);
}

static void add_entries(Buf *out, const char *head, const PairEntry *at, uint32_t count, bool all) {
    uint32_t shown = 0, changed = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_change(&at[i])) continue;
        changed++;
        if (shown >= SHOWN && !all) continue;
        if (!shown++) {
            buf_addf(out, "\n  %-24s %21s  %25s\n", head, "calls a step", "ms a step");
        }
        const PairSide *a = &at[i].side[0], *b = &at[i].side[1];
        buf_addf(out, "  %-24.*s %9.2f -> %-9.2f  %10.3f -> %-10.3f %+.3f  %s",
                 STR_FMT(at[i].name), a->calls, b->calls, a->us / 1e3, b->us / 1e3,
                 (b->us - a->us) / 1e3, word_of(&at[i]));
        add_first_rows(out, at[i].side);
    }
    if (shown < changed) buf_addf(out, "  and %u more (-v shows them)\n", changed - shown);
}

void pair_text_write(Buf *out, const PairReport *pair, bool all) {
    double a = pair->step_us[0], b = pair->step_us[1];
    buf_addf(out, "step: %.3f ms (mean of %u) -> %.3f ms (mean of %u)", a / 1e3, pair->steps[0],
             b / 1e3, pair->steps[1]);
    if (a > 0 && b > 0) buf_addf(out, ", %.3fx", a / b);
    buf_add_char(out, '\n');
    add_runs(out, pair);
    add_entries(out, "kernel", pair->kernels.at, pair->kernels.len, all);
    if (pair->has_modules) {
        add_entries(out, "module", pair->modules.at, pair->modules.len, all);
    } else {
        buf_add(out, STR("\nnote: no time by module: it takes a trace_view.json on both sides\n"));
    }
}

bool pair_has_fused(const PairReport *pair) {
    for (uint32_t i = 0; i < pair->runs.len; i++) {
        if (pair->runs.at[i].fate == FATE_FUSED) return true;
    }
    return false;
}

static void add_sides(Json *json, const PairSide *sides, bool with_rows) {
    static const char *const names[2][3] = {
        {"base_calls", "base_us", "base_first_row"}, {"calls", "us", "first_row"}};
    for (int s = 0; s < 2; s++) {
        json_add_double(json, names[s][0], sides[s].calls);
        json_add_double(json, names[s][1], sides[s].us);
        if (!with_rows) continue;
        json_key(json, names[s][2]);
        if (sides[s].calls > 0) json_uint(json, sides[s].first_row);
        else json_null(json);
    }
}

static void add_list(Json *json, const char *name, const PairEntry *at, uint32_t count) {
    json_key(json, name);
    json_array(json, JSON_BLOCK);
    for (uint32_t i = 0; i < count; i++) {
        json_object(json, JSON_LINE);
        json_add_str(json, "name", at[i].name);
        add_sides(json, at[i].side, true);
        json_end(json);
    }
    json_end(json);
}

static void add_json_run(Json *json, const PairRun *run) {
    json_object(json, JSON_BLOCK);
    json_add_str(json, "pattern", run->entry.name);
    json_add_str(json, "api", run->api);
    json_add_word(json, "fate", pair_fate_name(run->fate));
    add_sides(json, run->entry.side, true);
    json_add_str(json, "kernel", run->kernel);
    json_key(json, "fused");
    json_object(json, JSON_LINE);
    add_sides(json, run->fused, true);
    json_end(json);
    json_end(json);
}

void pair_json_write(Buf *out, const PairReport *pair, Str base, Str other) {
    Json json;
    json_init(&json, out);
    json_object(&json, JSON_BLOCK);
    json_add_uint(&json, "version", 1);
    json_add_str(&json, "base", base);
    json_add_str(&json, "source", other);
    json_add_uint(&json, "base_steps", pair->steps[0]);
    json_add_uint(&json, "steps", pair->steps[1]);
    json_add_double(&json, "base_step_us", pair->step_us[0]);
    json_add_double(&json, "step_us", pair->step_us[1]);
    json_key(&json, "runs");
    json_array(&json, JSON_BLOCK);
    for (uint32_t i = 0; i < pair->runs.len; i++) add_json_run(&json, &pair->runs.at[i]);
    json_end(&json);
    add_list(&json, "kernels", pair->kernels.at, pair->kernels.len);
    json_add_bool(&json, "has_modules", pair->has_modules);
    add_list(&json, "modules", pair->modules.at, pair->modules.len);
    json_end(&json);
}
