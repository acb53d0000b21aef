// tensor_kind.h - which values are certainly tensors, masks, or whole numbers.
//
// Only what an expression itself shows counts: the operator or annotation that made
// the value, never its name. False means that nothing shows it.
#ifndef NPUFUSE_TENSOR_KIND_H
#define NPUFUSE_TENSOR_KIND_H

#include "flow/flow.h"

// The tensor of x.name(...) or torch.name(x, ...); NULL if it is neither. That it is a
// tensor is not asked.
const Val *torch_call(const Val *call, const char *name);
bool is_tensor(const Val *v);
// A boolean tensor: a comparison, or a cast to bool.
bool is_bool_mask(const Val *v);
// Whether what is known to be a tensor is one of booleans.
bool is_bool_if_tensor(Flow *flow, const Val *v);
// Whether what is known to be a tensor holds 0 and 1 alone, of any dtype.
bool is_zero_one(Flow *flow, const Val *v);
// A tensor of int32 or int64.
bool is_whole_tensor(const Val *v);
// The call of topk, argmax, argsort or sort whose indices v are, along some axis; NULL
// if they are none.
const Val *index_source(const Val *v);

// Whether it is a tensor and never None: a parameter that the constructor always makes,
// an argument that is annotated as a tensor. Not self.weight = nn.Parameter(...) if
// affine else None.
bool is_given_tensor(Flow *flow, Val *v);

#endif
