// same_form.h - two computations that differ in their weights alone.
#ifndef NPUFUSE_SAME_FORM_H
#define NPUFUSE_SAME_FORM_H

#include "flow/flow.h"

// Whether the two are one computation on one input, but for what is learned: of
// self.w1(x) and self.w3(x) that were read down to their products, whose layers are
// of one class with the same arguments.
bool same_form(const Val *a, const Val *b);
// Whether one is computed of a parameter as the other is of another parameter.
bool same_form_of_params(const Val *a, const Val *b);

// Whether the function f calls two objects of one class that were made with the same
// arguments, or one function twice, and the calls give a and b: w1(x) and w3(x),
// gmm(x, w1, sizes) and gmm(x, w3, sizes). What they are called with is the same, or
// learned and made alike.
bool calls_alike(Frame *f, const Val *a, const Val *b);

// Whether one call of the function gives both back, of which nothing else is known.
bool given_together(const Frame *f, const Val *a, const Val *b);

#endif
