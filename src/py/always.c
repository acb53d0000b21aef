// always.c - the paths through the statements of a module, as one of three states.
#include "base/base.h"

#include "py/always.h"

enum { DEPTH_MAX = 64 };

typedef enum State {
    UNBOUND, // on some path
    BOUND,
    LEFT, // no path gets here
} State;

static State join(State a, State b) {
    if (a == LEFT) return b;
    if (b == LEFT) return a;
    return a == BOUND && b == BOUND ? BOUND : UNBOUND;
}

// ---- what a statement binds -------------------------------------------------------

static bool is_target(const Node *target, const Sym *name) {
    if (!target) return false;
    if (target->kind == N_NAME) return target->u.name.id == name;
    if (target->kind == N_STARRED) return is_target(target->u.return_.value, name);
    if (target->kind != N_TUPLE && target->kind != N_LIST) return false;
    for (uint32_t i = 0; i < target->u.list.elts.len; i++) {
        if (is_target(target->u.list.elts.at[i], name)) return true;
    }
    return false;
}

static bool any_target(NodeList targets, const Sym *name) {
    for (uint32_t i = 0; i < targets.len; i++) {
        if (is_target(targets.at[i], name)) return true;
    }
    return false;
}

// `import a.b` binds `a`.
static bool imports(NodeList names, const Sym *name) {
    for (uint32_t i = 0; i < names.len; i++) {
        const Node *alias = names.at[i];
        Str bound = sym_str(alias->u.alias.asname ? alias->u.alias.asname : alias->u.alias.name);
        const char *dot = bound.len ? memchr(bound.at, '.', bound.len) : NULL;
        if (dot) bound.len = (size_t)(dot - bound.at);
        if (str_eq(bound, sym_str(name))) return true;
    }
    return false;
}

static bool binds(const Node *stmt, const Sym *name) {
    switch ((int)stmt->kind) {
    case N_IMPORT: return imports(stmt->u.import.names, name);
    case N_IMPORT_FROM: return imports(stmt->u.import_from.names, name);
    case N_ASSIGN: return any_target(stmt->u.assign.targets, name);
    case N_ANN_ASSIGN:
        return stmt->u.ann_assign.value && is_target(stmt->u.ann_assign.target, name);
    case N_FUNCTION_DEF:
    case N_ASYNC_FUNCTION_DEF: return stmt->u.function->name == name;
    case N_CLASS_DEF: return stmt->u.class_->name == name;
    default: return false;
    }
}

// sys.exit(), os._exit(), exit(), quit()
static bool exits(const Node *stmt) {
    const Node *call = stmt->kind == N_EXPR ? stmt->u.return_.value : NULL;
    if (!call || call->kind != N_CALL) return false;
    const Node *func = call->u.call.func;
    if (func->kind == N_NAME) {
        Str name = sym_str(func->u.name.id);
        return str_is(name, "exit") || str_is(name, "quit");
    }
    if (func->kind != N_ATTRIBUTE || func->u.attribute.value->kind != N_NAME) return false;
    Str of = sym_str(func->u.attribute.value->u.name.id);
    Str attr = sym_str(func->u.attribute.attr);
    return (str_is(of, "sys") && str_is(attr, "exit")) ||
           (str_is(of, "os") && str_is(attr, "_exit"));
}

typedef struct DeleteSearch {
    const Sym *name;
    bool found;
} DeleteSearch;

// `except E as name` deletes its name as well.
static bool search_delete(Node *node, void *data) {
    DeleteSearch *search = data;
    bool other_scope = node->kind == N_FUNCTION_DEF || node->kind == N_ASYNC_FUNCTION_DEF ||
                       node->kind == N_CLASS_DEF || node->kind == N_LAMBDA;
    if (other_scope) return true;
    if (node->kind == N_DELETE) search->found |= any_target(node->u.delete_.targets, search->name);
    if (node->kind == N_EXCEPT_HANDLER) search->found |= node->u.handler.name == search->name;
    return !search->found && node_children(node, search_delete, data);
}

static bool deletes(NodeList block, const Sym *name) {
    DeleteSearch search = {name, false};
    for (uint32_t i = 0; i < block.len && !search.found; i++) search_delete(block.at[i], &search);
    return search.found;
}

// ---- paths ------------------------------------------------------------------------

static State walk_block(NodeList block, const Sym *name, State state, int depth);

// The state where the block was left half-way.
static State inside(NodeList block, const Sym *name, State before) {
    return before == BOUND && !deletes(block, name) ? BOUND : UNBOUND;
}

static State walk_try(const TryNode *t, const Sym *name, State before, int depth) {
    State after = walk_block(t->body, name, before, depth);
    if (after != LEFT) after = walk_block(t->orelse, name, after, depth);
    for (uint32_t i = 0; i < t->handlers.len; i++) {
        const Node *handler = t->handlers.at[i];
        State caught = inside(t->body, name, before);
        caught = walk_block(handler->u.handler.body, name, caught, depth);
        if (handler->u.handler.name == name && caught == BOUND) caught = UNBOUND;
        after = join(after, caught);
    }
    return after == LEFT ? LEFT : walk_block(t->finalbody, name, after, depth);
}

static bool has_break(NodeList block);

static bool search_break(Node *node, void *data) {
    bool *found = data;
    bool own = node->kind == N_FOR || node->kind == N_WHILE || node->kind == N_FUNCTION_DEF ||
               node->kind == N_CLASS_DEF || node->kind == N_ASYNC_FUNCTION_DEF;
    if (own) return true; // of an inner loop, but for its `else`, which is rare
    *found |= node->kind == N_BREAK;
    return !*found && node_children(node, search_break, data);
}

static bool has_break(NodeList block) {
    bool found = false;
    for (uint32_t i = 0; i < block.len && !found; i++) {
        const Node *stmt = block.at[i];
        search_break(block.at[i], &found);
        if (stmt->kind == N_FOR) found |= has_break(stmt->u.for_->orelse);
        if (stmt->kind == N_WHILE) found |= has_break(stmt->u.while_.orelse);
    }
    return found;
}

// The body may not run; its `else` does, unless a `break` leaves the loop.
static State walk_loop(NodeList body, NodeList orelse, const Sym *name, State before, int depth) {
    State around = inside(body, name, before);
    State end = walk_block(orelse, name, around, depth);
    return has_break(body) ? join(around, end) : end;
}

// What a `with` swallows is not known; warnings.catch_warnings() swallows nothing.
static bool swallows(NodeList items) {
    for (uint32_t i = 0; i < items.len; i++) {
        const Node *expr = items.at[i]->u.withitem.expr;
        const Node *func = expr->kind == N_CALL ? expr->u.call.func : expr;
        const Sym *last = func->kind == N_ATTRIBUTE ? func->u.attribute.attr
                          : func->kind == N_NAME    ? func->u.name.id
                                                    : NULL;
        if (!last || !str_is(sym_str(last), "catch_warnings")) return true;
    }
    return false;
}

static State walk_with(const Node *stmt, const Sym *name, State before, int depth) {
    NodeList items = stmt->u.with.items, body = stmt->u.with.body;
    for (uint32_t i = 0; i < items.len; i++) {
        if (is_target(items.at[i]->u.withitem.vars, name)) before = BOUND;
    }
    State after = walk_block(body, name, before, depth);
    return swallows(items) ? join(after, inside(body, name, before)) : after;
}

static bool is_wildcard(const Node *match_case) {
    const Node *pattern = match_case->u.match_case.pattern;
    return !match_case->u.match_case.guard && pattern->kind == N_MATCH_AS &&
           !pattern->u.match_as.pattern;
}

static State walk_match(const Node *stmt, const Sym *name, State before, int depth) {
    NodeList cases = stmt->u.match.cases;
    State after = LEFT;
    bool any = false;
    for (uint32_t i = 0; i < cases.len; i++) {
        after = join(after, walk_block(cases.at[i]->u.match_case.body, name, before, depth));
        any |= is_wildcard(cases.at[i]);
    }
    return any ? after : join(after, before);
}

static State walk_statement(const Node *stmt, const Sym *name, State state, int depth) {
    switch ((int)stmt->kind) {
    case N_RAISE: case N_BREAK: case N_CONTINUE:
        return LEFT;
    case N_DELETE:
        return any_target(stmt->u.delete_.targets, name) ? UNBOUND : state;
    case N_IF:
        return join(walk_block(stmt->u.while_.body, name, state, depth),
                    walk_block(stmt->u.while_.orelse, name, state, depth));
    case N_WHILE:
        return walk_loop(stmt->u.while_.body, stmt->u.while_.orelse, name, state, depth);
    case N_FOR:
        return walk_loop(stmt->u.for_->body, stmt->u.for_->orelse, name, state, depth);
    case N_WITH:
        return walk_with(stmt, name, state, depth);
    case N_TRY: case N_TRY_STAR:
        return walk_try(stmt->u.try_, name, state, depth);
    case N_MATCH:
        return walk_match(stmt, name, state, depth);
    default:
        return exits(stmt) ? LEFT : binds(stmt, name) ? BOUND : state;
    }
}

static State walk_block(NodeList block, const Sym *name, State state, int depth) {
    if (depth > DEPTH_MAX) return UNBOUND;
    for (uint32_t i = 0; i < block.len && state != LEFT; i++) {
        state = walk_statement(block.at[i], name, state, depth + 1);
    }
    return state;
}

// ---- the module -------------------------------------------------------------------

bool module_always_binds(const Module *m, Str name, uint32_t line) {
    const Sym *sym = sym_find(m->project->symbols, name);
    NodeList body = m->parsed.module->u.module.body;
    if (!sym) return false;
    for (uint32_t i = 0; i < body.len; i++) {
        if (source_line(&m->source, body.at[i]->start) >= line) body.len = i;
    }
    // Behind what always raises, nothing runs that could miss the name.
    return walk_block(body, sym, UNBOUND, 0) != UNBOUND;
}

bool module_keeps_bound(const Module *m, Str name, uint32_t line) {
    const Sym *sym = sym_find(m->project->symbols, name);
    NodeList body = m->parsed.module->u.module.body;
    while (body.len && source_line(&m->source, body.at[0]->start) < line) {
        body.at++;
        body.len--;
    }
    return !sym || walk_block(body, sym, BOUND, 0) != UNBOUND;
}
