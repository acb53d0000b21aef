// told.c - follows the paths of a function, or of a module, to what it returns or binds.
//
// On each path it is known, or not, that torch_npu is there: behind its import, under a
// test that asks for it. Whatever is returned where that is not known has to be false, or
// has to ask itself.
#include "base/base.h"

#include "match/told.h"

enum { TOLD_DEPTH = 24, CALLS_MAX = 6, STEPS_MAX = 20000 };

typedef enum State { OPEN, KNOWN, LEFT } State;

typedef struct Told {
    Module *module;
    NodeList scope;      // of local names; the module's body for a constant
    const Sym *target;   // the name whose values are asked for; NULL: what is returned
    const Sym *asked;    // a parameter that is "torch_npu"
    uint32_t bound;      // times that `target` was met
    uint32_t evidence;   // values that may be true
    bool fails;
    int depth, calls;
    uint32_t *steps;     // statements and expressions looked at, of all that are asked
} Told;

static State join(State a, State b) {
    if (a == LEFT) return b;
    if (b == LEFT) return a;
    return a == KNOWN && b == KNOWN ? KNOWN : OPEN;
}

static bool is_torch_npu(Str name) {
    return str_is(name, "torch_npu") || str_starts(name, "torch_npu.");
}

bool imports_torch_npu(const Node *stmt) {
    if (stmt->kind == N_IMPORT_FROM) {
        const Sym *from = stmt->u.import_from.module;
        return !stmt->u.import_from.level && from && is_torch_npu(sym_str(from));
    }
    if (stmt->kind != N_IMPORT) return false;
    for (uint32_t i = 0; i < stmt->u.import.names.len; i++) {
        if (is_torch_npu(sym_str(stmt->u.import.names.at[i]->u.alias.name))) return true;
    }
    return false;
}

// ---- expressions ------------------------------------------------------------------

static bool is_falsy(const Node *e) {
    if (!e) return true;
    if (e->kind != N_CONSTANT) return false;
    return e->op == CONST_FALSE || e->op == CONST_NONE ||
           (e->op == CONST_INT && str_is(e->u.constant.text, "0"));
}

// "importlib.util.find_spec", imports followed; empty if it is not dotted, or a name of the
// project.
static Str dotted_name(const Told *told, const Node *e) {
    Arena *arena = &told->module->arena;
    if (e->kind == N_ATTRIBUTE) {
        Str of = dotted_name(told, e->u.attribute.value);
        return of.len ? arena_dotted(arena, of, sym_str(e->u.attribute.attr)) : of;
    }
    if (e->kind != N_NAME) return (Str){0};
    Def def = project_lookup(told->module, e->u.name.id);
    if (def.kind == DEF_EXTERNAL) return def.dotted;
    return def.kind == DEF_NONE ? sym_str(e->u.name.id) : (Str){0};
}

static bool is_npu_text(const Told *told, const Node *e) {
    if (e->kind == N_NAME) return told->asked && e->u.name.id == told->asked;
    return e->kind == N_CONSTANT && e->op == CONST_STR && is_torch_npu(e->u.constant.text);
}

static bool asks(Told *told, const Node *e);
static bool denies(Told *told, const Node *e);

static bool told_by(Told *told, const Node *fn);

// A function of the project, maybe one that is given the name: is_installed("torch_npu").
static bool asks_function(Told *told, const Node *call) {
    const Node *func = call->u.call.func;
    if (func->kind != N_NAME || told->calls >= CALLS_MAX) return false;
    Def def = project_lookup(told->module, func->u.name.id);
    if (def.kind != DEF_FUNCTION || def.other || def.node->kind != N_FUNCTION_DEF) return false;
    const ArgumentsNode *args = def.node->u.function->args->u.arguments;
    Told inner = {.module = def.module, .calls = told->calls + 1, .steps = told->steps};
    if (call->u.call.args.len && is_npu_text(told, call->u.call.args.at[0])) {
        NodeList own = args->posonly.len ? args->posonly : args->args;
        if (own.len) inner.asked = own.at[0]->u.arg.name;
    }
    return told_by(&inner, def.node);
}

static bool asks_call(Told *told, const Node *call) {
    NodeList args = call->u.call.args;
    Str name = dotted_name(told, call->u.call.func);
    const Node *first = args.len ? args.at[0] : NULL;
    if (str_is(name, "bool") && args.len == 1) return asks(told, first);
    if (str_is(name, "importlib.util.find_spec") || str_is(name, "find_spec")) {
        return first && is_npu_text(told, first);
    }
    if (str_is(name, "hasattr") && args.len == 2) {
        const Node *attr = args.at[1];
        return str_is(dotted_name(told, first), "torch") && attr->kind == N_CONSTANT &&
               attr->op == CONST_STR && str_is(attr->u.constant.text, "npu");
    }
    static const char *const tests[] = {
        "torch.npu.is_available", "torch.npu.device_count", "torch_npu.npu.is_available",
        "torch_npu.npu.device_count",
    };
    for (size_t i = 0; i < COUNT(tests); i++) {
        if (str_is(name, tests[i])) return true;
    }
    return asks_function(told, call);
}

// Everything that a name is bound to: of the function itself, else of the module.
static bool asks_values(Told *told, const Sym *name);

static bool is_none(const Node *e) {
    return e->kind == N_CONSTANT && e->op == CONST_NONE;
}

// find_spec("torch_npu") is not None, torch.npu.device_count() > 0
static bool asks_compare(Told *told, const Node *e, bool negated) {
    const Node *right = e->u.compare.comparators.at[0];
    if (e->u.compare.comparators.len != 1) return false;
    uint8_t op = e->u.compare.ops[0];
    bool same = op == A_IS || op == A_EQ, other = op == A_IS_NOT || op == A_NOT_EQ;
    bool zero = is_falsy(right) && !is_none(right) && (op == A_GT || other) && !negated;
    if (!zero && !(is_none(right) && (negated ? same : other))) return false;
    return asks(told, e->u.compare.left);
}

// Whether it is true only where torch_npu is.
static bool asks(Told *told, const Node *e) {
    if (told->depth >= TOLD_DEPTH || ++*told->steps > STEPS_MAX) return false;
    told->depth++;
    bool found = false;
    switch ((int)e->kind) {
    case N_BOOL_OP:
        found = e->op == A_OR;
        for (uint32_t i = 0; i < e->u.bool_op.values.len; i++) {
            bool one = asks(told, e->u.bool_op.values.at[i]);
            found = e->op == A_OR ? found && one : found || one;
        }
        break;
    case N_UNARY_OP: found = e->op == A_NOT && denies(told, e->u.unary.operand); break;
    case N_COMPARE: found = asks_compare(told, e, false); break;
    case N_CALL: found = asks_call(told, e); break;
    case N_NAME: found = asks_values(told, e->u.name.id); break;
    default: break;
    }
    told->depth--;
    return found;
}

// Whether it is false only where torch_npu is.
static bool denies(Told *told, const Node *e) {
    if (told->depth >= TOLD_DEPTH || ++*told->steps > STEPS_MAX) return false;
    told->depth++;
    bool found = false;
    if (e->kind == N_BOOL_OP) {
        found = e->op == A_AND;
        for (uint32_t i = 0; i < e->u.bool_op.values.len; i++) {
            bool one = denies(told, e->u.bool_op.values.at[i]);
            found = e->op == A_AND ? found && one : found || one;
        }
    } else if (e->kind == N_UNARY_OP) {
        found = e->op == A_NOT && asks(told, e->u.unary.operand);
    } else if (e->kind == N_COMPARE) {
        found = asks_compare(told, e, true);
    }
    told->depth--;
    return found;
}

// ---- paths ------------------------------------------------------------------------

static void meet(Told *told, State state, const Node *value) {
    if (is_falsy(value)) return;
    if (state == KNOWN || asks(told, value)) told->evidence++;
    else told->fails = true;
}

static State walk_block(Told *told, NodeList block, State state);

static State walk_if(Told *told, const Node *stmt, State state) {
    const Node *test = stmt->u.while_.test;
    State yes = state == KNOWN || asks(told, test) ? KNOWN : OPEN;
    State no = state == KNOWN || denies(told, test) ? KNOWN : OPEN;
    yes = walk_block(told, stmt->u.while_.body, yes);
    return join(yes, walk_block(told, stmt->u.while_.orelse, no));
}

static State walk_try(Told *told, const TryNode *t, State state) {
    State after = walk_block(told, t->body, state);
    if (after != LEFT) after = walk_block(told, t->orelse, after);
    for (uint32_t i = 0; i < t->handlers.len; i++) {
        after = join(after, walk_block(told, t->handlers.at[i]->u.handler.body, state));
    }
    State end = walk_block(told, t->finalbody, after == KNOWN ? KNOWN : OPEN);
    return after == LEFT ? LEFT : end;
}

static void walk_assign(Told *told, const Node *stmt, State state) {
    const Node *target = stmt->kind == N_ASSIGN ? stmt->u.assign.targets.at[0]
                                                : stmt->u.ann_assign.target;
    const Node *value = stmt->kind == N_ASSIGN ? stmt->u.assign.value : stmt->u.ann_assign.value;
    bool one = stmt->kind == N_ANN_ASSIGN || stmt->u.assign.targets.len == 1;
    if (!one || !value || target->kind != N_NAME || target->u.name.id != told->target) return;
    told->bound++;
    meet(told, state, value);
}

static State walk_statement(Told *told, const Node *stmt, State state) {
    switch ((int)stmt->kind) {
    case N_RETURN:
        if (!told->target) meet(told, state, stmt->u.return_.value);
        return LEFT;
    case N_RAISE: case N_BREAK: case N_CONTINUE: return LEFT;
    case N_IMPORT: case N_IMPORT_FROM: return imports_torch_npu(stmt) ? KNOWN : state;
    case N_IF: return walk_if(told, stmt, state);
    case N_TRY: return walk_try(told, stmt->u.try_, state);
    case N_WITH: // may swallow what is raised in it
        walk_block(told, stmt->u.with.body, state);
        return state;
    case N_FOR:
        walk_block(told, stmt->u.for_->body, state);
        walk_block(told, stmt->u.for_->orelse, state);
        return state;
    case N_WHILE:
        walk_block(told, stmt->u.while_.body, state);
        walk_block(told, stmt->u.while_.orelse, state);
        return state;
    case N_MATCH:
        for (uint32_t i = 0; i < stmt->u.match.cases.len; i++) {
            walk_block(told, stmt->u.match.cases.at[i]->u.match_case.body, state);
        }
        return state;
    case N_ASSIGN: case N_ANN_ASSIGN:
        if (told->target) walk_assign(told, stmt, state);
        return state;
    default: return state;
    }
}

static State walk_block(Told *told, NodeList block, State state) {
    if (told->depth >= TOLD_DEPTH || ++*told->steps > STEPS_MAX) told->fails = true;
    told->depth++;
    for (uint32_t i = 0; i < block.len && state != LEFT && !told->fails; i++) {
        state = walk_statement(told, block.at[i], state);
    }
    told->depth--;
    return state;
}

// ---- names and functions ----------------------------------------------------------

typedef struct StoreCount {
    const Sym *name;
    uint32_t stores;
    bool yields;
} StoreCount;

// Every way to bind the name, in inner functions too (`global`), which are not walked.
static bool count_stores(Node *node, void *data) {
    StoreCount *count = data;
    const Sym *name = count->name;
    if (node->kind == N_NAME && node->ctx != CTX_LOAD) count->stores += node->u.name.id == name;
    if (node->kind == N_ALIAS) {
        const Sym *bound = node->u.alias.asname ? node->u.alias.asname : node->u.alias.name;
        count->stores += bound == name;
    }
    if (node->kind == N_FUNCTION_DEF) count->stores += node->u.function->name == name;
    if (node->kind == N_CLASS_DEF) count->stores += node->u.class_->name == name;
    if (node->kind == N_EXCEPT_HANDLER) count->stores += node->u.handler.name == name;
    if (node->kind == N_MATCH_AS) count->stores += node->u.match_as.name == name;
    count->yields |= node->kind == N_YIELD || node->kind == N_YIELD_FROM;
    return node_children(node, count_stores, data);
}

// Of a block: how often the name is bound there.
static StoreCount stores_in(NodeList scope, const Sym *name) {
    StoreCount count = {.name = name};
    for (uint32_t i = 0; i < scope.len; i++) count_stores(scope.at[i], &count);
    return count;
}

static bool told_constant(Told *told, NodeList scope, const Sym *name) {
    told->scope = scope;
    told->target = name;
    walk_block(told, scope, OPEN);
    return !told->fails && told->evidence && told->bound == stores_in(scope, name).stores;
}

// What the module that defines a constant calls it; NULL where that is not plain.
static const Sym *own_name(const Module *module, const Sym *name, const Def *def) {
    const Binding *b = module_binding(module, name);
    if (def->module == module) return b ? name : NULL;
    if (!b || b->kind != BIND_FROM) return NULL;
    for (const Binding *own = module_binding(def->module, b->attr); own; own = own->earlier) {
        if (own->value == def->node) return b->attr;
    }
    return NULL;
}

static bool asks_values(Told *told, const Sym *name) {
    if (told->target == name || told->calls >= CALLS_MAX) return false;
    Told inner = {.module = told->module, .asked = told->asked, .calls = told->calls + 1,
                  .steps = told->steps};
    if (stores_in(told->scope, name).stores) return told_constant(&inner, told->scope, name);
    Def def = project_lookup(told->module, name);
    const Sym *own = def.kind == DEF_VALUE ? own_name(told->module, name, &def) : NULL;
    if (!own) return false;
    inner.module = def.module;
    inner.asked = NULL;
    return told_constant(&inner, def.module->parsed.module->u.module.body, own);
}

static bool told_by(Told *told, const Node *fn) {
    told->scope = fn->u.function->body;
    if (stores_in(told->scope, NULL).yields) return false;
    walk_block(told, told->scope, OPEN);
    return !told->fails && told->evidence;
}

static bool is_cache(const Node *decorator) {
    if (decorator->kind == N_CALL) decorator = decorator->u.call.func;
    const Sym *last = decorator->kind == N_ATTRIBUTE ? decorator->u.attribute.attr
                      : decorator->kind == N_NAME    ? decorator->u.name.id
                                                     : NULL;
    return last && (str_is(sym_str(last), "lru_cache") || str_is(sym_str(last), "cache"));
}

static bool takes_nothing(const ArgumentsNode *args) {
    if (args->posonly.len + args->args.len > args->defaults.len) return false;
    for (uint32_t i = 0; i < args->kw_defaults.len; i++) {
        if (!args->kw_defaults.at[i]) return false;
    }
    return true;
}

static bool function_tells(Module *module, const Node *fn) {
    if (fn->kind != N_FUNCTION_DEF) return false;
    NodeList decorators = fn->u.function->decorators;
    for (uint32_t i = 0; i < decorators.len; i++) {
        if (!is_cache(decorators.at[i])) return false;
    }
    uint32_t steps = 0;
    Told told = {.module = module, .steps = &steps};
    return takes_nothing(fn->u.function->args->u.arguments) && told_by(&told, fn);
}

bool tells_npu(Module *module, const Sym *name, const Def *def) {
    if (def->kind == DEF_FUNCTION) return !def->other && function_tells(def->module, def->node);
    const Sym *own = def->kind == DEF_VALUE ? own_name(module, name, def) : NULL;
    uint32_t steps = 0;
    Told told = {.module = def->module, .steps = &steps};
    return own && told_constant(&told, def->module->parsed.module->u.module.body, own);
}
