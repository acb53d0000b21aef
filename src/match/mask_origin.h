// mask_origin.h - where a tensor that is added to attention scores comes from.
//
// Zero and very negative values only leave keys out; a learned or computed
// bias does not, and a boolean mask would lose it.
#ifndef NPUFUSE_MASK_ORIGIN_H
#define NPUFUSE_MASK_ORIGIN_H

#include "flow/flow.h"

typedef enum Origin {
    ORIGIN_NOTHING, // None
    ORIGIN_UNKNOWN, // nothing in sight says
    ORIGIN_COMPUTED, // arithmetic in sight, of neither masks nor learned values
    ORIGIN_ZEROS,   // nothing but 0: no mask goes into it that is seen
    ORIGIN_BINARY,  // built here of 0 and very negative numbers
    ORIGIN_MASK,    // a very negative number goes into it
    ORIGIN_BIAS,    // learned, or computed from learned values
} Origin;

typedef struct OriginFound {
    Origin origin;
    Module *module; // of what decided it, or NULL
    Node *node;
} OriginFound;

OriginFound mask_origin(Flow *flow, Val *v);

#endif
