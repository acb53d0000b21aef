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
    SHAPE_SPREAD = 1 << 7, // broadcasts to X, and is more than a number: a mask
    SHAPE_HEADS = 1 << 8,  // of attention, where X is the scores: like the queries
    SHAPE_ANY = 1 << 9,
    SHAPE_PAIRS = 1 << 10, // X with its last axis taken apart into pairs: [..., d/2, 2]
    SHAPE_APART = 1 << 11, // half of that: [..., d/2, 1]
    SHAPE_HALF_TABLE = 1 << 12, // broadcasts to the half and keeps its last axis
    SHAPE_EACH = 1 << 13,  // one row for each element of X
    SHAPE_FOLD = 1 << 14,  // X with an axis summed away that is not the last
    SHAPE_STORE = 1 << 15, // what X lies in, with its axes in any order: the storage of a view
} Shape;

enum { PATTERN_NODES = 20, PATTERN_OPS = 7 };

typedef enum NodeFlag {
    NODE_OPTIONAL = 1 << 0,
    NODE_MANY = 1 << 1,  // any number of kernels
    NODE_LOOSE = 1 << 2, // may have further inputs that broadcast to X
    NODE_START = 1 << 3, // a run may begin here
    NODE_NARROW = 1 << 4, // a cast back to the dtype that came in
    NODE_WIDE = 1 << 5,  // a cast of what comes in to float32
    NODE_FAR = 1 << 6,   // matrix products may stand in front of it
    NODE_TAIL = 1 << 7,  // optional, and the run is whole without it
    NODE_CHAIN = 1 << 8, // takes the very axes that the kernel before made, and not back
    NODE_LOW = 1 << 9,   // writes bf16 or fp16
    NODE_FP32 = 1 << 10, // writes float32
    NODE_STRICT = 1 << 11, // what it is made from must be there, optional or not
    NODE_LAST = 1 << 12, // comes behind all that must be there
    NODE_SAME = 1 << 13, // all its tensors have the very axes of X
    NODE_NEXT = 1 << 15,  // what the run took last made its input
    NODE_APART = 1 << 14, // operators but the first are a step of what it does: NODE_STRICT
} NodeFlag;

typedef struct PatternNode {
    uint8_t ops[PATTERN_OPS]; // any of these; 0 ends
    uint16_t in[3];           // shapes that have to be among the inputs
    uint16_t out;
    uint32_t from;            // bit n: what node n made is among the inputs
    uint16_t flags;
} PatternNode;

// What the fused operator still has to move: numbers of tensors of a shape.
typedef struct PatternTraffic {
    uint8_t x, heads, table, last;
    uint8_t made; // of what the last kernel makes
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
    uint8_t max_rank;     // 0: any
    bool has_narrow_values; // of attention: the heads of the values are narrower
    bool is_remark;       // another operator for one kernel: nothing is fused
    uint8_t in_a_row;     // so many of them one behind the other, or none counts
    bool is_list;         // its kernels take lists of tensors, in as many pieces as they like
    uint8_t not_behind;   // an operator: on X, behind it, it makes another algorithm of it
    uint8_t behind;       // kernels that must follow: else it may be cut out of a longer run
    PatternTraffic traffic;
    const PatternNode *nodes;
} Pattern;

extern const Pattern patterns[];
extern const uint32_t pattern_count;
// Runs of so plain a kind that only what no other run has may be one.
extern const Pattern late_patterns[];
extern const uint32_t late_pattern_count;

// Ids that the miner speaks of itself.
#define PATTERN_RMS_NORM "rms_norm"
#define PATTERN_ADD_RMS_NORM "add_rms_norm"
#define PATTERN_BIAS_DROPOUT_ADD "bias_dropout_add"
#define PATTERN_ADAMW "fused_adamw"
#define PATTERN_ROTARY "rotary_mul"
#define PATTERN_ROTARY_BWD "rotary_mul_bwd"

#endif
