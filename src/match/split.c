// split.c - finds attention whose scores go to another function.
#include "base/base.h"

#include "match/split.h"

#include "match/evidence.h"

enum {
    BELOW_MAX_DEPTH = 16, // from what a call returns to the product in it
    CALL_MAX_STEPS = 200, // values looked at for one call
    FRAME_MAX_STEPS = 4000,
};

// ---- where a value is written -------------------------------------------------

static bool holds(const Module *m, const Node *fn, const Module *module, const Node *n) {
    return module == m && n->start >= fn->start && n->end <= fn->end;
}

// The innermost function of the frame's module that holds the value, or NULL.
static FunctionInfo *function_of(const Frame *f, const Val *v) {
    FunctionInfo *found = NULL;
    if (!v->node || v->module != f->module) return NULL;
    for (uint32_t i = 0; i < f->mf->functions.len; i++) {
        FunctionInfo *info = f->mf->functions.at[i];
        if (info->fn->start > v->node->start) break; // in the order of the text
        if (holds(f->module, info->fn, v->module, v->node)) found = info;
    }
    return found;
}

static bool is_own(const Frame *f, const Val *v) {
    if (!v->node || !holds(f->module, f->fn, v->module, v->node)) return false;
    const FunctionInfo *info = function_of(f, v);
    return info && info->fn == f->fn;
}

// ---- one call -------------------------------------------------------------------

typedef struct Search {
    Splits *out;
    Frame *frame;
    Str qualname;
    const Node *call;
    uint32_t steps, all_steps;
} Search;

// The product of queries and keys, if the frame's function has it.
static const Val *own_product(const Frame *f, const Attend *attend) {
    for (uint32_t i = attend->scores.len; i-- > 0;) {
        const Val *v = val_strip(attend->scores.at[i]);
        if (v->op != OP_MATMUL && v->op != OP_EINSUM) continue;
        return is_own(f, v) ? v : NULL;
    }
    return NULL;
}

static bool is_known(const Splits *out, const Frame *f, const Val *root) {
    for (uint32_t i = out->len; i-- > 0 && out->at[i].frame == f;) {
        if (out->at[i].root == root) return true;
    }
    return false;
}

static void take_root(Search *s, Val *root) {
    Frame *f = s->frame;
    if (is_known(s->out, f, root)) return;
    const Attend *attend = attend_of(f->flow, root);
    if (!attend || !attend->form) return;
    const Val *product = own_product(f, attend);
    if (!product || attend_misuse(f, attend, root)) return;
    // Two products of the same weights, out of sight of the caller's own values.
    if (val_depends(attend->form->args[ATTEND_VALUE], attend->softmax)) return;
    Split split = {.frame = f, .qualname = s->qualname, .root = root, .attend = attend,
                   .product = product, .call = s->call};
    FunctionInfo *helper = function_of(f, root);
    if (helper && function_of(f, attend->softmax) == helper) split.helper = helper;
    vec_push(f->flow->arena, s->out, split);
}

// Below the value, as far as other functions computed it.
static void look_below(Search *s, Val *v, int depth) {
    bool more = depth < BELOW_MAX_DEPTH && ++s->steps < CALL_MAX_STEPS;
    if (!more || v->op < V_ATTR || is_own(s->frame, v)) return;
    if (v->node && (v->op == OP_MATMUL || v->op == OP_EINSUM)) {
        take_root(s, v);
        // What lies below is one factor of a longer product.
        if (v->op == OP_MATMUL || attend_of(s->frame->flow, v)) return;
    }
    for (uint32_t i = 0; i < v->nargs; i++) look_below(s, v->args[i], depth + 1);
}

void splits_find(Splits *out, Frame *frame, Str qualname) {
    Search search = {.out = out, .frame = frame, .qualname = qualname};
    for (uint32_t i = 0; i < frame->evals.len; i++) {
        const EvalRecord *record = &frame->evals.at[i];
        if (record->node->kind != N_CALL || !record->val) continue;
        search.call = record->node;
        search.steps = 0;
        look_below(&search, record->val, 0);
        search.all_steps += search.steps;
        if (search.all_steps > FRAME_MAX_STEPS) return;
    }
}

// ---- the sites ------------------------------------------------------------------

static bool same_forms(const Split *a, const Split *b) {
    Val *const *x = a->attend->form->args, *const *y = b->attend->form->args;
    return val_is_none(x[ATTEND_BIAS]) == val_is_none(y[ATTEND_BIAS]) &&
           val_is_none(x[ATTEND_DROP]) == val_is_none(y[ATTEND_DROP]) &&
           x[ATTEND_AXES] == y[ATTEND_AXES];
}

// From the softmax and what is done to its scores to the product with the values.
static void set_helper_lines(Site *site, const Split *split) {
    const FunctionInfo *helper = split->helper;
    site->first = split->attend->softmax->node;
    site->last = split->root->node;
    for (uint32_t i = 0; i < split->attend->seen.len; i++) {
        const Val *v = split->attend->seen.at[i];
        bool mine = v->node && v->op > V_CALL &&
                    holds(split->frame->module, helper->fn, v->module, v->node);
        if (mine && v->node->start < site->first->start) site->first = v->node;
    }
}

static void set_place(SplitGroup *group, const Split *split) {
    Site *site = &group->site;
    Frame *f = split->frame;
    if (split->helper) {
        set_helper_lines(site, split);
        site->frame = flow_function(f->flow, f->mf, split->helper);
        group->qualname = split->helper->qualname;
        return;
    }
    bool behind = split->call->start < split->product->node->start; // f(q @ k, v)
    site->first = behind ? split->call : split->product->node;
    site->last = split->call;
    site->frame = f;
    group->qualname = split->qualname;
}

static void add_other(SplitGroup *group, Arena *run, const Module *module, const Node *node) {
    Span span = make_span(run, module, node);
    for (uint32_t i = 0; i < group->others.len; i++) {
        const Span *known = &group->others.at[i];
        if (known->start_line == span.start_line && str_eq(known->file, span.file)) return;
    }
    vec_push(run, &group->others, span);
}

static void set_texts(SplitGroup *group, const Split *split, uint32_t callers, bool differ) {
    Arena *arena = split->frame->flow->arena;
    Site *site = &group->site;
    *site = (Site){.family = "attention", .id = "attention_split", .frame = site->frame,
                   .api = "torch_npu.npu_fusion_attention", .autograd = "differentiable",
                   .priority = PRIORITY_HIGH, .variant = STR("split"),
                   .first = site->first, .last = site->last};
    site->gain = STR("the scores are never in memory as a whole; one kernel each way");
    if (!split->helper) {
        site->reason = STR("the scores are made here, and another function that is called with "
                           "them makes the result: no single place to write the operator at");
    } else {
        site->reason = arena_printf(arena, "the scores come from %s: no single place to write "
            "the operator at, pass query and key on in their place%s",
            callers == 1 ? "the function that calls this one" : "functions that call this one",
            differ ? "; masks and biases differ from caller to caller" : "");
    }
    site_add_fact_at(site, (SiteFact){
        .name = "form", .state = FACT_PROVEN, .from = (Val *)(uintptr_t)split->product,
        .claim = STR("softmax attention once the call is read in place")});
    if (split->attend->unread) {
        site_add_fact_at(site, (SiteFact){
            .name = "in_sight", .state = FACT_UNKNOWN, .from = split->attend->unread_at,
            .claim = str_of(split->attend->unread)});
    }
}

// The splits from `from` on that belong to the same helper.
static void group_from(SplitGroups *out, const Splits *splits, uint32_t from, Arena *run) {
    const Split *first = &splits->at[from];
    SplitGroup group = {0};
    bool differ = false;
    set_place(&group, first);
    if (!first->helper) add_other(&group, run, first->root->module, first->root->node);
    for (uint32_t i = from; first->helper && i < splits->len; i++) {
        const Split *split = &splits->at[i];
        if (split->helper != first->helper) continue;
        add_other(&group, run, split->product->module, split->product->node);
        differ |= !same_forms(first, split);
    }
    set_texts(&group, first, group.others.len, differ);
    vec_push(run, out, group);
}

static bool is_grouped(const Splits *splits, uint32_t at) {
    for (uint32_t i = 0; i < at; i++) {
        if (splits->at[i].helper == splits->at[at].helper) return true;
    }
    return false;
}

void splits_group(SplitGroups *out, const Splits *splits, Arena *run) {
    for (uint32_t i = 0; i < splits->len; i++) {
        bool again = splits->at[i].helper && is_grouped(splits, i);
        if (!again) group_from(out, splits, i, run);
    }
}
