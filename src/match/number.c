// number.c - which values are Python numbers, and which cannot be.
#include "base/base.h"

#include "match/number.h"

#include "flow/dtype.h"

static bool annotated_tensor(const Val *param) {
    const Node *a = param->node ? param->node->u.arg.annotation : NULL;
    if (!a) return false;
    if (a->kind == N_ATTRIBUTE) return str_is(sym_str(a->u.attribute.attr), "Tensor");
    return a->kind == N_NAME && str_is(sym_str(a->u.name.id), "Tensor");
}

// Whether an epsilon may be a number: no tensor, and not negative.
static bool may_be(Flow *flow, Val *v, int depth) {
    if (depth > 8) return false;
    switch ((int)v->op) {
    case V_CONST: return val_is_number(v) && v->num >= 0;
    case V_PARAM: return !annotated_tensor(v);
    case V_ATTR: {
        Val *made = object_class(v->args[0]) ? object_attr(flow, v->args[0], v->name) : NULL;
        return !made || made == v || made->op == V_OPAQUE || may_be(flow, made, depth + 1);
    }
    case V_PHI:
        return may_be(flow, v->args[1], depth + 1) &&
               may_be(flow, v->args[2], depth + 1);
    case OP_MUL: case OP_ADD: case OP_POW:
        return may_be(flow, v->args[0], depth + 1) &&
               may_be(flow, v->args[1], depth + 1);
    case OP_SQRT: case OP_RECIPROCAL: return may_be(flow, v->args[0], depth + 1);
    case V_CALL: // an attribute's: self.eps = config.get("eps", 1e-6)
        return depth > 0 || v->args[0]->op == V_GLOBAL;
    case V_ITEM: case V_PYOP: case V_SIZE: case OP_NUMEL: return true;
    default: return false;
    }
}

// x.shape[-1], t.item(), a parameter that is annotated as a number.
bool is_number(Flow *flow, Val *v) {
    if (v->op == V_CALL && v->args[0]->op == V_ATTR && v->nargs == 1) {
        return str_is(sym_str(v->args[0]->name), "item");
    }
    return is_scalar(flow, v, (Scalars){0});
}

bool may_be_number(Flow *flow, Val *v) {
    return may_be(flow, v, 0);
}
