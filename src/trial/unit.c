// unit.c - the unit stage: the Python runtime compares the original statements
// with the replacement on tensors; here it is started, and its word taken.
#include "base/base.h"

#include "trial/candidate_json.h"
#include "trial/trial_impl.h"

#include "base/buf.h"
#include "base/file.h"

#include <stdlib.h>

enum { UNIT_LIMIT_S = 1800 };

// What capture saw of this candidate.
static void add_captured(Json *json, Trial *trial, Str id) {
    const JsonVal *root = NULL;
    Err ignored;
    const char *path = path_join(trial->arena, str_of(trial->work), STR("capture.json"));
    json_key(json, "captured");
    json_array(json, JSON_BLOCK);
    if (file_kind(path) == FILE_REGULAR &&
        json_read_file(&root, trial->arena, path, FILE_MAX_BYTES, &ignored)) {
        const JsonVal *captures = json_member(root, "captures");
        for (JsonIter it = json_first(captures); it.value; json_next(&it)) {
            if (str_eq(json_text(json_member(it.value, "id")), id)) json_copy(json, it.value);
        }
    }
    json_end(json);
}

static void add_source(Json *json, const Work *work, const char *file) {
    const Finding *finding = work->candidate->finding;
    json_add_str(json, "id", finding->id);
    json_add_str(json, "file", str_of(file));
    json_add_str(json, "qualname", finding->qualname);
    json_add_uint(json, "start_line", finding->start_line);
    json_add_uint(json, "end_line", finding->end_line);
    json_add_str(json, "original", finding->original);
    json_add_str(json, "replacement", finding->replacement);
    json_key(json, "inserts");
    json_array(json, JSON_BLOCK);
    for (uint32_t i = 0; i < finding->inserts.len; i++) {
        json_str(json, finding->inserts.at[i].text);
    }
    json_end(json);
}

static void add_operator(Json *json, const Work *work) {
    const Finding *finding = work->candidate->finding;
    const Runtime *runtime = &work->trial->runtime;
    json_add_str(json, "rule_file", str_of(work->candidate->rule_file));
    json_add_str(json, "rule", finding->rule);
    ops_write(json, runtime->ops, runtime->op_count);
    operator_write(json, finding->api);
    ports_write(json, "inputs", finding->inputs.at, finding->inputs.len);
    ports_write(json, "outputs", finding->outputs.at, finding->outputs.len);
}

static void write_spec(Buf *out, const Work *work) {
    Trial *trial = work->trial;
    const Launch *launch = &trial->tasks->launch;
    Json json;
    json_init(&json, out);
    json_object(&json, JSON_BLOCK);
    json_add_uint(&json, "schema", 1);
    Str tree = str_of(trial->baseline_overlay.tree);
    Str file = overlay_file(&trial->baseline_overlay, trial->arena,
                            work->candidate->finding->file);
    add_source(&json, work, path_join(trial->arena, tree, file));
    add_operator(&json, work);
    add_captured(&json, trial, work->candidate->finding->id);
    json_add_str(&json, "device", launch->device.len ? launch->device : STR("auto"));
    json_key(&json, "emulate");
    json_bool(&json, !launch->no_emulate);
    json_key(&json, "seed");
    json_int_write(&json, launch->seed);
    // Not read by the runtime: elsewhere it is another question.
    json_add_str(&json, "machine", trial->machine);
    json_add_str(&json, "project", str_of(trial->baseline_overlay.digest));
    json_add_str(&json, "python", str_of(trial->python));
    json_add_str(&json, "npufuse", STR(NPUFUSE_VERSION));
    json_end(&json);
}

const JsonVal *unit_result(const Trial *trial, Arena *arena, Str slug) {
    const char *path = trial_run_path(trial, slug, "unit/result.json");
    const JsonVal *root;
    Err ignored;
    if (file_kind(path) != FILE_REGULAR) return NULL;
    if (!json_read_file(&root, arena, path, FILE_MAX_BYTES, &ignored)) return NULL;
    return json_is_object(root) ? root : NULL;
}

// Whether the question was answered before: the same spec, and a result. What
// was blocked is asked again: the environment may be another now.
static bool is_answered(const Work *work, Str spec) {
    Str before;
    Err ignored;
    const JsonVal *result = unit_result(work->trial, work->trial->arena, work->task->slug);
    Str status = json_text(json_member(result, "status"));
    if (!str_is(status, "pass") && !str_is(status, "fail")) return false;
    const char *path = trial_run_path(work->trial, work->task->slug, "unit/spec.json");
    return file_kind(path) == FILE_REGULAR &&
           file_read(&before, work->trial->arena, path, FILE_MAX_BYTES, &ignored) &&
           str_eq(before, spec);
}

static ProcAnswer keep_tail(void *data, Str chunk) {
    Buf *tail = data;
    buf_add(tail, chunk);
    if (tail->len > 8000) { // the end says what went wrong
        Buf kept = {0};
        buf_add(&kept, (Str){tail->at + tail->len - 4000, 4000});
        buf_free(tail);
        *tail = kept;
    }
    return PROC_GO;
}

static Str last_line(Arena *arena, Str text) {
    while (text.len && text.at[text.len - 1] <= ' ') text.len--;
    size_t start = text.len;
    while (start && text.at[start - 1] != '\n') start--;
    return arena_str(arena, (Str){text.at + start, text.len - start});
}

static bool start_runtime(Work *work, ProcResult *result, Str *last, Err *err) {
    Trial *trial = work->trial;
    Arena *arena = trial->arena;
    Str slug = work->task->slug;
    const char *argv[] = {trial->python, "-m", "npufuse.unit",
                          trial_run_path(trial, slug, "unit/spec.json"),
                          trial_run_path(trial, slug, "unit/result.json"), NULL};
    Str path = overlay_python_path(&trial->baseline_overlay, arena,
                                   str_of(trial->runtime.package));
    const char *env[] = {arena_printf(arena, "PYTHONPATH=%.*s", STR_FMT(path)).at, NULL};
    Buf tail = {0};
    ProcSpec spec = {.argv = argv, .env = env, .folder = trial->baseline_overlay.folder,
                     .log = trial_run_path(trial, slug, "unit/log.txt"),
                     .limit_s = UNIT_LIMIT_S, .take = keep_tail, .data = &tail};
    bool ok = proc_run(result, &spec, err);
    *last = last_line(arena, buf_str(&tail));
    buf_free(&tail);
    return ok;
}

static void take_result(Work *work, const JsonVal *result) {
    Str status = json_text(json_member(result, "status"));
    Str reason = json_text(json_member(result, "reason"));
    StageStatus word = str_is(status, "pass")   ? STAGE_PASS
                       : str_is(status, "fail") ? STAGE_FAIL
                                                : STAGE_BLOCKED;
    if (word == STAGE_PASS && !reason.len) {
        reason = arena_printf(work->trial->arena, "%u comparisons of results and gradients hold",
                              json_count(json_member(result, "cases")));
    }
    stage_set(work->task, STAGE_UNIT, word, reason);
    work->task->stages[STAGE_UNIT].emulated = json_truth(json_member(result, "emulated"), false);
}

static bool ask(Work *work, Str spec, Err *err) {
    Trial *trial = work->trial;
    Str slug = work->task->slug, last;
    ProcResult end;
    if (!file_remove(trial_run_path(trial, slug, "unit"), err) ||
        !file_make_folder(trial_run_path(trial, slug, "unit"), err) ||
        !file_write(trial_run_path(trial, slug, "unit/spec.json"), spec, err) ||
        !start_runtime(work, &end, &last, err)) {
        return false;
    }
    trial->interrupted |= end.end == PROC_INTERRUPTED;
    const JsonVal *result = unit_result(trial, trial->arena, slug);
    if (end.end == PROC_EXITED && end.code == 0 && result) {
        take_result(work, result);
        return true;
    }
    Str reason = end.end == PROC_TOO_LONG
                     ? STR("the unit check did not end in half an hour")
                     : arena_printf(trial->arena, "the unit check could not be run with '%s': %.*s",
                                    trial->python, STR_FMT(last));
    stage_set(work->task, STAGE_UNIT, STAGE_BLOCKED, reason);
    return true;
}

bool unit_stage(Work *work, Err *err) {
    Trial *trial = work->trial;
    if (!trial->python) {
        stage_set(work->task, STAGE_UNIT, STAGE_BLOCKED,
                  STR("no Python was found; name one with --python"));
        return true;
    }
    if (!trial_baseline_overlay(trial, err)) return false;
    Buf spec = {0};
    write_spec(&spec, work);
    bool ok = true;
    if (is_answered(work, buf_str(&spec))) {
        take_result(work, unit_result(trial, trial->arena, work->task->slug));
    } else {
        ok = ask(work, buf_str(&spec), err);
    }
    buf_free(&spec);
    return ok;
}
