// resolve.c - from an attribute to the object behind it, with its chain.
//
// `self.act_fn` leads to the constructor's `ACT2FN[config.hidden_act]`, from
// there to the table and to the key, from the key to the config class and its
// default. Each step is a ChainLink; a step that rests on a default or on the
// callers that are in sight sets `from_config`.
#include "base/base.h"

#include "base/file.h"
#include "flow/flow.h"

enum { RESOLVE_MAX_DEPTH = 24, CONSTRUCT_MAX_DEPTH = 3, CLASSES_MAX = 8 };

typedef struct Resolver {
    Flow *flow;
    ChainLink *chain;
    bool from_config, likely;
} Resolver;

static Val *resolve(Resolver *r, Val *v);

static void push_link(Resolver *r, Module *module, Node *node,
                      const char *what) {
    if (!module || !node) return;
    ChainLink *link = NEW(r->flow->arena, ChainLink);
    *link = (ChainLink){module, node, what, r->chain};
    r->chain = link;
}

// ---- modules and functions -----------------------------------------------------

typedef struct ListFunctions {
    Flow *flow;
    ModuleFlow *mf;
    Def *owner;
    Str prefix;
    int depth;
} ListFunctions;

static void list_block(ListFunctions *list, NodeList block);

static void list_inside(ListFunctions *list, NodeList body, Def *owner, Str name) {
    ListFunctions inner = *list;
    inner.owner = owner;
    inner.depth++;
    inner.prefix = arena_dotted(list->flow->arena, list->prefix, name);
    list_block(&inner, body);
}

static void list_class(ListFunctions *list, Node *node) {
    Arena *arena = list->flow->arena;
    Def *def = NEW(arena, Def);
    *def = (Def){.kind = DEF_CLASS, .module = list->mf->module, .node = node};
    Str name = sym_str(node->u.class_->name);
    def->dotted = arena_dotted(arena, list->mf->module->dotted, name);
    list_inside(list, node->u.class_->body, def, name);
}

static void list_function(ListFunctions *list, Node *node) {
    Arena *arena = list->flow->arena;
    Str name = sym_str(node->u.function->name);
    FunctionInfo info = {.fn = node, .owner = list->owner,
                         .qualname = arena_dotted(arena, list->prefix, name)};
    vec_push(arena, &list->mf->functions, info);
    list->mf->function_of[node->id] = list->mf->functions.len;
    list_inside(list, node->u.function->body, NULL, name);
}

static void list_try(ListFunctions *list, const Node *node) {
    list_block(list, node->u.try_->body);
    for (uint32_t i = 0; i < node->u.try_->handlers.len; i++) {
        list_block(list, node->u.try_->handlers.at[i]->u.handler.body);
    }
    list_block(list, node->u.try_->orelse);
    list_block(list, node->u.try_->finalbody);
}

static void list_stmt(ListFunctions *list, Node *node) {
    switch ((int)node->kind) {
    case N_CLASS_DEF: list_class(list, node); break;
    case N_FUNCTION_DEF:
    case N_ASYNC_FUNCTION_DEF: list_function(list, node); break;
    case N_IF:
    case N_WHILE:
        list_block(list, node->u.while_.body);
        list_block(list, node->u.while_.orelse);
        break;
    case N_FOR:
    case N_ASYNC_FOR:
        list_block(list, node->u.for_->body);
        list_block(list, node->u.for_->orelse);
        break;
    case N_WITH:
    case N_ASYNC_WITH: list_block(list, node->u.with.body); break;
    case N_TRY:
    case N_TRY_STAR: list_try(list, node); break;
    case N_MATCH:
        for (uint32_t i = 0; i < node->u.match.cases.len; i++) {
            list_block(list, node->u.match.cases.at[i]->u.match_case.body);
        }
        break;
    default: break;
    }
}

static void list_block(ListFunctions *list, NodeList block) {
    if (++list->depth < 200) {
        for (uint32_t i = 0; i < block.len; i++) list_stmt(list, block.at[i]);
    }
    list->depth--;
}

static Frame *module_frame(Flow *flow, ModuleFlow *mf) {
    Frame *f = NEW(flow->arena, Frame);
    Run *run = NEW(flow->arena, Run);
    run->budget = 4000;
    *f = (Frame){.flow = flow, .run = run, .module = mf->module, .mf = mf};
    f->top = f;
    return f;
}

ModuleFlow *flow_module(Flow *flow, Module *module) {
    for (ModuleFlow *mf = flow->modules; mf; mf = mf->next) {
        if (mf->module == module) return mf;
    }
    ModuleFlow *mf = NEW(flow->arena, ModuleFlow);
    mf->module = module;
    mf->val_of = NEW_N(flow->arena, Val *, module->parsed.node_count + 1);
    mf->effects_of = NEW_N(flow->arena, uint16_t, module->parsed.node_count + 1);
    mf->function_of = NEW_N(flow->arena, uint32_t, module->parsed.node_count + 1);
    mf->frame = module_frame(flow, mf);
    mf->next = flow->modules;
    flow->modules = mf;
    ListFunctions list = {.flow = flow, .mf = mf};
    list_block(&list, module->parsed.module->u.module.body);
    return mf;
}

FunctionInfo *flow_function_info(ModuleFlow *mf, const Node *fn) {
    uint32_t i = mf->function_of[fn->id];
    return i ? &mf->functions.at[i - 1] : NULL;
}

void flow_init(Flow *flow, Project *project, const OpTable *ops, Arena *arena) {
    *flow = (Flow){.project = project, .symbols = project->symbols, .ops = ops,
                   .arena = arena};
    graph_init(&flow->graph, arena);
    struct {
        const Sym **at;
        const char *text;
    } rows[] = {
        {&flow->names.self, "self"}, {&flow->names.forward, "forward"},
        {&flow->names.init, "__init__"}, {&flow->names.call, "__call__"},
        {&flow->names.getitem, "__getitem__"},
        {&flow->names.post_init, "__post_init__"}, {&flow->names.dtype, "dtype"},
        {&flow->names.shape, "shape"}, {&flow->names.apply, "apply"},
        {&flow->names.property, "property"},
        {&flow->names.sub_configs, "sub_configs"},
        {&flow->names.staticmethod_, "staticmethod"},
        {&flow->names.classmethod_, "classmethod"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        *rows[i].at = sym_intern(flow->symbols, str_of(rows[i].text));
    }
}

// ---- objects ----------------------------------------------------------------------

const Def *object_class(const Val *object) {
    if (object->op == V_PARAM || object->op == V_INSTANCE) return object->def;
    return NULL;
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
    if (inst->init) return inst->init_running ? NULL : inst->init;
    Def *owner;
    Node *fn = find_method(flow, inst->def, flow->names.init, &owner);
    ModuleFlow *mf = flow_module(flow, inst->def->module);
    Frame *f = module_frame(flow, mf);
    inst->init = f;
    f->attrs = NEW(flow->arena, NameTable);
    f->attrs_self = inst;
    if (flow->constructing >= CONSTRUCT_MAX_DEPTH) return f;
    inst->init_running = true;
    flow->constructing++;
    if (fn) {
        Val *method = method_val(flow, inst, fn, owner);
        eval_inline(f, method, fn, inst, inst->args, inst->nargs);
    }
    // A dataclass ends its construction there.
    Node *post = find_method(flow, inst->def, flow->names.post_init, &owner);
    if (post) {
        Val *method = method_val(flow, inst, post, owner);
        eval_inline(f, method, post, inst, NULL, 0);
    }
    flow->constructing--;
    inst->init_running = false;
    return f;
}

// The frame whose `attrs` are the attributes of the object.
static Frame *object_frame(Flow *flow, Val *object) {
    if (object->op == V_INSTANCE) return construct(flow, object);
    Def *owner;
    Node *fn = find_method(flow, object->def, flow->names.init, &owner);
    if (!fn) return NULL;
    ModuleFlow *mf = flow_module(flow, owner->module);
    FunctionInfo *info = flow_function_info(mf, fn);
    if (!info) return NULL;
    return flow_function(flow, mf, (uint32_t)(info - mf->functions.at));
}

typedef struct AttrSource {
    Val *val;
    Module *module;
    Node *node;
} AttrSource;

static AttrSource constructed_attr(Flow *flow, Val *object, const Sym *name) {
    Frame *f = object_frame(flow, object);
    if (!f || !f->attrs) return (AttrSource){0};
    NameInfo *info = name_find(f->attrs, (uintptr_t)name | 1);
    if (!info || !info->bind) return (AttrSource){0};
    Module *module = info->bind->val && info->bind->val->module
                         ? info->bind->val->module : f->module;
    return (AttrSource){info->bind->val, module, info->bind->stmt};
}

static AttrSource class_attr(Flow *flow, Val *object, const Def *class_def,
                             const Sym *name, uint32_t first) {
    Def mro[MRO_MAX];
    uint32_t n = class_mro(mro, class_def);
    for (uint32_t i = first; i < n; i++) {
        if (mro[i].kind != DEF_CLASS) continue;
        Node *fn = class_method(mro[i].node, name);
        if (fn) {
            Def *owner = NEW(flow->arena, Def);
            *owner = mro[i];
            return (AttrSource){method_val(flow, object, fn, owner),
                                mro[i].module, fn};
        }
        Node *value = class_value(mro[i].node, name);
        if (value) {
            ModuleFlow *mf = flow_module(flow, mro[i].module);
            return (AttrSource){eval_expr(mf->frame, value), mro[i].module, value};
        }
    }
    return (AttrSource){0};
}

static AttrSource attr_source(Flow *flow, Val *object, const Sym *name) {
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

// ---- classes of configuration objects ------------------------------------------------

typedef struct Classes {
    Def at[CLASSES_MAX];
    uint32_t len;
} Classes;

static void add_class(Classes *out, const Def *def) {
    for (uint32_t i = 0; i < out->len; i++) {
        if (out->at[i].node == def->node) return;
    }
    if (out->len < CLASSES_MAX) out->at[out->len++] = *def;
}

static void annotation_classes(Resolver *r, Classes *out, Module *m,
                               const Node *a, int depth) {
    if (!a || depth > 8) return;
    Def def = {0};
    switch ((int)a->kind) {
    case N_NAME:
        def = project_lookup(m, a->u.name.id);
        break;
    case N_CONSTANT: // a forward reference: "ModelConfig"
        if (a->op == CONST_STR) {
            const Sym *name = sym_find(r->flow->symbols, a->u.constant.text);
            if (name) def = project_lookup(m, name);
        }
        break;
    case N_ATTRIBUTE: {
        Val *v = eval_expr(flow_module(r->flow, m)->frame, (Node *)(uintptr_t)a);
        if (v->op == V_CLASS) def = *v->def;
        break;
    }
    case N_SUBSCRIPT: // Optional[C], Union[C, D]
        annotation_classes(r, out, m, a->u.subscript.slice, depth + 1);
        break;
    case N_BIN_OP: // C | None
        annotation_classes(r, out, m, a->u.bin.left, depth + 1);
        annotation_classes(r, out, m, a->u.bin.right, depth + 1);
        break;
    case N_TUPLE:
        for (uint32_t i = 0; i < a->u.list.elts.len; i++) {
            annotation_classes(r, out, m, a->u.list.elts.at[i], depth + 1);
        }
        break;
    default:
        break;
    }
    if (def.kind == DEF_CLASS) add_class(out, &def);
}

static void classes_of(Resolver *r, Classes *out, Val *v);

// {"text_config": TextConfig} as a class attribute names a part's class.
static void sub_config_classes(Resolver *r, Classes *out, const Def *owner,
                               const Sym *name) {
    Val holder = {.op = V_CLASS, .def = (Def *)(uintptr_t)owner};
    Val *cls = val_intern(&r->flow->graph, &holder);
    AttrSource source = attr_source(r->flow, cls, r->flow->names.sub_configs);
    if (!source.val || source.val->op != V_DICT) return;
    for (uint32_t i = 0; i + 1 < source.val->nargs; i += 2) {
        if (!val_is_str(source.val->args[i], name->text)) continue;
        if (source.val->args[i + 1]->op == V_CLASS) {
            add_class(out, source.val->args[i + 1]->def);
        }
    }
}

// An object of the class made without arguments: its defaults.
static Val *default_instance(Flow *flow, const Def *class_def) {
    for (uint32_t i = 0; i < flow->defaults.len; i++) {
        if (flow->defaults.at[i]->def->node == class_def->node) {
            return flow->defaults.at[i];
        }
    }
    Val *inst = val_unique(&flow->graph, V_INSTANCE, NULL, 0);
    inst->def = NEW(flow->arena, Def);
    *inst->def = *class_def;
    vec_push(flow->arena, &flow->defaults, inst);
    return inst;
}

static void field_classes(Resolver *r, Classes *out, const Def *owner,
                          const Sym *name) {
    sub_config_classes(r, out, owner, name);
    Def mro[MRO_MAX];
    uint32_t n = class_mro(mro, owner);
    for (uint32_t i = 0; i < n && out->len == 0; i++) {
        if (mro[i].kind != DEF_CLASS) continue;
        annotation_classes(r, out, mro[i].module,
                           class_annotation(mro[i].node, name), 0);
    }
    if (out->len) return;
    Val *inst = default_instance(r->flow, owner);
    AttrSource source = constructed_attr(r->flow, inst, name);
    if (source.val) classes_of(r, out, source.val);
}

typedef struct Callers {
    Val *args[CLASSES_MAX];
    Node *calls[CLASSES_MAX];
    Module *modules[CLASSES_MAX];
    uint32_t len;
} Callers;

static void find_callers(Resolver *r, Callers *out, const Val *param);

static void classes_of(Resolver *r, Classes *out, Val *v) {
    if (++r->flow->resolving > RESOLVE_MAX_DEPTH) {
        r->flow->resolving--;
        return;
    }
    if (object_class(v)) {
        add_class(out, object_class(v));
    } else if (v->op == V_PHI) {
        classes_of(r, out, v->args[1]);
        classes_of(r, out, v->args[2]);
    } else if (v->op == V_PARAM && v->node) {
        annotation_classes(r, out, v->module, v->node->u.arg.annotation, 0);
        if (out->len == 0) {
            Callers callers = {0};
            find_callers(r, &callers, v);
            for (uint32_t i = 0; i < callers.len; i++) {
                classes_of(r, out, callers.args[i]);
            }
        }
    } else if (v->op == V_ATTR) {
        if (object_class(v->args[0])) {
            AttrSource source = attr_source(r->flow, v->args[0], v->name);
            if (source.val && source.val != v) classes_of(r, out, source.val);
        }
        if (out->len == 0) {
            Classes owners = {0};
            classes_of(r, &owners, v->args[0]);
            for (uint32_t i = 0; i < owners.len; i++) {
                field_classes(r, out, &owners.at[i], v->name);
            }
        }
    }
    r->flow->resolving--;
}

// The default of a field of a configuration class.
static AttrSource field_default(Resolver *r, const Def *class_def,
                                const Sym *name) {
    Val holder = {.op = V_CLASS, .def = (Def *)(uintptr_t)class_def};
    Val *cls = val_intern(&r->flow->graph, &holder);
    AttrSource source = attr_source(r->flow, cls, name);
    if (source.val && source.val->op == V_CALL) { // field(default=...)
        for (uint32_t i = 1; i < source.val->nargs; i++) {
            Val *arg = source.val->args[i];
            if (arg->op == V_KEYWORD && arg->name &&
                str_is(sym_str(arg->name), "default")) {
                source.val = arg->args[0];
                return source;
            }
        }
    }
    if (source.val && source.val->op == V_CONST && !val_is_none(source.val)) return source;
    Val *inst = default_instance(r->flow, class_def);
    AttrSource made = constructed_attr(r->flow, inst, name);
    if (made.val && made.val->node) {
        made.node = made.val->node;
        made.module = made.val->module;
    }
    return made.val ? made : source;
}

// ---- callers of a constructor -----------------------------------------------------------

// The position of the parameter among the constructor's, without self.
static int param_index(const Val *param) {
    const Frame *f = param->ptr;
    ArgumentsNode *a = f->fn->u.function->args->u.arguments;
    uint32_t n = a->posonly.len + a->args.len;
    for (uint32_t i = 0; i < n; i++) {
        Node *arg = i < a->posonly.len ? a->posonly.at[i]
                                       : a->args.at[i - a->posonly.len];
        if (arg == param->node) return (int)i - 1;
    }
    return -1;
}

static Val *argument_of(const Val *inst, const Val *param, int index) {
    int at = 0;
    for (uint32_t i = 0; i < inst->nargs; i++) {
        Val *arg = inst->args[i];
        if (arg->op == V_STAR) return NULL;
        if (arg->op == V_KEYWORD) {
            if (arg->name == param->name) return arg->args[0];
        } else if (at++ == index) {
            return arg;
        }
    }
    return NULL;
}

static bool constructs(const Val *inst, const Def *class_def) {
    if (!inst || inst->op != V_INSTANCE || !inst->def) return false;
    return inst->def->node == class_def->node;
}

static void callers_in(Resolver *r, Callers *out, const Val *param,
                       Module *module, const Def *class_def) {
    module_list_calls(module);
    ModuleFlow *mf = flow_module(r->flow, module);
    const Sym *name = class_def->node->u.class_->name;
    int index = param_index(param);
    for (uint32_t i = 0; i < module->calls.len && out->len < CLASSES_MAX; i++) {
        Node *call = module->calls.at[i];
        Node *func = call->u.call.func;
        bool named = (func->kind == N_NAME && func->u.name.id == name) ||
                     (func->kind == N_ATTRIBUTE && func->u.attribute.attr == name);
        Node *owner = module->call_owners[i];
        if (!named || !owner) continue;
        FunctionInfo *info = flow_function_info(mf, owner);
        if (!info) continue;
        flow_function(r->flow, mf, (uint32_t)(info - mf->functions.at));
        Val *inst = mf->val_of[call->id];
        if (!constructs(inst, class_def)) continue;
        Val *arg = argument_of(inst, param, index);
        if (!arg) continue;
        out->args[out->len] = arg;
        out->modules[out->len] = module;
        out->calls[out->len++] = call;
    }
}

// Files of the scan in the class's folder and the one above that speak of it.
static void callers_near(Resolver *r, Callers *out, const Val *param,
                         const Def *class_def) {
    enum { FILES_MAX = 64 };
    Project *project = r->flow->project;
    Module *own = class_def->module;
    Str folder = path_folder(str_of(own->path)), above = path_folder(folder);
    Str name = sym_str(class_def->node->u.class_->name);
    uint32_t looked = 0;
    for (uint32_t i = 0; i < project->file_count && looked < FILES_MAX; i++) {
        const char *path = project->files[i];
        Str at = path_folder(str_of(path));
        if (!str_eq(at, folder) && !str_eq(at, above)) continue;
        if (strcmp(path, own->path) == 0) continue;
        looked++;
        Err err;
        Module *m = project_open(project, path, str_of(path + project->prefix.len), &err);
        if (!m || !str_contains(m->source.text, name)) continue;
        callers_in(r, out, param, m, class_def);
    }
}

static void find_callers(Resolver *r, Callers *out, const Val *param) {
    const Frame *f = param->ptr;
    if (!f || !f->fn || !f->self || f->fn->kind == N_LAMBDA) return;
    const Def *class_def = object_class(f->self);
    if (!class_def || f->fn->u.function->name != r->flow->names.init) return;
    callers_in(r, out, param, class_def->module, class_def);
    // Modules in sight besides the class's own.
    uint32_t seen = 0;
    for (ModuleFlow *mf = r->flow->modules; mf && seen < 16; mf = mf->next, seen++) {
        if (mf->module != class_def->module) {
            callers_in(r, out, param, mf->module, class_def);
        }
    }
    if (out->len == 0) callers_near(r, out, param, class_def);
}

// ---- resolving ------------------------------------------------------------------------------

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
        if (!source.val || val_is_none(source.val)) continue;
        if (!agreed) {
            push_link(r, classes->at[i].module, classes->at[i].node, "config class");
            push_link(r, source.module, source.node, "default");
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

// The class of a configuration is its annotation; where that has no such
// field, that of the callers' argument; where no caller is in sight, every
// class that the file's annotations name and that has the field must agree:
// then the value is only likely, and left to the guard.
static Val *resolve_field(Resolver *r, Val *v) {
    Classes classes = {0}, callers = {0}, sight = {0};
    classes_of(r, &classes, v->args[0]);
    Val *agreed = agreed_default(r, &classes, v->name);
    if (!agreed) {
        caller_classes(r, &callers, v->args[0]);
        agreed = agreed_default(r, &callers, v->name);
    }
    Module *module = v->args[0]->module;
    if (!agreed && v->args[0]->op == V_PARAM && module) {
        SightWalk walk = {r, module, &sight};
        collect_annotated(module->parsed.module, &walk);
        agreed = agreed_default(r, &sight, v->name);
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
            push_link(r, source.module, source.node, "attribute");
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
    push_link(r, source.module, source.node, "attribute");
    return resolve(r, source.val);
}

// A constructor's parameter is what its callers give, if they agree, or its
// default where none is in sight.
static Val *resolve_param(Resolver *r, Val *v) {
    if (!v->node || !v->ptr) return NULL;
    Callers callers = {0};
    find_callers(r, &callers, v);
    Val *agreed = NULL;
    for (uint32_t i = 0; i < callers.len; i++) {
        if (i == 0) push_link(r, callers.modules[i], callers.calls[i], "caller");
        Val *val = resolve(r, callers.args[i]);
        if (!val || (agreed && !same_object(agreed, val))) return NULL;
        agreed = val;
    }
    r->from_config = true;
    if (agreed) return agreed;
    const Frame *f = v->ptr;
    if (!f->fn || f->fn->kind == N_LAMBDA) return NULL;
    ArgumentsNode *a = f->fn->u.function->args->u.arguments;
    uint32_t n = a->posonly.len + a->args.len;
    for (uint32_t i = n - a->defaults.len; i < n; i++) {
        Node *arg = i < a->posonly.len ? a->posonly.at[i]
                                       : a->args.at[i - a->posonly.len];
        if (arg != v->node) continue;
        Node *value = a->defaults.at[i - (n - a->defaults.len)];
        push_link(r, f->module, value, "default");
        return resolve(r, eval_expr(f->mf->frame, value));
    }
    for (uint32_t i = 0; i < a->kwonly.len; i++) {
        if (a->kwonly.at[i] != v->node || !a->kw_defaults.at[i]) continue;
        push_link(r, f->module, a->kw_defaults.at[i], "default");
        return resolve(r, eval_expr(f->mf->frame, a->kw_defaults.at[i]));
    }
    return NULL;
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

static Val *resolve_item(Resolver *r, Val *v) {
    Val *container = resolve(r, v->args[0]);
    if (!container) return NULL;
    Val *key = resolve(r, v->args[1]);
    if (!key || key->op != V_CONST) return NULL;
    ModuleFlow *mf = r->flow->modules;
    if (container->op == V_INSTANCE && container->def) {
        Val *method = object_attr(r->flow, container, r->flow->names.getitem);
        Val *dict = instance_dict(container);
        if (dict) push_link(r, dict->module, dict->node, "table");
        if (method && method->op == V_METHOD) {
            ModuleFlow *home = flow_module(r->flow, container->def->module);
            Val *item = call_value(home->frame, NULL, method, &key, 1);
            return item->op == V_CALL ? NULL : resolve(r, item);
        }
        if (!dict) return NULL;
        container = dict;
    } else if (container->op == V_DICT) {
        push_link(r, container->module, container->node, "table");
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

static int resolve_truth(Resolver *r, Val *cond) {
    if (val_truth(cond) >= 0) return val_truth(cond);
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

static Val *resolve_phi(Resolver *r, Val *v) {
    int truth = resolve_truth(r, v->args[0]);
    if (truth >= 0) return resolve(r, truth ? v->args[1] : v->args[2]);
    Val *a = resolve(r, v->args[1]);
    Val *b = resolve(r, v->args[2]);
    return a && b && same_object(a, b) ? a : NULL;
}

// getattr(object, name) with a name that a config decides.
static Val *resolve_call(Resolver *r, Val *v) {
    if (!val_is_global(v->args[0], "getattr") || v->nargs < 3) return NULL;
    Val *name = resolve(r, v->args[2]);
    if (!name || name->op != V_CONST || name->ck != CONST_STR) return NULL;
    const Sym *sym = sym_intern(r->flow->symbols, name->text);
    return resolve(r, eval_attribute(r->flow->modules->frame, v->args[1], sym));
}

// What an object rests on (TABLE[config.act]()) is part of the chain.
static void take_assumption(Resolver *r, const Val *v) {
    const Assumption *a = v->assume;
    if (!a) return;
    r->from_config |= a->from_config;
    r->likely |= a->likely;
    ChainLink *reversed = NULL;
    for (const ChainLink *c = a->chain; c; c = c->next) {
        ChainLink *link = NEW(r->flow->arena, ChainLink);
        *link = *c;
        link->next = reversed;
        reversed = link;
    }
    for (ChainLink *c = reversed; c; c = c->next) push_link(r, c->module, c->node, c->what);
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

static Val *resolve(Resolver *r, Val *v) {
    if (++r->flow->resolving > RESOLVE_MAX_DEPTH) {
        r->flow->resolving--;
        return NULL;
    }
    Val *result = resolve_inner(r, v);
    r->flow->resolving--;
    return result;
}

Resolved flow_resolve(Flow *flow, Val *v) {
    if (v->resolved) return *v->resolved;
    v->resolved = NEW(flow->arena, Resolved); // asked again meanwhile: nothing
    Resolver r = {.flow = flow};
    Val *val = resolve(&r, v);
    *v->resolved = (Resolved){val, r.chain, r.from_config, r.likely};
    return *v->resolved;
}
