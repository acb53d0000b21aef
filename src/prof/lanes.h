// lanes.h - rows in the order in which a stream ran them.
#ifndef NPUFUSE_LANES_H
#define NPUFUSE_LANES_H

#include "prof/profile.h"

// Fills the rows of each lane, by start, and the times of each step. A file's own
// order is by time as text, and slices may be put together unsorted.
void lanes_order(Profile *profile, Arena *arena);

#endif
