// context.h - what only the runs around a run can tell: its direction, and whether
// the residual sum before a norm belongs to the same block.
#ifndef NPUFUSE_CONTEXT_H
#define NPUFUSE_CONTEXT_H

#include "prof/stream.h"

void context_decide(Stream *stream, Arena *scratch);

#endif
