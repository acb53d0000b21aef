// late.h - runs that are looked for in what no other run has: their kernels are so
// plain that they could be a part of anything.
#ifndef NPUFUSE_LATE_H
#define NPUFUSE_LATE_H

#include "prof/tally.h"

// What is known of the kinds of a profile.
typedef struct Late Late;

Late *late_new(Arena *arena, const Profile *profile);
// Adds the run that begins at bounds[0] and ends before bounds[1] to `book`; returns
// the place behind it, bounds[0] if there is none.
uint32_t late_take(Late *late, TallyBook *book, const Stream *stream,
                   const uint32_t bounds[2]);

#endif
