// pair.h - two profiles of one program side by side: before a change and after.
//
// Everything is a step's mean, so that profiles of other lengths compare: a step is
// one of the profile's; where it names none, all of it is one step.
#ifndef NPUFUSE_PAIR_H
#define NPUFUSE_PAIR_H

#include "prof/runs.h"

typedef struct PairSide {
    double calls, us; // of a step
    uint32_t first_row; // of the first call
} PairSide;

// Kernels of one type, of one module's class, or runs of one pattern; [0] is the
// base, [1] the other.
typedef struct PairEntry {
    Str name;
    PairSide side[2];
} PairEntry;

typedef enum PairFate {
    FATE_FUSED,  // the fused kernel runs more often than before
    FATE_ABSENT, // the fused kernel does not, and the run is as often as before
    FATE_GONE,   // the run is seen less often, but no fused kernel came
} PairFate;

typedef struct PairRun {
    PairEntry entry;
    Str api;
    PairSide fused[2]; // of the kernels that compute it in one
    Str kernel;        // the first type of these that is there, else the one to expect
    PairFate fate;
} PairRun;

typedef struct PairReport {
    uint32_t steps[2];
    double step_us[2]; // from the first start to the last end; 0: not known
    VEC(PairEntry) kernels, modules; // by the change of their time, largest first
    VEC(PairRun) runs;               // known runs of the base
    bool has_modules;
} PairReport;

void pair_compare(PairReport *out, Arena *arena, const ProfReport *base,
                  const ProfReport *other);
const char *pair_fate_name(PairFate fate); // "fused", "absent", "gone"

#endif
