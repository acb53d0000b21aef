// available.h - what the scanned project itself says about a usable NPU.
//
// Names are only a first filter here. What a function or constant tells is proven from
// what it computes (told.h). For one whose source is not at hand, or says too little, its
// use speaks: `if NAME():` around an import of torch_npu.
#ifndef NPUFUSE_AVAILABLE_H
#define NPUFUSE_AVAILABLE_H

#include "model/finding.h"
#include "py/project.h"

typedef struct Available {
    Str test;   // "is_npu_available()", "HAS_NPU"; in the arena given
    Span where; // its definition, or its import where that is all there is
} Available;

// The first such helper that the module has always bound in front of `line`.
bool find_availability(Available *out, Arena *run, Module *module, uint32_t line);

// Calls `visit` with the statement of every function and constant of the module that is one
// by what it computes, in no order.
typedef void (*AvailableVisit)(const Node *stmt, void *data);
void list_availability(Module *module, AvailableVisit visit, void *data);

#endif
