// near.h - what a near miss lacks, in one sentence.
#ifndef NPUFUSE_NEAR_H
#define NPUFUSE_NEAR_H

#include "match/matcher.h"

// The value as its source writes it, if that is short; else as a formula. In `arena`.
Str quoted_value(Arena *arena, const Val *v);
// What the first difference of a failed match says to a reader. In `arena`.
Str difference_sentence(Arena *arena, const Match *match);

// Whether a norm failed because what stands under the root is no mean of anything: a
// statistic that was learned, the square root of a width.
bool is_scaled_alone(const Match *match);

// Why a product that is x over a mean of x is no RMS norm: epsilon stands outside
// of the root, there is no root, ...; NULL: it is nothing of the kind. `*at` is
// the value that the sentence speaks of.
const char *norm_difference(Flow *flow, Val *root, const Val **at);

#endif
