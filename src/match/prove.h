// prove.h - requirements: proven or refuted from the source, or left as a
// guard.
//
// A requirement is an assert of a rule's requires() or of its operator's
// limits(). Only a closed set of predicates has a prover; everything else is
// unknown and becomes a term of the emitted condition.
#ifndef NPUFUSE_PROVE_H
#define NPUFUSE_PROVE_H

#include "match/place.h"
#include "model/finding.h"

// An operator may have more parameters than a rule.
enum { REQUIREMENT_MAX_NAMES = 64 };

typedef struct Requirement {
    const Module *module; // of the rule or operator file
    Node *test;
    Str message;
    FactState state;
    bool soft; // unknown, and nothing suggests that it holds: a caution
    Str why;   // what the state rests on, for people; may be empty
    ChainLink *chain;
    int args[REQUIREMENT_MAX_NAMES]; // parameter of the rule by position in `names`
    const Sym *names[REQUIREMENT_MAX_NAMES];
    bool wrapped[REQUIREMENT_MAX_NAMES]; // given as contiguous(x)
    bool joined[REQUIREMENT_MAX_NAMES];  // one of several that torch.cat joins
    bool absent[REQUIREMENT_MAX_NAMES];  // the call leaves it out, or gives None
    bool of_operator; // of limits()
    uint32_t name_count;
} Requirement;

typedef VEC(Requirement) Requirements;

// The asserts that hold for this alternative, each tried, in the flow's scratch
// arena. `place` may have a fault; values are read from the match.
void prove_requirements(Requirements *out, const Place *place);

// The rule parameter that `name` means in the requirement, or -1.
int requirement_param(const Requirement *r, const Sym *name);

// The one size that a parameter is made with: nn.Parameter(torch.ones(size));
// NULL if it has more axes or is none.
Val *parameter_size(Flow *flow, Val *weight);

// Whether a value is certainly without gaps in memory.
bool is_contiguous(Flow *flow, Val *v);

#endif
