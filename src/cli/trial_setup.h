// trial_setup.h - what verify, resume, unit and capture begin with: the work
// folder, candidates that a person confirmed and that still hold, the project's
// text with and without them, and the Python to use.
#ifndef NPUFUSE_TRIAL_SETUP_H
#define NPUFUSE_TRIAL_SETUP_H

#include "base/lock.h"
#include "cli/environment.h"
#include "cli/options.h"
#include "model/confirmation.h"
#include "patch/journal.h"
#include "trial/trial.h"

typedef struct TrialArgs {
    const char *output, *lang;
    const ArgList *ids;  // none: all that are confirmed
    const char *python;  // for the unit stage; NULL: found
    bool quiet;
    bool goes_on;        // the candidates of the stored launch (with no ids)
} TrialArgs;

typedef struct TrialSetup {
    Arena *run;
    TrialArgs args;
    Lock lock;
    Journal journal;
    FindingSet claimed;
    ConfirmationSet confirmations;
    TaskList tasks;
    VEC(TrialCandidate) candidates;
    uint32_t void_count;  // confirmations that do not hold any more
    uint32_t stale_count; // and tasks of such
    Environment environment;
    Trial trial;
} TrialSetup;

// Takes the lock and reads everything; tasks.launch is what was stored, if
// anything was. EXIT_DONE, or the code to return after a fault was told. End
// with trial_setup_end in both cases.
int trial_setup_begin(TrialSetup *setup, const TrialArgs *args, Arena *run);
// Stores the launch; tasks of another one begin anew.
void trial_setup_launch(TrialSetup *setup, const Launch *launch);
// Fills setup->trial for the launch in setup->tasks.
MUST_CHECK bool trial_setup_ready(TrialSetup *setup, Err *err);
void trial_setup_end(TrialSetup *setup);

// Runs the trial, prints the verdicts; the exit code of verify and resume.
int trial_setup_run(TrialSetup *setup);
// The table of tasks, as text.
void tasks_print(Buf *out, const TaskList *tasks);
// The parts of setup->trial that are looked for; called by trial_setup_ready.
MUST_CHECK bool trial_parts_find(TrialSetup *setup, Err *err);

#endif
