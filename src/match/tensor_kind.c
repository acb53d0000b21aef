// tensor_kind.c - what made a value says what it is.
#include "base/base.h"

#include "match/tensor_kind.h"

#include "flow/call_of.h"
#include "flow/changes.h"

enum { DEPTH_MAX = 40 };

typedef bool Test(const Val *v, int depth);

static bool tensor(const Val *v, int depth);
// How a mask is asked for: where `tensor`, that it is a tensor is known; with `flow`,
// attributes are followed.
// `numbers`: zeros and ones of another dtype are one, too.
typedef struct Asked {
    Flow *flow;
    bool tensor, numbers;
} Asked;

static const Asked shown_only = {0};

static bool mask(const Val *v, int depth, const Asked *asked);

static bool is_one_of(const char *text, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, names[i]) == 0) return true;
    }
    return false;
}

const Val *torch_call(const Val *call, const char *name) {
    bool foreign = call->op == V_CALL && call->args[0]->op == V_GLOBAL &&
                   !str_starts(call->args[0]->text, "torch.");
    return foreign ? NULL : value_of_call((Val *)(uintptr_t)call, name);
}

// ---- tensors ------------------------------------------------------------------

// torch.Tensor, LongTensor, also within Optional[...] or beside None.
static bool names_tensor(const Node *annotation, int depth) {
    static const char *const names[] = {
        "Tensor", "FloatTensor", "LongTensor", "BoolTensor", "IntTensor", "HalfTensor",
    };
    if (!annotation || depth > 4) return false;
    switch ((int)annotation->kind) {
    case N_NAME: return is_one_of(annotation->u.name.id->text, names, COUNT(names));
    case N_ATTRIBUTE: return is_one_of(annotation->u.attribute.attr->text, names, COUNT(names));
    case N_BIN_OP:
        return names_tensor(annotation->u.bin.left, depth + 1) &&
               annotation->u.bin.right->kind == N_CONSTANT;
    case N_SUBSCRIPT: {
        const Node *head = annotation->u.subscript.value;
        bool optional = head->kind == N_NAME && str_is(sym_str(head->u.name.id), "Optional");
        return optional && names_tensor(annotation->u.subscript.slice, depth + 1);
    }
    default: return false;
    }
}

static bool is_tensor_param(const Val *v) {
    return v->node && v->node->kind == N_ARG && names_tensor(v->node->u.arg.annotation, 0);
}

// A call of torch, or a method of a tensor, that gives a tensor.
static bool gives_tensor(const Val *call, int depth) {
    static const char *const makers[] = {
        "torch.tensor", "torch.arange", "torch.linspace", "torch.zeros_like", "torch.full_like",
        "torch.randn_like", "torch.rand_like", "torch.empty_like", "torch.randint", "torch.eye",
        "torch.isnan", "torch.isinf", "torch.isfinite", "torch.eq", "torch.ne", "torch.lt",
        "torch.le", "torch.gt", "torch.ge", "torch.logical_and", "torch.logical_or",
        "torch.argsort", "torch.argmax", "torch.argmin", "torch.cumsum", "torch.bincount",
        "torch.as_tensor", "torch.from_numpy", "torch.gather", "torch.polar", "torch.outer",
        "torch.randperm", "torch.nonzero", "torch.isin", "torch.logical_xor",
    };
    static const char *const others[] = {
        "tolist", "item", "numpy", "size", "dim", "stride", "data_ptr", "backward", "topk",
        "sort", "max", "min", "chunk", "split", "unbind", "keys", "values", "items", "get",
    };
    static const char *const fresh[] = {"new_zeros", "new_ones", "new_full", "new_empty",
                                        "new_tensor"};
    const Val *callee = call->args[0];
    if (callee->op == V_GLOBAL) return is_one_of(callee->text.at, makers, COUNT(makers));
    if (callee->op != V_ATTR) return false;
    if (is_one_of(callee->name->text, fresh, COUNT(fresh))) return true;
    return !is_one_of(callee->name->text, others, COUNT(others)) &&
           tensor(callee->args[0], depth + 1);
}

// values and indices of x.topk(k), of x.max(dim) and their like.
static bool is_part_of_call(const Val *v) {
    static const char *const names[] = {"topk", "sort", "max", "min", "cummax", "kthvalue"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (torch_call(v, names[i])) return true;
    }
    return false;
}

static bool any_tensor(const Val *v, int depth) {
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (tensor(v->args[i], depth + 1)) return true;
    }
    return false;
}

static bool tensor(const Val *v, int depth) {
    if (depth > DEPTH_MAX) return false;
    switch ((int)v->op) {
    case OP_CLONE: case OP_UNSQUEEZE: case OP_PERMUTE: case OP_EXPAND: case OP_DETACH:
    case OP_CONTIGUOUS: case OP_MASKED_FILL: case OP_SOFTMAX: case OP_LINEAR: case OP_CAT:
    case OP_STACK: case OP_ONES: case OP_ZEROS: case OP_EMPTY: case OP_FULL: case OP_ONES_LIKE:
    case OP_ZEROS_LIKE: case OP_SDPA: case OP_BMM: case OP_EINSUM: case OP_LAYER_NORM:
    case OP_PARAMETER: case OP_SILU: case OP_GELU: case OP_SIGMOID: case OP_RELU: case OP_TRIU:
    case OP_TRIL: case OP_COMPLEX: case OP_VIEW_AS_COMPLEX: case OP_VIEW_AS_REAL: case OP_GLU:
    case OP_WHERE: case OP_NORMALIZE:
        return true;
    case V_CAST:
        return v->args[1]->op == V_GLOBAL && str_starts(v->args[1]->text, "torch.");
    case V_PARAM: return is_tensor_param(v);
    case V_CALL: return gives_tensor(v, depth);
    case V_ITEM: return is_part_of_call(v->args[0]) || tensor(v->args[0], depth + 1);
    case V_ATTR:
        return (strcmp(v->name->text, "indices") == 0 || strcmp(v->name->text, "values") == 0) &&
               is_part_of_call(v->args[0]);
    case V_PHI: return tensor(v->args[1], depth + 1) && tensor(v->args[2], depth + 1);
    case OP_MUL: case OP_ADD: case OP_DIV: case OP_POW: case OP_MATMUL:
        return any_tensor(v, depth);
    case OP_NEG: case OP_ABS: case OP_EXP: case OP_LOG: case OP_SQRT: case OP_RSQRT:
    case OP_COS: case OP_SIN: case OP_TANH: case OP_CLAMP: case OP_MEAN: case OP_SUM:
    case OP_VIEW: case OP_FLATTEN: case OP_TRANSPOSE: case OP_SQUEEZE: case OP_LOGICAL_NOT:
    case V_PART: case OP_RECIPROCAL: case OP_AMAX: case OP_FLOOR_DIV: case OP_MOD:
        return tensor(v->args[0], depth + 1);
    case V_PYOP: return mask(v, depth + 1, &shown_only);
    default: return false;
    }
}

bool is_tensor(const Val *v) {
    return v && tensor(v, 0);
}

// ---- masks --------------------------------------------------------------------

static bool compares(const Val *call, int depth, const Asked *asked) {
    static const char *const names[] = {
        "isnan", "isinf", "isfinite", "isin", "eq", "ne", "lt", "le", "gt", "ge",
        "logical_and", "logical_or", "logical_xor",
    };
    for (size_t i = 0; i < COUNT(names); i++) {
        const Val *x = torch_call(call, names[i]);
        if (x) return asked->tensor || call->args[0]->op == V_GLOBAL || tensor(x, depth + 1);
    }
    return false;
}

// What keeps the elements of a tensor, or picks among them, by a name that is no operator:
// m.repeat(1, 2), einops.rearrange(m, "b j -> b 1 1 j").
static const Val *same_elements(const Val *call) {
    static const char *const names[] = {
        "repeat", "roll", "flip", "index_select", "gather", "tile", "swapaxes", "movedim",
        "broadcast_to", "cuda", "cpu", "diagonal", "rot90",
    };
    bool foreign = call->args[0]->op == V_GLOBAL && call->nargs > 1 &&
                   (val_is_global(call->args[0], "einops.rearrange") ||
                    val_is_global(call->args[0], "einops.repeat"));
    if (foreign) return call->args[1];
    for (size_t i = 0; i < COUNT(names); i++) {
        const Val *x = torch_call(call, names[i]);
        if (x) return x;
    }
    return NULL;
}

// x > 0, ~m, m & n
static bool computes_mask(const Val *v, int depth, const Asked *asked) {
    switch ((int)v->ck) {
    case A_EQ: case A_NOT_EQ: case A_LT: case A_LT_E: case A_GT: case A_GT_E:
        return v->nargs == 2 && (asked->tensor || any_tensor(v, depth));
    case A_INVERT: return mask(v->args[0], depth + 1, asked);
    case A_BIT_AND: case A_BIT_OR: case A_BIT_XOR:
        return v->nargs == 2 && mask(v->args[0], depth + 1, asked) &&
               mask(v->args[1], depth + 1, asked);
    default: return false;
    }
}

// self.causal, which the constructor makes and nothing replaces.
static bool is_kept_mask(const Val *v, int depth, const Asked *asked) {
    const Def *def = asked->flow ? object_class(v->args[0]) : NULL;
    Val *made = def ? object_attr(asked->flow, v->args[0], v->name) : NULL;
    if (def && !made) made = object_buffer(asked->flow, v->args[0], v->name);
    return made && made != v && mask(made, depth + 1, asked) &&
           attr_change(asked->flow, def, v->name) == ATTR_KEPT;
}

static bool all_masks(const Val *list, int depth, const Asked *asked) {
    for (uint32_t i = 0; i < list->nargs; i++) {
        if (!mask(list->args[i], depth + 1, asked)) return false;
    }
    return list->nargs > 0 && (list->op == V_TUPLE || list->op == V_LIST);
}

// 1 - m
static bool is_rest_of_one(const Val *v, int depth, const Asked *asked) {
    for (int i = 0; i < 2; i++) {
        const Val *m = v->args[1 - i];
        if (!val_is_int(v->args[i], 1)) continue;
        return m->op == OP_NEG && mask(m->args[0], depth + 1, asked);
    }
    return false;
}

static bool mask(const Val *v, int depth, const Asked *asked) {
    if (depth > DEPTH_MAX) return false;
    switch ((int)v->op) {
    case V_CAST:
        return val_is_global(v->args[1], "torch.bool") ||
               (asked->numbers && mask(v->args[0], depth + 1, asked));
    case OP_ONES: case OP_ZEROS: case OP_ONES_LIKE: case OP_ZEROS_LIKE: return asked->numbers;
    case OP_ADD: return asked->numbers && is_rest_of_one(v, depth, asked);
    case V_PYOP: return computes_mask(v, depth, asked);
    case V_CALL: {
        const Val *x = same_elements(v);
        return x ? mask(x, depth + 1, asked) : compares(v, depth, asked);
    }
    case OP_LOGICAL_NOT: case OP_UNSQUEEZE: case OP_SQUEEZE: case OP_EXPAND: case OP_VIEW:
    case OP_CLONE: case OP_CONTIGUOUS: case OP_TRANSPOSE: case OP_PERMUTE: case OP_FLATTEN:
    case OP_DETACH: case OP_TRIL: case OP_TRIU: case OP_MASKED_FILL: case OP_REPEAT_INTERLEAVE:
    case V_ITEM: case V_PART:
        return mask(v->args[0], depth + 1, asked);
    case OP_CAT: case OP_STACK: return all_masks(v->args[0], depth, asked);
    case OP_WHERE:
        return v->nargs > 2 && mask(v->args[1], depth + 1, asked) &&
               mask(v->args[2], depth + 1, asked);
    case V_PHI:
        return mask(v->args[1], depth + 1, asked) && mask(v->args[2], depth + 1, asked);
    case V_ATTR: return is_kept_mask(v, depth, asked);
    default: return false;
    }
}

bool is_bool_mask(const Val *v) {
    return v && mask(v, 0, &shown_only);
}

bool is_bool_if_tensor(Flow *flow, const Val *v) {
    Asked asked = {.flow = flow, .tensor = true};
    return v && mask(v, 0, &asked);
}

bool is_zero_one(Flow *flow, const Val *v) {
    Asked asked = {.flow = flow, .tensor = true, .numbers = true};
    return v && mask(v, 0, &asked);
}

// ---- whole numbers --------------------------------------------------------------

static bool is_index_call(const Val *v) {
    static const char *const names[] = {"argmax", "argmin", "argsort"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (torch_call(v, names[i])) return true;
    }
    return false;
}

// Below what keeps the elements.
static const Val *regrouped(const Val *v) {
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        switch ((int)v->op) {
        case OP_VIEW: case OP_FLATTEN: case OP_UNSQUEEZE: case OP_SQUEEZE: case OP_TRANSPOSE:
        case OP_PERMUTE: case OP_CONTIGUOUS: case OP_CLONE: case OP_DETACH: case OP_UNFLATTEN:
            v = v->args[0];
            break;
        default: return v;
        }
    }
    return v;
}

static bool is_whole_dtype(const Val *dtype) {
    return val_is_global(dtype, "torch.int64") || val_is_global(dtype, "torch.int32");
}

const Val *index_source(const Val *v) {
    v = regrouped(v);
    while (v->op == V_CAST && is_whole_dtype(v->args[1])) v = regrouped(v->args[0]);
    if (v->op == V_CALL && is_index_call(v)) return v;
    bool second = (v->op == V_ITEM && val_is_int(v->args[1], 1)) ||
                  (v->op == V_ATTR && strcmp(v->name->text, "indices") == 0);
    return second && is_part_of_call(v->args[0]) ? v->args[0] : NULL;
}

bool is_whole_tensor(const Val *v) {
    v = v ? regrouped(v) : NULL;
    return v && ((v->op == V_CAST && is_whole_dtype(v->args[1])) || index_source(v));
}

bool is_given_tensor(Flow *flow, Val *v) {
    v = val_strip(v);
    if (v->op == V_PARAM && v->node) {
        const Node *a = v->node->u.arg.annotation;
        Str name = !a ? (Str){0}
                   : a->kind == N_ATTRIBUTE ? sym_str(a->u.attribute.attr)
                   : a->kind == N_NAME      ? sym_str(a->u.name.id) : (Str){0};
        Resolved r = flow_resolve(flow, v);
        return str_is(name, "Tensor") && !(r.val && val_is_none(r.val));
    }
    if (v->op != V_ATTR) return v->op > V_CAST;
    const Def *def = object_class(v->args[0]);
    Val *made = def ? object_attr(flow, v->args[0], v->name) : NULL;
    return made && made->op == OP_PARAMETER &&
           attr_change(flow, def, v->name) == ATTR_KEPT;
}
