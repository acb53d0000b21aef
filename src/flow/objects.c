// objects.c - the attributes of objects: constructors, class bodies, methods.
//
// An attribute is read from the one statement of the constructor that stores
// it, where that statement stands alone; only otherwise is the whole
// constructor read.
#include "base/base.h"

#include "flow/changes.h"
#include "flow/recall.h"
#include "flow/resolve_impl.h"

enum { CONSTRUCT_MAX_DEPTH = 3 };

// ---- objects ----------------------------------------------------------------

const Def *object_class(const Val *object) {
    if (object->op == V_PARAM || object->op == V_INSTANCE) return object->def;
    return NULL;
}

static bool method_is_patched(Flow *flow, Def *class_def, const Sym *name) {
    Val object = {.op = V_CLASS, .def = class_def};
    return attr_is_patched(flow, flow_module(flow, class_def->module), &object, name);
}

// `self` may be of a subclass; an object that was made here is of its class.
static bool may_be_overridden(Flow *flow, const Val *object, const Sym *name) {
    return object->op == V_PARAM && object->def && method_is_overridden(flow, object->def, name);
}

// The function `name` of a class or its bases; *owner is where it stands.
static Node *find_method(Flow *flow, const Def *class_def, const Sym *name,
                         Def **owner) {
    Def mro[MRO_MAX];
    uint32_t n = class_mro(mro, class_def);
    for (uint32_t i = 0; i < n; i++) {
        if (mro[i].kind != DEF_CLASS) continue;
        Node *fn = class_method(mro[i].node, name);
        if (!fn) continue;
        if (method_is_patched(flow, &mro[i], name)) return NULL;
        *owner = NEW(flow->arena, Def);
        **owner = mro[i];
        return fn;
    }
    return NULL;
}

static Val *method_val(Flow *flow, Val *self, Node *fn, Def *owner) {
    Def *def = NEW(flow->arena, Def);
    *def = (Def){.kind = DEF_FUNCTION, .module = owner->module, .node = fn};
    def->dotted = arena_dotted(flow->arena, owner->dotted, sym_str(fn->u.function->name));
    Val *v = val_unique(&flow->graph, V_METHOD, &self, 1);
    v->def = def;
    v->ptr = owner;
    v->module = owner->module;
    return v;
}

// Reads the constructor of an instance with its own arguments.
static Frame *construct(Flow *flow, Val *inst) {
    if (inst->init_running) recall_taint(flow);
    if (inst->init) return inst->init_running ? NULL : inst->init;
    uint32_t from = recall_made_from(flow);
    Def *owner;
    Node *fn = find_method(flow, inst->def, flow->names.init, &owner);
    ModuleFlow *mf = flow_module(flow, inst->def->module);
    Frame *f = flow_module_frame(flow, mf);
    inst->init = f;
    f->attrs = NEW(flow->arena, NameTable);
    f->attrs_self = inst;
    if (flow->constructing >= CONSTRUCT_MAX_DEPTH) {
        recall_taint(flow);
        return f;
    }
    inst->init_running = true;
    flow->constructing++;
    if (fn) {
        Val *method = method_val(flow, inst, fn, owner);
        eval_inline(f, method, inst, inst->args, inst->nargs);
    }
    // A dataclass ends its construction there.
    Node *post = find_method(flow, inst->def, flow->names.post_init, &owner);
    if (post) {
        Val *method = method_val(flow, inst, post, owner);
        eval_inline(f, method, inst, NULL, 0);
    }
    flow->constructing--;
    inst->init_running = false;
    recall_made_to(flow, from);
    return f;
}

// ---- single statements of a constructor -------------------------------------

typedef struct InitStore {
    const Sym *name;
    Node *stmt, *value; // value NULL: not a plain assignment
    bool nested;        // in a branch or loop
    bool branched;      // in nothing but branches
} InitStore;

struct InitIndex {
    VEC(InitStore) stores;
    VEC(const Sym *) locals; // names that the function assigns
};

typedef struct IndexWalk {
    Flow *flow;
    struct InitIndex *index;
    const Sym *self;
    int depth, other; // statements around, and those that are no `if`
} IndexWalk;

static bool index_node(Node *node, void *data);

// self.layers.append(x) and self.layers[0] = x: no plain store.
static void index_item(IndexWalk *walk, const Node *container, Node *stmt) {
    if (container->kind != N_ATTRIBUTE) return;
    const Node *object = container->u.attribute.value;
    if (object->kind != N_NAME || object->u.name.id != walk->flow->names.self) return;
    InitStore store = {.name = container->u.attribute.attr, .stmt = stmt, .nested = true};
    vec_push(walk->flow->arena, &walk->index->stores, store);
}

static void index_change(IndexWalk *walk, Node *stmt) {
    const Node *call = stmt->u.return_.value;
    if (call->kind != N_CALL || call->u.call.func->kind != N_ATTRIBUTE) return;
    const Node *func = call->u.call.func;
    if (changes_items(func->u.attribute.attr)) index_item(walk, func->u.attribute.value, stmt);
}

static void index_target(IndexWalk *walk, Node *target, Node *stmt, Node *value) {
    Arena *arena = walk->flow->arena;
    if (target->kind == N_SUBSCRIPT) {
        index_item(walk, target->u.subscript.value, stmt);
    } else if (target->kind == N_NAME) {
        vec_push(arena, &walk->index->locals, target->u.name.id);
    } else if (target->kind == N_ATTRIBUTE) {
        Node *object = target->u.attribute.value;
        if (object->kind != N_NAME || object->u.name.id != walk->self) return;
        InitStore store = {target->u.attribute.attr, stmt, value, walk->depth > 1,
                           walk->other == 0};
        vec_push(arena, &walk->index->stores, store);
    } else if (target->kind == N_TUPLE || target->kind == N_LIST) {
        for (uint32_t i = 0; i < target->u.list.elts.len; i++) {
            index_target(walk, target->u.list.elts.at[i], stmt, NULL);
        }
    }
}

static bool index_node(Node *node, void *data) {
    IndexWalk *walk = data;
    switch ((int)node->kind) {
    case N_ASSIGN:
        for (uint32_t i = 0; i < node->u.assign.targets.len; i++) {
            index_target(walk, node->u.assign.targets.at[i], node, node->u.assign.value);
        }
        return true;
    case N_ANN_ASSIGN:
        index_target(walk, node->u.ann_assign.target, node, node->u.ann_assign.value);
        return true;
    case N_AUG_ASSIGN:
        index_target(walk, node->u.aug_assign.target, node, NULL);
        return true;
    case N_NAME:
        if (node->ctx != CTX_LOAD) {
            vec_push(walk->flow->arena, &walk->index->locals, node->u.name.id);
        }
        return true;
    case N_EXPR:
        index_change(walk, node);
        return true;
    case N_RETURN: case N_FUNCTION_DEF: case N_CLASS_DEF:
        return true;
    default:
        break;
    }
    if (walk->depth > 50) return true;
    walk->depth++;
    walk->other += node->kind != N_IF;
    node_children(node, index_node, walk);
    walk->other -= node->kind != N_IF;
    walk->depth--;
    return true;
}

static struct InitIndex *init_index(Flow *flow, FunctionInfo *info) {
    if (info->stores) return info->stores;
    info->stores = NEW(flow->arena, struct InitIndex);
    IndexWalk walk = {flow, info->stores, first_parameter(info->fn), 1, 0};
    NodeList body = info->fn->u.function->body;
    for (uint32_t i = 0; i < body.len; i++) index_node(body.at[i], &walk);
    return info->stores;
}

typedef struct AloneWalk {
    const struct InitIndex *index;
    bool alone;
} AloneWalk;

static bool check_alone(Node *node, void *data) {
    AloneWalk *walk = data;
    if (node->kind == N_NAME) {
        for (uint32_t i = 0; i < walk->index->locals.len; i++) {
            if (walk->index->locals.at[i] == node->u.name.id) walk->alone = false;
        }
        return walk->alone;
    }
    return node_children(node, check_alone, walk);
}

bool stands_alone(Flow *flow, FunctionInfo *info, Node *expr) {
    AloneWalk walk = {init_index(flow, info), true};
    check_alone(expr, &walk);
    return walk.alone;
}

Val *flow_read_alone(Flow *flow, ModuleFlow *mf, FunctionInfo *info, Node *expr) {
    return stands_alone(flow, info, expr) ? eval_expr(light_frame(flow, mf, info), expr) : NULL;
}

// The one plain store of the attribute, if there is no other; *count says how
// many there are.
static const InitStore *only_store(const struct InitIndex *index, const Sym *name,
                                   uint32_t *count) {
    const InitStore *found = NULL;
    *count = 0;
    for (uint32_t i = 0; i < index->stores.len; i++) {
        if (index->stores.at[i].name != name) continue;
        found = &index->stores.at[i];
        ++*count;
    }
    return *count == 1 && found->value && (!found->nested || found->branched) ? found : NULL;
}

static FunctionInfo *constructor_info(Flow *flow, const Def *class_def,
                                      ModuleFlow **mf) {
    Node *fn = class_method(class_def->node, flow->names.init);
    if (!fn) return NULL;
    *mf = flow_module(flow, class_def->module);
    return flow_function_info(flow, *mf, fn, class_def);
}

// Whether the attribute, if it is there at all, is what the one store in a
// branch made it: no class has a value of that name, none sets it otherwise.
static bool has_no_other(Flow *flow, const Def *mro, uint32_t n, const Sym *name) {
    uint32_t stores = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (mro[i].kind == DEF_EXTERNAL && !str_starts(mro[i].dotted, "torch.")) return false;
        if (mro[i].kind != DEF_CLASS) continue;
        if (class_value(mro[i].node, name) || class_method(mro[i].node, name)) return false;
        // register_parameter("weight", None), setattr(self, "weight", ...)
        if (class_has_text(&mro[i], sym_str(name))) return false;
        ModuleFlow *mf;
        uint32_t count = 0;
        FunctionInfo *info = constructor_info(flow, &mro[i], &mf);
        if (info) only_store(init_index(flow, info), name, &count);
        stores += count;
    }
    return stores == 1;
}

static AttrSource whole_constructor_attr(Frame *f, const Sym *name) {
    if (!f || !f->attrs) return (AttrSource){0};
    NameInfo *info = name_find(f->attrs, (uintptr_t)name | 1);
    if (!info || !info->bind) return (AttrSource){0};
    const Bind *bind = info->bind;
    Module *module = bind->module ? bind->module : f->module;
    return (AttrSource){bind->val, module, bind->stmt};
}

static AttrSource light_attr(Frame *light, const InitStore *store) {
    if (!light->attrs) return (AttrSource){0}; // a constructor without self
    uintptr_t key = (uintptr_t)store->name | 1;
    if (!name_find(light->attrs, key)) {
        uint32_t from = recall_made_from(light->flow);
        Val *val = eval_expr(light, store->value);
        recall_made_to(light->flow, from);
        name_set(light, light->attrs, key,
                 (Bind){.val = val, .stmt = store->stmt, .module = light->module});
    }
    return whole_constructor_attr(light, store->name);
}

// The parameters of an inherited constructor as those of the class itself: its
// callers are the callers of the class.
static Frame *inherited_frame(Flow *flow, const Def *class_def, ModuleFlow *mf,
                              FunctionInfo *constructor) {
    ModuleFlow *own = flow_module(flow, class_def->module);
    FunctionInfo *info = flow_function_info(flow, own, class_def->node, class_def);
    info->fn = constructor->fn;
    return light_frame(flow, mf, info);
}

// self.name of a class: the nearest constructor that stores it. One that the
// class's own constructor calls is read with it, for its arguments.
static AttrSource stored_attr(Flow *flow, const Def *class_def, const Sym *name) {
    Def mro[MRO_MAX];
    uint32_t n = class_mro(mro, class_def);
    FunctionInfo *first = NULL;
    ModuleFlow *first_mf = NULL;
    for (uint32_t i = 0; i < n; i++) {
        ModuleFlow *mf;
        FunctionInfo *info = mro[i].kind == DEF_CLASS
                                 ? constructor_info(flow, &mro[i], &mf) : NULL;
        if (!info) continue;
        if (!first) {
            first = info;
            first_mf = mf;
        }
        uint32_t count;
        const InitStore *store = only_store(init_index(flow, info), name, &count);
        if (count == 0) continue;
        if (store && store->nested && !has_no_other(flow, mro, n, name)) store = NULL;
        if (info == first && store && stands_alone(flow, info, store->value)) {
            Frame *light = i == 0 ? light_frame(flow, mf, info)
                                  : inherited_frame(flow, class_def, mf, info);
            return light_attr(light, store);
        }
        return whole_constructor_attr(flow_function(flow, first_mf, first), name);
    }
    return (AttrSource){0};
}

Val *object_buffer(Flow *flow, const Val *object, const Sym *name) {
    Def mro[MRO_MAX];
    if (!object_class(object)) return NULL;
    uint32_t n = class_mro(mro, object_class(object));
    for (uint32_t i = 0; i < n; i++) {
        ModuleFlow *mf;
        FunctionInfo *info = mro[i].kind == DEF_CLASS
                                 ? constructor_info(flow, &mro[i], &mf) : NULL;
        if (!info || !class_has_text(&mro[i], sym_str(name))) continue;
        AttrSource made = whole_constructor_attr(flow_function(flow, mf, info), name);
        if (made.val) return made.val;
    }
    return NULL;
}

uint32_t stored_names(Flow *flow, const Def *class_def, const Sym **out, uint32_t max) {
    ModuleFlow *mf;
    FunctionInfo *info = constructor_info(flow, class_def, &mf);
    if (!info) return 0;
    const struct InitIndex *index = init_index(flow, info);
    uint32_t n = 0;
    for (uint32_t i = 0; i < index->stores.len && n < max; i++) {
        out[n++] = index->stores.at[i].name;
    }
    return n;
}

// Whether a constructor or __post_init__ of the class stores the attribute.
static bool may_store(Flow *flow, const Def *class_def, const Sym *name) {
    Def mro[MRO_MAX];
    uint32_t n = class_mro(mro, class_def);
    for (uint32_t i = 0; i < n; i++) {
        if (mro[i].kind != DEF_CLASS) continue;
        ModuleFlow *mf = flow_module(flow, mro[i].module);
        const Sym *methods[] = {flow->names.init, flow->names.post_init};
        for (size_t k = 0; k < COUNT(methods); k++) {
            Node *fn = class_method(mro[i].node, methods[k]);
            uint32_t count = 0;
            if (fn) {
                FunctionInfo *info = flow_function_info(flow, mf, fn, &mro[i]);
                only_store(init_index(flow, info), name, &count);
            }
            if (count) return true;
        }
    }
    return false;
}

// What a constructor stores under the name of a property is unknown (eval_attr_change):
// then only the place is looked for, and the constructor is not read.
static AttrSource stored_by_setter(Flow *flow, Val *inst, const Sym *name) {
    if (inst->init || !object_method(flow, inst, name)) return (AttrSource){0};
    const Sym *last_first[] = {flow->names.post_init, flow->names.init};
    for (size_t k = 0; k < COUNT(last_first); k++) {
        Def mro[MRO_MAX];
        uint32_t n = class_mro(mro, inst->def), count;
        for (uint32_t i = 0; i < n; i++) {
            if (mro[i].kind != DEF_CLASS) continue;
            Node *fn = class_method(mro[i].node, last_first[k]);
            if (!fn) continue;
            ModuleFlow *mf = flow_module(flow, mro[i].module);
            FunctionInfo *info = flow_function_info(flow, mf, fn, &mro[i]);
            const InitStore *store = only_store(init_index(flow, info), name, &count);
            if (count && (!store || store->nested)) return (AttrSource){0};
            if (!store) continue;
            Val *unknown = val_unique(&flow->graph, V_OPAQUE, NULL, 0);
            return (AttrSource){unknown, mro[i].module, store->stmt};
        }
    }
    return (AttrSource){0};
}

AttrSource constructed_attr(Flow *flow, Val *object, const Sym *name) {
    if (object->op == V_INSTANCE) {
        if (!may_store(flow, object->def, name)) return (AttrSource){0};
        AttrSource set = stored_by_setter(flow, object, name);
        if (set.val) return set;
        return whole_constructor_attr(construct(flow, object), name);
    }
    return stored_attr(flow, object->def, name);
}

// An object of the class made without arguments: its defaults.
Val *default_instance(Flow *flow, const Def *class_def) {
    for (uint32_t i = 0; i < flow->defaults.len; i++) {
        if (flow->defaults.at[i]->def->node == class_def->node) {
            return flow->defaults.at[i];
        }
    }
    uint32_t from = recall_made_from(flow);
    Val *inst = val_unique(&flow->graph, V_INSTANCE, NULL, 0);
    recall_made_to(flow, from);
    inst->def = NEW(flow->arena, Def);
    *inst->def = *class_def;
    vec_push(flow->arena, &flow->defaults, inst);
    return inst;
}

// act = staticmethod(F.silu): the function itself.
static Val *below_staticmethod(Val *v) {
    bool wraps = v->op == V_CALL && v->nargs == 2 && val_is_global(v->args[0], "staticmethod");
    return wraps ? v->args[1] : v;
}

static AttrSource class_attr(Flow *flow, Val *object, const Def *class_def,
                             const Sym *name, uint32_t first) {
    Def mro[MRO_MAX];
    uint32_t n = class_mro(mro, class_def);
    for (uint32_t i = first; i < n; i++) {
        if (mro[i].kind != DEF_CLASS) continue;
        Node *fn = class_method(mro[i].node, name);
        if (fn && (method_is_patched(flow, &mro[i], name) ||
                   may_be_overridden(flow, object, name))) {
            return (AttrSource){0};
        }
        if (fn) {
            Def *owner = NEW(flow->arena, Def);
            *owner = mro[i];
            return (AttrSource){method_val(flow, object, fn, owner),
                                mro[i].module, fn};
        }
        Node *value = class_value(mro[i].node, name);
        if (value) {
            ModuleFlow *mf = flow_module(flow, mro[i].module);
            Val *made = below_staticmethod(eval_expr(mf->frame, value));
            return (AttrSource){made, mro[i].module, value};
        }
    }
    return (AttrSource){0};
}

AttrSource attr_source(Flow *flow, Val *object, const Sym *name) {
    if (object->op == V_SUPER) {
        Val *self = object->args[0];
        const Def *from = object->ptr;
        if (!object_class(self)) return (AttrSource){0};
        Def mro[MRO_MAX];
        uint32_t n = class_mro(mro, object_class(self)), first = 0;
        while (first < n && mro[first].node != from->node) first++;
        return class_attr(flow, self, object_class(self), name, first + 1);
    }
    if (object->op == V_CLASS) return class_attr(flow, object, object->def, name, 0);
    if (!object_class(object)) return (AttrSource){0};
    AttrSource made = constructed_attr(flow, object, name);
    if (made.val) return made;
    return class_attr(flow, object, object_class(object), name, 0);
}

Val *object_method(Flow *flow, Val *object, const Sym *name) {
    Def *owner;
    if (may_be_overridden(flow, object, name)) return NULL;
    Node *fn = find_method(flow, object_class(object), name, &owner);
    return fn ? method_val(flow, object, fn, owner) : NULL;
}

Val *object_attr(Flow *flow, Val *object, const Sym *name) {
    AttrSource source = attr_source(flow, object, name);
    if (source.val && object->op == V_CLASS && source.val->op == V_METHOD) {
        Def *def = source.val->def;
        Val v = {.op = V_FUNCTION, .def = def, .module = def->module};
        return val_intern(&flow->graph, &v);
    }
    return source.val;
}

