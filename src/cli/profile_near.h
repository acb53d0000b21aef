// profile_near.h - operators of torch_npu that may do what a run of unknown kind does.
#ifndef NPUFUSE_PROFILE_NEAR_H
#define NPUFUSE_PROFILE_NEAR_H

#include "cli/api_book.h"
#include "prof/runs.h"

// Looks the words of the kernels of `custom` runs up in the texts of the torch_npu that
// is installed, or that `choice` names; fails only where a named one cannot be read.
MUST_CHECK bool profile_near(ProfReport *report, Arena *run, const BookChoice *choice,
                             Err *err);

#endif
