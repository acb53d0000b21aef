// resolve.c - from an attribute to the object behind it, with its chain.
//
// `self.act_fn` leads to the constructor's `ACT2FN[config.hidden_act]`, from
// there to the table and to the key, from the key to the config class and its
// default. Each step is a ChainLink; a step that rests on a default or on the
// callers that are in sight sets `from_config`.
#include "base/base.h"

#include "flow/libraries.h"
#include "flow/recall.h"
#include "flow/resolve_impl.h"

static Val *resolve(Resolver *r, Val *v);

// ---- resolving --------------------------------------------------------------

// Two resolved objects that behave alike.
static bool same_object(const Val *a, const Val *b) {
    if (a == b) return true;
    if (a->op != V_INSTANCE || b->op != V_INSTANCE) return false;
    if (a->nargs || b->nargs) return false;
    if (a->def || b->def) return a->def && b->def && a->def->node == b->def->node;
    return str_eq(a->text, b->text);
}

// The default that every class of the list that has the field gives.
static Val *agreed_default(Resolver *r, const Classes *classes, const Sym *name) {
    Val *agreed = NULL;
    for (uint32_t i = 0; i < classes->len; i++) {
        AttrSource source = field_default(r, &classes->at[i], name);
        // A method is no setting: a subclass may have its own.
        if (!source.val || val_is_none(source.val) || source.val->op == V_METHOD) continue;
        if (!agreed) {
            resolver_link(r, classes->at[i].module, classes->at[i].node, "config class");
            resolver_link(r, source.module, source.node, "default");
        }
        Val *val = resolve(r, source.val);
        if (!val || val_is_none(val)) continue;
        if (agreed && !same_object(agreed, val)) return NULL;
        agreed = val;
    }
    return agreed;
}

static void caller_classes(Resolver *r, Classes *out, Val *v) {
    if (v->op != V_PARAM || !v->node) return;
    Callers callers = {0};
    find_callers(r, &callers, v);
    for (uint32_t i = 0; i < callers.len; i++) classes_of(r, out, callers.args[i]);
}

typedef struct SightWalk {
    Resolver *r;
    Module *module;
    Classes *out;
} SightWalk;

// The classes of configurations that the module's annotations speak of.
static bool collect_annotated(Node *node, void *data) {
    SightWalk *walk = data;
    if (node->kind == N_ARG && node->u.arg.annotation) {
        annotation_classes(walk->r, walk->out, walk->module, node->u.arg.annotation, 0);
    }
    if (node->kind == N_CLASS_DEF || node->kind == N_FUNCTION_DEF ||
        node->kind == N_ARGUMENTS || node->kind == N_MODULE) {
        return node_children(node, collect_annotated, data);
    }
    return true;
}

static const Classes *annotated_classes(Resolver *r, Module *module) {
    ModuleFlow *mf = flow_module(r->flow, module);
    if (mf->annotated) return mf->annotated;
    mf->annotated = NEW(r->flow->arena, Classes);
    SightWalk walk = {r, module, mf->annotated};
    collect_annotated(module->parsed.module, &walk);
    return mf->annotated;
}

// The class of a configuration is its annotation; where that has no such
// field, that of the callers' argument; where no caller is in sight, every
// class that the file's annotations name and that has the field must agree:
// then the value is only likely, and left to the guard.
static Val *resolve_field(Resolver *r, Val *v) {
    Classes classes = {0}, callers = {0};
    classes_of(r, &classes, v->args[0]);
    Val *agreed = agreed_default(r, &classes, v->name);
    if (!agreed) {
        caller_classes(r, &callers, v->args[0]);
        agreed = agreed_default(r, &callers, v->name);
    }
    Module *module = v->args[0]->module;
    if (!agreed && v->args[0]->op == V_PARAM && module) {
        agreed = agreed_default(r, annotated_classes(r, module), v->name);
        if (agreed) r->likely = true;
    }
    if (agreed) r->from_config = true;
    return agreed;
}

static Val *resolve_attr(Resolver *r, Val *v) {
    Val *object = v->args[0];
    if (object_class(object) || object->op == V_CLASS || object->op == V_SUPER) {
        AttrSource source = attr_source(r->flow, object, v->name);
        if (source.val && source.val != v) {
            resolver_link(r, source.module, source.node, "attribute");
            return resolve(r, source.val);
        }
    }
    Val *field = resolve_field(r, v);
    if (field) return field;
    if (object->op != V_ATTR && object->op != V_ITEM) return NULL;
    Val *known = resolve(r, object);
    if (!known || known == object) return NULL;
    if (!object_class(known) && known->op != V_CLASS) return NULL;
    AttrSource source = attr_source(r->flow, known, v->name);
    if (!source.val) return NULL;
    resolver_link(r, source.module, source.node, "attribute");
    return resolve(r, source.val);
}

Node *param_default(const Val *param) {
    const Frame *f = param->ptr;
    if (!f || !f->fn || f->fn->kind == N_LAMBDA) return NULL;
    ArgumentsNode *a = f->fn->u.function->args->u.arguments;
    uint32_t n = a->posonly.len + a->args.len;
    for (uint32_t i = n - a->defaults.len; i < n; i++) {
        Node *arg = i < a->posonly.len ? a->posonly.at[i]
                                       : a->args.at[i - a->posonly.len];
        if (arg == param->node) return a->defaults.at[i - (n - a->defaults.len)];
    }
    for (uint32_t i = 0; i < a->kwonly.len; i++) {
        if (a->kwonly.at[i] == param->node) return a->kw_defaults.at[i];
    }
    return NULL;
}

// A constructor's parameter is what its callers give, if they agree, or its
// default where none is in sight.
static Val *resolve_param(Resolver *r, Val *v) {
    if (!v->node || !v->ptr) return NULL;
    Callers callers = {0};
    find_callers(r, &callers, v);
    Val *agreed = NULL;
    for (uint32_t i = 0; i < callers.len; i++) {
        if (i == 0) resolver_link(r, callers.modules[i], callers.calls[i], "caller");
        Val *val = resolve(r, callers.args[i]);
        if (!val || (agreed && !same_object(agreed, val))) return NULL;
        agreed = val;
    }
    r->from_config = true;
    if (agreed) return agreed;
    Node *value = param_default(v);
    if (!value) return NULL;
    const Frame *f = v->ptr;
    resolver_link(r, f->module, value, "default");
    return resolve(r, eval_expr(f->mf->frame, value));
}

static bool is_dict_like(const Def *class_def) {
    static const char *const names[] = {
        "dict", "collections.OrderedDict", "collections.UserDict", "OrderedDict",
        "UserDict",
    };
    Def mro[MRO_MAX];
    uint32_t n = class_mro(mro, class_def);
    for (uint32_t i = 0; i < n; i++) {
        for (size_t k = 0; mro[i].kind == DEF_EXTERNAL && k < COUNT(names); k++) {
            if (str_is(mro[i].dotted, names[k])) return true;
        }
    }
    return false;
}

Val *instance_dict(const Val *inst) {
    if (inst->op != V_INSTANCE || !inst->def || inst->nargs == 0) return NULL;
    if (!is_dict_like(inst->def)) return NULL;
    return inst->args[0]->op == V_DICT ? inst->args[0] : NULL;
}

// The library is not in sight: that it has what it should is left to the guard.
static Val *of_library(Resolver *r, const Val *holder, const Val *key) {
    Val *made = library_activation(r->flow, holder, key);
    if (made) r->from_config = true;
    return made;
}

// nn.ModuleDict({...}), nn.ModuleList([...]), nn.Sequential(a, b): what it was made of.
static Val *below_module(Resolver *r, Val *container) {
    if (container->op != V_INSTANCE || container->def) return container;
    static const char *const names[] = {"torch.nn.ModuleDict", "torch.nn.ModuleList",
                                        "torch.nn.ParameterDict", "torch.nn.ParameterList"};
    if (str_is(container->text, "torch.nn.Sequential")) {
        return val_new(&r->flow->graph, V_TUPLE, container->args, container->nargs);
    }
    for (size_t i = 0; i < COUNT(names); i++) {
        if (str_is(container->text, names[i]) && container->nargs == 1) {
            resolver_link(r, container->module, container->node, "constructor");
            return container->args[0];
        }
    }
    return container;
}

static Val *resolve_item(Resolver *r, Val *v) {
    Val *container = resolve(r, v->args[0]);
    if (!container) return NULL;
    container = below_module(r, container);
    Val *key = resolve(r, v->args[1]);
    if (!key || key->op != V_CONST) return NULL;
    ModuleFlow *mf = r->flow->modules;
    if (container->op == V_GLOBAL) return of_library(r, container, key);
    if (container->op == V_INSTANCE && container->def) {
        Val *method = object_attr(r->flow, container, r->flow->names.getitem);
        Val *dict = instance_dict(container);
        if (dict) resolver_link(r, dict->module, dict->node, "table");
        if (method && method->op == V_METHOD) {
            ModuleFlow *home = flow_module(r->flow, container->def->module);
            Val *item = call_value(home->frame, NULL, method, &key, 1);
            return item->op == V_CALL ? NULL : resolve(r, item);
        }
        if (!dict) return NULL;
        container = dict;
    } else if (container->op == V_DICT) {
        resolver_link(r, container->module, container->node, "table");
    }
    if (container->op != V_DICT && container->op != V_TUPLE &&
        container->op != V_LIST) {
        return NULL;
    }
    Val *item = eval_item(mf->frame, container, key);
    return item->op == V_ITEM ? NULL : resolve(r, item);
}

static int resolve_truth(Resolver *r, Val *cond);

static int compare_resolved(Resolver *r, Val *cond) {
    Val *a = resolve(r, cond->args[0]), *b = resolve(r, cond->args[1]);
    if (!a || !b) return -1;
    int same = -1;
    switch ((int)cond->ck) {
    case A_EQ: case A_IS: case A_NOT_EQ: case A_IS_NOT:
        if (a->op == V_CONST && b->op == V_CONST) same = a == b;
        else if (val_is_none(b) && a->op != V_CONST) same = 0;
        else return -1;
        return cond->ck == A_EQ || cond->ck == A_IS ? same : !same;
    case A_IN: case A_NOT_IN: {
        Val *dict = instance_dict(b);
        if (dict) b = dict;
        uint32_t step = b->op == V_DICT ? 2 : 1;
        if (b->op != V_DICT && b->op != V_LIST && b->op != V_TUPLE) return -1;
        if (a->op != V_CONST) return -1;
        bool found = false;
        for (uint32_t i = 0; i < b->nargs; i += step) found |= b->args[i] == a;
        return cond->ck == A_IN ? found : !found;
    }
    default:
        return -1;
    }
}

static int truth_inner(Resolver *r, Val *cond) {
    if (cond->op == V_PYOP && cond->nargs == 2 && cond->ck >= A_EQ) {
        return compare_resolved(r, cond);
    }
    if (cond->op == V_PYOP && cond->ck == A_NOT) {
        int inner = resolve_truth(r, cond->args[0]);
        return inner < 0 ? -1 : !inner;
    }
    if (cond->op == V_PYOP && (cond->ck == A_AND || cond->ck == A_OR)) {
        int stops = cond->ck == A_AND ? 0 : 1;
        bool all = true;
        for (uint32_t i = 0; i < cond->nargs; i++) {
            int part = resolve_truth(r, cond->args[i]);
            if (part == stops) return stops;
            all &= part >= 0;
        }
        return all ? !stops : -1;
    }
    Val *v = resolve(r, cond);
    return v ? val_truth(v) : -1;
}

static int resolve_truth(Resolver *r, Val *cond) {
    if (val_truth(cond) >= 0) return val_truth(cond);
    if (r->conditions >= CONDITIONS_MAX) return -1;
    r->conditions++;
    int truth = truth_inner(r, cond);
    r->conditions--;
    return truth;
}

static Val *resolve_phi(Resolver *r, Val *v) {
    int truth = resolve_truth(r, v->args[0]);
    if (truth >= 0) return resolve(r, truth ? v->args[1] : v->args[2]);
    Val *a = resolve(r, v->args[1]);
    Val *b = resolve(r, v->args[2]);
    return a && b && same_object(a, b) ? a : NULL;
}

// getattr(object, name) with a name that a config decides, and
// get_activation(name) of a library.
static Val *resolve_call(Resolver *r, Val *v) {
    if (v->nargs == 2 && library_has_activations(v->args[0])) {
        Val *key = resolve(r, v->args[1]);
        return key ? of_library(r, v->args[0], key) : NULL;
    }
    if (v->args[0]->op == V_CALL) { // getattr(nn, name)()
        Val *made = resolve(r, v->args[0]);
        if (!made || made->op != V_GLOBAL) return NULL;
        Val *value = call_value(r->flow->modules->frame, NULL, made, v->args + 1, v->nargs - 1);
        return value->op == V_INSTANCE ? value : NULL;
    }
    if (!val_is_global(v->args[0], "getattr") || v->nargs < 3) return NULL;
    Val *name = resolve(r, v->args[2]);
    if (!name || name->op != V_CONST || name->ck != CONST_STR) return NULL;
    const Sym *sym = sym_intern(r->flow->symbols, name->text);
    return resolve(r, eval_attribute(r->flow->modules->frame, v->args[1], sym));
}

// What an object rests on (TABLE[config.act]()) is part of the chain.
static void take_one(Resolver *r, const Assumption *a) {
    r->from_config |= a->from_config;
    r->likely |= a->likely;
    ChainLink *reversed = NULL;
    for (const ChainLink *c = a->chain; c; c = c->next) {
        ChainLink *link = NEW(r->flow->arena, ChainLink);
        *link = *c;
        link->next = reversed;
        reversed = link;
    }
    for (ChainLink *c = reversed; c; c = c->next) resolver_link(r, c->module, c->node, c->what);
}

static void take_assumption(Resolver *r, const Val *v) {
    for (const Assumption *a = v->assume; a; a = a->inner) take_one(r, a);
}

static Val *resolve_inner(Resolver *r, Val *v) {
    take_assumption(r, v);
    switch ((int)v->op) {
    case V_CONST: case V_GLOBAL: case V_FUNCTION: case V_CLASS: case V_LAMBDA:
    case V_METHOD: case V_INSTANCE: case V_DICT: case V_TUPLE: case V_LIST:
    case V_MODULE:
        return v;
    case V_ATTR: return resolve_attr(r, v);
    case V_ITEM: return resolve_item(r, v);
    case V_PHI: return resolve_phi(r, v);
    case V_CALL: return resolve_call(r, v);
    case V_PARAM: return object_class(v) ? v : resolve_param(r, v);
    case V_PYOP: {
        int truth = resolve_truth(r, v);
        return truth < 0 ? NULL : val_bool(&r->flow->graph, truth);
    }
    default: return NULL;
    }
}

bool resolve_enter(Flow *flow) {
    if (flow->resolving == 0) flow->resolve_steps = 0;
    uint32_t limit = flow->resolve_work < RESOLVE_MAX_WORK ? RESOLVE_MAX_STEPS
                                                           : RESOLVE_FEW_STEPS;
    if (flow->resolving >= RESOLVE_MAX_DEPTH || flow->resolve_steps >= limit) {
        recall_taint(flow);
        return false;
    }
    flow->resolving++;
    flow->resolve_steps++;
    flow->resolve_work++;
    return true;
}

static Val *resolve(Resolver *r, Val *v) {
    if (!resolve_enter(r->flow)) return NULL;
    Val *result = resolve_inner(r, v);
    r->flow->resolving--;
    return result;
}

// Without what only a default or the callers in sight decide, where that is asked.
static Resolved as_asked(const Flow *flow, Resolved r) {
    return flow->only_certain && (r.from_config || r.likely) ? (Resolved){0} : r;
}

Resolved flow_resolve(Flow *flow, Val *v) {
    if (v->resolved) return as_asked(flow, *v->resolved);
    v->resolved = NEW(flow->arena, Resolved); // asked again meanwhile: nothing
    Resolver r = {.flow = flow};
    Val *val = resolve(&r, v);
    Resolved found = {val, r.chain, r.from_config, r.likely};
    *v->resolved = found;
    if (flow->only_certain) v->resolved = NULL; // what it rests on was not all looked at
    return as_asked(flow, found);
}

enum { CALLED_MAX_STEPS = 8 };

// What a call takes its function from, where the source says "that, or None".
static Val *other_than_none(Resolver *r, Val *v) {
    bool chosen = false;
    for (int i = 0; i < CALLED_MAX_STEPS; i++) {
        if (v->op == V_ATTR && object_class(v->args[0])) {
            AttrSource source = attr_source(r->flow, v->args[0], v->name);
            if (!source.val || source.val == v) break;
            resolver_link(r, source.module, source.node, "attribute");
            v = source.val;
        } else if (v->op == V_PHI && (val_is_none(v->args[1]) || val_is_none(v->args[2]))) {
            v = v->args[val_is_none(v->args[1]) ? 2 : 1];
            chosen = true;
        } else {
            break;
        }
    }
    return chosen ? v : NULL;
}

Resolved flow_resolve_called(Flow *flow, Val *callee) {
    Resolved known = flow_resolve(flow, callee);
    if (known.val && !val_is_none(known.val)) return known;
    Resolver r = {.flow = flow};
    Val *other = other_than_none(&r, callee);
    if (!other) return known;
    Val *val = resolve(&r, other);
    return as_asked(flow, (Resolved){val, r.chain, r.from_config, r.likely});
}
