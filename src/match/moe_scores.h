// moe_scores.h - the scores of experts: softmax or sigmoid of logits.
#ifndef NPUFUSE_MOE_SCORES_H
#define NPUFUSE_MOE_SCORES_H

#include "flow/flow.h"

typedef struct Scores {
    Val *base; // softmax(logits) or sigmoid(logits)
    bool sigmoid, bias, masked, reshaped;
    bool either; // softmax in one branch, sigmoid in the other
} Scores;

// Reads the scores in `v`: a bias, a mask, views and branches are looked
// through. False if there are none.
bool scores_read(Scores *out, Val *v);
// The last axis, of two or more.
bool scores_last_axis(const Val *dim);

// Where logits come from. A product of two results (queries and keys) scores
// positions and gives none.
typedef enum Logits {
    LOGITS_NONE,
    LOGITS_GIVEN,    // handed in: they may be those of words or of classes
    LOGITS_COMPUTED, // by a layer or a weight of the module
} Logits;

Logits logits_of(Val *v);

#endif
