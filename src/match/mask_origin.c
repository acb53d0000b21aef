// mask_origin.c - follows a mask through views, choices and callers to the
// place that builds it. What it finds is evidence, not proof, except for
// ORIGIN_BINARY: the values themselves are tested at run time.
#include "base/base.h"

#include "match/mask_origin.h"

#include "match/attend.h"

enum {
    ORIGIN_MAX_DEPTH = 20,
    ORIGIN_MAX_STEPS = 400,   // values looked at
    ORIGIN_MAX_CALLERS = 16,  // functions read for their arguments
    ORIGIN_MAX_NODES = 20000, // of functions that build masks
};

typedef struct Known {
    const Val *val;
    OriginFound found;
} Known;

typedef struct Search {
    Flow *flow;
    uint32_t steps, callers, nodes;
    VEC(const Val *) params; // being followed
    VEC(Known) known;
} Search;

static OriginFound origin_of(Search *s, Val *v, int depth);

static OriginFound found_at(Origin origin, const Val *v) {
    bool placeless = val_is_placeless(v); // what it goes into says where
    return (OriginFound){origin, placeless ? NULL : v->module, placeless ? NULL : v->node};
}

static bool is_open(OriginFound a) {
    return a.origin == ORIGIN_UNKNOWN || a.origin == ORIGIN_COMPUTED;
}

// Either of two: what is known of one says something of the whole.
static OriginFound either(OriginFound a, OriginFound b) {
    if (a.origin == ORIGIN_ZEROS && is_open(b)) return b;
    if (b.origin == ORIGIN_ZEROS && is_open(a)) return a;
    if (a.origin == ORIGIN_BINARY && is_open(b)) a.origin = ORIGIN_MASK;
    if (b.origin == ORIGIN_BINARY && is_open(a)) b.origin = ORIGIN_MASK;
    return a.origin >= b.origin ? a : b;
}

// A sum: what is unknown of one part is unknown of the whole.
static OriginFound both(OriginFound a, OriginFound b) {
    if (a.origin == ORIGIN_BIAS || b.origin == ORIGIN_NOTHING) return a;
    if (b.origin == ORIGIN_BIAS || a.origin == ORIGIN_NOTHING) return b;
    for (Origin open = ORIGIN_COMPUTED; open >= ORIGIN_UNKNOWN; open--) {
        if (a.origin == open) return a;
        if (b.origin == open) return b;
    }
    return either(a, b);
}

// ---- functions that build masks ---------------------------------------------

typedef struct NodeWalk {
    Search *search;
    Module *module;
    int depth;
    bool found;
} NodeWalk;

static bool builds_mask(Search *s, const Def *def, int depth);

static bool names(const Node *node, const char *name) {
    if (node->kind == N_NAME) return str_is(sym_str(node->u.name.id), name);
    return node->kind == N_ATTRIBUTE && str_is(sym_str(node->u.attribute.attr), name);
}

// finfo(d).min, float("-inf"), -inf, -10000.0
static bool is_negative_node(Flow *flow, const Node *node) {
    if (node->kind == N_ATTRIBUTE && node->u.attribute.value->kind == N_CALL) {
        return names(node, "min") && names(node->u.attribute.value->u.call.func, "finfo");
    }
    if (node->kind == N_CONSTANT && node->op == CONST_STR) {
        return str_is(node->u.constant.text, "-inf");
    }
    if (node->kind != N_UNARY_OP || node->op != A_U_SUB) return false;
    const Node *x = node->u.unary.operand;
    if (x->kind == N_CONSTANT && (x->op == CONST_FLOAT || x->op == CONST_INT)) {
        return val_const(&flow->graph, (ConstKind)x->op, x->u.constant.text)->num >= 9000;
    }
    if (x->kind == N_CALL && x->u.call.args.len == 1) x = x->u.call.args.at[0];
    return names(x, "inf") ||
        (x->kind == N_CONSTANT && x->op == CONST_STR && str_is(x->u.constant.text, "inf"));
}

static bool table_builds_mask(NodeWalk *walk, const Def *class_def) {
    NodeList body = class_def->node->u.class_->body;
    for (uint32_t i = 0; i < body.len; i++) {
        const Node *dict = body.at[i]->kind == N_ASSIGN ? body.at[i]->u.assign.value : NULL;
        if (!dict || dict->kind != N_DICT) continue;
        for (uint32_t k = 0; k < dict->u.dict.values.len; k++) {
            const Node *name = dict->u.dict.values.at[k];
            if (name->kind != N_NAME) continue;
            Def def = project_lookup(class_def->module, name->u.name.id);
            if (builds_mask(walk->search, &def, walk->depth + 1)) return true;
        }
    }
    return false;
}

// TABLE[key] of a project's object whose class lists functions.
static bool subscript_builds_mask(NodeWalk *walk, const Node *node) {
    const Node *table = node->u.subscript.value;
    if (table->kind != N_NAME) return false;
    Def def = project_lookup(walk->module, table->u.name.id);
    if (def.kind != DEF_VALUE || def.node->kind != N_CALL) return false;
    const Node *func = def.node->u.call.func;
    if (func->kind != N_NAME) return false;
    Def class_def = project_lookup(def.module, func->u.name.id);
    return class_def.kind == DEF_CLASS && table_builds_mask(walk, &class_def);
}

static bool search_negative(Node *node, void *data) {
    NodeWalk *walk = data;
    if (walk->found || ++walk->search->nodes > ORIGIN_MAX_NODES) return false;
    if (is_negative_node(walk->search->flow, node)) walk->found = true;
    if (node->kind == N_SUBSCRIPT && subscript_builds_mask(walk, node)) walk->found = true;
    if (!walk->found && node->kind == N_CALL && node->u.call.func->kind == N_NAME) {
        Def def = project_lookup(walk->module, node->u.call.func->u.name.id);
        walk->found = builds_mask(walk->search, &def, walk->depth + 1);
    }
    return !walk->found && node_children(node, search_negative, data);
}

static bool builds_mask(Search *s, const Def *def, int depth) {
    if (def->kind != DEF_FUNCTION || depth > 3) return false;
    NodeWalk walk = {.search = s, .module = def->module, .depth = depth};
    node_children(def->node, search_negative, &walk);
    return walk.found;
}

// Functions of transformers whose source is not at hand.
static bool is_published_builder(Str dotted) {
    return str_starts(dotted, "transformers.masking_utils.create_") ||
           str_starts(dotted, "transformers.modeling_attn_mask_utils.");
}

static bool is_learned_module(const Val *callee) {
    static const char *const classes[] = {
        "torch.nn.Embedding", "torch.nn.Linear", "torch.nn.Conv1d", "torch.nn.Conv2d",
        "torch.nn.Sequential", "torch.nn.Bilinear",
    };
    if (callee->op != V_INSTANCE) return false;
    for (size_t i = 0; i < COUNT(classes) && !callee->def; i++) {
        if (str_is(callee->text, classes[i])) return true;
    }
    return callee->def != NULL;
}

static OriginFound origin_of_call(Search *s, Val *v) {
    Val *callee = v->args[0];
    if (callee->op == V_PHI) { // mask_function = one if c else the other
        Val arms[2] = {*v, *v};
        Val *first[2] = {callee->args[1], callee->args[2]};
        arms[0].args = &first[0];
        arms[1].args = &first[1];
        return either(origin_of_call(s, &arms[0]), origin_of_call(s, &arms[1]));
    }
    if (val_is_global(callee, "torch.full_like") && v->nargs > 2) {
        return found_at(is_very_negative(v->args[2]) ? ORIGIN_BINARY : ORIGIN_UNKNOWN, v);
    }
    if (callee->op == V_GLOBAL && is_published_builder(callee->text)) {
        return found_at(ORIGIN_MASK, v);
    }
    if ((callee->op == V_FUNCTION || callee->op == V_METHOD) && callee->def) {
        Def def = *callee->def;
        def.kind = DEF_FUNCTION;
        return found_at(builds_mask(s, &def, 0) ? ORIGIN_MASK : ORIGIN_UNKNOWN, v);
    }
    if (callee->op == V_ITEM && callee->args[0]->op == V_INSTANCE && callee->args[0]->def) {
        NodeWalk walk = {.search = s, .module = callee->args[0]->def->module};
        bool builds = table_builds_mask(&walk, callee->args[0]->def);
        return found_at(builds ? ORIGIN_MASK : ORIGIN_UNKNOWN, v);
    }
    if (is_learned_module(callee)) return found_at(ORIGIN_BIAS, v);
    if (callee->op == V_ATTR) {
        Val *made = object_class(callee->args[0])
            ? object_attr(s->flow, callee->args[0], callee->name) : NULL;
        if (made && is_learned_module(made)) return found_at(ORIGIN_BIAS, v);
        // x.get_extended_attention_mask(...), mask.masked_fill_(...): of a method in sight
        Val *method = object_class(callee->args[0])
            ? object_method(s->flow, callee->args[0], callee->name) : NULL;
        if (method && method->def && builds_mask(s, method->def, 0)) {
            return found_at(ORIGIN_MASK, v);
        }
    }
    return found_at(ORIGIN_UNKNOWN, v);
}

// ---- callers ----------------------------------------------------------------

static bool is_class(const Def *class_def, const Def *owner) {
    Def mro[MRO_MAX];
    uint32_t n = class_def->kind == DEF_CLASS ? class_mro(mro, class_def) : 0;
    for (uint32_t i = 0; i < n; i++) {
        if (mro[i].node == owner->node) return true;
    }
    return false;
}

static bool may_be_any(Search *s, Val *const *list, uint32_t n, const Def *owner, int depth);

// Whether `v` may be an instance of the class: of one that is chosen, from a
// list of modules.
static bool may_be_instance(Search *s, const Val *v, const Def *owner, int depth) {
    if (depth > 8) return false;
    switch ((int)v->op) {
    case V_CLASS: return is_class(v->def, owner);
    case V_INSTANCE: return v->def ? is_class(v->def, owner)
        : may_be_any(s, v->args, v->nargs, owner, depth);
    case V_ATTR: {
        Val *made = object_class(v->args[0]) ? object_attr(s->flow, v->args[0], v->name) : NULL;
        return made && made != v && may_be_instance(s, made, owner, depth + 1);
    }
    case V_METHOD: return v->ptr && is_class(v->ptr, owner);
    case V_LIST: case V_TUPLE: case V_OPAQUE: case V_DICT: case V_PHI:
        return may_be_any(s, v->args, v->nargs, owner, depth);
    case V_ITEM: return may_be_instance(s, v->args[0], owner, depth + 1);
    case V_CALL: // enumerate(self.layers); CLASSES[kind](config)
        if (v->args[0]->op == V_GLOBAL) {
            return v->nargs > 1 && may_be_any(s, v->args + 1, v->nargs - 1, owner, depth);
        }
        return may_be_instance(s, v->args[0], owner, depth + 1);
    default: return false;
    }
}

static bool may_be_any(Search *s, Val *const *list, uint32_t n, const Def *owner, int depth) {
    for (uint32_t i = 0; i < n; i++) {
        if (may_be_instance(s, list[i], owner, depth + 1)) return true;
    }
    return false;
}

// The function's own name among the parts of an expression.
typedef struct NameSearch {
    const Sym *name;
    bool found;
} NameSearch;

static bool search_name(Node *node, void *data) {
    NameSearch *search = data;
    if (node->kind == N_NAME && node->u.name.id == search->name) search->found = true;
    return !search->found && node_children(node, search_name, data);
}

typedef struct AliasSearch {
    const Sym *alias, *name;
    bool found;
} AliasSearch;

// alias = TABLE.get(key, function)
static bool search_alias(Node *node, void *data) {
    AliasSearch *search = data;
    Node *target = NULL, *value = NULL;
    if (node->kind == N_ASSIGN && node->u.assign.targets.len == 1) {
        target = node->u.assign.targets.at[0];
        value = node->u.assign.value;
    } else if (node->kind == N_ANN_ASSIGN) {
        target = node->u.ann_assign.target;
        value = node->u.ann_assign.value;
    }
    if (target && value && target->kind == N_NAME && target->u.name.id == search->alias) {
        NameSearch inside = {search->name, false};
        search_name(value, &inside);
        search->found |= inside.found;
    }
    return !search->found && node_children(node, search_alias, data);
}

static bool calls_function(const Frame *f, const Node *call, Node *owner) {
    const Node *func = call->u.call.func;
    const Sym *name = f->fn->u.function->name;
    if (func->kind != N_NAME) return false;
    if (func->u.name.id == name) return true;
    AliasSearch search = {func->u.name.id, name, false};
    if (owner) node_children(owner, search_alias, &search);
    return search.found;
}

static Def class_def_of(Flow *flow, Module *m, Node *class_node) {
    Def def = {.kind = DEF_CLASS, .module = m, .node = class_node};
    if (class_node) def.dotted =
        arena_dotted(flow->arena, m->dotted, sym_str(class_node->u.class_->name));
    return def;
}

// The argument that a call gives for the parameter; NULL if none.
static Node *given_argument(const Frame *f, const Node *call, const Val *param) {
    ArgumentsNode *a = f->fn->u.function->args->u.arguments;
    int index = -1;
    for (uint32_t i = 0; i < a->args.len; i++) {
        if (a->args.at[i] == param->node) index = (int)i - (f->owner != NULL);
    }
    NodeList args = call->u.call.args, keywords = call->u.call.keywords;
    for (uint32_t i = 0; i < args.len && (int)i <= index; i++) {
        if (args.at[i]->kind == N_STARRED) return NULL;
        if ((int)i == index) return args.at[i];
    }
    for (uint32_t i = 0; i < keywords.len; i++) {
        if (keywords.at[i]->u.keyword.name == param->name) return keywords.at[i]->u.keyword.value;
    }
    return NULL;
}

// An expression of the function that holds the call: read alone where it can be,
// else with the whole function.
static Val *value_in(Search *s, ModuleFlow *mf, uint32_t call, Node *node) {
    Module *m = mf->module;
    if (!m->call_owners[call]) return NULL;
    Def class_def = class_def_of(s->flow, m, m->call_classes[call]);
    FunctionInfo *info = flow_function_info(s->flow, mf, m->call_owners[call],
                                            class_def.node ? &class_def : NULL);
    Val *alone = info->frame ? NULL : flow_read_alone(s->flow, mf, info, node);
    if (alone) return alone;
    if (!info->frame && s->callers++ > ORIGIN_MAX_CALLERS) return NULL;
    flow_function(s->flow, mf, info);
    return node_val(mf, node);
}

// What a name is assigned in a function.
typedef struct Assignments {
    Search *search;
    Module *module;
    const Sym *name;
    Node *builder; // the last call of a function that builds masks
    bool other;    // something else
} Assignments;

// A call of a function that builds masks, or a dict of such calls.
static Node *builder_call(Assignments *a, Node *value) {
    if (value->kind == N_DICT) {
        Node *last = NULL;
        for (uint32_t i = 0; i < value->u.dict.values.len; i++) {
            last = builder_call(a, value->u.dict.values.at[i]);
            if (!last) return NULL;
        }
        return last;
    }
    if (value->kind != N_CALL || value->u.call.func->kind != N_NAME) return NULL;
    Def def = project_lookup(a->module, value->u.call.func->u.name.id);
    return builds_mask(a->search, &def, 0) ? value : NULL;
}

static bool is_name(const Node *node, const Sym *name) {
    return node->kind == N_NAME && node->u.name.id == name;
}

static bool search_assignments(Node *node, void *data) {
    Assignments *a = data;
    // mapping := mask says nothing new of it.
    if (node->kind == N_NAMED_EXPR && is_name(node->u.named.target, a->name)) {
        a->other |= node->u.named.value->kind != N_NAME;
        return !a->other;
    }
    if (is_name(node, a->name) && node->ctx != CTX_LOAD) a->other = true;
    if (node->kind != N_ASSIGN || node->u.assign.targets.len != 1) {
        return !a->other && node_children(node, search_assignments, data);
    }
    const Node *target = node->u.assign.targets.at[0];
    if (target->kind == N_SUBSCRIPT) target = target->u.subscript.value; // masks["full"] = ...
    if (!is_name(target, a->name)) return true;
    Node *builder = builder_call(a, node->u.assign.value);
    if (builder) a->builder = builder;
    else a->other = true;
    return !a->other;
}

// mask = create_mask(...), and nothing else is ever called so: known without
// reading the function.
static Node *built_in(Search *s, Module *m, Node *owner, const Node *arg) {
    if (arg->kind == N_SUBSCRIPT) arg = arg->u.subscript.value; // masks[kind]
    if (!owner || arg->kind != N_NAME) return NULL;
    Assignments a = {.search = s, .module = m, .name = arg->u.name.id};
    node_children(owner, search_assignments, &a);
    return a.other ? NULL : a.builder;
}

// layer(x), self.attention(x); not f(x) of the module or torch.f(x).
static bool may_be_method(Module *m, const Node *func) {
    const Node *head = func;
    while (head->kind == N_ATTRIBUTE) head = head->u.attribute.value;
    bool is_super = head->kind == N_CALL && head->u.call.func->kind == N_NAME &&
                    str_is(sym_str(head->u.call.func->u.name.id), "super");
    if (is_super) return true;
    return head->kind == N_NAME && !module_binding(m, head->u.name.id);
}

// Whether the call may be one of the frame's method: by its name, or of the object itself,
// which runs `forward`. Another method of the class is none: self.flash(query, key, mask).
static bool may_run(const Frame *f, const Node *func) {
    const Sym *name = f->fn->u.function->name;
    const FlowNames *names = &f->flow->names;
    return name == names->forward || name == names->call ||
           (func->kind == N_ATTRIBUTE && func->u.attribute.attr == name);
}

static bool is_other_method(Search *s, const Frame *f, Val *object, const Sym *name) {
    Val *made = name != f->fn->u.function->name && object_class(object)
        ? object_attr(s->flow, object, name) : NULL;
    return made && made->op == V_METHOD;
}

static bool calls_method(Search *s, const Frame *f, ModuleFlow *mf, uint32_t call) {
    Node *func = mf->module->calls.at[call]->u.call.func;
    const Def *owner = f->owner;
    if (!may_run(f, func)) return false;
    Val *callee = func->kind == N_ATTRIBUTE ? NULL : value_in(s, mf, call, func);
    if (func->kind == N_ATTRIBUTE) {
        Val *object = value_in(s, mf, call, func->u.attribute.value);
        if (object && is_other_method(s, f, object, func->u.attribute.attr)) return false;
        if (object && object->op == V_SUPER) { // super().forward(x, mask)
            return func->u.attribute.attr == f->fn->u.function->name &&
                   is_class(object->ptr, owner);
        }
        callee = object ? val_attr(&s->flow->graph, object, func->u.attribute.attr) : NULL;
    }
    return callee && may_be_instance(s, callee, owner, 0);
}

static OriginFound origin_of_param(Search *s, Val *v, int depth) {
    const Frame *f = v->ptr;
    OriginFound all = found_at(ORIGIN_UNKNOWN, v);
    if (!f || !f->fn || f->fn->kind != N_FUNCTION_DEF || f->lexical) return all;
    for (uint32_t i = 0; i < s->params.len; i++) {
        if (s->params.at[i] == v) return (OriginFound){0};
    }
    vec_push(s->flow->arena, &s->params, v);
    ModuleFlow *mf = flow_module(s->flow, f->module);
    Module *m = f->module;
    module_list_calls(m);
    bool any = false;
    for (uint32_t i = 0; i < m->calls.len; i++) {
        Node *call = m->calls.at[i];
        Node *arg = given_argument(f, call, v);
        if (!arg) continue;
        bool plain = !f->owner && calls_function(f, call, m->call_owners[i]);
        if (!f->owner && !plain) continue;
        if (f->owner && !may_be_method(m, call->u.call.func)) continue;
        if (f->owner && !calls_method(s, f, mf, i)) continue;
        Node *builder = built_in(s, m, m->call_owners[i], arg);
        Val *val = builder ? NULL : value_in(s, mf, i, arg);
        if (!builder && !val) continue;
        OriginFound one = builder ? (OriginFound){ORIGIN_MASK, m, builder}
                                  : origin_of(s, val, depth + 1);
        all = any ? either(all, one) : one;
        any = true;
    }
    s->params.len--;
    // There may be other callers.
    if (all.origin == ORIGIN_BINARY) all.origin = ORIGIN_MASK;
    if (all.origin == ORIGIN_ZEROS) all.origin = ORIGIN_UNKNOWN;
    return all;
}

// ---- values -----------------------------------------------------------------

static OriginFound origin_of_number(const Val *v) {
    if (val_is_int(v, 0)) return found_at(ORIGIN_ZEROS, v);
    return found_at(is_very_negative(v) ? ORIGIN_BINARY : ORIGIN_UNKNOWN, v);
}

static OriginFound origin_of_product(Search *s, Val *v, int depth) {
    for (int i = 0; i < 2; i++) {
        if (is_very_negative(v->args[i])) return found_at(ORIGIN_MASK, v);
    }
    OriginFound a = origin_of(s, v->args[0], depth + 1), b = origin_of(s, v->args[1], depth + 1);
    if (a.origin == ORIGIN_BIAS) return a;
    return b.origin == ORIGIN_BIAS ? b : found_at(ORIGIN_COMPUTED, v);
}

// -(far * slope); -(1e4 * (1 - m)), into which a very negative number goes.
static OriginFound origin_of_negated(Search *s, Val *v, int depth) {
    const Val *m = val_strip(v->args[0]);
    for (int i = 0; m->op == OP_MUL && i < 2; i++) {
        bool large = val_is_number(m->args[i]) && m->args[i]->num >= 9000;
        if (large) return found_at(ORIGIN_MASK, v);
    }
    OriginFound of = origin_of(s, v->args[0], depth + 1);
    bool kept = of.origin == ORIGIN_BIAS || of.origin == ORIGIN_COMPUTED;
    return kept ? of : found_at(ORIGIN_UNKNOWN, v);
}

static OriginFound origin_of_attr(Search *s, Val *v, int depth) {
    Val *made = object_class(v->args[0]) ? object_attr(s->flow, v->args[0], v->name) : NULL;
    if (made && made != v) return origin_of(s, made, depth + 1);
    return found_at(ORIGIN_UNKNOWN, v);
}

// The values of a dict, the items of a list.
static OriginFound origin_of_any(Search *s, Val *v, int depth) {
    OriginFound all = {0};
    uint32_t step = v->op == V_DICT ? 2 : 1;
    for (uint32_t i = step - 1; i < v->nargs; i += step) {
        all = either(all, origin_of(s, v->args[i], depth + 1));
    }
    return all;
}

static OriginFound origin_of_value(Search *s, Val *v, int depth) {
    switch ((int)v->op) {
    case V_CONST: return val_is_none(v) ? (OriginFound){0} : origin_of_number(v);
    case V_DICT: case V_TUPLE: case V_LIST: return origin_of_any(s, v, depth);
    case V_CAST: // True where it was -inf: 1 is added
        if (val_is_global(v->args[1], "torch.bool")) return found_at(ORIGIN_UNKNOWN, v);
        return origin_of(s, v->args[0], depth + 1);
    case V_ITEM: case V_PART: case OP_VIEW: case OP_EXPAND: case OP_UNSQUEEZE:
    case OP_SQUEEZE: case OP_TRANSPOSE: case OP_PERMUTE: case OP_CONTIGUOUS: case OP_CLONE:
    case OP_DETACH: case OP_FLATTEN: case OP_REPEAT_INTERLEAVE: case OP_TRIU: case OP_TRIL:
        return origin_of(s, v->args[0], depth + 1);
    case OP_ZEROS: case OP_ZEROS_LIKE: return found_at(ORIGIN_ZEROS, v);
    case OP_FULL: return origin_of_number(v->args[1]);
    case OP_WHERE:
        return both(origin_of(s, v->args[1], depth + 1), origin_of(s, v->args[2], depth + 1));
    case OP_MASKED_FILL:
        return both(origin_of(s, v->args[0], depth + 1), origin_of_number(v->args[2]));
    case OP_ADD:
        return both(origin_of(s, v->args[0], depth + 1), origin_of(s, v->args[1], depth + 1));
    case OP_MUL: return origin_of_product(s, v, depth);
    case OP_NEG: return origin_of_negated(s, v, depth);
    case OP_MINIMUM: case OP_MAXIMUM: case OP_CLAMP: return origin_of(s, v->args[0], depth + 1);
    case V_PHI: return either(origin_of(s, v->args[1], depth + 1),
                              origin_of(s, v->args[2], depth + 1));
    case OP_PARAMETER: case OP_MATMUL: case OP_EINSUM: case OP_LINEAR:
        return found_at(ORIGIN_BIAS, v);
    case V_CALL: return origin_of_call(s, v);
    case V_PARAM: return origin_of_param(s, v, depth);
    case V_ATTR: return origin_of_attr(s, v, depth);
    default: return is_very_negative(v) ? found_at(ORIGIN_BINARY, v) : found_at(ORIGIN_UNKNOWN, v);
    }
}

// Choices share their parts: each is looked at once.
static OriginFound origin_of(Search *s, Val *v, int depth) {
    OriginFound unknown = found_at(ORIGIN_UNKNOWN, v);
    if (depth > ORIGIN_MAX_DEPTH || ++s->steps > ORIGIN_MAX_STEPS) return unknown;
    for (uint32_t i = 0; i < s->known.len; i++) {
        if (s->known.at[i].val == v) return s->known.at[i].found;
    }
    Known known = {v, origin_of_value(s, v, depth)};
    if (!known.found.node && known.found.origin != ORIGIN_NOTHING && !val_is_placeless(v)) {
        known.found.module = v->module;
        known.found.node = v->node;
    }
    vec_push(s->flow->arena, &s->known, known);
    return known.found;
}

OriginFound mask_origin(Flow *flow, Val *v) {
    Search search = {.flow = flow};
    return origin_of(&search, v, 0);
}
