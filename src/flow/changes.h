// changes.h - what a module changes after it was bound.
#ifndef NPUFUSE_CHANGES_H
#define NPUFUSE_CHANGES_H

#include "flow/flow.h"

// Whether the module replaces the attribute: F.silu = f, Act.forward = f.
bool attr_is_patched(Flow *flow, ModuleFlow *mf, const Val *object, const Sym *attr);
// The value of a module-level name (`node` is its expression) after what the
// module does to it: TABLE["silu"] = f; opaque where that is not known.
Val *value_with_changes(Flow *flow, ModuleFlow *mf, const Node *node, Val *val);
// Whether a subclass in the module has a method of its own of this name.
bool method_is_overridden(Flow *flow, const Def *class_def, const Sym *name);

// The name of a function's first parameter, `self` of a method; NULL if it has none.
const Sym *first_parameter(const Node *fn);

// Whether the module stores the attribute in an object other than self:
// self.act.approximate = "tanh".
bool attr_is_stored(ModuleFlow *mf, const Sym *name);

typedef enum AttrChange {
    ATTR_KEPT,
    ATTR_CHANGED_OUTSIDE, // a subclass or other code stores another object
    ATTR_CHANGED,         // a method of the class does
} AttrChange;

// Where, besides the constructor, self.name is stored.
AttrChange attr_change(Flow *flow, const Def *class_def, const Sym *name);

// Whether anything but the constructor, which is read, changes what is in the list,
// dict or module self.name.
bool attr_items_change(Flow *flow, const Def *class_def, const Sym *name);
// A method that changes what is in a list, a dict or a module of modules.
bool changes_items(const Sym *method);

#endif
