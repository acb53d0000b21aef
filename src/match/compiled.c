// compiled.c - @torch.compile, torch.compile(f), torch.compile(Model(...)) and
// model.compile() where the model is made in the same module.
#include "base/base.h"

#include "match/compiled.h"

typedef struct NameSearch {
    const Sym *name, *other;
    bool found;
} NameSearch;

static bool search_name(Node *node, void *data) {
    NameSearch *search = data;
    if (node->kind == N_NAME) {
        search->found |= node->u.name.id == search->name || node->u.name.id == search->other;
    }
    return !search->found && node_children(node, search_name, data);
}

static bool is_compile(Frame *top, Node *callee) {
    if (callee->kind != N_NAME && callee->kind != N_ATTRIBUTE) return false;
    return val_is_global(eval_expr(top, callee), "torch.compile");
}

static Node *compile_decorator(Frame *top, NodeList decorators) {
    for (uint32_t i = 0; i < decorators.len; i++) {
        Node *d = decorators.at[i];
        if (is_compile(top, d->kind == N_CALL ? d->u.call.func : d)) return d;
    }
    return NULL;
}

struct CompileCalls {
    VEC(Node *) calls;
};

// Every torch.compile(x) of the module, found once.
static const struct CompileCalls *compile_calls(Frame *f, Frame *top) {
    if (f->mf->compiles) return f->mf->compiles;
    struct CompileCalls *found = NEW(f->flow->arena, struct CompileCalls);
    Module *module = f->module;
    module_list_calls(module);
    for (uint32_t i = 0; i < module->calls.len; i++) {
        Node *call = module->calls.at[i];
        if (!call->u.call.args.len || !is_compile(top, call->u.call.func)) continue;
        vec_push(f->flow->arena, &found->calls, call);
    }
    return f->mf->compiles = found;
}

static const Sym *class_name(const Frame *f) {
    return f->owner && f->owner->node && f->owner->node->kind == N_CLASS_DEF
        ? f->owner->node->u.class_->name : NULL;
}

Node *compiled_at(Frame *f) {
    if (!f->fn || f->fn->kind != N_FUNCTION_DEF) return NULL;
    Frame *top = flow_module_frame(f->flow, f->mf);
    Node *decorated = compile_decorator(top, f->fn->u.function->decorators);
    if (!decorated && class_name(f)) {
        decorated = compile_decorator(top, f->owner->node->u.class_->decorators);
    }
    if (decorated) return decorated;
    NameSearch search = {f->owner ? class_name(f) : f->fn->u.function->name, NULL, false};
    const struct CompileCalls *compiles = compile_calls(f, top);
    for (uint32_t i = 0; i < compiles->calls.len; i++) {
        Node *call = compiles->calls.at[i];
        search_name(call->u.call.args.at[0], &search);
        if (search.found) return call;
    }
    return NULL;
}
