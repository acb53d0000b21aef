// stream.h - the known runs of one stream, each kernel in one run at most.
#ifndef NPUFUSE_STREAM_H
#define NPUFUSE_STREAM_H

#include "prof/match.h"

// A run that was found at a kernel of a stream.
typedef struct Found {
    uint32_t at;       // place in the stream
    uint32_t match;    // index into Stream.matches
    bool has_add;      // the kernel before is the residual sum of its block
    const char *id;    // the pattern, with its direction
} Found;

typedef struct Stream {
    const Profile *profile;
    const ProfLane *lane;
    uint32_t *kinds;   // of each kernel of the lane
    Match *matches;    // different results
    VEC(Found) found;  // by place
} Stream;

// Remembers what runs begin with, over all streams of a profile.
typedef struct Matcher Matcher;

Matcher *matcher_new(Arena *arena, const Profile *profile);
void matcher_free(Matcher *matcher);
// Fills kinds, matches and found; the memory is the matcher's.
void matcher_scan(Matcher *matcher, Stream *out, const ProfLane *lane);

#endif
