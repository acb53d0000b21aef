// task.c - tasks.json both ways, and tasks.md for people.
#include "base/base.h"

#include "model/task.h"

#include "base/file.h"
#include "base/sha256.h"
#include "model/json_read.h"

static const char *const state_names[] = {
    "waiting", "precision_running", "precision_failed", "performance_running",
    "concluded", "blocked", "stale",
};
static const char *const state_labels[] = {
    "待测", "精度验证中", "精度不通过", "性能验证中", "已结论", "阻塞", "过期",
};
static const char *const stage_names[] = {"unit", "loss", "performance"};
static const char *const status_names[] = {"", "pass", "fail", "blocked", "skipped"};
static const char *const speed_names[] = {
    "not_measured", "faster", "no_gain", "slower", "undecided",
};
static const char *const answer_names[] = {"undecided", "replace", "do_not"};

typedef struct Words {
    const char *const *at;
    size_t count;
} Words;

#define WORDS(names) {names, COUNT(names)}

static const Words state_words = WORDS(state_names), stage_words = WORDS(stage_names);
static const Words status_words = WORDS(status_names), speed_words = WORDS(speed_names);
static const Words answer_words = WORDS(answer_names);

const char *task_state_name(TaskState state) { return state_names[state]; }
const char *task_state_label(TaskState state) { return state_labels[state]; }
const char *stage_name(StageName stage) { return stage_names[stage]; }
const char *stage_status_name(StageStatus status) { return status_names[status]; }
const char *speed_name(Speed speed) { return speed_names[speed]; }
const char *answer_name(Answer answer) { return answer_names[answer]; }

Str task_slug(Arena *arena, Str id) {
    enum { SLUG_MAX = 200, HEAD = 100, TAIL = 90 }; // the end holds the hash
    char *slug = arena_cstr(arena, id);
    if (id.len > SLUG_MAX) {
        Str tail = {id.at + id.len - TAIL, TAIL};
        slug = arena_cstr(arena, arena_printf(arena, "%.*s--%.*s", HEAD, id.at, STR_FMT(tail)));
    }
    for (char *c = slug; *c; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                     (*c >= '0' && *c <= '9') || *c == '.' || *c == '_' || *c == '-';
        if (!plain) *c = '-';
    }
    if (slug[0] == '.') slug[0] = '-'; // neither ".." nor a hidden file
    if (slug[0] == '-' && slug[1] == '.' && !slug[2]) slug[1] = '-';
    return str_of(slug);
}

Task *task_find(const TaskList *list, Str id) {
    for (uint32_t i = 0; i < list->tasks.len; i++) {
        if (str_eq(list->tasks.at[i].id, id)) return &list->tasks.at[i];
    }
    return NULL;
}

// ---- reading ------------------------------------------------------------------

typedef struct Reader {
    Arena *arena;
    const char *path;
    Err *err;
} Reader;

// The index of the member's word among `names`; the first one where the member is
// absent. False for a word that is not among them.
static bool read_word(int *out, const Reader *reader, const JsonVal *object, const char *member,
                      const Words *words) {
    const JsonVal *value = json_member(object, member);
    Str text = json_text(value);
    *out = 0;
    if (!value) return true;
    for (size_t i = 0; i < words->count; i++) {
        if (!str_is(text, words->at[i])) continue;
        *out = (int)i;
        return true;
    }
    return err_set(reader->err, "'%s': '%s' is '%.*s', which is not known; move the file away to "
                   "verify anew", reader->path, member, STR_FMT(text));
}

static Str text_of(const JsonVal *object, const char *member) {
    return json_text(json_member(object, member));
}

static bool read_stage(Stage *out, const Reader *reader, const JsonVal *v) {
    int status;
    if (!read_word(&status, reader, v, "status", &status_words)) return false;
    *out = (Stage){
        .status = (StageStatus)status,
        .reason = text_of(v, "reason"),
        .emulated = json_truth(json_member(v, "emulated"), false),
    };
    return true;
}

static bool read_stages(Task *task, const Reader *reader, const JsonVal *stages) {
    int name;
    for (JsonIter it = json_first(stages); it.value; json_next(&it)) {
        if (!json_member(it.value, "name")) {
            return err_set(reader->err, "'%s': a stage has no 'name'; move the file away to verify "
                           "anew", reader->path);
        }
        if (!read_word(&name, reader, it.value, "name", &stage_words)) return false;
        if (!read_stage(&task->stages[name], reader, it.value)) return false;
    }
    return true;
}

static bool read_task(Task *out, const Reader *reader, const JsonVal *v) {
    int state, speed, answer;
    if (!read_word(&state, reader, v, "state", &state_words) ||
        !read_word(&speed, reader, v, "speed", &speed_words) ||
        !read_word(&answer, reader, v, "answer", &answer_words)) {
        return false;
    }
    *out = (Task){.id = text_of(v, "id"), .reason = text_of(v, "reason"),
                  .state = (TaskState)state, .speed = (Speed)speed, .answer = (Answer)answer,
                  .file_sha256 = text_of(v, "file_sha256"),
                  .edits_sha256 = text_of(v, "edits_sha256"),
                  .launch_sha256 = text_of(v, "launch_sha256")};
    out->slug = task_slug(reader->arena, out->id); // a path: not taken from the file
    return read_stages(out, reader, json_member(v, "stages"));
}

static void read_launch(Launch *out, Arena *arena, const JsonVal *v) {
    const JsonVal *argv = json_member(v, "argv"), *ids = json_member(v, "ids");
    for (JsonIter it = json_first(argv); it.value; json_next(&it)) {
        vec_push(arena, &out->argv, json_text(it.value));
    }
    for (JsonIter it = json_first(ids); it.value; json_next(&it)) {
        vec_push(arena, &out->ids, json_text(it.value));
    }
    out->folder = text_of(v, "folder");
    out->log = text_of(v, "log");
    out->python = text_of(v, "python");
    out->device = text_of(v, "device");
    out->steps = json_int(json_member(v, "steps"), 0);
    out->seed = json_int(json_member(v, "seed"), 0);
    out->threshold = json_number(json_member(v, "threshold"), 0);
    out->timeout_s = json_number(json_member(v, "timeout_s"), 0);
    out->no_emulate = json_truth(json_member(v, "no_emulate"), false);
    out->no_performance = json_truth(json_member(v, "no_performance"), false);
}

bool tasks_read(TaskList *out, Arena *arena, const char *folder, Err *err) {
    *out = (TaskList){0};
    const char *path = path_join(arena, str_of(folder), STR("tasks.json"));
    if (file_kind(path) == FILE_NONE) return true;
    const JsonVal *root;
    if (!json_read_file(&root, arena, path, FILE_MAX_BYTES, err)) return false;
    if (json_int(json_member(root, "schema"), 0) != TASKS_SCHEMA) {
        return err_set(err, "'%s': schema is not %d; move the file away to verify anew", path,
                       TASKS_SCHEMA);
    }
    read_launch(&out->launch, arena, json_member(root, "launch"));
    Reader reader = {arena, path, err};
    if (!read_stage(&out->together, &reader, json_member(root, "together"))) return false;
    const JsonVal *tasks = json_member(root, "tasks");
    for (JsonIter it = json_first(tasks); it.value; json_next(&it)) {
        Task task;
        if (!read_task(&task, &reader, it.value)) return false;
        if (task.id.len && !task_find(out, task.id)) vec_push(arena, &out->tasks, task);
    }
    return true;
}

// ---- writing ------------------------------------------------------------------

static void add_strings(Json *json, const char *name, const Str *at, uint32_t count) {
    json_key(json, name);
    json_array(json, JSON_LINE);
    for (uint32_t i = 0; i < count; i++) json_str(json, at[i]);
    json_end(json);
}

static void write_launch(Json *json, const Launch *launch) {
    json_key(json, "launch");
    json_object(json, JSON_BLOCK);
    add_strings(json, "argv", launch->argv.at, launch->argv.len);
    add_strings(json, "ids", launch->ids.at, launch->ids.len);
    json_add_str(json, "folder", launch->folder);
    json_add_str(json, "log", launch->log);
    json_add_str(json, "python", launch->python);
    json_add_str(json, "device", launch->device);
    json_key(json, "steps");
    json_int_write(json, launch->steps);
    json_key(json, "seed");
    json_int_write(json, launch->seed);
    json_add_double(json, "threshold", launch->threshold);
    json_add_double(json, "timeout_s", launch->timeout_s);
    json_add_bool(json, "no_emulate", launch->no_emulate);
    json_add_bool(json, "no_performance", launch->no_performance);
    json_end(json);
}

static void write_stage(Json *json, const char *name, const Stage *stage) {
    json_object(json, JSON_LINE);
    if (name) json_add_str(json, "name", str_of(name));
    json_add_str(json, "status", str_of(stage_status_name(stage->status)));
    json_add_str(json, "reason", stage->reason);
    json_add_bool(json, "emulated", stage->emulated);
    json_end(json);
}

void stages_write(Json *json, const Task *task) {
    json_array(json, JSON_BLOCK);
    for (int i = 0; i < STAGE_COUNT; i++) {
        write_stage(json, stage_name((StageName)i), &task->stages[i]);
    }
    json_end(json);
}

static void write_task(Json *json, const Task *task) {
    json_object(json, JSON_BLOCK);
    json_add_str(json, "id", task->id);
    json_add_str(json, "slug", task->slug);
    json_add_str(json, "state", str_of(task_state_name(task->state)));
    json_key(json, "stages");
    stages_write(json, task);
    json_add_str(json, "speed", str_of(speed_name(task->speed)));
    json_add_str(json, "answer", str_of(answer_name(task->answer)));
    json_add_str(json, "reason", task->reason);
    json_add_str(json, "file_sha256", task->file_sha256);
    json_add_str(json, "edits_sha256", task->edits_sha256);
    json_add_str(json, "launch_sha256", task->launch_sha256);
    json_end(json);
}

void tasks_write_json(Buf *out, const TaskList *list) {
    Json json;
    json_init(&json, out);
    json_object(&json, JSON_BLOCK);
    json_key(&json, "schema");
    json_uint(&json, TASKS_SCHEMA);
    write_launch(&json, &list->launch);
    json_key(&json, "tasks");
    json_array(&json, JSON_BLOCK);
    for (uint32_t i = 0; i < list->tasks.len; i++) write_task(&json, &list->tasks.at[i]);
    json_end(&json);
    json_key(&json, "together");
    write_stage(&json, NULL, &list->together);
    json_end(&json);
}

// A table cell: no line breaks, no bars.
static void add_cell(Buf *out, Str text) {
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '|') buf_add_char(out, '\\');
        buf_add_char(out, c == '\n' || c == '\r' ? ' ' : c);
    }
    buf_add(out, STR(" | "));
}

static void add_stage_cell(Buf *out, const Stage *stage) {
    const char *status = stage_status_name(stage->status);
    buf_addf(out, "%s%s | ", *status ? status : "–", stage->emulated ? " (emulated)" : "");
}

static void write_markdown(Buf *out, const TaskList *list) {
    buf_add(out, STR("# 任务列表 / Tasks\n\n```text\n"));
    for (uint32_t i = 0; i < list->launch.argv.len; i++) {
        buf_addf(out, i ? " %.*s" : "%.*s", STR_FMT(list->launch.argv.at[i]));
    }
    buf_add(out, STR("\n```\n\n| 候选 / Candidate | 状态 / State | unit | loss | performance | "
                     "结论 / Answer | 原因 / Reason | 报告 / Report |\n"
                     "|---|---|---|---|---|---|---|---|\n"));
    for (uint32_t i = 0; i < list->tasks.len; i++) {
        const Task *task = &list->tasks.at[i];
        buf_addf(out, "| `%.*s` | %s %s | ", STR_FMT(task->id), task_state_label(task->state),
                 task_state_name(task->state));
        for (int k = 0; k < STAGE_COUNT; k++) add_stage_cell(out, &task->stages[k]);
        buf_addf(out, "%s (%s) | ", answer_name(task->answer), speed_name(task->speed));
        add_cell(out, task->reason);
        buf_addf(out, "[html](%.*s.html) |\n", STR_FMT(task->slug));
    }
}

static bool put(const char *folder, Str name, const Buf *text, Err *err) {
    Arena arena;
    arena_init(&arena);
    bool ok = file_write(path_join(&arena, str_of(folder), name), buf_str(text), err);
    arena_free(&arena);
    return ok;
}

bool tasks_write(const TaskList *list, const char *folder, Err *err) {
    Buf json = {0}, markdown = {0};
    tasks_write_json(&json, list);
    write_markdown(&markdown, list);
    bool ok = put(folder, STR("tasks.json"), &json, err) &&
              put(folder, STR("tasks.md"), &markdown, err);
    buf_free(&json);
    buf_free(&markdown);
    return ok;
}

static void add_part(Sha256 *hash, Str part) {
    char end = 0;
    sha256_add(hash, part);
    sha256_add(hash, (Str){&end, 1});
}

Str launch_sha256(Arena *arena, const Launch *launch) {
    Sha256 hash;
    char hex[SHA256_HEX + 1];
    sha256_init(&hash);
    for (uint32_t i = 0; i < launch->argv.len; i++) add_part(&hash, launch->argv.at[i]);
    add_part(&hash, launch->folder);
    add_part(&hash, launch->log);
    add_part(&hash, launch->python);
    add_part(&hash, launch->device);
    add_part(&hash, arena_printf(arena, "%lld %lld %.17g %d %d", (long long)launch->steps,
                                 (long long)launch->seed, launch->threshold, launch->no_emulate,
                                 launch->no_performance));
    sha256_end(&hash, hex);
    return arena_str(arena, str_of(hex));
}
