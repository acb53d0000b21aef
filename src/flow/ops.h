// ops.h - the operator table: from a spelling to an operator and its
// parameters.
#ifndef NPUFUSE_OPS_H
#define NPUFUSE_OPS_H

#include "flow/val.h"

enum { OP_MAX_PARAMS = 8 };

typedef struct OpParam {
    Str name;
    Str fallback; // the default as Python text; empty: required
    bool rest;    // takes all further positional arguments as one tuple
} OpParam;

typedef struct OpInfo {
    Op op;
    OpParam params[OP_MAX_PARAMS];
    uint32_t param_count;
} OpInfo;

typedef struct OpSpelling {
    Str text;
    const OpInfo *info;
} OpSpelling;

// Run lifetime, read only after ops_init.
typedef struct OpTable {
    OpInfo infos[OP_COUNT];
    OpSpelling *slots; // hash of spellings, methods with their dot
    uint32_t cap;
} OpTable;

void ops_init(OpTable *table, Arena *arena);
// The operator of a dotted name ("torch.mean") or method (".mean"); or NULL.
const OpInfo *ops_find(const OpTable *table, Str spelling);
// Fills `out` with one Val per parameter (defaults where nothing is given).
// False if the arguments do not fit, or a star makes them unknown.
bool ops_bind(Val **out, Graph *g, const OpInfo *info, Val *const *args,
              uint32_t nargs);

#endif
