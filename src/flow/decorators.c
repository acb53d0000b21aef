// decorators.c - what the decorators of a function make of it.
#include "base/base.h"

#include "flow/flow.h"

// A decorator of the project that hands back the function it is given, as
// those that note it in a list do.
static bool keeps_function(Frame *module_frame, Node *decorator, const Def *def) {
    Val *v = eval_expr(module_frame, decorator);
    if (v->op != V_FUNCTION && v->op != V_LAMBDA) return false;
    Val *given = eval_def(module_frame->flow, def);
    return given && eval_inline(module_frame, v, NULL, &given, 1) == given;
}

typedef enum Effect { KEEPS, CHANGES, UNSEEN } Effect;

// What a decorator makes of the function; UNSEEN: it is of another library.
static Effect effect_of(Frame *module_frame, Node *decorator, const Def *def) {
    static const char *const known[] = {
        "staticmethod", "classmethod", "torch.no_grad", "torch.inference_mode",
        "torch.jit.script", "torch.jit.export", "torch.jit.ignore",
        "torch.compile", "functools.lru_cache", "functools.wraps", "property",
        "torch.compiler.disable", "torch.fx.wrap", "abc.abstractmethod",
        "torch.jit.script_method", "torch.jit.script_if_tracing",
        "functools.cache", "override", "typing.override",
        "torch.utils.checkpoint.checkpoint", "torch.cuda.amp.autocast",
        "torch._dynamo.disable", "torch.compiler.allow_in_graph", "beartype.beartype",
        "typeguard.typechecked", "jaxtyping.jaxtyped", "typing.no_type_check",
    };
    Node *d = decorator->kind == N_CALL ? decorator->u.call.func : decorator;
    Val *v = d->kind == N_NAME || d->kind == N_ATTRIBUTE ? eval_expr(module_frame, d) : NULL;
    for (size_t k = 0; v && v->op == V_GLOBAL && k < COUNT(known); k++) {
        if (str_is(v->text, known[k])) return KEEPS;
    }
    if (v && keeps_function(module_frame, decorator, def)) return KEEPS;
    return v && v->op == V_GLOBAL ? UNSEEN : CHANGES;
}

// The worst that one of the decorators does.
static Effect worst_effect(Flow *flow, const Def *def) {
    NodeList decorators = def->node->u.function->decorators;
    Frame *module_frame = flow_module(flow, def->module)->frame;
    Effect worst = KEEPS;
    for (uint32_t i = 0; i < decorators.len && worst != CHANGES; i++) {
        Effect e = effect_of(module_frame, decorators.at[i], def);
        if (e != KEEPS) worst = e;
    }
    return worst;
}

bool decorators_change(Flow *flow, const Def *def) {
    return worst_effect(flow, def) != KEEPS;
}

bool decorators_unseen(Flow *flow, const Def *def) {
    return worst_effect(flow, def) == UNSEEN;
}

bool has_decorator(const Node *fn, const Sym *name) {
    NodeList decorators = fn->u.function->decorators;
    for (uint32_t i = 0; i < decorators.len; i++) {
        Node *d = decorators.at[i];
        if (d->kind == N_NAME && d->u.name.id == name) return true;
        if (d->kind == N_ATTRIBUTE && str_is(sym_str(name), "property") &&
            str_is(sym_str(d->u.attribute.attr), "cached_property")) {
            return true;
        }
    }
    return false;
}
