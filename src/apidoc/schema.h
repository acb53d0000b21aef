// schema.h - a registered operator schema, as torch prints it, in parts:
//   npu_rms_norm(Tensor input, Tensor gamma, float epsilon=1e-06) -> (Tensor, Tensor)
// Source of the grammar: torch's aten/src/ATen/native/README.md, "func".
#ifndef NPUFUSE_SCHEMA_H
#define NPUFUSE_SCHEMA_H

#include "base/arena.h"
#include "base/err.h"

enum {
    SCHEMA_MAX_BYTES = 16 * 1024, // a longer text is no schema
    SCHEMA_MAX_ARGS = 1000,       // nor is one with more arguments, or results
};

typedef struct SchemaArg {
    Str type;     // "Tensor", "Tensor?", "int[]?", "Tensor(a!)"; alias set kept
    Str name;     // the call name
    Str fallback; // the default as written: "1e-06", "None", "'half'"
    bool has_fallback;
    bool keyword_only; // behind the bare '*'
    bool mutated;      // an alias set with '!': written in place
} SchemaArg;

typedef struct Schema {
    Str text; // as it was given, without blanks around it
    Str space;    // "npu" of "npu::npu_x(", empty where there is none
    Str name;     // "npu_rms_norm"
    Str overload; // "out" of "npu_x.out(", empty for the base
    VEC(SchemaArg) args;
    VEC(Str) returns; // types; empty for "()"
} Schema;

// Parts of `text`; they point into it. Fails, saying what was expected, on
// anything that is not one whole schema.
MUST_CHECK bool schema_parse(Schema *out, Arena *arena, Str text, Err *err);
// The argument of the name, or NULL.
const SchemaArg *schema_arg(const Schema *schema, Str name);

#endif
