// training.c - fused optimizers, clipping, cross entropy: why each is a choice of
// its own, and no replacement.
//
// What torch_npu.optim does is read from its source: the first step joins all
// parameters that have a gradient, and all their gradients, into one tensor a
// dtype; other dtypes than float32 and float16 raise.
#include "base/base.h"

#include "match/training.h"

// Without one of these a file has none of these calls.
static const char *const names[] = {
    "AdamW", "Adam", "SGD", "RMSprop", "Adadelta", "clip_grad_norm_", "cross_entropy",
    "CrossEntropyLoss",
};

static bool is_ours(Str name) {
    for (size_t i = 0; i < COUNT(names); i++) {
        if (str_is(name, names[i])) return true;
    }
    return false;
}

typedef struct Walk {
    NamedSites *out;
    Flow *flow;
    Module *module;
    ModuleFlow *mf;
    Str qualname;
    bool in_function;
    const Node *shards; // a call that shards parameters, or NULL
    const Node *fused;  // the constructor of a fused optimizer, or NULL
    Str fused_qualname; // where it stands
    const Node *resets; // zero_grad(set_to_none=True), or NULL
    int depth;
} Walk;

// ---- calls --------------------------------------------------------------------

// What an expression is where it stands; NULL where it is never read.
static Val *value_at(const Walk *walk, const Node *node) {
    if (!node) return NULL;
    if (walk->in_function) return node_val(walk->mf, node);
    return eval_expr(walk->mf->frame, (Node *)(uintptr_t)node);
}

// What is called; NULL where that is not known.
static Val *callee_at(const Walk *walk, const Node *func) {
    if (func->kind != N_ATTRIBUTE || !walk->in_function) return value_at(walk, func);
    Val *object = value_at(walk, func->u.attribute.value);
    bool named = object && (object->op == V_GLOBAL || object->op == V_MODULE ||
                            object->op == V_CLASS);
    return named ? eval_attribute(walk->mf->frame, object, func->u.attribute.attr) : NULL;
}

// The dotted name of a library's callee; empty if it is none.
static Str callee_name(const Walk *walk, const Node *func) {
    bool plain = func->kind == N_NAME || func->kind == N_ATTRIBUTE || func->kind == N_SUBSCRIPT;
    if (!plain) return (Str){0};
    const Val *callee = callee_at(walk, func);
    return callee && callee->op == V_GLOBAL ? callee->text : (Str){0};
}

static const Node *keyword_of(const Node *call, const char *name) {
    for (uint32_t i = 0; i < call->u.call.keywords.len; i++) {
        const Node *keyword = call->u.call.keywords.at[i];
        const Sym *given = keyword->u.keyword.name;
        if (given && str_is(sym_str(given), name)) return keyword->u.keyword.value;
    }
    return NULL;
}

static bool is_kind(const Val *v, ConstKind kind) {
    return v && v->op == V_CONST && v->ck == kind;
}

static bool is_off(const Val *v) {
    return is_kind(v, CONST_FALSE) || is_kind(v, CONST_NONE);
}

// The argument at a place or of a name; NULL if it is not given.
static const Node *argument_of(const Node *call, uint32_t index, const char *name) {
    const NodeList *args = &call->u.call.args;
    return index < args->len ? args->at[index] : keyword_of(call, name);
}

static void push(Walk *walk, const Site *site) {
    NamedSite named = {*site, walk->qualname};
    vec_push(walk->flow->arena, walk->out, named);
}

// ---- optimizers ---------------------------------------------------------------

typedef struct FusedOptimizer {
    const char *name, *api;
    uint32_t positional; // arguments that both take, in one order
    const char *takes;   // their names, each between spaces
    bool needs_rate;     // lr has no default
} FusedOptimizer;

static const FusedOptimizer optimizers[] = {
    {"AdamW", "torch_npu.optim.NpuFusedAdamW", 6,
     " params lr betas eps weight_decay amsgrad ", false},
    {"Adam", "torch_npu.optim.NpuFusedAdam", 6,
     " params lr betas eps weight_decay amsgrad ", false},
    {"SGD", "torch_npu.optim.NpuFusedSGD", 6,
     " params lr momentum dampening weight_decay nesterov ", true},
    {"RMSprop", "torch_npu.optim.NpuFusedRMSprop", 7,
     " params lr alpha eps weight_decay momentum centered ", false},
    {"Adadelta", "torch_npu.optim.NpuFusedAdadelta", 5, " params lr rho eps weight_decay ",
     false},
};

static const FusedOptimizer *optimizer_of(Str callee) {
    if (!str_starts(callee, "torch.optim.")) return NULL;
    for (size_t i = 0; i < COUNT(optimizers); i++) {
        if (str_is(str_last_part(callee), optimizers[i].name)) return &optimizers[i];
    }
    return NULL;
}

// How torch itself runs the step; the fused form has its own way.
static bool is_way_of_running(Str name) {
    return str_is(name, "foreach") || str_is(name, "fused");
}

// The first keyword that the fused form lacks and that is not off; NULL if none.
static const Sym *lacking(const Walk *walk, const FusedOptimizer *o, const Node *call) {
    for (uint32_t i = 0; i < call->u.call.keywords.len; i++) {
        const Node *keyword = call->u.call.keywords.at[i];
        const Sym *name = keyword->u.keyword.name;
        if (!name || is_off(value_at(walk, keyword->u.keyword.value))) continue;
        if (is_way_of_running(sym_str(name))) continue;
        Str word = arena_printf(walk->flow->arena, " %s ", name->text);
        if (!str_contains(str_of(o->takes), word)) return name;
    }
    return NULL;
}

// `**kwargs` or `*args`: what is given is not known.
static bool has_star(const Node *call) {
    for (uint32_t i = 0; i < call->u.call.args.len; i++) {
        if (call->u.call.args.at[i]->kind == N_STARRED) return true;
    }
    for (uint32_t i = 0; i < call->u.call.keywords.len; i++) {
        if (!call->u.call.keywords.at[i]->u.keyword.name) return true;
    }
    return false;
}

// Why it is refused by its arguments; empty if it is not.
static Str refusal(const Walk *walk, const FusedOptimizer *o, const Node *call) {
    Arena *arena = walk->flow->arena;
    if (is_kind(value_at(walk, keyword_of(call, "fused")), CONST_TRUE)) {
        return STR("fused=True is set: torch's own fused step is asked for");
    }
    const Sym *name = lacking(walk, o, call);
    if (name) {
        return arena_printf(arena, "'%s' is given, an argument that %s lacks", name->text, o->api);
    }
    if (call->u.call.args.len > o->positional) {
        return arena_printf(arena, "more arguments are given by position than %s takes", o->api);
    }
    bool rate = !o->needs_rate || has_star(call) || argument_of(call, 1, "lr");
    if (!rate) return arena_printf(arena, "no learning rate is given, and %s needs one", o->api);
    return (Str){0};
}

static void add_open_facts(Site *site, const FusedOptimizer *o, const Node *call, Arena *arena) {
    bool star = has_star(call);
    site_add_fact(site, "arguments", star ? FACT_UNKNOWN : FACT_PROVEN,
                  star ? STR("what * or ** hands over is not known")
                       : arena_printf(arena, "%s takes every argument that is given", o->api));
    site_add_fact(site, "dtype", FACT_UNKNOWN,
                  STR("every parameter is float32 or float16: others raise"));
    site_add_fact(site, "gradients", FACT_UNKNOWN,
                  STR("the same parameters have a gradient in every step: what has none in the "
                      "first is never updated"));
    site_add_fact(site, "gain", FACT_UNKNOWN,
                  STR("torch's own step is slower: from CANN 8.0 and Atlas A2 on, torch_npu lets "
                      "it join its kernels over parameters (foreach) already"));
}

static void take_optimizer(Walk *walk, const Node *call, Str callee) {
    const FusedOptimizer *o = optimizer_of(callee);
    if (!o) return;
    Arena *arena = walk->flow->arena;
    Site site = {.family = "fused_optimizer", .id = "fused_optimizer", .api = o->api,
                 .priority = PRIORITY_LOW, .first = call, .last = call};
    site.variant = str_of(o->name);
    site.gain = STR("one step over joined parameters in place of several kernels a parameter");
    site_add_fact(&site, "callee", FACT_PROVEN,
                  arena_printf(arena, "what is called is %.*s", STR_FMT(callee)));
    site.reason = refusal(walk, o, call);
    site.refused = site.reason.len > 0;
    if (!site.refused) {
        site.reason = arena_printf(
            arena, "%s joins parameters and gradients at its first step: float32 and float16 "
            "only (bfloat16 raises), not with ZeRO, FSDP or DTensor", o->api);
        add_open_facts(&site, o, call, arena);
    }
    push(walk, &site);
}

// Whether the function makes the fused optimizer too: this is its other branch.
static bool is_fallback(const Walk *walk, const NamedSite *named) {
    return walk->fused && str_eq(walk->fused_qualname, named->qualname);
}

// What the rest of the file says about an optimizer.
static void judge_optimizer(const Walk *walk, Site *site) {
    if (walk->shards) {
        site->refused = true;
        site->reason = STR("the file shards parameters, and the fused optimizer joins whole ones");
        site_add_fact_at(site, (SiteFact){.name = "sharding", .state = FACT_REFUTED,
                                          .claim = STR("parameters are whole tensors"),
                                          .at = walk->shards});
    } else {
        site_add_fact(site, "sharding", FACT_UNKNOWN,
                      STR("parameters are whole tensors; nothing in this file shards them"));
    }
    if (walk->resets) {
        site_add_fact_at(site, (SiteFact){.name = "zero_grad", .state = FACT_REFUTED,
                                          .claim = STR("gradients are zeroed in place: "
                                                       "set_to_none=True raises in the fused "
                                                       "optimizer, and parts a module's gradients "
                                                       "from the joined ones"),
                                          .at = walk->resets});
    } else {
        site_add_fact(site, "zero_grad", FACT_UNKNOWN,
                      STR("gradients are zeroed by the optimizer: model.zero_grad() parts them "
                          "from the joined ones"));
    }
}

// ---- clipping -----------------------------------------------------------------

static void take_clipping(Walk *walk, const Node *call, Str callee) {
    bool clips = str_is(callee, "torch.nn.utils.clip_grad_norm_") ||
                 str_is(callee, "torch.nn.utils.clip_grad.clip_grad_norm_");
    if (!clips) return;
    Site site = {.family = "clip_grad_norm", .id = "clip_grad_norm",
                 .api = "NpuFusedOptimizerBase.clip_grad_norm_fused_",
                 .priority = PRIORITY_LOW, .first = call, .last = call};
    site.variant = STR("plain");
    site.gain = STR("one norm over joined gradients in place of one a parameter");
    site_add_fact(&site, "callee", FACT_PROVEN,
                  arena_printf(walk->flow->arena, "what is called is %.*s", STR_FMT(callee)));
    Val *raises = value_at(walk, argument_of(call, 3, "error_if_nonfinite"));
    site.refused = raises && !is_off(raises);
    site.reason = site.refused
        ? STR("error_if_nonfinite is given: clip_grad_norm_fused_ does not raise for such a norm")
        : STR("optimizer.clip_grad_norm_fused_ belongs to the fused optimizers of "
              "torch_npu.optim: no other optimizer has this method");
    site_add_fact(&site, "parameters", FACT_UNKNOWN,
                  STR("what is clipped is everything that the optimizer holds"));
    site_add_fact(&site, "host", FACT_REFUTED,
                  STR("no wait for the device: it compares the norm on the host, once a step"));
    push(walk, &site);
}

static void judge_clipping(const Walk *walk, Site *site) {
    if (!walk->fused || site->refused) return;
    site->priority = PRIORITY_MEDIUM;
    site->reason = STR("the file makes a fused optimizer: its clip_grad_norm_fused_ clips all "
                       "that it holds at once, if these are the same parameters");
    site_add_fact_at(site, (SiteFact){.name = "optimizer", .state = FACT_PROVEN,
                                      .claim = STR("a fused optimizer is made here"),
                                      .at = walk->fused});
}

// ---- cross entropy ---------------------------------------------------------------

static bool is_word(const Val *v, const char *word) {
    return v && val_is_str(v, word);
}

static bool is_zero(const Val *v) {
    return !v || is_off(v) || (val_is_number(v) && v->num == 0);
}

// Whether it is given, and not torch's default, which ignores no valid class.
static bool ignores_class(const Val *v) {
    return v && !val_is_int(v, -100);
}

// `before`: arguments before `weight`, which are the function's input and target.
static Str loss_fault(const Walk *walk, const Node *call, uint32_t before) {
    Val *weight = value_at(walk, argument_of(call, before, "weight"));
    Val *ignored = value_at(walk, argument_of(call, before + 2, "ignore_index"));
    Val *reduction = value_at(walk, argument_of(call, before + 4, "reduction"));
    Val *smoothing = value_at(walk, argument_of(call, before + 5, "label_smoothing"));
    bool mean = !is_word(reduction, "none") && !is_word(reduction, "sum");
    if (has_star(call)) return STR("no drop-in: what * or ** hands over is not known");
    if (!is_zero(smoothing)) {
        return STR("no drop-in: label_smoothing is given, and a loss that needs a gradient takes "
                   "none in npu_cross_entropy_loss");
    }
    if (mean && weight && !is_off(weight)) {
        return STR("no drop-in: a weight is given, and a mean that needs a gradient takes none in "
                   "npu_cross_entropy_loss");
    }
    if (mean && ignores_class(ignored)) {
        return STR("no drop-in: ignore_index is given, and a mean that needs a gradient takes "
                   "none in npu_cross_entropy_loss");
    }
    if (!ignores_class(ignored)) {
        return STR("no drop-in: torch leaves targets of -100 out, npu_cross_entropy_loss takes "
                   "them for an error; it returns four tensors, the loss not a scalar");
    }
    return (Str){0};
}

static void take_cross_entropy(Walk *walk, const Node *call, Str callee) {
    bool function = str_is(callee, "torch.nn.functional.cross_entropy");
    bool made = str_is(callee, "torch.nn.CrossEntropyLoss") ||
                str_is(callee, "torch.nn.modules.loss.CrossEntropyLoss");
    if (!function && !made) return;
    Site site = {.family = "cross_entropy", .id = "cross_entropy",
                 .api = "torch_npu.npu_cross_entropy_loss", .priority = PRIORITY_LOW,
                 .first = call, .last = call};
    site.variant = function ? STR("function") : STR("module");
    site.gain = STR("log_softmax and the loss become one kernel");
    site_add_fact(&site, "callee", FACT_PROVEN,
                  arena_printf(walk->flow->arena, "what is called is %.*s", STR_FMT(callee)));
    site_add_fact(&site, "result", FACT_REFUTED,
                  STR("the operator returns the loss alone: it returns four tensors, the loss of "
                      "shape [1] or [N] and of the input's dtype"));
    site_add_fact(&site, "targets", FACT_UNKNOWN,
                  STR("targets are int64 classes of a 2-dimensional input of at most 200000 rows"));
    site.reason = loss_fault(walk, call, function ? 2 : 0);
    site.refused = site.reason.len > 0;
    if (!site.refused) {
        site.reason = STR("no drop-in: npu_cross_entropy_loss returns four tensors, the loss of "
                          "shape [1] or [N], and ignores a class only where ignore_index is not "
                          "negative");
    }
    push(walk, &site);
}

// ---- the walk -----------------------------------------------------------------

static bool shards_parameters(Str callee) {
    static const char *const heads[] = {
        "torch.distributed.fsdp.", "torch.distributed._composable.", "deepspeed.initialize",
        "deepspeed.zero.", "torch.distributed.optim.ZeroRedundancyOptimizer",
        "torch.distributed.tensor.", "torch.distributed._tensor.",
    };
    if (str_starts(callee, "lightning.") || str_starts(callee, "pytorch_lightning.")) {
        Str last = str_last_part(callee);
        return str_is(last, "FSDPStrategy") || str_is(last, "DeepSpeedStrategy");
    }
    for (size_t i = 0; i < COUNT(heads); i++) {
        if (str_starts(callee, heads[i])) return true;
    }
    return false;
}

static bool resets_gradients(const Walk *walk, const Node *call) {
    const Node *func = call->u.call.func;
    return func->kind == N_ATTRIBUTE && str_is(sym_str(func->u.attribute.attr), "zero_grad") &&
           is_kind(value_at(walk, argument_of(call, 0, "set_to_none")), CONST_TRUE);
}

static void take_call(Walk *walk, const Node *call) {
    if (resets_gradients(walk, call)) walk->resets = call;
    Str callee = callee_name(walk, call->u.call.func);
    if (!callee.len) return;
    if (shards_parameters(callee)) walk->shards = call;
    if (str_starts(callee, "torch_npu.optim.NpuFused")) {
        walk->fused = call;
        walk->fused_qualname = walk->qualname;
    }
    take_optimizer(walk, call, callee);
    take_clipping(walk, call, callee);
    take_cross_entropy(walk, call, callee);
}

static bool is_function(const Node *node) {
    return node->kind == N_FUNCTION_DEF || node->kind == N_ASYNC_FUNCTION_DEF;
}

static bool visit(Node *node, void *data) {
    enum { DEPTH_MAX = 2000 };
    Walk *walk = data;
    Str outer = walk->qualname;
    bool outside = !walk->in_function;
    if (is_function(node) || node->kind == N_CLASS_DEF) {
        const Sym *name = node->kind == N_CLASS_DEF ? node->u.class_->name
                                                    : node->u.function->name;
        walk->qualname = outer.len ? arena_printf(walk->flow->arena, "%.*s.%s", STR_FMT(outer),
                                                  name->text)
                                   : sym_str(name);
        walk->in_function |= is_function(node);
    }
    if (node->kind == N_CALL) take_call(walk, node);
    if (++walk->depth < DEPTH_MAX) node_children(node, visit, walk);
    walk->depth--;
    walk->qualname = outer;
    walk->in_function = !outside;
    return true;
}

// A name of ours outside functions and imports: what is called by another name
// may be it.
static bool finds_alias(Node *node, void *data) {
    bool *found = data;
    const Sym *name = node->kind == N_NAME        ? node->u.name.id
                      : node->kind == N_ATTRIBUTE ? node->u.attribute.attr
                                                  : NULL;
    if (is_function(node) || node->kind == N_CALL) return true;
    if (name && is_ours(sym_str(name))) *found = true;
    return *found || node_children(node, finds_alias, data);
}

static void read_functions(Walk *walk, uint32_t mark) {
    bool aliased = false;
    node_children(walk->module->parsed.module, finds_alias, &aliased);
    flow_list_functions(walk->flow, walk->mf);
    for (uint32_t i = 0; i < walk->mf->functions.len; i++) {
        FunctionInfo *info = walk->mf->functions.at[i];
        bool ours = aliased || (info->fn->u.function->marks & mark);
        if (ours) flow_function(walk->flow, walk->mf, info);
    }
}

void training_mark(SymTable *symbols, uint32_t mark) {
    for (size_t i = 0; i < COUNT(names); i++) sym_mark(symbols, str_of(names[i]), mark);
}

void training_find(NamedSites *out, Flow *flow, Module *module, uint32_t mark) {
    Walk walk = {.out = out, .flow = flow, .module = module, .mf = flow_module(flow, module)};
    NamedSites all = {0};
    walk.out = &all;
    read_functions(&walk, mark);
    visit(module->parsed.module, &walk);
    for (uint32_t i = 0; i < all.len; i++) {
        NamedSite *named = &all.at[i];
        bool optimizer = strcmp(named->site.family, "fused_optimizer") == 0;
        if (optimizer && is_fallback(&walk, named)) continue;
        if (optimizer && !named->site.refused) judge_optimizer(&walk, &named->site);
        if (strcmp(named->site.family, "clip_grad_norm") == 0) judge_clipping(&walk, &named->site);
        vec_push(flow->arena, out, *named);
    }
}
