// repeats.h - the longest and costliest runs that come more than once.
#ifndef NPUFUSE_REPEATS_H
#define NPUFUSE_REPEATS_H

#include "prof/profile.h"

enum { REPEAT_MAX = 256 }; // kernels of a run

// A sequence of kinds that comes `times` times.
typedef struct RepeatText {
    const uint32_t *ids;
    uint32_t len;
    uint64_t times;
    uint32_t *repeat; // filled: per place, 1 + the repeat that begins there; or NULL
} RepeatText;

typedef struct Repeat {
    const uint32_t *ids;
    uint32_t len;
    uint64_t count; // without overlap
    double cost_ns;
    Str sequence;   // for who found it to fill
    double bytes, external_bytes;
} Repeat;

typedef VEC(Repeat) RepeatList;

typedef struct RepeatInput {
    RepeatText *texts;
    uint32_t count;
    const Profile *profile;
    uint32_t max; // repeats to choose
} RepeatInput;

// Chooses by cost, the costliest first; no two overlap. A repeat has two kernels at
// least that compute, and comes at least three times.
void repeats_find(RepeatList *out, Arena *arena, const RepeatInput *input);

#endif
