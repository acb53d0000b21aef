// available.c - helpers of the project that tell whether an NPU is usable.
#include "base/base.h"

#include "match/available.h"

#include "match/evidence.h"
#include "match/told.h"
#include "py/always.h"

static bool speaks_of_npu(Str name) {
    static const char *const words[] = {"npu", "NPU", "Npu", "ascend", "ASCEND", "Ascend"};
    for (size_t i = 0; i < COUNT(words); i++) {
        if (str_contains(name, str_of(words[i]))) return true;
    }
    return false;
}

// ---- by its use -------------------------------------------------------------------

typedef struct Use {
    Module *module;
    const Sym *name;
    bool called; // NAME(), not NAME
    bool found;
} Use;

static bool search_import(Node *node, void *data) {
    bool *found = data;
    *found |= imports_torch_npu(node);
    return !*found && node_children(node, search_import, data);
}

// NAME() or NAME, alone or beside others that must hold too.
static bool tests_name(const Use *use, const Node *test) {
    if (test->kind == N_BOOL_OP && test->op == A_AND) {
        for (uint32_t i = 0; i < test->u.bool_op.values.len; i++) {
            if (tests_name(use, test->u.bool_op.values.at[i])) return true;
        }
    }
    if (use->called) {
        bool bare = test->kind == N_CALL && !test->u.call.args.len && !test->u.call.keywords.len;
        if (!bare) return false;
        test = test->u.call.func;
    }
    return test->kind == N_NAME && test->u.name.id == use->name;
}

static bool search_use(Node *node, void *data) {
    Use *use = data;
    if (node->kind == N_IF && tests_name(use, node->u.while_.test)) {
        NodeList body = node->u.while_.body;
        for (uint32_t i = 0; i < body.len; i++) search_import(body.at[i], &use->found);
    }
    return !use->found && node_children(node, search_use, data);
}

static bool is_used_so(Module *module, const Sym *name, bool called) {
    Use use = {module, name, called, false};
    search_use(module->parsed.module, &use);
    return use.found;
}

// ---- what is at hand --------------------------------------------------------------

// What libraries say of their own functions.
static bool is_known(Str dotted) {
    static const char *const names[] = {
        "transformers.utils.is_torch_npu_available", "accelerate.utils.is_npu_available",
        "transformers.utils.import_utils.is_torch_npu_available",
        "transformers.is_torch_npu_available", "diffusers.utils.is_torch_npu_available",
    };
    for (size_t i = 0; i < COUNT(names); i++) {
        if (str_is(dotted, names[i])) return true;
    }
    return false;
}

// What has to be written to ask the name; empty if it tells nothing.
static Str test_of(Arena *run, Module *module, const Binding *b, const Def *def) {
    Str name = sym_str(b->name);
    bool imported = b->kind == BIND_FROM;
    Str call = arena_printf(run, "%.*s()", STR_FMT(name));
    if (def->kind == DEF_FUNCTION || def->kind == DEF_VALUE) {
        bool called = def->kind == DEF_FUNCTION;
        bool told = tells_npu(module, b->name, def) ||
                    (imported && is_used_so(module, b->name, called));
        return !told ? (Str){0} : called ? call : name;
    }
    if (def->kind != DEF_EXTERNAL || !imported) return (Str){0};
    if (is_known(def->dotted) || is_used_so(module, b->name, true)) return call;
    return is_used_so(module, b->name, false) ? name : (Str){0};
}

bool find_availability(Available *out, Arena *run, Module *module, uint32_t line) {
    const Binding *first = NULL;
    for (uint32_t i = 0; i < module->slot_count; i++) {
        for (const Binding *b = module->slots[i]; b; b = b->chain) {
            Str name = sym_str(b->name);
            if (!speaks_of_npu(name) || str_is(name, "torch_npu")) continue;
            bool later = first && (b->node->start > first->node->start ||
                (b->node == first->node && str_cmp(name, sym_str(first->name)) > 0));
            if (later || (b->earlier && b->kind != BIND_VALUE)) continue;
            if (!module_always_binds(module, name, line)) continue;
            Def def = project_lookup(module, b->name);
            Str test = test_of(run, module, b, &def);
            if (!test.len) continue;
            first = b;
            out->test = test;
            bool own = def.kind != DEF_EXTERNAL;
            out->where = make_span(run, own ? def.module : module, own ? def.node : b->node);
        }
    }
    return first != NULL;
}

void list_availability(Module *module, AvailableVisit visit, void *data) {
    for (uint32_t i = 0; i < module->slot_count; i++) {
        for (const Binding *b = module->slots[i]; b; b = b->chain) {
            bool own = b->kind == BIND_FUNCTION || b->kind == BIND_VALUE;
            if (!own || !speaks_of_npu(sym_str(b->name))) continue;
            Def def = project_lookup(module, b->name);
            if (def.module == module && tells_npu(module, b->name, &def)) visit(b->node, data);
        }
    }
}
