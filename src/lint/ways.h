// ways.h - which code of a function is run together.
#ifndef NPUFUSE_WAYS_H
#define NPUFUSE_WAYS_H

#include "py/ast.h"

// Whether the node lies in the block.
bool block_holds(const NodeList *block, const Node *node);
// Whether the function's code can never run both: they stand in two branches of one
// `if`, or the first one's branch leaves the function before the other.
bool ways_exclude(const Node *function, const Node *a, const Node *b);

#endif
