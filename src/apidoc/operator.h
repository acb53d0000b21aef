// operator.h - what ops/<operator>.py states of one operator of torch_npu.
//
// The file is read, never run: its strings and tuples by the frontend that
// reads users' code. Limits stay Python (a FunctionDef); match/prove.c and the
// emulator give them a meaning.
#ifndef NPUFUSE_OPERATOR_H
#define NPUFUSE_OPERATOR_H

#include "apidoc/schema.h"
#include "py/project.h"

typedef enum OperatorGrad {
    GRAD_DIFFERENTIABLE, // autograd = "differentiable"
    GRAD_RAISES,         // "raises": backward is an error
    GRAD_NONE,           // "silent": the gradient is None, with a warning
} OperatorGrad;

// What a parameter is for, where a check has to know: "atten_mask: drop_mask".
// docs/rules.md lists the words.
typedef struct OperatorRole {
    Str param, role;
} OperatorRole;

typedef struct Operator {
    Module *module; // the file
    Str name;       // "npu_rms_norm"
    Str api;        // "torch_npu.npu_rms_norm"
    bool plain_torch; // module = "torch..."
    Str schema_text, summary, source, versions;
    Schema schema; // empty (no args) if `schema_text` does not parse
    VEC(Schema) overloads; // the operator's others
    OperatorGrad grad;
    Str removal; // planned for removal: what to use instead; empty: not planned
    VEC(Str) products;
    VEC(OperatorRole) roles;
    Node *limits, *golden; // FunctionDef or NULL
} Operator;

typedef struct OperatorSet {
    VEC(Operator) at; // sorted by name
    // Operators that are planned for removal, and what to use instead.
    // ops/removals.txt names those without a file of their own.
    VEC(OperatorRole) removals;
} OperatorSet;

// Every ops/*.py of `folder`; all lives in `arena` and in the project. Fails
// on a file that is not an operator's, naming file and line.
MUST_CHECK bool operators_load(OperatorSet *out, Arena *arena, Project *project,
                               const char *folder, Err *err);
// The one of the file at `path` alone.
MUST_CHECK bool operators_load_file(OperatorSet *out, Arena *arena, Project *project,
                                    const char *path, Err *err);
// The operator of the name, or NULL.
const Operator *operators_find(const OperatorSet *set, Str name);
// What to use instead of an operator that is planned for removal; else empty.
Str operators_removal(const OperatorSet *set, Str name);

#endif
