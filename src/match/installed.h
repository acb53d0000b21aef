// installed.h - whether the rules' operators are what the installed torch_npu
// registers.
#ifndef NPUFUSE_INSTALLED_H
#define NPUFUSE_INSTALLED_H

#include "apidoc/book.h"
#include "apidoc/compare.h"
#include "match/rule.h"

// Fills `installed` and `drift` of every rule whose operator is of torch_npu.
// `book` may be NULL (nothing is installed) or without a library: then nothing
// is claimed.
void rules_check_installed(RuleSet *set, const Book *book);
// The differences of the operator `name`, whose schema is `ours`, from what the
// book registers: one sentence each, "it is not registered" among them.
// An operator that ops/ calls differentiable has to have an autograd class, too.
void operator_drift(Drifts *out, Arena *arena, const Book *book, const Schema *ours,
                    bool differentiable);

#endif
