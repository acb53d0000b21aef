// value.h - what lint asks of a value. Every answer is a proof from the source
// or "not known"; names of variables say nothing.
#ifndef NPUFUSE_VALUE_H
#define NPUFUSE_VALUE_H

#include "flow/call_of.h"

// Below casts, clones, views and copies to a device, which change no truth.
Val *value_below(Val *v);
// A number that is far below every score: -inf, finfo.min, <= -1000.
bool value_is_very_negative(Val *v);

typedef enum MaskKind {
    MASK_UNKNOWN,
    MASK_DROPS,    // true where a key is not seen
    MASK_KEEPS,    // true where a key is seen
    MASK_DROPS_ITSELF, // true for later keys and for the query's own
    MASK_ADDITIVE, // 0 or very negative, added to the scores
} MaskKind;

// What a mask says, where the source shows how it was made: from a triangle of
// ones, by masked_fill or where with -inf, by a negation of such. `*from` is the
// value that shows it.
MaskKind value_mask(Val *v, Val **from);

typedef enum LengthsKind {
    LENGTHS_UNKNOWN,
    LENGTHS_ENDS,         // cumulative, without a leading 0
    LENGTHS_LEADING_ZERO, // cumulative, with one
    LENGTHS_COUNTS,       // of each, not cumulative
} LengthsKind;

// What a list or tensor of lengths holds: written out, counted (bincount, histc),
// or summed up (cumsum).
LengthsKind value_lengths(Val *v, Val **from);

// The size of a mask made of ones or zeros of two axes.
typedef struct MaskSize {
    bool literal; // else both are sizes of one tensor or number that is not a literal
    int64_t rows, columns;
    Val *from; // where it is made
} MaskSize;
// False where it is made otherwise, or where what its size is made of is unknown.
bool value_mask_size(Val *v, MaskSize *out);
// An integer literal, also negative; false if it is not one.
bool value_int(const Val *v, int64_t *out);

#endif
