// surround.c - a walk from the function down to the candidate, over the
// `with` statements and tests that it passes, and a look at the decorators.
#include "base/base.h"

#include "match/surround.h"

#include "match/compiled.h"
#include "match/evidence.h"

typedef enum Cast { CAST_NONE, CAST_ON, CAST_OFF, CAST_OPEN } Cast;

typedef struct Around {
    Frame *frame;
    const Node *at;
    Cast cast;
    const Node *cast_at; // the innermost region of autocast
    const Node *off_at;  // a region without gradients
    const Node *test_at; // a test of self.training, the innermost
    bool trains;         // whether the code runs where it is true
} Around;

// torch.autocast, torch.amp.autocast, torch.cuda.amp.autocast, ...
static bool is_autocast(const Val *v) {
    const Val *callee = v->op == V_CALL ? v->args[0] : v;
    return callee->op == V_GLOBAL && str_starts(callee->text, "torch") &&
           str_ends(callee->text, ".autocast");
}

// What the region makes of autocast: its argument `enabled` decides.
static Cast cast_of(const Val *v) {
    for (uint32_t i = 1; v->op == V_CALL && i < v->nargs; i++) {
        const Val *arg = v->args[i];
        if (arg->op != V_KEYWORD || !arg->name) continue;
        if (!str_is(sym_str(arg->name), "enabled")) continue;
        int truth = val_truth(arg->args[0]);
        return truth == 0 ? CAST_OFF : truth == 1 ? CAST_ON : CAST_OPEN;
    }
    return CAST_ON;
}

static void note_manager(Around *around, const Val *v, const Node *node) {
    if (!v) return;
    if (is_autocast(v)) {
        around->cast = cast_of(v);
        around->cast_at = node;
    }
    if (stops_gradients(v)) around->off_at = node;
}

// self.training and its negation: 1, 0, or -1 of another test.
static int training_truth(const Val *v, int depth) {
    if (!v || depth > 8) return -1;
    if (v->op == V_ATTR && v->name && str_is(sym_str(v->name), "training")) return 1;
    if (v->op != V_PYOP || v->ck != A_NOT) return -1;
    int inner = training_truth(v->args[0], depth + 1);
    return inner < 0 ? -1 : !inner;
}

static bool holds(const NodeList *block, const Node *at) {
    return block->len && at->start >= block->at[0]->start &&
           at->end <= block->at[block->len - 1]->end;
}

static void note_test(Around *around, const Node *node) {
    int truth = training_truth(node_val(around->frame->mf, node->u.while_.test), 0);
    bool then = holds(&node->u.while_.body, around->at);
    if (truth < 0 || (!then && !holds(&node->u.while_.orelse, around->at))) return;
    around->test_at = node->u.while_.test;
    around->trains = then == (truth == 1);
}

static bool walk_down(Node *node, void *data) {
    Around *around = data;
    if (around->at->start < node->start || around->at->end > node->end) return true;
    if (node->kind == N_IF) note_test(around, node);
    if (node->kind == N_WITH && holds(&node->u.with.body, around->at)) {
        for (uint32_t i = 0; i < node->u.with.items.len; i++) {
            const Node *expr = node->u.with.items.at[i]->u.withitem.expr;
            note_manager(around, node_val(around->frame->mf, expr), expr);
        }
    }
    node_children(node, walk_down, data);
    return false; // no other child holds it
}

static void look_around(Around *around) {
    Frame *f = around->frame;
    if (!f->fn) return;
    if (f->fn->kind == N_FUNCTION_DEF) {
        Frame *top = flow_module_frame(f->flow, f->mf);
        NodeList decorators = f->fn->u.function->decorators;
        for (uint32_t i = 0; i < decorators.len; i++) {
            note_manager(around, eval_expr(top, decorators.at[i]), decorators.at[i]);
        }
    }
    node_children(f->fn, walk_down, around);
}

static void push_fact(Finding *out, Arena *run, Fact fact, const Frame *f, const Node *at) {
    if (at) {
        Span span = make_span(run, f->module, at);
        vec_push(run, &fact.chain, span);
    }
    vec_push(run, &out->facts, fact);
}

static void add_cast_fact(Finding *out, Arena *run, const Around *around) {
    if (around->cast == CAST_NONE) return;
    Fact fact = {.name = STR("autocast"), .state = FACT_PROVEN};
    if (around->cast == CAST_OFF) {
        fact.claim = STR("autocast is off here: the dtypes are those of the inputs");
    } else if (around->cast == CAST_ON) {
        fact.claim = STR("autocast is on here: products give the low precision dtype; the fused "
                         "operator casts nothing");
    } else {
        fact.state = FACT_UNKNOWN;
        fact.claim = STR("a region of autocast whose `enabled` is known at run time");
    }
    push_fact(out, run, fact, around->frame, around->cast_at);
}

static Str operator_clause(Str autograd) {
    if (str_is(autograd, "differentiable")) return STR("the operator has a backward");
    if (str_is(autograd, "raises")) return STR("the operator raises in backward");
    if (str_is(autograd, "silent")) return STR("the operator gives no gradient, without a word");
    return STR("the operator's backward is not stated");
}

static void add_gradient_fact(Finding *out, Arena *run, const Around *around, Str autograd) {
    Fact fact = {.name = STR("gradient"), .state = FACT_PROVEN};
    Str operator_ = operator_clause(autograd);
    const Node *at = NULL;
    if (around->off_at) {
        at = around->off_at;
        fact.claim = arena_printf(run, "no gradient passes here: gradients are off; %.*s",
                                  STR_FMT(operator_));
    } else if (around->test_at) {
        at = around->test_at;
        fact.claim = arena_printf(run, "runs only where `training` is %s; %.*s",
                                  around->trains ? "true" : "false", STR_FMT(operator_));
    } else {
        fact.state = FACT_UNKNOWN;
        fact.claim = operator_;
    }
    push_fact(out, run, fact, around->frame, at);
}

void add_surround_facts(Finding *out, Arena *run, Frame *frame, const Node *at,
                        Str autograd) {
    Around around = {.frame = frame, .at = at};
    look_around(&around);
    const Node *compiled = compiled_at(frame);
    if (compiled) {
        Fact fact = {.name = STR("graph_mode"), .state = FACT_PROVEN};
        fact.claim = STR("this code is given to torch.compile");
        push_fact(out, run, fact, frame, compiled);
    }
    add_cast_fact(out, run, &around);
    add_gradient_fact(out, run, &around, autograd);
}
