// assume.c - two objects of one class may have been made with different arguments.
//
// A guard asks `type(self.act).__name__ == "Gelu"`. Where Gelu(tanh=True) computes
// something else than Gelu(), the guard lets it pass and the fused branch is wrong.
#include "base/base.h"

#include "flow/assume.h"

// What another object of the class gives, of which nobody knows the constructor's
// arguments, as far as it is certain.
static Val *call_other(Frame *f, Node *node, const Called *called) {
    Flow *flow = f->flow;
    Val *unknown = val_unique(&flow->graph, V_OPAQUE, NULL, 0);
    Val *made[] = {val_new1(&flow->graph, V_STAR, unknown),
                   val_new1(&flow->graph, V_KEYWORD, unknown)};
    Val *other = val_unique(&flow->graph, V_INSTANCE, made, COUNT(made));
    other->def = called->object->def;
    bool before = flow->only_certain;
    flow->only_certain = true;
    Val *value = call_value(f, node, other, called->args, called->nargs);
    flow->only_certain = before;
    return value;
}

static bool is_same(const Val *a, const Val *b) {
    if (a->op != b->op || a->ck != b->ck || a->nargs != b->nargs || a->op == V_OPAQUE) return false;
    if (a->text.at != b->text.at || a->name != b->name) return false;
    for (uint32_t i = 0; i < a->nargs; i++) {
        if (a->args[i] != b->args[i]) return false;
    }
    return true;
}

// The NAME of `def forward(self, x): return self.NAME(x)`, or NULL.
static const Sym *handed_to(const Node *fn) {
    if (fn->kind != N_FUNCTION_DEF) return NULL;
    const NodeList *body = &fn->u.function->body;
    const ArgumentsNode *params = fn->u.function->args->u.arguments;
    const Node *last = body->len ? body->at[body->len - 1] : NULL;
    bool text = body->len == 2 && body->at[0]->kind == N_EXPR &&
                body->at[0]->u.return_.value->kind == N_CONSTANT; // a docstring
    if (!last || (body->len != 1 && !text) || last->kind != N_RETURN || params->args.len != 2) {
        return NULL;
    }
    const Node *call = last->u.return_.value;
    if (!call || call->kind != N_CALL || call->u.call.args.len != 1 || call->u.call.keywords.len) {
        return NULL;
    }
    const Node *callee = call->u.call.func, *arg = call->u.call.args.at[0];
    bool own = callee->kind == N_ATTRIBUTE && callee->u.attribute.value->kind == N_NAME &&
               callee->u.attribute.value->u.name.id == params->args.at[0]->u.arg.name;
    bool whole = arg->kind == N_NAME && arg->u.name.id == params->args.at[1]->u.arg.name;
    return own && whole ? callee->u.attribute.attr : NULL;
}

// F.gelu, or partial(F.gelu, approximate="tanh").
static bool is_function(const Val *v) {
    bool partial = v->op == V_INSTANCE && !v->def && str_is(v->text, "functools.partial") &&
                   v->nargs > 0;
    if (partial) v = v->args[0];
    return v->op == V_GLOBAL && str_starts(v->text, "torch.");
}

void assume_by_type(Frame *f, Node *node, Assumption *a, Called called) {
    const Val *object = called.object;
    if (object->op != V_INSTANCE || !object->def) return;
    if (is_same(called.value, call_other(f, node, &called))) return;
    a->untestable = true;
    Val *self = (Val *)(uintptr_t)object;
    Val *method = object_attr(f->flow, self, f->flow->names.forward);
    if (!method || method->op != V_METHOD) return;
    const Sym *part = handed_to(method->def->node);
    Val *function = part ? object_attr(f->flow, self, part) : NULL;
    if (!function || !is_function(function)) return;
    a->part = part;
    a->part_value = function;
    a->untestable = false;
}
