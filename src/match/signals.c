// signals.c - calls and decorators that set the stage for a whole project.
#include "base/base.h"

#include "match/signals.h"

#include "match/available.h"
#include "match/evidence.h"

#include <stdlib.h>

enum { OF_A_KIND_MAX = 3 }; // places that are shown

// The last name of what is called. A call of another name is not looked at.
static const char *const callees[] = {
    "compile", "export", "trace", "script", "make_graphed_callables", "CUDAGraph",
    "NPUGraph", "graph", "backward", "autocast", "pad_sequence", "npugraph_ex",
};

void signals_mark(SymTable *symbols, uint32_t mark) {
    for (size_t i = 0; i < COUNT(callees); i++) sym_mark(symbols, str_of(callees[i]), mark);
    sym_mark(symbols, STR("optim"), mark);
    sym_mark(symbols, STR("find_spec"), mark);
    sym_mark(symbols, STR("torch_npu"), mark);
    sym_mark(symbols, STR("npu"), mark);
    sym_mark(symbols, STR("padding"), mark);
}

static const struct {
    const char *name;
    SignalKind kind;
} globals[] = {
    {"torch.compile", SIGNAL_COMPILE},
    {"torch.export.export", SIGNAL_GRAPH},
    {"torch.onnx.export", SIGNAL_GRAPH},
    {"torch.jit.trace", SIGNAL_GRAPH},
    {"torch.jit.script", SIGNAL_GRAPH},
    {"torch.cuda.make_graphed_callables", SIGNAL_GRAPH},
    {"torch.cuda.CUDAGraph", SIGNAL_GRAPH},
    {"torch.cuda.graph", SIGNAL_GRAPH},
    {"torch.npu.make_graphed_callables", SIGNAL_GRAPH},
    {"torch.npu.NPUGraph", SIGNAL_GRAPH},
    {"torch.npu.graph", SIGNAL_GRAPH},
    {"torch_npu.npu.NPUGraph", SIGNAL_GRAPH},
    {"torch_npu.npu.graph", SIGNAL_GRAPH},
    {"torch.nn.utils.rnn.pad_sequence", SIGNAL_PADDING},
    {"torch.autograd.backward", SIGNAL_TRAIN},
};

// The kind of a dotted name of torch, or SIGNAL_KINDS.
static SignalKind global_kind(Str name) {
    for (size_t i = 0; i < COUNT(globals); i++) {
        if (str_is(name, globals[i].name)) return globals[i].kind;
    }
    if (!str_starts(name, "torch")) return SIGNAL_KINDS;
    if (str_ends(name, ".autocast")) return SIGNAL_AUTOCAST;
    bool optimizer = str_starts(name, "torch.optim.") &&
                     !str_starts(name, "torch.optim.lr_scheduler") &&
                     !str_starts(name, "torch.optim.swa_utils");
    return optimizer ? SIGNAL_TRAIN : SIGNAL_KINDS;
}

typedef struct SignalWalk {
    Signals *out;
    Arena *run;
    Module *module;
    Frame *top;
    const Sym *optim, *padding, *backward;
    const Sym *names[COUNT(callees)];
} SignalWalk;

static void add_signal(SignalWalk *walk, SignalKind kind, const Node *at) {
    Signal signal = {kind, make_span(walk->run, walk->module, at)};
    vec_push(walk->run, walk->out, signal);
}

static const Sym *last_name(const Node *callee) {
    if (callee->kind == N_NAME) return callee->u.name.id;
    return callee->kind == N_ATTRIBUTE ? callee->u.attribute.attr : NULL;
}

static bool is_dotted(const Node *node) {
    while (node->kind == N_ATTRIBUTE) node = node->u.attribute.value;
    return node->kind == N_NAME;
}

static bool is_named(const SignalWalk *walk, const Sym *name) {
    for (size_t i = 0; i < COUNT(walk->names); i++) {
        if (name && walk->names[i] == name) return true;
    }
    return false;
}

// autocast(..., enabled=False)
static bool is_switched_off(const Node *at) {
    if (at->kind != N_CALL) return false;
    for (uint32_t i = 0; i < at->u.call.keywords.len; i++) {
        const Node *k = at->u.call.keywords.at[i];
        const Node *value = k->u.keyword.value;
        bool off = value->kind == N_CONSTANT && value->op == CONST_FALSE;
        if (off && k->u.keyword.name && str_is(sym_str(k->u.keyword.name), "enabled")) return true;
    }
    return false;
}

static void look_at(SignalWalk *walk, Node *callee, const Node *at) {
    const Sym *name = last_name(callee);
    if (!name || !is_dotted(callee) || (!walk->optim && !is_named(walk, name))) return;
    const Val *v = eval_expr(walk->top, callee);
    SignalKind kind = v->op == V_GLOBAL ? global_kind(v->text) : SIGNAL_KINDS;
    if (kind == SIGNAL_AUTOCAST && is_switched_off(at)) return;
    if (kind != SIGNAL_KINDS) add_signal(walk, kind, at);
}

// loss.backward(), scaler.scale(loss).backward(), but not super().backward(...).
static bool is_backward(const SignalWalk *walk, const Node *call) {
    const Node *func = call->u.call.func;
    if (!walk->backward || func->kind != N_ATTRIBUTE) return false;
    if (func->u.attribute.attr != walk->backward || call->u.call.args.len > 1) return false;
    const Node *of = func->u.attribute.value;
    bool super = of->kind == N_CALL && of->u.call.func->kind == N_NAME &&
                 str_is(sym_str(of->u.call.func->u.name.id), "super");
    return !super;
}

// tokenizer(texts, padding=True) and padding="longest"; a convolution's padding
// is a number or another word.
static bool pads_to_longest(const SignalWalk *walk, const Node *call) {
    for (uint32_t i = 0; walk->padding && i < call->u.call.keywords.len; i++) {
        const Node *k = call->u.call.keywords.at[i];
        if (k->u.keyword.name != walk->padding) continue;
        const Node *value = k->u.keyword.value;
        if (value->kind != N_CONSTANT) continue;
        bool longest = value->op == CONST_STR && str_is(value->u.constant.text, "longest");
        if (longest || value->op == CONST_TRUE) return true;
    }
    return false;
}

static bool visit(Node *node, void *data) {
    SignalWalk *walk = data;
    if (node->kind == N_CALL) {
        if (is_backward(walk, node)) add_signal(walk, SIGNAL_TRAIN, node);
        else if (pads_to_longest(walk, node)) add_signal(walk, SIGNAL_PADDING, node);
        else look_at(walk, node->u.call.func, node);
    }
    NodeList decorators = {0};
    if (node->kind == N_FUNCTION_DEF) decorators = node->u.function->decorators;
    if (node->kind == N_CLASS_DEF) decorators = node->u.class_->decorators;
    for (uint32_t i = 0; i < decorators.len; i++) {
        if (decorators.at[i]->kind != N_CALL) look_at(walk, decorators.at[i], decorators.at[i]);
    }
    return node_children(node, visit, data);
}

static void visit_available(const Node *stmt, void *data) {
    add_signal(data, SIGNAL_AVAILABLE, stmt);
}

void signals_collect(Signals *out, Arena *run, Flow *flow, Module *module) {
    SignalWalk walk = {.out = out, .run = run, .module = module};
    walk.top = flow_module_frame(flow, flow_module(flow, module));
    if (str_contains(module->source.text, STR("optim"))) {
        walk.optim = sym_find(flow->symbols, STR("optim"));
    }
    walk.padding = sym_find(flow->symbols, STR("padding"));
    walk.backward = sym_find(flow->symbols, STR("backward"));
    for (size_t i = 0; i < COUNT(callees); i++) {
        walk.names[i] = sym_find(flow->symbols, str_of(callees[i]));
    }
    node_children(module->parsed.module, visit, &walk);
    list_availability(module, visit_available, &walk);
}

// ---- the facts of findings ----------------------------------------------------

static int compare_signals(const void *a, const void *b) {
    const Signal *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    int order = str_cmp(x->where.file, y->where.file);
    if (order) return order;
    return x->where.start_line < y->where.start_line ? -1
         : x->where.start_line > y->where.start_line;
}

// The first places of a kind, each file once, those of `first` before others.
static void add_places(Fact *fact, Arena *run, const Signals *all, SignalKind kind, Str first) {
    for (int own = 1; own >= 0; own--) {
        Str last = {0};
        for (uint32_t i = 0; i < all->len && fact->chain.len < OF_A_KIND_MAX; i++) {
            const Signal *s = &all->at[i];
            if (s->kind != kind || str_eq(s->where.file, first) != (own == 1)) continue;
            if (last.len && str_eq(last, s->where.file)) continue;
            last = s->where.file;
            vec_push(run, &fact->chain, s->where);
        }
    }
}

static Fact *find_fact(const Finding *finding, const char *name) {
    for (uint32_t i = 0; i < finding->facts.len; i++) {
        if (str_is(finding->facts.at[i].name, name)) return &finding->facts.at[i];
    }
    return NULL;
}

typedef struct Question {
    const char *name;
    SignalKind kind;
    const char *seen, *unseen;
} Question;

static const Question questions[] = {
    {"graph_mode", SIGNAL_COMPILE,
     "torch.compile is used elsewhere in the scanned files", NULL},
    {"graph_mode", SIGNAL_GRAPH,
     "graphs are captured or exported elsewhere in the scanned files",
     "no torch.compile and no captured graph in the scanned files"},
    {"autocast", SIGNAL_AUTOCAST,
     "a region of autocast is opened elsewhere in the scanned files",
     "no region of autocast in the scanned files"},
    {"availability", SIGNAL_AVAILABLE,
     "the project tells elsewhere whether an NPU is usable: not asked here", NULL},
};

// Whether something is said of it.
static bool answer(Finding *finding, Arena *run, const Signals *all, const Question *q) {
    if (find_fact(finding, q->name)) return false;
    Fact fact = {.name = str_of(q->name), .state = FACT_UNKNOWN};
    add_places(&fact, run, all, q->kind, finding->file);
    const char *claim = fact.chain.len ? q->seen : q->unseen;
    if (!claim) return false;
    fact.claim = str_of(claim);
    vec_push(run, &finding->facts, fact);
    return true;
}

static void settle_gradient(Finding *finding, Arena *run, const Signals *all) {
    Fact *fact = find_fact(finding, "gradient");
    if (!fact || fact->state != FACT_UNKNOWN) return;
    add_places(fact, run, all, SIGNAL_TRAIN, finding->file);
    fact->claim = arena_printf(run, "%s; %.*s", fact->chain.len
        ? "the scanned files train elsewhere"
        : "no backward() and no optimizer in the scanned files", STR_FMT(fact->claim));
}

static void settle_shapes(Finding *finding, Arena *run, const Signals *all) {
    Fact *fact = find_fact(finding, "dynamic_shape");
    if (!fact || fact->state != FACT_UNKNOWN || fact->chain.len) return;
    add_places(fact, run, all, SIGNAL_PADDING, finding->file);
    if (!fact->chain.len) return;
    fact->claim = STR("each batch is padded to its longest member: the length of a sequence "
                      "changes from step to step");
}

void signals_settle(FindingSet *set, Arena *run, Signals *all) {
    if (all->len) qsort(all->at, all->len, sizeof(Signal), compare_signals);
    for (uint32_t i = 0; i < set->findings.len; i++) {
        Finding *finding = &set->findings.at[i];
        bool asked = find_fact(finding, "gradient") != NULL; // surround.c was
        if (finding->verdict == VERDICT_REJECT || !asked) continue;
        bool npu = str_starts(finding->api, "torch_npu.");
        for (size_t k = 0; k < COUNT(questions); k++) {
            if (npu || questions[k].kind != SIGNAL_AVAILABLE) {
                answer(finding, run, all, &questions[k]);
            }
        }
        settle_gradient(finding, run, all);
        settle_shapes(finding, run, all);
    }
}
