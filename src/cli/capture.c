// capture.c - `npufuse capture`: what really goes into confirmed candidates.
#include "base/base.h"

#include "cli/commands.h"
#include "cli/launch.h"
#include "cli/output.h"
#include "cli/output_folder.h"
#include "cli/trial_setup.h"

typedef struct CaptureArgs {
    const char *output, *steps, *timeout, *log;
    bool quiet;
} CaptureArgs;

#define FIELD(name) offsetof(CaptureArgs, name)

static const Option options[] = {
    {"steps", 0, OPTION_TEXT, "N", "steps of the command; it is ended then (5)", FIELD(steps)},
    {"timeout", 0, OPTION_TEXT, "SECONDS",
     "a run without a new step for so long hangs (1800)", FIELD(timeout)},
    {"log", 0, OPTION_TEXT, "FILE",
     "where the command writes its steps, if not to its output", FIELD(log)},
    {"output", 'o', OPTION_TEXT, "DIR", "the folder that scan wrote (fusion_verify)",
     FIELD(output)},
    {"quiet", 'q', OPTION_FLAG, NULL, "only errors", FIELD(quiet)},
};

static const Usage usage = {
    .name = "capture",
    .operands = "[ID...] -- COMMAND...",
    .purpose =
        "Runs a few steps of COMMAND in a copy of the project and records the inputs of\n"
        "confirmed candidates: shape, dtype, stride, contiguity, gradient, autocast, how\n"
        "often. 'npufuse unit' and 'npufuse verify' then use them instead of samples.",
    .example = "npufuse capture -- python train.py",
    .options = options,
    .option_count = COUNT(options),
    .exit_help = {
        [EXIT_BLOCKED] = "not confirmed, no COMMAND, or it never ran the candidates",
    },
};

static int record(TrialSetup *setup) {
    Err err;
    Str fault;
    if (!trial_setup_ready(setup, &err) || !trial_capture(&setup->trial, &fault, &err)) {
        return output_fail(EXIT_USAGE, "%s", err.text);
    }
    if (fault.len) return output_fail(EXIT_BLOCKED, "nothing was recorded: %.*s", STR_FMT(fault));
    return EXIT_DONE;
}

int capture_command(const Args *args) {
    CaptureArgs given = {.output = OUTPUT_FOLDER};
    ArgList ids = {0};
    Launch launch = {0};
    Err err;
    int code;
    double steps = 5;
    launch.timeout_s = 1800;
    Args ours = launch_split(args, &launch);
    if (!options_read(&given, &ids, &usage, &ours, &code)) return code;
    if (!launch_number(&steps, given.steps, "steps", 1, &err) ||
        !launch_number(&launch.timeout_s, given.timeout, "timeout", 0.1, &err)) {
        return output_fail(EXIT_USAGE, "%s", err.text);
    }
    launch.steps = steps < 1e6 ? (int64_t)steps : 1000000;
    launch.log = str_of(given.log);
    TrialArgs trial = {.output = given.output, .ids = &ids, .quiet = given.quiet};
    TrialSetup setup;
    code = trial_setup_begin(&setup, &trial, args->run);
    if (code == EXIT_DONE && !launch.argv.len) {
        code = output_fail(EXIT_BLOCKED, "no launch command: give the one that trains the model "
                           "behind '--', as in 'npufuse capture -- python train.py'");
    } else if (code == EXIT_DONE) {
        setup.tasks.launch = launch; // of this command alone: not stored
        code = record(&setup);
    }
    trial_setup_end(&setup);
    return code;
}
