// storage.c - which values may hold the same numbers.
//
// An in-place operator changes a tensor under every name that leads to it. Each value
// is followed to what it may be a view of: through views, items, arms of a choice,
// lists, and functions of torch and Python that hand on what they are given. Other
// functions are taken to make something new.
#include "base/base.h"

#include "flow/storage.h"

enum { WALK_MAX = 200 }; // values looked at for one question

typedef struct Walk {
    Roots *out;
    uint32_t steps;
} Walk;

// By the last part of the name: x.ravel() and torch.ravel(x).
static bool hands_on(Str name) {
    static const char *const names[] = {
        "ravel", "movedim", "moveaxis", "swapaxes", "swapdims", "t", "adjoint", "expand_as",
        "view_as", "broadcast_to", "broadcast_tensors", "diagonal", "unfold", "as_strided",
        "hsplit", "vsplit", "dsplit", "tensor_split", "unsafe_split", "unsafe_chunk",
        "split_with_sizes", "squeeze", "atleast_1d", "atleast_2d", "atleast_3d", "real", "imag",
        "conj", "resolve_conj", "resolve_neg", "positive", "as_tensor", "asarray", "from_numpy",
        "numpy", "requires_grad_", "cpu", "cuda", "npu", "to", "pin_memory", "storage",
        "untyped_storage", "set_", "as_subclass", "rename", "align_to", "values", "alias",
        "__getitem__", "Parameter", "Buffer", "dropout1d", "dropout2d", "dropout3d",
        "alpha_dropout", "rearrange", "get", "pop", "items",
    };
    for (size_t i = 0; i < COUNT(names); i++) {
        if (str_is(name, names[i])) return true;
    }
    return false;
}

// Python's own, by the whole name.
static bool python_hands_on(Str name) {
    static const char *const names[] = {
        "iter", "next", "list", "tuple", "zip", "enumerate", "reversed", "max", "min", "sorted",
        "map", "filter", "dict", "copy.copy", "getattr", "itertools.chain", "itertools.islice",
        "typing.cast",
    };
    for (size_t i = 0; i < COUNT(names); i++) {
        if (str_is(name, names[i])) return true;
    }
    return false;
}

// nn.Identity()(x): modules of torch that give x itself or a view of it.
static bool module_hands_on(Str name) {
    static const char *const names[] = {
        "torch.nn.Identity", "torch.nn.Flatten", "torch.nn.Unflatten", "torch.nn.Dropout1d",
        "torch.nn.Dropout2d", "torch.nn.Dropout3d", "torch.nn.AlphaDropout",
    };
    for (size_t i = 0; i < COUNT(names); i++) {
        if (str_is(name, names[i])) return true;
    }
    return false;
}

bool call_may_share(const Val *call) {
    const Val *callee = call->args[0];
    switch ((int)callee->op) {
    case V_ATTR: return hands_on(sym_str(callee->name));
    case V_INSTANCE: return !callee->def && module_hands_on(callee->text);
    case V_GLOBAL: break;
    default: return false;
    }
    if (python_hands_on(callee->text)) return true;
    bool library = str_starts(callee->text, "torch.") || str_starts(callee->text, "numpy.") ||
                   str_starts(callee->text, "einops.");
    return library && hands_on(str_last_part(callee->text));
}

// x.T, x.data: `self.data` is no view of self.
static bool is_view_name(const Sym *name) {
    static const char *const names[] = {"data", "T", "H", "mT", "mH", "real", "imag", "values"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (str_is(sym_str(name), names[i])) return true;
    }
    return false;
}

static void walk(Walk *w, const Val *v);

static void walk_all(Walk *w, Val *const *args, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) walk(w, args[i]);
}

static void add_root(Walk *w, const Val *v) {
    if (w->out->len < ROOTS_MAX && !roots_hold(w->out, v)) w->out->at[w->out->len++] = v;
}

static void walk_attr(Walk *w, const Val *v) {
    const Val *object = v->args[0];
    if (object->op == V_INSTANCE) walk(w, object);
    else if (is_view_name(v->name) && !object_class((Val *)(uintptr_t)object)) walk(w, object);
    add_root(w, v);
}

static void walk_call(Walk *w, const Val *v) {
    if (!call_may_share(v)) {
        add_root(w, v);
        return;
    }
    const Val *callee = v->args[0];
    if (callee->op == V_ATTR) walk(w, callee->args[0]);
    walk_all(w, v->args + 1, v->nargs - 1);
}

static void walk(Walk *w, const Val *v) {
    if (++w->steps > WALK_MAX) return;
    switch ((int)v->op) {
    case V_CAST: case V_PART: case V_ITEM: case OP_VIEW: case OP_TRANSPOSE: case OP_PERMUTE:
    case OP_UNSQUEEZE: case OP_SQUEEZE: case OP_EXPAND: case OP_CONTIGUOUS: case OP_FLATTEN:
    case OP_UNFLATTEN: case OP_CHUNK: case OP_SPLIT: case OP_TENSOR_SPLIT: case OP_NARROW:
    case OP_SELECT: case OP_DETACH: case OP_UNBIND: case OP_STRIDED: case OP_VIEW_AS_COMPLEX:
    case OP_VIEW_AS_REAL: case OP_RESHAPE_AS: case OP_DROPOUT: case OP_PARAMETER:
    case V_KEYWORD: case V_STAR:
        walk(w, v->args[0]);
        break;
    case V_PHI: walk_all(w, v->args + 1, 2); break;
    case V_TUPLE: case V_LIST: case V_DICT: case V_INSTANCE:
        add_root(w, v);
        walk_all(w, v->args, v->nargs);
        break;
    case V_OPAQUE: // of a comprehension; after a change or a loop
        add_root(w, v);
        walk_all(w, v->args, v->nargs);
        if (v->ptr) walk(w, v->ptr);
        break;
    case V_PYOP: // a or b
        add_root(w, v);
        if (v->ck == A_AND || v->ck == A_OR) walk_all(w, v->args, v->nargs);
        break;
    case V_ATTR: walk_attr(w, v); break;
    case V_CALL: walk_call(w, v); break;
    case V_CONST: case V_SHAPE: case V_SIZE: case V_DTYPE: case V_SLICE: break;
    default: add_root(w, v); break;
    }
}

void roots_of(Roots *out, const Val *v) {
    out->len = 0;
    Walk w = {.out = out};
    walk(&w, v);
}

// One value, whatever is assumed of it.
static bool same_value(const Val *a, const Val *b) {
    if (a == b) return true;
    if (!a->assume && !b->assume) return false;
    if (a->op != b->op || a->nargs != b->nargs || a->ptr != b->ptr) return false;
    if (a->name != b->name || a->ck != b->ck || a->op == V_OPAQUE) return false;
    return a->nargs == 0 ? a->node == b->node
                         : memcmp(a->args, b->args, sizeof(*a->args) * a->nargs) == 0;
}

bool roots_hold(const Roots *roots, const Val *root) {
    for (uint32_t i = 0; i < roots->len; i++) {
        if (same_value(roots->at[i], root)) return true;
    }
    return false;
}

// Below views that keep every element: a part of its own, or NULL.
static const Val *part_below(const Val *v) {
    for (int depth = 0; depth < 16; depth++) {
        switch ((int)v->op) {
        case V_CAST: case OP_VIEW: case OP_TRANSPOSE: case OP_PERMUTE: case OP_UNSQUEEZE:
        case OP_SQUEEZE: case OP_CONTIGUOUS: case OP_FLATTEN: case OP_UNFLATTEN: case OP_DETACH:
            v = v->args[0];
            break;
        case V_PART: case OP_STRIDED: return v;
        case V_ITEM: {
            const Val *of = v->args[0];
            bool splits = of->op == OP_UNBIND || of->op == OP_CHUNK || of->op == OP_SPLIT ||
                          of->op == OP_TENSOR_SPLIT;
            return splits && val_is_number(v->args[1]) && v->args[1]->num >= 0 ? v : NULL;
        }
        default: return NULL;
        }
    }
    return NULL;
}

bool storage_apart(const Val *a, const Val *b) {
    a = part_below(a);
    b = part_below(b);
    if (!a || !b || a->op != b->op || a->args[0] != b->args[0]) return false;
    switch ((int)a->op) {
    case V_PART: // x, axis, index, count
        return a->args[1] == b->args[1] && a->args[3] == b->args[3] && a->args[2] != b->args[2];
    case OP_STRIDED: // x, start, step
        return a->args[2] == b->args[2] && a->args[1] != b->args[1];
    default: return a->args[1] != b->args[1];
    }
}

bool roots_meet(const Roots *a, const Roots *b) {
    for (uint32_t i = 0; i < a->len; i++) {
        if (roots_hold(b, a->at[i])) return true;
    }
    return false;
}
