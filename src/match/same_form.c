// same_form.c - two trees of values, leaf by leaf.
#include "base/base.h"

#include "match/same_form.h"

enum { STEPS_MAX = 200 };

static bool same(const Val *a, const Val *b, int *steps) {
    if (a == b) return true;
    if (++*steps > STEPS_MAX) return false;
    if (a->op != b->op || a->nargs != b->nargs || a->ck != b->ck) return false;
    if (a->op == V_CONST || a->op == V_PARAM || a->op == V_OPAQUE || a->op == V_CLASS ||
        a->op == V_FUNCTION || a->op == V_LAMBDA || a->op == V_MODULE || a->op == V_SIZE) {
        return false;
    }
    if (a->op == V_GLOBAL && !str_eq(a->text, b->text)) return false;
    if (a->op == V_INSTANCE && (a->def != b->def || !str_eq(a->text, b->text))) return false;
    if (a->op == V_KEYWORD && a->name != b->name) return false;
    bool learned = a->op == V_ATTR && a->args[0] == b->args[0]; // self.w1, self.w3
    if (a->op == V_ATTR && a->name != b->name) return learned;
    for (uint32_t i = 0; i < a->nargs; i++) {
        if (!same(a->args[i], b->args[i], steps)) return false;
    }
    return true;
}

bool same_form(const Val *a, const Val *b) {
    int steps = 0;
    return same(a, b, &steps);
}
