// builtins.c - functions of Python whose answer follows from the graph.
#include "base/base.h"

#include "flow/builtins.h"

#include "flow/call_of.h"

Val *builtin_isinstance(Frame *f, Val *const *args, uint32_t nargs) {
    if (nargs != 2 || args[1]->op != V_GLOBAL) return NULL;
    Op op = str_is(args[1]->text, "tuple")  ? V_TUPLE
            : str_is(args[1]->text, "list") ? V_LIST
            : str_is(args[1]->text, "dict") ? V_DICT
                                            : V_OPAQUE;
    bool is_str = str_is(args[1]->text, "str");
    switch ((int)args[0]->op) {
    case V_CONST:
        if (is_str) return val_bool(&f->flow->graph, args[0]->ck == CONST_STR);
        if (op != V_OPAQUE) return val_bool(&f->flow->graph, false);
        return NULL;
    case V_TUPLE: case V_LIST: case V_DICT:
    case V_CLASS: case V_FUNCTION: case V_LAMBDA: case V_INSTANCE:
        if (op == V_OPAQUE && !is_str) return NULL;
        if (args[0]->op == V_INSTANCE) return NULL;
        return val_bool(&f->flow->graph, args[0]->op == op);
    case V_GLOBAL: // a class or function of a library
        if (op == V_OPAQUE && !is_str) return NULL;
        return val_bool(&f->flow->graph, false);
    default:
        return NULL;
    }
}

// What a lambda gives that stands in this very function is computed by the function.
static void note_computed(Frame *f, const Val *callee, Val *val) {
    if (!f->root || callee->op != V_LAMBDA || callee->node->kind != N_LAMBDA) return;
    EvalRecord record = {callee->node->u.lambda.body, val, f->stmt, true};
    vec_push(f->flow->arena, &f->evals, record);
}

Val *builtin_map(Frame *f, Val *const *args, uint32_t nargs) {
    if (nargs != 2 || (args[1]->op != V_TUPLE && args[1]->op != V_LIST)) return NULL;
    const Val *items = args[1];
    if (items->nargs > MAPPED_MAX) return NULL;
    Val *out[MAPPED_MAX];
    for (uint32_t i = 0; i < items->nargs; i++) {
        if (items->args[i]->op == V_STAR) return NULL;
        out[i] = call_value(f, NULL, args[0], &items->args[i], 1);
        note_computed(f, args[0], out[i]);
    }
    return val_new(&f->flow->graph, V_TUPLE, out, items->nargs);
}

Val *builtin_slice(Frame *f, Val *const *args, uint32_t nargs) {
    if (nargs == 0 || nargs > 3) return NULL;
    Val *none = val_none(&f->flow->graph), *parts[3] = {none, none, none};
    for (uint32_t i = 0; i < nargs; i++) {
        if (args[i]->op == V_KEYWORD || args[i]->op == V_STAR) return NULL;
        parts[nargs == 1 ? 1 : i] = args[i];
    }
    return val_new(&f->flow->graph, V_SLICE, parts, 3);
}

static Val *without_key(Frame *f, const Val *dict, const Val *key) {
    Val **items = NEW_N(f->flow->arena, Val *, dict->nargs + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i + 1 < dict->nargs; i += 2) {
        if (dict->args[i] == key) continue;
        items[n++] = dict->args[i];
        items[n++] = dict->args[i + 1];
    }
    return val_new(&f->flow->graph, V_DICT, items, n);
}

// Of the names that may hold what was changed, the one that it was changed by: another
// dict that is written alike is not this one.
static void renew_name(Frame *f, const Node *of, Val *value) {
    NameInfo *info = of->kind == N_NAME ? name_find(&f->names, (uintptr_t)of->u.name.id) : NULL;
    Bind *bind = info ? info->bind : NULL;
    if (bind && bind->val && bind->val->op == V_OPAQUE && bind->stmt == f->stmt) bind->val = value;
}

Val *builtin_dict_get(Frame *f, const DictCall *call, Val *const *args, uint32_t nargs) {
    Val *dict = call->dict;
    bool pops = str_is(call->method, "pop");
    if (dict->op != V_DICT || (!pops && !str_is(call->method, "get"))) return NULL;
    if (nargs == 0 || nargs > 2 || args[0]->op != V_CONST) return NULL;
    if (!arg_is_positional(args[nargs - 1])) return NULL;
    Val *found = NULL;
    for (uint32_t i = 0; i + 1 < dict->nargs; i += 2) {
        if (dict->args[i]->op != V_CONST) return NULL;
        if (dict->args[i] == args[0]) found = dict->args[i + 1];
    }
    if (found && pops) {
        eval_mutation(f, dict);
        renew_name(f, call->of, without_key(f, dict, args[0]));
    }
    if (found) return found;
    if (nargs == 2) return args[1];
    return pops ? NULL : val_none(&f->flow->graph);
}
