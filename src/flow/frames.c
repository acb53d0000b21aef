// frames.c - functions: parameters, roots, and calls read in place.
#include "base/base.h"

#include "flow/recall.h"
#include "flow/resolve_impl.h"

enum {
    RUN_BUDGET = 40000,    // statements read for one root function
    INLINE_BUDGET = 300,   // of them in functions read in place
    INLINE_MAX_DEPTH = 6,  // functions within functions
    INLINE_MAX_STMTS = 60, // of a function read in place
};

static Val *opaque(Frame *f) {
    return val_unique(&f->flow->graph, V_OPAQUE, NULL, 0);
}

static bool is_torch_module(const Def *class_def) {
    Def mro[MRO_MAX];
    uint32_t n = class_mro(mro, class_def);
    for (uint32_t i = 0; i < n; i++) {
        if (mro[i].kind == DEF_EXTERNAL && str_is(mro[i].dotted, "torch.nn.Module")) return true;
    }
    return false;
}

// The class of modules that the annotation of a parameter names: def f(attn: Attention).
// NULL where it names none of the project, or more than one.
static Def *annotated_module(Frame *f, const Node *arg) {
    if (f->rule || !arg->u.arg.annotation) return NULL;
    Resolver r = {.flow = f->flow};
    Classes classes = {0};
    annotation_classes(&r, &classes, f->module, arg->u.arg.annotation, 0);
    if (classes.len != 1 || !is_torch_module(&classes.at[0])) return NULL;
    Def *def = NEW(f->flow->arena, Def);
    *def = classes.at[0];
    return def;
}

static Val *param_val(Frame *f, Node *arg) {
    Val v = {.op = V_PARAM, .name = arg->u.arg.name, .node = arg,
             .ptr = f->scope ? f->scope : f,
             .module = f->module, .def = annotated_module(f, arg)};
    if (f->rule) v.flags = VF_NOT_NONE;
    return val_intern(&f->flow->graph, &v);
}

typedef struct Params {
    Node **at;
    Node **defaults; // NULL for none
    uint32_t len, positional;
} Params;

static Params list_params(Arena *arena, const ArgumentsNode *a) {
    uint32_t positional = a->posonly.len + a->args.len;
    Params p = {.len = positional + a->kwonly.len, .positional = positional};
    p.at = NEW_N(arena, Node *, p.len + 1);
    p.defaults = NEW_N(arena, Node *, p.len + 1);
    for (uint32_t i = 0; i < positional; i++) {
        p.at[i] = i < a->posonly.len ? a->posonly.at[i]
                                     : a->args.at[i - a->posonly.len];
        uint32_t first = positional - a->defaults.len;
        if (i >= first) p.defaults[i] = a->defaults.at[i - first];
    }
    for (uint32_t i = 0; i < a->kwonly.len; i++) {
        p.at[positional + i] = a->kwonly.at[i];
        p.defaults[positional + i] = a->kw_defaults.at[i];
    }
    return p;
}

static ArgumentsNode *arguments_of(Node *fn) {
    Node *args = fn->kind == N_LAMBDA ? fn->u.lambda.args : fn->u.function->args;
    return args->u.arguments;
}

// *args and **kwargs; `rest` is what kwargs holds, NULL where nobody knows.
static void bind_rest(Frame *f, const ArgumentsNode *a, Val *rest) {
    if (a->vararg) bind_name(f, a->vararg->u.arg.name, opaque(f));
    if (a->kwarg) bind_name(f, a->kwarg->u.arg.name, rest ? rest : opaque(f));
}

void bind_own_params(Frame *f) {
    ArgumentsNode *a = arguments_of(f->fn);
    Params p = list_params(f->flow->arena, a);
    for (uint32_t i = 0; i < p.len; i++) {
        Val *v = i == 0 && f->self ? f->self : param_val(f, p.at[i]);
        bind_name(f, p.at[i]->u.arg.name, v);
    }
    bind_rest(f, a, NULL);
}

// Binds a call's arguments; what is not given takes its default, or stays a
// parameter where there is none.
static bool bind_call(Frame *f, Frame *definer, Val *self, Val *const *args,
                      uint32_t nargs) {
    ArgumentsNode *a = arguments_of(f->fn);
    Params p = list_params(f->flow->arena, a);
    Val **given = NEW_N(f->flow->arena, Val *, p.len + 1);
    uint32_t at = 0;
    if (self && p.positional) given[at++] = self;
    Val **rest = NEW_N(f->flow->arena, Val *, nargs * 2 + 1);
    uint32_t rest_len = 0;
    bool unknown = false;
    for (uint32_t i = 0; i < nargs; i++) {
        if (args[i]->op == V_STAR) unknown = true;
        else if (args[i]->op != V_KEYWORD) {
            if (unknown) continue;
            if (at < p.positional) given[at++] = args[i];
            else if (!a->vararg) return false;
        } else if (!args[i]->name) {
            unknown = true;
        } else {
            uint32_t k = 0;
            while (k < p.len && p.at[k]->u.arg.name != args[i]->name) k++;
            if (k < p.len) given[k] = args[i]->args[0];
            else if (!a->kwarg) return false;
            else {
                rest[rest_len++] = val_str(&f->flow->graph, sym_str(args[i]->name));
                rest[rest_len++] = args[i]->args[0];
            }
        }
    }
    for (uint32_t i = 0; i < p.len; i++) {
        Val *v = given[i];
        if (!v && !unknown && p.defaults[i]) v = eval_expr(definer, p.defaults[i]);
        if (!v) v = param_val(f, p.at[i]);
        bind_name(f, p.at[i]->u.arg.name, v);
    }
    bind_rest(f, a, unknown ? NULL : val_new(&f->flow->graph, V_DICT, rest, rest_len));
    return true;
}

typedef struct Count {
    uint32_t stmts;
    bool yields;
} Count;

static bool count_stmts(Node *node, void *data) {
    Count *count = data;
    if (node_is_statement(node)) count->stmts++;
    if (node->kind == N_YIELD || node->kind == N_YIELD_FROM ||
        node->kind == N_AWAIT) {
        count->yields = true;
    }
    if (count->stmts > INLINE_MAX_STMTS || count->yields) return false;
    if (node->kind == N_FUNCTION_DEF || node->kind == N_LAMBDA) return true;
    return node_children(node, count_stmts, data);
}

// The statements of a function; more than INLINE_MAX_STMTS where it is too large to
// be read in place, or is a generator.
static uint32_t function_size(Node *fn) {
    FunctionNode *known = fn->kind == N_LAMBDA ? NULL : fn->u.function;
    if (known && known->size) return known->size - 1;
    Count count = {.stmts = fn->kind == N_LAMBDA};
    node_children(fn, count_stmts, &count);
    if (count.yields) count.stmts = INLINE_MAX_STMTS + 1;
    if (known) known->size = count.stmts + 1;
    return count.stmts;
}

// The value of all returns: phi(c1, r1, phi(c2, r2, ... last)).
Val *frame_result(Frame *f) {
    if (f->returns.len == 0) return val_none(&f->flow->graph);
    Val *result = f->returns.at[f->returns.len - 1].val;
    for (uint32_t i = f->returns.len - 1; i-- > 0;) {
        ReturnRecord *r = &f->returns.at[i];
        Val *cond = r->cond ? r->cond : opaque(f);
        if (cond->op == V_STAR) { // returned from the else branch
            result = op_phi(f->flow, cond->args[0], result, r->val);
        } else {
            result = op_phi(f->flow, cond, r->val, result);
        }
    }
    return result;
}

// The functions around; INLINE_MAX_DEPTH where the function is one of them or they are
// too many.
static uint32_t depth_around(const Frame *caller, const Node *fn) {
    uint32_t depth = 0;
    for (const Frame *f = caller; f; f = f->caller) {
        if (f->fn == fn) {
            recall_taint(caller->flow);
            return INLINE_MAX_DEPTH;
        }
        if (++depth >= INLINE_MAX_DEPTH) break;
    }
    return depth;
}

bool frame_may_inline(const Frame *f, uint32_t stmts) {
    return f->run->inlined < INLINE_BUDGET && f->run->inlined + stmts <= INLINE_BUDGET &&
           flow_may_inline(f->flow);
}

// Whether the function may be read in place now: neither too large nor one too many.
static bool may_read(Frame *caller, Node *fn, uint32_t size) {
    if (size <= INLINE_MAX_STMTS && frame_may_inline(caller, size)) {
        return fn->kind != N_ASYNC_FUNCTION_DEF;
    }
    bool file_is_full = !flow_may_inline(caller->flow);
    if (caller->run->inlined < INLINE_BUDGET && file_is_full) caller->top->truncated = true;
    if (size <= INLINE_MAX_STMTS || file_is_full) recall_taint(caller->flow);
    return false;
}

static Frame *callee_frame(Frame *caller, const Val *callee, Val *self) {
    Flow *flow = caller->flow;
    Frame *f = NEW(flow->arena, Frame);
    bool lambda = callee->op == V_LAMBDA;
    Module *module = lambda ? callee->module : callee->def->module;
    *f = (Frame){.flow = flow, .run = caller->run, .module = module,
                 .mf = flow_module(flow, module),
                 .fn = lambda ? callee->node : callee->def->node, .self = self,
                 .caller = caller, .top = caller->top, .rule = caller->rule};
    if (lambda) {
        Frame *definer = (Frame *)(uintptr_t)callee->ptr;
        f->lexical = definer;
        f->owner = definer->owner;
        f->self = self ? self : definer->self;
    }
    if (callee->op == V_METHOD) f->owner = (Def *)(uintptr_t)callee->ptr;
    f->attrs = caller->attrs;
    f->attrs_self = caller->attrs_self;
    return f;
}

static Val *read_callee(Frame *f, Val *self, Val *const *args, uint32_t nargs) {
    Frame *caller = f->caller;
    Node *outer = caller->stmt;
    bool bound = bind_call(f, f->lexical ? f->lexical : f->mf->frame, self, args, nargs);
    caller->stmt = outer;
    if (!bound) return NULL;
    Val *result;
    if (f->fn->kind == N_LAMBDA) {
        result = eval_expr(f, f->fn->u.lambda.body);
    } else {
        eval_block(f, &f->fn->u.function->body);
        result = frame_result(f);
    }
    return f->truncated ? NULL : result;
}

Val *eval_inline(Frame *caller, Val *callee, Val *self, Val *const *args,
                 uint32_t nargs) {
    Node *fn = callee->op == V_LAMBDA ? callee->node : callee->def->node;
    uint32_t size = function_size(fn);
    if (!may_read(caller, fn, size)) return NULL;
    RecallCall call = {.caller = caller, .callee = callee, .args = args, .nargs = nargs};
    call.depth = depth_around(caller, fn);
    if (call.depth == INLINE_MAX_DEPTH) return NULL;
    if (callee->op == V_FUNCTION && !self) {
        Val *known = recall_find(&call);
        if (known) return known;
    }
    recall_begin(&call);
    caller->run->inlined += size;
    Frame *f = callee_frame(caller, callee, self);
    f->args = args;
    f->nargs = nargs;
    Val *result = read_callee(f, self, args, nargs);
    recall_keep(&call, result);
    return result;
}

static Frame *new_root(Flow *flow, ModuleFlow *mf, Node *fn) {
    Frame *f = NEW(flow->arena, Frame);
    Run *run = NEW(flow->arena, Run);
    run->budget = RUN_BUDGET;
    *f = (Frame){.flow = flow, .run = run, .module = mf->module, .mf = mf,
                 .fn = fn, .root = true};
    f->top = f;
    return f;
}

static bool takes_self(Flow *flow, const Node *fn) {
    NodeList decorators = fn->u.function->decorators;
    for (uint32_t i = 0; i < decorators.len; i++) {
        Node *d = decorators.at[i];
        if (d->kind == N_NAME && (d->u.name.id == flow->names.staticmethod_ ||
                                  d->u.name.id == flow->names.classmethod_)) {
            return false;
        }
    }
    const ArgumentsNode *a = fn->u.function->args->u.arguments;
    return a->posonly.len + a->args.len > 0;
}

// `self` of a class: one value, whichever method it is seen from.
Val *self_val(Flow *flow, const Def *owner) {
    Val v = {.op = V_PARAM, .name = flow->names.self, .def = (Def *)(uintptr_t)owner};
    return val_intern(&flow->graph, &v);
}

static bool has_own_self(Flow *flow, const FunctionInfo *info) {
    return info->owner && takes_self(flow, info->fn);
}

static void give_self(Frame *f, FunctionInfo *info) {
    Flow *flow = f->flow;
    if (has_own_self(flow, info)) {
        f->self = self_val(flow, info->owner);
        f->attrs_self = f->self;
        f->attrs = NEW(flow->arena, NameTable);
    } else if (info->outer) {
        f->self = info->outer->self;
        f->owner = info->outer->owner;
        f->attrs = info->outer->attrs ? NEW(flow->arena, NameTable) : NULL;
        f->attrs_self = info->outer->attrs_self;
    }
}

Frame *light_frame(Flow *flow, ModuleFlow *mf, FunctionInfo *info) {
    if (info->light) return info->light;
    uint32_t from = recall_made_from(flow);
    Frame *f = flow_module_frame(flow, mf);
    info->light = f;
    f->fn = info->fn;
    f->owner = info->owner;
    f->lexical = info->outer;
    give_self(f, info);
    Val *self = f->self;
    if (!has_own_self(flow, info)) f->self = NULL;
    bind_own_params(f);
    f->self = self;
    recall_made_to(flow, from);
    return f;
}

Frame *flow_function(Flow *flow, ModuleFlow *mf, FunctionInfo *info) {
    if (info->frame) return info->frame;
    if (info->running) {
        recall_taint(flow);
        return NULL;
    }
    info->running = true;
    uint32_t from = recall_made_from(flow);
    Frame *f = new_root(flow, mf, info->fn);
    f->scope = light_frame(flow, mf, info);
    f->owner = info->owner;
    f->lexical = info->outer;
    give_self(f, info);
    Val *self = f->self;
    if (!has_own_self(flow, info)) f->self = NULL;
    bind_own_params(f);
    f->self = self;
    eval_block(f, &info->fn->u.function->body);
    info->running = false;
    recall_made_to(flow, from);
    info->frame = f;
    return f;
}

Frame *flow_call_root(Flow *flow, ModuleFlow *mf, Node *fn,
                      Val *const *params, uint32_t count) {
    Frame *f = new_root(flow, mf, fn);
    f->rule = true;
    Params p = list_params(flow->arena, arguments_of(fn));
    for (uint32_t i = 0; i < p.len && i < count; i++) {
        Val *v = params[i] ? params[i] : param_val(f, p.at[i]);
        bind_name(f, p.at[i]->u.arg.name, v);
    }
    eval_block(f, &fn->u.function->body);
    return f;
}
