// attend.h - softmax attention as one operator.
//
// Attention is written in more ways than references could list: the scale
// before or behind the product, masks added, filled or selected, grouped heads
// repeated by hand, weights dropped out, axes in any order. All of these are
// read off the values here, and what is left is one value:
//
//   attend(query, key, value, scale, bias, drop, dropout, axes, heads, times)
//
//   scale    a number that the scores are multiplied by (1: none)
//   bias     what is added to the scores, or None
//   drop     a boolean, True where a score is left out, or None
//   dropout  the probability with which weights are dropped, or None
//   axes     of query, key, value and the result: "BNSD", "BSND" or "NSD";
//            "builtin" of torch's own scaled_dot_product_attention
//   heads    of "NSD", how many of its first axis are one batch entry
//   times    how often each head of key and value was repeated (1: not)
//
// Rules go through the same summary, so that a rule says it in one spelling.
#ifndef NPUFUSE_ATTEND_H
#define NPUFUSE_ATTEND_H

#include "flow/flow.h"

enum {
    ATTEND_QUERY, ATTEND_KEY, ATTEND_VALUE, ATTEND_SCALE, ATTEND_BIAS, ATTEND_DROP,
    ATTEND_DROPOUT, ATTEND_AXES, ATTEND_HEADS, ATTEND_TIMES, ATTEND_ARGS
};

// One arm of a choice that was taken because the other is something else.
typedef struct Branch {
    Val *cond;
    bool holds;      // the arm where cond is true
    const char *why; // what the other arm does
    bool changes;    // the other arm is another formula, not an option left out
} Branch;

typedef struct Attend {
    Val *form;    // the summary; NULL: it is none
    Val *softmax; // the softmax that was found; NULL: none at all
    bool product; // a product of two tensors stands below it
    VEC(Val *) seen;    // the values that are part of it, outermost first
    VEC(Val *) scores;  // from below the softmax down to the product
    VEC(Val *) weights; // the softmax and what is done to it up to the product
    VEC(Branch) branches;
    const char *reason;  // why there is no form, for people
    bool fused_already;  // the reason is that the code calls a fused operator
    Val *at;             // the value that the reason speaks of
    const char *trouble; // the form holds, but nothing can be written
    const char *unread; // the form holds if this is harmless: what is not in sight
    Val *unread_at;
    bool grouped; // heads of key and value were repeated: the operator does that
} Attend;

// What the product `root` is as attention, asked once; NULL: no softmax in it.
const Attend *attend_of(Flow *flow, Val *root);
// Why the whole is no attention for what the function goes on to do with the
// weights or the result; NULL: it is.
const char *attend_misuse(const Frame *frame, const Attend *attend, Val *root);
// The second operand of the product `root`: its dtype is that of the result.
Val *attend_value_operand(Flow *flow, Val *root);
// Below a repetition of heads along `axis` of `x`, or NULL; `*times` is how often.
Val *attend_unrepeat(Flow *flow, Val *x, int axis, Val **times);
// Below the views that may have been put around an input.
Val *attend_below_views(Val *v);
// The number of axes of x where the source shows it, else 0.
uint32_t value_rank(const Val *x);
// The number in torch.tensor(c) or torch.full((), c); else v without its casts.
const Val *lone_number(const Val *v);
// A constant that no score comes near: -inf, the least of a dtype, -10000.
bool is_very_negative(const Val *v);

#endif
