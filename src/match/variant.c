// variant.c - what a finding's variant is called: the rule's alternative, and
// what the values around it say.
#include "base/base.h"

#include "match/variant.h"

#include "match/place.h"
#include "match/rule.h"

static const Val *uncast(const Val *v) {
    while (v->op == V_CAST) v = v->args[0];
    return v;
}

// Where the value lies on the last axis of what it was cut from; NULL: it is whole.
static const char *part_of_axis(const Val *v) {
    v = val_strip((Val *)(uintptr_t)v);
    if (v->op == V_PART && val_is_int(v->args[1], -1)) {
        return val_is_int(v->args[2], 0) ? "prefix" : "suffix";
    }
    if (v->op != V_ITEM) return NULL;
    const Val *index = v->args[1], *whole = v->args[0];
    if (whole->op == OP_SPLIT && val_is_int(whole->args[2], -1)) {
        return val_is_int(index, 0) ? "prefix" : "suffix";
    }
    bool last = index->op == V_TUPLE && index->nargs == 2 && index->args[1]->op == V_SLICE &&
                val_is_ellipsis(index->args[0]);
    if (!last || !val_is_none(index->args[1]->args[2])) return NULL;
    bool from_start = val_is_none(index->args[1]->args[0]) ||
                      val_is_int(index->args[1]->args[0], 0);
    bool to_end = val_is_none(index->args[1]->args[1]);
    return from_start == to_end ? NULL : from_start ? "prefix" : "suffix";
}

static Str with_word(Arena *run, Str name, const char *word) {
    if (!word) return name;
    if (str_is(name, "plain")) return str_of(word);
    return arena_printf(run, "%.*s+%s", STR_FMT(name), word);
}

static bool has_other_branch(const Attend *attend) {
    for (uint32_t i = 0; i < attend->branches.len; i++) {
        if (attend->branches.at[i].changes) return true;
    }
    return false;
}

// cast(weight * normalised): the weight is multiplied in the wider dtype and
// the product is rounded; else the normalised value is, and its product again.
static bool casts_last(const Candidate *c) {
    const Rule *rule = c->match.spec->rule;
    const Val *root = uncast(c->record->val);
    if (root == c->record->val) return false;
    for (uint32_t i = 0; root->op == OP_MUL && i < rule->param_count; i++) {
        const Val *bound = c->match.bound[i];
        if (!bound || !str_is(sym_str(rule->params[i].name), "weight")) continue;
        for (uint32_t k = 0; k < root->nargs; k++) {
            if (val_depends(root->args[k], bound)) return true;
        }
    }
    return false;
}

// silu(g), sigmoid(g), gelu(g), or g * sigmoid(g).
static bool is_gate(const Val *v) {
    v = uncast(v);
    if (v->op == OP_SILU || v->op == OP_SIGMOID || v->op == OP_GELU) return true;
    return v->op == OP_MUL &&
           (uncast(v->args[0])->op == OP_SIGMOID || uncast(v->args[1])->op == OP_SIGMOID);
}

// The product of a gate and `v`, through casts; v NULL: anything.
static bool is_gated(const Val *product, const Val *v) {
    product = uncast(product);
    if (product->op != OP_MUL) return false;
    for (int k = 0; k < 2; k++) {
        if (is_gate(product->args[k]) && (!v || uncast(product->args[!k]) == v)) return true;
    }
    return false;
}

// As is_gated, through views and in either case of a choice (`if gate is not None`).
static bool is_gated_view(const Val *v, int depth) {
    v = uncast(v);
    if (depth > 8) return false;
    if (v->op == OP_VIEW) return is_gated_view(v->args[0], depth + 1);
    if (v->op != V_PHI) return is_gated(v, NULL);
    return is_gated_view(v->args[1], depth + 1) || is_gated_view(v->args[2], depth + 1);
}

// Where a norm's input or result is multiplied by a gate: part of what the code
// computes, though not of what the operator takes over.
static const char *gate_of(const Candidate *c) {
    if (!str_is(c->match.spec->rule->family, "rms_norm") || !c->match.bound[0]) return NULL;
    if (is_gated_view(c->match.bound[0], 0)) return "gate_first";
    const Val *norm = uncast(c->record->val);
    for (uint32_t i = 0; i < c->frame->evals.len; i++) {
        const Val *v = c->frame->evals.at[i].val;
        if (v && is_gated(v, norm)) return "gate_last";
    }
    return NULL;
}

// The alternative's name, and which part of an axis it is about; of attention,
// whether heads are grouped, one branch alone is it, or its weights stay.
Str variant_of(Arena *run, const Candidate *c) {
    // A near miss is none of the rule's alternatives.
    if (c->near) return c->match.attend && c->match.attend->fused_already ? STR("builtin")
                                                                          : STR("other");
    const Spec *spec = c->match.spec;
    const char *part = NULL;
    for (uint32_t i = 0; spec->rule->part.len && i < spec->rule->param_count; i++) {
        const Val *v = c->match.bound[i];
        if (v && str_eq(sym_str(spec->rule->params[i].name), spec->rule->part)) {
            part = part_of_axis(v);
        }
    }
    Str name = with_word(run, spec->variant, part);
    if (casts_last(c)) name = with_word(run, name, "cast_last");
    name = with_word(run, name, gate_of(c));
    if (!c->match.attend) return arena_str(run, name);
    name = with_word(run, name, c->match.attend->grouped ? "grouped" : NULL);
    name = with_word(run, name, has_other_branch(c->match.attend) ? "choice" : NULL);
    return arena_str(run, with_word(run, name, c->place->wasted ? "weights" : NULL));
}
