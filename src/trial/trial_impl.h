// trial_impl.h - what the stages of verification share. Not for others.
#ifndef NPUFUSE_TRIAL_IMPL_H
#define NPUFUSE_TRIAL_IMPL_H

#include "trial/trial.h"

// What is known of one candidate when its report is written.
typedef struct Work {
    Trial *trial;
    uint32_t number;
    const TrialCandidate *candidate;
    Task *task;
    bool has_overlay, has_fused;
    Overlay overlay;
    TrialEdits edits;
    ArmResult fused;
    Gate gate;
    bool has_speed;
    Stats stats;
    TimedRun *runs;
    uint32_t run_count;
} Work;

// A path below the work folder: runs/<owner>/<name>.
const char *trial_run_path(const Trial *trial, Str owner, const char *name);
void trial_say(const Trial *trial, const char *fmt, ...) PRINTF_LIKE(2, 3);
// One line of events.jsonl, tasks.json and tasks.md.
MUST_CHECK bool trial_save(Trial *trial, const Task *task, const char *event, Str detail,
                           Err *err);
void stage_set(Task *task, StageName stage, StageStatus status, Str reason);

MUST_CHECK bool trial_baseline_overlay(Trial *trial, Err *err);
MUST_CHECK bool work_overlay(Work *work, Err *err); // with the candidate's edit
typedef struct RunPlan {
    const Overlay *overlay;
    Str owner;        // "baseline", a slug, "together"
    const char *name; // "loss-1"
    const ArmCandidate *candidates;
    uint32_t candidate_count;
    bool is_candidate, is_watched; // watched: ends early where it leaves the baseline
} RunPlan;
MUST_CHECK bool trial_arm(Trial *trial, ArmResult *out, const RunPlan *plan, Err *err);

// What went wrong with a run, and its last lines.
Str trial_fault(const Trial *trial, const ArmResult *result, const char *which);

// The stages: the outcome is in the task.
MUST_CHECK bool unit_stage(Work *work, Err *err);
MUST_CHECK bool loss_stage(Work *work, Err *err);
MUST_CHECK bool speed_stage(Work *work, Err *err);
MUST_CHECK bool together_stage(Trial *trial, Err *err);
// <slug>.jsonl, <slug>.metrics.json, <slug>.report.json and the page.
MUST_CHECK bool work_report(Work *work, Err *err);
// Each page lists all candidates: once all have their answer, so do the pages.
MUST_CHECK bool reports_renew(Trial *trial, Err *err);
// What the unit stage wrote; NULL if there is nothing.
const JsonVal *unit_result(const Trial *trial, Arena *arena, Str slug);

#endif
