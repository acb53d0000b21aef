// speed.c - the performance stage: step times of real processes, the unchanged
// code and the candidate in turns, so that a drift of the machine meets both.
#include "base/base.h"

#include "trial/trial_impl.h"

// A run of the unchanged code or of the candidate.
static const char order[] = {'A', 'B', 'B', 'A', 'A', 'B'};

static bool time_run(Work *work, uint32_t index, bool is_fused, Err *err) {
    Trial *trial = work->trial;
    uint32_t nth = 1;
    for (uint32_t i = 0; i < work->run_count; i++) nth += work->runs[i].is_fused == is_fused;
    const char *name = arena_printf(trial->arena, "%c%u", is_fused ? 'B' : 'A', nth).at;
    const TrialEdits *edits = is_fused ? &work->edits : &trial->baseline_edits;
    RunPlan plan = {.overlay = is_fused ? &work->overlay : &trial->baseline_overlay,
                    .owner = work->task->slug,
                    .name = arena_printf(trial->arena, "time-%u-%s", index + 1, name).at,
                    .candidates = edits->candidates.at,
                    .candidate_count = edits->candidates.len, .is_candidate = is_fused};
    ArmResult result;
    if (!trial_arm(trial, &result, &plan, err)) return false;
    if (trial->interrupted) return true;
    if (!arm_is_complete(&result, &trial->tasks->launch)) {
        stage_set(work->task, STAGE_PERFORMANCE, STAGE_BLOCKED,
                  arm_fault(&result, trial->arena, &trial->tasks->launch));
        return true;
    }
    if (!timed_run_init(&work->runs[work->run_count], trial->arena, &result.steps, name,
                        is_fused)) {
        stage_set(work->task, STAGE_PERFORMANCE, STAGE_BLOCKED,
                  STR("the command prints no step time"));
        return true;
    }
    work->run_count++;
    return true;
}

static void conclude(Work *work) {
    Task *task = work->task;
    task->speed = work->stats.speed;
    StageStatus status = task->speed == SPEED_FASTER      ? STAGE_PASS
                         : task->speed == SPEED_UNDECIDED ? STAGE_BLOCKED
                                                          : STAGE_FAIL;
    stage_set(task, STAGE_PERFORMANCE, status, work->stats.reason);
}

// Runs `count` more in the order A B B A A B; false only on a fault.
static bool run_rounds(Work *work, uint32_t from, uint32_t count, Err *err) {
    for (uint32_t i = from; i < from + count && work->run_count < STATS_RUNS_MAX; i++) {
        if (!time_run(work, i, order[i % COUNT(order)] == 'B', err)) return false;
        bool over = work->task->stages[STAGE_PERFORMANCE].status != STAGE_OPEN;
        if (work->trial->interrupted || over) return true;
    }
    return true;
}

bool speed_stage(Work *work, Err *err) {
    enum { ROUND = 6, RUNS_MAX = 18 };
    Trial *trial = work->trial;
    Stage *stage = &work->task->stages[STAGE_PERFORMANCE];
    if (work->task->stages[STAGE_LOSS].emulated || work->task->stages[STAGE_UNIT].emulated) {
        stage_set(work->task, STAGE_PERFORMANCE, STAGE_BLOCKED,
                  STR("needs an NPU: emulated operators say nothing about speed"));
        return true;
    }
    if (trial->tasks->launch.no_performance) {
        stage_set(work->task, STAGE_PERFORMANCE, STAGE_SKIPPED, STR("--no-performance"));
        return true;
    }
    if (!trial_baseline_overlay(trial, err) || !work_overlay(work, err)) return false;
    work->runs = NEW_N(trial->arena, TimedRun, STATS_RUNS_MAX);
    for (uint32_t done = 0; done < RUNS_MAX; done += ROUND) {
        if (!run_rounds(work, done, ROUND, err)) return false;
        if (trial->interrupted || stage->status != STAGE_OPEN) return true;
        stats_judge(&work->stats, trial->arena, work->runs, work->run_count,
                    (uint64_t)trial->tasks->launch.seed);
        work->has_speed = true;
        // More runs help only where the number that is needed is in reach.
        uint32_t needed = work->stats.runs_needed;
        if (work->stats.speed != SPEED_UNDECIDED || !needed || needed * 2 > RUNS_MAX) break;
    }
    conclude(work);
    return true;
}
