// stores.c - a new tensor whose two halves are written one after the other:
//
//   out = torch.empty_like(x)
//   out[..., :h] = -x[..., h:]
//   out[..., h:] = x[..., :h]       ->  out is cat((-x[..., h:], x[..., :h]), -1)
//
// and the same for every other element. What is written has to be a half of x itself, so
// that nothing is broadcast.
#include "base/base.h"

#include "flow/call_of.h"
#include "flow/flow.h"

enum { STORED_MAX = 64 };

// One of the two parts of the last axis of `like`, as it is or with the other sign.
static bool is_whole_part(Val *v, Val *like) {
    v = val_strip(v);
    if (v->op == OP_NEG) v = val_strip(v->args[0]);
    bool half = v->op == V_PART && val_is_int(v->args[1], -1) && val_is_int(v->args[3], 2);
    bool other = v->op == OP_STRIDED && val_is_int(v->args[2], 2);
    return (half || other) && val_strip(v->args[0]) == val_strip(like);
}

// Which part of `like` the index means.
static bool read_part(Flow *fl, Val *like, const Val *index, Stored *out) {
    const Val *part = op_part_item(fl, like, index);
    if (!part || (part->op != V_PART && part->op != OP_STRIDED)) return false;
    out->halves = part->op == V_PART;
    const Val *at = part->args[out->halves ? 2 : 1];
    out->index = (uint32_t)at->num;
    return val_is_number(at) && at->num >= 0 && at->num < 2;
}

static const Stored *find_stored(const Frame *f, const Val *tensor) {
    for (uint32_t i = f->run->stored.len; i-- > 0;) {
        if (f->run->stored.at[i].tensor == tensor) return &f->run->stored.at[i];
    }
    return NULL;
}

void eval_part_store(Frame *f, Val *x, const Val *index, Val *value) {
    Flow *fl = f->flow;
    Graph *g = &fl->graph;
    const Stored *first = x->op == V_OPAQUE ? find_stored(f, x) : NULL;
    Val *like = first ? first->like : like_of_new(x);
    Stored now = {.like = like, .value = value};
    if (!like || !is_whole_part(value, like) || !read_part(fl, like, index, &now)) return;
    if (!first) {
        if (f->run->stored.len == STORED_MAX) return;
        Val *half = opaque_in(f, x);
        now.tensor = half;
        vec_push(fl->arena, &f->run->stored, now);
        eval_renewed(f, x, half);
        return;
    }
    if (first->halves != now.halves || first->index == now.index) return;
    Val *parts[2];
    parts[now.index] = value;
    parts[first->index] = first->value;
    Val *args[] = {val_new(g, V_TUPLE, parts, 2), val_int(g, -1)};
    Val *whole = now.halves ? op_make(fl, OP_CAT, args, 2) : op_make(fl, OP_WEAVE, args, 1);
    if (!whole->node) {
        whole->node = f->stmt;
        whole->module = f->module;
    }
    if (f->root) { // the statement computes it, as one that binds it would
        EvalRecord record = {f->stmt, whole, f->stmt, f->nested > 0};
        vec_push(fl->arena, &f->evals, record);
    }
    eval_renewed(f, x, op_cast(fl, whole, op_dtype(fl, like)));
}
