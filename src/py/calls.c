// calls.c - every call of a module with the function and class it stands in,
// for finding out what a constructor is given.
#include "base/base.h"

#include "py/project.h"

typedef struct CallWalk {
    Module *module;
    Node *owner, *owner_class, *class_;
    VEC(Node *) owners;
    VEC(Node *) classes;
    int depth;
} CallWalk;

static bool visit_calls(Node *node, void *data) {
    CallWalk *walk = data;
    if (walk->depth > 4000) return true;
    if (node->kind == N_CALL) {
        vec_push(&walk->module->arena, &walk->module->calls, node);
        vec_push(&walk->module->arena, &walk->owners, walk->owner);
        vec_push(&walk->module->arena, &walk->classes, walk->owner_class);
    }
    CallWalk outer = *walk;
    if (node->kind == N_FUNCTION_DEF || node->kind == N_ASYNC_FUNCTION_DEF) {
        walk->owner = node;
        walk->owner_class = walk->class_;
        walk->class_ = NULL; // a function inside it is no method
    } else if (node->kind == N_CLASS_DEF) {
        walk->class_ = node;
    }
    walk->depth++;
    node_children(node, visit_calls, walk);
    walk->depth--;
    walk->owner = outer.owner;
    walk->owner_class = outer.owner_class;
    walk->class_ = outer.class_;
    return true;
}

// Most questions are about the calls of one name.
static void index_calls(Module *module) {
    module->call_slots = 64;
    while (module->call_slots < module->calls.len) module->call_slots *= 2;
    module->call_first = NEW_N(&module->arena, uint32_t, module->call_slots);
    module->call_next = NEW_N(&module->arena, uint32_t, module->calls.len + 1);
    for (uint32_t i = module->calls.len; i > 0; i--) {
        const Node *func = module->calls.at[i - 1]->u.call.func;
        const Sym *name = func->kind == N_NAME        ? func->u.name.id
                          : func->kind == N_ATTRIBUTE ? func->u.attribute.attr : NULL;
        if (!name) continue;
        uint32_t *first = &module->call_first[name->hash & (module->call_slots - 1)];
        module->call_next[i - 1] = *first;
        *first = i;
    }
}

void module_list_calls(Module *module) {
    if (module->calls_listed) return;
    module->calls_listed = true;
    CallWalk walk = {.module = module};
    visit_calls(module->parsed.module, &walk);
    module->call_owners = walk.owners.at;
    module->call_classes = walk.classes.at;
    index_calls(module);
}

uint32_t module_first_call(const Module *module, const Sym *name) {
    return module->call_first[name->hash & (module->call_slots - 1)];
}

uint32_t module_next_call(const Module *module, uint32_t call) {
    return module->call_next[call - 1];
}
