// eval_stmt.c - statements: assignments, branches, loops, definitions.
#include "base/base.h"

#include "flow/gated.h"
#include "flow/recall.h"
#include "flow/resolve_impl.h"
#include "flow/storage.h"

static Val *opaque(Frame *f) {
    return val_unique(&f->flow->graph, V_OPAQUE, NULL, 0);
}

// Unknown numbers in what may be the storage of `of` (or NULL).
Val *opaque_in(Frame *f, const Val *of) {
    Val *v = opaque(f);
    v->ptr = of;
    return v;
}

StmtInfo *frame_stmt(Frame *f) {
    Frame *top = f->top;
    return top->stmts.len ? &top->stmts.at[top->stmt_index] : NULL;
}

// ---- assignment -------------------------------------------------------------

void bind_name(Frame *f, const Sym *name, Val *value) {
    name_set(f, &f->names, (uintptr_t)name, (Bind){.val = value, .stmt = f->stmt});
}

static void bind_attr(Frame *f, const Sym *name, Val *value) {
    name_set(f, f->attrs, (uintptr_t)name | 1,
             (Bind){.val = value, .stmt = f->stmt, .module = f->module});
}

void frame_add_effects(Frame *f, uint32_t count) {
    f->run->effects += count;
    StmtInfo *stmt = frame_stmt(f);
    if (stmt) stmt->effects += count;
}

static void mark_effect(Frame *f) {
    frame_add_effects(f, 1);
}

// One or more of the items of `value`.
static Val *some_item(Frame *f, Val *value) {
    if (value->op == V_SHAPE) return opaque(f);
    return val_unique(&f->flow->graph, V_ITEM, (Val *[]){value, opaque(f)}, 2);
}

// A function that the statement calls stores something in an attribute.
static void note_store(Frame *f, const Val *object) {
    StmtInfo *stmt = frame_stmt(f);
    if (!stmt || f == f->top) return;
    recall_taint(f->flow);
    Write *store = NEW(f->flow->arena, Write);
    *store = (Write){object, f->top->call, stmt->stores};
    stmt->stores = store;
}

static void assign_sequence(Frame *f, Node *target, Val *value) {
    NodeList elts = target->u.list.elts;
    bool starred = false;
    for (uint32_t i = 0; i < elts.len; i++) {
        starred |= elts.at[i]->kind == N_STARRED;
    }
    for (uint32_t i = 0; i < elts.len; i++) {
        Node *elt = elts.at[i];
        if (elt->kind == N_STARRED) {
            // *lead, last = x.shape: x.shape[:-1]
            Graph *g = &f->flow->graph;
            bool leads = i == 0 && elts.len > 1 && value->op == V_SHAPE;
            Val *rest = leads ? val_new3(g, V_SLICE, val_none(g),
                                         val_int(g, 1 - (int64_t)elts.len), val_none(g)) : NULL;
            assign_target(f, elt->u.return_.value, rest ? val_new2(g, V_ITEM, value, rest)
                                                        : some_item(f, value));
        } else if (starred) {
            // *lead, last = x.shape: the last ones count from the end.
            bool behind = elts.at[0]->kind == N_STARRED;
            Val *at = val_int(&f->flow->graph, (int64_t)i - elts.len);
            bool known = behind && value->op == V_SHAPE;
            assign_target(f, elt, known ? op_size(f->flow, value->args[0], at)
                                        : some_item(f, value));
        } else {
            assign_target(f, elt, eval_unpack(f, value, i, elts.len));
        }
    }
}

void assign_target(Frame *f, Node *target, Val *value) {
    switch ((int)target->kind) {
    case N_NAME:
        bind_name(f, target->u.name.id, value);
        if (f->root) node_set_val(f, target, value);
        break;
    case N_TUPLE:
    case N_LIST:
        assign_sequence(f, target, value);
        break;
    case N_STARRED:
        assign_target(f, target->u.return_.value, opaque(f));
        break;
    case N_ATTRIBUTE: {
        Val *object = eval_expr(f, target->u.attribute.value);
        mark_effect(f);
        note_store(f, object);
        eval_attr_change(f, object, target->u.attribute.attr, value);
        break;
    }
    case N_SUBSCRIPT: { // x[...] = value changes x
        Val *object = eval_expr(f, target->u.subscript.value);
        Val *index = eval_expr(f, target->u.subscript.slice);
        mark_effect(f);
        eval_mutation(f, object);
        eval_part_store(f, object, index, value);
        break;
    }
    default:
        break;
    }
}

// Every name of the table that may share the storage holds something new.
static void change_names(Frame *f, NameTable *table, const Val *x, const Roots *changed) {
    frame_may_work(f, table->cap / 256);
    for (uint32_t i = 0; i < table->cap; i++) {
        NameInfo *info = table->slots[i];
        if (!info || !info->bind || !info->bind->val) continue;
        Roots held;
        roots_of(&held, info->bind->val);
        if (!roots_meet(&held, changed) || storage_apart(info->bind->val, x)) continue;
        Bind *old = info->bind;
        name_set(f, table, info->key,
                 (Bind){.val = opaque_in(f, old->val), .stmt = f->stmt, .a = old});
        // What was bound before the change is part of what is bound now.
        bind_used(f, old, f->stmt);
    }
}

static void note_write(Frame *f, const Val *storage) {
    StmtInfo *stmt = frame_stmt(f);
    if (stmt) {
        Write *write = NEW(f->flow->arena, Write);
        *write = (Write){storage, f == f->top ? NULL : f->top->call, stmt->writes};
        stmt->writes = write;
    }
    if (storage->op == V_ATTR) vec_push(f->flow->arena, &f->run->changed, storage);
}

// An in-place operator changed the numbers of `x`, which the functions that
// called this one may hold, too. A list or dict changes, not what is in it.
void eval_mutation(Frame *f, Val *x) {
    Roots roots = {.at = {x}, .len = 1};
    bool container = x->op == V_LIST || x->op == V_DICT || x->op == V_TUPLE;
    if (!container) roots_of(&roots, x);
    for (uint32_t i = 0; i < roots.len; i++) {
        vec_push(f->flow->arena, &f->flow->written, roots.at[i]);
        note_write(f, roots.at[i]);
    }
    for (Frame *at = f; at; at = at->caller) {
        change_names(at, &at->names, x, &roots);
        // Equal lists are one value: those of callers are others, unless one was given.
        bool own = container && !at->lexical && !at->self;
        for (uint32_t i = 0; own && i < at->nargs; i++) own = !val_holds(at->args[i], x);
        if (own) break;
    }
    if (f->attrs) change_names(f, f->attrs, x, &roots);
}

void eval_renewed(Frame *f, const Val *x, Val *value) {
    for (Frame *at = f; at; at = at->caller) {
        for (uint32_t i = 0; i < at->names.cap; i++) {
            NameInfo *info = at->names.slots[i];
            Bind *b = info ? info->bind : NULL;
            bool changed = b && b->a && !b->b && b->stmt == f->stmt && b->val &&
                           b->val->op == V_OPAQUE && b->val->ptr == b->a->val;
            if (!changed) continue;
            if (b->a->val == x) b->val = value;
            else b->val->ptr = val_new2(&f->flow->graph, V_TUPLE, value, b->a->val);
        }
    }
}

void eval_attr_change(Frame *f, Val *object, const Sym *name, Val *value) {
    if (name == f->flow->names.data) {
        eval_mutation(f, object); // x.data = y
    } else if (f->attrs && object == f->attrs_self) {
        recall_taint(f->flow);
        // A property's setter may store anything.
        Val *method = object_class(object) ? object_method(f->flow, object, name) : NULL;
        bind_attr(f, name, method ? opaque(f) : value);
    } else {
        Val *attr = val_attr(&f->flow->graph, object, name);
        vec_push(f->flow->arena, &f->run->changed, attr);
    }
}

// x *= y: x * y in the dtype of x; other names of x's storage change too.
static void eval_aug_assign(Frame *f, Node *stmt) {
    Node *target = stmt->u.aug_assign.target;
    static const Op ops[A_OP_COUNT] = {
        [A_ADD] = OP_ADD, [A_SUB] = OP_SUB, [A_MULT] = OP_MUL,
        [A_DIV] = OP_DIV, [A_POW] = OP_POW, [A_MAT_MULT] = OP_MATMUL,
    };
    Val *old = eval_expr(f, target);
    Val *value = eval_expr(f, stmt->u.aug_assign.value);
    Val *result = ops[stmt->op] == OP_MUL ? gated_product(f->flow, old, value)
        : ops[stmt->op] ? op_make(f->flow, ops[stmt->op], (Val *[]){old, value}, 2) : opaque(f);
    if (!result->node) {
        result->node = stmt;
        result->module = f->module;
    }
    bool number = val_is_number(old) || old->op == V_SIZE || old->op == V_LIST ||
                  (old->op == V_CONST);
    if (target->kind != N_NAME) {
        mark_effect(f);
        if (!number) eval_mutation(f, old); // d["x"] += y
        if (target->kind == N_SUBSCRIPT) {
            eval_mutation(f, eval_expr(f, target->u.subscript.value));
        } else {
            assign_target(f, target, result);
        }
        return;
    }
    if (!number) {
        eval_mutation(f, old);
        result = op_cast(f->flow, result, op_dtype(f->flow, old));
        eval_renewed(f, old, result);
    }
    bind_name(f, target->u.name.id, result);
    if (!f->root) return;
    node_set_val(f, target, result);
    EvalRecord record = {stmt, result, stmt, f->nested > 0};
    vec_push(f->flow->arena, &f->evals, record);
}

// ---- branches ---------------------------------------------------------------

static bool find_call(Node *node, void *data) {
    if (node->kind == N_CALL || node->kind == N_NAMED_EXPR) *(bool *)data = true;
    return !*(bool *)data && node_children(node, find_call, data);
}

// `if USE_FLASH:` with a constant of the module is a switch that people set:
// both of its branches count.
static Val *eval_switch(Frame *f, Node *test) {
    Val *cond = eval_expr(f, test);
    bool calls = false;
    find_call(test, &calls);
    if (calls || val_truth(cond) < 0 || test->kind == N_CONSTANT) return cond;
    f->flow->flags_open = true;
    Val *open = eval_expr(f, test);
    f->flow->flags_open = false;
    return open;
}

static Falls eval_if(Frame *f, Node *stmt) {
    Val *cond = eval_switch(f, stmt->u.while_.test);
    int truth = val_truth(cond);
    if (truth == 1) return eval_block(f, &stmt->u.while_.body);
    if (truth == 0) return eval_block(f, &stmt->u.while_.orelse);
    Val *outer = f->cond;
    uint32_t mark = names_mark(f);
    NameChanges then, orelse;
    f->cond = cond;
    Falls a = eval_block(f, &stmt->u.while_.body);
    names_rewind(&then, f, mark);
    f->cond = val_new1(&f->flow->graph, V_STAR, cond); // its negation, opaque
    Falls b = eval_block(f, &stmt->u.while_.orelse);
    f->cond = outer;
    if (a == BLOCK_ENDS) return b; // the else state is in force
    names_rewind(&orelse, f, mark);
    if (b == BLOCK_ENDS) {
        names_apply(f, &then);
    } else {
        names_join(f, &then, &orelse, cond);
    }
    return BLOCK_FALLS;
}

// ---- loops ------------------------------------------------------------------

typedef struct LoopNames {
    Frame *frame;
    VEC(const Sym *) list;
    const Sym **slots; // of the list, open addressing
    uint32_t cap;
} LoopNames;

static bool put_loop_name(LoopNames *names, const Sym *name) {
    uint32_t i = name->hash & (names->cap - 1);
    for (; names->slots[i]; i = (i + 1) & (names->cap - 1)) {
        if (names->slots[i] == name) return false;
    }
    names->slots[i] = name;
    return true;
}

static void add_loop_name(LoopNames *names, const Sym *name) {
    Arena *arena = names->frame->flow->arena;
    if (names->list.len * 2 >= names->cap) {
        names->cap = names->cap ? names->cap * 2 : 16;
        names->slots = NEW_N(arena, const Sym *, names->cap);
        for (uint32_t i = 0; i < names->list.len; i++) put_loop_name(names, names->list.at[i]);
    }
    if (put_loop_name(names, name)) vec_push(arena, &names->list, name);
}

// The tensor behind x, x.data, x[...] changes in the loop.
static void add_changed(LoopNames *names, const Node *node) {
    while (node->kind == N_SUBSCRIPT || node->kind == N_ATTRIBUTE) {
        node = node->kind == N_SUBSCRIPT ? node->u.subscript.value
                                         : node->u.attribute.value;
    }
    if (node->kind == N_NAME && node->u.name.id != names->frame->flow->names.self) {
        add_loop_name(names, node->u.name.id);
    }
}

// Every name that the loop assigns, nested functions left out.
static bool collect_names(Node *node, void *data) {
    LoopNames *names = data;
    switch ((int)node->kind) {
    case N_NAME:
        if (node->ctx != CTX_LOAD) add_loop_name(names, node->u.name.id);
        return true;
    case N_SUBSCRIPT: // x[...] = y
        if (node->ctx != CTX_LOAD) add_changed(names, node->u.subscript.value);
        return node_children(node, collect_names, data);
    case N_CALL: // x.add_(y)
        if (node->u.call.func->kind == N_ATTRIBUTE &&
            sym_ends_in_place(node->u.call.func->u.attribute.attr)) {
            add_changed(names, node->u.call.func->u.attribute.value);
        }
        return node_children(node, collect_names, data);
    case N_FUNCTION_DEF: case N_ASYNC_FUNCTION_DEF: case N_CLASS_DEF:
    case N_LAMBDA: case N_LIST_COMP: case N_SET_COMP: case N_DICT_COMP:
    case N_GENERATOR_EXP:
        return true;
    default:
        return node_children(node, collect_names, data);
    }
}

typedef struct LoopEntry {
    NameInfo *info;
    Bind *before, *carried;
} LoopEntry;

// What the loop carries is unknown when its body is read.
static LoopEntry *enter_loop(Frame *f, const LoopNames *names) {
    LoopEntry *entries = NEW_N(f->flow->arena, LoopEntry, names->list.len + 1);
    for (uint32_t i = 0; i < names->list.len; i++) {
        uintptr_t key = (uintptr_t)names->list.at[i];
        NameInfo *info = name_find(&f->names, key);
        Bind *before = info ? info->bind : NULL;
        if (!before) continue;
        name_set(f, &f->names, key, (Bind){.val = opaque_in(f, before->val), .a = before});
        info = name_find(&f->names, key);
        entries[i] = (LoopEntry){info, before, info->bind};
    }
    return entries;
}

// Whether `v` is `start` and something that is added to it.
static bool is_sum_onto(const Val *v, const Val *start, int depth) {
    v = val_strip((Val *)(uintptr_t)v);
    if (v == start) return depth > 0;
    if (depth > 8) return false;
    if (v->op == V_PHI) {
        return is_sum_onto(v->args[1], start, depth + 1) &&
               is_sum_onto(v->args[2], start, depth + 1);
    }
    return v->op == OP_ADD && (is_sum_onto(v->args[0], start, depth + 1) ||
                               is_sum_onto(v->args[1], start, depth + 1));
}

// What a name holds after a loop: anything; a running sum keeps what it began with.
static Val *after_loop(Frame *f, const LoopEntry *entry, const Bind *last) {
    const Bind *carried = entry->carried;
    bool sum = carried && last != carried && last->val && entry->before->val &&
               is_sum_onto(last->val, carried->val, 0);
    if (!sum) {
        Val *both[] = {entry->before ? entry->before->val : NULL, last->val};
        bool known = both[0] && both[1];
        return opaque_in(f, known ? val_new(&f->flow->graph, V_TUPLE, both, 2)
                                  : both[0] ? both[0] : both[1]);
    }
    Val *v = val_unique(&f->flow->graph, V_OPAQUE, &entry->before->val, 1);
    v->ck = A_ADD;
    return v;
}

// After the loop a name may hold what it held before or what the body bound;
// a binding that the next turn reads is used by the loop itself.
static void leave_loop(Frame *f, const LoopNames *names, LoopEntry *entries) {
    for (uint32_t i = 0; i < names->list.len; i++) {
        NameInfo *info = name_find(&f->names, (uintptr_t)names->list.at[i]);
        if (!info || !info->bind) continue;
        Bind *last = info->bind;
        if (entries[i].carried && entries[i].carried->read) {
            bind_used(f, last, NULL);
        }
        name_set(f, &f->names, info->key,
                 (Bind){.val = after_loop(f, &entries[i], last), .a = entries[i].before,
                        .b = last});
    }
}

static Falls eval_loop(Frame *f, Node *stmt) {
    LoopNames *names = NEW(f->flow->arena, LoopNames);
    names->frame = f;
    Val *iter = NULL;
    bool is_for = stmt->kind == N_FOR || stmt->kind == N_ASYNC_FOR;
    if (is_for) iter = eval_expr(f, stmt->u.for_->iter);
    node_children(stmt, collect_names, names);
    LoopEntry *entries = enter_loop(f, names);
    Val *outer = f->cond;
    f->cond = opaque(f);
    f->loops++;
    if (is_for) {
        Val *item = val_unique(&f->flow->graph, V_ITEM,
                               (Val *[]){iter, opaque(f)}, 2);
        assign_target(f, stmt->u.for_->target, item);
        eval_block(f, &stmt->u.for_->body);
    } else {
        eval_expr(f, stmt->u.while_.test);
        eval_block(f, &stmt->u.while_.body);
    }
    f->loops--;
    leave_loop(f, names, entries);
    eval_block(f, is_for ? &stmt->u.for_->orelse : &stmt->u.while_.orelse);
    f->cond = outer;
    return BLOCK_FALLS;
}

// ---- try, with, match -------------------------------------------------------

// After a try, what its body bound may or may not be in force.
static Falls eval_try(Frame *f, Node *stmt) {
    Val *outer = f->cond;
    uint32_t mark = names_mark(f);
    f->cond = opaque(f);
    Falls falls = eval_block(f, &stmt->u.try_->body);
    NameChanges all; // of the body and of each handler that goes on behind it
    names_rewind(&all, f, mark);
    bool handled = false;
    for (uint32_t i = 0; i < stmt->u.try_->handlers.len; i++) {
        Node *h = stmt->u.try_->handlers.at[i];
        if (h->u.handler.name) bind_name(f, h->u.handler.name, opaque(f));
        Falls out = eval_block(f, &h->u.handler.body);
        NameChanges handler;
        names_rewind(&handler, f, mark);
        if (out != BLOCK_FALLS) continue;
        if (handled || falls == BLOCK_FALLS) {
            names_join(f, &all, &handler, f->cond);
            names_rewind(&all, f, mark);
        } else {
            all = handler;
        }
        handled = true;
    }
    names_apply(f, &all);
    f->cond = outer;
    if (falls == BLOCK_FALLS) falls = eval_block(f, &stmt->u.try_->orelse);
    Falls last = eval_block(f, &stmt->u.try_->finalbody);
    bool ends = last == BLOCK_ENDS || (falls == BLOCK_ENDS && !handled);
    return ends ? BLOCK_ENDS : BLOCK_FALLS;
}

Val *eval_detached(Frame *f, Val *v) {
    switch ((int)v->op) {
    case V_CAST: case OP_DETACH: case V_PHI: case V_ITEM: case V_PART:
        break;
    case V_TUPLE: { // return gate, up
        Val **items = NEW_N(f->flow->arena, Val *, v->nargs + 1);
        for (uint32_t i = 0; i < v->nargs; i++) items[i] = eval_detached(f, v->args[i]);
        return val_new(&f->flow->graph, V_TUPLE, items, v->nargs);
    }
    default:
        if (v->op < V_CAST) return v;
        break;
    }
    return v->op == OP_DETACH ? v : val_new1(&f->flow->graph, OP_DETACH, v);
}

bool stops_gradients(const Val *v) {
    const Val *callee = v->op == V_CALL ? v->args[0] : v; // @torch.no_grad
    if (callee->op != V_GLOBAL) return false;
    Str name = callee->text;
    if (str_is(name, "torch.no_grad") || str_is(name, "torch.inference_mode") ||
        str_is(name, "torch.autograd.no_grad")) {
        return v->nargs < 2 || val_truth(v->args[1]) != 0;
    }
    return str_is(name, "torch.set_grad_enabled") && v->nargs == 2 &&
           val_truth(v->args[1]) == 0;
}

// What was computed without gradients is a constant for what follows.
static void detach_changes(Frame *f, uint32_t mark, uint32_t first_return) {
    uint32_t end = f->run->log.len;
    for (uint32_t i = mark; i < end; i++) {
        NameChange change = f->run->log.at[i];
        Bind *bind = change.info->bind;
        Val *v = bind && bind->val ? eval_detached(f, bind->val) : NULL;
        if (!v || v == bind->val) continue;
        name_set(f, change.table, change.info->key,
                 (Bind){.val = v, .stmt = f->stmt, .a = bind});
    }
    if (f->root) return; // its returns are not read further
    for (uint32_t i = first_return; i < f->returns.len; i++) {
        f->returns.at[i].val = eval_detached(f, f->returns.at[i].val);
    }
}

// torch.set_grad_enabled(False), manager.__enter__() and the like, as statements:
// what is bound until the next such statement is a constant from there on.
static void note_grad_mode(Frame *f, const Node *expr) {
    if (expr->kind != N_CALL) return;
    const Node *func = expr->u.call.func;
    Str name = {0};
    if (func->kind == N_ATTRIBUTE) name = sym_str(func->u.attribute.attr);
    if (func->kind == N_NAME) name = sym_str(func->u.name.id);
    bool sets = str_ends(name, "set_grad_enabled");
    if (f->grad_off && (sets || str_is(name, "__exit__") || str_is(name, "close"))) {
        detach_changes(f, f->grad_off - 1, f->returns.len);
        f->grad_off = 0;
        return; // set_grad_enabled(before) gives the mode back
    }
    NodeList args = expr->u.call.args;
    bool stops = sets && (args.len != 1 || val_truth(eval_expr(f, args.at[0])) != 1);
    if (str_is(name, "__enter__") && func->kind == N_ATTRIBUTE) {
        stops = stops_gradients(eval_expr(f, func->u.attribute.value));
    }
    if (str_is(name, "enter_context") && args.len == 1) {
        stops = stops_gradients(eval_expr(f, args.at[0]));
    }
    if (stops) f->grad_off = names_mark(f) + 1;
}

static Falls eval_with(Frame *f, Node *stmt) {
    bool stops = false, outer_off = f->grad_off != 0;
    uint32_t mark = names_mark(f), first_return = f->returns.len;
    for (uint32_t i = 0; i < stmt->u.with.items.len; i++) {
        Node *item = stmt->u.with.items.at[i];
        stops |= stops_gradients(eval_expr(f, item->u.withitem.expr));
        if (item->u.withitem.vars) {
            assign_target(f, item->u.withitem.vars, opaque(f));
        }
    }
    Falls falls = eval_block(f, &stmt->u.with.body);
    if (!outer_off && f->grad_off) { // an ExitStack's end gives the mode back
        stops = true;
        f->grad_off = 0;
    }
    if (stops) detach_changes(f, mark, first_return);
    return falls;
}

static bool bind_pattern(Node *node, void *data) {
    Frame *f = data;
    if (node->kind == N_MATCH_AS && node->u.match_as.name) {
        bind_name(f, node->u.match_as.name, opaque(f));
    }
    if (node->kind == N_MATCH_STAR && node->u.match_star.name) {
        bind_name(f, node->u.match_star.name, opaque(f));
    }
    return node_children(node, bind_pattern, data);
}

static Falls eval_match(Frame *f, Node *stmt) {
    eval_expr(f, stmt->u.match.subject);
    Val *outer = f->cond;
    for (uint32_t i = 0; i < stmt->u.match.cases.len; i++) {
        Node *c = stmt->u.match.cases.at[i];
        uint32_t mark = names_mark(f);
        f->cond = opaque(f);
        bind_pattern(c->u.match_case.pattern, f);
        if (c->u.match_case.guard) eval_expr(f, c->u.match_case.guard);
        Falls falls = eval_block(f, &c->u.match_case.body);
        NameChanges then, none = {0};
        names_rewind(&then, f, mark);
        if (falls == BLOCK_FALLS) names_join(f, &then, &none, f->cond);
    }
    f->cond = outer;
    return BLOCK_FALLS;
}

// ---- definitions ------------------------------------------------------------

// `nonlocal x`: the nested function may bind x whenever it is called.
static bool lose_nonlocal(Node *node, void *data) {
    Frame *f = data;
    for (uint32_t i = 0; node->kind == N_NONLOCAL && i < node->u.global.len; i++) {
        bind_name(f, node->u.global.names[i], opaque(f));
    }
    return node_children(node, lose_nonlocal, data);
}

// Names that a nested function reads must keep the statements that bind them.
static bool capture_names(Node *node, void *data) {
    Frame *f = data;
    if (node->kind == N_NAME && node->ctx == CTX_LOAD) {
        NameInfo *info = name_find(&f->names, (uintptr_t)node->u.name.id);
        if (info) {
            info->captured = true;
            if (info->bind) bind_used(f, info->bind, NULL);
        }
    }
    return node_children(node, capture_names, data);
}

static void define_function(Frame *f, Node *stmt) {
    node_children(stmt, capture_names, f);
    node_children(stmt, lose_nonlocal, f);
    Val *v = val_unique(&f->flow->graph, V_LAMBDA, NULL, 0);
    v->ptr = f;
    v->node = stmt;
    v->module = f->module;
    if (f->root) flow_function_info(f->flow, f->mf, stmt, NULL)->outer = f;
    bool plain = stmt->u.function->decorators.len == 0;
    bind_name(f, stmt->u.function->name, plain ? v : opaque(f));
}

static void define_class(Frame *f, Node *stmt) {
    Def *def = NEW(f->flow->arena, Def);
    *def = (Def){.kind = DEF_CLASS, .module = f->module, .node = stmt,
                 .dotted = sym_str(stmt->u.class_->name)};
    Val v = {.op = V_CLASS, .def = def};
    bind_name(f, stmt->u.class_->name, val_intern(&f->flow->graph, &v));
}

static void eval_import(Frame *f, Node *stmt) {
    NodeList names = stmt->kind == N_IMPORT ? stmt->u.import.names
                                            : stmt->u.import_from.names;
    for (uint32_t i = 0; i < names.len; i++) {
        const Sym *name;
        Def def = project_import(f->module, stmt, i, &name);
        if (!name) continue;
        Val *val = eval_def(f->flow, &def);
        bind_name(f, name, val ? val : opaque(f));
    }
}

// ---- statements -------------------------------------------------------------

static void record_return(Frame *f, Node *stmt) {
    Node *value = stmt->u.return_.value;
    Val *val = value ? eval_expr(f, value) : val_none(&f->flow->graph);
    ReturnRecord r = {val, f->cond, stmt};
    vec_push(f->flow->arena, &f->returns, r);
}

static void eval_assign(Frame *f, Node *stmt) {
    Val *value = eval_expr(f, stmt->u.assign.value);
    for (uint32_t i = 0; i < stmt->u.assign.targets.len; i++) {
        assign_target(f, stmt->u.assign.targets.at[i], value);
    }
}

static void delete_target(Frame *f, Node *t) {
    switch ((int)t->kind) {
    case N_NAME: // reads it too: `del x` needs x bound
        eval_expr(f, t);
        bind_name(f, t->u.name.id, opaque(f));
        break;
    case N_SUBSCRIPT: eval_mutation(f, eval_expr(f, t->u.subscript.value)); break;
    case N_ATTRIBUTE:
        eval_attr_change(f, eval_expr(f, t->u.attribute.value), t->u.attribute.attr, opaque(f));
        break;
    case N_TUPLE: case N_LIST:
        for (uint32_t i = 0; i < t->u.list.elts.len; i++) delete_target(f, t->u.list.elts.at[i]);
        break;
    default: break;
    }
}

static void eval_delete(Frame *f, Node *stmt) {
    mark_effect(f);
    NodeList targets = stmt->u.delete_.targets;
    for (uint32_t i = 0; i < targets.len; i++) delete_target(f, targets.at[i]);
}

static bool eval_child(Node *child, void *data) {
    if (!node_is_statement(child)) eval_expr(data, child);
    return true;
}

// assert x.dim() == 3
static void eval_assert(Frame *f, Node *stmt) {
    mark_effect(f);
    node_children(stmt, eval_child, f);
    const Val *test = eval_expr(f, stmt->u.assert_.test);
    if (test->op != V_PYOP || test->ck != A_EQ || test->nargs != 2) return;
    for (int i = 0; i < 2; i++) {
        const Val *count = test->args[i], *rank = test->args[1 - i];
        bool told = count->op == OP_NDIM && val_is_number(rank) && rank->num >= 1 && rank->num <= 8;
        if (told) note_rank(f, val_strip(count->args[0]), (uint32_t)rank->num);
    }
}

static Falls eval_simple(Frame *f, Node *stmt) {
    switch ((int)stmt->kind) {
    case N_ASSIGN: eval_assign(f, stmt); break;
    case N_AUG_ASSIGN: eval_aug_assign(f, stmt); break;
    case N_ANN_ASSIGN:
        if (stmt->u.ann_assign.value) {
            assign_target(f, stmt->u.ann_assign.target,
                          eval_expr(f, stmt->u.ann_assign.value));
        }
        break;
    case N_EXPR:
        if (stmt->u.return_.value->kind == N_CONSTANT) break; // a docstring
        eval_expr(f, stmt->u.return_.value);
        note_grad_mode(f, stmt->u.return_.value);
        break;
    case N_RETURN: record_return(f, stmt); return BLOCK_ENDS;
    case N_RAISE: node_children(stmt, eval_child, f); return BLOCK_ENDS;
    case N_BREAK: case N_CONTINUE: return BLOCK_ENDS;
    case N_DELETE: eval_delete(f, stmt); break;
    case N_IMPORT: case N_IMPORT_FROM: eval_import(f, stmt); break;
    case N_FUNCTION_DEF: case N_ASYNC_FUNCTION_DEF: define_function(f, stmt); break;
    case N_CLASS_DEF: define_class(f, stmt); break;
    case N_PASS: break;
    case N_ASSERT: eval_assert(f, stmt); break;
    case N_GLOBAL: case N_NONLOCAL: f->shares_names = true; break;
    default:
        mark_effect(f);
        node_children(stmt, eval_child, f);
        break;
    }
    return BLOCK_FALLS;
}

static Falls eval_stmt(Frame *f, Node *stmt) {
    switch ((int)stmt->kind) {
    case N_IF: return eval_if(f, stmt);
    case N_FOR: case N_ASYNC_FOR: case N_WHILE: return eval_loop(f, stmt);
    case N_TRY: case N_TRY_STAR: return eval_try(f, stmt);
    case N_WITH: case N_ASYNC_WITH: return eval_with(f, stmt);
    case N_MATCH: return eval_match(f, stmt);
    default: return eval_simple(f, stmt);
    }
}

Falls eval_block(Frame *f, const NodeList *block) {
    Arena *arena = f->flow->arena;
    for (uint32_t i = 0; i < block->len; i++) {
        if (f->run->budget == 0 || !frame_may_work(f, 1)) {
            f->truncated = true;
            recall_taint(f->flow);
            return BLOCK_ENDS;
        }
        f->run->budget--;
        Node *outer = f->stmt;
        uint32_t outer_index = f->stmt_index;
        f->stmt = block->at[i];
        if (f->root) {
            StmtInfo info = {.stmt = f->stmt, .block = block, .index = i,
                             .time_before = ++f->run->time};
            f->stmt_index = f->stmts.len;
            vec_push(arena, &f->stmts, info);
        }
        uint32_t at = f->stmt_index;
        Falls falls = eval_stmt(f, f->stmt);
        if (f->root) {
            f->stmts.at[at].time_after = f->run->time;
            f->stmts.at[at].ends = falls == BLOCK_ENDS;
        }
        f->stmt = outer;
        f->stmt_index = outer_index;
        if (falls == BLOCK_ENDS) return BLOCK_ENDS;
    }
    return BLOCK_FALLS;
}
