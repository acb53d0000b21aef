// attend_impl.h - what attend.c, attend_scores.c and attend_axes.c share;
// nobody else includes it.
#ifndef NPUFUSE_ATTEND_IMPL_H
#define NPUFUSE_ATTEND_IMPL_H

#include "match/attend.h"

enum { MASKS_MAX = 4, AXES_MAX = 6 };

// What stands under the softmax. Axes are letters: B, N, Q (of queries), K (of
// keys), D (of one head).
typedef struct Scores {
    Val *query, *key;
    char query_axes[AXES_MAX + 1], key_axes[AXES_MAX + 1], axes[AXES_MAX + 1];
    Val *scale; // NULL: 1
    Val *bias[MASKS_MAX], *drop[MASKS_MAX];
    uint32_t bias_count, drop_count;
    Val *shift; // the largest along this axis was subtracted, or NULL
    Val *gate;  // a tensor of 0 and 1 that multiplies the scores
    Val *heads; // of the view that splits the first of three axes
    char one_head;   // the keys lack this axis of the queries: one of length 1 was put in
    bool flat_masks; // masks were met while the axes were three
    uint32_t rank;   // of the scores, 0: not known
} Scores;

// From the product down to the softmax.
typedef struct Weights {
    Val *softmax;
    Val *dropout; // NULL: none
    Val *fill[MASKS_MAX]; // weights are set to 0 where these hold
    uint32_t fill_count;
    bool turned; // transposed on the way
} Weights;

// One reading of a product.
typedef struct Reader {
    Flow *flow;
    Attend *out;
    uint32_t steps;
    bool open; // what is not in sight is taken for harmless, and said
    bool met_unread; // something was not in sight
} Reader;

bool read_fails(Reader *r, Val *at, const char *reason);
void read_sees(Reader *r, Val *v);
// Below casts and copies, which are part of it.
Val *read_open(Reader *r, Val *v);

// Goes on behind `v`, of which nothing is known.
void read_leaves(Reader *r, Val *v, const char *why);
// A call of the project's own that is not read, a module or a function elsewhere.
bool takes_unread(Reader *r, const Val *call);

// attend_weights.c
bool read_weights(Reader *r, Val *v, Weights *out, int depth);
// cat((scores, sink)), the largest subtracted or not; NULL: it is none.
Val *joined_scores(Val *v, int depth);

// attend_scores.c: the value under the softmax.
bool read_scores(Reader *r, Val *v, Scores *out, int depth);
// A value that may be `c` or nothing: phi(cond, v, None).
Val *optional_val(Flow *flow, Val *cond, bool holds, Val *v);
bool is_factor(Flow *flow, Val *v);
// ~mask; of ~m, m.
Val *inverted_mask(Flow *flow, Val *mask);
typedef struct MaskList {
    Val **at;
    uint32_t *count;
} MaskList;
// The masks of both arms, each under its condition unless both have it.
bool join_masks(Reader *r, Val *cond, MaskList a, MaskList b);

// attend_axes.c
bool read_product(Reader *r, Val *v, Scores *out);
// The axes of value and result in the product of weights and values; false if
// it is none. `*value` is the other operand.
typedef struct Weighted {
    Val *weights, *value;
    bool second; // an einsum that takes the weights behind the values
    char value_axes[AXES_MAX + 1], axes[AXES_MAX + 1];
} Weighted;
// Operands of the product of weights and values, axes not yet named.
bool weighted_operands(Flow *flow, Val *root, Weighted *out);
bool weighted_axes(Reader *r, Val *root, const Scores *s, Weighted *out);
// Below a transpose of the last two axes, or NULL.
Val *below_turn(const Val *v);
// x with its axes in the order `to`.
Val *reorder_axes(Flow *flow, Val *x, const char *from, const char *to);

#endif
