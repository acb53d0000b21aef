// shape.c - shapes through the operators that state them: views and new tensors.
#include "base/base.h"

#include "lint/shape.h"

#include "lint/value.h"

enum { SHAPE_MAX_DEPTH = 32 };

static bool keeps_shape(const Val *v) {
    return v->op == V_CAST || v->op == OP_CONTIGUOUS || v->op == OP_CLONE || v->op == OP_DETACH;
}

// The sizes that the value is made with, or NULL: x.view(b, s, 64), torch.zeros(2, 3).
static const Val *stated(const Val *v) {
    const Val *size = NULL;
    switch ((int)v->op) {
    case OP_VIEW: case OP_EXPAND: size = v->nargs > 1 ? v->args[1] : NULL; break;
    case OP_ONES: case OP_ZEROS: case OP_EMPTY: case OP_FULL:
        size = v->nargs ? v->args[0] : NULL;
        break;
    default: break;
    }
    if (!size || (size->op != V_TUPLE && size->op != V_LIST)) return NULL;
    for (uint32_t i = 0; i < size->nargs; i++) {
        int64_t number;
        const Val *entry = size->args[i];
        // A name alone may be a list of sizes, as in view(shape).
        bool one = value_int(entry, &number) || entry->op == V_SIZE || size->nargs > 1;
        if (entry->op == V_STAR || !one) return NULL;
    }
    return size;
}

uint32_t shape_rank(Val *v) {
    for (int i = 0; v && i < SHAPE_MAX_DEPTH; i++) {
        const Val *size = stated(v);
        if (size) return size->nargs;
        if (v->rank) return v->rank;
        if (!keeps_shape(v) && v->op != OP_TRANSPOSE) return 0;
        v = v->args[0];
    }
    return 0;
}

// The axis of x that is the axis of x.transpose(a, b).
static bool before_transpose(const Val *v, uint32_t rank, int64_t *axis) {
    int64_t a, b;
    if (v->nargs < 3 || !value_int(v->args[1], &a) || !value_int(v->args[2], &b)) return false;
    if (a < 0) a += rank;
    if (b < 0) b += rank;
    if (*axis == a) *axis = b;
    else if (*axis == b) *axis = a;
    return true;
}

bool shape_length(Val *v, int64_t axis, int64_t *out) {
    uint32_t rank = shape_rank(v);
    if (!rank) return false;
    if (axis < 0) axis += rank;
    for (int i = 0; v && i < SHAPE_MAX_DEPTH; i++) {
        const Val *size = stated(v);
        if (axis < 0 || axis >= rank) return false;
        if (size) return value_int(size->args[axis], out) && *out >= 0;
        if (v->op == OP_TRANSPOSE && !before_transpose(v, rank, &axis)) return false;
        if (!keeps_shape(v) && v->op != OP_TRANSPOSE) return false;
        v = v->args[0];
    }
    return false;
}
