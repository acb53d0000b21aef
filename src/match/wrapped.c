// wrapped.c - the branches of a function: one calls the operator, the other keeps the
// hand-written form.
#include "base/base.h"

#include "match/wrapped.h"

enum { WRAPPED_DEPTH = 8 };

// The operator's result, or one of its results.
static bool gives(const Val *v, Str api) {
    v = val_strip((Val *)(uintptr_t)v);
    for (int depth = 0; v->op == V_ITEM && depth < WRAPPED_DEPTH; depth++) {
        v = val_strip(v->args[0]);
    }
    return v->op == V_CALL && v->args[0]->op == V_GLOBAL && str_eq(v->args[0]->text, api);
}

static bool holds(const Node *outer, const Node *inner) {
    return outer->start <= inner->start && inner->end <= outer->end;
}

static bool any_holds(const NodeList *block, const Node *node) {
    for (uint32_t i = 0; i < block->len; i++) {
        if (holds(block->at[i], node)) return true;
    }
    return false;
}

static bool leaves(const NodeList *block) {
    const Node *last = block->len ? block->at[block->len - 1] : NULL;
    return last && (last->kind == N_RETURN || last->kind == N_RAISE);
}

typedef struct Apart {
    const Node *a, *b;
    bool found;
} Apart;

// Whether `body` has one of the two, and the other runs only where it does not.
static bool parts(const Apart *apart, const NodeList *body, const NodeList *rest, uint32_t end) {
    bool a = any_holds(body, apart->a), b = any_holds(body, apart->b);
    if (a == b) return false;
    const Node *other = a ? apart->b : apart->a;
    return any_holds(rest, other) || (leaves(body) && other->start >= end);
}

static bool search_branch(Node *node, void *data) {
    Apart *apart = data;
    if (node->kind == N_IF) {
        apart->found |= parts(apart, &node->u.while_.body, &node->u.while_.orelse, node->end);
    } else if (node->kind == N_IF_EXP) {
        const Node *body = node->u.if_exp.body, *rest = node->u.if_exp.orelse;
        apart->found |= (holds(body, apart->a) && holds(rest, apart->b)) ||
                        (holds(body, apart->b) && holds(rest, apart->a));
    }
    return !apart->found && node_children(node, search_branch, data);
}

bool wraps_operator(const Frame *f, const Node *node, Str api) {
    if (!f->fn || f->fn->kind != N_FUNCTION_DEF) return false;
    for (uint32_t i = 0; i < f->evals.len; i++) {
        const EvalRecord *e = &f->evals.at[i];
        if (e->node->kind != N_CALL || !e->val || !gives(e->val, api)) continue;
        Apart apart = {e->node, node, false};
        search_branch(f->fn, &apart);
        if (apart.found) return true;
    }
    return false;
}
