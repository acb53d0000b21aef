// inputs.h - which files of a profile are there: from a folder of the profiler, or
// a single file, to the kernels' table, the trace and the database.
#ifndef NPUFUSE_INPUTS_H
#define NPUFUSE_INPUTS_H

#include "base/arena.h"
#include "base/err.h"

enum { INPUT_SLICES_MAX = 256 };

typedef struct ProfInputs {
    VEC(const char *) kernels; // the table, or the slices of one
    const char *trace, *db;    // NULL: not there
    const char *info;          // info.json of the device; NULL: not there
    Str folder;                // where the table, the database or the trace lies
    Str device;                // the chip's name as the profile tells it; or empty
    uint32_t core_count, vector_count; // 0: not told
    double core_mhz;
    VEC(Str) notes; // what is missing, and its effect; what was not taken
} ProfInputs;

// `path`: a *_ascend_pt folder or one around several, ASCEND_PROFILER_OUTPUT, a
// PROF_* folder, a table, a trace, a database; a file's kind is told by its bytes.
// All texts live in `arena`. False if there is nothing of a profile.
MUST_CHECK bool profile_inputs(ProfInputs *out, Arena *arena, const char *path, Err *err);

#endif
