// optional.c - by who calls the function, and what else stands in its table.
#include "base/base.h"

#include "match/optional.h"

// ---- what a table's other functions return ----------------------------------

typedef struct NoneSearch {
    uint32_t index;
    bool found;
} NoneSearch;

static bool search_none(Node *node, void *data) {
    NoneSearch *search = data;
    if (node->kind == N_RETURN && node->u.return_.value &&
        node->u.return_.value->kind == N_TUPLE) {
        NodeList elts = node->u.return_.value->u.list.elts;
        if (search->index < elts.len) {
            const Node *elt = elts.at[search->index];
            search->found |= elt->kind == N_CONSTANT && elt->op == CONST_NONE;
        }
    }
    return !search->found && node_children(node, search_none, data);
}

static bool returns_none(Module *m, const Node *name, uint32_t index) {
    if (name->kind != N_NAME) return false;
    Def def = project_lookup(m, name->u.name.id);
    if (def.kind != DEF_FUNCTION) return false;
    NoneSearch search = {.index = index};
    node_children(def.node, search_none, &search);
    return search.found;
}

static bool entry_returns_none(Module *m, const Node *dict, uint32_t index) {
    if (!dict || dict->kind != N_DICT) return false;
    NodeList values = dict->u.dict.values;
    for (uint32_t i = 0; i < values.len; i++) {
        if (returns_none(m, values.at[i], index)) return true;
    }
    return false;
}

static bool class_has_entry(const Def *class_def, uint32_t index) {
    NodeList body = class_def->node->u.class_->body;
    for (uint32_t i = 0; i < body.len; i++) {
        const Node *value = body.at[i]->kind == N_ASSIGN     ? body.at[i]->u.assign.value
                            : body.at[i]->kind == N_ANN_ASSIGN ? body.at[i]->u.ann_assign.value
                                                               : NULL;
        if (entry_returns_none(class_def->module, value, index)) return true;
    }
    return false;
}

// The published table of transformers, where its source is not at hand: its
// entries may return None for the weights.
static bool is_published_table(const Val *table) {
    return table->op == V_GLOBAL && str_starts(table->text, "transformers.") &&
           str_ends(table->text, ".ALL_ATTENTION_FUNCTIONS");
}

static bool is_optional_table(const Val *table, uint32_t index) {
    if (table->op == V_INSTANCE && table->def) return class_has_entry(table->def, index);
    return is_published_table(table);
}

// ---- uses of the function ---------------------------------------------------

// TABLE.get(key, function): the value of TABLE.
static bool stands_in_table(Frame *f, const Node *call, uint32_t index) {
    const Node *func = call->u.call.func;
    if (func->kind != N_ATTRIBUTE) return false;
    Frame *top = flow_module_frame(f->flow, f->mf);
    Val *table = eval_expr(top, func->u.attribute.value);
    return is_optional_table(table, index);
}

typedef struct Loads {
    const Sym *name;
    uint32_t count;
} Loads;

static bool count_loads(Node *node, void *data) {
    Loads *loads = data;
    if (node->kind == N_NAME && node->ctx == CTX_LOAD &&
        node->u.name.id == loads->name) loads->count++;
    return node_children(node, count_loads, data);
}

typedef struct Unpacking {
    const Node *call;
    uint32_t index;
    const Sym *target;
} Unpacking;

static bool search_target(Node *node, void *data) {
    Unpacking *search = data;
    bool unpacks = node->kind == N_ASSIGN && node->u.assign.value == search->call &&
                   node->u.assign.targets.len == 1 &&
                   node->u.assign.targets.at[0]->kind == N_TUPLE;
    if (unpacks) {
        NodeList elts = node->u.assign.targets.at[0]->u.list.elts;
        bool named = search->index < elts.len && elts.at[search->index]->kind == N_NAME;
        if (named) search->target = elts.at[search->index]->u.name.id;
    }
    return !search->target && node_children(node, search_target, data);
}

// out, _ = function(...): nobody reads the other value.
static bool is_dropped_at(Node *owner, const Node *call, uint32_t index) {
    Unpacking search = {call, index, NULL};
    if (owner) node_children(owner, search_target, &search);
    if (!search.target) return false;
    Loads loads = {search.target, 0};
    node_children(owner, count_loads, &loads);
    return loads.count == 0;
}

static bool is_named(const Node *node, const Sym *name) {
    return node->kind == N_NAME && node->u.name.id == name;
}

// x.name(...), of whatever object
static bool is_method_named(const Node *func, const Sym *name) {
    return func->kind == N_ATTRIBUTE && func->u.attribute.attr == name;
}

bool result_is_optional(Frame *f, uint32_t index) {
    if (!f->fn || f->fn->kind != N_FUNCTION_DEF || f->lexical) return false;
    const Sym *name = f->fn->u.function->name;
    // Who calls a module itself is not in sight.
    if (f->owner && (name == f->flow->names.forward || name == f->flow->names.call)) return false;
    Module *m = f->module;
    uint32_t uses = 0;
    module_list_calls(m);
    for (uint32_t i = 0; i < m->calls.len; i++) {
        Node *call = m->calls.at[i];
        bool calls = f->owner ? is_method_named(call->u.call.func, name)
                              : is_named(call->u.call.func, name);
        if (calls) {
            if (!is_dropped_at(m->call_owners[i], call, index)) return false;
            uses++;
        }
        for (uint32_t k = 0; !f->owner && k < call->u.call.args.len; k++) {
            if (!is_named(call->u.call.args.at[k], name)) continue;
            if (!stands_in_table(f, call, index)) return false;
            uses++;
        }
    }
    return uses > 0;
}
