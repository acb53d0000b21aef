// candidate_json.c - see candidate_json.h.
#include "base/base.h"

#include "trial/candidate_json.h"

void operator_write(Json *json, Str api) {
    size_t dot = api.len;
    while (dot > 0 && api.at[dot - 1] != '.') dot--;
    json_add_str(json, "module", (Str){api.at, dot ? dot - 1 : 0});
    json_add_str(json, "operator", (Str){api.at + dot, api.len - dot});
    json_add_word(json, "predicate", "npu_fused_ready");
}

void ports_write(Json *json, const char *name, const Port *at, uint32_t count) {
    json_key(json, name);
    json_array(json, JSON_BLOCK);
    for (uint32_t i = 0; i < count; i++) {
        json_object(json, JSON_LINE);
        json_add_str(json, "name", at[i].name);
        json_add_str(json, "expr", at[i].expr);
        json_end(json);
    }
    json_end(json);
}

void ops_write(Json *json, const char *const *ops, uint32_t count) {
    json_key(json, "ops");
    json_array(json, JSON_LINE);
    for (uint32_t i = 0; i < count; i++) json_str(json, str_of(ops[i]));
    json_end(json);
}
