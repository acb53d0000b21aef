// place.h - where and how a match can be written back.
//
// The span runs from the first statement that computes an inner value and
// nothing else to the statement that holds the result. Statements of the span
// that do more are kept, in order; the others are left out of the fused branch
// if nobody else reads what they bind. Every input is found as an expression
// that still has that value there, or is evaluated once into a name.
#ifndef NPUFUSE_PLACE_H
#define NPUFUSE_PLACE_H

#include "match/matcher.h"

enum { SPAN_MAX = 200, RELEASED_MAX = 4 };

typedef struct PlacedInput {
    Val *val;    // the value used: the bound one or a cast of it
    Str start;   // expression at the start of the span; empty: none
    Str text;    // expression in the fused branch
    Node *node;  // evaluated into a name: the source expression; else NULL
    Str made;    // or what it is made by in that place, the expression holding more
    Str name;    // that name
    bool composed; // written from other values: no input of its own
    Str suffix;  // what makes the value of it: ".transpose(1, 2)", or empty
    uint32_t at; // index in the block of the statement that holds `node`
} PlacedInput;

typedef struct Place {
    Frame *frame;
    const Match *match;
    const EvalRecord *record;
    const NodeList *block;
    uint32_t first, last; // indices in the block
    StmtInfo *infos[SPAN_MAX]; // of block statements 0 .. last
    bool kept[SPAN_MAX];
    bool computes[SPAN_MAX]; // computes an inner value
    PlacedInput inputs[RULE_MAX_PARAMS];
    const Sym *released[RELEASED_MAX]; // names that hold None in the fused branch
    uint32_t released_count;
    bool wasted;      // inner values stay computed for others
    const char *fault; // why there is no place; NULL if there is one
} Place;

// Fills `out`; see `fault`. Texts live in the flow's arena.
void place_match(Place *out, Frame *frame, const Match *match,
                 const EvalRecord *record);
// The value as an expression at the start of the span (or in the fused branch
// just before the last statement); empty if there is none.
Str place_expr_start(const Place *place, Val *v);
Str place_expr(const Place *place, Val *v);
// The same just before block statement `at` of the fused branch.
Str place_expr_at(const Place *place, Val *v, uint32_t at);
// Whether the statements that are left out compute the same when they are run
// behind those that are kept, as in the fused branch's own `else`.
bool place_rereads(const Place *place);
// Whether the statement is left out of the fused branch.
bool place_drops(const Place *place, const Node *stmt);
// A name that the function and its module do not use.
Str place_fresh_name(const Place *place, Str wish);

#endif
