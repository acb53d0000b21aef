// writes.c - in-place operators: who sees what they change.
#include "base/base.h"

#include "match/writes.h"

#include "flow/call_of.h"
#include "flow/storage.h"
#include "match/frame_index.h"

bool match_sees(const Match *m, const Val *v) {
    for (uint32_t i = 0; i < m->seen.len; i++) {
        if (m->seen.at[i] == v) return true;
    }
    return false;
}

bool match_binds(const Match *m, const Val *v) {
    for (uint32_t i = 0; i < m->spec->rule->param_count; i++) {
        if (!m->bound[i]) continue;
        if (m->bound[i] == v || (m->attend && attend_below_views(m->bound[i]) == v)) return true;
    }
    return false;
}

// ---- within a call ------------------------------------------------------------

typedef struct CallWalk {
    const Place *place;
    const Node *call;
    bool input; // below the expression of an input
    bool around; // below the call
    bool found;
} CallWalk;

static bool walk_calls(Node *node, void *data) {
    CallWalk *walk = data;
    CallWalk outer = *walk;
    Val *v = node_val(walk->place->frame->mf, node);
    walk->input |= v && match_binds(walk->place->match, val_strip(v));
    walk->around |= node == walk->call;
    walk->found |= (node == walk->call && walk->input) ||
                   (node == walk->place->record->node && walk->around);
    if (!walk->found) node_children(node, walk_calls, data);
    walk->input = outer.input;
    walk->around = outer.around;
    return !walk->found;
}

// y += bias, in the forward of a layer that gives an input, or that is given the
// result: it runs in both branches.
static bool within_layer(const Place *p, const StmtInfo *s, const Write *w) {
    if (!w->call) return false;
    CallWalk walk = {.place = p, .call = w->call};
    walk_calls(s->stmt, &walk);
    return walk.found;
}

// ---- a tensor without a name ----------------------------------------------------

// A layer of torch makes a new tensor.
static bool is_fresh(Flow *flow, const Val *v) {
    if (v->op == OP_LINEAR || v->op == OP_MATMUL) return true;
    if (v->op != V_CALL) return false;
    Val *callee = v->args[0];
    if (callee->op == V_ATTR && object_class(callee->args[0])) {
        callee = object_attr(flow, callee->args[0], callee->name);
    }
    return callee && callee->op == V_INSTANCE && !callee->def &&
           str_is(callee->text, "torch.nn.Linear");
}

// Whether no name of the function holds the storage.
static bool has_no_name(const Place *p, const Val *storage) {
    const FrameIndex *index = frame_index(p->frame);
    for (uint32_t i = 0; i < index->event_count; i++) {
        const Bind *bind = index->events[i].bind;
        if (!bind || !bind->val) continue;
        Roots held;
        roots_of(&held, bind->val);
        if (roots_hold(&held, storage)) return false;
    }
    return true;
}

// F.silu(self.gate(x), inplace=True): nobody else has the tensor. Neither has it where a
// function makes it, writes it and gives something made of it back.
static bool is_nameless(const Place *p, const Write *w) {
    const Val *storage = w->storage, *origin = storage;
    for (int i = 0; i < 4 && origin->op == V_OPAQUE && origin->ptr; i++) origin = origin->ptr;
    bool made = w->call && like_of_new(origin);
    bool given = match_binds(p->match, storage) && is_fresh(p->frame->flow, storage);
    return (made || given) && has_no_name(p, storage);
}

// ---- the questions ----------------------------------------------------------------

bool place_writes_others(const Place *p, const StmtInfo *s) {
    const Frame *f = p->frame;
    Range stmts = frame_inside(f, s);
    for (uint32_t i = stmts.from; i < stmts.to; i++) {
        for (const Write *w = f->stmts.at[i].writes; w; w = w->next) {
            if (match_sees(p->match, w->storage) || within_layer(p, s, w)) continue;
            if (!is_nameless(p, w)) return true;
        }
    }
    return false;
}

bool place_leaves_stores(const Place *p, const StmtInfo *root) {
    const Frame *f = p->frame;
    Range stmts = frame_inside(f, root);
    for (uint32_t i = stmts.from; i < stmts.to; i++) {
        for (const Write *w = f->stmts.at[i].stores; w; w = w->next) {
            if (!within_layer(p, root, w)) return true;
        }
    }
    return false;
}

bool place_writes_shared(const Place *p, const StmtInfo *root) {
    const Frame *f = p->frame;
    if (!p->wasted) return false;
    Range stmts = frame_inside(f, root);
    for (uint32_t i = stmts.from; i < stmts.to; i++) {
        for (const Write *w = f->stmts.at[i].writes; w; w = w->next) {
            if (!within_layer(p, root, w)) return true;
        }
    }
    return false;
}

static bool writes_into(const StmtInfo *s, const Val *input) {
    Roots held;
    if (s->writes) roots_of(&held, input);
    for (const Write *w = s->writes; w; w = w->next) {
        if (roots_hold(&held, w->storage)) return true;
    }
    return false;
}

bool place_writes_input(const Place *p) {
    const Frame *f = p->frame;
    for (uint32_t i = 0; i < p->match->spec->rule->param_count; i++) {
        const PlacedInput *in = &p->inputs[i];
        if (!in->node || in->at == p->last) continue;
        uint32_t from = p->infos[in->at]->time_before, to = p->infos[p->last]->time_before;
        for (uint32_t k = 0; k < f->stmts.len; k++) {
            const StmtInfo *s = &f->stmts.at[k];
            bool between = s->time_before >= from && s->time_before <= to;
            if (between && writes_into(s, in->val)) return true;
        }
    }
    return false;
}
