// inputs.c - finds the files of a profile. What was found decides what is said to be
// missing, so both are here.
#include "base/base.h"

#include "prof/inputs.h"

#include "base/file.h"
#include "model/json_read.h"

#include <stdio.h>
#include <stdlib.h>

enum { HEAD_BYTES = 64, INFO_MAX_BYTES = 4 * 1024 * 1024, FOLDERS_MAX = 4096 };

typedef struct Finder {
    ProfInputs *out;
    Arena *arena;
    VEC(Str) runs; // folders *_ascend_pt and *_ascend_ms
    Str prof;      // a folder PROF_*
    bool has_kernels; // kernel_details: then op_summary is the same once more
} Finder;

static void note(ProfInputs *out, Arena *arena, Str text) {
    vec_push(arena, &out->notes, text);
}

// ---- one file ---------------------------------------------------------------------

typedef enum HeadKind { HEAD_TABLE, HEAD_TRACE, HEAD_DB, HEAD_EMPTY, HEAD_OTHER } HeadKind;

static HeadKind head_kind(const unsigned char *head, size_t len) {
    if (len == 0) return HEAD_EMPTY;
    if (len >= 16 && memcmp(head, "SQLite format 3", 16) == 0) return HEAD_DB;
    size_t at = len >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < len && (head[at] == ' ' || head[at] == '\n' || head[at] == '\r')) at++;
    if (at < len && (head[at] == '[' || head[at] == '{')) return HEAD_TRACE;
    for (size_t i = at; i < len; i++) {
        if (head[i] == 0) return HEAD_OTHER;
    }
    return HEAD_TABLE;
}

static bool read_head(HeadKind *out, const char *path, Err *err) {
    unsigned char head[HEAD_BYTES];
    FILE *file = fopen(path, "rb");
    if (!file) return err_set(err, "cannot open '%s'", path);
    size_t len = fread(head, 1, sizeof(head), file);
    fclose(file);
    *out = head_kind(head, len);
    return true;
}

static bool take_file(ProfInputs *out, Arena *arena, const char *path, Err *err) {
    HeadKind kind = HEAD_OTHER;
    const char *copy = arena_cstr(arena, str_of(path));
    if (!read_head(&kind, path, err)) return false;
    out->folder = arena_str(arena, path_folder(str_of(copy)));
    if (kind == HEAD_EMPTY) return err_set(err, "'%s' is empty", path);
    if (kind == HEAD_OTHER) {
        return err_set(err, "'%s' is no profile: give a *_ascend_pt folder, kernel_details.csv, "
                       "op_summary_*.csv, trace_view.json or a database of the profiler", path);
    }
    if (kind == HEAD_TABLE) vec_push(arena, &out->kernels, copy);
    if (kind == HEAD_TRACE) out->trace = copy;
    if (kind == HEAD_DB) out->db = copy;
    return true;
}

// ---- folders ----------------------------------------------------------------------

static bool is_named(Str name, const char *start, const char *end) {
    return str_starts(name, start) && str_ends(name, end);
}

static void take_table(Finder *finder, const char *path, bool is_details) {
    ProfInputs *out = finder->out;
    if (!is_details && finder->has_kernels) return;
    if (is_details && !finder->has_kernels) out->kernels.len = 0;
    finder->has_kernels = finder->has_kernels || is_details;
    if (out->kernels.len < INPUT_SLICES_MAX) vec_push(finder->arena, &out->kernels, path);
}

// A file of the profiler by its name.
static void take_named(Finder *finder, Str folder, Str name) {
    ProfInputs *out = finder->out;
    const char *path = path_join(finder->arena, folder, name);
    if (is_named(name, "kernel_details", ".csv")) take_table(finder, path, true);
    else if (is_named(name, "op_summary", ".csv")) take_table(finder, path, false);
    else if (is_named(name, "trace_view", ".json") && !out->trace) out->trace = path;
    else if (is_named(name, "ascend_pytorch_profiler", ".db") && !out->db) out->db = path;
    else if (is_named(name, "msprof_", ".db") && !out->db) out->db = path;
    else if (str_starts(name, "info.json") && !str_ends(name, ".done") && !out->info) {
        out->info = path;
    }
}

// The folders below a profile that may have something to tell.
static bool is_inner(Str name) {
    return str_is(name, "ASCEND_PROFILER_OUTPUT") || str_starts(name, "PROF_") ||
           str_is(name, "mindstudio_profiler_output") || str_starts(name, "device_");
}

static bool is_run(Str name) {
    return str_ends(name, "_ascend_pt") || str_ends(name, "_ascend_ms");
}

static bool walk(Finder *finder, const char *path, uint32_t depth, Err *err) {
    FolderList list;
    if (!folder_read(&list, finder->arena, path, err)) return false;
    size_t count = list.len < FOLDERS_MAX ? list.len : FOLDERS_MAX;
    for (size_t i = 0; i < count; i++) {
        Str name = str_of(list.at[i].name);
        if (list.at[i].kind == FILE_REGULAR) take_named(finder, str_of(path), name);
        if (list.at[i].kind != FILE_FOLDER) continue;
        const char *inner = path_join(finder->arena, str_of(path), name);
        if (is_run(name)) vec_push(finder->arena, &finder->runs, str_of(inner));
        if (depth < 4 && is_inner(name) && !walk(finder, inner, depth + 1, err)) return false;
    }
    return true;
}

static bool has_any(const ProfInputs *out) {
    return out->kernels.len || out->db || out->trace;
}

// Of several ranks or runs the first by name is taken, and said.
static bool take_run(Finder *finder, Err *err) {
    ProfInputs *out = finder->out;
    Str run = finder->runs.at[0];
    if (finder->runs.len > 1) {
        note(out, finder->arena,
             arena_printf(finder->arena, "%u profiles are in this folder; '%.*s' is read: name "
                          "another to read that", finder->runs.len, STR_FMT(path_base(run))));
    }
    return walk(finder, run.at, 1, err);
}

static void set_folder(Finder *finder) {
    ProfInputs *out = finder->out;
    const char *first = out->kernels.len ? out->kernels.at[0] : out->db ? out->db : out->trace;
    if (first) out->folder = arena_str(finder->arena, path_folder(str_of(first)));
}

static bool take_folder(ProfInputs *out, Arena *arena, const char *path, Err *err) {
    Finder finder = {.out = out, .arena = arena};
    if (!walk(&finder, path, 1, err)) return false;
    if (!has_any(out) && finder.runs.len && !take_run(&finder, err)) return false;
    if (!has_any(out)) {
        return err_set(err, "there is no profile in '%s': no kernel_details.csv, op_summary_*.csv, "
                       "trace_view.json or database of the profiler; the profiler writes them when "
                       "it analyses its data", path);
    }
    set_folder(&finder);
    return true;
}

// ---- what the files tell beside the kernels ------------------------------------------

static void read_info(ProfInputs *out, Arena *arena) {
    const JsonVal *root;
    Err ignored;
    if (!out->info || !json_read_file(&root, arena, out->info, INFO_MAX_BYTES, &ignored)) return;
    const JsonVal *device = json_at(json_member(root, "DeviceInfo"), 0);
    int64_t cores = json_int(json_member(device, "ai_core_num"), 0);
    int64_t vectors = json_int(json_member(device, "aiv_num"), 0);
    const JsonVal *mhz = json_member(device, "aic_frequency");
    out->core_count = cores > 0 && cores < 1000 ? (uint32_t)cores : 0;
    out->vector_count = vectors > 0 && vectors < 1000 ? (uint32_t)vectors : 0;
    out->core_mhz = json_is_text(mhz) ? strtod(json_text(mhz).at, NULL) : json_number(mhz, 0);
    if (!(out->core_mhz > 0 && out->core_mhz < 100000)) out->core_mhz = 0;
    Str name = json_text(json_member(device, "name"));
    if (name.len && name.len < 64) out->device = arena_str(arena, name);
}

static void tell_missing(ProfInputs *out, Arena *arena) {
    if (!out->kernels.len && out->db) {
        note(out, arena, STR("no kernel_details.csv: the kernels are read from the database"));
    } else if (!out->kernels.len) {
        note(out, arena, STR("neither kernel_details.csv nor a database: the kernels are read from "
                             "the trace, which has no shapes; runs cannot be proven without them"));
    }
    if (!out->trace && !out->db) {
        note(out, arena, STR("no trace_view.json: no modules and no source lines; modules are "
                             "inferred from repetition"));
    }
    if (!out->info && !out->device.len) {
        note(out, arena, STR("no info.json of the device: its cores and frequency are not known "
                             "from the profile"));
    }
}

bool profile_inputs(ProfInputs *out, Arena *arena, const char *path, Err *err) {
    *out = (ProfInputs){0};
    FileKind kind = file_kind(path);
    if (kind == FILE_NONE) return err_set(err, "there is no '%s'", path);
    if (kind == FILE_OTHER) return err_set(err, "'%s' is neither a file nor a folder", path);
    bool ok = kind == FILE_FOLDER ? take_folder(out, arena, path, err)
                                  : take_file(out, arena, path, err);
    if (!ok) return false;
    read_info(out, arena);
    tell_missing(out, arena);
    return true;
}
