// resolve_impl.h - what objects.c, callers.c and resolve.c share; nobody else
// includes it.
#ifndef NPUFUSE_RESOLVE_IMPL_H
#define NPUFUSE_RESOLVE_IMPL_H

#include "flow/flow.h"

enum {
    RESOLVE_MAX_DEPTH = 24,
    RESOLVE_MAX_STEPS = 2000,         // for one question
    RESOLVE_MAX_WORK = 300 * 1000,    // for a file; then
    RESOLVE_FEW_STEPS = 50,
    CLASSES_MAX = 8,
    CONDITIONS_MAX = 100, // within one another
};

// One resolution under way.
typedef struct Resolver {
    Flow *flow;
    ChainLink *chain; // latest step first
    bool from_config, likely;
    int conditions; // being decided, one within another
} Resolver;

// One step deeper; false where that is too deep or took too long. A step that
// was entered ends with flow->resolving--.
bool resolve_enter(Flow *flow);

// A value and the place that gives it.
typedef struct AttrSource {
    Val *val; // NULL: not found
    Module *module;
    Node *node;
} AttrSource;

typedef struct Classes {
    Def at[CLASSES_MAX];
    uint32_t len;
} Classes;

// The arguments that the callers in sight give for a parameter.
typedef struct Callers {
    Val *args[CLASSES_MAX];
    Node *calls[CLASSES_MAX];
    Module *modules[CLASSES_MAX];
    uint32_t len;
} Callers;

// ---- objects.c ---------------------------------------------------------------
AttrSource attr_source(Flow *flow, Val *object, const Sym *name);
AttrSource constructed_attr(Flow *flow, Val *object, const Sym *name);
// An object of the class made without arguments: its defaults.
Val *default_instance(Flow *flow, const Def *class_def);
// Whether `expr` reads nothing that the function assigns, so that it can be
// read without the function's other statements.
bool stands_alone(Flow *flow, FunctionInfo *info, Node *expr);
// The function's parameters and nothing else: for reading one expression.
Frame *light_frame(Flow *flow, ModuleFlow *mf, FunctionInfo *info);

// ---- callers.c ---------------------------------------------------------------
void resolver_link(Resolver *r, Module *module, Node *node, const char *what);
void annotation_classes(Resolver *r, Classes *out, Module *m, const Node *a,
                        int depth);
// The classes that a configuration object may have.
void classes_of(Resolver *r, Classes *out, Val *v);
// The default of a field of a configuration class.
AttrSource field_default(Resolver *r, const Def *class_def, const Sym *name);
void find_callers(Resolver *r, Callers *out, const Val *param);
// The default of a function's parameter; NULL if it has none.
Node *param_default(const Val *param);

#endif
