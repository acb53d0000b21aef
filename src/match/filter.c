// filter.c - marks of names, followed through the calls within a module.
#include "base/base.h"

#include "match/filter.h"

#include <stdio.h>

#include "match/signals.h"
#include "match/training.h"

enum {
    MARK_OPEN = 1u << 31,  // a call of something unknown
    MARK_FUSED = 1u << 30, // torch_npu, operators of plain torch
    MARK_MOE = 1u << 29,   // what routers and loops over experts cannot do without
    MARK_TRAINING = 1u << 28, // optimizers, clipping, cross entropy
    MARK_SIGNAL = 1u << 27, // see match/signals.h
    MARK_ANCHOR = MARK_FIRST_FREE, // what rules with a product cannot do without
    FILTER_MAX_DEPTH = 12,
    ROWS_DEPTH = 3000, // of nested expressions
    FILTER_MAX_CALLS = 500 * 1000, // followed in a module, then all may pass
};

// ---- anchors ----------------------------------------------------------------

// Operators that an equivalence turns into `op` (equiv.c, factors.c), besides
// itself. Keep in step with them.
static const struct {
    Op op, sources[8];
} made_from[] = {
    {OP_RSQRT, {OP_SQRT, OP_POW, OP_FLOAT_POWER, OP_NORM, OP_VECTOR_NORM, OP_RECIPROCAL}},
    {OP_SQRT, {OP_POW, OP_FLOAT_POWER, OP_NORM, OP_VECTOR_NORM, OP_RSQRT}},
    {OP_SIGMOID, {OP_EXP}},
    {OP_SOFTMAX, {OP_EXP, OP_LOG_SOFTMAX}},
    {OP_GELU, {OP_TANH, OP_ERF}},
    {OP_SILU, {OP_SIGMOID, OP_EXP}},
    {OP_MASKED_FILL, {OP_WHERE}},
    {OP_WEAVE, {OP_STACK, OP_CAT, OP_REPEAT_INTERLEAVE}},
};

// x.__pow__(y), its reflected form, and x.__ipow__(y).
static void mark_dunders(SymTable *symbols, Str name, uint32_t mark) {
    static const char *const before[] = {"__", "__r", "__i"};
    for (size_t i = 0; i < COUNT(before); i++) {
        char text[64];
        int n = snprintf(text, sizeof(text), "%s%.*s__", before[i], STR_FMT(name));
        if (n > 0 && (size_t)n < sizeof(text)) sym_mark(symbols, (Str){text, (size_t)n}, mark);
    }
}

static void mark_op(SymTable *symbols, const OpTable *ops, Op op, uint32_t mark) {
    for (uint32_t i = 0; i < ops->cap; i++) {
        if (!ops->slots[i].info || ops->slots[i].info->op != op) continue;
        Str name = str_last_part(ops->slots[i].text);
        sym_mark(symbols, name, mark);
        char inplace[64]; // x.rsqrt_()
        if (name.len + 1 >= sizeof(inplace)) continue;
        memcpy(inplace, name.at, name.len);
        inplace[name.len] = '_';
        sym_mark(symbols, (Str){inplace, name.len + 1}, mark);
        if (str_starts(ops->slots[i].text, "operator.")) mark_dunders(symbols, name, mark);
    }
    static const struct {
        Op op;
        const char *module; // or a library's function that is made of it
    } modules[] = {
        {OP_SILU, "SiLU"}, {OP_GELU, "GELU"}, {OP_SIGMOID, "Sigmoid"},
        {OP_SOFTMAX, "Softmax"}, {OP_LAYER_NORM, "LayerNorm"}, {OP_GROUP_NORM, "GroupNorm"},
        {OP_CAT, "rotate_half"}, // of transformers, see flow/libraries.h
    };
    for (size_t i = 0; i < COUNT(modules); i++) {
        if (modules[i].op == op) sym_mark(symbols, str_of(modules[i].module), mark);
    }
}

static bool is_anchor(uint16_t op) {
    static const Op plain[] = {
        OP_MUL, OP_ADD, OP_SUB, OP_DIV, OP_NEG, OP_POW, OP_MEAN, OP_SUM, OP_VIEW,
        OP_TRANSPOSE, OP_CHUNK, OP_SPLIT, OP_FLATTEN, OP_UNFLATTEN, OP_STRIDED,
        OP_UNSQUEEZE,
    };
    if (op <= V_CAST) return false;
    for (size_t i = 0; i < COUNT(plain); i++) {
        if (plain[i] == op) return false;
    }
    return true;
}

static void collect_anchors(const Val *v, uint64_t *ops, int depth) {
    if (depth > 24) return;
    if (is_anchor(v->op)) ops[v->op / 64] |= UINT64_C(1) << (v->op % 64);
    for (uint32_t i = 0; i < v->nargs; i++) collect_anchors(v->args[i], ops, depth + 1);
}

// An operator of a rule without a product. 22 bits are shared by them; a clash only lets more
// through.
static uint32_t mark_of(Filter *out, Op op) {
    if (!out->mark_of_op[op]) {
        out->mark_of_op[op] = (uint32_t)MARK_ANCHOR << (1 + out->marked_ops++ % 22);
    }
    return out->mark_of_op[op];
}

static void mark_anchor(const Filter *out, SymTable *symbols, Op op, uint32_t mark) {
    mark_op(symbols, out->rules->flow.ops, op, mark);
    for (size_t i = 0; i < COUNT(made_from); i++) {
        if (made_from[i].op != op) continue;
        for (size_t k = 0; k < COUNT(made_from[i].sources) && made_from[i].sources[k]; k++) {
            mark_op(symbols, out->rules->flow.ops, made_from[i].sources[k], mark);
        }
    }
}

static bool has_product(const Val *v, int depth) {
    if (v->op == OP_MUL || depth > 24) return true;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (has_product(v->args[i], depth + 1)) return true;
    }
    return false;
}

// x.unflatten(-1, (-1, 1, 2))[..., i], in the form that it gets
static bool takes_rows(const Val *v, int depth) {
    if (v->op == OP_UNSQUEEZE && v->args[0]->op == OP_STRIDED) return true;
    if (v->op == OP_UNFLATTEN && v->args[2]->nargs == 3) return true;
    if (depth > 24) return false;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (takes_rows(v->args[i], depth + 1)) return true;
    }
    return false;
}

// A rule without a product: what a function needs, all of it.
static void add_rooted(Filter *out, uint32_t marks) {
    for (uint32_t i = 0; i < out->rooted_count; i++) {
        if (out->rooted[i] == marks) return;
    }
    if (out->rooted_count == FILTER_ROOTED_MAX) {
        out->open = true;
        return;
    }
    out->rooted[out->rooted_count++] = marks;
}

static void add_spec(Filter *out, SymTable *symbols, const Spec *spec) {
    uint64_t ops[OP_COUNT / 64 + 1] = {0};
    bool attends = spec->pattern->op == OP_ATTEND, any = false;
    bool product = attends || has_product(spec->pattern, 0);
    uint32_t all = 0;
    if (attends) {
        ops[OP_SOFTMAX / 64] |= UINT64_C(1) << (OP_SOFTMAX % 64);
        ops[OP_SDPA / 64] |= UINT64_C(1) << (OP_SDPA % 64);
    } else {
        collect_anchors(spec->pattern, ops, 0);
    }
    for (uint32_t op = 0; op < OP_COUNT; op++) {
        if (!(ops[op / 64] >> (op % 64) & 1)) continue;
        any = true;
        uint32_t mark = product ? (uint32_t)MARK_ANCHOR : mark_of(out, (Op)op);
        mark_anchor(out, symbols, (Op)op, mark);
        all |= mark;
    }
    if (any && !product) {
        if (spec->sums) all |= MARK_SUM;
        add_rooted(out, all);
    }
    bool rows = !any && takes_rows(spec->pattern, 0);
    out->rows |= rows;
    bool rooted = product || is_anchor(spec->pattern->op);
    if ((!any && !rows) || !rooted) out->open = true;
}

void filter_init(Filter *out, const RuleSet *rules, SymTable *symbols) {
    *out = (Filter){.rules = rules, .fused = MARK_FUSED, .training = MARK_TRAINING,
                     .signals = MARK_SIGNAL};
    signals_mark(symbols, MARK_SIGNAL);
    training_mark(symbols, MARK_TRAINING);
    static const char *const products[] = {
        "mul", "mul_", "multiply", "multiply_", "div", "div_", "divide", "divide_",
        "true_divide", "prod", "addcmul", "addcmul_", "truediv", "imul", "itruediv", "imatmul",
        "matmul", "mm", "bmm",
        "baddbmm", "einsum", "contract", "scaled_dot_product_attention",
    };
    for (size_t i = 0; i < COUNT(products); i++) {
        sym_mark(symbols, str_of(products[i]), MARK_PRODUCT);
    }
    static const char *const operators[] = {"mul", "truediv", "matmul"};
    for (size_t i = 0; i < COUNT(operators); i++) {
        mark_dunders(symbols, str_of(operators[i]), MARK_PRODUCT);
    }
    static const char *const sums[] = {"add", "add_"};
    for (size_t i = 0; i < COUNT(sums); i++) sym_mark(symbols, str_of(sums[i]), MARK_SUM);
    sym_mark(symbols, STR("torch_npu"), MARK_FUSED);
    // Halves written into a new tensor, pairs by einops: what turns.c looks for has no
    // other operator.
    static const char *const written[] = {"empty_like", "zeros_like", "new_empty", "clone",
                                          "empty", "zeros", "rearrange", "_softmax"};
    for (size_t i = 0; i < COUNT(written); i++) {
        sym_mark(symbols, str_of(written[i]), MARK_ANCHOR);
    }
    static const char *const moe[] = {"topk", "index_add_", "index_add", "scatter_add_",
                                      "scatter_add", "scatter_reduce_", "nonzero", "where",
                                      "argwhere", "argsort", "sort", "bincount", "one_hot",
                                      "split", "argmax", "index_put_", "bmm", "einsum"};
    for (size_t i = 0; i < COUNT(moe); i++) sym_mark(symbols, str_of(moe[i]), MARK_MOE);
    for (uint32_t r = 0; r < rules->rules.len; r++) {
        const Rule *rule = rules->rules.at[r];
        if (rule->plain_torch) sym_mark(symbols, rule->operator_, MARK_FUSED);
        for (uint32_t s = 0; s < rule->spec_count; s++) {
            add_spec(out, symbols, &rule->specs[s]);
        }
    }
}

bool filter_may_pass(const Filter *filter, const Module *module) {
    uint32_t few = MARK_FUSED | MARK_TRAINING | MARK_SIGNAL | MARK_POWER;
    return filter->open || (module->parsed.marks & ~few);
}

// ---- one module -------------------------------------------------------------

typedef struct NamedMarks { // what a name of the module may stand for
    const Sym *name;
    VEC(Node *) functions; // functions and methods of this name
    VEC(Node *) classes;
    VEC(Node *) values; // right sides of self.name = value
    uint32_t marks, near; // of all these, once known; near: see near_marks
    bool known, near_known, running;
    struct NamedMarks *next;
} NamedMarks;

struct FilterModule {
    const Filter *filter;
    Arena *arena;
    Module *module;
    NamedMarks *slots[256];
    bool rows, rows_known; // pairs as rows, see has_rows
    int depth;
    uint32_t calls;
    bool near;        // while near_marks runs ...
    const Def *owner; // ... for a method of this class, or NULL
};

static NamedMarks *find_name(FilterModule *fm, const Sym *name, bool make) {
    NamedMarks **slot = &fm->slots[name->hash & 255];
    for (NamedMarks *n = *slot; n; n = n->next) {
        if (n->name == name) return n;
    }
    if (!make) return NULL;
    NamedMarks *n = NEW(fm->arena, NamedMarks);
    n->name = name;
    n->next = *slot;
    return *slot = n;
}

static bool index_stmt(Node *node, void *data) {
    FilterModule *fm = data;
    if (!node_is_statement(node) && node->kind != N_EXCEPT_HANDLER &&
        node->kind != N_MATCH_CASE) {
        return true;
    }
    if (node->kind == N_FUNCTION_DEF) {
        NamedMarks *n = find_name(fm, node->u.function->name, true);
        vec_push(fm->arena, &n->functions, node);
    } else if (node->kind == N_CLASS_DEF) {
        NamedMarks *n = find_name(fm, node->u.class_->name, true);
        vec_push(fm->arena, &n->classes, node);
    } else if (node->kind == N_ASSIGN) {
        for (uint32_t i = 0; i < node->u.assign.targets.len; i++) {
            Node *t = node->u.assign.targets.at[i];
            const Sym *name = t->kind == N_ATTRIBUTE ? t->u.attribute.attr
                              : t->kind == N_NAME    ? t->u.name.id : NULL;
            if (!name) continue;
            NamedMarks *n = find_name(fm, name, true);
            vec_push(fm->arena, &n->values, node->u.assign.value);
        }
        return true;
    } else if (node->kind == N_ANN_ASSIGN && node->u.ann_assign.value) {
        Node *t = node->u.ann_assign.target;
        const Sym *name = t->kind == N_ATTRIBUTE ? t->u.attribute.attr
                          : t->kind == N_NAME    ? t->u.name.id : NULL;
        if (name) {
            NamedMarks *n = find_name(fm, name, true);
            vec_push(fm->arena, &n->values, node->u.ann_assign.value);
        }
        return true;
    }
    return node_children(node, index_stmt, fm);
}

FilterModule *filter_module(const Filter *filter, Arena *arena, Module *module) {
    FilterModule *fm = NEW(arena, FilterModule);
    fm->filter = filter;
    fm->arena = arena;
    fm->module = module;
    node_children(module->parsed.module, index_stmt, fm);
    return fm;
}

static uint32_t name_marks(FilterModule *fm, const Sym *name);
static uint32_t function_marks(FilterModule *fm, Node *fn);

// The name at the head of a.b.c, or NULL.
static const Sym *head_name(const Node *node) {
    while (node->kind == N_ATTRIBUTE) node = node->u.attribute.value;
    return node->kind == N_NAME ? node->u.name.id : NULL;
}

// What the methods of a class write, and those of its bases.
static uint32_t marks_of_class(const Def *class_def) {
    Def classes[MRO_MAX];
    uint32_t marks = 0, n = class_mro(classes, class_def);
    for (uint32_t i = 0; i < n; i++) {
        if (classes[i].kind != DEF_CLASS) continue;
        NodeList body = classes[i].node->u.class_->body;
        for (uint32_t k = 0; k < body.len; k++) {
            if (body.at[k]->kind == N_FUNCTION_DEF) marks |= body.at[k]->u.function->marks;
        }
    }
    return marks;
}

// What a member of the class writes that its bases define, the first `first` of them left out:
// a method, or else what constructors name.
static uint32_t marks_of_member(FilterModule *fm, const Sym *name, uint32_t first) {
    Def classes[MRO_MAX];
    const Sym *init = sym_find(fm->module->project->symbols, STR("__init__"));
    uint32_t made = 0, n = class_mro(classes, fm->owner);
    for (uint32_t i = first; i < n; i++) {
        if (classes[i].kind != DEF_CLASS) continue;
        Node *method = class_method(classes[i].node, name);
        if (method) return method->u.function->marks;
        method = init ? class_method(classes[i].node, init) : NULL;
        if (method) made |= method->u.function->marks;
    }
    return made;
}

// What a name of another module of the project stands for writes itself.
static uint32_t reach(FilterModule *fm, const Sym *name) {
    Def def = project_lookup(fm->module, name);
    if (def.kind == DEF_FUNCTION) return def.node->u.function->marks;
    if (def.kind == DEF_CLASS) return marks_of_class(&def);
    return def.kind == DEF_EXTERNAL ? 0 : MARK_OPEN | (def.module ? def.module->parsed.marks : 0);
}

// A name that is imported: known by its own marks if it is a library's, open
// if it is the project's.
static uint32_t import_marks(FilterModule *fm, const Sym *name, bool *imported) {
    const Binding *b = module_binding(fm->module, name);
    *imported = b && (b->kind == BIND_MODULE || b->kind == BIND_FROM);
    if (!*imported) return 0;
    Def def = project_lookup_shallow(fm->module, b);
    if (def.kind != DEF_EXTERNAL) return fm->near ? reach(fm, name) : MARK_OPEN;
    // from torch import rsqrt as inverse_root
    return b->kind == BIND_FROM && b->attr ? b->attr->marks : 0;
}

// What calling the value of an expression may compute.
static uint32_t value_marks(FilterModule *fm, const Node *value) {
    switch ((int)value->kind) {
    case N_CALL: {
        const Node *func = value->u.call.func;
        const Sym *head = head_name(func);
        if (!head) return MARK_OPEN;
        bool imported;
        uint32_t marks = import_marks(fm, head, &imported);
        const Node *at = func;
        for (; at->kind == N_ATTRIBUTE; at = at->u.attribute.value) {
            marks |= at->u.attribute.attr->marks;
        }
        marks |= head->marks;
        // nn.Sequential(nn.Linear(...), nn.SiLU()), partial(f): its arguments.
        for (uint32_t i = 0; i < value->u.call.args.len; i++) {
            const Node *arg = value->u.call.args.at[i];
            if (arg->kind == N_CALL || arg->kind == N_STARRED || arg->kind == N_LAMBDA) {
                marks |= value_marks(fm, arg);
            }
        }
        if (imported) return marks;
        return marks | name_marks(fm, head);
    }
    case N_CONSTANT:
        return 0;
    case N_IF_EXP:
        return value_marks(fm, value->u.if_exp.body) |
               value_marks(fm, value->u.if_exp.orelse);
    default:
        return MARK_OPEN;
    }
}

static uint32_t class_marks(FilterModule *fm, const Node *class_node) {
    uint32_t marks = 0;
    NodeList body = class_node->u.class_->body;
    for (uint32_t i = 0; i < body.len; i++) {
        if (body.at[i]->kind == N_FUNCTION_DEF) marks |= function_marks(fm, body.at[i]);
    }
    // What it inherits from elsewhere is not known.
    NodeList bases = class_node->u.class_->bases;
    for (uint32_t i = 0; i < bases.len; i++) {
        const Sym *head = head_name(bases.at[i]);
        bool imported = false;
        if (!head) return MARK_OPEN;
        marks |= import_marks(fm, head, &imported);
        if (!imported) marks |= name_marks(fm, head);
    }
    return marks;
}

// Everything that the name may stand for in this module.
static uint32_t name_marks(FilterModule *fm, const Sym *name) {
    NamedMarks *n = find_name(fm, name, false);
    if (!n) return fm->near && fm->owner ? marks_of_member(fm, name, 0) : MARK_OPEN;
    if (fm->near ? n->near_known : n->known) return fm->near ? n->near : n->marks;
    if (n->running) return 0;
    if (fm->depth > FILTER_MAX_DEPTH) return MARK_OPEN;
    n->running = true;
    fm->depth++;
    uint32_t marks = 0;
    for (uint32_t i = 0; i < n->functions.len; i++) {
        marks |= function_marks(fm, n->functions.at[i]);
    }
    for (uint32_t i = 0; i < n->classes.len; i++) {
        marks |= class_marks(fm, n->classes.at[i]);
    }
    for (uint32_t i = 0; i < n->values.len; i++) {
        marks |= value_marks(fm, n->values.at[i]);
    }
    fm->depth--;
    n->running = false;
    // A result cut short by a cycle higher up is not final.
    bool known = fm->depth == 0;
    if (fm->near) {
        n->near_known = known;
        n->near = marks;
    } else {
        n->known = known;
        n->marks = marks;
    }
    return marks;
}

typedef struct CallMarks {
    FilterModule *fm;
    uint32_t marks;
    int depth;
} CallMarks;

static bool is_builtin_call(const Sym *name) {
    static const char *const names[] = {
        "len", "range", "int", "float", "isinstance", "hasattr", "zip", "enumerate",
        "tuple", "list", "str", "max", "min", "sum", "print", "ValueError", "bool",
        "RuntimeError", "any", "all", "dict", "set", "sorted", "abs", "round", "type",
    };
    for (size_t i = 0; i < COUNT(names); i++) {
        if (str_is(sym_str(name), names[i])) return true;
    }
    return false;
}

static uint32_t callee_marks(FilterModule *fm, const Node *func) {
    if (func->kind == N_NAME) {
        bool imported;
        uint32_t marks = import_marks(fm, func->u.name.id, &imported);
        if (imported) return marks;
        if (is_builtin_call(func->u.name.id)) return 0;
        NamedMarks *n = find_name(fm, func->u.name.id, false);
        // What makes an object does not run it.
        if (fm->near && n && n->classes.len && !n->functions.len && !n->values.len) return 0;
        return name_marks(fm, func->u.name.id);
    }
    if (func->kind != N_ATTRIBUTE) return MARK_OPEN;
    const Sym *attr = func->u.attribute.attr;
    const Node *object = func->u.attribute.value;
    if (object->kind == N_NAME) {
        bool imported;
        uint32_t marks = import_marks(fm, object->u.name.id, &imported);
        if (imported) return marks;
        if (str_is(sym_str(object->u.name.id), "self")) return name_marks(fm, attr);
    }
    // F.silu through nn.functional.silu: by its own marks.
    const Sym *head = head_name(object);
    if (head) {
        bool imported;
        uint32_t marks = import_marks(fm, head, &imported);
        if (imported) return marks;
    }
    if (object->kind == N_CALL && object->u.call.func->kind == N_NAME &&
        str_is(sym_str(object->u.call.func->u.name.id), "super")) {
        return fm->near && fm->owner ? marks_of_member(fm, attr, 1) : MARK_OPEN;
    }
    // x.method(): a tensor's, unless the module has one of that name.
    return find_name(fm, attr, false) ? name_marks(fm, attr) : 0;
}

static bool visit_call(Node *node, void *data) {
    CallMarks *walk = data;
    if ((walk->marks & MARK_OPEN) && !walk->fm->near) return false;
    if (node->kind == N_CALL) {
        bool many = ++walk->fm->calls > FILTER_MAX_CALLS;
        walk->marks |= many ? MARK_OPEN : callee_marks(walk->fm, node->u.call.func);
    }
    if (++walk->depth > 3000) {
        walk->marks |= MARK_OPEN;
        return false;
    }
    bool more = node_children(node, visit_call, data);
    walk->depth--;
    return more;
}

static uint32_t walk_function(FilterModule *fm, Node *fn) {
    CallMarks walk = {.fm = fm};
    NodeList body = fn->u.function->body;
    for (uint32_t i = 0; i < body.len; i++) visit_call(body.at[i], &walk);
    return walk.marks | fn->u.function->marks;
}

static uint32_t function_marks(FilterModule *fm, Node *fn) {
    if (fm->near) return fn->u.function->marks;
    return walk_function(fm, fn);
}

// Of the function and of what it calls itself; not of what that calls. A rule without a
// product gets along with this: it is found where its operators stand.
static uint32_t near_marks(FilterModule *fm, Node *fn, const Def *owner) {
    fm->near = true;
    fm->owner = owner;
    fm->depth = 0;
    uint32_t marks = walk_function(fm, fn);
    fm->near = false;
    return marks;
}

static bool is_number(const Node *node, const char *text) {
    return node->kind == N_CONSTANT && node->op == CONST_INT && str_is(node->u.constant.text, text);
}

typedef struct RowSearch {
    bool found;
    int depth, loops; // around; of search_stores: the stores met
} RowSearch;

// An axis before the last one: x.unsqueeze(-2), x[..., None, :].
static bool adds_row(const Node *node, NodeList items) {
    uint32_t n = items.len;
    if (node->kind == N_CALL) {
        const Node *axis = n ? items.at[n - 1] : NULL;
        return axis && axis->kind == N_UNARY_OP && axis->op == A_U_SUB &&
               is_number(axis->u.unary.operand, "2");
    }
    if (n < 3 || items.at[n - 1]->kind != N_SLICE) return false;
    const Node *none = items.at[n - 2];
    return none->kind == N_CONSTANT && none->op == CONST_NONE;
}

// x.view(*lead, -1, 1, 2), x.unflatten(-1, (-1, 1, 2)): sizes that end in 1 and 2; and
// an axis that a view in pairs gets.
static bool search_rows(Node *node, void *data) {
    RowSearch *search = data;
    NodeList sizes = {0};
    if (node->kind == N_CALL) sizes = node->u.call.args;
    if (node->kind == N_TUPLE || node->kind == N_LIST) sizes = node->u.list.elts;
    uint32_t n = sizes.len;
    if (n >= 3 && is_number(sizes.at[n - 2], "1") && is_number(sizes.at[n - 1], "2")) {
        search->found = true;
    }
    if (adds_row(node, sizes)) search->found = true;
    if (search->found || ++search->depth > ROWS_DEPTH) return false;
    bool more = node_children(node, search_rows, data);
    search->depth--;
    return more;
}

// Whether the module has pairs as rows anywhere: a function may get them from another.
static bool has_rows(FilterModule *fm) {
    if (!fm->rows_known) {
        RowSearch search = {0};
        node_children(fm->module->parsed.module, search_rows, &search);
        fm->rows = search.found || search.depth > ROWS_DEPTH;
        fm->rows_known = true;
    }
    return fm->rows;
}

// A property may hide a call behind a plain attribute.
static bool needs(uint32_t marks) {
    return marks & (MARK_ANCHOR | MARK_POWER | MARK_OPEN); // x ** -0.5
}

// out[rows] = f(x[rows]), out[rows] += ... in a loop: an expert's share of the rows.
static bool search_share(Node *node, void *data) {
    RowSearch *search = data;
    const Node *target = NULL;
    if (node->kind == N_ASSIGN && node->u.assign.targets.len == 1) {
        target = node->u.assign.targets.at[0];
    } else if (node->kind == N_AUG_ASSIGN && node->op == A_ADD) {
        target = node->u.aug_assign.target;
    }
    if (target && target->kind == N_SUBSCRIPT && search->loops) {
        const Node *rows = target->u.subscript.slice;
        if (rows->kind == N_TUPLE && rows->u.list.elts.len) rows = rows->u.list.elts.at[0];
        search->found |= rows->kind != N_CONSTANT &&
                         (rows->kind != N_SLICE || node->kind == N_AUG_ASSIGN);
    }
    if (search->found || ++search->depth > ROWS_DEPTH) return false;
    search->loops += node->kind == N_FOR;
    bool more = node_children(node, search_share, data);
    search->loops -= node->kind == N_FOR;
    search->depth--;
    return more;
}

static bool has_share(Node *fn) {
    RowSearch search = {0};
    node_children(fn, search_share, &search);
    return search.found || search.depth > ROWS_DEPTH;
}

static bool is_part_store(const Node *target) {
    return target->kind == N_SUBSCRIPT && target->u.subscript.slice->kind == N_TUPLE;
}

// y[..., 0::2] = ..., y[..., 1::2] = ...: turns.c looks for two of them.
static bool search_stores(Node *node, void *data) {
    RowSearch *search = data;
    if (!node_is_statement(node)) return true;
    if (node->kind == N_ASSIGN && node->u.assign.targets.len == 1) {
        const Node *target = node->u.assign.targets.at[0];
        bool row = target->kind == N_TUPLE || target->kind == N_LIST;
        search->loops += row ? 0 : is_part_store(target);
        for (uint32_t i = 0; row && i < target->u.list.elts.len; i++) {
            search->loops += is_part_store(target->u.list.elts.at[i]);
        }
    }
    search->found = search->loops > 1;
    if (search->found || ++search->depth > ROWS_DEPTH) return false;
    bool more = node_children(node, search_stores, data);
    search->depth--;
    return more;
}

static bool writes_parts(Node *fn) {
    RowSearch search = {0};
    node_children(fn, search_stores, &search);
    return search.found || search.depth > ROWS_DEPTH;
}

static uint32_t called_marks(FilterModule *fm, Node *fn) {
    fm->depth = 0;
    return function_marks(fm, fn);
}

// Whether a rule without a product may match: a sum is written in the function itself, and
// what the rule has besides in what is called; where it is not known what is called,
// anywhere in the module.
static bool has_rooted(FilterModule *fm, Node *fn, const Def *owner) {
    const Filter *filter = fm->filter;
    uint32_t marks = 0, sum = fn->u.function->marks & MARK_SUM;
    bool known = false;
    for (uint32_t i = 0; i < filter->rooted_count; i++) {
        uint32_t needed = filter->rooted[i];
        if ((needed & MARK_SUM) > sum) continue;
        needed &= ~(uint32_t)MARK_SUM;
        if (!known) marks = near_marks(fm, fn, owner);
        if (!known && (marks & MARK_OPEN)) marks |= fm->module->parsed.marks;
        known = true;
        if ((marks & needed) == needed) return true;
    }
    return false;
}

// A softmax here, and in what is called the choice of the best: a router.
static bool has_choice(FilterModule *fm, Node *fn, const Def *owner) {
    if (!(fn->u.function->marks & MARK_ANCHOR)) return false;
    return (fm->module->parsed.marks & MARK_MOE) && (near_marks(fm, fn, owner) & MARK_MOE);
}

bool filter_passes(FilterModule *fm, Node *fn, const Def *owner) {
    const Filter *filter = fm->filter;
    uint32_t own = fn->u.function->marks;
    if (filter->open) return true;
    if (own & MARK_MOE) return true;
    if (has_choice(fm, fn, owner)) return true;
    if ((own & MARK_LOOP) && has_share(fn)) return true;
    if (has_rooted(fm, fn, owner)) return true;
    if (!(own & MARK_PRODUCT)) return false;
    if (needs(own) || writes_parts(fn)) return true;
    if (filter->rows && has_rows(fm)) return true;
    return needs(called_marks(fm, fn));
}
