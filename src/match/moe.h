// moe.h - mixture-of-experts code: routers, and loops over experts.
//
// These are no rules: a loop has no form in a reference, and what replaces it is
// several operators, some of which have no backward. So a site is a caution with
// what is proven of it, never a replacement.
#ifndef NPUFUSE_MOE_H
#define NPUFUSE_MOE_H

#include "match/site.h"

// Appends the sites of the frame's function. Texts are in the flow's arena.
void moe_find_experts(Sites *out, Frame *frame);
void moe_find_routers(Sites *out, Frame *frame);
void moe_find_gathered(Sites *out, Frame *frame);
void moe_find_batched(Sites *out, Frame *frame);
// Whether `part` is `v` or below it, within a bound.
bool moe_holds(Val *v, const Val *part);
// The statement of the frame that computes the record, or its expression.
const Node *moe_stmt(const EvalRecord *record);
// The first statement of the frame that computes the value, or NULL.
const Node *moe_stmt_of(const Frame *f, const Val *v);
// The innermost `for` around `node`, or NULL.
const Node *moe_loop_around(Frame *f, const Node *node);

#endif
