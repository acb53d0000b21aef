// record.c - what verification writes down as it goes: events, tasks, and where
// the files of a run are.
#include "base/base.h"

#include "trial/trial_impl.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"

#include <stdarg.h>
#include <stdio.h>

const char *trial_run_path(const Trial *trial, Str owner, const char *name) {
    const char *runs = path_join(trial->arena, str_of(trial->work), STR("runs"));
    const char *folder = path_join(trial->arena, str_of(runs), owner);
    return path_join(trial->arena, str_of(folder), str_of(name));
}

void trial_say(const Trial *trial, const char *fmt, ...) {
    if (!trial->hooks.say) return;
    char line[1000];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    trial->hooks.say(trial->hooks.data, str_of(line));
}

static void write_event(Buf *out, const Task *task, const char *event, Str detail) {
    Json json;
    json_init(&json, out);
    json_object(&json, JSON_LINE);
    json_key(&json, "time");
    json_int_write(&json, clock_now());
    json_key(&json, "id");
    json_str(&json, task ? task->id : STR(""));
    json_key(&json, "event");
    json_str(&json, str_of(event));
    json_key(&json, "detail");
    json_str(&json, detail);
    json_end(&json);
}

bool trial_save(Trial *trial, const Task *task, const char *event, Str detail, Err *err) {
    Buf line = {0};
    write_event(&line, task, event, detail);
    const char *path = path_join(trial->arena, str_of(trial->work), STR("events.jsonl"));
    bool ok = file_append(path, buf_str(&line), err) &&
              tasks_write(trial->tasks, trial->work, err);
    buf_free(&line);
    return ok;
}

void stage_set(Task *task, StageName stage, StageStatus status, Str reason) {
    task->stages[stage].status = status;
    task->stages[stage].reason = reason;
}
