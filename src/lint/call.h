// call.h - one call of an operator of torch_npu, its arguments by the names of
// the registered schema.
#ifndef NPUFUSE_CALL_H
#define NPUFUSE_CALL_H

#include "apidoc/book.h"
#include "apidoc/operator.h"
#include "flow/flow.h"

enum { CALL_MAX_ARGS = 64 };

typedef struct NpuCall {
    Frame *frame;
    const EvalRecord *record;
    Val *val;      // V_CALL
    Node *node;    // N_CALL
    Str name;      // "npu_rms_norm"
    Str api;       // as it is resolved: "torch_npu.npu_rms_norm"
    const Operator *op;   // ops/<name>.py, or NULL
    const Schema *schema; // of the installed torch_npu, else of ops/; or NULL
    bool installed;       // `schema` is the installed one's
    Val *args[CALL_MAX_ARGS]; // by position in the schema; NULL: not given
    bool open;     // *args or **kwargs: more may be given than is seen
    bool partial;  // its arguments come from a functools.partial, too
} NpuCall;

typedef struct CallBook {
    const OperatorSet *operators;
    const Book *book; // or NULL
} CallBook;

// Fills `out` if the record is such a call.
bool npu_call(NpuCall *out, Frame *frame, const EvalRecord *record, const CallBook *book);
// The parameter that has the role in ops/<name>.py ("drop_mask"); -1 if none has.
int call_role(const NpuCall *call, const char *role);
// The value of the parameter with the role; NULL where it is not given or unknown.
Val *call_role_value(const NpuCall *call, const char *role);
// Whether the parameter of the role is surely left out.
bool call_leaves_out(const NpuCall *call, const char *role);
// The expression that gives the schema's argument, or the call itself.
Node *call_arg_node(const NpuCall *call, int index);

#endif
