// rest.h - the kernels that no known run claims: slow by nature, or repeated runs
// that a kernel of one's own could replace.
#ifndef NPUFUSE_REST_H
#define NPUFUSE_REST_H

#include "prof/affinity.h"
#include "prof/late.h"
#include "prof/tally.h"

typedef struct Rest {
    Arena *arena;
    const Profile *profile;
    const Affinity **affinity; // of each kind
    Late *late;
    uint32_t custom_max;
    bool stopped; // the search for repeated runs took in too much
} Rest;

void rest_init(Rest *rest, Arena *arena, const Profile *profile, uint32_t custom_max);
// Adds to `book` what is left of the stream.
void rest_mine(Rest *rest, TallyBook *book, const Stream *stream);

#endif
