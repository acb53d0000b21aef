// verify.c - the order of things: for each candidate unit, loss, step time; a
// task moves on only when what it rests on is written down.
#include "base/base.h"

#include "trial/trial_impl.h"

#include "base/buf.h"
#include "base/file.h"

static bool move_to(Work *work, TaskState state, Err *err) {
    work->task->state = state;
    return trial_save(work->trial, work->task, task_state_name(state), STR(""), err);
}

static void answer(Task *task, Answer value, Str reason) {
    task->answer = value;
    task->reason = reason;
}

static Str joined(Arena *arena, const char *what, Str reason) {
    return reason.len ? arena_printf(arena, "%s: %.*s", what, STR_FMT(reason)) : str_of(what);
}

// What the stages say together.
static void conclude(Work *work) {
    Task *task = work->task;
    Arena *arena = work->trial->arena;
    const Stage *unit = &task->stages[STAGE_UNIT], *loss = &task->stages[STAGE_LOSS];
    const Stage *speed = &task->stages[STAGE_PERFORMANCE];
    if (unit->status == STAGE_FAIL || loss->status == STAGE_FAIL) {
        const Stage *failed = unit->status == STAGE_FAIL ? unit : loss;
        const char *what = failed == unit ? "unit precision failed" : "the loss comparison failed";
        task->state = TASK_PRECISION_FAILED;
        stage_set(task, STAGE_PERFORMANCE, STAGE_SKIPPED, STR("precision failed"));
        if (failed == unit) stage_set(task, STAGE_LOSS, STAGE_SKIPPED, STR("precision failed"));
        answer(task, ANSWER_DO_NOT, joined(arena, what, failed->reason));
        return;
    }
    if (unit->status == STAGE_BLOCKED || loss->status == STAGE_BLOCKED) {
        const Stage *blocked = loss->status == STAGE_BLOCKED ? loss : unit;
        task->state = TASK_BLOCKED;
        answer(task, ANSWER_UNDECIDED, joined(arena, "blocked", blocked->reason));
        return;
    }
    if (task->speed == SPEED_FASTER) {
        task->state = TASK_CONCLUDED;
        answer(task, ANSWER_REPLACE, joined(arena, "precision passed, faster", speed->reason));
    } else if (task->speed == SPEED_SLOWER || task->speed == SPEED_NO_GAIN) {
        task->state = TASK_CONCLUDED;
        const char *what = task->speed == SPEED_SLOWER ? "precision passed, slower"
                                                       : "precision passed, no gain";
        answer(task, ANSWER_DO_NOT, joined(arena, what, speed->reason));
    } else if (speed->status == STAGE_BLOCKED) {
        task->state = TASK_BLOCKED;
        const char *what = task->speed == SPEED_UNDECIDED ? "precision passed, speed"
                                                          : "precision passed, blocked";
        answer(task, ANSWER_UNDECIDED, joined(arena, what, speed->reason));
    } else { // --no-performance
        task->state = TASK_CONCLUDED;
        answer(task, ANSWER_UNDECIDED, joined(arena, "precision passed", speed->reason));
    }
}

// Says what a stage gave, and writes it down.
static bool end_stage(Work *work, StageName which, Err *err) {
    const Stage *stage = &work->task->stages[which];
    if (work->trial->interrupted) return true;
    trial_say(work->trial, "  %s: %s%s%s%.*s", stage_name(which), stage_status_name(stage->status),
              stage->emulated ? " (emulated)" : "", stage->reason.len ? ": " : "",
              STR_FMT(stage->reason));
    Buf event = {0};
    buf_addf(&event, "%s %s", stage_name(which), stage_status_name(stage->status));
    bool ok = trial_save(work->trial, work->task, event.at, stage->reason, err);
    buf_free(&event);
    return ok;
}

static bool has_passed(const Work *work, StageName which) {
    return work->task->stages[which].status == STAGE_PASS;
}

// A unit check that was not allowed to emulate says nothing of the candidate; the
// run still shows whether the fused branch is ever taken.
static bool lets_loss_begin(const Work *work) {
    return has_passed(work, STAGE_UNIT) ||
           (work->task->stages[STAGE_UNIT].status == STAGE_BLOCKED &&
            work->trial->tasks->launch.no_emulate);
}

// Runs the stages as far as each one lets the next begin.
static bool run_stages(Work *work, Err *err) {
    const bool *stop = &work->trial->interrupted;
    if (!move_to(work, TASK_PRECISION_RUNNING, err)) return false;
    if (!unit_stage(work, err) || !end_stage(work, STAGE_UNIT, err)) return false;
    if (*stop || !lets_loss_begin(work)) return true;
    if (!loss_stage(work, err) || !end_stage(work, STAGE_LOSS, err)) return false;
    if (*stop || !has_passed(work, STAGE_UNIT) || !has_passed(work, STAGE_LOSS)) return true;
    if (!move_to(work, TASK_PERFORMANCE_RUNNING, err)) return false;
    return speed_stage(work, err) && end_stage(work, STAGE_PERFORMANCE, err);
}

static bool forget_run(const Trial *trial, Str owner, const char *name, Err *err) {
    const char *folder = trial_run_path(trial, owner, name);
    return file_remove(path_join(trial->arena, str_of(folder), STR("result.json")), err);
}

// The runs that step times came from.
static bool forget_times(const Work *work, Err *err) {
    const Trial *trial = work->trial;
    FolderList list;
    const char *folder = trial_run_path(trial, work->task->slug, "");
    if (file_kind(folder) == FILE_NONE) return true;
    if (!folder_read(&list, trial->arena, folder, err)) return false;
    for (size_t i = 0; i < list.len; i++) {
        if (!str_starts(str_of(list.at[i].name), "time-")) continue;
        if (!forget_run(trial, work->task->slug, list.at[i].name, err)) return false;
    }
    return true;
}

// What blocked a candidate may be gone: the environment is no part of the key of
// a run, so those runs are made anew, and with them the one they are held against.
static bool forget_blocked(const Work *work, Err *err) {
    const Task *task = work->task;
    if (task->state != TASK_BLOCKED) return true;
    if (task->stages[STAGE_PERFORMANCE].status == STAGE_BLOCKED) return forget_times(work, err);
    if (task->stages[STAGE_LOSS].status != STAGE_BLOCKED) return true;
    if (!forget_run(work->trial, task->slug, "loss-1", err)) return false;
    return work->trial->has_baseline ||
           (forget_run(work->trial, STR("baseline"), "loss-1", err) &&
            forget_run(work->trial, STR("baseline"), "loss-2", err));
}

static bool run_candidate(Trial *trial, uint32_t number, Err *err) {
    const TrialCandidate *candidate = &trial->candidates[number];
    Work work = {.trial = trial, .number = number, .candidate = candidate,
                 .task = task_find(trial->tasks, candidate->finding->id)};
    Task *task = work.task;
    trial_say(trial, "%.*s", STR_FMT(task->id));
    if (!forget_blocked(&work, err)) return false;
    memset(task->stages, 0, sizeof(task->stages));
    task->speed = SPEED_NOT_MEASURED;
    answer(task, ANSWER_UNDECIDED, STR(""));
    if (!run_stages(&work, err)) return false;
    if (trial->interrupted) return true;
    conclude(&work);
    trial_say(trial, "  answer: %s: %.*s", answer_name(task->answer), STR_FMT(task->reason));
    // The report first: a task that is concluded has one.
    return work_report(&work, err) &&
           trial_save(trial, task, task_state_name(task->state), task->reason, err);
}

static bool is_open(const Task *task) {
    return task->state != TASK_CONCLUDED && task->state != TASK_PRECISION_FAILED;
}

// Runs of ours that outlived an npufuse that was killed: they hold devices, and
// would write among the files of the runs to come. The lock is ours.
static void end_leftovers(const Trial *trial) {
    const char *mark = arena_printf(trial->arena, "NPUFUSE_ARM=%s/runs/", trial->work).at;
    uint32_t count = proc_end_marked(mark);
    if (count) trial_say(trial, "ended %u processes that an earlier verification left", count);
}

bool trial_run(Trial *trial, Err *err) {
    bool worked = false;
    end_leftovers(trial);
    if (!file_make_folder(trial->work, err)) return false;
    if (!trial_save(trial, NULL, "verify", STR(""), err)) return false;
    for (uint32_t i = 0; i < trial->count && !trial->interrupted; i++) {
        Task *task = task_find(trial->tasks, trial->candidates[i].finding->id);
        if (!is_open(task)) {
            trial_say(trial, "%.*s: %s already", STR_FMT(task->id), task_state_name(task->state));
            continue;
        }
        worked = true;
        if (!run_candidate(trial, i, err)) return false;
    }
    if (trial->interrupted) return true;
    if (worked || trial->tasks->together.status == STAGE_OPEN) {
        if (!together_stage(trial, err)) return false;
    }
    if (trial->interrupted) return true;
    return reports_renew(trial, err) && trial_save(trial, NULL, "end", STR(""), err);
}

bool trial_unit(Trial *trial, uint32_t number, Err *err) {
    const TrialCandidate *candidate = &trial->candidates[number];
    Work work = {.trial = trial, .number = number, .candidate = candidate,
                 .task = task_find(trial->tasks, candidate->finding->id)};
    return unit_stage(&work, err);
}
