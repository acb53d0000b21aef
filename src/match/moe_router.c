// moe_router.c - routers: a softmax or sigmoid over the experts, and the best k.
//
// The scores of the chosen experts have to be used as weights: where only the
// indices are (a balancing loss), it is no router. npu_moe_gating_top_k_softmax
// raises in backward, so a router is a caution always.
#include "base/base.h"

#include "flow/call_of.h"
#include "match/moe.h"

enum { DEPTH_MAX = 24 };

typedef struct Scores {
    Val *base; // softmax(logits) or sigmoid(logits)
    bool sigmoid, bias, masked, reshaped;
} Scores;

// Softmax over the experts: the last axis of two or more.
static bool is_last_axis(const Val *dim) {
    return val_is_int(dim, -1) || val_is_int(dim, 1);
}

static bool is_learned(const Val *v) {
    v = val_strip((Val *)(uintptr_t)v);
    while (v->op == OP_UNSQUEEZE || v->op == OP_VIEW || v->op == OP_DETACH || v->op == OP_SQUEEZE) {
        v = v->args[0];
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

// What lies between the scores and topk: a bias, a mask, views, a branch.
static bool peel(Scores *out, Val *v, int depth) {
    v = val_strip(v);
    if (depth > DEPTH_MAX) return false;
    switch ((int)v->op) {
    case OP_SOFTMAX:
        if (v->nargs > 1 && !is_last_axis(v->args[1])) return false;
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
        return peel_either(out, v->args[1], v->args[2], depth);
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
        const Val *side = val_strip(product->args[i]);
        if (side->op == OP_TRANSPOSE || side->op == OP_PERMUTE) side = side->args[0];
        if (is_learned(side)) return true;
    }
    return false;
}

// Logits that a layer computes, or that are handed in. A product of two results
// (queries and keys) scores positions.
static bool are_logits(Val *v, int depth) {
    v = val_strip(v);
    if (depth > DEPTH_MAX) return false;
    switch ((int)v->op) {
    case OP_LINEAR: case V_PARAM:
        return true;
    case OP_MATMUL:
        return v->nargs > 1 && has_weight(v);
    case V_CALL: {
        const Val *callee = v->args[0];
        return callee->op == V_INSTANCE || callee->op == V_ATTR || callee->op == V_ITEM;
    }
    case OP_ADD: case OP_MUL: case OP_DIV: // a bias, a temperature, a cap
        return (v->nargs && are_logits(v->args[0], depth + 1)) ||
               (v->nargs > 1 && are_logits(v->args[1], depth + 1));
    case V_ITEM: case OP_VIEW: case OP_MASKED_FILL: case OP_TANH:
    case OP_FLATTEN: case OP_CLAMP: case V_PART: case OP_CAT: case OP_DETACH:
        return v->nargs && are_logits(v->args[0], depth + 1);
    case V_PHI:
        return are_logits(v->args[1], depth + 1) || are_logits(v->args[2], depth + 1);
    default:
        return false;
    }
}

// ---- what topk gives --------------------------------------------------------------

static bool is_part_of(const Val *v, const Val *call, int index, const char *name) {
    if (v->op == V_ITEM) return v->args[0] == call && val_is_int(v->args[1], index);
    return v->op == V_ATTR && v->args[0] == call && strcmp(v->name->text, name) == 0;
}

// Whether it is the part, in one branch at least.
static bool may_be_part(const Val *v, const Val *call, int index, const char *name, int depth) {
    if (is_part_of(v, call, index, name)) return true;
    if (v->op != V_PHI || depth > 6) return false;
    return may_be_part(v->args[1], call, index, name, depth + 1) ||
           may_be_part(v->args[2], call, index, name, depth + 1);
}

static bool has_part(const Val *v, const Val *call, int index, const char *name) {
    if (!v) return false;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (may_be_part(v->args[i], call, index, name, 0)) return true;
    }
    return false;
}

// Whether a name that is read holds the part, or an expression has it.
static bool is_read(const Frame *f, const Val *call, int index, const char *name) {
    for (uint32_t i = 0; i < f->names.cap; i++) {
        const NameInfo *info = f->names.slots[i];
        for (uint32_t k = 0; info && k < info->events.len; k++) {
            const Bind *bind = info->events.at[k].bind;
            bool used = bind && (bind->read || bind->escaped || bind->users.len);
            if (used && bind->val && may_be_part(bind->val, call, index, name, 0)) return true;
        }
    }
    for (uint32_t i = 0; i < f->evals.len; i++) {
        const EvalRecord *record = &f->evals.at[i];
        bool direct = record->node->kind == N_SUBSCRIPT || record->node->kind == N_ATTRIBUTE;
        if (direct && record->val && is_part_of(record->val, call, index, name)) return true;
        if (record->val && record->val->op > V_CAST &&
            has_part(record->val, call, index, name)) {
            return true;
        }
    }
    for (uint32_t i = 0; i < f->returns.len; i++) {
        Val *v = f->returns.at[i].val;
        if (v && (v == call || has_part(v, call, index, name))) return true;
        for (uint32_t k = 0; v && v->op == V_TUPLE && k < v->nargs; k++) {
            if (v->args[k] == call) return true; // both at once
        }
    }
    return false;
}

// The expression that gathers the scores at the chosen indices, or NULL.
static const EvalRecord *gather_of(const Frame *f, Val *base, const Val *call) {
    for (uint32_t i = 0; i < f->evals.len; i++) {
        Val *v = f->evals.at[i].val;
        Val *x = v ? value_of_call(v, "gather") : NULL;
        if (!x) x = v ? value_of_call(v, "take_along_dim") : NULL;
        if (!x || val_strip(x) != val_strip(base)) continue;
        Val *index = value_argument(v, 1, "index");
        if (!index) index = value_argument(v, 0, "indices");
        index = index ? val_strip(index) : NULL;
        if (index && (is_part_of(index, call, 1, "indices") || moe_holds(index, call))) {
            return &f->evals.at[i];
        }
    }
    return NULL;
}

typedef struct Router {
    Scores scores;
    uint32_t topks; // all of the function
    const Node *first, *last;
    bool after; // softmax over the chosen logits
} Router;

static void widen(Router *r, const Node *stmt) {
    if (!r->first || stmt->start < r->first->start) r->first = stmt;
    if (!r->last || stmt->end > r->last->end) r->last = stmt;
}

static void widen_to_value(Router *r, const Frame *f, const Val *v) {
    for (uint32_t i = 0; i < f->evals.len; i++) {
        if (f->evals.at[i].val == v && f->evals.at[i].node == v->node) {
            widen(r, moe_stmt(&f->evals.at[i]));
        }
    }
}

// topk over scores.
static void take_scored(Router *r, const Frame *f, const EvalRecord *record, Val *input) {
    Scores scores = {0};
    if (!peel(&scores, input, 0) || !are_logits(scores.base->args[0], 0)) return;
    const EvalRecord *gather = gather_of(f, scores.base, record->val);
    bool both = is_read(f, record->val, 0, "values") && is_read(f, record->val, 1, "indices");
    if (!gather && !both) return;
    scores.bias |= r->scores.bias;
    scores.masked |= r->scores.masked;
    scores.reshaped |= r->scores.reshaped;
    r->scores = scores;
    widen(r, moe_stmt(record));
    widen_to_value(r, f, scores.base);
    if (gather) widen(r, moe_stmt(gather));
}

// softmax over what topk chose of the logits.
static void take_chosen(Router *r, const Frame *f, const EvalRecord *record) {
    Val *v = record->val;
    if (v->op != OP_SOFTMAX || v->nargs < 2 || !is_last_axis(v->args[1])) return;
    Val *chosen = val_strip(v->args[0]);
    if (chosen->op != V_ITEM && chosen->op != V_ATTR) return;
    Val *call = chosen->args[0], *input = value_of_call(call, "topk");
    if (!input || !is_part_of(chosen, call, 0, "values") || !are_logits(input, 0)) return;
    r->after = true;
    widen(r, moe_stmt(record));
    widen_to_value(r, f, call);
}

static Str variant_of(Arena *arena, const Router *r) {
    if (r->after) return STR("topk+softmax");
    bool grouped = r->topks > 1 && r->scores.masked; // one chooses groups
    return arena_printf(arena, "%s%s%s+topk", r->scores.sigmoid ? "sigmoid" : "softmax",
                        r->scores.bias ? "+bias" : "", grouped ? "+groups" : "");
}

void moe_find_routers(Sites *out, Frame *frame) {
    Arena *arena = frame->flow->arena;
    Router r = {0};
    for (uint32_t i = 0; i < frame->evals.len; i++) {
        const EvalRecord *record = &frame->evals.at[i];
        if (!record->val) continue;
        Val *input = value_of_call(record->val, "topk");
        if (input && record->node->kind == N_CALL) {
            r.topks++;
            take_scored(&r, frame, record, input);
        } else {
            take_chosen(&r, frame, record);
        }
    }
    if (!r.first) return;
    bool plain = !r.scores.sigmoid && !r.scores.bias && !r.scores.masked;
    Site site = {.id = "moe_router", .first = r.first, .last = r.last};
    site.api = plain ? "torch_npu.npu_moe_gating_top_k_softmax" : "torch_npu.npu_moe_gating_top_k";
    site.autograd = plain ? "raises" : "differentiable";
    site.variant = variant_of(arena, &r);
    site.reason = plain
        ? STR("npu_moe_gating_top_k_softmax raises in backward: for inference only")
        : STR("whether npu_moe_gating_top_k normalises, biases and limits groups as this code does "
              "is not proven");
    site.gain = STR("scores, choice and weights become one kernel");
    site_add_fact(&site, "form", FACT_PROVEN,
                 r.after ? STR("softmax over the k largest logits: the renormalised softmax")
                         : STR("the k best scores are chosen, and used as weights"));
    vec_push(arena, out, site);
}
