// same_form.c - two trees of values, leaf by leaf.
#include "base/base.h"

#include "match/same_form.h"

#include "match/frame_index.h"

enum { STEPS_MAX = 200 };

typedef struct Pair {
    const Val *from, *to;
} Pair;

typedef struct SameWalk {
    int steps;
    bool params; // one parameter is as good as another, and nothing else is
    Pair param;  // the two
    Pair count;  // and the two unknowns by which loops over them count
} SameWalk;

static bool same_pair(Pair *pair, const Val *a, const Val *b) {
    if (!pair->from) *pair = (Pair){a, b};
    return pair->from == a && pair->to == b;
}

static bool same(const Val *a, const Val *b, SameWalk *walk);

// What a comprehension has for each of its elements.
static bool same_elements(const Val *a, const Val *b, SameWalk *walk) {
    if (!walk->params) return false;
    if (!a->nargs) return same_pair(&walk->count, a, b);
    for (uint32_t i = 0; i < a->nargs; i++) {
        if (!same(a->args[i], b->args[i], walk)) return false;
    }
    return true;
}

static bool same(const Val *a, const Val *b, SameWalk *walk) {
    if (a == b) return true;
    if (++walk->steps > STEPS_MAX) return false;
    if (a->op != b->op || a->nargs != b->nargs || a->ck != b->ck) return false;
    if (a->op == V_PARAM) return walk->params && same_pair(&walk->param, a, b);
    if (a->op == V_OPAQUE) return same_elements(a, b, walk);
    if (a->op == V_SIZE && walk->params) {
        return a->args[1] == b->args[1] && same(a->args[0], b->args[0], walk);
    }
    if (a->op == V_CONST || a->op == V_CLASS || a->op == V_FUNCTION || a->op == V_LAMBDA ||
        a->op == V_MODULE || a->op == V_SIZE) {
        return false;
    }
    if (a->op == V_GLOBAL && !str_eq(a->text, b->text)) return false;
    bool other = a->def != b->def || !str_eq(a->text, b->text) || walk->params;
    if (a->op == V_INSTANCE && other) return false;
    if (a->op == V_KEYWORD && a->name != b->name) return false;
    bool learned = a->op == V_ATTR && a->args[0] == b->args[0]; // self.w1, self.w3
    if (a->op == V_ATTR && a->name != b->name) return learned && !walk->params;
    for (uint32_t i = 0; i < a->nargs; i++) {
        if (!same(a->args[i], b->args[i], walk)) return false;
    }
    return true;
}

bool same_form(const Val *a, const Val *b) {
    SameWalk walk = {0};
    return same(a, b, &walk);
}

bool same_form_of_params(const Val *a, const Val *b) {
    SameWalk walk = {.params = true};
    return same(a, b, &walk);
}

// ---- calls ----------------------------------------------------------------------

static bool same_args(Frame *f, const NodeList *a, const NodeList *b) {
    if (a->len != b->len) return false;
    for (uint32_t i = 0; i < a->len; i++) {
        const Node *p = a->at[i], *q = b->at[i];
        if (p->kind != q->kind && (p->kind == N_KEYWORD || q->kind == N_KEYWORD)) return false;
        if (p->kind == N_KEYWORD) {
            if (p->u.keyword.name != q->u.keyword.name) return false;
            p = p->u.keyword.value;
            q = q->u.keyword.value;
        }
        const Val *v = node_val(f->mf, p), *w = node_val(f->mf, q);
        if (!v || !w || !same_form(v, w)) return false;
    }
    return true;
}

// What a call calls: of self.w1(x) what the attribute was made as. NULL: not known.
static const Val *callee_of(Frame *f, const Node *func) {
    if (func->kind != N_ATTRIBUTE) return node_val(f->mf, func);
    Val *object = node_val(f->mf, func->u.attribute.value);
    return object && object_class(object) ? object_attr(f->flow, object, func->u.attribute.attr)
                                          : NULL;
}

static bool made_alike(const Val *p, const Val *q) {
    if (p->op != V_INSTANCE || q->op != V_INSTANCE || !p->def || !q->def) return false;
    if (p->def->node != q->def->node || p->nargs != q->nargs) return false;
    for (uint32_t i = 0; i < p->nargs; i++) {
        const Val *v = p->args[i], *w = q->args[i];
        if (v->op == V_KEYWORD && w->op == V_KEYWORD && v->name == w->name) {
            v = v->args[0];
            w = w->args[0];
        }
        if (v != w) return false;
    }
    return true;
}

static bool records_alike(Frame *f, const EvalRecord *a, const EvalRecord *b) {
    const Node *m = a->node, *n = b->node;
    if (m == n || m->kind != N_CALL || n->kind != N_CALL) return false;
    const Val *p = callee_of(f, m->u.call.func), *q = callee_of(f, n->u.call.func);
    if (!p || !q) return false;
    bool method = p->op == V_METHOD && q->op == V_METHOD && p->args[0] == q->args[0] &&
                  p->def->node == q->def->node;
    if (p != q && !method && !made_alike(p, q)) return false;
    return same_args(f, &m->u.call.args, &n->u.call.args) &&
           same_args(f, &m->u.call.keywords, &n->u.call.keywords);
}

bool calls_alike(Frame *f, const Val *a, const Val *b) {
    const FrameIndex *index = frame_index(f);
    for (const EvalOf *i = index_evals_of(index, a); i; i = i->next) {
        for (const EvalOf *k = index_evals_of(index, b); k; k = k->next) {
            if (i->record->val != a || k->record->val != b) continue;
            if (records_alike(f, i->record, k->record)) return true;
        }
    }
    return false;
}

bool given_together(const Frame *f, const Val *a, const Val *b) {
    if (a->op != V_OPAQUE || b->op != V_OPAQUE) return false;
    for (uint32_t i = 0; i < f->evals.len; i++) {
        const EvalRecord *record = &f->evals.at[i];
        const Val *v = record->val;
        if (record->node->kind != N_CALL || !v || v->op != V_TUPLE) continue;
        bool first = false, second = false;
        for (uint32_t k = 0; k < v->nargs; k++) {
            first |= val_strip(v->args[k]) == a;
            second |= val_strip(v->args[k]) == b;
        }
        if (first && second) return true;
    }
    return false;
}
