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
    const Module *module; // whose text the call stands in
    Val *val;      // V_CALL
    Node *node;    // N_CALL
    // The call stands in a function that the frame's one calls (NULL: in the frame
    // itself): what the caller gives is known, and `through` is its call.
    Node *through;
    Str name;      // "npu_rms_norm"
    Str overload;  // "out" of npu_x.out, "default"; empty: torch chooses
    Str api;       // as it is resolved: "torch_npu.npu_rms_norm"
    const Operator *op;   // ops/<name>.py, or NULL
    Str removal; // what to use instead, where the operator is planned for removal
    const Schema *schema; // of the installed torch_npu, else of ops/; or NULL
    bool installed;       // `schema` is the installed one's
    Str owner;            // of the schema: "torch_npu 2.7.1"
    Val *args[CALL_MAX_ARGS]; // by position in the schema; NULL: not given
    bool spreads;  // **options of a name: some arguments may be others
    bool open;     // *args or **kwargs: more may be given than is seen
    bool partial;  // its arguments come from a functools.partial, too
} NpuCall;

typedef struct CallBook {
    const OperatorSet *operators;
    const Book *book; // or NULL
} CallBook;

// Fills `out` if the record is such a call itself.
bool npu_call(NpuCall *out, Frame *frame, const EvalRecord *record, const CallBook *book);
typedef VEC(NpuCall) NpuCalls;
// What was looked at in one frame; all zero to begin with.
typedef struct CallWalk {
    Frame *frame;
    const CallBook *book;
    uint64_t *seen; // by a value's id
    uint32_t seen_len;
    NpuCalls found;
} CallWalk;
// Adds the calls in functions that the record's expression goes through, with what
// is given to them here. Records are handed in as the frame has them.
void npu_calls_through(CallWalk *walk, const EvalRecord *record);
// The parameter that has the role in ops/<name>.py ("drop_mask"); -1 if none has.
int call_role(const NpuCall *call, const char *role);
// Whether the schema's parameter has the role.
bool call_has_role(const NpuCall *call, int index, const char *role);
// The value of the parameter with the role; NULL where it is not given or unknown.
Val *call_role_value(const NpuCall *call, const char *role);
// Whether the parameter of the role is surely left out.
bool call_leaves_out(const NpuCall *call, const char *role);
// Whether a list holds what it was written with: it stands in the call, or nothing in
// the function calls a method of it, which may be append().
bool call_keeps_list(const NpuCall *call, const Val *list);
// The expression that gives the schema's argument, or the call itself.
Node *call_arg_node(const NpuCall *call, int index);

#endif
