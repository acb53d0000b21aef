// verify.c - `npufuse verify`: confirmed candidates, one at a time, through unit
// precision, the loss of the user's own command, and its step time.
#include "base/base.h"

#include "cli/commands.h"
#include "cli/launch.h"
#include "cli/output.h"
#include "cli/output_folder.h"
#include "cli/trial_setup.h"

#include "base/file.h"

typedef struct VerifyArgs {
    const char *output, *lang, *steps, *threshold, *timeout, *python, *log, *seed, *device;
    bool no_emulate, no_performance, quiet;
} VerifyArgs;

#define FIELD(name) offsetof(VerifyArgs, name)

static const Option options[] = {
    {"steps", 0, OPTION_TEXT, "N", "steps of each run; it is ended then (60)", FIELD(steps)},
    {"threshold", 0, OPTION_TEXT, "X",
     "how much the loss of a step may differ, relatively (0.01)", FIELD(threshold)},
    {"timeout", 0, OPTION_TEXT, "SECONDS",
     "a run without a new step for so long hangs (1800)", FIELD(timeout)},
    {"log", 0, OPTION_TEXT, "FILE",
     "where the command writes its steps, if not to its output", FIELD(log)},
    {"python", 0, OPTION_TEXT, "EXE",
     "runs the unit check (the Python of COMMAND, of VIRTUAL_ENV,\n"
     "or python3)", FIELD(python)},
    {"device", 0, OPTION_TEXT, "auto|cpu|npu", "of the unit check (auto)", FIELD(device)},
    {"seed", 0, OPTION_TEXT, "N", "of random tensors and resampling (1)", FIELD(seed)},
    {"no-emulate", 0, OPTION_FLAG, NULL,
     "without an NPU, do not stand in for the operators", FIELD(no_emulate)},
    {"no-performance", 0, OPTION_FLAG, NULL, "precision only", FIELD(no_performance)},
    {"lang", 'l', OPTION_TEXT, "zh|en", "language of the page", FIELD(lang)},
    {"output", 'o', OPTION_TEXT, "DIR", "the folder that scan wrote (fusion_verify)",
     FIELD(output)},
    {"quiet", 'q', OPTION_FLAG, NULL, "only verdicts and errors", FIELD(quiet)},
};

static const Usage usage = {
    .name = "verify",
    .operands = "[ID...] -- COMMAND...",
    .purpose =
        "Verifies confirmed candidates, each alone against the unchanged code: precision\n"
        "of the replaced lines with gradients, then the loss of COMMAND over the same\n"
        "steps, then its step time. What fails in precision is not timed. The project\n"
        "is not edited: COMMAND runs in a copy below DIR. It should print one line a\n"
        "step and be repeatable; see docs/verification.md.",
    .example = "npufuse verify -- torchrun --nproc_per_node 8 train.py --seed 1",
    .options = options,
    .option_count = COUNT(options),
    .exit_help = {
        [EXIT_DONE] = "every candidate should be replaced",
        [EXIT_NO] = "one should not: precision failed, slower, or no gain",
        [EXIT_BLOCKED] = "blocked or undecided; the reasons say what is missing",
    },
};

static bool read_launch(Launch *launch, const VerifyArgs *args, Err *err) {
    double steps = 60, seed = 1;
    launch->threshold = 0.01;
    launch->timeout_s = 1800;
    if (!launch_number(&steps, args->steps, "steps", GATE_MIN_STEPS, err) ||
        !launch_number(&launch->threshold, args->threshold, "threshold", 0, err) ||
        !launch_number(&launch->timeout_s, args->timeout, "timeout", 0.1, err) ||
        !launch_number(&seed, args->seed, "seed", 0, err)) {
        return false;
    }
    if (steps > 1e6) return err_set(err, "'--steps' takes a number up to 1000000");
    launch->steps = (int64_t)steps;
    launch->seed = seed < 1e15 ? (int64_t)seed : 1;
    launch->log = str_of(args->log);
    launch->python = str_of(args->python);
    launch->device = str_of(args->device ? args->device : "auto");
    launch->no_emulate = args->no_emulate;
    launch->no_performance = args->no_performance;
    return true;
}

int verify_command(const Args *args) {
    VerifyArgs given = {.output = OUTPUT_FOLDER};
    ArgList ids = {0};
    Launch launch = {0};
    Err err;
    int code;
    Args ours = launch_split(args, &launch);
    if (!options_read(&given, &ids, &usage, &ours, &code)) return code;
    if (!read_launch(&launch, &given, &err)) return output_fail(EXIT_USAGE, "%s", err.text);
    TrialArgs trial = {.output = given.output, .lang = given.lang, .ids = &ids,
                       .python = given.python, .quiet = given.quiet};
    TrialSetup setup;
    code = trial_setup_begin(&setup, &trial, args->run);
    if (code == EXIT_DONE && !launch.argv.len) {
        code = output_fail(EXIT_BLOCKED, "no launch command: give the one that trains the model "
                           "behind '--', as in 'npufuse verify -- python train.py'");
    } else if (code == EXIT_DONE) {
        const char *here = path_real(args->run, ".");
        launch.folder = str_of(here ? here : ".");
        for (uint32_t i = 0; i < ids.len; i++) {
            vec_push(args->run, &launch.ids, str_of(ids.at[i]));
        }
        trial_setup_launch(&setup, &launch);
        code = trial_setup_run(&setup);
    }
    trial_setup_end(&setup);
    return code;
}
