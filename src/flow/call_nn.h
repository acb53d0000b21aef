// call_nn.h - modules of torch.nn whose call is one operator.
#ifndef NPUFUSE_CALL_NN_H
#define NPUFUSE_CALL_NN_H

#include "flow/flow.h"

// The value of inst(...) where `inst` is a module of torch.nn; NULL where it is none of
// those that are known.
Val *call_nn(Frame *f, Node *node, Val *inst, Val *const *args, uint32_t nargs);
// The same, with what it reads of the module read of `subject`, which holds the module:
// self.norm.weight.
Val *call_nn_behind(Frame *f, Val *value, const Val *inst, Val *subject);

#endif
