// training.h - calls of training code that torch_npu has a fused form for, though
// no drop-in: optimizers, the clipping of gradients, cross entropy.
//
// A callee is known by its value (imports, aliases, tables), never by its name.
#ifndef NPUFUSE_TRAINING_H
#define NPUFUSE_TRAINING_H

#include "match/site.h"

// Names without which a file has no such call; marks them.
void training_mark(SymTable *symbols, uint32_t mark);
// Appends the sites of the module, in its order. Texts are in the flow's arena.
// Functions with such a name are read, whether or not the filter lets them pass.
void training_find(NamedSites *out, Flow *flow, Module *module, uint32_t mark);

#endif
