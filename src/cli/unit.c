// unit.c - `npufuse unit`: the precision of confirmed candidates on tensors,
// without running the user's command.
#include "base/base.h"

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/output_folder.h"
#include "cli/trial_setup.h"

typedef struct UnitArgs {
    const char *output, *python, *device;
    bool no_emulate, quiet;
} UnitArgs;

#define FIELD(name) offsetof(UnitArgs, name)

static const Option options[] = {
    {"python", 0, OPTION_TEXT, "EXE", "the Python that has torch (VIRTUAL_ENV, python3)",
     FIELD(python)},
    {"device", 0, OPTION_TEXT, "auto|cpu|npu", "where the tensors are (auto)", FIELD(device)},
    {"no-emulate", 0, OPTION_FLAG, NULL,
     "without an NPU, do not stand in for the operators", FIELD(no_emulate)},
    {"output", 'o', OPTION_TEXT, "DIR", "the folder that scan wrote (fusion_verify)",
     FIELD(output)},
    {"quiet", 'q', OPTION_FLAG, NULL, "only verdicts and errors", FIELD(quiet)},
};

static const Usage usage = {
    .name = "unit",
    .operands = "[ID...]",
    .purpose =
        "Compares the original lines of confirmed candidates with their replacement, on\n"
        "equal tensors: results and gradients in float32, bfloat16, float16, and under\n"
        "autocast by the NPU's table and by the CPU's. Both are held against the original\n"
        "in float64. The module of the code is imported, so its import must do no harm.",
    .example = "npufuse unit rms_norm:decoder/norm.py:RMSNorm.forward:0d012d5b",
    .options = options,
    .option_count = COUNT(options),
    .exit_help = {
        [EXIT_NO] = "precision failed",
        [EXIT_BLOCKED] = "not confirmed, or the check could not be made",
    },
};

// One line a candidate; the exit code of all.
static int run_all(TrialSetup *setup, Buf *out, Err *err) {
    int code = EXIT_DONE;
    for (uint32_t i = 0; i < setup->trial.count; i++) {
        if (!trial_unit(&setup->trial, i, err)) return EXIT_USAGE;
        const Task *task = task_find(&setup->tasks, setup->trial.candidates[i].finding->id);
        const Stage *stage = &task->stages[STAGE_UNIT];
        buf_addf(out, "%-7s  %.*s%s\n", stage_status_name(stage->status), STR_FMT(task->id),
                 stage->emulated ? "  (emulated)" : "");
        if (stage->reason.len) buf_addf(out, "         %.*s\n", STR_FMT(stage->reason));
        if (stage->status == STAGE_FAIL) code = EXIT_NO;
        if (stage->status == STAGE_BLOCKED && code == EXIT_DONE) code = EXIT_BLOCKED;
    }
    return code;
}

static int check(TrialSetup *setup) {
    Err err;
    Buf out = {0};
    if (!trial_setup_ready(setup, &err)) return output_fail(EXIT_USAGE, "%s", err.text);
    int code = run_all(setup, &out, &err);
    if (code == EXIT_USAGE || !output_write(buf_str(&out), &err)) {
        code = output_fail(EXIT_USAGE, "%s", err.text);
    }
    buf_free(&out);
    return code;
}

int unit_command(const Args *args) {
    UnitArgs given = {.output = OUTPUT_FOLDER};
    ArgList ids = {0};
    int code;
    if (!options_read(&given, &ids, &usage, args, &code)) return code;
    TrialArgs trial = {.output = given.output, .ids = &ids, .python = given.python,
                       .quiet = given.quiet};
    TrialSetup setup;
    code = trial_setup_begin(&setup, &trial, args->run);
    if (code == EXIT_DONE) {
        Launch *launch = &setup.tasks.launch; // of this command alone: not stored
        launch->device = str_of(given.device ? given.device : "auto");
        launch->python = STR("");
        launch->no_emulate = given.no_emulate;
        if (!launch->seed) launch->seed = 1;
        code = check(&setup);
    }
    trial_setup_end(&setup);
    return code;
}
