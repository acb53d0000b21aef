// number.c - which values are Python numbers, and which cannot be.
#include "base/base.h"

#include "match/number.h"

#include "flow/dtype.h"

typedef struct Annotation {
    bool tensor, number;
} Annotation;

// Optional[torch.Tensor], "float | None"
static bool read_annotation(Node *node, void *data) {
    Annotation *a = data;
    Str name = {0};
    if (node->kind == N_NAME) name = sym_str(node->u.name.id);
    if (node->kind == N_ATTRIBUTE) name = sym_str(node->u.attribute.attr);
    a->tensor |= str_is(name, "Tensor") || str_is(name, "Parameter");
    a->number |= str_is(name, "float") || str_is(name, "int") || str_is(name, "Number");
    return node_children(node, read_annotation, data);
}

static Annotation annotation_of(const Val *param) {
    Annotation a = {0};
    Node *node = param->node ? param->node->u.arg.annotation : NULL;
    if (node) read_annotation(node, &a);
    return a;
}

static bool annotated_tensor(const Val *param) {
    Annotation a = annotation_of(param);
    return a.tensor && !a.number;
}

// The default of a parameter of a function; NULL if it has none.
static Node *default_of(const Val *param) {
    const Frame *f = param->ptr;
    if (!f || !f->fn || f->fn->kind != N_FUNCTION_DEF) return NULL;
    ArgumentsNode *a = f->fn->u.function->args->u.arguments;
    uint32_t n = a->posonly.len + a->args.len;
    for (uint32_t i = n - a->defaults.len; i < n; i++) {
        Node *arg = i < a->posonly.len ? a->posonly.at[i] : a->args.at[i - a->posonly.len];
        if (arg == param->node) return a->defaults.at[i - (n - a->defaults.len)];
    }
    for (uint32_t i = 0; i < a->kwonly.len; i++) {
        if (a->kwonly.at[i] == param->node) return a->kw_defaults.at[i];
    }
    return NULL;
}

static bool default_is_number(const Val *param) {
    const Node *value = default_of(param);
    return value && value->kind == N_CONSTANT &&
           (value->op == CONST_INT || value->op == CONST_FLOAT);
}

static bool shows(const Val *v, int depth) {
    if (depth > 8) return true;
    switch ((int)v->op) {
    case V_PARAM: return annotation_of(v).number || default_is_number(v);
    case V_PHI: { // scale if scale is not None else d**-0.5
        const Val *a = v->args[1], *b = v->args[2];
        bool in_place = (a->op == V_PARAM && !val_is_int(b, 1)) ||
                        (b->op == V_PARAM && !val_is_int(a, 1));
        bool one = shows(a, depth + 1), other = shows(b, depth + 1);
        return in_place ? one || other : one && other;
    }
    case OP_MUL: case OP_ADD: case OP_POW:
        return shows(v->args[0], depth + 1) && shows(v->args[1], depth + 1);
    case OP_SQRT: case OP_RSQRT: case OP_RECIPROCAL: case OP_NEG: case V_CAST:
        return shows(v->args[0], depth + 1);
    default: return true;
    }
}

bool shows_number(const Val *v) {
    return shows(v, 0);
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
