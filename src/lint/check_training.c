// check_training.c - operators that cannot be trained through, or that go away.
#include "base/base.h"

#include "lint/checks.h"
#include "lint/value.h"

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
    const Frame *frame;
    const Node *call;
    bool trains; // the call stands where self.training is true
    bool off;    // it stands where it is false
} BranchSearch;

static bool holds(const NodeList *block, const Node *node) {
    return block->len && node->start >= block->at[0]->start &&
           node->end <= block->at[block->len - 1]->end;
}

static bool search_branch(Node *node, void *data) {
    BranchSearch *search = data;
    if (node->kind == N_IF) {
        const Val *test = node_val(search->frame->mf, node->u.while_.test);
        int truth = training_truth(test, 0);
        if (truth >= 0 && holds(&node->u.while_.body, search->call)) {
            search->trains |= truth == 1;
            search->off |= truth == 0;
        } else if (truth >= 0 && holds(&node->u.while_.orelse, search->call)) {
            search->trains |= truth == 0;
            search->off |= truth == 1;
        }
    }
    return node_children(node, search_branch, data);
}

// loss.backward() and torch.autograd.grad of something in this function.
static bool has_backward(const Frame *f) {
    for (uint32_t i = 0; i < f->evals.len; i++) {
        Val *v = f->evals.at[i].val;
        if (!v || v->op != V_CALL) continue;
        const Val *callee = v->args[0];
        if (val_is_global(callee, "torch.autograd.grad")) return true;
        bool method = callee->op == V_ATTR && strcmp(callee->name->text, "backward") == 0;
        if (method && v->nargs == 1) return true;
    }
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

void check_gradient(LintJob *job, const NpuCall *call) {
    const Operator *op = call->op;
    if (!op || op->grad == GRAD_DIFFERENTIABLE || !call->frame->fn) return;
    if ((call->val->flags & VF_NO_GRAD) || is_custom_function(call->frame)) return;
    BranchSearch search = {.frame = call->frame, .call = call->node};
    node_children(call->frame->fn, search_branch, &search);
    if (search.off || (!search.trains && !has_backward(call->frame))) return;
    bool raises = op->grad == GRAD_RAISES;
    lint_fault(job, &(Fault){
        .check = "no-gradient", .severity = LINT_ERROR, .at = call->node,
        .message = arena_printf(job->arena, "%.*s has no backward and stands where the source "
                                "trains: %s", STR_FMT(call->name),
                                raises ? "backward raises"
                                       : "the gradient is None, with a warning only"),
        .right = STR("the plain code, or a differentiable operator, where gradients are needed"),
    });
}

void check_removal(LintJob *job, const NpuCall *call) {
    if (!call->op || !call->op->removal.len) return;
    lint_fault(job, &(Fault){
        .check = "planned-removal", .severity = LINT_NOTE, .at = call->node,
        .message = arena_printf(job->arena, "%.*s is planned for removal", STR_FMT(call->name)),
        .right = call->op->removal,
    });
}
