// sizes.h - statements that only ask for the sizes of scores.
//
// length = scores.size(-1) keeps the scores computed for the sake of a number
// that query and key have as well.
#ifndef NPUFUSE_SIZES_H
#define NPUFUSE_SIZES_H

#include "match/place.h"
#include "match/text.h"

// Whether every read of `v` in block statement `at` is of a size or device that
// an input of the match has too.
bool sizes_only(const Place *place, uint32_t at, const Val *v);
// What is put in place of such reads in the node `in` of block statement `at`.
void size_patches(const Place *place, uint32_t at, Node *in, Patches *out);
// Whether the node is such a read.
bool asks_size(const Place *place, uint32_t at, const Node *node);

#endif
