// arm.c - starting the command, following its steps, and keeping the result.
#include "base/base.h"

#include "trial/arm.h"

#include "base/buf.h"
#include "base/file.h"
#include "model/json_read.h"
#include "model/shell.h"
#include "trial/candidate_json.h"
#include "trial/gate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { TAIL_LINES = 8, TAIL_BYTES = 4000, LEFT_STEPS = 5, FOLLOW_BYTES = 256 * 1024 };

// ---- arm.json -------------------------------------------------------------------

static void add_candidate(Json *json, Arena *arena, const ArmSpec *spec, uint32_t i) {
    const ArmCandidate *candidate = &spec->candidates[i];
    const Finding *finding = candidate->finding;
    json_object(json, JSON_BLOCK);
    json_add_str(json, "id", finding->id);
    json_add_str(json, "file", overlay_file(spec->overlay, arena, finding->file));
    json_add_str(json, "qualname", finding->qualname);
    json_add_uint(json, "start_line", candidate->start_line);
    json_add_uint(json, "end_line", candidate->end_line);
    json_add_bool(json, "edited", candidate->edited);
    operator_write(json, finding->api);
    ports_write(json, "inputs", finding->inputs.at, finding->inputs.len);
    json_end(json);
}

static void write_arm(Buf *out, Arena *arena, const ArmSpec *spec) {
    Json json;
    const char *counts = path_join(arena, str_of(spec->folder), STR("counts"));
    json_init(&json, out);
    json_object(&json, JSON_BLOCK);
    json_add_uint(&json, "schema", 1);
    json_add_word(&json, "mode", spec->mode == ARM_CAPTURE ? "capture" : "run");
    json_add_word(&json, "role", spec->is_candidate ? "candidate" : "baseline");
    json_add_word(&json, "counts", counts);
    json_add_word(&json, "capture", path_join(arena, str_of(spec->folder), STR("capture")));
    json_add_bool(&json, "emulate", !spec->launch->no_emulate);
    json_add_word(&json, "root", spec->overlay->root);
    json_add_word(&json, "tree", spec->overlay->tree);
    json_add_word(&json, "package", spec->runtime->package);
    ops_write(&json, spec->runtime->ops, spec->runtime->op_count);
    json_key(&json, "candidates");
    json_array(&json, JSON_BLOCK);
    for (uint32_t i = 0; i < spec->candidate_count; i++) {
        add_candidate(&json, arena, spec, i);
    }
    json_end(&json);
    json_end(&json);
}

// ---- following a run --------------------------------------------------------------

// A log file that the command writes itself (--log).
typedef struct Follow {
    const char *path; // NULL: the steps are in the output
    off_t at;
} Follow;

typedef struct Watch {
    const ArmSpec *spec;
    Arena *arena;
    ArmResult *out;
    StepParser parser;
    Follow follow;
    bool has_news;
    int64_t newest; // step
    uint32_t bad_steps; // since the loss left the reference
    bool is_enough;
} Watch;

// Ends early: at once where the loss is no number any more, else a few steps
// after it left the limit, so that the report shows where it goes. A step is compared
// when the next one begins: a bar first shows the loss of the step before.
static void compare_live(Watch *watch, const StepRecord *step) {
    const StepList *reference = watch->spec->reference;
    if (!reference || !step->has_loss) return;
    const StepRecord *base = step_list_find(reference, step->step);
    if (!isfinite(step->loss) && !(base && base->has_loss && !isfinite(base->loss))) {
        watch->bad_steps = LEFT_STEPS;
    } else if (watch->bad_steps) {
        watch->bad_steps++;
    } else if (base && base->has_loss) {
        watch->bad_steps = gate_is_apart(base, step, watch->spec->launch->threshold);
    }
    watch->out->left |= watch->bad_steps >= LEFT_STEPS;
}

static void take_step(void *data, const StepRecord *step) {
    Watch *watch = data;
    if (watch->is_enough) return; // one chunk may hold more: both arms end alike
    uint32_t before = watch->out->steps.len;
    step_list_add(&watch->out->steps, watch->arena, step);
    if (watch->out->steps.len == before) return; // another rank, or said again
    watch->has_news = true;
    const StepRecord *over = before ? step_list_find(&watch->out->steps, watch->newest) : NULL;
    if (over) compare_live(watch, over);
    if (step->has_loss && !isfinite(step->loss)) compare_live(watch, step);
    watch->newest = step->step;
    watch->is_enough |= watch->out->steps.len >= (uint64_t)watch->spec->launch->steps;
}

static void follow_log(Watch *watch) {
    char block[FOLLOW_BYTES];
    FILE *file = fopen(watch->follow.path, "re");
    if (!file) return; // not there yet
    struct stat st;
    if (fstat(fileno(file), &st) == 0 && st.st_size < watch->follow.at) watch->follow.at = 0;
    size_t got = 0;
    if (fseeko(file, watch->follow.at, SEEK_SET) == 0) {
        got = fread(block, 1, sizeof(block), file);
    }
    fclose(file);
    watch->follow.at += (off_t)got;
    step_parser_feed(&watch->parser, (Str){block, got});
}

static ProcAnswer take_output(void *data, Str chunk) {
    Watch *watch = data;
    watch->has_news = false;
    if (watch->follow.path) follow_log(watch);
    else step_parser_feed(&watch->parser, chunk);
    if (watch->is_enough || watch->out->left) return PROC_STOP;
    return watch->has_news ? PROC_PROGRESS : PROC_GO;
}

static void init_follow(Watch *watch) {
    Str log = watch->spec->launch->log;
    if (!log.len) return;
    Str folder = log.at[0] == '/' ? STR("") : str_of(watch->spec->overlay->folder);
    watch->follow.path = path_join(watch->arena, folder, log);
    struct stat st;
    // What an earlier run wrote there is not ours.
    if (stat(watch->follow.path, &st) == 0) watch->follow.at = st.st_size;
}

// ---- the command --------------------------------------------------------------------

const char *const *arm_argv(Arena *arena, const Launch *launch, const Overlay *overlay) {
    const char **argv = NEW_N(arena, const char *, launch->argv.len + 1);
    for (uint32_t i = 0; i < launch->argv.len; i++) {
        argv[i] = overlay_word(overlay, arena, arena_cstr(arena, launch->argv.at[i]));
    }
    return argv;
}

Str arm_command(Arena *arena, const char *const *argv) {
    Buf text = {0};
    for (uint32_t i = 0; argv[i]; i++) {
        if (i) buf_add_char(&text, ' ');
        shell_add_word(&text, str_of(argv[i]));
    }
    Str command = arena_str(arena, buf_str(&text));
    buf_free(&text);
    return command;
}

static const char *const *make_environment(Arena *arena, const ArmSpec *spec) {
    const char **env = NEW_N(arena, const char *, 4);
    Str arm = str_of(path_join(arena, str_of(spec->folder), STR("arm.json")));
    Str path = overlay_python_path(spec->overlay, arena, str_of(spec->runtime->hook));
    env[0] = arena_printf(arena, "NPUFUSE_ARM=%.*s", STR_FMT(arm)).at;
    env[1] = arena_printf(arena, "PYTHONPATH=%.*s", STR_FMT(path)).at;
    env[2] = "PYTHONUNBUFFERED=1"; // steps are followed as they come
    return env;
}

static Str last_lines(Arena *arena, const char *log) {
    Str text = {"", 0};
    FILE *file = fopen(log, "re");
    if (!file) return text;
    char block[TAIL_BYTES + 1];
    if (fseeko(file, -TAIL_BYTES, SEEK_END) != 0) rewind(file);
    size_t got = fread(block, 1, TAIL_BYTES, file);
    fclose(file);
    while (got && block[got - 1] == '\n') got--;
    size_t start = got;
    for (int lines = 0; start > 0; start--) {
        if (block[start - 1] == '\n' && ++lines == TAIL_LINES) break;
    }
    return arena_str(arena, (Str){block + start, got - start});
}

static bool run_command(Watch *watch, Err *err) {
    const ArmSpec *spec = watch->spec;
    ArmResult *out = watch->out;
    init_follow(watch);
    step_parser_init(&watch->parser, take_step, watch);
    const char *const *env = make_environment(watch->arena, spec);
    ProcSpec command = {
        .argv = arm_argv(watch->arena, spec->launch, spec->overlay),
        .env = env, .folder = spec->overlay->folder,
        .log = out->log, .mark = env[0], .quiet_s = spec->launch->timeout_s,
        .take = take_output, .data = watch,
    };
    ProcResult result;
    if (!proc_run(&result, &command, err)) return false;
    if (watch->follow.path) follow_log(watch);
    step_parser_end(&watch->parser);
    out->end = result.end;
    out->code = result.code;
    out->seconds = result.seconds;
    return true;
}

// ---- the result -----------------------------------------------------------------------

// What the digits of the log were worth: steps.jsonl has the numbers alone.
static void write_digits(Json *json, const StepList *steps) {
    json_key(json, "digits");
    json_array(json, JSON_LINE);
    for (uint32_t i = 0; i < steps->len; i++) {
        json_double(json, steps->at[i].quantum);
        json_double(json, steps->at[i].time_quantum_s);
    }
    json_end(json);
}

static bool read_digits(StepList *steps, const JsonVal *digits) {
    uint32_t i = 0;
    if (json_count(digits) != steps->len * 2) return false;
    for (JsonIter it = json_first(digits); it.value; json_next(&it), i++) {
        double number = json_number(it.value, 0);
        if (i % 2 == 0) steps->at[i / 2].quantum = number;
        else steps->at[i / 2].time_quantum_s = number;
    }
    return true;
}

static bool write_result(const ArmSpec *spec, Arena *arena, const ArmResult *result, Err *err) {
    Buf text = {0};
    steps_write_jsonl(&text, &result->steps);
    bool ok = file_write(path_join(arena, str_of(spec->folder), STR("steps.jsonl")),
                         buf_str(&text), err);
    buf_clear(&text);
    Json json;
    json_init(&json, &text);
    json_object(&json, JSON_BLOCK);
    json_add_uint(&json, "schema", 1);
    json_add_str(&json, "key", spec->key);
    json_add_uint(&json, "end", result->end);
    json_add_uint(&json, "code", (uint64_t)result->code);
    json_key(&json, "seconds");
    json_double(&json, result->seconds);
    json_add_bool(&json, "left", result->left);
    json_key(&json, "counts");
    counts_write(&json, &result->counts);
    write_digits(&json, &result->steps);
    json_end(&json);
    ok = ok && file_write(path_join(arena, str_of(spec->folder), STR("result.json")),
                          buf_str(&text), err);
    buf_free(&text);
    return ok;
}

// A result that an earlier process left; false if there is none of this key.
static bool reuse(ArmResult *out, Arena *arena, const ArmSpec *spec) {
    const char *path = path_join(arena, str_of(spec->folder), STR("result.json"));
    const JsonVal *root;
    Err ignored;
    if (file_kind(path) == FILE_NONE) return false;
    if (!json_read_file(&root, arena, path, FILE_MAX_BYTES, &ignored)) return false;
    if (!str_eq(json_text(json_member(root, "key")), spec->key)) return false;
    const char *steps = path_join(arena, str_of(spec->folder), STR("steps.jsonl"));
    if (!steps_read_jsonl(&out->steps, arena, steps, &ignored)) return false;
    if (!read_digits(&out->steps, json_member(root, "digits"))) return false;
    out->end = (ProcEnd)json_int(json_member(root, "end"), PROC_EXITED);
    out->code = (int)json_int(json_member(root, "code"), 0);
    out->seconds = json_number(json_member(root, "seconds"), 0);
    out->left = json_truth(json_member(root, "left"), false);
    counts_from_json(&out->counts, arena, json_member(root, "counts"));
    return out->reused = true;
}

static bool make_folders(const ArmSpec *spec, Arena *arena, Err *err) {
    static const char *const inner[] = {"counts", "capture"};
    if (!file_remove(spec->folder, err)) return false;
    for (size_t i = 0; i < COUNT(inner); i++) {
        if (!file_make_folder(path_join(arena, str_of(spec->folder), str_of(inner[i])), err)) {
            return false;
        }
    }
    return true;
}

bool arm_run(ArmResult *out, Arena *arena, const ArmSpec *spec, Err *err) {
    *out = (ArmResult){0};
    out->log = path_join(arena, str_of(spec->folder), STR("log.txt"));
    if (reuse(out, arena, spec)) return true;
    *out = (ArmResult){.log = out->log};
    if (!make_folders(spec, arena, err)) return false;
    Buf text = {0};
    write_arm(&text, arena, spec);
    bool ok = file_write(path_join(arena, str_of(spec->folder), STR("arm.json")),
                         buf_str(&text), err);
    buf_free(&text);
    Watch *watch = NEW(arena, Watch);
    *watch = (Watch){.spec = spec, .arena = arena, .out = out};
    if (!ok || !run_command(watch, err)) return false;
    out->tail = last_lines(arena, out->log);
    const char *counts = path_join(arena, str_of(spec->folder), STR("counts"));
    if (!counts_read(&out->counts, arena, counts, err)) return false;
    // A run that went wrong is tried again the next time.
    return !arm_is_complete(out, spec->launch) || write_result(spec, arena, out, err);
}

bool arm_is_complete(const ArmResult *result, const Launch *launch) {
    if (result->end == PROC_STOPPED) return true; // enough, or left
    return result->end == PROC_EXITED && result->code == 0 && result->steps.len > 0 &&
           launch->steps > 0;
}

Str arm_fault(const ArmResult *result, Arena *arena, const Launch *launch) {
    uint32_t steps = result->steps.len;
    switch (result->end) {
    case PROC_SIGNALLED:
        return arena_printf(arena, "the command was killed by signal %d after %u steps",
                            result->code, steps);
    case PROC_TOO_QUIET:
    case PROC_TOO_LONG:
        return arena_printf(arena, "the command hangs: no new step for %g s after %u steps",
                            launch->timeout_s, steps);
    case PROC_INTERRUPTED:
        return STR("interrupted; 'npufuse resume' goes on");
    case PROC_EXITED:
    case PROC_STOPPED:
        break;
    }
    if (result->code) {
        return arena_printf(arena, "the command failed with exit code %d after %u steps",
                            result->code, steps);
    }
    return STR("no step was found in the command's output; name the file that it logs to with "
               "--log, and see 'npufuse steps --help' for what is understood");
}
