// moe_router.c - routers: a softmax or sigmoid over the experts, and the best k.
//
// The scores of the chosen experts have to be used as weights: where only the
// indices are (a balancing loss), it is no router. npu_moe_gating_top_k_softmax
// raises in backward, so a router is a caution always.
#include "base/base.h"

#include "flow/call_of.h"
#include "match/caller.h"
#include "match/moe.h"
#include "match/moe_scores.h"

// ---- what topk gives --------------------------------------------------------------

// The call, or a choice of which it is one arm (the other may be `max`, for one expert).
static bool may_be(const Val *v, const Val *call, int depth) {
    if (v == call) return true;
    if (v->op != V_PHI || depth > 4) return false;
    return may_be(v->args[1], call, depth + 1) || may_be(v->args[2], call, depth + 1);
}

static bool is_part_of(const Val *v, const Val *call, int index, const char *name) {
    if (v->op == V_ITEM) return may_be(v->args[0], call, 0) && val_is_int(v->args[1], index);
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

// The first few of the last axis: `v[:, :k]`, as where one more was chosen.
static bool is_cut(const Val *v) {
    const Val *index = v->op == V_ITEM ? v->args[1] : NULL;
    if (!index || index->op != V_TUPLE || !index->nargs) return false;
    for (uint32_t i = 0; i < index->nargs; i++) {
        const Val *at = index->args[i];
        bool slice = at->op == V_SLICE && val_is_none(at->args[0]) && val_is_none(at->args[2]);
        bool last = i + 1 == index->nargs;
        if (!val_is_ellipsis(at) && (!slice || (!last && !val_is_none(at->args[1])))) return false;
    }
    return true;
}

// What the values or indices of topk are, behind views and cuts.
static Val *uncut(Val *v) {
    for (int depth = 0; depth < 8; depth++) {
        v = val_strip(v);
        bool view = v->op == OP_VIEW || v->op == OP_CONTIGUOUS || v->op == OP_FLATTEN;
        if (!view && !is_cut(v)) break;
        v = v->args[0];
    }
    return v;
}

// What the largest of the last axis is chosen from: max(x, -1), x.argmax(-1); NULL.
static Val *chosen_from(Val *v) {
    if (v->op == OP_MAX) return scores_last_axis(v->args[1]) ? v->args[0] : NULL;
    Val *x = v->op == V_CALL ? value_of_call(v, "argmax") : NULL;
    const Val *dim = x ? value_argument(v, 0, "dim") : NULL;
    return dim && scores_last_axis(dim) ? x : NULL;
}

// The call to topk of which `v` is the indices, or to argmax, through views and
// branches; NULL.
static Val *topk_of_index(Val *v, int depth) {
    v = uncut(v);
    if (depth > 6) return NULL;
    if (v->op == V_CALL && chosen_from(v)) return v;
    bool part = (v->op == V_ITEM && val_is_int(v->args[1], 1)) ||
                (v->op == V_ATTR && strcmp(v->name->text, "indices") == 0);
    if (part) return value_of_call(v->args[0], "topk") ? v->args[0] : NULL;
    switch ((int)v->op) {
    case V_PHI: {
        Val *call = topk_of_index(v->args[1], depth + 1);
        return call ? call : topk_of_index(v->args[2], depth + 1);
    }
    case OP_UNSQUEEZE: case OP_SQUEEZE: case OP_DETACH:
        return topk_of_index(v->args[0], depth + 1);
    default: return NULL;
    }
}

// What gathers at the chosen indices: the scores (out) and the call to topk.
static Val *gathered(Val **scores, Val *v) {
    Val *x = value_of_call(v, "gather");
    if (!x) x = value_of_call(v, "take_along_dim");
    if (!x) return NULL;
    Val *index = value_argument(v, 1, "index");
    if (!index) index = value_argument(v, 0, "indices");
    *scores = x;
    return index ? topk_of_index(index, 0) : NULL;
}

typedef struct Router {
    Frame *frame;
    Scores scores;
    uint32_t topks; // all of the function
    const Node *first, *last;
    bool after; // softmax over the chosen logits
} Router;

static void widen(Router *r, const Node *stmt) {
    if (!r->first || stmt->start < r->first->start) r->first = stmt;
    if (!r->last || stmt->end > r->last->end) r->last = stmt;
}

static void widen_to_value(Router *r, const Val *v) {
    const Frame *f = r->frame;
    for (uint32_t i = 0; i < f->evals.len; i++) {
        if (f->evals.at[i].val == v && f->evals.at[i].node == v->node) {
            widen(r, moe_stmt(&f->evals.at[i]));
        }
    }
}

// Whether the value tells that the choice is one of experts: weights that are
// divided by their sum, an expert's number that is compared or spread out.
static bool tells_experts(Val *v, const Val *call) {
    static const char *const spreads[] = {"one_hot", "scatter", "scatter_", "index_add",
                                          "index_add_", "bincount", "histc"};
    for (uint32_t i = 0; v->op == OP_MUL && i < v->nargs; i++) {
        const Val *share = val_strip(v->args[i]);
        if (share->op == OP_RECIPROCAL && moe_holds(v->args[i], call)) return true;
    }
    if (v->op == V_PYOP && v->ck == A_EQ) return moe_holds(v, call);
    for (size_t i = 0; i < COUNT(spreads); i++) {
        if (value_of_call(v, spreads[i])) return moe_holds(v, call);
    }
    return false;
}

// Whether they are a layer's own result where the function is called.
static bool given_by_layer(Frame *f, Val *logits) {
    Val *v = val_strip(logits);
    Val *given = v->op == V_PARAM ? find_argument(f, v).arg : NULL;
    if (!given) return false;
    given = val_strip(given);
    const Val *layer = given->op == V_CALL ? given->args[0] : NULL;
    bool linear = layer && layer->op == V_INSTANCE && !layer->def &&
                  str_is(layer->text, "torch.nn.Linear");
    return linear || given->op == OP_LINEAR;
}

// Logits that are handed in may be those of words, of which one is drawn, or of
// classes: then the use has to tell.
static bool chooses_experts(const Router *r, Val *base, const Val *call, bool told) {
    Logits from = logits_of(base);
    for (uint32_t i = 0; from && i < r->frame->evals.len; i++) {
        Val *v = r->frame->evals.at[i].val;
        if (!v) continue;
        Val *drawn = value_of_call(v, "multinomial");
        if (drawn && moe_holds(drawn, call)) return false;
        told |= from == LOGITS_GIVEN && tells_experts(v, call);
    }
    if (from == LOGITS_GIVEN && !told) return given_by_layer(r->frame, base);
    return from != LOGITS_NONE;
}

static void take(Router *r, const Scores *scores, const Val *call, const EvalRecord *record) {
    Scores all = *scores;
    all.bias |= r->scores.bias;
    all.masked |= r->scores.masked;
    all.reshaped |= r->scores.reshaped;
    all.either |= r->scores.either;
    r->scores = all;
    widen(r, moe_stmt(record));
    widen_to_value(r, call);
    widen_to_value(r, all.base);
}

// The value behind views: p.view(-1, 1), p.unsqueeze(-1), p[:, None]
static Val *unviewed(Val *v) {
    v = val_strip(v);
    for (int depth = 0; depth < 8; depth++) {
        bool view = v->op == OP_VIEW || v->op == OP_UNSQUEEZE || v->op == OP_SQUEEZE ||
                    v->op == OP_CONTIGUOUS || v->op == OP_EXPAND;
        const Val *index = v->op == V_ITEM ? v->args[1] : NULL;
        bool axis = index && index->op == V_TUPLE;
        for (uint32_t i = 0; axis && i < index->nargs; i++) {
            axis = index->args[i]->op == V_SLICE || val_is_none(index->args[i]) ||
                   val_is_ellipsis(index->args[i]);
        }
        if (!view && !axis) break;
        v = val_strip(v->args[0]);
    }
    return v;
}

// The number of a round: `i` of a range, of an enumeration, or the name of an expert.
static bool is_round(Val *v) {
    v = val_strip(v);
    if (v->op == V_CONST) return v->ck == CONST_INT;
    if (v->op == V_ITEM && value_of_call(v->args[0], "range")) return true;
    Val *pair = v->op == V_ITEM && val_is_int(v->args[1], 0) ? v->args[0] : NULL;
    return pair && pair->op == V_ITEM &&
           (value_of_call(pair->args[0], "items") || value_of_call(pair->args[0], "enumerate"));
}

// chosen == i, one_hot(chosen), bincount(chosen): rows or counts of an expert.
static bool tells_expert(Val *v, const Val *call) {
    static const char *const spreads[] = {"one_hot", "index_add", "index_add_", "bincount",
                                          "histc", "index_select"};
    Val *a = value_of_call(v, "eq");
    Val *b = a ? value_argument(v, 0, "other") : NULL;
    if (v->op == V_PYOP && v->ck == A_EQ) {
        a = v->args[0];
        b = v->args[1];
    }
    if (a && b) return (is_round(b) && moe_holds(a, call)) || (is_round(a) && moe_holds(b, call));
    for (size_t i = 0; i < COUNT(spreads); i++) {
        if (value_of_call(v, spreads[i])) return moe_holds(v, call);
    }
    return false;
}

// Whether the share of the one that was chosen multiplies what is not itself made of
// the choice (`sure * (seen == c)`, where classes are told and not experts).
static bool is_weight(Val *v, const Val *share, const Val *call) {
    for (uint32_t i = 0; v->op == OP_MUL && i < v->nargs; i++) {
        Val *weight = unviewed(v->args[i]);
        bool own = weight == share || may_be_part(weight, call, 0, "values", 0);
        const Val *other = unviewed(v->args[1 - i]);
        if (!own || other->op == V_CONST || other->op == V_PYOP) continue;
        if (!tells_expert((Val *)(uintptr_t)other, call)) return true;
    }
    return false;
}

// The largest score and its expert, one for each token: the score is a weight, and the
// number tells rows or counts. (A class and how sure of it one is are the same values.)
static void take_best(Router *r, const EvalRecord *record, Val *call, const Val *share) {
    Scores scores;
    bool told = false, weighs = false;
    Val *from = chosen_from(call);
    if (!from || !scores_read(&scores, from)) return;
    if (logits_of(scores.base->args[0]) == LOGITS_NONE) return;
    for (uint32_t i = 0; i < r->frame->evals.len; i++) {
        Val *v = r->frame->evals.at[i].val;
        told |= v && tells_expert(v, call);
        weighs |= v && is_weight(v, share, call);
    }
    if (told && weighs) take(r, &scores, call, record);
}

// Whether the function itself makes the scores, or the logits that a helper makes them of.
// Else the helper is the router.
static bool makes_part(const Router *r, const Scores *scores) {
    const Val *logits = val_strip(scores->base->args[0]);
    for (uint32_t i = 0; i < r->frame->evals.len; i++) {
        const EvalRecord *record = &r->frame->evals.at[i];
        if (!record->val || record->node != record->val->node) continue;
        const Val *v = val_strip(record->val);
        if (v == scores->base || v == logits) return true;
    }
    return logits->op == V_PARAM;
}

// topk over scores, both of its results in use.
static void take_scored(Router *r, const EvalRecord *record, Val *call) {
    Scores scores;
    if (!scores_read(&scores, value_of_call(call, "topk"))) return;
    if (!is_read(r->frame, call, 0, "values") || !is_read(r->frame, call, 1, "indices")) return;
    if (record->val->op == V_TUPLE && !makes_part(r, &scores)) return;
    bool told = scores.bias || (scores.masked && !scores.reshaped);
    if (!chooses_experts(r, scores.base->args[0], call, told)) return;
    take(r, &scores, call, record);
}

// The scores at the indices that topk chose of them, with a bias or a mask.
static void take_gathered(Router *r, const EvalRecord *record) {
    Scores scores, chosen;
    Val *from = NULL, *call = gathered(&from, record->val);
    if (!call || !scores_read(&scores, from)) return;
    if (chosen_from(call)) {
        if (from == chosen_from(call)) take_best(r, record, call, record->val);
        return;
    }
    if (!scores_read(&chosen, value_of_call(call, "topk")) || chosen.base != scores.base) return;
    if (!chooses_experts(r, scores.base->args[0], call, chosen.bias)) return;
    take(r, &chosen, call, record);
}

// scores * mask, the mask made of the chosen indices.
static void take_masked(Router *r, const EvalRecord *record) {
    Val *v = record->val;
    for (uint32_t i = 0; v->op == OP_MUL && i < v->nargs; i++) {
        Val *spread = val_strip(v->args[1 - i]);
        Val *index = value_of_call(spread, "scatter_") || value_of_call(spread, "scatter")
            ? value_argument(spread, 1, "index") : NULL;
        Val *call = index ? topk_of_index(index, 0) : NULL;
        Scores scores, chosen;
        if (!call || chosen_from(call) || !scores_read(&scores, v->args[i])) continue;
        bool same = scores_read(&chosen, value_of_call(call, "topk")) &&
                    chosen.base == scores.base;
        if (!same || !chooses_experts(r, scores.base->args[0], call, true)) continue;
        take(r, &chosen, call, record);
    }
}

// max(x, -1)[0]
static bool is_best(const Val *v) {
    bool first = (v->op == V_ITEM && val_is_int(v->args[1], 0)) ||
                 (v->op == V_ATTR && strcmp(v->name->text, "values") == 0);
    return first && v->args[0]->op == OP_MAX && chosen_from(v->args[0]);
}

// The call to topk of which `v` is the values, alone or put back at their indices
// among -inf.
static Val *topk_of_values(Val *v) {
    v = uncut(v);
    if (v->op == V_PHI) { // `max` for one expert, topk for more
        Val *one = topk_of_values(v->args[1]), *more = topk_of_values(v->args[2]);
        bool best = is_best(uncut(v->args[one ? 2 : 1]));
        return best && (!one || !more) ? (one ? one : more) : NULL;
    }
    bool spread = value_of_call(v, "scatter_") || value_of_call(v, "scatter");
    Val *index = spread ? value_argument(v, 1, "index") : NULL;
    Val *values = spread ? value_argument(v, 2, "src") : v;
    if (!values || (spread && !index)) return NULL;
    values = uncut(values);
    if (values->op != V_ITEM && values->op != V_ATTR) return NULL;
    Val *call = values->args[0];
    if (!value_of_call(call, "topk") || !is_part_of(values, call, 0, "values")) return NULL;
    return !spread || topk_of_index(index, 0) == call ? call : NULL;
}

// Whether nothing but averages is made of it: a balancing loss, no weights.
static bool is_only_averaged(const Frame *f, Val *v) {
    bool averaged = false;
    for (uint32_t i = 0; i < f->evals.len; i++) {
        const Val *use = f->evals.at[i].val;
        if (!use || use == v || use->op == V_CAST) continue;
        for (uint32_t k = 0; k < use->nargs; k++) {
            if (val_strip(use->args[k]) != v) continue;
            if (use->op != OP_MEAN) return false;
            averaged = true;
        }
    }
    return averaged;
}

// softmax over what topk chose of the logits. (No operator takes the sigmoid of
// what was chosen.)
static void take_chosen(Router *r, const EvalRecord *record) {
    Val *v = record->val;
    if (v->op != OP_SOFTMAX || v->nargs < 2 || !scores_last_axis(v->args[1])) return;
    Val *call = topk_of_values(v->args[0]);
    if (!call || !is_read(r->frame, call, 1, "indices")) return;
    if (!chooses_experts(r, value_of_call(call, "topk"), call, true)) return;
    if (is_only_averaged(r->frame, v)) return;
    r->after = true;
    widen(r, moe_stmt(record));
    widen_to_value(r, call);
}

static Str variant_of(Arena *arena, const Router *r) {
    if (r->after) return STR("topk+softmax");
    bool grouped = r->topks > 1 && r->scores.masked; // one chooses groups
    const char *kind = r->scores.either ? "softmax|sigmoid"
                       : r->scores.sigmoid ? "sigmoid" : "softmax";
    return arena_printf(arena, "%s%s%s+topk", kind,
                        r->scores.bias ? "+bias" : "", grouped ? "+groups" : "");
}

// The call to topk that the expression is, in one branch of its helper at least
// (`max` may stand for the best one), or whose values and indices a helper returns; NULL.
static Val *topk_of_call(Val *v, int depth) {
    if (v->op == V_TUPLE && depth == 0) {
        for (uint32_t i = 0; i < v->nargs; i++) {
            Val *call = topk_of_index(v->args[i], 0);
            if (call && !chosen_from(call)) return call;
        }
        return NULL;
    }
    if (v->op == V_PHI && depth < 4) {
        Val *call = topk_of_call(v->args[1], depth + 1);
        return call ? call : topk_of_call(v->args[2], depth + 1);
    }
    return value_of_call(v, "topk") ? v : NULL;
}

static void find_parts(Router *r) {
    for (uint32_t i = 0; i < r->frame->evals.len; i++) {
        const EvalRecord *record = &r->frame->evals.at[i];
        if (!record->val) continue;
        Val *call = record->node->kind == N_CALL ? topk_of_call(record->val, 0) : NULL;
        if (call) {
            r->topks++;
            take_scored(r, record, call);
        } else if (record->val->op == OP_MAX) {
            take_best(r, record, record->val, record->val);
        } else {
            take_gathered(r, record);
            take_masked(r, record);
            take_chosen(r, record);
        }
    }
}

void moe_find_routers(Sites *out, Frame *frame) {
    Arena *arena = frame->flow->arena;
    Router r = {.frame = frame};
    find_parts(&r);
    if (!r.first) return;
    bool plain = !r.scores.sigmoid && !r.scores.either && !r.scores.bias && !r.scores.masked;
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
