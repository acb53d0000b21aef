// caller.c - f(q, k), self.f(q, k), and g(q, k) where g is f by default, in the module
// that defines f.
#include "base/base.h"

#include "match/caller.h"

enum {
    CALLERS_MAX = 4,         // read until one gives a value
    WORK_MAX = 2 * 1000 * 1000, // calls looked at in a file
};

// The place of the parameter among the arguments of a call, or -1.
static int argument_index(const Frame *f, const Val *param) {
    const ArgumentsNode *a = f->fn->u.function->args->u.arguments;
    uint32_t n = a->posonly.len + a->args.len;
    for (uint32_t i = 0; i < n; i++) {
        const Node *arg = i < a->posonly.len ? a->posonly.at[i] : a->args.at[i - a->posonly.len];
        if (arg == param->node) return (int)i - (f->self ? 1 : 0);
    }
    return -1;
}

static Node *argument_of(const Node *call, const Val *param, int index) {
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

static bool is_call_of(const Frame *f, const Node *call, const Node *class_node) {
    const Node *func = call->u.call.func;
    const Sym *name = f->fn->u.function->name;
    if (!f->owner) {
        if (func->kind != N_NAME || func->u.name.id != name) return false;
        Def def = project_lookup(f->module, name);
        return def.kind == DEF_FUNCTION && def.node == f->fn;
    }
    if (func->kind != N_ATTRIBUTE || func->u.attribute.attr != name) return false;
    const Node *of = func->u.attribute.value;
    return of->kind == N_NAME && of->u.name.id == f->flow->names.self &&
           class_node == f->owner->node;
}

// Reads the function that the call stands in.
static void read_owner(const Frame *f, uint32_t call) {
    Flow *flow = f->flow;
    Module *m = f->module;
    Def class_def = {.kind = DEF_CLASS, .module = m, .node = m->call_classes[call]};
    if (class_def.node) {
        class_def.dotted = arena_dotted(flow->arena, m->dotted,
                                        sym_str(class_def.node->u.class_->name));
    }
    FunctionInfo *info = flow_function_info(flow, f->mf, m->call_owners[call],
                                            class_def.node ? &class_def : NULL);
    flow_function(flow, f->mf, info);
}

// Whether the function is the value, or one of those that it is chosen from.
static bool may_be_function(const Frame *f, const Val *v, int depth) {
    if (v->op == V_FUNCTION) return v->def && v->def->node == f->fn;
    if (depth > 4 || (v->op != V_CALL && v->op != V_PHI && v->op != V_ITEM)) return false;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (may_be_function(f, v->args[i], depth + 1)) return true;
    }
    return false;
}

// The function whose text was searched last: the calls of one stand together.
typedef struct Searched {
    const Node *owner;
    bool speaks; // has the name that is looked for
} Searched;

// attend = TABLE.get(name, f); attend(q, k): f stands among what it is looked up in.
static bool is_looked_up(const Frame *f, const Node *call, uint32_t at, Searched *last) {
    const Node *func = call->u.call.func, *owner = f->module->call_owners[at];
    const Sym *name = f->fn->u.function->name;
    if (f->owner || func->kind != N_NAME || func->u.name.id == name || owner == f->fn) return false;
    if (last->owner != owner) {
        Str text = source_span(&f->module->source, owner->start, owner->end);
        *last = (Searched){owner, str_contains(text, sym_str(name))};
    }
    if (!last->speaks) return false;
    read_owner(f, at);
    const Val *v = node_val(f->mf, func);
    return v && may_be_function(f, v, 0);
}

CallSite find_argument(Frame *f, const Val *param) {
    CallSite site = {0};
    bool own = param->op == V_PARAM && param->node && f->fn && f->fn->kind == N_FUNCTION_DEF;
    int index = own ? argument_index(f, param) : -1;
    if (index < 0) return site;
    module_list_calls(f->module);
    if (f->flow->callers_work > WORK_MAX) return site;
    f->flow->callers_work += f->module->calls.len;
    uint32_t read = 0;
    Searched last = {0};
    for (uint32_t i = 0; i < f->module->calls.len && read < CALLERS_MAX; i++) {
        Node *call = f->module->calls.at[i];
        if (!f->module->call_owners[i]) continue;
        bool direct = is_call_of(f, call, f->module->call_classes[i]);
        if (!direct && !is_looked_up(f, call, i, &last)) continue;
        Node *arg = argument_of(call, param, index);
        if (arg) read_owner(f, i);
        Val *v = arg ? node_val(f->mf, arg) : NULL;
        read++;
        if (v && v->op != V_OPAQUE) return (CallSite){v, call};
    }
    return site;
}
