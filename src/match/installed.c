// installed.c - an operator that is written from what ops/ states must exist in
// the torch_npu it will run with, with arguments that mean the same.
#include "base/base.h"

#include "match/installed.h"

#include "match/rule_call.h"

static uint32_t breaking(const Drifts *drifts) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < drifts->len; i++) n += drifts->at[i].breaks;
    return n;
}

// Whether what we state of training is what the library has. One that has no
// autograd class at all was not read right, and says nothing.
static void compare_autograd(Drifts *out, Arena *arena, const Library *library, Str name,
                             bool differentiable) {
    if (!library->nodes.len) return;
    bool has = library_has_backward(library, arena, name);
    if (has == differentiable) return;
    Drift drift = {.text = differentiable
                               ? STR("it has no autograd class of its name: whether it can be "
                                     "trained through is not known")
                               : STR("it has an autograd class here"),
                   .breaks = differentiable};
    vec_push(arena, out, drift);
}

void operator_drift(Drifts *out, Arena *arena, const Book *book, const Schema *ours,
                    bool differentiable) {
    const Library *library = &book->library;
    uint32_t first = book_first(book, ours->name);
    *out = (Drifts){0};
    if (first == library->schemas.len) {
        vec_push(arena, out, ((Drift){.text = STR("it is not registered"), .breaks = true}));
        return;
    }
    // Of the overloads the one that differs least is the one that is called.
    for (uint32_t i = first; i < library->schemas.len; i++) {
        Drifts found;
        if (!str_eq(library->schemas.at[i].name, ours->name)) break;
        schema_compare(&found, arena, ours, &library->schemas.at[i]);
        bool better = breaking(&found) < breaking(out) ||
                      (breaking(&found) == breaking(out) && found.len < out->len);
        if (i == first || better) *out = found;
    }
    compare_autograd(out, arena, library, ours->name, differentiable);
}

// Whether the difference breaks a call that the rule writes.
static bool matters(const Rule *rule, const Schema *ours, const Drift *drift) {
    if (!drift->breaks || drift->scope == DRIFT_ANY) return drift->breaks;
    RuleArgUse use = rule_arg_use(rule, ours, drift->arg);
    switch (drift->scope) {
    case DRIFT_GIVEN: return use.given;
    case DRIFT_LEFT_OUT: return use.left_out;
    case DRIFT_KEYWORD: return use.keyword;
    case DRIFT_POSITION: return use.position;
    case DRIFT_ANY: break;
    }
    return true;
}

// The breaking differences in one sentence; empty if there are none.
static Str sentence(Arena *arena, const Drifts *drifts, Str version, Str name) {
    Str text = STR("");
    for (uint32_t i = 0; i < drifts->len; i++) {
        if (!drifts->at[i].breaks) continue;
        text = text.len ? arena_printf(arena, "%.*s; %.*s", STR_FMT(text),
                                       STR_FMT(drifts->at[i].text))
                        : arena_printf(arena, "in the installed %.*s, %.*s differs: %.*s",
                                       STR_FMT(version), STR_FMT(name),
                                       STR_FMT(drifts->at[i].text));
    }
    return text;
}

void rules_check_installed(RuleSet *set, const Book *book) {
    Arena *arena = set->flow.arena;
    if (!book || !book_has_library(book)) return;
    Str version = book_title(arena, book);
    for (uint32_t i = 0; i < set->rules.len; i++) {
        Rule *rule = set->rules.at[i];
        Schema ours;
        Drifts drifts;
        Err ignored;
        if (rule->plain_torch || !rule->op_schema.len) continue;
        if (!schema_parse(&ours, arena, rule->op_schema, &ignored)) continue;
        bool trains = str_is(rule->op_autograd, "differentiable");
        operator_drift(&drifts, arena, book, &ours, trains);
        for (uint32_t k = 0; k < drifts.len; k++) {
            drifts.at[k].breaks = matters(rule, &ours, &drifts.at[k]);
        }
        rule->installed = version;
        rule->drift = sentence(arena, &drifts, version, rule->operator_);
    }
}
