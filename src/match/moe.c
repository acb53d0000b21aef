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
