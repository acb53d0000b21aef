// profile_collect.h - runs the user's command with a profiler around a few of its
// steps.
#ifndef NPUFUSE_PROFILE_COLLECT_H
#define NPUFUSE_PROFILE_COLLECT_H

#include "cli/options.h"
#include "model/task.h"

typedef struct Collect {
    const char *folder;   // that gets the profile; made if it is not there
    const Launch *launch; // its argv is run where we are
    uint32_t steps, skip;
    double timeout_s;
    bool is_quiet;
} Collect;

// EXIT_DONE where `*profile` is a folder to mine; what was collected is told on
// stderr. Else the fault was told.
MUST_CHECK int profile_collect(const char **profile, Arena *run, const Collect *collect);

#endif
