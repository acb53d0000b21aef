// profile_diff.h - two profiles compared, for people and for programs.
#ifndef NPUFUSE_PROFILE_DIFF_H
#define NPUFUSE_PROFILE_DIFF_H

#include "base/buf.h"
#include "prof/pair.h"

void pair_text_write(Buf *out, const PairReport *pair, bool all);
void pair_json_write(Buf *out, const PairReport *pair, Str base, Str other);
// Whether a fused kernel came for at least one run.
bool pair_has_fused(const PairReport *pair);

#endif
