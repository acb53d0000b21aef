// always.h - whether a name of a module is bound whatever branches the module takes.
#ifndef NPUFUSE_ALWAYS_H
#define NPUFUSE_ALWAYS_H

#include "py/project.h"

// Whether every path through the module's own statements that start before `line` leaves
// the name bound; a path that raises or exits does not count. What is not understood binds
// nothing: a `with` may swallow what its body raises, a loop may not run.
bool module_always_binds(const Module *module, Str name, uint32_t line);
// Whether a name that is bound in front of `line` still is so at the end of the module.
bool module_keeps_bound(const Module *module, Str name, uint32_t line);

#endif
