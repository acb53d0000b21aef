// moe.h - mixture-of-experts code: routers, and loops over experts.
//
// These are no rules: a loop has no form in a reference, and what replaces it is
// several operators, some of which have no backward. So a site is a caution with
// what is proven of it, never a replacement.
#ifndef NPUFUSE_MOE_H
#define NPUFUSE_MOE_H

#include "flow/flow.h"
#include "model/finding.h"

enum { MOE_FACTS_MAX = 8 };

typedef struct MoeFact {
    const char *name;
    FactState state;
    Str claim;
    Val *from; // what shows it; may be NULL
} MoeFact;

typedef struct MoeSite {
    const char *id;  // "moe_experts", "moe_router"
    const char *api; // the operator that stands for the rewrite
    Str variant;
    const Node *first, *last; // statements
    Str reason, gain;
    MoeFact facts[MOE_FACTS_MAX];
    uint32_t fact_count;
} MoeSite;

typedef VEC(MoeSite) MoeSites;

// Appends the sites of the frame's function. Texts are in the flow's arena.
void moe_find_experts(MoeSites *out, Frame *frame);
void moe_find_routers(MoeSites *out, Frame *frame);
void moe_add_fact(MoeSite *site, const char *name, FactState state, Str claim);
// Whether `part` is `v` or below it, within a bound.
bool moe_holds(Val *v, const Val *part);
// The statement of the frame that computes the record, or its expression.
const Node *moe_stmt(const EvalRecord *record);

// The finding of a site.
void moe_finding(Finding *out, Arena *run, const MoeSite *site, const Frame *frame,
                 Str qualname);

#endif
