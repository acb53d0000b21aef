// maybe.c - the activation that a callable may be, where nothing in sight decides
// which: one of several callers gives it, or a name picks it from torch.
#include "base/base.h"

#include "flow/maybe.h"

#include "flow/resolve_impl.h"

enum { MAYBE_MAX_DEPTH = 8 };

typedef struct Search {
    Flow *flow;
    Op want; // OP_SILU or OP_GELU
} Search;

static bool names_activation(Str dotted, Op want) {
    if (want == OP_SILU) {
        return str_is(dotted, "torch.nn.functional.silu") || str_is(dotted, "torch.nn.SiLU");
    }
    return str_is(dotted, "torch.nn.functional.gelu") || str_is(dotted, "torch.nn.GELU");
}

static Val *search(Search *s, Val *v, bool class_wanted, int depth);

// Whether one of the texts that the name is made of, a default or an entry of a
// dictionary of defaults, names the activation: "gelu", "GELU".
static bool speaks_of(const Val *name, Op activation, int depth) {
    bool silu = activation == OP_SILU;
    if (name->op == V_CONST && name->ck == CONST_STR) {
        return str_is(name->text, silu ? "silu" : "gelu") ||
               str_is(name->text, silu ? "SiLU" : "GELU");
    }
    for (uint32_t i = 0; depth < MAYBE_MAX_DEPTH && i < name->nargs; i++) {
        if (speaks_of(name->args[i], activation, depth + 1)) return true;
    }
    return false;
}

// getattr(torch.nn.functional, name) with any name; one that a default gives goes first
static Val *picked_by_name(Search *s, const Val *v, bool class_wanted) {
    if (v->nargs < 3 || !val_is_global(v->args[0], "getattr")) return NULL;
    if (v->args[2]->op == V_CONST || v->args[1]->op != V_GLOBAL) return NULL;
    const char *of = class_wanted ? "torch.nn" : "torch.nn.functional";
    if (!str_is(v->args[1]->text, of)) return NULL;
    bool silu = s->want == OP_SILU;
    Op other = silu ? OP_GELU : OP_SILU;
    if (speaks_of(v->args[2], other, 0) && !speaks_of(v->args[2], s->want, 0)) return NULL;
    const char *dotted = class_wanted ? silu ? "torch.nn.SiLU" : "torch.nn.GELU"
                         : silu       ? "torch.nn.functional.silu"
                                      : "torch.nn.functional.gelu";
    return val_global(&s->flow->graph, str_of(dotted));
}

// What the callers of a constructor give, or its default where they hand on what is not
// in sight.
static Val *given(Search *s, const Val *param, bool class_wanted, int depth) {
    Resolver r = {.flow = s->flow};
    Callers callers = {0};
    if (!param->node || !param->ptr) return NULL;
    find_callers(&r, &callers, param);
    for (uint32_t i = 0; i < callers.len; i++) {
        Val *found = search(s, callers.args[i], class_wanted, depth + 1);
        if (found) return found;
    }
    Node *value = param_default(param);
    const Frame *f = param->ptr;
    return value ? search(s, eval_expr(f->mf->frame, value), class_wanted, depth + 1) : NULL;
}

static Val *made_by_class(Search *s, const Val *call, int depth) {
    Val *of = search(s, call->args[0], true, depth + 1);
    if (!of) return NULL;
    Val *made = val_unique(&s->flow->graph, V_INSTANCE, call->args + 1, call->nargs - 1);
    made->text = of->text;
    return made;
}

// partial(getattr(torch.nn.functional, name), **unknown) as a partial of the function that
// it may be, with no more arguments than are known: a guard asks for all that it holds.
static Val *partial_of(Search *s, Val *v, int depth) {
    Val *of = search(s, v->args[0], false, depth + 1);
    if (!of) return NULL;
    Val **args = NEW_N(s->flow->arena, Val *, v->nargs);
    uint32_t n = 0;
    args[n++] = of;
    for (uint32_t i = 1; i < v->nargs; i++) {
        if (v->args[i]->op == V_STAR) return NULL;
        if (v->args[i]->op != V_KEYWORD || v->args[i]->name) args[n++] = v->args[i];
    }
    if (n == v->nargs && of == v->args[0]) return v;
    Val *made = val_unique(&s->flow->graph, V_INSTANCE, args, n);
    made->text = v->text;
    return made;
}

static Val *search(Search *s, Val *v, bool class_wanted, int depth) {
    if (depth > MAYBE_MAX_DEPTH) return NULL;
    switch ((int)v->op) {
    case V_GLOBAL: {
        bool is_class = str_starts(v->text, "torch.nn.") &&
                        !str_starts(v->text, "torch.nn.functional.");
        return is_class == class_wanted && names_activation(v->text, s->want) ? v : NULL;
    }
    case V_INSTANCE:
        if (class_wanted || v->def) return NULL;
        if (str_is(v->text, "functools.partial") && v->nargs) return partial_of(s, v, depth);
        return names_activation(v->text, s->want) ? v : NULL;
    case V_PHI:
        for (int i = 1; i <= 2; i++) {
            Val *found = search(s, v->args[i], class_wanted, depth + 1);
            if (found) return found;
        }
        return NULL;
    case V_ATTR: {
        Val *made = object_class(v->args[0]) ? object_attr(s->flow, v->args[0], v->name) : NULL;
        return made && made != v ? search(s, made, class_wanted, depth + 1) : NULL;
    }
    case V_PARAM: return given(s, v, class_wanted, depth);
    case V_CALL: {
        Val *picked = picked_by_name(s, v, class_wanted);
        return picked || class_wanted ? picked : made_by_class(s, v, depth);
    }
    default: return NULL;
    }
}

Val *maybe_activation(Flow *flow, Val *callee) {
    static const Op wanted[] = {OP_SILU, OP_GELU};
    for (size_t i = 0; i < COUNT(wanted); i++) {
        Search s = {flow, wanted[i]};
        Val *found = search(&s, callee, false, 0);
        if (found) return found;
    }
    return NULL;
}
