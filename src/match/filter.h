// filter.h - which functions are worth reading.
//
// A rule whose root is a product needs a product, and its rarest operator (the
// anchor) in one of its spellings: written in the function, or in a function
// that it calls. A callee that is not known counts as any operator. A rule without
// a product needs all its operators, not only one, and nearer by. The filter
// may let too much through, never too little: a scan without it finds the same.
#ifndef NPUFUSE_FILTER_H
#define NPUFUSE_FILTER_H

#include "match/rule.h"

enum { FILTER_ROOTED_MAX = 16 };

typedef struct Filter {
    const RuleSet *rules;
    uint32_t rooted[FILTER_ROOTED_MAX]; // of each rule without a product: all it needs
    uint32_t rooted_count;
    uint32_t mark_of_op[OP_COUNT], marked_ops; // 0: not given yet
    uint32_t fused;   // the mark of torch_npu
    uint32_t training; // of the names that training.c looks for
    uint32_t signals; // of those that signals.c looks for
    bool rows;        // a rule has pairs as rows and no anchor: their shape is looked for
    bool open;        // a rule has no product or no anchor: no filtering
} Filter;

// Marks the names in the symbol table; before any user's file is parsed.
void filter_init(Filter *out, const RuleSet *rules, SymTable *symbols);

// For one module: says for each function whether it may hold a match.
typedef struct FilterModule FilterModule;
FilterModule *filter_module(const Filter *filter, Arena *arena, Module *module);
// `owner` is the class of a method, or NULL.
bool filter_passes(FilterModule *fm, Node *fn, const Def *owner);
// Whether any function of the module may pass, without looking closer.
bool filter_may_pass(const Filter *filter, const Module *module);

#endif
