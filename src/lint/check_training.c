// check_training.c - operators that cannot be trained through, or that go away.
#include "base/base.h"

#include "lint/checks.h"
#include "lint/value.h"
#include "lint/ways.h"

enum { DEPENDS_MAX_DEPTH = 200, DEPENDS_MAX_STEPS = 20000 };

// self.training, also negated: 1 where the value is true in training, 0 where it is
// false there, -1 where it is something else.
static int training_truth(const Val *v, int depth) {
    if (!v || depth > 8) return -1;
    if (v->op == V_ATTR && strcmp(v->name->text, "training") == 0) return 1;
    if (v->op == V_PYOP && v->ck == A_NOT) {
        int inner = training_truth(v->args[0], depth + 1);
        return inner < 0 ? -1 : !inner;
    }
    if (v->op == V_PYOP && v->ck == A_AND) {
        for (uint32_t i = 0; i < v->nargs; i++) {
            if (training_truth(v->args[i], depth + 1) == 1) return 1;
        }
    }
    return -1;
}

typedef struct BranchSearch {
    LintJob *job;
    const Frame *frame;
    const Node *call;
    bool trains; // the call stands where self.training is true
    bool off;    // it stands where it is false, or where gradients are off
} BranchSearch;

static bool stops_here(const Frame *f, const Node *with) {
    for (uint32_t i = 0; i < with->u.with.items.len; i++) {
        const Val *v = node_val(f->mf, with->u.with.items.at[i]->u.withitem.expr);
        if (v && stops_gradients(v)) return true;
    }
    return false;
}

static bool search_branch(Node *node, void *data) {
    BranchSearch *search = data;
    bool outside = search->call->start < node->start || search->call->end > node->end;
    if (!lint_may_work(search->job, 1) || outside) return true;
    if (node->kind == N_WITH && block_holds(&node->u.with.body, search->call)) {
        search->off |= stops_here(search->frame, node);
    }
    if (node->kind == N_IF) {
        const Val *test = node_val(search->frame->mf, node->u.while_.test);
        int truth = training_truth(test, 0);
        if (truth >= 0 && block_holds(&node->u.while_.body, search->call)) {
            search->trains |= truth == 1;
            search->off |= truth == 0;
        } else if (truth >= 0 && block_holds(&node->u.while_.orelse, search->call)) {
            search->trains |= truth == 0;
            search->off |= truth == 1;
        }
    }
    return node_children(node, search_branch, data);
}

typedef struct Dependence {
    const Val *on;
    uint32_t steps;
} Dependence;

// Whether gradients of v reach the value: what is detached in between cuts them off.
static bool depends(Dependence *d, const Val *v, int depth) {
    if (v == d->on) return true;
    if (v->op == OP_DETACH || depth > DEPENDS_MAX_DEPTH) return false;
    if (++d->steps > DEPENDS_MAX_STEPS) return false;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (depends(d, v->args[i], depth + 1)) return true;
    }
    return false;
}

// y.backward() and torch.autograd.grad(y, ...) of a y that the call goes into.
static bool has_backward(LintJob *job, const NpuCall *call) {
    const Frame *f = call->frame;
    Dependence d = {.on = call->val}; // its steps are for all of them
    if (!lint_may_work(job, f->evals.len)) return false;
    for (uint32_t i = 0; i < f->evals.len; i++) {
        const Val *v = f->evals.at[i].val;
        if (!v || v->op != V_CALL) continue;
        const Val *callee = v->args[0], *of = NULL;
        bool grad = val_is_global(callee, "torch.autograd.grad") ||
                    val_is_global(callee, "torch.autograd.backward");
        if (grad && v->nargs > 1) of = v->args[1];
        if (callee->op == V_ATTR && strcmp(callee->name->text, "backward") == 0) {
            of = callee->args[0];
        }
        if (of && depends(&d, of, 0)) return true;
    }
    lint_may_work(job, d.steps);
    return false;
}

// A custom autograd function writes its own backward.
static bool is_custom_function(const Frame *f) {
    Def mro[MRO_MAX];
    uint32_t n = f->owner ? class_mro(mro, f->owner) : 0;
    for (uint32_t i = 0; i < n; i++) {
        if (mro[i].kind != DEF_EXTERNAL) continue;
        if (str_is(mro[i].dotted, "torch.autograd.Function") ||
            str_is(mro[i].dotted, "torch.autograd.function.Function")) {
            return true;
        }
    }
    return false;
}

// @torch.no_grad() on the function.
static bool is_detached(Frame *f) {
    if (f->fn->kind == N_LAMBDA) return false;
    NodeList decorators = f->fn->u.function->decorators;
    for (uint32_t i = 0; i < decorators.len; i++) {
        if (stops_gradients(eval_expr(f->mf->frame, decorators.at[i]))) return true;
    }
    return false;
}

void check_gradient(LintJob *job, const NpuCall *call) {
    const Operator *op = call->op;
    if (!op || op->grad == GRAD_DIFFERENTIABLE || !call->frame->fn) return;
    if (is_custom_function(call->frame) || is_detached(call->frame)) return;
    BranchSearch search = {.job = job, .frame = call->frame, .call = call->node};
    node_children(call->frame->fn, search_branch, &search);
    if (!lint_may_work(job, 0)) return;
    if (search.off || (!search.trains && !has_backward(job, call))) return;
    bool raises = op->grad == GRAD_RAISES;
    lint_fault(job, &(Fault){
        .severity = LINT_ERROR, .at = call->node,
        .message = arena_printf(job->arena, "%.*s has no backward and stands where the source "
                                "trains: %s", STR_FMT(call->name),
                                raises ? "backward raises"
                                       : "the gradient is None, with a warning only"),
        .right = STR("the plain code, or a differentiable operator, where gradients are needed"),
    });
}

void check_removal(LintJob *job, const NpuCall *call) {
    Str use = call->removal;
    if (!use.len) return;
    lint_fault(job, &(Fault){
        .severity = LINT_NOTE, .at = call->node,
        .message = arena_printf(job->arena, "%.*s is planned for removal", STR_FMT(call->name)),
        .right = use,
    });
}
