// callers.c - what a constructor's parameters are: annotations, callers in
// sight, and the classes of configurations.
#include "base/base.h"

#include "flow/recall.h"
#include "flow/resolve_impl.h"

#include "base/file.h"

void resolver_link(Resolver *r, Module *module, Node *node,
                   const char *what) {
    if (!module || !node) return;
    ChainLink *link = NEW(r->flow->arena, ChainLink);
    *link = (ChainLink){module, node, what, r->chain};
    r->chain = link;
}

// ---- classes of configuration objects ---------------------------------------

static void add_class(Classes *out, const Def *def) {
    for (uint32_t i = 0; i < out->len; i++) {
        if (out->at[i].node == def->node) return;
    }
    if (out->len < CLASSES_MAX) out->at[out->len++] = *def;
}

void annotation_classes(Resolver *r, Classes *out, Module *m,
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

void classes_of(Resolver *r, Classes *out, Val *v) {
    if (!resolve_enter(r->flow)) return;
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
AttrSource field_default(Resolver *r, const Def *class_def,
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
    if (made.val && made.val->node && made.val->op != V_CONST) {
        made.node = made.val->node;
        made.module = made.val->module;
    }
    return made.val ? made : source;
}

// ---- callers of a constructor -----------------------------------------------

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

// The expression that the call gives for the parameter; NULL if none, or if a
// star hides it.
static Node *argument_node(const Node *call, const Val *param, int index) {
    NodeList args = call->u.call.args, keywords = call->u.call.keywords;
    for (uint32_t i = 0; i < args.len && (int)i <= index; i++) {
        if (args.at[i]->kind == N_STARRED) return NULL;
        if ((int)i == index) return args.at[i];
    }
    for (uint32_t i = 0; i < keywords.len; i++) {
        if (keywords.at[i]->u.keyword.name == param->name) {
            return keywords.at[i]->u.keyword.value;
        }
    }
    return NULL;
}

static bool names_class(Module *module, const Node *func, const Def *class_def) {
    const Sym *name = class_def->node->u.class_->name;
    if (func->kind == N_NAME && func->u.name.id == name) {
        Def def = project_lookup(module, name);
        return def.kind == DEF_CLASS && def.node == class_def->node;
    }
    if (func->kind != N_ATTRIBUTE || func->u.attribute.attr != name) return false;
    const Node *owner = func->u.attribute.value; // module.Class(...)
    if (owner->kind != N_NAME) return false;
    Def def = project_lookup(module, owner->u.name.id);
    if (def.kind != DEF_MODULE) return false;
    def = project_member(&def, name);
    return def.kind == DEF_CLASS && def.node == class_def->node;
}

// The argument's value: read alone where it can be, else with its function.
static Val *argument_val(Resolver *r, ModuleFlow *mf, uint32_t call, Node *arg) {
    Flow *flow = r->flow;
    Module *m = mf->module;
    // model = Model(config) among the statements of a script
    if (!m->call_owners[call]) return eval_expr(mf->frame, arg);
    Def class_def = {.kind = DEF_CLASS, .module = m, .node = m->call_classes[call]};
    if (class_def.node) {
        class_def.dotted = arena_dotted(flow->arena, m->dotted,
                                        sym_str(class_def.node->u.class_->name));
    }
    FunctionInfo *info = flow_function_info(flow, mf, m->call_owners[call],
                                            class_def.node ? &class_def : NULL);
    if (stands_alone(flow, info, arg)) return eval_expr(light_frame(flow, mf, info), arg);
    flow_function(flow, mf, info);
    return node_val(mf, arg);
}

static void callers_in(Resolver *r, Callers *out, const Val *param,
                       Module *module, const Def *class_def) {
    module_list_calls(module);
    r->flow->resolve_steps += module->calls.len / 64;
    r->flow->resolve_work += module->calls.len / 64;
    ModuleFlow *mf = flow_module(r->flow, module);
    int index = param_index(param);
    uint32_t at = module_first_call(module, class_def->node->u.class_->name);
    for (; at && out->len < CLASSES_MAX; at = module_next_call(module, at)) {
        Node *call = module->calls.at[at - 1];
        if (!names_class(module, call->u.call.func, class_def)) continue;
        Node *arg = argument_node(call, param, index);
        Val *val = arg ? argument_val(r, mf, at - 1, arg) : NULL;
        if (!val) continue;
        out->args[out->len] = val;
        out->modules[out->len] = module;
        out->calls[out->len++] = call;
    }
}

// The next file of two lists, by their order in the scan.
static uint32_t take_file(FileList *a, FileList *b) {
    FileList *list = b->len == 0 || (a->len && a->at[0] < b->at[0]) ? a : b;
    list->len--;
    return *list->at++;
}

enum { NEAR_MAX = 64 };

// Files of the scan in a class's folder and the one above, in order; those that do
// not speak of it are NULL.
struct NearModules {
    uint64_t epoch;
    uint32_t len;
    Module *at[NEAR_MAX];
};

static const struct NearModules *near_modules(Project *project, const Def *class_def) {
    Module *own = class_def->module;
    struct NearModules **known = &class_def->node->u.class_->near;
    if (*known && (*known)->epoch == project->epoch) return *known;
    struct NearModules *near = *known ? *known : NEW(&own->arena, struct NearModules);
    *near = (struct NearModules){.epoch = project->epoch};
    Str folder = path_folder(str_of(own->path)), above = path_folder(folder);
    Str name = sym_str(class_def->node->u.class_->name);
    FileList here = project_files_in(project, folder);
    FileList there = str_eq(folder, above) ? (FileList){0} : project_files_in(project, above);
    while (here.len + there.len && near->len < NEAR_MAX) {
        const char *path = project->files[take_file(&here, &there)];
        if (strcmp(path, own->path) == 0) continue;
        near->at[near->len++] = project_open_naming(project, path, name);
    }
    return *known = near;
}

static void callers_near(Resolver *r, Callers *out, const Val *param,
                         const Def *class_def) {
    const struct NearModules *near = near_modules(r->flow->project, class_def);
    for (uint32_t i = 0; i < near->len; i++) {
        r->flow->resolve_steps += 2;
        r->flow->resolve_work += 2;
        if (near->at[i]) callers_in(r, out, param, near->at[i], class_def);
    }
}

void find_callers(Resolver *r, Callers *out, const Val *param) {
    recall_taint(r->flow);
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


uint32_t config_classes(Flow *flow, Val *object, Def *out, uint32_t max) {
    Resolver r = {.flow = flow};
    Classes classes = {0};
    classes_of(&r, &classes, object);
    uint32_t n = classes.len < max ? classes.len : max;
    memcpy(out, classes.at, sizeof(Def) * n);
    return n;
}
