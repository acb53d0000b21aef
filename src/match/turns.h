// turns.h - rotations of pairs that no rule has the form of.
//
// Whatever a function does to lay its pairs out, two sums show a rotation: a * c - b * s
// and b * c + a * s, where a and b are parts of one tensor. So do complex numbers that
// are made of pairs, multiplied, and taken apart again. Such code is a caution without
// a replacement: how the parts lie in memory is left to the reader.
#ifndef NPUFUSE_TURNS_H
#define NPUFUSE_TURNS_H

#include "match/candidate.h"
#include "match/site.h"

// Appends the rotations of the frame's function that are part of no match in `found`.
// Texts are in the flow's arena.
void turns_find(Sites *out, Frame *frame, const Candidates *found);

#endif
