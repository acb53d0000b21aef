// loss.c - the end-to-end stage: the user's command with and without the
// candidate, step by step. The unchanged code is run twice, because a run that
// does not repeat itself can't be compared with anything.
#include "base/base.h"

#include "trial/trial_impl.h"

#include <math.h>

// ---- runs -----------------------------------------------------------------------

static bool make_overlay(Trial *trial, Overlay *out, const TrialEdits *edits, Str owner,
                         Err *err) {
    Str *files = NEW_N(trial->arena, Str, trial->count);
    for (uint32_t i = 0; i < trial->count; i++) files[i] = trial->candidates[i].finding->file;
    OverlaySpec spec = {.root = trial->root, .prefix = trial->prefix,
                        .tree = trial_run_path(trial, owner, "tree"),
                        .work = trial->work, .edits = edits->files.at,
                        .edit_count = edits->files.len, .files = files,
                        .file_count = trial->count};
    return overlay_make(out, trial->arena, &spec, err);
}

bool trial_baseline_overlay(Trial *trial, Err *err) {
    if (trial->has_overlay) return true;
    TrialEdits *edits = &trial->baseline_edits;
    *edits = (TrialEdits){0};
    trial->has_overlay =
        trial->hooks.render(trial->hooks.data, edits, NULL, err) &&
        make_overlay(trial, &trial->baseline_overlay, edits, STR("baseline"), err);
    return trial->has_overlay;
}

bool work_overlay(Work *work, Err *err) {
    if (work->has_overlay) return true;
    bool *in = NEW_N(work->trial->arena, bool, work->trial->count);
    in[work->number] = true;
    const TrialHooks *hooks = &work->trial->hooks;
    work->has_overlay =
        hooks->render(hooks->data, &work->edits, in, err) &&
        make_overlay(work->trial, &work->overlay, &work->edits, work->task->slug, err);
    return work->has_overlay;
}

static void add_part(Sha256 *hash, Str part) {
    char end = 0;
    sha256_add(hash, part);
    sha256_add(hash, (Str){&end, 1});
}

// What the result of a run depends on.
static Str run_key(const Trial *trial, const RunPlan *plan) {
    const Launch *launch = &trial->tasks->launch;
    Sha256 hash;
    char hex[SHA256_HEX + 1];
    sha256_init(&hash);
    for (uint32_t i = 0; i < launch->argv.len; i++) add_part(&hash, launch->argv.at[i]);
    add_part(&hash, launch->folder);
    add_part(&hash, launch->log);
    add_part(&hash, str_of(plan->overlay->digest));
    add_part(&hash, trial->machine);
    add_part(&hash, arena_printf(trial->arena, "%lld %.17g %d %d", (long long)launch->steps,
                                 launch->threshold, plan->is_candidate && launch->no_emulate,
                                 plan->is_candidate));
    for (uint32_t i = 0; i < plan->candidate_count; i++) {
        add_part(&hash, plan->candidates[i].finding->id);
    }
    sha256_end(&hash, hex);
    return arena_str(trial->arena, str_of(hex));
}

bool trial_arm(Trial *trial, ArmResult *out, const RunPlan *plan, Err *err) {
    ArmSpec spec = {
        .folder = trial_run_path(trial, plan->owner, plan->name), .overlay = plan->overlay,
        .candidates = plan->candidates, .candidate_count = plan->candidate_count,
        .runtime = &trial->runtime, .launch = &trial->tasks->launch,
        .is_candidate = plan->is_candidate, .key = run_key(trial, plan),
        .reference = plan->is_watched ? &trial->baseline.steps : NULL,
    };
    trial_say(trial, "  run %.*s/%s, log %s/log.txt", STR_FMT(plan->owner), plan->name,
              trial_run_path(trial, plan->owner, plan->name));
    if (!arm_run(out, trial->arena, &spec, err)) return false;
    trial->interrupted |= out->end == PROC_INTERRUPTED;
    trial_say(trial, "    %u steps in %.1f s%s", out->steps.len, out->seconds,
              out->reused ? " (kept from before)" : "");
    return true;
}

Str trial_fault(const Trial *trial, const ArmResult *result, const char *which) {
    Str fault = arm_fault(result, trial->arena, &trial->tasks->launch);
    return arena_printf(trial->arena, "%s: %.*s%s%.*s", which, STR_FMT(fault),
                        result->tail.len ? "; its last lines:\n" : "", STR_FMT(result->tail));
}

// ---- the unchanged code -------------------------------------------------------------

static bool run_baseline(Trial *trial, ArmResult *out, const char *name, Err *err) {
    const TrialEdits *edits = &trial->baseline_edits;
    RunPlan plan = {.overlay = &trial->baseline_overlay, .owner = STR("baseline"), .name = name,
                    .candidates = edits->candidates.at,
                    .candidate_count = edits->candidates.len};
    return trial_arm(trial, out, &plan, err);
}

static bool make_baseline(Trial *trial, Err *err) {
    const Launch *launch = &trial->tasks->launch;
    trial->has_baseline = true;
    if (!trial_baseline_overlay(trial, err)) return false;
    if (!run_baseline(trial, &trial->baseline, "loss-1", err)) return false;
    if (!arm_is_complete(&trial->baseline, launch)) {
        trial->baseline_fault = trial_fault(trial, &trial->baseline, "the unchanged code");
        return true;
    }
    if (trial->baseline.steps.len < GATE_MIN_STEPS) {
        trial->baseline_fault = arena_printf(
            trial->arena, "the run printed %u steps, %d are needed: let the command make more",
            trial->baseline.steps.len, GATE_MIN_STEPS);
        return true;
    }
    if (!run_baseline(trial, &trial->again, "loss-2", err)) return false;
    if (!arm_is_complete(&trial->again, launch)) {
        trial->baseline_fault = trial_fault(trial, &trial->again, "the unchanged code again");
        return true;
    }
    gate_compare(&trial->repeat, trial->arena, &trial->baseline.steps, &trial->again.steps,
                 (GateLimits){launch->threshold, GATE_MIN_STEPS});
    if (trial->repeat.verdict != GATE_PASS) {
        trial->baseline_fault = arena_printf(
            trial->arena, "the run does not repeat itself: %.*s; fix its seeds (torch, numpy, "
            "random, data order) and deterministic settings", STR_FMT(trial->repeat.reason));
    }
    return true;
}

// ---- did the fused branch run? --------------------------------------------------------

// "a and b" out of "if (\n a\n and b\n):" or "if a:".
static Str guard_text(Arena *arena, Str replacement) {
    Buf text = {0};
    size_t i = 0;
    while (i < replacement.len && replacement.at[i] != '\n' &&
           !str_starts((Str){replacement.at + i, replacement.len - i}, "if ")) {
        i++;
    }
    for (i += 3; i < replacement.len; i++) {
        char c = replacement.at[i];
        bool end = c == ':' && (i + 1 >= replacement.len || replacement.at[i + 1] == '\n' ||
                                replacement.at[i + 1] == '\r');
        if (end) break;
        bool space = c == ' ' || c == '\n' || c == '\r' || c == '\t';
        if (!space) buf_add_char(&text, c);
        else if (text.len && text.at[text.len - 1] != ' ') buf_add_char(&text, ' ');
    }
    Str guard = arena_str(arena, buf_str(&text));
    buf_free(&text);
    if (str_starts(guard, "( ")) guard = (Str){guard.at + 2, guard.len - 2};
    if (str_ends(guard, " )")) guard.len -= 2;
    return guard;
}

// Whether a rank has the module from outside of the overlay alone.
static bool has_strangers(const Counts *counts, uint32_t candidate) {
    for (uint32_t i = 0; i < counts->len; i++) {
        const Count *at = &counts->at[i];
        if (at->candidate == candidate && at->loaded == 0 && at->elsewhere > 0) return true;
    }
    return false;
}

// Why the counts say that the comparison shows nothing; empty if they do not.
static Str baseline_counts_fault(const Work *work) {
    Arena *arena = work->trial->arena;
    Count count = counts_sum(&work->trial->baseline.counts, work->number);
    const Finding *finding = work->candidate->finding;
    if (has_strangers(&work->trial->baseline.counts, work->number)) {
        return arena_printf(arena, "the command imports '%.*s' from outside of the copy that is "
                            "run: start it from the project's folder, or without an installed "
                            "copy of the package", STR_FMT(finding->file));
    }
    if (work->trial->baseline.counts.len == 0) {
        return arena_printf(arena, "no Python process of the command imports '%.*s', or Python was "
                            "started with -S, -I or -E and can't be watched",
                            STR_FMT(finding->file));
    }
    if (count.other > 0) return STR("");
    return arena_printf(arena, "the command never runs lines %u-%u of '%.*s'",
                        finding->start_line, finding->end_line, STR_FMT(finding->file));
}

static Str fused_counts_fault(const Work *work) {
    Arena *arena = work->trial->arena;
    const Counts *counts = &work->fused.counts;
    for (uint32_t i = 0; i < counts->len; i++) {
        const Count *at = &counts->at[i];
        if (at->fused > 0 || at->other == 0) continue;
        Str guard = guard_text(arena, work->candidate->finding->replacement);
        return arena_printf(arena, "fused branch never ran in rank %llu, the original %llu times "
                            "(guard: %.*s)", (unsigned long long)at->rank,
                            (unsigned long long)at->other, STR_FMT(guard));
    }
    if (counts_sum(counts, 0).fused > 0) return STR("");
    return STR("fused branch never ran: no process of the command told a count");
}

static Str count_sentence(const Work *work) {
    Count count = counts_sum(&work->fused.counts, 0);
    return arena_printf(work->trial->arena, "fused branch %llu times, original %llu times%s",
                        (unsigned long long)count.fused, (unsigned long long)count.other,
                        count.emulated ? ", operator emulated" : "");
}

// ---- the stage --------------------------------------------------------------------------

static bool run_fused(Work *work, Err *err) {
    if (!work_overlay(work, err)) return false;
    RunPlan plan = {.overlay = &work->overlay, .owner = work->task->slug, .name = "loss-1",
                    .candidates = work->edits.candidates.at,
                    .candidate_count = work->edits.candidates.len,
                    .is_candidate = true, .is_watched = true};
    work->has_fused = true;
    return trial_arm(work->trial, &work->fused, &plan, err);
}

static void judge(Work *work) {
    Trial *trial = work->trial;
    Task *task = work->task;
    const Launch *launch = &trial->tasks->launch;
    if (trial->interrupted) return;
    if (!arm_is_complete(&work->fused, launch)) {
        stage_set(task, STAGE_LOSS, STAGE_FAIL,
                  trial_fault(trial, &work->fused, "with the candidate"));
        return;
    }
    Str fault = fused_counts_fault(work);
    task->stages[STAGE_LOSS].emulated = counts_sum(&work->fused.counts, 0).emulated > 0;
    if (fault.len) {
        stage_set(task, STAGE_LOSS, STAGE_BLOCKED, fault);
        return;
    }
    gate_compare(&work->gate, trial->arena, &trial->baseline.steps, &work->fused.steps,
                 (GateLimits){launch->threshold, work->fused.left ? 1 : GATE_MIN_STEPS});
    StageStatus status = work->gate.verdict == GATE_PASS && !work->fused.left ? STAGE_PASS
                         : work->gate.verdict == GATE_TOO_SHORT               ? STAGE_BLOCKED
                                                                              : STAGE_FAIL;
    Str counts = count_sentence(work);
    stage_set(task, STAGE_LOSS, status,
              arena_printf(trial->arena, "%.*s; %.*s", STR_FMT(work->gate.reason),
                           STR_FMT(counts)));
}

bool loss_stage(Work *work, Err *err) {
    Trial *trial = work->trial;
    if (!trial->has_baseline && !make_baseline(trial, err)) return false;
    if (trial->interrupted) return true;
    Str fault = trial->baseline_fault;
    if (!fault.len) fault = baseline_counts_fault(work);
    if (fault.len) {
        stage_set(work->task, STAGE_LOSS, STAGE_BLOCKED, fault);
        return true;
    }
    if (!run_fused(work, err)) return false;
    judge(work);
    return true;
}

// ---- all that passed, in one run -----------------------------------------------------------

static uint32_t choose_passed(const Trial *trial, bool *in) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < trial->count; i++) {
        const Task *task = task_find(trial->tasks, trial->candidates[i].finding->id);
        in[i] = task->stages[STAGE_UNIT].status == STAGE_PASS &&
                task->stages[STAGE_LOSS].status == STAGE_PASS && task->answer != ANSWER_DO_NOT;
        count += in[i];
    }
    return count;
}

// Its candidates, one after the other, as far as their branches ran.
static Str together_counts_fault(Trial *trial, const ArmResult *result, const TrialEdits *edits) {
    for (uint32_t i = 0; i < edits->candidates.len; i++) {
        if (counts_sum(&result->counts, i).fused > 0) continue;
        return arena_printf(trial->arena, "fused branch never ran: %.*s",
                            STR_FMT(edits->candidates.at[i].finding->id));
    }
    return STR("");
}

static bool is_emulated(const Counts *counts) {
    for (uint32_t i = 0; i < counts->len; i++) {
        if (counts->at[i].emulated > 0) return true;
    }
    return false;
}

static void judge_together(Trial *trial, const ArmResult *result, const TrialEdits *edits) {
    Stage *stage = &trial->tasks->together;
    const Launch *launch = &trial->tasks->launch;
    if (!arm_is_complete(result, launch)) {
        *stage = (Stage){STAGE_FAIL, trial_fault(trial, result, "all together"), false};
        return;
    }
    Gate gate;
    gate_compare(&gate, trial->arena, &trial->baseline.steps, &result->steps,
                 (GateLimits){launch->threshold, result->left ? 1 : GATE_MIN_STEPS});
    Str fault = together_counts_fault(trial, result, edits);
    bool passed = gate.verdict == GATE_PASS && !result->left;
    *stage = (Stage){passed ? STAGE_PASS : STAGE_FAIL, gate.reason, is_emulated(&result->counts)};
    if (!fault.len && gate.verdict != GATE_TOO_SHORT) return;
    stage->status = STAGE_BLOCKED;
    if (fault.len) stage->reason = fault;
}

bool together_stage(Trial *trial, Err *err) {
    bool *in = NEW_N(trial->arena, bool, trial->count);
    uint32_t count = choose_passed(trial, in);
    trial->tasks->together = (Stage){0};
    if (count < 2) return true;
    if (!trial->has_baseline && !make_baseline(trial, err)) return false;
    if (trial->baseline_fault.len || trial->interrupted) return true;
    Overlay overlay;
    TrialEdits edits = {0};
    ArmResult result;
    trial_say(trial, "all %u that passed, in one run", count);
    if (!trial->hooks.render(trial->hooks.data, &edits, in, err) ||
        !make_overlay(trial, &overlay, &edits, STR("together"), err)) {
        return false;
    }
    RunPlan plan = {.overlay = &overlay, .owner = STR("together"), .name = "loss-1",
                    .candidates = edits.candidates.at,
                    .candidate_count = edits.candidates.len,
                    .is_candidate = true, .is_watched = true};
    if (!trial_arm(trial, &result, &plan, err)) return false;
    if (!trial->interrupted) judge_together(trial, &result, &edits);
    return true;
}
