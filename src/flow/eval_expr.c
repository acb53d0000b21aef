// eval_expr.c - expressions to values. Calls are in eval_call.c.
#include "base/base.h"

#include "flow/builtins.h"
#include "flow/changes.h"
#include "flow/flow.h"
#include "flow/gated.h"
#include "flow/recall.h"

enum { EVAL_MAX_DEPTH = 3000, SEQUENCE_MAX = 512, JOINED_MAX = 1024 };

static Val *opaque(Frame *f) {
    return val_unique(&f->flow->graph, V_OPAQUE, NULL, 0);
}

int val_truth(const Val *v) {
    switch ((int)v->op) {
    case V_CONST:
        switch ((ConstKind)v->ck) {
        case CONST_NONE:
        case CONST_FALSE: return 0;
        case CONST_TRUE:
        case CONST_ELLIPSIS: return 1;
        case CONST_INT:
        case CONST_FLOAT: return v->num != 0;
        case CONST_STR:
        case CONST_BYTES: return v->text.len != 0;
        case CONST_COMPLEX: return -1;
        }
        return -1;
    case V_FUNCTION: case V_CLASS: case V_LAMBDA: case V_METHOD: case V_MODULE:
        return 1;
    case V_TUPLE: case V_LIST:
        return v->nargs != 0;
    default:
        return -1;
    }
}

// ---- names ------------------------------------------------------------------

// math.pi is a number wherever it stands; other external names stay names.
static Val *external(Flow *flow, Str dotted) {
    static const struct {
        const char *name;
        double value;
    } numbers[] = {
        {"math.pi", 3.141592653589793}, {"numpy.pi", 3.141592653589793},
        {"torch.pi", 3.141592653589793}, {"math.tau", 6.283185307179586},
        {"math.e", 2.718281828459045}, {"numpy.e", 2.718281828459045},
        {"torch.e", 2.718281828459045},
    };
    for (size_t i = 0; i < COUNT(numbers); i++) {
        if (str_is(dotted, numbers[i].name)) return val_number(&flow->graph, numbers[i].value);
    }
    return val_global(&flow->graph, dotted);
}

static bool is_constant(const Def *def) {
    return def->kind == DEF_VALUE && def->node->kind == N_CONSTANT;
}

// A name that is bound in several branches of the module. Constants among them are
// switches, known by their name, or stubs (f = None) of what is called elsewhere.
static Val *eval_either(Flow *flow, const Def *def) {
    Def one = *def;
    one.other = NULL;
    if (is_constant(def)) return val_global(&flow->graph, def->dotted);
    Val *all = eval_def(flow, &one);
    for (const Def *other = def->other; other && all; other = other->other) {
        if (is_constant(other)) continue;
        one = *other;
        one.other = NULL;
        Val *v = eval_def(flow, &one);
        if (!v) v = val_unique(&flow->graph, V_OPAQUE, NULL, 0);
        if (v != all) all = op_phi(flow, val_unique(&flow->graph, V_OPAQUE, NULL, 0), all, v);
    }
    return all;
}

Val *eval_def(Flow *flow, const Def *def) {
    Val v = {0};
    if (def->other) return eval_either(flow, def);
    switch (def->kind) {
    case DEF_FUNCTION:
    case DEF_CLASS:
        v.op = def->kind == DEF_CLASS ? V_CLASS : V_FUNCTION;
        v.def = NEW(flow->arena, Def);
        *v.def = *def;
        v.module = def->module;
        return val_intern(&flow->graph, &v);
    case DEF_MODULE:
        v.op = V_MODULE;
        v.ptr = def->module;
        return val_intern(&flow->graph, &v);
    case DEF_EXTERNAL:
        return external(flow, def->dotted);
    case DEF_VALUE: {
        ModuleFlow *mf = flow_module(flow, def->module);
        Val *known = node_val(mf, def->node);
        if (known) return known;
        // Guards x = f(x) at module level.
        node_set_val(mf->frame, def->node, val_unique(&flow->graph, V_OPAQUE, NULL, 0));
        uint32_t from = recall_made_from(flow);
        Val *val = eval_expr(mf->frame, def->node);
        val = value_with_changes(flow, mf, def->node, val);
        node_set_val(mf->frame, def->node, val);
        recall_made_to(flow, from);
        return val;
    }
    case DEF_NONE:
        break;
    }
    return NULL;
}

static Val *read_name(Frame *f, NameInfo *info) {
    Bind *bind = info->bind;
    if (!bind) return NULL;
    if (f->root) bind_used(f, bind, f->nested ? NULL : f->stmt);
    return bind->val;
}

// Looks outward from a nested function; what it reads must stay.
static Val *read_outer(Frame *f, const Sym *name) {
    for (Frame *outer = f->lexical; outer; outer = outer->lexical) {
        NameInfo *info = name_find(&outer->names, (uintptr_t)name);
        if (!info || !info->bind) continue;
        bind_used(outer, info->bind, NULL);
        // A name bound once is that value; otherwise it depends on the time.
        if (info->events.len == 1) return info->bind->val;
        return val_unique(&f->flow->graph, V_OPAQUE, NULL, 0);
    }
    return NULL;
}

// Names that stand for something fixed, once looked up.
struct NameVals {
    struct NameVal {
        const Sym *name;
        Val *val;
    } *at; // open addressing
    uint32_t cap, len;
};

static struct NameVal *find_name_val(const struct NameVals *names, const Sym *name) {
    uint32_t i = name->hash & (names->cap - 1);
    while (names->at[i].name && names->at[i].name != name) i = (i + 1) & (names->cap - 1);
    return &names->at[i];
}

static void keep_name_val(ModuleFlow *mf, Arena *arena, const Sym *name, Val *val) {
    if (!mf->names) mf->names = NEW(arena, struct NameVals);
    struct NameVals *names = mf->names;
    if (names->len * 2 >= names->cap) {
        struct NameVals old = *names;
        names->cap = old.cap ? old.cap * 2 : 32;
        names->at = NEW_N(arena, struct NameVal, names->cap);
        for (uint32_t i = 0; i < old.cap; i++) {
            if (old.at[i].name) *find_name_val(names, old.at[i].name) = old.at[i];
        }
    }
    *find_name_val(names, name) = (struct NameVal){name, val};
    names->len++;
}

// What a name means at module level.
static Val *module_name(Frame *f, const Sym *name) {
    const struct NameVals *names = f->mf->names;
    const struct NameVal *known = names ? find_name_val(names, name) : NULL;
    if (known && known->name) return known->val;
    Def def = project_lookup(f->module, name);
    Val *val = eval_def(f->flow, &def);
    if (!val) val = val_global(&f->flow->graph, sym_str(name)); // a builtin
    // A value may be what is being read just now.
    if (def.kind != DEF_VALUE || def.other) keep_name_val(f->mf, f->flow->arena, name, val);
    return val;
}

// Where the module's constants are switches: such a one by its name.
static Val *switch_name(Frame *f, const Sym *name) {
    Def def = project_lookup(f->module, name);
    bool constant = def.kind == DEF_VALUE && def.node->kind == N_CONSTANT;
    if (!constant) return module_name(f, name);
    return val_global(&f->flow->graph,
                      arena_dotted(f->flow->arena, def.module->dotted, sym_str(name)));
}

Val *eval_lookup(Frame *f, const Sym *name) {
    NameInfo *info = name_find(&f->names, (uintptr_t)name);
    if (info) {
        Val *val = read_name(f, info);
        if (val) return val;
    }
    Val *outer = read_outer(f, name);
    if (outer) return outer;
    return f->flow->flags_open ? switch_name(f, name) : module_name(f, name);
}

// ---- attributes -------------------------------------------------------------

static Val *member_of_module(Frame *f, Val *object, const Sym *name) {
    Module *m = (Module *)(uintptr_t)object->ptr;
    Def owner = {.kind = DEF_MODULE, .module = m, .dotted = m->dotted};
    Def def = project_member(&owner, name);
    Val *val = eval_def(f->flow, &def);
    return val ? val : opaque(f);
}

static Val *read_self_attr(Frame *f, Val *object, const Sym *name) {
    if (!f->attrs || object != f->attrs_self) return NULL;
    recall_taint(f->flow);
    NameInfo *info = name_find(f->attrs, (uintptr_t)name | 1);
    return info && info->bind ? info->bind->val : NULL;
}

static Val *class_member(Frame *f, Val *object, const Sym *name) {
    Val *member = object_attr(f->flow, object, name);
    return member ? member : val_attr(&f->flow->graph, object, name);
}

Val *eval_attribute(Frame *f, Val *object, const Sym *name) {
    Flow *flow = f->flow;
    Graph *g = &flow->graph;
    switch ((int)object->op) {
    case V_GLOBAL:
        if (attr_is_patched(flow, f->mf, object, name)) return opaque(f);
        return external(flow, arena_dotted(flow->arena, object->text, sym_str(name)));
    case V_MODULE:
        return member_of_module(f, object, name);
    case V_CLASS:
    case V_SUPER:
        return class_member(f, object, name);
    default:
        break;
    }
    Val *stored = read_self_attr(f, object, name);
    if (stored) return stored;
    if (name == flow->names.dtype) return op_dtype(flow, object);
    if (name == flow->names.shape) return val_new1(g, V_SHAPE, object);
    if (name == flow->names.ndim && !object_class(object)) return val_new1(g, OP_NDIM, object);
    // A method or property of a known class; other attributes are looked for
    // only when they are called.
    Val *method = object_class(object) ? object_method(flow, object, name) : NULL;
    if (method) {
        Val *value = eval_property(f, method);
        return value ? value : method;
    }
    bool tensor = object->op > V_CAST || object->op == V_CAST || object->op == V_PART;
    if (name == flow->names.data && tensor) return eval_detached(f, object);
    if (name == flow->names.mT) { // the last two axes change places
        Val *args[] = {object, val_int(g, -2), val_int(g, -1)};
        return op_make(flow, OP_TRANSPOSE, args, 3);
    }
    Val *attr = val_attr(g, object, name);
    frame_may_work(f, f->run->changed.len / 256);
    for (uint32_t i = 0; i < f->run->changed.len; i++) {
        if (f->run->changed.at[i] != attr) continue;
        recall_taint(flow);
        return opaque(f);
    }
    return attr;
}

// ---- operators --------------------------------------------------------------

static bool is_sequence(const Val *v) {
    return v->op == V_TUPLE || v->op == V_LIST;
}

// x.shape and x.shape[:-1]: tuples whose length is not known.
static bool is_shape_part(const Val *v) {
    return v->op == V_SHAPE || (v->op == V_ITEM && v->args[0]->op == V_SHAPE &&
                                v->args[1]->op == V_SLICE);
}

Val *val_sequence(Flow *flow, Op op, Val *of) {
    Graph *g = &flow->graph;
    if (is_sequence(of)) return val_new(g, op, of->args, of->nargs);
    return is_shape_part(of) ? val_new1(g, op, val_new1(g, V_STAR, of)) : NULL;
}

// x.shape[:-1] + (-1, 2)  ->  (*x.shape[:-1], -1, 2); (a, b) + (c,)  ->  (a, b, c)
static Val *joined_sequence(Flow *flow, Val *a, Val *b) {
    bool fits = (is_sequence(a) || is_shape_part(a)) && (is_sequence(b) || is_shape_part(b));
    if (!fits || !(is_sequence(a) || is_sequence(b))) return NULL;
    if (is_sequence(a) && is_sequence(b) && a->op != b->op) return NULL;
    Op op = is_sequence(a) ? (Op)a->op : (Op)b->op;
    VEC(Val *) items = {0};
    for (int side = 0; side < 2; side++) {
        Val *part = side ? b : a;
        Val *star = is_sequence(part) ? NULL : val_new1(&flow->graph, V_STAR, part);
        if (star) vec_push(flow->arena, &items, star);
        for (uint32_t i = 0; !star && i < part->nargs && items.len < SEQUENCE_MAX; i++) {
            vec_push(flow->arena, &items, part->args[i]);
        }
    }
    return items.len < SEQUENCE_MAX ? val_new(&flow->graph, op, items.at, items.len) : NULL;
}

static Val *eval_bin(Frame *f, Node *node) {
    Val *a = eval_expr(f, node->u.bin.left);
    Val *b = eval_expr(f, node->u.bin.right);
    static const Op ops[A_OP_COUNT] = {
        [A_ADD] = OP_ADD, [A_SUB] = OP_SUB, [A_MULT] = OP_MUL, [A_DIV] = OP_DIV,
        [A_POW] = OP_POW, [A_MAT_MULT] = OP_MATMUL,
    };
    Op op = ops[node->op];
    Val *joined = node->op == A_ADD ? joined_sequence(f->flow, a, b) : NULL;
    if (joined) return joined;
    if (op == OP_MUL) return gated_product(f->flow, a, b);
    if (op) return op_make(f->flow, op, (Val *[]){a, b}, 2);
    Val v = {.op = V_PYOP, .ck = node->op, .nargs = 2, .args = (Val *[]){a, b}};
    return val_intern(&f->flow->graph, &v);
}

static Val *eval_unary(Frame *f, Node *node) {
    Val *x = eval_expr(f, node->u.unary.operand);
    if (node->op == A_U_SUB) return op_make(f->flow, OP_NEG, &x, 1);
    if (node->op == A_U_ADD) return x;
    if (node->op == A_NOT && val_truth(x) >= 0) {
        return val_bool(&f->flow->graph, !val_truth(x));
    }
    Val v = {.op = V_PYOP, .ck = node->op, .nargs = 1, .args = &x};
    return val_intern(&f->flow->graph, &v);
}

// `a and b`, `a or b`: parts with a known truth are dropped.
static Val *eval_bool_op(Frame *f, Node *node) {
    Arena *arena = f->flow->arena;
    VEC(Val *) parts = {0};
    NodeList values = node->u.bool_op.values;
    int stops = node->op == A_AND ? 0 : 1;
    for (uint32_t i = 0; i < values.len; i++) {
        Val *v = eval_expr(f, values.at[i]);
        int truth = val_truth(v);
        if (truth == stops && parts.len == 0) return v;
        if (truth >= 0 && truth != stops && i + 1 < values.len) continue;
        vec_push(arena, &parts, v);
    }
    if (parts.len == 1) return parts.at[0];
    Val v = {.op = V_PYOP, .ck = node->op, .nargs = parts.len, .args = parts.at};
    return val_intern(&f->flow->graph, &v);
}

static int same_constant(const Val *a, const Val *b) {
    if (a->op != V_CONST || b->op != V_CONST) return -1;
    return a == b;
}

// What is certainly not None, whatever its value.
static bool is_not_none(const Val *v) {
    switch ((int)v->op) {
    case V_CONST: return v->ck != CONST_NONE;
    case V_PARAM: return v->flags & VF_NOT_NONE;
    case V_FUNCTION: case V_CLASS: case V_LAMBDA: case V_METHOD: case V_MODULE:
    case V_INSTANCE: case V_TUPLE: case V_LIST: case V_DICT: case V_CAST:
    case V_SHAPE: case V_SIZE: case V_PART: case V_DTYPE: return true;
    default: return v->op > V_CAST; // results of tensor operators
    }
}

static int compare_known(AstOp op, const Val *a, const Val *b) {
    switch ((int)op) {
    case A_IS:
    case A_IS_NOT: {
        int same = same_constant(a, b);
        if (val_is_none(b) && is_not_none(a)) same = 0;
        if (same < 0) return -1;
        return op == A_IS ? same : !same;
    }
    case A_EQ:
    case A_NOT_EQ: {
        int same = same_constant(a, b);
        if (same < 0 && a == b && a->op != V_OPAQUE) same = 1;
        if (same < 0) return -1;
        return op == A_EQ ? same : !same;
    }
    case A_IN:
    case A_NOT_IN: {
        if (a->op != V_CONST) return -1;
        uint32_t step = b->op == V_DICT ? 2 : 1;
        if (b->op != V_DICT && b->op != V_LIST && b->op != V_TUPLE) return -1;
        bool found = false;
        for (uint32_t i = 0; i < b->nargs; i += step) {
            if (b->args[i]->op != V_CONST) return -1;
            found |= b->args[i] == a;
        }
        return op == A_IN ? found : !found;
    }
    default:
        return -1;
    }
}

static Val *eval_compare(Frame *f, Node *node) {
    Graph *g = &f->flow->graph;
    Val *left = eval_expr(f, node->u.compare.left);
    Val *result = NULL;
    for (uint32_t i = 0; i < node->u.compare.comparators.len; i++) {
        Val *right = eval_expr(f, node->u.compare.comparators.at[i]);
        AstOp op = (AstOp)node->u.compare.ops[i];
        int known = compare_known(op, left, right);
        Val v = {.op = V_PYOP, .ck = (uint8_t)op, .nargs = 2,
                 .args = (Val *[]){left, right}};
        Val *one = known >= 0 ? val_bool(g, known) : val_intern(g, &v);
        Val both = {.op = V_PYOP, .ck = A_AND, .nargs = 2,
                    .args = (Val *[]){result, one}};
        result = result ? val_intern(g, &both) : one;
        left = right;
    }
    return result;
}

// turn = by_halves if c else by_pairs; turn(x): both, under the condition.
Val *call_either(Frame *f, Node *node, Val *phi, Val *const *args, uint32_t nargs) {
    for (int arm = 1; arm <= 2; arm++) {
        Op op = (Op)phi->args[arm]->op;
        if (op != V_FUNCTION && op != V_LAMBDA && op != V_METHOD) return NULL;
    }
    Val *a = call_value(f, node, phi->args[1], args, nargs);
    return op_phi(f->flow, phi->args[0], a, call_value(f, node, phi->args[2], args, nargs));
}

static Val *eval_if_exp(Frame *f, Node *node) {
    Val *cond = eval_expr(f, node->u.if_exp.test);
    int truth = val_truth(cond);
    if (truth == 1) return eval_expr(f, node->u.if_exp.body);
    if (truth == 0) return eval_expr(f, node->u.if_exp.orelse);
    uint32_t mark = names_mark(f);
    NameChanges then, orelse;
    Val *a = eval_expr(f, node->u.if_exp.body);
    names_rewind(&then, f, mark); // the other arm sees nothing of what this one changed
    Val *b = eval_expr(f, node->u.if_exp.orelse);
    names_rewind(&orelse, f, mark);
    names_join(f, &then, &orelse, cond);
    return op_phi(f->flow, cond, a, b);
}

// ---- displays ---------------------------------------------------------------

static Val *eval_sequence(Frame *f, Node *node, Op op) {
    NodeList elts = node->u.list.elts;
    Val **items = NEW_N(f->flow->arena, Val *, elts.len + 1);
    for (uint32_t i = 0; i < elts.len; i++) items[i] = eval_expr(f, elts.at[i]);
    return val_new(&f->flow->graph, op, items, elts.len);
}

static Val *eval_dict(Frame *f, Node *node) {
    NodeList keys = node->u.dict.keys, values = node->u.dict.values;
    VEC(Val *) items = {0};
    for (uint32_t i = 0; i < keys.len; i++) {
        Val *value = eval_expr(f, values.at[i]);
        if (keys.at[i]) {
            vec_push(f->flow->arena, &items, eval_expr(f, keys.at[i]));
            vec_push(f->flow->arena, &items, value);
        } else if (value->op == V_DICT && value->nargs + items.len <= DICT_MERGED_MAX) {
            for (uint32_t k = 0; k < value->nargs; k++) {
                vec_push(f->flow->arena, &items, value->args[k]);
            }
        } else {
            return opaque(f);
        }
    }
    return val_new(&f->flow->graph, V_DICT, items.at, items.len);
}

typedef struct Bound {
    const Sym *name;
    bool found;
} Bound;

static bool find_bound(Node *node, void *data) {
    Bound *bound = data;
    if (node->kind == N_NAME && node->u.name.id == bound->name) bound->found = true;
    return !bound->found && node_children(node, find_bound, data);
}

// Whether the comprehension binds the name for itself.
static bool comprehension_binds(const Node *node, uintptr_t key) {
    Bound bound = {.name = (const Sym *)key};
    for (uint32_t i = 0; i < node->u.comp.generators.len; i++) {
        find_bound(node->u.comp.generators.at[i]->u.comprehension.target, &bound);
    }
    return bound.found;
}

// [g(t) for t in (q, k)]: what it gives for each item, or NULL. A generator that hands
// its items on is what it reads.
static Val *comprehended(Frame *f, Node *node, Val *iter) {
    const Node *gen = node->u.comp.generators.at[0];
    Node *target = gen->u.comprehension.target, *elt = node->u.comp.elt;
    bool list = node->kind == N_LIST_COMP, lazy = node->kind == N_GENERATOR_EXP;
    if (node->u.comp.generators.len != 1 || gen->u.comprehension.ifs.len) return NULL;
    if (lazy && elt->kind == N_NAME && target->kind == N_NAME &&
        elt->u.name.id == target->u.name.id) {
        return iter;
    }
    bool known = iter->op == V_TUPLE || iter->op == V_LIST;
    if (!(list || lazy) || !known || iter->nargs > MAPPED_MAX) return NULL;
    Val *out[MAPPED_MAX];
    for (uint32_t i = 0; i < iter->nargs; i++) {
        if (iter->args[i]->op == V_STAR) return NULL;
    }
    for (uint32_t i = 0; i < iter->nargs; i++) {
        assign_target(f, target, iter->args[i]);
        out[i] = eval_expr(f, elt);
    }
    return val_new(&f->flow->graph, list ? V_LIST : V_TUPLE, out, iter->nargs);
}

static Val *comprehended_once(Frame *f, Node *node, Val *iter) {
    for (uint32_t i = 0; i < node->u.comp.generators.len; i++) {
        Node *gen = node->u.comp.generators.at[i];
        if (i) iter = eval_expr(f, gen->u.comprehension.iter);
        Val *item = val_unique(&f->flow->graph, V_ITEM, (Val *[]){iter, opaque(f)}, 2);
        assign_target(f, gen->u.comprehension.target, item);
        for (uint32_t k = 0; k < gen->u.comprehension.ifs.len; k++) {
            eval_expr(f, gen->u.comprehension.ifs.at[k]);
        }
    }
    Val *elt = eval_expr(f, node->u.comp.elt);
    if (node->u.comp.value) eval_expr(f, node->u.comp.value);
    return val_unique(&f->flow->graph, V_OPAQUE, &elt, 1);
}

static Val *eval_comprehension(Frame *f, Node *node) {
    uint32_t mark = names_mark(f); // a comprehension has names of its own
    f->nested++;
    Val *iter = eval_expr(f, node->u.comp.generators.at[0]->u.comprehension.iter);
    Val *value = comprehended(f, node, iter);
    if (!value) value = comprehended_once(f, node, iter);
    f->nested--;
    NameChanges inner, kept = {0};
    names_rewind(&inner, f, mark);
    for (uint32_t i = 0; i < inner.len; i++) { // [t.add_(1) for t in (x, y)] changes x
        const NameChange *c = &inner.at[i];
        bool own = c->table == &f->names && comprehension_binds(node, c->info->key);
        if (!own) vec_push(f->flow->arena, &kept, *c);
    }
    names_apply(f, &kept);
    return value;
}

static Val *eval_slice(Frame *f, Node *node) {
    Graph *g = &f->flow->graph;
    Node *parts[] = {node->u.slice.lower, node->u.slice.upper, node->u.slice.step};
    Val *vals[3];
    for (int i = 0; i < 3; i++) {
        vals[i] = parts[i] ? eval_expr(f, parts[i]) : val_none(g);
    }
    return val_new(g, V_SLICE, vals, 3);
}

static Val *eval_lambda(Frame *f, Node *node) {
    Val *lambda = val_unique(&f->flow->graph, V_LAMBDA, NULL, 0);
    lambda->ptr = f;
    lambda->node = node;
    lambda->module = f->module;
    return lambda;
}

// The text of a string, of either arm of a choice between two, or NULL.
static const Val *string_arm(const Val *v, int arm) {
    if (v->op == V_PHI) v = v->args[1 + arm];
    return v->op == V_CONST && v->ck == CONST_STR ? v : NULL;
}

// A string, or a choice between two, behind what stands before it, `made`: both under
// the same condition. NULL where it is neither.
static Val *join_string(Frame *f, Val *made, Val *part) {
    bool choice = made->op == V_PHI || part->op == V_PHI;
    if (made->op == V_PHI && part->op == V_PHI && made->args[0] != part->args[0]) return NULL;
    Val *arms[2];
    for (int i = 0; i < (choice ? 2 : 1); i++) {
        const Val *a = string_arm(made, i), *b = string_arm(part, i);
        if (!a || !b || a->text.len + b->text.len > JOINED_MAX) return NULL;
        Str text = arena_printf(f->flow->arena, "%.*s%.*s", STR_FMT(a->text), STR_FMT(b->text));
        arms[i] = val_str(&f->flow->graph, text);
    }
    if (!choice) return arms[0];
    return op_phi(f->flow, (made->op == V_PHI ? made : part)->args[0], arms[0], arms[1]);
}

// f"b i d, {keys} -> b i j": a string where all that it fills in are strings.
static Val *eval_joined(Frame *f, Node *node) {
    NodeList parts = node->u.joined.values;
    Val *made = val_str(&f->flow->graph, (Str){0});
    for (uint32_t i = 0; i < parts.len; i++) {
        Node *part = parts.at[i];
        bool filled = part->kind == N_FORMATTED_VALUE, plain = !filled;
        if (filled) plain = !part->op && !part->u.formatted.format_spec;
        Val *val = eval_expr(f, filled ? part->u.formatted.value : part);
        if (filled && part->u.formatted.format_spec) eval_expr(f, part->u.formatted.format_spec);
        made = made && plain ? join_string(f, made, val) : NULL;
    }
    return made ? made : opaque(f);
}

static bool eval_part(Node *child, void *data) {
    if (!node_is_statement(child)) eval_expr(data, child);
    return true;
}

// Anything else: its parts are read, its value is unknown.
static Val *eval_other(Frame *f, Node *node) {
    node_children(node, eval_part, f);
    return opaque(f);
}

static Val *eval_inner(Frame *f, Node *node) {
    Graph *g = &f->flow->graph;
    switch ((int)node->kind) {
    case N_CONSTANT:
        return val_const(g, (ConstKind)node->op, node->u.constant.text);
    case N_NAME: return eval_lookup(f, node->u.name.id);
    case N_ATTRIBUTE:
        return eval_attribute(f, eval_expr(f, node->u.attribute.value),
                              node->u.attribute.attr);
    case N_SUBSCRIPT: {
        Val *object = eval_expr(f, node->u.subscript.value);
        return eval_item(f, object, eval_expr(f, node->u.subscript.slice));
    }
    case N_BIN_OP: return eval_bin(f, node);
    case N_UNARY_OP: return eval_unary(f, node);
    case N_BOOL_OP: return eval_bool_op(f, node);
    case N_COMPARE: return eval_compare(f, node);
    case N_IF_EXP: return eval_if_exp(f, node);
    case N_CALL: return eval_call(f, node);
    case N_LAMBDA: return eval_lambda(f, node);
    case N_TUPLE: return eval_sequence(f, node, V_TUPLE);
    case N_LIST: return eval_sequence(f, node, V_LIST);
    case N_DICT: return eval_dict(f, node);
    case N_LIST_COMP: case N_SET_COMP: case N_DICT_COMP: case N_GENERATOR_EXP:
        return eval_comprehension(f, node);
    case N_SLICE: return eval_slice(f, node);
    case N_STARRED:
        return val_new1(g, V_STAR, eval_expr(f, node->u.return_.value));
    case N_NAMED_EXPR: {
        Val *value = eval_expr(f, node->u.named.value);
        assign_target(f, node->u.named.target, value);
        return value;
    }
    case N_JOINED_STR: return eval_joined(f, node);
    default: return eval_other(f, node);
    }
}

Val *eval_expr(Frame *f, Node *node) {
    Flow *flow = f->flow;
    if (flow->depth >= EVAL_MAX_DEPTH || !frame_may_work(f, 1)) {
        f->truncated = true;
        recall_taint(flow);
        return opaque(f);
    }
    flow->depth++;
    Val *val = eval_inner(f, node);
    flow->depth--;
    // Of a cast that an equivalence put outside, what is below was computed here, too.
    for (Val *made = val; !made->node; made = made->args[0]) {
        made->node = node;
        made->module = f->module;
        if (made->op != V_CAST) break;
    }
    if (!f->root) return val;
    node_set_val(f, node, val);
    if (node->kind == N_BIN_OP || node->kind == N_CALL) {
        EvalRecord record = {node, val, f->stmt, f->nested > 0};
        vec_push(f->flow->arena, &f->evals, record);
    }
    return val;
}
