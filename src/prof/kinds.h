// kinds.h - the different kernels of a profile, found by the bytes of their cells.
#ifndef NPUFUSE_KINDS_H
#define NPUFUSE_KINDS_H

#include "prof/columns.h"

// A kind as it is counted while rows are read; all sums are whole numbers, so
// that they do not depend on which thread saw a row first.
typedef struct KindTally {
    uint64_t hash;
    const char *key; // the bytes of the spans, one behind the other
    uint32_t key_len;
    uint32_t follower; // the kind that last came after this one
    uint64_t first;    // block << 32 | row of the block
    uint64_t count, total_ns, min_ns, max_ns;
    uint64_t sampled_in; // block + 1 where `samples` were taken last
    uint32_t samples;
    ProfSum pmu[PMU_COUNT];
    uint16_t span_len[COLUMNS_MAX_SPANS];
} KindTally;

typedef struct KindTable {
    Arena arena;
    VEC(KindTally) tallies;
    uint32_t *slots; // index + 1
    uint32_t cap;
    uint32_t last;   // the kind of the row before, PROF_NO_KIND at the start
    uint64_t history; // the four before, 16 bits each
    uint32_t *guesses; // by a hash of these: 1 + what came next last time; 0: nothing yet
} KindTable;

// The cells of one row that make its kind.
typedef struct KindKey {
    Str part[COLUMNS_MAX_SPANS];
    uint32_t count;
} KindKey;

void kinds_init(KindTable *table);
void kinds_free(KindTable *table);
// The kind that came next last time behind the same four kinds, or (nth 1) behind the
// same one; PROF_NO_KIND: not known.
uint32_t kinds_guess(const KindTable *table, uint32_t nth);
// The row is of that kind.
void kinds_take(KindTable *table, uint32_t kind);
// The index of the kind with that key, made on first use (count is 0 then).
uint32_t kinds_intern(KindTable *table, const KindKey *key);
// Adds what `from` counted to the kind of equal key; returns its index.
uint32_t kinds_merge(KindTable *table, const KindTally *from);
// Fills the text and the tensors of `out` from the key of `tally`.
void kinds_describe(ProfKind *out, Arena *arena, const KindTally *tally,
                    const Columns *columns);

#endif
