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

void module_list_calls(Module *module) {
    if (module->calls_listed) return;
    module->calls_listed = true;
    CallWalk walk = {.module = module};
    visit_calls(module->parsed.module, &walk);
    module->call_owners = walk.owners.at;
    module->call_classes = walk.classes.at;
}
