// project_impl.h - what project.c and trim.c share; nobody else includes it.
#ifndef NPUFUSE_PROJECT_IMPL_H
#define NPUFUSE_PROJECT_IMPL_H

#include "py/project.h"

// The table of open modules anew, with `cap` slots.
void rebuild_paths(Project *project, uint32_t cap);
void drop_module(Module *m);
// The module was read.
void note_opened(Module *m);

#endif
