// profile_load.h - a profile of any kind, read: table, slices, database or trace
// alone, with the modules and source lines that a trace adds.
#ifndef NPUFUSE_PROFILE_LOAD_H
#define NPUFUSE_PROFILE_LOAD_H

#include "prof/inputs.h"
#include "prof/runs.h"

typedef struct ProfileSource {
    const char *path;   // a folder or a file of the profiler
    const char *python; // which reads databases; NULL: the usual one
    uint32_t jobs;
    bool has_progress;
} ProfileSource;

typedef struct ProfileLoaded {
    Profile profile;
    ProfInputs inputs; // its notes say all that is missing, or was not taken
    Str shown;         // the file with the kernels, as the user would name it
} ProfileLoaded;

// Everything lives in `run`; temporary files are gone when it returns.
MUST_CHECK bool profile_load(ProfileLoaded *out, Arena *run, const ProfileSource *source,
                             Err *err);
// Mines it; the chip is that of the profile where `options` names none. The report's
// notes begin with those of the files.
void profile_mine(ProfReport *out, Arena *run, const ProfileLoaded *loaded,
                  const MineOptions *options);

#endif
