// pattern.h - the known runs: small graphs of operators over tensors that are
// told apart by their shape beside the run's main tensor, X.
#ifndef NPUFUSE_PATTERN_H
#define NPUFUSE_PATTERN_H

#include "prof/opclass.h"
#include "prof/runs.h"

// What a tensor is beside X. A tensor can be more than one of them.
typedef enum Shape {
    SHAPE_NONE = 0,
    SHAPE_X = 1 << 0,      // X itself: as many elements, the same last axis
    SHAPE_ROW = 1 << 1,    // X without its last axis
    SHAPE_LAST = 1 << 2,   // a vector along the last axis: a weight
    SHAPE_HALF = 1 << 3,   // the last axis halved
    SHAPE_DOUBLE = 1 << 4, // the last axis doubled
    SHAPE_TABLE = 1 << 5,  // broadcasts to X and keeps its last axis: cos and sin
    SHAPE_SCALAR = 1 << 6, // one number, or the few of an axis list
    SHAPE_SPREAD = 1 << 7, // broadcasts to X
    SHAPE_HEADS = 1 << 8,  // of attention, where X is the scores: like the queries
    SHAPE_ANY = 1 << 9,
} Shape;

enum { PATTERN_NODES = 20, PATTERN_OPS = 7 };

typedef enum NodeFlag {
    NODE_OPTIONAL = 1 << 0,
    NODE_MANY = 1 << 1,  // any number of kernels
    NODE_LOOSE = 1 << 2, // may have further inputs that broadcast to X
    NODE_START = 1 << 3, // a run may begin here
    NODE_NARROW = 1 << 4, // a cast back to the dtype that came in
    NODE_WIDE = 1 << 5,  // a cast of what comes in to float32
    NODE_TAIL = 1 << 7,  // optional, and the run is whole without it
    NODE_FAR = 1 << 6,   // matrix products may stand in front of it
} NodeFlag;

typedef struct PatternNode {
    uint8_t ops[PATTERN_OPS]; // any of these; 0 ends
    uint16_t in[3];           // shapes that have to be among the inputs
    uint16_t out;
    uint32_t from;            // bit n: what node n made is among the inputs
    uint8_t flags;
} PatternNode;

// What the fused operator still has to move: numbers of tensors of a shape.
typedef struct PatternTraffic {
    uint8_t x, heads, table, last;
} PatternTraffic;

// Which tensor of the first kernel is X.
typedef enum Anchor { ANCHOR_OUT, ANCHOR_IN } Anchor;

typedef struct Pattern {
    const char *id, *api, *note;
    RunDirection direction;
    Anchor anchor;
    uint8_t node_count;
    bool without_outputs; // for profiles that have no output shapes
    uint8_t min_axis, min_rank; // of X: the last axis, the number of axes
    uint8_t behind;       // kernels that must follow: else it may be cut out of a longer run
    PatternTraffic traffic;
    const PatternNode *nodes;
} Pattern;

extern const Pattern patterns[];
extern const uint32_t pattern_count;

// Ids that the miner speaks of itself.
#define PATTERN_RMS_NORM "rms_norm"
#define PATTERN_ADD_RMS_NORM "add_rms_norm"
#define PATTERN_ROTARY "rotary_mul"
#define PATTERN_ROTARY_BWD "rotary_mul_bwd"

#endif
