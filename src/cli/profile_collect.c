// profile_collect.c - the hook in the user's processes profiles and tells in a small
// file that it is done (python/npufuse/profile_collect.py); here the command is run,
// and ended once that file is there.
#include "base/base.h"

#include "cli/profile_collect.h"

#include "base/file.h"
#include "base/proc.h"
#include "cli/output.h"
#include "cli/paths_python.h"
#include "model/json_read.h"

#include <stdlib.h>
#include <unistd.h>

enum { TOLD_MAX_BYTES = 65536 };
#define LOOK_S 0.25

typedef struct Watch {
    const Collect *collect;
    Arena *run;
    const char *folder; // absolute
    double looked; // when the folder was looked at
    bool is_told;
} Watch;

// The file of a process that is done, NULL if there is none.
static const char *find_told(Arena *run, const char *folder) {
    FolderList list;
    Err ignored;
    if (!folder_read(&list, run, folder, &ignored)) return NULL;
    for (size_t i = 0; i < list.len; i++) {
        Str name = str_of(list.at[i].name);
        if (str_starts(name, "collected-") && str_ends(name, ".json")) {
            return path_join(run, str_of(folder), name);
        }
    }
    return NULL;
}

// The output of the command is its own; it goes where ours would.
static ProcAnswer take(void *data, Str chunk) {
    Watch *watch = data;
    if (chunk.len && !watch->collect->is_quiet) output_talk(chunk);
    if (proc_now() - watch->looked < LOOK_S) return chunk.len ? PROC_PROGRESS : PROC_GO;
    watch->looked = proc_now();
    ArenaMark mark = arena_mark(watch->run);
    watch->is_told = find_told(watch->run, watch->folder) != NULL;
    arena_reset(watch->run, mark);
    if (watch->is_told) return PROC_STOP;
    return chunk.len ? PROC_PROGRESS : PROC_GO;
}

static bool write_settings(Watch *watch, const char *path, Err *err) {
    Buf text = {0};
    Json json;
    json_init(&json, &text);
    json_object(&json, JSON_BLOCK);
    json_add_uint(&json, "schema", 1);
    json_add_str(&json, "folder", str_of(watch->folder));
    json_add_uint(&json, "steps", watch->collect->steps);
    json_add_uint(&json, "skip", watch->collect->skip);
    json_end(&json);
    bool ok = file_write(path, buf_str(&text), err);
    buf_free(&text);
    return ok;
}

static bool prepare(Watch *watch, Err *err) {
    const char *told;
    if (!file_make_folder(watch->collect->folder, err)) return false;
    watch->folder = path_real(watch->run, watch->collect->folder);
    if (!watch->folder) return err_set(err, "cannot open '%s'", watch->collect->folder);
    while ((told = find_told(watch->run, watch->folder))) { // of an earlier run
        if (!file_remove(told, err)) return false;
    }
    FolderList list;
    if (!folder_read(&list, watch->run, watch->folder, err)) return false;
    for (size_t i = 0; i < list.len; i++) {
        if (str_ends(str_of(list.at[i].name), "_ascend_pt")) {
            return err_set(err, "'%s' holds a profile already, '%s': give a new folder",
                           watch->collect->folder, list.at[i].name);
        }
    }
    return true;
}

static const char *const *make_environment(Watch *watch, Str hook, const char *settings) {
    const char **env = NEW_N(watch->run, const char *, 3);
    const char *old = getenv("PYTHONPATH");
    env[0] = arena_printf(watch->run, "PYTHONPATH=%.*s%s%s", STR_FMT(hook),
                          old && *old ? ":" : "", old ? old : "").at;
    env[1] = arena_printf(watch->run, "NPUFUSE_COLLECT=%s", settings).at;
    return env;
}

static bool run_command(ProcResult *result, Watch *watch, Err *err) {
    Str hook;
    const Launch *launch = watch->collect->launch;
    const char *settings = path_join(watch->run, str_of(watch->folder), STR("collect.json"));
    if (!python_find_hook(&hook, watch->run, err) || !write_settings(watch, settings, err)) {
        return false;
    }
    const char **argv = NEW_N(watch->run, const char *, launch->argv.len + 1);
    for (uint32_t i = 0; i < launch->argv.len; i++) {
        argv[i] = arena_cstr(watch->run, launch->argv.at[i]);
    }
    const char *const *env = make_environment(watch, hook, settings);
    ProcSpec spec = {.argv = argv, .env = env, .mark = env[1], .take = take, .data = watch,
                     .quiet_s = watch->collect->timeout_s};
    return proc_run(result, &spec, err);
}

static Str end_of(const ProcResult *result, Arena *run) {
    if (result->end == PROC_TOO_QUIET) return STR("it hung");
    if (result->end == PROC_INTERRUPTED) return STR("it was interrupted");
    if (result->end == PROC_SIGNALLED) {
        return arena_printf(run, "it died of signal %d", result->code);
    }
    return arena_printf(run, "it ended with code %d", result->code);
}

static void tell(const JsonVal *told, const Watch *watch) {
    bool has_npu = str_is(json_text(json_member(told, "by")), "torch_npu");
    Str version = json_text(json_member(told, has_npu ? "torch_npu" : "torch"));
    Str optimizer = json_text(json_member(told, "optimizer"));
    Str line = arena_printf(
        watch->run, "collected in '%s': steps %lld to %lld of rank 0, by %s %.*s (%s), a step "
        "being one of %.*s", watch->collect->folder,
        (long long)json_int(json_member(told, "first"), 0),
        (long long)json_int(json_member(told, "last"), 0), has_npu ? "torch_npu" : "torch",
        STR_FMT(version), has_npu ? "Level1, PipeUtilization, shapes, stacks, modules"
                                  : "operators of the CPU, shapes, stacks, modules",
        STR_FMT(optimizer));
    output_note(line);
}

static int judge(const char **profile, Watch *watch, const ProcResult *result) {
    const JsonVal *told;
    Err err;
    const char *path = find_told(watch->run, watch->folder);
    if (!path) {
        Str end = end_of(result, watch->run);
        return output_fail(EXIT_BLOCKED, "nothing was collected: no optimizer of torch stepped in "
                           "the command; %.*s", STR_FMT(end));
    }
    if (!json_read_file(&told, watch->run, path, TOLD_MAX_BYTES, &err)) {
        return output_fail(EXIT_BLOCKED, "nothing was collected: %s", err.text);
    }
    Str fault = json_text(json_member(told, "fault"));
    if (fault.len) {
        return output_fail(EXIT_BLOCKED, "nothing was collected: %.*s", STR_FMT(fault));
    }
    tell(told, watch);
    if (!str_is(json_text(json_member(told, "by")), "torch_npu")) {
        return output_fail(EXIT_BLOCKED, "the command ran without an NPU: the trace of its "
                           "operators is there, but times of a CPU say nothing about kernels of "
                           "an NPU; collect where torch_npu is");
    }
    *profile = watch->collect->folder;
    return EXIT_DONE;
}

int profile_collect(const char **profile, Arena *run, const Collect *collect) {
    Err err;
    ProcResult result;
    Watch watch = {.collect = collect, .run = run};
    if (!prepare(&watch, &err) || !run_command(&result, &watch, &err)) {
        return output_fail(EXIT_USAGE, "%s", err.text);
    }
    return judge(profile, &watch, &result);
}
