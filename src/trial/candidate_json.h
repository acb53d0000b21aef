// candidate_json.h - members that arm.json and the spec of a unit check share:
// both tell the Python runtime of a candidate's operator and its inputs.
#ifndef NPUFUSE_CANDIDATE_JSON_H
#define NPUFUSE_CANDIDATE_JSON_H

#include "model/finding.h"
#include "model/json.h"

// "module", "operator" and "predicate" of an api such as torch_npu.npu_rms_norm.
void operator_write(Json *json, Str api);
// The array `name` of {"name", "expr"}.
void ports_write(Json *json, const char *name, const Port *at, uint32_t count);
// The array "ops": folders of operator files.
void ops_write(Json *json, const char *const *ops, uint32_t count);

#endif
