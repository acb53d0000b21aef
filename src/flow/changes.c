// changes.c - what a module changes after it was bound.
//
// F.silu = f, Act.forward = f, TABLE["silu"] = f and `global name` at module
// level change what a name or an attribute means, and a method or a subclass
// may store another object than the constructor did. Each is looked for by its
// statement; nothing is read beyond the module itself.
#include "base/base.h"

#include "flow/changes.h"

typedef struct Store { // object.attr = value, somewhere in a function
    const Sym *attr;
    const Node *object;
    const Node *class_node; // whose body holds the function, or NULL
    const Sym *function;
    bool item; // object.attr[...] = value, object.attr.append(value)
    bool of_self; // of the method's first parameter
} Store;

typedef struct Patch { // a statement at module level
    const Node *target; // Attribute or Subscript; a Call of a method
    Node *value;        // or NULL
    bool sure;          // not in a branch
    bool running;
} Patch;

struct Changes {
    VEC(Store) stores;
    VEC(Patch) patches;
    VEC(const Sym *) globals; // names that functions declare global
    VEC(Node *) classes;
};

// ---- collecting -------------------------------------------------------------

bool changes_items(const Sym *method) {
    static const char *const names[] = {
        "append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "update",
        "setdefault", "popitem", "add_module", "register_module", "__setitem__", "__delitem__",
    };
    for (size_t i = 0; i < COUNT(names); i++) {
        if (str_is(sym_str(method), names[i])) return true;
    }
    return false;
}

typedef struct Walk {
    Arena *arena;
    struct Changes *out;
    const Node *class_node;
    const Sym *self; // the first parameter of the method around
    const Sym *function; // NULL at module level
    int branch, depth;
} Walk;

static bool collect(Node *node, void *data);

static void collect_inside(Walk *walk, Node *node) {
    if (++walk->depth < 100) node_children(node, collect, walk);
    walk->depth--;
}

const Sym *first_parameter(const Node *fn) {
    const ArgumentsNode *a = fn->u.function->args->u.arguments;
    const NodeList *list = a->posonly.len ? &a->posonly : &a->args;
    return list->len ? list->at[0]->u.arg.name : NULL;
}

static bool is_self(const Walk *walk, const Node *target) {
    const Node *object = target->u.attribute.value;
    return walk->self && object->kind == N_NAME && object->u.name.id == walk->self;
}

static void collect_item(Walk *walk, const Node *container) {
    if (container->kind != N_ATTRIBUTE) return;
    Store store = {container->u.attribute.attr, container->u.attribute.value,
                   walk->class_node, walk->function, true, is_self(walk, container)};
    vec_push(walk->arena, &walk->out->stores, store);
}

static void collect_target(Walk *walk, const Node *target, Node *value) {
    Arena *arena = walk->arena;
    if (target->kind == N_TUPLE || target->kind == N_LIST) {
        for (uint32_t i = 0; i < target->u.list.elts.len; i++) {
            collect_target(walk, target->u.list.elts.at[i], NULL);
        }
    } else if (walk->function && target->kind == N_ATTRIBUTE) {
        Store store = {target->u.attribute.attr, target->u.attribute.value,
                       walk->class_node, walk->function, false, is_self(walk, target)};
        vec_push(arena, &walk->out->stores, store);
    } else if (walk->function && target->kind == N_SUBSCRIPT) {
        collect_item(walk, target->u.subscript.value);
    } else if (!walk->function && !walk->class_node &&
               (target->kind == N_ATTRIBUTE || target->kind == N_SUBSCRIPT)) {
        Patch patch = {.target = target, .value = value, .sure = !walk->branch};
        vec_push(arena, &walk->out->patches, patch);
    }
}

static void collect_function(Walk *walk, Node *node) {
    Walk inner = *walk;
    if (walk->class_node && !walk->function) inner.self = first_parameter(node);
    inner.function = node->u.function->name;
    collect_inside(&inner, node);
}

static void collect_class(Walk *walk, Node *node) {
    vec_push(walk->arena, &walk->out->classes, node);
    Walk inner = *walk;
    inner.class_node = node;
    inner.function = NULL;
    collect_inside(&inner, node);
}

static void collect_simple(Walk *walk, Node *node) {
    Arena *arena = walk->arena;
    if (node->kind == N_ASSIGN) {
        for (uint32_t i = 0; i < node->u.assign.targets.len; i++) {
            collect_target(walk, node->u.assign.targets.at[i], node->u.assign.value);
        }
    } else if (node->kind == N_ANN_ASSIGN && node->u.ann_assign.value) {
        collect_target(walk, node->u.ann_assign.target, node->u.ann_assign.value);
    } else if (node->kind == N_AUG_ASSIGN) {
        collect_target(walk, node->u.aug_assign.target, NULL);
    } else if (node->kind == N_GLOBAL) {
        for (uint32_t i = 0; i < node->u.global.len; i++) {
            vec_push(arena, &walk->out->globals, node->u.global.names[i]);
        }
    } else if (node->kind == N_EXPR) {
        Node *call = node->u.return_.value; // TABLE.update(...)
        if (call->kind != N_CALL || call->u.call.func->kind != N_ATTRIBUTE) return;
        const Node *func = call->u.call.func;
        if (walk->function && changes_items(func->u.attribute.attr)) {
            collect_item(walk, func->u.attribute.value);
        }
        if (walk->function || walk->class_node) return;
        Patch patch = {.target = call, .sure = !walk->branch};
        vec_push(arena, &walk->out->patches, patch);
    }
}

static bool collect(Node *node, void *data) {
    Walk *walk = data;
    switch ((int)node->kind) {
    case N_FUNCTION_DEF: case N_ASYNC_FUNCTION_DEF: collect_function(walk, node); break;
    case N_CLASS_DEF: collect_class(walk, node); break;
    case N_IF: case N_FOR: case N_ASYNC_FOR: case N_WHILE: case N_TRY: case N_TRY_STAR:
    case N_WITH: case N_ASYNC_WITH: case N_MATCH: case N_EXCEPT_HANDLER:
    case N_MATCH_CASE:
        walk->branch++;
        collect_inside(walk, node);
        walk->branch--;
        break;
    default:
        if (node_is_statement(node)) collect_simple(walk, node);
        break;
    }
    return true;
}

// Found once for as long as the module is open.
static struct Changes *changes_of(ModuleFlow *mf) {
    Module *m = mf->module;
    if (m->changes) return m->changes;
    m->changes = NEW(&m->arena, struct Changes);
    Walk walk = {.arena = &m->arena, .out = m->changes};
    collect_inside(&walk, m->parsed.module);
    return m->changes;
}

// ---- attributes that are replaced at module level ---------------------------

static bool is_object(Flow *flow, ModuleFlow *mf, Patch *patch, const Val *object) {
    if (patch->running) return false;
    patch->running = true;
    Val *v = eval_expr(flow_module_frame(flow, mf), patch->target->u.attribute.value);
    patch->running = false;
    if (v->op == V_CLASS && object->op == V_CLASS) return v->def->node == object->def->node;
    return v == object;
}

bool attr_is_patched(Flow *flow, ModuleFlow *mf, const Val *object, const Sym *attr) {
    struct Changes *changes = changes_of(mf);
    for (uint32_t i = 0; i < changes->patches.len; i++) {
        Patch *patch = &changes->patches.at[i];
        if (patch->target->kind != N_ATTRIBUTE) continue;
        if (patch->target->u.attribute.attr != attr) continue;
        if (is_object(flow, mf, patch, object)) return true;
    }
    return false;
}

// ---- names ------------------------------------------------------------------

// The module-level name that the statement changes, or NULL.
static const Sym *patched_name(const Patch *patch) {
    const Node *at = patch->target;
    if (at->kind == N_CALL) at = at->u.call.func->u.attribute.value;
    else if (at->kind == N_SUBSCRIPT) at = at->u.subscript.value;
    else return NULL;
    return at->kind == N_NAME ? at->u.name.id : NULL;
}

// The dict with `key: value` behind its entries: the last of a key counts.
static Val *with_entry(Flow *flow, Val *dict, Val *key, Val *value) {
    Val **all = NEW_N(flow->arena, Val *, dict->nargs + 2);
    if (dict->nargs) memcpy(all, dict->args, sizeof(Val *) * dict->nargs);
    all[dict->nargs] = key;
    all[dict->nargs + 1] = value;
    return val_new(&flow->graph, V_DICT, all, dict->nargs + 2);
}

// TABLE.update(a=f): NULL if more than that is done.
static Val *with_update(Frame *f, Val *dict, const Node *call) {
    bool update = str_is(sym_str(call->u.call.func->u.attribute.attr), "update");
    if (!update || call->u.call.args.len > 1) return NULL;
    if (call->u.call.args.len) {
        Val *more = eval_expr(f, call->u.call.args.at[0]);
        if (more->op != V_DICT) return NULL;
        for (uint32_t i = 0; i + 1 < more->nargs; i += 2) {
            dict = with_entry(f->flow, dict, more->args[i], more->args[i + 1]);
        }
    }
    for (uint32_t i = 0; i < call->u.call.keywords.len; i++) {
        Node *k = call->u.call.keywords.at[i];
        if (!k->u.keyword.name) return NULL;
        dict = with_entry(f->flow, dict, val_str(&f->flow->graph, sym_str(k->u.keyword.name)),
                          eval_expr(f, k->u.keyword.value));
    }
    return dict;
}

static Val *apply_patch(Frame *f, Val *dict, const Patch *patch) {
    if (!patch->sure || dict->op != V_DICT) return NULL;
    if (patch->target->kind == N_CALL) return with_update(f, dict, patch->target);
    if (!patch->value) return NULL;
    Val *key = eval_expr(f, patch->target->u.subscript.slice);
    if (key->op != V_CONST) return NULL;
    return with_entry(f->flow, dict, key, eval_expr(f, patch->value));
}

Val *value_with_changes(Flow *flow, ModuleFlow *mf, const Node *node, Val *val) {
    struct Changes *changes = changes_of(mf);
    Val *unknown = val_unique(&flow->graph, V_OPAQUE, NULL, 0);
    for (uint32_t i = 0; i < changes->globals.len; i++) {
        Def def = project_lookup(mf->module, changes->globals.at[i]);
        if (def.node == node) return unknown;
    }
    if (val->op != V_DICT && val->op != V_LIST) return val;
    for (uint32_t i = 0; i < changes->patches.len; i++) {
        const Patch *patch = &changes->patches.at[i];
        const Sym *name = patched_name(patch);
        if (!name || project_lookup(mf->module, name).node != node) continue;
        val = apply_patch(flow_module_frame(flow, mf), val, patch);
        if (!val) return unknown;
    }
    return val;
}

// ---- attributes of objects --------------------------------------------------

static bool derives(Module *module, const Node *class_node, const Def *base) {
    Def def = {.kind = DEF_CLASS, .module = module, .node = (Node *)(uintptr_t)class_node};
    Def mro[MRO_MAX];
    uint32_t n = class_mro(mro, &def);
    for (uint32_t i = 1; i < n; i++) {
        if (mro[i].kind == DEF_CLASS && mro[i].node == base->node) return true;
    }
    return false;
}

bool method_is_overridden(Flow *flow, const Def *class_def, const Sym *name) {
    ModuleFlow *mf = flow_module(flow, class_def->module);
    struct Changes *changes = changes_of(mf);
    for (uint32_t i = 0; i < changes->classes.len; i++) {
        Node *node = changes->classes.at[i];
        if (node == class_def->node || !class_method(node, name)) continue;
        if (derives(mf->module, node, class_def)) return true;
    }
    return false;
}

static bool is_constructor(const Flow *flow, const Store *store) {
    return store->function == flow->names.init || store->function == flow->names.post_init;
}

bool attr_is_stored(ModuleFlow *mf, const Sym *name) {
    struct Changes *changes = changes_of(mf);
    for (uint32_t i = 0; name && i < changes->stores.len; i++) {
        const Store *store = &changes->stores.at[i];
        if (store->attr != name || store->item) continue;
        if (!store->of_self) return true;
    }
    return false;
}

AttrChange attr_change(Flow *flow, const Def *class_def, const Sym *name) {
    ModuleFlow *mf = flow_module(flow, class_def->module);
    struct Changes *changes = changes_of(mf);
    AttrChange found = ATTR_KEPT;
    for (uint32_t i = 0; i < changes->stores.len; i++) {
        const Store *store = &changes->stores.at[i];
        if (store->attr != name || store->item) continue;
        bool of_self = store->of_self && store->class_node;
        bool own = store->class_node == class_def->node;
        if (!of_self) found = found ? found : ATTR_CHANGED_OUTSIDE;
        else if (own && !is_constructor(flow, store)) return ATTR_CHANGED;
        else if (!own && derives(mf->module, store->class_node, class_def)) {
            found = found ? found : ATTR_CHANGED_OUTSIDE;
        }
    }
    // class Other(Base): act = nn.GELU()
    for (uint32_t i = 0; i < changes->classes.len && found == ATTR_KEPT; i++) {
        const Node *node = changes->classes.at[i];
        bool own = node != class_def->node && class_value(node, name);
        if (own && derives(mf->module, node, class_def)) found = ATTR_CHANGED_OUTSIDE;
    }
    return found;
}

bool attr_items_change(Flow *flow, const Def *class_def, const Sym *name) {
    ModuleFlow *mf = flow_module(flow, class_def->module);
    struct Changes *changes = changes_of(mf);
    for (uint32_t i = 0; i < changes->stores.len; i++) {
        const Store *store = &changes->stores.at[i];
        bool own = store->class_node == class_def->node && is_constructor(flow, store);
        if (store->attr == name && store->item && !own) return true;
    }
    return false;
}
