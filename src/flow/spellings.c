// spellings.c - operators under Python's own names and under those of ATen:
//
//   x.__mul__(y), operator.mul(x, y)  ->  x * y;  x.__rsub__(y)  ->  y - x
//   x.__iadd__(y), operator.iadd(x, y)  ->  x + y, and x changes
//   torch.ops.aten.mean.dim(x, [-1], True)  ->  torch.mean(x, [-1], True)
#include "base/base.h"

#include "flow/spellings.h"

typedef struct Named {
    const char *name;
    Op op;       // V_PYOP: what Python computes, `kind`
    AstOp kind;
} Named;

static const Named binary[] = {
    {"add", OP_ADD, A_ADD}, {"sub", OP_SUB, A_SUB}, {"mul", OP_MUL, A_MULT},
    {"truediv", OP_DIV, A_DIV}, {"pow", OP_POW, A_POW}, {"matmul", OP_MATMUL, A_MAT_MULT},
    {"floordiv", V_PYOP, A_FLOOR_DIV}, {"mod", V_PYOP, A_MOD}, {"and_", V_PYOP, A_BIT_AND},
    {"or_", V_PYOP, A_BIT_OR}, {"and", V_PYOP, A_BIT_AND}, {"or", V_PYOP, A_BIT_OR},
    {"eq", V_PYOP, A_EQ}, {"ne", V_PYOP, A_NOT_EQ}, {"lt", V_PYOP, A_LT}, {"le", V_PYOP, A_LT_E},
    {"gt", V_PYOP, A_GT}, {"ge", V_PYOP, A_GT_E},
};

static const Named *find_binary(Str name) {
    for (size_t i = 0; i < COUNT(binary); i++) {
        if (str_is(name, binary[i].name)) return &binary[i];
    }
    return NULL;
}

bool is_comparison(Str method) {
    const Named *named = find_binary(method);
    return named && named->op == V_PYOP && named->kind >= A_EQ;
}

static Val *make_binary(Frame *f, const Named *named, Val *a, Val *b) {
    Val *operands[] = {a, b};
    if (named->op != V_PYOP) return op_make(f->flow, named->op, operands, 2);
    Val v = {.op = V_PYOP, .ck = (uint8_t)named->kind, .nargs = 2, .args = operands};
    return val_intern(&f->flow->graph, &v);
}

static bool is_plain(const Val *v) {
    return v->op != V_KEYWORD && v->op != V_STAR && v->op != V_TUPLE && v->op != V_LIST &&
           v->op != V_SHAPE;
}

static Val *unary(Frame *f, Str name, Val *x) {
    if (str_is(name, "neg")) return op_make(f->flow, OP_NEG, &x, 1);
    if (str_is(name, "abs")) return op_make(f->flow, OP_ABS, &x, 1);
    if (str_is(name, "pos")) return x;
    if (!str_is(name, "invert") && !str_is(name, "inv")) return NULL;
    Val v = {.op = V_PYOP, .ck = A_INVERT, .nargs = 1, .args = &x};
    return val_intern(&f->flow->graph, &v);
}

// x *= y by its function: the tensor changes, and is what the call gives.
static Val *in_place(Frame *f, const Named *named, Val *x, Val *y) {
    Val *value = make_binary(f, named, x, y);
    if (val_is_number(x) || x->op == V_SIZE || x->op == V_CONST) return value;
    eval_mutation(f, x);
    value = op_cast(f->flow, value, op_dtype(f->flow, x));
    eval_renewed(f, x, value);
    return value;
}

Val *python_operator(Frame *f, Str name, Val *const *operands, uint32_t count) {
    if (name.len > 4 && str_starts(name, "__")) {
        if (!str_is((Str){name.at + name.len - 2, 2}, "__")) return NULL;
        name = (Str){name.at + 2, name.len - 4};
    }
    bool sets = str_is(name, "setitem") || str_is(name, "delitem");
    if (sets && count) eval_mutation(f, operands[0]);
    if (count == 0 || count > 2) return NULL;
    bool item = str_is(name, "getitem") && count == 2 && operands[1]->op != V_KEYWORD;
    if (item) return eval_item(f, operands[0], operands[1]);
    for (uint32_t i = 0; i < count; i++) {
        if (!is_plain(operands[i])) return NULL;
    }
    if (count == 1) return unary(f, name, operands[0]);
    const Named *named = find_binary(name);
    if (named) return make_binary(f, named, operands[0], operands[1]);
    named = find_binary((Str){name.at + 1, name.len - 1});
    if (!named || (name.at[0] != 'r' && name.at[0] != 'i')) return NULL;
    if (name.at[0] == 'r') return make_binary(f, named, operands[1], operands[0]);
    return in_place(f, named, operands[0], operands[1]);
}

Str aten_function(Str dotted) {
    static const char prefix[] = "torch.ops.aten.";
    if (!str_starts(dotted, prefix)) return (Str){0};
    Str name = {dotted.at + sizeof(prefix) - 1, dotted.len - (sizeof(prefix) - 1)};
    const char *overload = memchr(name.at, '.', name.len);
    return overload ? (Str){name.at, (size_t)(overload - name.at)} : name;
}

Str torch_spelling(const OpTable *ops, Arena *arena, Str aten) {
    static const char *const modules[] = {"torch", "torch.nn.functional"};
    for (size_t i = 0; i < COUNT(modules); i++) {
        Str dotted = arena_dotted(arena, str_of(modules[i]), aten);
        if (ops_find(ops, dotted)) return dotted;
    }
    return (Str){0};
}
