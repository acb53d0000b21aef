// resume.c - `npufuse resume`: goes on where a verification was interrupted.
#include "base/base.h"

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/output_folder.h"
#include "cli/trial_setup.h"

#include "base/file.h"

#include <unistd.h>

typedef struct ResumeArgs {
    const char *output, *lang;
    bool quiet;
} ResumeArgs;

#define FIELD(name) offsetof(ResumeArgs, name)

static const Option options[] = {
    {"output", 'o', OPTION_TEXT, "DIR", "the folder that scan wrote (fusion_verify)",
     FIELD(output)},
    {"lang", 'l', OPTION_TEXT, "zh|en", "language of the page", FIELD(lang)},
    {"quiet", 'q', OPTION_FLAG, NULL, "only verdicts and errors", FIELD(quiet)},
};

static const Usage usage = {
    .name = "resume",
    .operands = "",
    .purpose =
        "Goes on with the last 'npufuse verify': its command, its options, and the\n"
        "candidates that are not concluded. What was concluded, and a run that was made\n"
        "to its end, is not repeated unless the code changed. What was blocked is tried\n"
        "again, so this is also the command for a machine that has an NPU.",
    .example = "npufuse resume",
    .options = options,
    .option_count = COUNT(options),
    .exit_help = {
        [EXIT_DONE] = "every candidate should be replaced",
        [EXIT_NO] = "one should not: precision failed, slower, or no gain",
        [EXIT_BLOCKED] = "blocked or undecided, or there is nothing to go on with",
    },
};

static int go_on(TrialSetup *setup) {
    Str folder = setup->tasks.launch.folder;
    if (!setup->tasks.launch.argv.len) {
        return output_fail(EXIT_BLOCKED, "nothing to go on with: 'npufuse verify -- COMMAND' "
                           "begins a verification");
    }
    const char *here = path_real(setup->run, ".");
    if (!here || !str_is(folder, here)) {
        return output_fail(EXIT_BLOCKED, "the verification was begun in '%.*s': go there first",
                           STR_FMT(folder));
    }
    Launch launch = setup->tasks.launch;
    trial_setup_launch(setup, &launch);
    return trial_setup_run(setup);
}

int resume_command(const Args *args) {
    ResumeArgs given = {.output = OUTPUT_FOLDER};
    ArgList ids = {0};
    int code;
    if (!options_read(&given, &ids, &usage, args, &code)) return code;
    if (ids.len) return output_fail(EXIT_USAGE, "resume takes no operand, not '%s'", ids.at[0]);
    TrialArgs trial = {.output = given.output, .lang = given.lang, .ids = &ids,
                       .quiet = given.quiet, .goes_on = true};
    TrialSetup setup;
    code = trial_setup_begin(&setup, &trial, args->run);
    if (code == EXIT_DONE) code = go_on(&setup);
    trial_setup_end(&setup);
    return code;
}
