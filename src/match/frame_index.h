// frame_index.h - a frame's records by what they are asked for.
//
// A function may have tens of thousands of statements; placing a match must
// not walk over all of them. Made once for a frame that was read to its end.
#ifndef NPUFUSE_FRAME_INDEX_H
#define NPUFUSE_FRAME_INDEX_H

#include "flow/flow.h"

// A name that held a value at some time.
typedef struct HeldBy {
    const Val *val;
    const NameInfo *info;
    struct HeldBy *next; // of the same value, or of the same hash
} HeldBy;

typedef struct TimedEvent {
    uint32_t time;
    const NameInfo *info;
    const Bind *bind;
} TimedEvent;

// An expression that had the value.
typedef struct EvalOf {
    const EvalRecord *record;
    struct EvalOf *next; // of the same hash
} EvalOf;

typedef struct FrameIndex {
    StmtInfo **stmts; // hash by node
    HeldBy **held;    // hash by value
    EvalOf **evals_of; // hash by value
    uint32_t *around; // by index of a statement: that of the one around it, plus 1
    uint32_t stmt_cap, held_cap, eval_cap;
    const EvalRecord **evals; // in the order of their statements
    uint32_t *evals_from;     // by index of the statement; one more at the end
    TimedEvent *events;       // all names', in the order of time
    uint32_t event_count;
} FrameIndex;

typedef struct Range {
    uint32_t from, to; // `to` is not part of it
} Range;

const FrameIndex *frame_index(Frame *f);
// The record of a statement, or NULL.
StmtInfo *index_stmt_info(const FrameIndex *index, const Node *stmt);
// The statements inside `s` and itself, as indices in f->stmts.
Range frame_inside(const Frame *f, const StmtInfo *s);
// The events with from <= time <= to, as indices in `events`.
Range index_events(const FrameIndex *index, uint32_t from, uint32_t to);
// The first of the entries where `val` may be found; compare `val`.
const HeldBy *index_held(const FrameIndex *index, const Val *val);
const EvalOf *index_evals_of(const FrameIndex *index, const Val *val);
// Where the value is written within `around`; else where it was written first, if there
// is one place of it; else where the frame writes it last in front of `around`; else
// `around`. In the frame's module, but for v->node.
const Node *val_written(Frame *f, const Node *around, const Val *v);
// The statement whose block holds `s`, or NULL.
const StmtInfo *frame_around(Frame *f, const StmtInfo *s);

#endif
