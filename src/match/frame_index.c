// frame_index.c - hashes of statements and values, lists in order of time.
#include "base/base.h"

#include "match/frame_index.h"

#include <stdlib.h>

static uint32_t power_above(uint32_t n) {
    uint32_t cap = 16;
    while (cap < 2 * n) cap *= 2;
    return cap;
}

static uint32_t slot_of(const void *at, uint32_t cap) {
    return (uint32_t)((uintptr_t)at * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (cap - 1);
}

// ---- statements and what was computed in them -------------------------------

static void index_stmts(FrameIndex *index, Frame *f) {
    index->stmt_cap = power_above(f->stmts.len);
    index->stmts = NEW_N(f->flow->arena, StmtInfo *, index->stmt_cap);
    for (uint32_t i = 0; i < f->stmts.len; i++) {
        StmtInfo *s = &f->stmts.at[i];
        if (index_stmt_info(index, s->stmt)) continue;
        uint32_t slot = slot_of(s->stmt, index->stmt_cap);
        while (index->stmts[slot]) slot = (slot + 1) & (index->stmt_cap - 1);
        index->stmts[slot] = s;
    }
}

StmtInfo *index_stmt_info(const FrameIndex *index, const Node *stmt) {
    uint32_t slot = slot_of(stmt, index->stmt_cap);
    for (; index->stmts[slot]; slot = (slot + 1) & (index->stmt_cap - 1)) {
        if (index->stmts[slot]->stmt == stmt) return index->stmts[slot];
    }
    return NULL;
}

// Sorted by counting: first how many each statement has, then where they go.
static void index_evals(FrameIndex *index, Frame *f) {
    uint32_t *from = NEW_N(f->flow->arena, uint32_t, f->stmts.len + 2);
    const EvalRecord **evals = NEW_N(f->flow->arena, const EvalRecord *, f->evals.len + 1);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < f->evals.len; i++) {
            const EvalRecord *e = &f->evals.at[i];
            const StmtInfo *s = e->stmt ? index_stmt_info(index, e->stmt) : NULL;
            if (!s) continue;
            uint32_t at = (uint32_t)(s - f->stmts.at);
            if (pass == 0) from[at + 2]++;
            else evals[from[at + 1]++] = e;
        }
        for (uint32_t i = 2; pass == 0 && i < f->stmts.len + 2; i++) from[i] += from[i - 1];
    }
    index->evals = evals;
    index->evals_from = from;
}

static void index_eval_values(FrameIndex *index, Frame *f) {
    index->eval_cap = power_above(f->evals.len);
    index->evals_of = NEW_N(f->flow->arena, EvalOf *, index->eval_cap);
    for (uint32_t i = 0; i < f->evals.len; i++) {
        EvalOf **slot = &index->evals_of[slot_of(f->evals.at[i].val, index->eval_cap)];
        EvalOf *at = NEW(f->flow->arena, EvalOf);
        *at = (EvalOf){&f->evals.at[i], *slot};
        *slot = at;
    }
}

const EvalOf *index_evals_of(const FrameIndex *index, const Val *val) {
    return index->evals_of[slot_of(val, index->eval_cap)];
}

// Statements stand in the order of time: what is around one came before it and
// ended after it.
static void index_around(FrameIndex *index, Frame *f) {
    index->around = NEW_N(f->flow->arena, uint32_t, f->stmts.len + 1);
    for (uint32_t i = 1; i < f->stmts.len; i++) {
        uint32_t at = i; // the latest before it, or one around that
        while (at && f->stmts.at[at - 1].time_after < f->stmts.at[i].time_before) {
            at = index->around[at - 1];
        }
        index->around[i] = at;
    }
}

const StmtInfo *frame_around(Frame *f, const StmtInfo *s) {
    uint32_t at = frame_index(f)->around[s - f->stmts.at];
    return at ? &f->stmts.at[at - 1] : NULL;
}

Range frame_inside(const Frame *f, const StmtInfo *s) {
    uint32_t low = (uint32_t)(s - f->stmts.at) + 1, high = f->stmts.len;
    Range range = {low - 1, 0};
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (f->stmts.at[mid].time_before <= s->time_after) low = mid + 1;
        else high = mid;
    }
    range.to = low;
    return range;
}

// ---- names ------------------------------------------------------------------

static int compare_events(const void *a, const void *b) {
    const TimedEvent *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time;
}

static void index_names(FrameIndex *index, Frame *f) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->names.cap; i++) {
        if (f->names.slots[i]) count += f->names.slots[i]->events.len;
    }
    index->events = NEW_N(f->flow->arena, TimedEvent, count + 1);
    for (uint32_t i = 0; i < f->names.cap; i++) {
        const NameInfo *info = f->names.slots[i];
        for (uint32_t k = 0; info && k < info->events.len; k++) {
            index->events[index->event_count++] =
                (TimedEvent){info->events.at[k].time, info, info->events.at[k].bind};
        }
    }
    qsort(index->events, count, sizeof(TimedEvent), compare_events);
}

static void index_values(FrameIndex *index, Frame *f) {
    index->held_cap = power_above(index->event_count);
    index->held = NEW_N(f->flow->arena, HeldBy *, index->held_cap);
    for (uint32_t i = 0; i < index->event_count; i++) {
        const Bind *bind = index->events[i].bind;
        if (!bind || !bind->val || bind->may_lack) continue;
        HeldBy **slot = &index->held[slot_of(bind->val, index->held_cap)];
        bool again = *slot && (*slot)->val == bind->val && (*slot)->info == index->events[i].info;
        if (again) continue;
        HeldBy *held = NEW(f->flow->arena, HeldBy);
        *held = (HeldBy){bind->val, index->events[i].info, *slot};
        *slot = held;
    }
}

const HeldBy *index_held(const FrameIndex *index, const Val *val) {
    return index->held[slot_of(val, index->held_cap)];
}

static uint32_t first_from(const FrameIndex *index, uint32_t time) {
    uint32_t low = 0, high = index->event_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (index->events[mid].time < time) low = mid + 1;
        else high = mid;
    }
    return low;
}

Range index_events(const FrameIndex *index, uint32_t from, uint32_t to) {
    return (Range){first_from(index, from), first_from(index, to + 1)};
}

const FrameIndex *frame_index(Frame *f) {
    if (f->index) return f->index;
    FrameIndex *index = NEW(f->flow->arena, FrameIndex);
    f->index = index;
    index_stmts(index, f);
    index_evals(index, f);
    index_eval_values(index, f);
    index_around(index, f);
    index_names(index, f);
    index_values(index, f);
    return index;
}

const Node *val_written(Frame *f, const Node *around, const Val *v) {
    const Node *before = NULL;
    for (const EvalOf *e = index_evals_of(frame_index(f), v); e; e = e->next) {
        const Node *node = e->record->node;
        if (e->record->val != v || node->end > around->end) continue;
        if (node->start >= around->start) return node;
        if (!before || node->start > before->start) before = node;
    }
    if (v->node && v->module && !val_is_placeless(v)) return v->node;
    return before ? before : around;
}
