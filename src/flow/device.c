// device.c - x.device.type != "mps" and its like.
#include "base/base.h"

#include "flow/device.h"

enum { MENTIONS_DEPTH = 8, MENTIONS_STEPS = 200 };

// The tensor whose device.type v is; NULL if it is none.
static const Val *typed_tensor(const Val *v) {
    if (v->op != V_ATTR || strcmp(v->name->text, "type") != 0) return NULL;
    const Val *device = v->args[0];
    if (device->op != V_ATTR || strcmp(device->name->text, "device") != 0) return NULL;
    return device->args[0];
}

// The name of a device, or several, none of which an NPU goes by.
static bool names_others(const Val *v) {
    if (v->op == V_CONST) return v->ck == CONST_STR && !str_is(v->text, "npu") && v->text.len;
    if (v->op != V_TUPLE && v->op != V_LIST) return false;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (v->args[i]->op != V_CONST || !names_others(v->args[i])) return false;
    }
    return v->nargs > 0;
}

static int device_truth(const Val *cond, const Val **tensor) {
    if (cond->op != V_PYOP) return -1;
    if (cond->ck == A_NOT) {
        int inner = device_truth(cond->args[0], tensor);
        return inner < 0 ? -1 : !inner;
    }
    if (cond->ck == A_AND || cond->ck == A_OR) { // one part may decide
        int stops = cond->ck == A_OR;
        for (uint32_t i = 0; i < cond->nargs; i++) {
            if (device_truth(cond->args[i], tensor) == stops) return stops;
        }
        return -1;
    }
    if (cond->nargs != 2) return -1;
    bool equals = cond->ck == A_EQ || cond->ck == A_IN;
    bool differs = cond->ck == A_NOT_EQ || cond->ck == A_NOT_IN;
    bool turned = cond->ck == A_EQ || cond->ck == A_NOT_EQ;
    for (int i = 0; i < 1 + turned; i++) {
        const Val *x = typed_tensor(cond->args[i]);
        if (!x || !(equals || differs) || !names_others(cond->args[1 - i])) continue;
        *tensor = x;
        return differs;
    }
    return -1;
}

static bool mentions(const Val *v, const Val *x, int depth, int *steps) {
    if (v == x) return true;
    if (depth > MENTIONS_DEPTH || ++*steps > MENTIONS_STEPS) return false;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (mentions(v->args[i], x, depth + 1, steps)) return true;
    }
    return false;
}

Val *device_side(const Val *cond, Val *a, Val *b) {
    const Val *tensor = NULL;
    int truth = device_truth(cond, &tensor), steps = 0;
    if (truth < 0) return NULL;
    Val *side = truth ? a : b;
    return mentions(side, tensor, 0, &steps) ? side : NULL;
}

int device_test(const Val *cond) {
    const Val *tensor = NULL;
    return device_truth(cond, &tensor);
}
