// moe_scores.c - the scores of experts, behind what lies between them and their use.
#include "base/base.h"

#include "match/moe_scores.h"

enum { DEPTH_MAX = 24 };

// Softmax over the experts: the last axis of two or more.
bool scores_last_axis(const Val *dim) {
    return val_is_int(dim, -1) || val_is_int(dim, 1);
}

// v[None], v[None, :]: new axes and nothing else.
static bool adds_axes(const Val *v) {
    if (v->op != V_ITEM) return false;
    const Val *index = v->args[1];
    if (index->op != V_TUPLE) return val_is_none(index);
    for (uint32_t i = 0; i < index->nargs; i++) {
        const Val *at = index->args[i];
        bool whole = at->op == V_SLICE && val_is_none(at->args[0]) && val_is_none(at->args[1]) &&
                     val_is_none(at->args[2]);
        if (!whole && !val_is_none(at) && !val_is_ellipsis(at)) return false;
    }
    return true;
}

static bool is_learned(Val *v) {
    v = val_strip(v);
    while (v->op == OP_UNSQUEEZE || v->op == OP_VIEW || v->op == OP_DETACH ||
           v->op == OP_SQUEEZE || adds_axes(v)) {
        v = val_strip(v->args[0]);
    }
    return v->op == V_ATTR || v->op == V_PARAM || v->op == OP_PARAMETER;
}

static bool peel(Scores *out, Val *v, int depth);

static bool peel_either(Scores *out, Val *a, Val *b, int depth) {
    Scores other = *out;
    if (peel(out, a, depth + 1)) return true;
    *out = other;
    return peel(out, b, depth + 1);
}

// A branch, whose arms may be scores of either kind.
static bool peel_branch(Scores *out, const Val *phi, int depth) {
    Scores other = *out;
    bool second = peel(&other, phi->args[2], depth + 1);
    if (!peel_either(out, phi->args[1], phi->args[2], depth)) return false;
    out->either |= second && (other.either || other.sigmoid != out->sigmoid);
    return true;
}

// What lies between the scores and topk: a bias, a mask, views, a branch.
static bool peel(Scores *out, Val *v, int depth) {
    v = val_strip(v);
    if (depth > DEPTH_MAX) return false;
    switch ((int)v->op) {
    case OP_SOFTMAX:
        if (v->nargs > 1 && !scores_last_axis(v->args[1])) return false;
        out->base = v;
        return true;
    case OP_SIGMOID:
        out->base = v;
        out->sigmoid = true;
        return true;
    case OP_VIEW: case OP_UNFLATTEN: case OP_FLATTEN:
        out->reshaped = true;
        return peel(out, v->args[0], depth + 1);
    case OP_DETACH: case OP_CONTIGUOUS: case OP_CLONE: case OP_UNSQUEEZE: case OP_SQUEEZE:
        return peel(out, v->args[0], depth + 1);
    case OP_MASKED_FILL:
        out->masked = true;
        return peel(out, v->args[0], depth + 1);
    case OP_WHERE:
        out->masked = true;
        return v->nargs > 2 && peel_either(out, v->args[1], v->args[2], depth);
    case OP_ADD:
        if (v->nargs != 2) return false;
        out->bias = true;
        return is_learned(v->args[1]) ? peel(out, v->args[0], depth + 1)
                                      : is_learned(v->args[0]) && peel(out, v->args[1], depth + 1);
    case OP_MUL: // scores * group_mask
        out->masked = true;
        return v->nargs == 2 && peel_either(out, v->args[0], v->args[1], depth);
    case V_PHI:
        return peel_branch(out, v, depth);
    case V_CALL: // a module that adds the bias
        if (v->nargs != 2 || v->args[1]->op == V_KEYWORD) return false;
        if (v->args[0]->op != V_ATTR && v->args[0]->op != V_INSTANCE) return false;
        out->bias = true;
        return peel(out, v->args[1], depth + 1);
    default:
        return false;
    }
}

// The transposed view of a batch of matrices: an axis behind the first two moves.
static bool is_batch(const Val *v) {
    bool moved = false;
    if (v->op != OP_TRANSPOSE && v->op != OP_PERMUTE) return false;
    for (uint32_t i = 1; i < v->nargs; i++) moved |= val_is_int(v->args[i], 2);
    return moved;
}

// Whether the product is a layer's: one side is a weight.
static bool has_weight(const Val *product) {
    if (is_batch(val_strip(product->args[0]))) return false;
    if (is_batch(val_strip(product->args[1]))) return false;
    for (uint32_t i = 0; i < 2; i++) {
        Val *side = val_strip(product->args[i]);
        if (side->op == OP_TRANSPOSE || side->op == OP_PERMUTE) side = side->args[0];
        if (is_learned(side)) return true;
    }
    return false;
}

static Logits weakest(Logits a, Logits b) {
    return a < b ? a : b;
}

static Logits strongest(Logits a, Logits b) {
    return a > b ? a : b;
}

// w, w.t() or w.T
static Val *untransposed(Val *v) {
    v = val_strip(v);
    bool named = v->op == V_ATTR && (strcmp(v->name->text, "T") == 0 ||
                                     strcmp(v->name->text, "mT") == 0);
    bool moved = v->op == OP_TRANSPOSE || v->op == OP_PERMUTE;
    return named || moved ? val_strip(v->args[0]) : v;
}

// Whether both sides of the product are handed in: neither is of the module.
static bool multiplies_given(const Val *product) {
    for (uint32_t i = 0; i < 2; i++) {
        const Val *side = untransposed(product->args[i]);
        if (side->op == V_ATTR || side->op == OP_PARAMETER) return false;
    }
    return true;
}

static Logits logits(Val *v, int depth) {
    v = val_strip(v);
    if (depth > DEPTH_MAX) return LOGITS_NONE;
    switch ((int)v->op) {
    case OP_LINEAR: return LOGITS_COMPUTED;
    case V_PARAM: return LOGITS_GIVEN;
    case OP_MATMUL:
        if (v->nargs < 2 || !has_weight(v)) return LOGITS_NONE;
        return multiplies_given(v) ? LOGITS_GIVEN : LOGITS_COMPUTED;
    case V_CALL: {
        const Val *callee = v->args[0];
        if (callee->op == V_METHOD) return LOGITS_GIVEN; // what subclasses say
        bool layer = callee->op == V_INSTANCE || callee->op == V_ATTR || callee->op == V_ITEM;
        return layer ? LOGITS_COMPUTED : LOGITS_NONE;
    }
    case OP_ADD: case OP_MUL: case OP_DIV: // a bias, a temperature, a cap
        return strongest(v->nargs ? logits(v->args[0], depth + 1) : LOGITS_NONE,
                         v->nargs > 1 ? logits(v->args[1], depth + 1) : LOGITS_NONE);
    case V_ITEM: case OP_VIEW: case OP_MASKED_FILL: case OP_TANH: case OP_TRANSPOSE:
    case OP_FLATTEN: case OP_CLAMP: case V_PART: case OP_CAT: case OP_DETACH:
        return v->nargs ? logits(v->args[0], depth + 1) : LOGITS_NONE;
    case V_PHI: {
        Logits a = logits(v->args[1], depth + 1), b = logits(v->args[2], depth + 1);
        return a && b ? weakest(a, b) : strongest(a, b);
    }
    default:
        return LOGITS_NONE;
    }
}

Logits logits_of(Val *v) {
    return logits(v, 0);
}

bool scores_read(Scores *out, Val *v) {
    *out = (Scores){0};
    return peel(out, v, 0);
}
