// apply_choose.h - which candidates `apply` puts in or takes back.
#ifndef NPUFUSE_APPLY_CHOOSE_H
#define NPUFUSE_APPLY_CHOOSE_H

#include "cli/options.h"
#include "patch/journal.h"

typedef struct ChoiceRequest {
    const char *folder; // the work folder
    const ArgList *ids; // none: all that qualify
    const Journal *journal;
    bool diff, revert, unverified;
} ChoiceRequest;

typedef struct Choice {
    Str root;           // that the candidates' files are relative to
    EditSet candidates; // by file
    uint32_t already;   // asked for, and done before
} Choice;

// EXIT_DONE with the choice, or the exit code of a refusal that was told.
int choose_candidates(Choice *out, Arena *run, const ChoiceRequest *request);

// Tells a fault with the paths and IDs in it, and returns `code`.
int fail_with(Arena *run, ExitCode code, const Err *err);

#endif
