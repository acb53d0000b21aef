// same_form.h - two computations that differ in their weights alone.
#ifndef NPUFUSE_SAME_FORM_H
#define NPUFUSE_SAME_FORM_H

#include "flow/flow.h"

// Whether the two are one computation on one input, but for what is learned: of
// self.w1(x) and self.w3(x) that were read down to their products, whose layers are
// of one class with the same arguments.
bool same_form(const Val *a, const Val *b);

#endif
