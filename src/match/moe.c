// moe.c - what routers and expert loops share.
#include "base/base.h"

#include "match/moe.h"

enum { HOLDS_MAX = 3000, HOLDS_DEPTH = 60 };

static bool holds(Val *v, const Val *part, uint32_t *steps, int depth) {
    if (v == part) return true;
    if (depth > HOLDS_DEPTH || ++*steps > HOLDS_MAX) return false;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (holds(v->args[i], part, steps, depth + 1)) return true;
    }
    return false;
}

bool moe_holds(Val *v, const Val *part) {
    uint32_t steps = 0;
    return v && holds(v, part, &steps, 0);
}

const Node *moe_stmt(const EvalRecord *record) {
    return record->stmt ? record->stmt : record->node;
}

const Node *moe_stmt_of(const Frame *f, const Val *v) {
    for (uint32_t i = 0; i < f->evals.len; i++) {
        if (f->evals.at[i].val == v) return moe_stmt(&f->evals.at[i]);
    }
    return NULL;
}

typedef struct Search {
    Frame *frame;
    const Node *within;
    const Node *loop; // the innermost `for` around it
} Search;

static bool find_loop(Node *node, void *data) {
    Search *search = data;
    if (node->start > search->within->start || node->end < search->within->end) return true;
    if (node->kind == N_FOR) search->loop = node;
    return node_children(node, find_loop, data);
}

const Node *moe_loop_around(Frame *f, const Node *node) {
    Search search = {.frame = f, .within = node};
    node_children(f->fn, find_loop, &search);
    return search.loop;
}
