// rule.h - rules read from rules/*.py, as graphs.
//
// A rule file is plain PyTorch. Its `reference` is read by the same frontend as
// the user's code; parameters with the default None and keyword-only flags are
// alternatives, and each combination that makes a different graph is a Spec.
#ifndef NPUFUSE_RULE_H
#define NPUFUSE_RULE_H

#include "base/err.h"
#include "flow/flow.h"

enum { RULE_MAX_PARAMS = 12, RULE_MAX_SPECS = 64 };

typedef struct Rule Rule;
typedef VEC(Str) Strings;

typedef struct RuleParam {
    const Sym *name;
    Node *fallback; // default value or NULL
    bool scalar;    // a number (has a default other than None)
    bool optional;  // default None: present or absent
    bool flag;      // keyword-only True or False
    bool text;      // a string that run time knows: an attribute or a parameter
    bool weight;    // binds what is learned or handed in, never what is computed
} RuleParam;

// One alternative of a rule's reference.
typedef struct Spec {
    Rule *rule;
    Val *pattern;   // what the reference returns, in the rules' graph
    Val *params[RULE_MAX_PARAMS]; // the pattern's V_PARAM, NULL if absent
    bool flags[RULE_MAX_PARAMS];  // values of flags
    Str variant;    // "weight", "weight+one_plus", "x+swapped"
    uint32_t size;  // operators in the pattern
    bool halves_meet; // the halves of a tensor are computed with, not joined as they are
    bool sums;     // it adds tensors, and multiplies nothing
    uint16_t mark; // an operator of it that little else has; 0: none
    uint64_t factor_ops; // ops among its root's factors or terms (as bits, see op_bit)
} Spec;

struct Rule {
    Module *module;
    Str version; // 12 hex of the SHA-256 of its file and the operator's
    Str id, family, operator_, priority, gain, title;
    Str part; // the parameter that may be a part of its last axis, or empty
    Str eager_only; // why the operator does not go into a compiled graph, or empty
    Str caution; // why a match is never a recommendation, or empty
    Str reused;  // what to say where an inner value is used elsewhere, or empty
    Strings risks;
    Strings risks_of; // "PARAMETER, PARAMETER: sentence": where one of them is present
    Strings weights; // names of parameters
    Strings within; // families: what is part of one of their matches is no match of this
    RuleParam params[RULE_MAX_PARAMS];
    uint32_t param_count;
    Node *reference, *replacement, *requires; // FunctionDef
    Spec specs[RULE_MAX_SPECS];
    uint32_t spec_count;
    // from ops/<operator>.py
    Module *op_module;
    Str api; // "torch_npu.npu_rms_norm", "torch.nn.functional.gelu"
    bool plain_torch; // of torch itself: it needs no NPU and no torch_npu
    Str op_schema, op_summary, op_source, op_autograd, op_versions;
    Node *op_limits; // FunctionDef or NULL
    // against the installed torch_npu (match/installed.h)
    Str installed; // "torch_npu 2.13.0"; empty: not compared
    Str drift;     // what of its operator differs there, in one sentence
};

typedef struct RuleSet {
    Project *project; // of the rule files
    Flow flow;
    const char *first_folder; // the bundled rules
    VEC(Rule *) rules;
    VEC(const Spec *) by_size; // of all rules, the largest first
} RuleSet;

// Reads every *.py of the folder, and the operators from ops/*.py beside it or,
// where it has none of the name, beside the first folder that was loaded.
// Everything lives in `arena` (run). Fails on a file that is not a rule, naming
// file and line.
void rules_init(RuleSet *out, Arena *arena, Project *project, const OpTable *ops);
MUST_CHECK bool rules_load(RuleSet *set, const char *folder, Err *err);

// The index of the parameter named so, or -1.
int rule_param(const Rule *rule, const Sym *name);
// What the test `p is None`, `p is not None` or a flag is under the spec: 1, 0,
// or -1 where it is no such test.
int spec_truth(const Spec *spec, const Node *test);
uint64_t op_bit(uint16_t op);
// The operators among the factors of a product or the terms of a sum, signs left
// out, as bits; 0 for other values.
uint64_t root_ops(Flow *flow, Val *root);

// The factors of a product, casts left out; x * sigmoid(x) is one silu(x).
enum { FACTORS_MAX = 24 };
typedef struct Factors {
    bool numbers; // attributes that are one number count as that number
    Val *at[FACTORS_MAX];
    uint32_t len, steps;
    double coefficient;
    bool overflow; // it has more: nothing can be said
    bool gelu;     // a GELU that was written out is one factor
    VEC(Val *) seen; // the products and casts that were opened; in scratch
} Factors;
// `depth` levels of products are opened (FACTORS_ALL: all).
enum { FACTORS_ALL = 64 };
void product_factors_to(Factors *out, Flow *flow, Val *v, int depth);
void product_factors(Factors *out, Flow *flow, Val *v);
// The same, a GELU left as it is written.
void product_factors_written(Factors *out, Flow *flow, Val *v);
// The same where self.alpha, set to one number by the constructor, is that number.
void product_factors_numbers(Factors *out, Flow *flow, Val *v);
// The same for sums; `coefficient` is the constant term.
void sum_terms_to(Factors *out, Flow *flow, Val *v, int depth);
void sum_terms(Factors *out, Flow *flow, Val *v);

#endif
