// arm.h - one run of the user's command in an overlay: its steps, its counts.
//
// A run has a folder of its own: arm.json (for the hook in its processes),
// log.txt, counts/, steps.jsonl, and at the end result.json by a rename. A run
// whose result is there under the same key is taken from there, not repeated.
#ifndef NPUFUSE_ARM_H
#define NPUFUSE_ARM_H

#include "base/proc.h"
#include "model/finding.h"
#include "model/task.h"
#include "trial/counts.h"
#include "trial/overlay.h"
#include "trial/steps.h"

typedef struct ArmCandidate {
    const Finding *finding;
    uint32_t start_line, end_line; // of the span in this overlay's file
    bool edited;                   // it is the guarded replacement
} ArmCandidate;

// Where the parts of this program are that run inside the user's processes.
typedef struct Runtime {
    const char *package; // the folder that holds the Python package npufuse
    const char *hook;    // the folder of sitecustomize.py
    const char *const *ops; // folders of operator files
    uint32_t op_count;
} Runtime;

typedef enum ArmMode { ARM_RUN, ARM_CAPTURE } ArmMode;

typedef struct ArmSpec {
    const char *folder; // of the run
    const Overlay *overlay;
    const ArmCandidate *candidates;
    uint32_t candidate_count;
    const Runtime *runtime;
    const Launch *launch;
    ArmMode mode;
    bool is_candidate; // else a baseline
    Str key;           // what the result depends on
    const StepList *reference; // end early where the loss leaves this; NULL: never
} ArmSpec;

typedef struct ArmResult {
    ProcEnd end;
    int code;
    double seconds;
    bool reused;   // taken from an earlier run
    bool left;     // ended early: the loss left the reference
    StepList steps;
    Counts counts;
    Str tail;      // the last lines of the log
    const char *log;
} ArmResult;

// False if the command cannot be started or files not be written; everything
// else that can happen to a run is in the result.
MUST_CHECK bool arm_run(ArmResult *out, Arena *arena, const ArmSpec *spec, Err *err);
// Whether it made its steps: it ended well, or was ended because it had enough.
bool arm_is_complete(const ArmResult *result, const Launch *launch);
// What went wrong, as a sentence; for a run that is not complete.
Str arm_fault(const ArmResult *result, Arena *arena, const Launch *launch);
// The launch command, with paths as the overlay sees them.
const char *const *arm_argv(Arena *arena, const Launch *launch, const Overlay *overlay);
// For people: words quoted as a shell needs them.
Str arm_command(Arena *arena, const char *const *argv);

#endif
