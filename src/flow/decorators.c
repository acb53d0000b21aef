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

bool decorators_change(Flow *flow, const Def *def) {
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
    NodeList decorators = def->node->u.function->decorators;
    Frame *module_frame = flow_module(flow, def->module)->frame;
    for (uint32_t i = 0; i < decorators.len; i++) {
        Node *d = decorators.at[i];
        if (d->kind == N_CALL) d = d->u.call.func;
        Val *v = d->kind == N_NAME || d->kind == N_ATTRIBUTE ? eval_expr(module_frame, d) : NULL;
        bool fine = false;
        for (size_t k = 0; v && v->op == V_GLOBAL && k < COUNT(known); k++) {
            fine |= str_is(v->text, known[k]);
        }
        if (!fine && (!v || !keeps_function(module_frame, decorators.at[i], def))) return true;
    }
    return false;
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
