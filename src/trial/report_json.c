// report_json.c - <slug>.report.json: all that is known of one candidate, for
// the page and for programs. The first members carry the names that users of
// such pages know: basic_info, commands, diffs, metrics, thresholds.
#include "base/base.h"

#include "trial/trial_impl.h"

#include "base/buf.h"
#include "base/file.h"

#include <stdlib.h>

extern char **environ;

static void open_object(Json *json, const char *name) {
    json_key(json, name);
    json_object(json, JSON_BLOCK);
}

static void open_array(Json *json, const char *name) {
    json_key(json, name);
    json_array(json, JSON_BLOCK);
}

static const char *final_conclusion(const Task *task) {
    if (task->answer == ANSWER_REPLACE) return "Pass";
    if (task->answer == ANSWER_DO_NOT) return "Fail";
    return task->state == TASK_BLOCKED ? "Blocked" : "Skip";
}

static const char *run_status(bool ran, bool complete) {
    return !ran ? "Skip" : complete ? "Pass" : "Fail";
}

static uint32_t rank_count(const Work *work) {
    uint32_t most = 0;
    const Counts *counts = &work->trial->baseline.counts;
    for (uint32_t i = 0; i < counts->len; i++) {
        if (counts->at[i].candidate == work->number) most++;
    }
    return most;
}

static void add_basic_info(Json *json, const Work *work) {
    const Trial *trial = work->trial;
    const Launch *launch = &trial->tasks->launch;
    open_object(json, "basic_info");
    json_add_str(json, "task_name", path_base(str_of(trial->root)));
    json_add_str(json, "candidate_name", work->task->id);
    json_add_word(json, "baseline_status",
             run_status(trial->has_baseline, arm_is_complete(&trial->baseline, launch)));
    json_add_word(json, "fused_status",
             run_status(work->has_fused, arm_is_complete(&work->fused, launch)));
    json_add_word(json, "final_conclusion", final_conclusion(work->task));
    json_add_word(json, "work_dir", trial->work);
    json_add_str(json, "hardware", trial->hardware);
    json_add_int(json, "world_size", rank_count(work));
    json_add_int(json, "rank_count", rank_count(work));
    json_end(json);
}

static bool is_emulated(const Task *task) {
    return task->stages[STAGE_UNIT].emulated || task->stages[STAGE_LOSS].emulated;
}

static void add_conclusion(Json *json, const Task *task) {
    static const char *const sentences[] = {
        [ANSWER_UNDECIDED] = "Not decided yet.",
        [ANSWER_REPLACE] = "Replace: precision passed and the step is faster.",
        [ANSWER_DO_NOT] = "Do not replace.",
    };
    open_object(json, "conclusion");
    json_add_word(json, "answer", answer_name(task->answer));
    json_add_word(json, "speed", speed_name(task->speed));
    json_add_word(json, "sentence", sentences[task->answer]);
    json_add_str(json, "reason", task->reason);
    json_key(json, "emulated");
    json_bool(json, is_emulated(task));
    json_end(json);
}

static void add_candidate(Json *json, const TrialCandidate *candidate) {
    const Finding *finding = candidate->finding;
    open_object(json, "candidate");
    json_add_str(json, "id", finding->id);
    json_add_str(json, "family", finding->family);
    json_add_str(json, "api", finding->api);
    json_add_str(json, "rule", finding->rule);
    json_add_str(json, "rule_version", finding->rule_version);
    json_add_str(json, "variant", finding->variant);
    json_add_word(json, "verdict", verdict_name(finding->verdict));
    json_add_str(json, "file", finding->file);
    json_add_int(json, "start_line", finding->start_line);
    json_add_int(json, "end_line", finding->end_line);
    json_add_str(json, "qualname", finding->qualname);
    json_add_str(json, "switch", finding->switch_.name);
    open_array(json, "risks");
    for (uint32_t i = 0; i < finding->risks.len; i++) json_str(json, finding->risks.at[i]);
    json_end(json);
    json_end(json);
    open_object(json, "confirmation");
    json_add_str(json, "by", candidate->confirmed_by);
    json_add_str(json, "statement", candidate->statement);
    json_add_str(json, "confirmed_at", candidate->confirmed_at);
    json_end(json);
}

static void add_candidates(Json *json, const Trial *trial) {
    open_array(json, "candidates");
    for (uint32_t i = 0; i < trial->count; i++) {
        const Task *task = task_find(trial->tasks, trial->candidates[i].finding->id);
        json_object(json, JSON_LINE);
        json_add_str(json, "id", task->id);
        json_add_str(json, "slug", task->slug);
        json_add_word(json, "state", task_state_name(task->state));
        json_add_word(json, "answer", answer_name(task->answer));
        json_add_str(json, "reason", task->reason);
        json_add_str(json, "html", arena_printf(trial->arena, "%.*s.html", STR_FMT(task->slug)));
        json_end(json);
    }
    json_end(json);
}

// What the candidate's run was given besides the user's own environment, and what
// of that speaks of devices and switches.
static void add_variables(Json *json, const Work *work) {
    static const char *const names[] = {"NPUFUSE_", "ASCEND_"};
    Arena *arena = work->trial->arena;
    open_array(json, "environment");
    if (work->has_overlay) {
        const char *arm = trial_run_path(work->trial, work->task->slug, "loss-1/arm.json");
        Str hook = str_of(work->trial->runtime.hook);
        Str path = overlay_python_path(&work->overlay, arena, hook);
        json_str(json, arena_printf(arena, "NPUFUSE_ARM=%s", arm));
        json_str(json, arena_printf(arena, "PYTHONPATH=%.*s", STR_FMT(path)));
    }
    for (char **at = environ; *at; at++) {
        if (str_starts(str_of(*at), "NPUFUSE_FAULT_")) continue; // of our own tests
        for (size_t i = 0; i < COUNT(names); i++) {
            if (str_starts(str_of(*at), names[i])) json_str(json, str_of(*at));
        }
    }
    json_end(json);
}

static void add_commands(Json *json, const Work *work) {
    Trial *trial = work->trial;
    const Launch *launch = &trial->tasks->launch;
    Arena *arena = trial->arena;
    open_object(json, "commands");
    const char *const *base = trial->has_overlay
                                  ? arm_argv(arena, launch, &trial->baseline_overlay) : NULL;
    const char *const *fused = work->has_overlay ? arm_argv(arena, launch, &work->overlay) : NULL;
    json_add_str(json, "baseline_cmd", base ? arm_command(arena, base) : STR(""));
    json_add_str(json, "fused_cmd", fused ? arm_command(arena, fused) : STR(""));
    Str script = STR("");
    for (uint32_t i = 0; i < launch->argv.len && !script.len; i++) {
        Str word = launch->argv.at[i];
        if (str_ends(word, ".py") || str_ends(word, ".sh")) script = word;
    }
    json_add_str(json, "script_path", script);
    json_add_word(json, "data_path", "");
    json_add_word(json, "ckpt_path", "");
    add_variables(json, work);
    json_end(json);
}

static void add_diffs(Json *json, const Work *work) {
    const Finding *finding = work->candidate->finding;
    open_array(json, "diffs");
    json_object(json, JSON_BLOCK);
    json_add_str(json, "file_path", finding->file);
    open_array(json, "hunks");
    uint32_t added = 0;
    for (uint32_t i = 0; i < finding->inserts.len; i++) {
        const Insert *insert = &finding->inserts.at[i];
        json_object(json, JSON_BLOCK);
        json_add_int(json, "old_line", insert->line);
        json_add_int(json, "new_line", insert->line + added);
        json_add_word(json, "old_code", "");
        json_add_str(json, "new_code", insert->text);
        json_end(json);
        for (size_t k = 0; k < insert->text.len; k++) added += insert->text.at[k] == '\n';
    }
    uint32_t line = finding->start_line;
    for (uint32_t i = 0; i < work->edits.candidates.len; i++) {
        line = work->edits.candidates.at[i].start_line;
    }
    json_object(json, JSON_BLOCK);
    json_add_int(json, "old_line", finding->start_line);
    json_add_int(json, "new_line", line);
    json_add_str(json, "old_code", finding->original);
    json_add_str(json, "new_code", finding->replacement);
    json_end(json);
    json_end(json);
    json_end(json);
    json_end(json);
}

// The unchanged code against itself.
static void add_repeat(Json *json, const Trial *trial) {
    open_array(json, "repeat");
    const StepList *base = &trial->baseline.steps;
    for (uint32_t i = 0; i < base->len; i++) {
        const StepRecord *again = step_list_find(&trial->again.steps, base->at[i].step);
        if (!again || !again->has_loss || !base->at[i].has_loss) continue;
        json_object(json, JSON_LINE);
        json_add_int(json, "step", base->at[i].step);
        json_add_double(json, "base_loss", base->at[i].loss);
        json_add_double(json, "again_loss", again->loss);
        json_end(json);
    }
    json_end(json);
}

static void add_thresholds(Json *json, const Work *work) {
    open_object(json, "thresholds");
    json_add_double(json, "max_rel_diff", work->trial->tasks->launch.threshold);
    json_key(json, "first_fail_step");
    if (work->gate.has_first_fail) json_int_write(json, work->gate.first_fail_step);
    else json_null(json);
    json_key(json, "worst_rel_diff");
    json_double_if(json, work->has_fused, work->gate.max_rel_diff);
    json_key(json, "repeat_rel_diff");
    json_double_if(json, work->trial->has_baseline, work->trial->repeat.max_rel_diff);
    json_add_int(json, "common_steps", work->gate.common);
    json_end(json);
}

static void add_counts_of(Json *json, const char *arm, const Counts *counts, uint32_t candidate) {
    for (uint32_t i = 0; i < counts->len; i++) {
        const Count *at = &counts->at[i];
        if (at->candidate != candidate) continue;
        json_object(json, JSON_LINE);
        json_add_word(json, "arm", arm);
        json_add_int(json, "rank", (int64_t)at->rank);
        json_add_int(json, "fused", (int64_t)at->fused);
        json_add_int(json, "else", (int64_t)at->other);
        json_add_int(json, "emulated", (int64_t)at->emulated);
        json_end(json);
    }
}

static void add_counts(Json *json, const Work *work) {
    open_array(json, "counts");
    add_counts_of(json, "baseline", &work->trial->baseline.counts, work->number);
    add_counts_of(json, "repeat", &work->trial->again.counts, work->number);
    add_counts_of(json, "fused", &work->fused.counts, 0);
    json_end(json);
}

static void add_performance(Json *json, const Work *work) {
    json_key(json, "performance");
    if (work->has_speed) stats_write(json, &work->stats, work->runs, work->run_count);
    else json_null(json);
}

static void add_unit(Json *json, const Work *work) {
    Arena arena;
    arena_init(&arena);
    const JsonVal *result = unit_result(work->trial, &arena, work->task->slug);
    json_key(json, "unit");
    if (result) json_copy(json, result);
    else json_null(json);
    arena_free(&arena);
}

static void add_dropped(Json *json, const Work *work) {
    open_array(json, "dropped");
    for (uint32_t i = 0; i < work->run_count && work->has_speed; i++) {
        if (!work->runs[i].dropped) continue;
        json_object(json, JSON_LINE);
        json_add_word(json, "run", work->runs[i].name);
        json_add_int(json, "steps", work->runs[i].dropped);
        json_add_word(json, "why", "warm-up");
        json_end(json);
    }
    json_end(json);
}

static void add_file(Json *json, const char *what, const char *path) {
    if (!path || file_kind(path) == FILE_NONE) return;
    json_object(json, JSON_LINE);
    json_add_word(json, "what", what);
    json_add_word(json, "path", path);
    json_end(json);
}

static void add_files(Json *json, const Work *work) {
    const Trial *trial = work->trial;
    open_array(json, "files");
    add_file(json, "log of the unchanged code", trial->baseline.log);
    add_file(json, "log of the unchanged code again", trial->again.log);
    add_file(json, "log with the candidate", work->fused.log);
    add_file(json, "unit check", trial_run_path(trial, work->task->slug, "unit/result.json"));
    json_end(json);
}

static void write_report(Buf *out, const Work *work) {
    const Trial *trial = work->trial;
    Json json;
    json_init(&json, out);
    json_object(&json, JSON_BLOCK);
    json_add_int(&json, "schema", 1);
    json_add_word(&json, "lang", trial->chinese ? "zh" : "en");
    add_basic_info(&json, work);
    add_conclusion(&json, work->task);
    add_candidate(&json, work->candidate);
    add_candidates(&json, trial);
    json_key(&json, "stages");
    stages_write(&json, work->task);
    add_unit(&json, work);
    add_commands(&json, work);
    add_diffs(&json, work);
    json_key(&json, "metrics");
    metrics_write(&json, &trial->baseline.steps, &work->fused.steps);
    add_repeat(&json, trial);
    add_thresholds(&json, work);
    add_counts(&json, work);
    add_performance(&json, work);
    json_key(&json, "environment");
    if (trial->environment) trial->environment(trial->hooks.data, &json);
    else json_null(&json);
    add_dropped(&json, work);
    add_files(&json, work);
    json_end(&json);
}

static const char *slug_file(const Trial *trial, Str slug, const char *suffix) {
    Str name = arena_printf(trial->arena, "%.*s%s", STR_FMT(slug), suffix);
    return path_join(trial->arena, str_of(trial->work), name);
}

static const char *work_file(const Work *work, const char *suffix) {
    return slug_file(work->trial, work->task->slug, suffix);
}

static bool put_steps(const char *path, const StepList *steps, Err *err) {
    Buf text = {0};
    steps_write_jsonl(&text, steps);
    bool ok = file_write(path, buf_str(&text), err);
    buf_free(&text);
    return ok;
}

static bool put_metrics(const Work *work, Err *err) {
    Buf text = {0};
    Json json;
    json_init(&json, &text);
    metrics_write(&json, &work->trial->baseline.steps, &work->fused.steps);
    bool ok = file_write(work_file(work, ".metrics.json"), buf_str(&text), err);
    buf_free(&text);
    return ok;
}

bool work_report(Work *work, Err *err) {
    const Trial *trial = work->trial;
    const char *base = path_join(trial->arena, str_of(trial->work), STR("baseline.jsonl"));
    if (trial->has_baseline && !put_steps(base, &trial->baseline.steps, err)) return false;
    if (work->has_fused && (!put_steps(work_file(work, ".jsonl"), &work->fused.steps, err) ||
                            !put_metrics(work, err))) {
        return false;
    }
    Buf report = {0};
    write_report(&report, work);
    bool ok = file_write(work_file(work, ".report.json"), buf_str(&report), err) &&
              (!trial->hooks.page ||
               trial->hooks.page(trial->hooks.data, work->task, buf_str(&report), err));
    buf_free(&report);
    return ok;
}

// The report with the table of candidates as it is now.
static void renew(Buf *out, const Trial *trial, const JsonVal *report) {
    Json json;
    json_init(&json, out);
    json_object(&json, JSON_BLOCK);
    for (JsonIter it = json_first(report); it.value; json_next(&it)) {
        if (str_is(it.key, "candidates")) {
            add_candidates(&json, trial);
            continue;
        }
        json_key_str(&json, it.key);
        json_copy(&json, it.value);
    }
    json_end(&json);
}

bool reports_renew(Trial *trial, Err *err) {
    bool ok = true;
    for (uint32_t i = 0; i < trial->count && ok; i++) {
        const Task *task = task_find(trial->tasks, trial->candidates[i].finding->id);
        const char *path = slug_file(trial, task->slug, ".report.json");
        const JsonVal *report;
        if (file_kind(path) != FILE_REGULAR) continue;
        if (!json_read_file(&report, trial->arena, path, FILE_MAX_BYTES, err)) return false;
        Buf text = {0};
        renew(&text, trial, report);
        ok = file_write(path, buf_str(&text), err) &&
             (!trial->hooks.page ||
              trial->hooks.page(trial->hooks.data, task, buf_str(&text), err));
        buf_free(&text);
    }
    return ok;
}
