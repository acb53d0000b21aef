// binds.h - statements that do nothing but bind names.
#ifndef NPUFUSE_BINDS_H
#define NPUFUSE_BINDS_H

#include "py/ast.h"

// Whether the statement is an assignment to names, or a branch of nothing else.
// What its expressions do is another question.
bool stmt_only_binds(const Node *stmt);

#endif
