// gated.c - the activation of a gated unit that nothing in sight tells: an argument
// without a default, an entry of a table, what a method of a configuration makes.
//
// The form tells that it is one: act(a) * b, where a and b are the halves of one tensor
// or two products of one input.
#include "base/base.h"

#include "flow/gated.h"

#include "flow/branched.h"
#include "flow/resolve_impl.h"

enum { GATED_MAX_DEPTH = 6 };

// A part of a tensor, taken by position: x[..., 0, :], x[:, :d], one of chunk or split.
static bool is_taken(const Val *v) {
    if (v->op == V_PART) return val_is_int(v->args[3], 2);
    if (v->op == V_SLICE) return true;
    if (v->op != V_ITEM) return false;
    const Val *of = v->args[0], *index = v->args[1];
    return of->op == OP_SPLIT || of->op == OP_CHUNK || index->op == V_TUPLE ||
           index->op == V_SLICE;
}

// self.w1(x): a linear layer, a convolution, or a module that is not known.
static bool is_of_module(const Val *v) {
    if (v->op != V_CALL || v->nargs < 2) return false;
    if (v->args[1]->op == V_KEYWORD || v->args[1]->op == V_STAR) return false;
    for (uint32_t i = 2; i < v->nargs; i++) { // forward(x, loras=loras)
        if (v->args[i]->op != V_KEYWORD || !v->args[i]->name) return false;
    }
    const Val *module = v->args[0];
    if (module->op != V_INSTANCE || module->def) return module->op == V_ATTR;
    return str_is(module->text, "torch.nn.Linear") || str_starts(module->text, "torch.nn.Conv");
}

static Val *product_input(Val *v) {
    if (v->op == OP_LINEAR || v->op == OP_MATMUL) return val_strip(v->args[0]);
    return is_of_module(v) ? val_strip(v->args[1]) : NULL;
}

bool gate_and_value(Val *a, Val *b) {
    a = val_strip(a);
    b = val_strip(b);
    if (a == b) return false;
    if (is_taken(a) && a->op == b->op) return a->args[0] == b->args[0] && is_taken(b);
    const Val *from = product_input(a);
    return from && from == product_input(b);
}

static bool is_unknown(Flow *flow, Val *v, int depth);

// Nobody gives it, or one of those who do hands on what is unknown too.
static bool is_given_unknown(Flow *flow, const Val *param, int depth) {
    Resolver r = {.flow = flow};
    Callers callers = {0};
    if (!param->node) return false;
    if (param->ptr) find_callers(&r, &callers, param);
    for (uint32_t i = 0; i < callers.len; i++) {
        if (is_unknown(flow, callers.args[i], depth + 1)) return true;
    }
    return callers.len == 0;
}

// TABLE[key](), activation.build(), layer(); a library's class may be any module.
static bool is_made_unknown(const Val *callee) {
    return callee->op == V_ATTR || callee->op == V_ITEM || callee->op == V_PARAM;
}

static bool is_unknown(Flow *flow, Val *v, int depth) {
    if (depth > GATED_MAX_DEPTH) return false;
    switch ((int)v->op) {
    case V_PARAM: return is_given_unknown(flow, v, depth);
    case V_PHI:
        return is_unknown(flow, v->args[1], depth + 1) || is_unknown(flow, v->args[2], depth + 1);
    case V_ATTR: {
        if (!object_class(v->args[0])) return true;
        Val *made = object_attr(flow, v->args[0], v->name);
        return made && made != v && is_unknown(flow, made, depth + 1);
    }
    case V_ITEM: return v->args[1]->op != V_CONST;
    case V_CALL: return is_made_unknown(v->args[0]);
    default: return false;
    }
}

static Val *as_silu(Flow *flow, Val *call) {
    Assumption *a = NEW(flow->arena, Assumption);
    *a = (Assumption){.subject = call->args[0], .claim = STR("SiLU"), .type_name = STR("SiLU"),
                      .open = true, .likely = true, .from_config = true, .any_kind = true};
    Val silu = *val_new1(&flow->graph, OP_SILU, call->args[1]);
    silu.assume = a;
    silu.chain = NULL;
    silu.node = call->node;
    silu.module = call->module;
    return val_intern(&flow->graph, &silu);
}

// SiLU of what an unknown callable gets, if `b` is the other half of a gated unit.
static Val *activated(Flow *flow, Val *a, Val *b) {
    Val *call = val_strip(a);
    if (call->op != V_CALL || call->nargs != 2) return NULL;
    Val *x = call->args[1];
    if (x->op == V_KEYWORD || x->op == V_STAR || !gate_and_value(x, b)) return NULL;
    return is_unknown(flow, call->args[0], 0) ? as_silu(flow, call) : NULL;
}

Val *gated_product(Flow *flow, Val *a, Val *b) {
    Val *gate = flow->only_certain ? NULL : activated(flow, a, b);
    if (gate) return op_make(flow, OP_MUL, (Val *[]){gate, b}, 2);
    gate = flow->only_certain ? NULL : activated(flow, b, a);
    if (gate) return op_make(flow, OP_MUL, (Val *[]){a, gate}, 2);
    gate = branched_activation(flow, a, b);
    if (gate) return op_make(flow, OP_MUL, (Val *[]){gate, b}, 2);
    gate = branched_activation(flow, b, a);
    if (gate) return op_make(flow, OP_MUL, (Val *[]){a, gate}, 2);
    return op_make(flow, OP_MUL, (Val *[]){a, b}, 2);
}
