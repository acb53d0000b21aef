// scripted.h - TorchScript in the module of a candidate.
#ifndef NPUFUSE_SCRIPTED_H
#define NPUFUSE_SCRIPTED_H

#include "flow/flow.h"

// Whether torch.jit.script compiles the function, as far as its own module shows: it or its
// class is decorated or handed over, a function that is names it or one that comes to call
// it, or an object is handed over that may be made of any class of the module. The compiler
// takes no test of a switch, no variadic function and no torch_npu.
bool is_scripted(Frame *f);

#endif
