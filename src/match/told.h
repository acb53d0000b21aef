// told.h - whether an expression, a function or a constant is true only where torch_npu is.
#ifndef NPUFUSE_TOLD_H
#define NPUFUSE_TOLD_H

#include "py/project.h"

// Of a function or constant that `name` means in `module`: whatever the function, which needs
// no arguments, returns and the module binds the constant to, is true only because of
// torch_npu: it was found, was imported, or torch.npu is there.
bool tells_npu(Module *module, const Sym *name, const Def *def);
// `torch_npu`, `torch_npu.x` in an import statement.
bool imports_torch_npu(const Node *stmt);

#endif
