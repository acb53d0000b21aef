// match.h - whether a known run begins at a kernel of a stream.
#ifndef NPUFUSE_MATCH_H
#define NPUFUSE_MATCH_H

#include "prof/pattern.h"

enum { MATCH_WINDOW = 64 }; // kernels of a stream that one run may span

// A run, as offsets from the kernel it begins with.
typedef struct Match {
    const Pattern *pattern; // NULL: no run begins there
    uint64_t members;       // bit i: kernel i belongs to it; the others stand between
    uint8_t length;         // up to its last kernel
    uint8_t seen;           // kernels that had a say; what follows has none
    bool lacks_double;      // what may be cut off is only the tensor of both halves
    bool is_double;         // the pattern takes such a tensor apart
    bool may_be_cut;        // it reaches the last kernel and could have gone on
    double bytes, external_bytes, flops, x_bytes;
    uint64_t x_count;       // elements of X
} Match;

// The kernels from one on: kinds[ids[0]], kinds[ids[1]], ...
typedef struct MatchView {
    const ProfKind *kinds;
    const uint32_t *ids;
    uint32_t count;
    bool has_outputs;
} MatchView;

// Whether a run of the pattern could begin with this kind.
bool match_may_start(const Pattern *pattern, const ProfKind *kind);
// Tries one pattern. `out->seen` is filled in any case.
bool match_pattern(Match *out, const Pattern *pattern, const MatchView *view);

#endif
