// capture.c - a few steps of the user's command with what goes into each
// candidate recorded: shapes, dtypes, strides, autocast. The hook in the
// processes writes lines (python/npufuse/capture.py); here they become one file.
#include "base/base.h"

#include "trial/trial_impl.h"

#include "base/buf.h"
#include "base/file.h"

#include <stdlib.h>

enum { SIGNATURES_MAX = 10000 };

typedef struct Capture {
    Str text; // all but the count: equal texts are one signature
    const JsonVal *value;
    int64_t count;
} Capture;

typedef VEC(Capture) Captures;

// The members without "count" and "rank", as text to compare.
static Str signature(Arena *arena, const JsonVal *v) {
    Buf text = {0};
    Json json;
    json_init(&json, &text);
    json_object(&json, JSON_LINE);
    for (JsonIter it = json_first(v); it.value; json_next(&it)) {
        if (str_is(it.key, "count") || str_is(it.key, "rank")) continue;
        json_key_str(&json, it.key);
        json_copy(&json, it.value);
    }
    json_end(&json);
    Str copy = arena_str(arena, buf_str(&text));
    buf_free(&text);
    return copy;
}

static void add_capture(Captures *out, Arena *arena, const JsonVal *v) {
    Capture found = {signature(arena, v), v, json_int(json_member(v, "count"), 1)};
    for (uint32_t i = 0; i < out->len; i++) {
        if (!str_eq(out->at[i].text, found.text)) continue;
        out->at[i].count += found.count;
        return;
    }
    if (json_is_object(v) && out->len < SIGNATURES_MAX) vec_push(arena, out, found);
}

// A process that was killed may have left half a line: it is passed over.
static bool add_file(Captures *out, Arena *arena, const char *path, Err *err) {
    Str text;
    if (!file_read(&text, arena, path, FILE_MAX_BYTES, err)) return false;
    while (text.len) {
        Str line = str_take(&text, '\n');
        const JsonVal *v;
        Err ignored;
        if (line.len && json_read_loose(&v, arena, line, &ignored)) add_capture(out, arena, v);
    }
    return true;
}

static bool read_captures(Captures *out, Arena *arena, const char *folder, Err *err) {
    FolderList list;
    *out = (Captures){0};
    if (file_kind(folder) == FILE_NONE) return true;
    if (!folder_read(&list, arena, folder, err)) return false;
    for (size_t i = 0; i < list.len; i++) {
        const char *path = path_join(arena, str_of(folder), str_of(list.at[i].name));
        if (str_ends(str_of(path), ".jsonl") && !add_file(out, arena, path, err)) return false;
    }
    return true;
}

static void write_capture(Json *json, const Capture *capture) {
    json_object(json, JSON_BLOCK);
    json_key(json, "count");
    json_int_write(json, capture->count);
    for (JsonIter it = json_first(capture->value); it.value; json_next(&it)) {
        if (str_is(it.key, "count") || str_is(it.key, "rank")) continue;
        json_key_str(json, it.key);
        json_copy(json, it.value);
    }
    json_end(json);
}

static bool write_captures(const Trial *trial, const Captures *captures, Err *err) {
    Buf text = {0};
    Json json;
    json_init(&json, &text);
    json_object(&json, JSON_BLOCK);
    json_key(&json, "schema");
    json_uint(&json, 1);
    json_key(&json, "launch");
    json_array(&json, JSON_LINE);
    const Launch *launch = &trial->tasks->launch;
    for (uint32_t i = 0; i < launch->argv.len; i++) json_str(&json, launch->argv.at[i]);
    json_end(&json);
    json_key(&json, "captures");
    json_array(&json, JSON_BLOCK);
    for (uint32_t i = 0; i < captures->len; i++) write_capture(&json, &captures->at[i]);
    json_end(&json);
    json_end(&json);
    const char *path = path_join(trial->arena, str_of(trial->work), STR("capture.json"));
    bool ok = file_write(path, buf_str(&text), err);
    buf_free(&text);
    return ok;
}

// Signatures and calls of one candidate.
static void tell_candidate(Trial *trial, const Captures *captures, Str id) {
    uint32_t signatures = 0;
    int64_t calls = 0;
    for (uint32_t i = 0; i < captures->len; i++) {
        if (!str_eq(json_text(json_member(captures->at[i].value, "id")), id)) continue;
        signatures++;
        calls += captures->at[i].count;
    }
    trial_say(trial, "%.*s: %lld calls, %u different inputs%s", STR_FMT(id), (long long)calls,
              signatures, signatures > 1 ? " (shapes change from call to call)" : "");
}

bool trial_capture(Trial *trial, Str *fault, Err *err) {
    ArmResult result;
    Captures captures;
    *fault = STR("");
    if (!trial_baseline_overlay(trial, err)) return false;
    const TrialEdits *edits = &trial->baseline_edits;
    const char *folder = trial_run_path(trial, STR("capture"), "run");
    ArmSpec spec = {.folder = folder, .overlay = &trial->baseline_overlay,
                    .candidates = edits->candidates.at, .candidate_count = edits->candidates.len,
                    .runtime = &trial->runtime, .launch = &trial->tasks->launch,
                    .mode = ARM_CAPTURE};
    if (!file_remove(folder, err) || !arm_run(&result, trial->arena, &spec, err)) return false;
    if (!read_captures(&captures, trial->arena, path_join(trial->arena, str_of(folder),
                                                          STR("capture")), err)) {
        return false;
    }
    if (!captures.len) {
        *fault = arm_is_complete(&result, &trial->tasks->launch)
                     ? STR("the command never runs the code of these candidates")
                     : trial_fault(trial, &result, "the run");
        return true;
    }
    for (uint32_t i = 0; i < trial->count; i++) {
        tell_candidate(trial, &captures, trial->candidates[i].finding->id);
    }
    return write_captures(trial, &captures, err);
}
