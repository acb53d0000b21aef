// task.h - what is known of each candidate in verification, kept in tasks.json
// so that an interrupted verification goes on where it was.
#ifndef NPUFUSE_TASK_H
#define NPUFUSE_TASK_H

#include "base/arena.h"
#include "base/err.h"
#include "model/json.h"

enum { TASKS_SCHEMA = 1 };

typedef enum TaskState {
    TASK_WAITING,
    TASK_PRECISION_RUNNING,
    TASK_PRECISION_FAILED,
    TASK_PERFORMANCE_RUNNING,
    TASK_CONCLUDED,
    TASK_BLOCKED, // something outside of the candidate is missing
    TASK_STALE,   // the code or the replacement is not what was verified
} TaskState;

typedef enum StageName { STAGE_UNIT, STAGE_LOSS, STAGE_PERFORMANCE, STAGE_COUNT } StageName;

typedef enum StageStatus {
    STAGE_OPEN, STAGE_PASS, STAGE_FAIL, STAGE_BLOCKED, STAGE_SKIPPED,
} StageStatus;

typedef enum Speed {
    SPEED_NOT_MEASURED, SPEED_FASTER, SPEED_NO_GAIN, SPEED_SLOWER, SPEED_UNDECIDED,
} Speed;

typedef enum Answer { ANSWER_UNDECIDED, ANSWER_REPLACE, ANSWER_DO_NOT } Answer;

typedef struct Stage {
    StageStatus status;
    Str reason; // one sentence
    bool emulated;
} Stage;

typedef struct Task {
    Str id, slug; // slug: the id as a file name
    TaskState state;
    Stage stages[STAGE_COUNT];
    Speed speed;
    Answer answer;
    Str reason; // of the answer
    Str file_sha256, edits_sha256; // what the task speaks of
    Str launch_sha256;             // and the command and options it was tried with
} Task;

// How verification was started, for `resume`.
typedef struct Launch {
    VEC(Str) argv;
    VEC(Str) ids; // what was asked for; none: all that are confirmed
    Str folder;   // the current folder, absolute
    Str log, python, device;
    int64_t steps, seed;
    double threshold, timeout_s;
    bool no_emulate, no_performance;
} Launch;

typedef struct TaskList {
    Launch launch;
    VEC(Task) tasks; // in the order of verification
    Stage together;  // one run with all that passed, where they are several
} TaskList;

const char *task_state_name(TaskState state);   // "precision_running"
const char *task_state_label(TaskState state);  // Chinese, as users know them
const char *stage_name(StageName stage);        // "unit"
const char *stage_status_name(StageStatus status); // "pass"; "" while open
const char *speed_name(Speed speed);
const char *answer_name(Answer answer);

// The id with every byte outside of [A-Za-z0-9._-], and a dot at its start, as '-';
// the middle of a very long one is left out, so that it can be the name of a file.
Str task_slug(Arena *arena, Str id);
Task *task_find(const TaskList *list, Str id); // NULL if none
// True also where there is no tasks.json: the list is empty then.
MUST_CHECK bool tasks_read(TaskList *out, Arena *arena, const char *folder, Err *err);
// Writes tasks.json and tasks.md, each by a rename.
MUST_CHECK bool tasks_write(const TaskList *list, const char *folder, Err *err);
void tasks_write_json(Buf *out, const TaskList *list);
// SHA-256 of all that decides what a task's result means: not of `ids`.
Str launch_sha256(Arena *arena, const Launch *launch);
void stages_write(Json *json, const Task *task); // the array "stages"

#endif
