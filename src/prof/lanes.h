// lanes.h - rows in the order in which a stream ran them.
#ifndef NPUFUSE_LANES_H
#define NPUFUSE_LANES_H

#include "prof/profile.h"

// The rows [from, end) of the file, which one thread puts into their lanes. A profile's
// shares follow each other. Everything in it is lanes.c's own but for from and end.
typedef struct LaneShare {
    uint32_t from, end;
    uint32_t *len;   // of each lane, the rows in this share; then where the next one goes
    uint32_t *first; // of each lane, where the first of this share goes
    ProfStep *steps; // what this share says of each step
    bool *unsorted;  // of each lane
    const bool *is_comm; // of each kind
} LaneShare;

// A file's own order is by time as text, and slices may be put together unsorted. These
// fill the rows and kinds of each lane, by start, and the times of each step:
// - lanes_share gets the memory of `count` shares that have their rows;
// - lanes_count looks at the rows [from, end) of a share, lanes_place at all of them; both
//   may run beside those of other shares;
// - lanes_begin stands between them, lanes_end behind.
void lanes_share(LaneShare *shares, uint32_t count, const Profile *profile, Arena *arena);
void lanes_count(LaneShare *share, const Profile *profile, uint32_t from, uint32_t end);
void lanes_begin(Profile *profile, Arena *arena, LaneShare *shares, uint32_t count);
void lanes_place(LaneShare *share, Profile *profile);
void lanes_end(Profile *profile, const LaneShare *shares, uint32_t count);

#endif
