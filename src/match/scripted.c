// scripted.c - @torch.jit.script, torch.jit.script(f) and torch.jit.script(Model(...)).
#include "base/base.h"

#include "match/scripted.h"

static bool is_script(Frame *top, Node *callee) {
    if (callee->kind == N_CALL) callee = callee->u.call.func;
    if (callee->kind != N_NAME && callee->kind != N_ATTRIBUTE) return false;
    const Val *v = eval_expr(top, callee);
    return val_is_global(v, "torch.jit.script") || val_is_global(v, "torch.jit.script_method") ||
           val_is_global(v, "torch.jit.export") || val_is_global(v, "torch.jit.interface") ||
           val_is_global(v, "torch.jit.ScriptModule") ||
           val_is_global(v, "torch.jit.script_if_tracing");
}

static bool any_script(Frame *top, NodeList list) {
    for (uint32_t i = 0; i < list.len; i++) {
        if (is_script(top, list.at[i])) return true;
    }
    return false;
}

// What is compiled, as the function that is asked for sees it.
typedef struct ScriptSearch {
    Frame *top;
    const Sym *name, *of_class; // the function's, and its class's or NULL
    bool found;
} ScriptSearch;

static bool search_mention(Node *node, void *data) {
    ScriptSearch *search = data;
    const Sym *name = node->kind == N_NAME        ? node->u.name.id
                      : node->kind == N_ATTRIBUTE ? node->u.attribute.attr
                                                  : NULL;
    search->found |= name && (name == search->name || name == search->of_class);
    return !search->found && node_children(node, search_mention, data);
}

// torch.jit.script(f) of one function; whatever else is handed over may hold any class.
static bool hands_over(ScriptSearch *search, Node *call) {
    if (!call->u.call.args.len || !is_script(search->top, call->u.call.func)) return false;
    Node *what = call->u.call.args.at[0];
    Def def = {0};
    if (what->kind == N_NAME) def = project_lookup(search->top->module, what->u.name.id);
    if (def.kind != DEF_FUNCTION) return true;
    return what->u.name.id == search->name || (search_mention(def.node, search), search->found);
}

static bool search_script(Node *node, void *data) {
    ScriptSearch *search = data;
    NodeList decorators = {0}, bases = {0};
    if (node->kind == N_FUNCTION_DEF) decorators = node->u.function->decorators;
    if (node->kind == N_CLASS_DEF) {
        decorators = node->u.class_->decorators;
        bases = node->u.class_->bases;
    }
    if (any_script(search->top, decorators) || any_script(search->top, bases)) {
        const Sym *name = node->kind == N_CLASS_DEF ? node->u.class_->name
                                                    : node->u.function->name;
        search->found |= name == search->name || name == search->of_class;
        if (!search->found) search_mention(node, search);
    }
    if (node->kind == N_CALL && hands_over(search, node)) search->found = true;
    return !search->found && node_children(node, search_script, data);
}

// A function of the module, and the class that it is a method of or NULL.
typedef struct Callable {
    Node *fn;
    const Node *class_node;
} Callable;

static bool is_compiled(Frame *top, const Callable *c) {
    ScriptSearch search = {.top = top, .name = c->fn->u.function->name,
                           .of_class = c->class_node ? c->class_node->u.class_->name : NULL};
    node_children(top->module->parsed.module, search_script, &search);
    return search.found;
}

enum { CALLERS_MAX = 32 };

static bool calls_name(const Node *call, const Sym *name) {
    const Node *func = call->u.call.func;
    return func->kind == N_NAME        ? func->u.name.id == name
         : func->kind == N_ATTRIBUTE && func->u.attribute.attr == name;
}

// What calls the name, behind what was found, once each.
static uint32_t add_callers(Module *module, Callable *found, uint32_t len, const Sym *name) {
    uint32_t at = module_first_call(module, name);
    for (; at && len < CALLERS_MAX; at = module_next_call(module, at)) {
        Callable caller = {module->call_owners[at - 1], module->call_classes[at - 1]};
        if (!calls_name(module->calls.at[at - 1], name)) continue;
        bool known = !caller.fn || caller.fn->kind != N_FUNCTION_DEF;
        for (uint32_t i = 0; i < len && !known; i++) known = found[i].fn == caller.fn;
        if (!known) found[len++] = caller;
    }
    return len;
}

bool is_scripted(Frame *f) {
    if (!f->fn || f->fn->kind != N_FUNCTION_DEF) return false;
    if (!str_contains(f->module->source.text, STR("jit"))) return false;
    Frame *top = flow_module_frame(f->flow, f->mf);
    bool owned = f->owner && f->owner->node && f->owner->node->kind == N_CLASS_DEF;
    Callable found[CALLERS_MAX] = {{f->fn, owned ? f->owner->node : NULL}};
    module_list_calls(f->module);
    for (uint32_t i = 0, len = 1; i < len; i++) {
        if (is_compiled(top, &found[i])) return true;
        len = add_callers(f->module, found, len, found[i].fn->u.function->name);
    }
    return false;
}
