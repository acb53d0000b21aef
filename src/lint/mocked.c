// mocked.c - replacements, by the calls that make them. Which test they are in force for
// is not asked: a call of an operator that the module replaces somewhere is left alone.
#include "base/base.h"

#include "lint/mocked.h"

typedef struct MockWalk {
    Mocked *out;
    Arena *arena;
} MockWalk;

static bool is_text(const Node *n) {
    return n && n->kind == N_CONSTANT && n->op == CONST_STR;
}

static bool is_package(const Node *n) {
    return is_text(n) && str_is(n->u.constant.text, "torch_npu");
}

// patch, patch.object, patch.dict, mocker.patch, monkeypatch.setattr, setattr
static bool replaces(const Node *func) {
    Str name = STR("");
    if (func->kind == N_NAME) name = sym_str(func->u.name.id);
    if (func->kind == N_ATTRIBUTE) name = sym_str(func->u.attribute.attr);
    return str_is(name, "patch") || str_is(name, "object") || str_is(name, "setattr") ||
           str_is(name, "dict") || str_is(name, "multiple");
}

static bool has_package_key(const Node *n) {
    for (uint32_t i = 0; n && n->kind == N_DICT && i < n->u.dict.keys.len; i++) {
        if (is_package(n->u.dict.keys.at[i])) return true;
    }
    return false;
}

static void read_call(MockWalk *walk, const Node *call) {
    if (!replaces(call->u.call.func)) return;
    for (uint32_t i = 0; i < call->u.call.args.len; i++) {
        const Node *arg = call->u.call.args.at[i];
        walk->out->all |= has_package_key(arg);
        if (!is_text(arg)) continue;
        vec_push(walk->arena, &walk->out->names, str_last_part(arg->u.constant.text));
    }
}

static bool visit(Node *node, void *data) {
    MockWalk *walk = data;
    if (node->kind == N_CALL) read_call(walk, node);
    if (node->kind == N_SUBSCRIPT && node->ctx == CTX_STORE) {
        walk->out->all |= is_package(node->u.subscript.slice);
    }
    return node_children(node, visit, data);
}

void mocked_read(Mocked *out, Arena *arena, const Module *m) {
    *out = (Mocked){0};
    MockWalk walk = {out, arena};
    node_children(m->parsed.module, visit, &walk);
}

bool mocked_has(const Mocked *mocked, Str name) {
    for (uint32_t i = 0; i < mocked->names.len; i++) {
        if (str_eq(mocked->names.at[i], name)) return true;
    }
    return mocked->all;
}
