// writes.h - what in-place operators within a place change.
#ifndef NPUFUSE_WRITES_H
#define NPUFUSE_WRITES_H

#include "match/place.h"

bool match_sees(const Match *match, const Val *v);
bool match_binds(const Match *match, const Val *v);

// Whether the statement (or one inside it) writes into a tensor that is seen from
// outside: not an inner value of the match, and not within the function that gives
// an input or is given the result, which is called once in either branch.
bool place_writes_others(const Place *place, const StmtInfo *stmt);
// Whether a function that only the original calls stores something in an attribute.
bool place_leaves_stores(const Place *place, const StmtInfo *root);
// h *= up, where `h` is also in a list: the others would keep the old values.
bool place_writes_shared(const Place *place, const StmtInfo *root);
// An input that is named early is a second name of its tensor: whether a statement
// that stays writes into that tensor before it is used.
bool place_writes_input(const Place *place);

#endif
