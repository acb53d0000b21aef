// functions.c - the functions of a module, and what Flow keeps for each.
//
// The scanned module lists all of its functions, with qualified names; of the
// modules that are read for resolution a function is noted when it is asked
// for.
#include "base/base.h"

#include "flow/flow.h"

// About 300 bytes and 300 ns each.
enum { WORK_MAX = 1500 * 1000, RUN_WORK_MAX = 400 * 1000 };

typedef struct ListFunctions {
    Flow *flow;
    ModuleFlow *mf;
    Def *owner;
    Str prefix;
    int depth;
    bool in_function;
} ListFunctions;

static void list_block(ListFunctions *list, NodeList block);

static void list_inside(ListFunctions *list, NodeList body, Def *owner, Str name) {
    ListFunctions inner = *list;
    inner.owner = owner;
    inner.depth++;
    inner.prefix = arena_dotted(list->flow->arena, list->prefix, name);
    list_block(&inner, body);
}

static void list_class(ListFunctions *list, Node *node) {
    Arena *arena = list->flow->arena;
    Def *def = NEW(arena, Def);
    *def = (Def){.kind = DEF_CLASS, .module = list->mf->module, .node = node};
    Str name = sym_str(node->u.class_->name);
    def->dotted = arena_dotted(arena, list->mf->module->dotted, name);
    list_inside(list, node->u.class_->body, def, name);
}

static void list_function(ListFunctions *list, Node *node) {
    Arena *arena = list->flow->arena;
    Str name = sym_str(node->u.function->name);
    FunctionInfo *info = flow_function_info(list->flow, list->mf, node, list->owner);
    info->qualname = arena_dotted(arena, list->prefix, name);
    vec_push(arena, &list->mf->functions, info);
    ListFunctions inner = *list;
    inner.in_function = true;
    list_inside(&inner, node->u.function->body, NULL, name);
}

static Node *make_node(ListFunctions *list, NodeKind kind, const Node *where) {
    Node *node = NEW(list->flow->arena, Node);
    node->kind = (uint8_t)kind;
    node->start = where->start;
    node->end = where->end;
    node->id = list->mf->module->parsed.node_count++;
    return node;
}

// NAME = lambda ...: VALUE is read as the function that returns VALUE; one of a
// function is read where that calls it.
static void list_lambda(ListFunctions *list, const Node *stmt) {
    NodeList targets = stmt->u.assign.targets;
    const Node *lambda = stmt->u.assign.value;
    if (list->in_function || lambda->kind != N_LAMBDA || targets.len != 1) return;
    if (targets.at[0]->kind != N_NAME) return;
    Arena *arena = list->flow->arena;
    Node *fn = make_node(list, N_FUNCTION_DEF, lambda);
    Node **body = NEW(arena, Node *);
    *body = make_node(list, N_RETURN, lambda->u.lambda.body);
    (*body)->u.return_.value = lambda->u.lambda.body;
    fn->u.function = NEW(arena, FunctionNode);
    *fn->u.function = (FunctionNode){
        .name = targets.at[0]->u.name.id, .args = lambda->u.lambda.args,
        .body = {body, 1}, .marks = list->mf->module->parsed.marks, .of_lambda = true,
    };
    list_function(list, fn);
}

static void list_try(ListFunctions *list, const Node *node) {
    list_block(list, node->u.try_->body);
    for (uint32_t i = 0; i < node->u.try_->handlers.len; i++) {
        list_block(list, node->u.try_->handlers.at[i]->u.handler.body);
    }
    list_block(list, node->u.try_->orelse);
    list_block(list, node->u.try_->finalbody);
}

static void list_stmt(ListFunctions *list, Node *node) {
    switch ((int)node->kind) {
    case N_CLASS_DEF: list_class(list, node); break;
    case N_FUNCTION_DEF:
    case N_ASYNC_FUNCTION_DEF: list_function(list, node); break;
    case N_ASSIGN: list_lambda(list, node); break;
    case N_IF:
    case N_WHILE:
        list_block(list, node->u.while_.body);
        list_block(list, node->u.while_.orelse);
        break;
    case N_FOR:
    case N_ASYNC_FOR:
        list_block(list, node->u.for_->body);
        list_block(list, node->u.for_->orelse);
        break;
    case N_WITH:
    case N_ASYNC_WITH: list_block(list, node->u.with.body); break;
    case N_TRY:
    case N_TRY_STAR: list_try(list, node); break;
    case N_MATCH:
        for (uint32_t i = 0; i < node->u.match.cases.len; i++) {
            list_block(list, node->u.match.cases.at[i]->u.match_case.body);
        }
        break;
    default: break;
    }
}

static void list_block(ListFunctions *list, NodeList block) {
    if (++list->depth < 200) {
        for (uint32_t i = 0; i < block.len; i++) list_stmt(list, block.at[i]);
    }
    list->depth--;
}

Frame *flow_module_frame(Flow *flow, ModuleFlow *mf) {
    Frame *f = NEW(flow->arena, Frame);
    Run *run = NEW(flow->arena, Run);
    run->budget = 4000;
    *f = (Frame){.flow = flow, .run = run, .module = mf->module, .mf = mf};
    f->top = f;
    return f;
}

ModuleFlow *flow_module(Flow *flow, Module *module) {
    ModuleFlow **first = &flow->modules;
    for (ModuleFlow **at = first; *at; at = &(*at)->next) {
        if ((*at)->module != module) continue;
        ModuleFlow *mf = *at;
        *at = mf->next; // the latest one is asked for again most often
        mf->next = *first;
        return *first = mf;
    }
    project_touch(module);
    ModuleFlow *mf = NEW(flow->arena, ModuleFlow);
    mf->module = module;
    mf->frame = flow_module_frame(flow, mf);
    mf->next = flow->modules;
    return flow->modules = mf;
}

bool frame_may_work(Frame *f, uint32_t amount) {
    Flow *flow = f->flow;
    if (f->run->work < RUN_WORK_MAX) f->run->work += amount;
    if (flow->work < WORK_MAX) flow->work += amount;
    return f->run->work < RUN_WORK_MAX && flow->work < WORK_MAX;
}

bool flow_may_inline(const Flow *flow) {
    return flow->work < WORK_MAX / 2;
}

void flow_list_functions(Flow *flow, ModuleFlow *mf) {
    if (mf->listed) return;
    mf->listed = true;
    ListFunctions list = {.flow = flow, .mf = mf};
    list_block(&list, mf->module->parsed.module->u.module.body);
}

// ---- what is kept by node ----------------------------------------------------------

static NodeFact *find_fact(const ModuleFlow *mf, uint32_t id) {
    if (mf->fact_cap == 0) return NULL;
    uint32_t i = id * 2654435761u & (mf->fact_cap - 1);
    for (; mf->facts[i].id; i = (i + 1) & (mf->fact_cap - 1)) {
        if (mf->facts[i].id == id + 1) return &mf->facts[i];
    }
    return NULL;
}

static void put_fact(NodeFact *at, uint32_t cap, NodeFact fact) {
    uint32_t i = (fact.id - 1) * 2654435761u & (cap - 1);
    while (at[i].id) i = (i + 1) & (cap - 1);
    at[i] = fact;
}

static NodeFact *get_fact(ModuleFlow *mf, Arena *arena, uint32_t id) {
    NodeFact *fact = find_fact(mf, id);
    if (fact) return fact;
    if (mf->fact_len * 2 >= mf->fact_cap) {
        uint32_t cap = mf->fact_cap ? mf->fact_cap * 2 : 64;
        NodeFact *at = NEW_N(arena, NodeFact, cap);
        for (uint32_t i = 0; i < mf->fact_cap; i++) {
            if (mf->facts[i].id) put_fact(at, cap, mf->facts[i]);
        }
        mf->facts = at;
        mf->fact_cap = cap;
    }
    put_fact(mf->facts, mf->fact_cap, (NodeFact){.id = id + 1});
    mf->fact_len++;
    return find_fact(mf, id);
}

Val *node_val(const ModuleFlow *mf, const Node *node) {
    const NodeFact *fact = find_fact(mf, node->id);
    return fact ? fact->val : NULL;
}

void node_set_val(Frame *f, const Node *node, Val *val) {
    get_fact(f->mf, f->flow->arena, node->id)->val = val;
}

uint32_t node_effects(const ModuleFlow *mf, const Node *node) {
    const NodeFact *fact = find_fact(mf, node->id);
    return fact ? fact->effects : 0;
}

void node_set_effects(Frame *f, const Node *node, uint32_t effects) {
    if (effects == 0 && !find_fact(f->mf, node->id)) return;
    get_fact(f->mf, f->flow->arena, node->id)->effects = effects;
}

FunctionInfo *flow_function_info(Flow *flow, ModuleFlow *mf, Node *fn,
                                 const Def *owner) {
    NodeFact *fact = get_fact(mf, flow->arena, fn->id);
    if (!fact->function) {
        fact->function = NEW(flow->arena, FunctionInfo);
        fact->function->fn = fn;
        if (owner) {
            fact->function->owner = NEW(flow->arena, Def);
            *fact->function->owner = *owner;
        }
    }
    return fact->function;
}

void flow_init(Flow *flow, Project *project, const OpTable *ops, Arena *arena) {
    *flow = (Flow){.project = project, .symbols = project->symbols, .ops = ops,
                   .arena = arena, .scratch = arena};
    graph_init(&flow->graph, arena);
    struct {
        const Sym **at;
        const char *text;
    } rows[] = {
        {&flow->names.self, "self"}, {&flow->names.forward, "forward"},
        {&flow->names.init, "__init__"}, {&flow->names.call, "__call__"},
        {&flow->names.getitem, "__getitem__"},
        {&flow->names.post_init, "__post_init__"}, {&flow->names.dtype, "dtype"},
        {&flow->names.shape, "shape"}, {&flow->names.apply, "apply"},
        {&flow->names.property, "property"},
        {&flow->names.sub_configs, "sub_configs"},
        {&flow->names.staticmethod_, "staticmethod"},
        {&flow->names.classmethod_, "classmethod"}, {&flow->names.data, "data"},
        {&flow->names.ndim, "ndim"}, {&flow->names.real, "real"},
        {&flow->names.imag, "imag"},
        {&flow->names.mT, "mT"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        *rows[i].at = sym_intern(flow->symbols, str_of(rows[i].text));
    }
}

