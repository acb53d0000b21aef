// attend_uses.c - what else is made of the weights and of the result, and what
// the values are made of.
#include "base/base.h"

#include "match/attend.h"

enum { REACH_MAX_STEPS = 600 };

typedef struct Reach {
    Flow *flow;
    const Val *part, *stop; // looked for; not looked behind
    bool softmax;           // any softmax, but not behind another attention
    uint32_t steps;
} Reach;

static bool reaches(Reach *r, Val *v, int depth) {
    if (v == r->stop || depth > 24 || ++r->steps > REACH_MAX_STEPS) return false;
    if (r->softmax ? v->op == OP_SOFTMAX : v == r->part) return true;
    if (r->softmax && v->op == OP_MATMUL && attend_of(r->flow, v)) return false;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (reaches(r, v->args[i], depth + 1)) return true;
    }
    return false;
}

const char *attend_misuse(const Frame *f, const Attend *attend, Val *root) {
    Reach inner = {.flow = f->flow, .softmax = true};
    if (reaches(&inner, attend->form->args[ATTEND_VALUE], 0)) {
        return "its values are made of other weights: one factor of a longer product";
    }
    for (uint32_t i = 0; i < f->evals.len; i++) {
        Val *v = val_strip(f->evals.at[i].val);
        if (v == root || v->op != OP_MATMUL) continue;
        Reach weights = {.flow = f->flow, .part = attend->softmax, .stop = root};
        if (reaches(&weights, v->args[0], 0)) return "the weights are used in another product, too";
        bool left = val_strip(v->args[0]) == root && val_strip(v->args[1])->op == OP_MATMUL;
        if (left || val_strip(v->args[1]) == root) {
            return "its result is an operand of another product: one factor of a longer one";
        }
    }
    return NULL;
}
