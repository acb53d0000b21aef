// tally.h - occurrences of runs, added up.
#ifndef NPUFUSE_TALLY_H
#define NPUFUSE_TALLY_H

#include "prof/runs.h"
#include "prof/stream.h"

typedef struct RunTally {
    ProfRun run;
    VEC(RunRange) ranges;
    VEC(RunVariant) variants;
    VEC(uint32_t) variant_kinds; // the first kernel of each
    bool is_uncounted; // a kernel has no counters of main memory
} RunTally;

typedef struct TallyBook {
    Arena *arena;
    const Profile *profile;
    VEC(RunTally) tallies;
    uint64_t claimed_ns;
    // Per row, the run that stands around it in the file: 1 + its tally, at most
    // UINT8_MAX; 0: none. NULL where all kernels are of one stream.
    uint8_t *around;
} TallyBook;

// Kernels of a stream that make one occurrence.
typedef struct Occurrence {
    const Stream *stream;
    uint32_t at, length;
    uint64_t members;   // bit i: at + i belongs to it
    double bytes, external_bytes, flops;
} Occurrence;

void tally_init(TallyBook *book, Arena *arena, const Profile *profile);
// The run of another stream that has rows among those of the occurrence; NULL: none.
const ProfRun *tally_around(const TallyBook *book, const Occurrence *occurrence);
// The tally of such a run, made on first use; `like` gives what is the same for all
// of its occurrences. It stays where it is until the next call.
RunTally *tally_get(TallyBook *book, const ProfRun *like);
void tally_add(TallyBook *book, RunTally *tally, const Occurrence *occurrence);
// Takes the tallies over as runs, with the longest time first.
void tally_finish(ProfReport *out, TallyBook *book);

#endif
