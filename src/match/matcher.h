// matcher.h - graph against graph: does a value compute a rule's pattern?
#ifndef NPUFUSE_MATCHER_H
#define NPUFUSE_MATCHER_H

#include "match/attend.h"
#include "match/rule.h"

enum { DEFAULTS_MAX = 4, BRANCHES_MAX = 4 };

// An attribute or parameter that stands for a number of the pattern: it is that
// by default, and is tested at run time.
typedef struct DefaultNumber {
    Val *subject;
    double num;
    bool axes; // the subject is a tuple of axes, which has to hold this one alone
} DefaultNumber;

typedef struct Match {
    const Spec *spec;
    Flow *flow; // of the user's graph
    Val *bound[RULE_MAX_PARAMS]; // casts stripped for tensors
    VEC(Val *) seen; // the user's values that are part of the computation;
                     // in the flow's scratch
    bool keeps_views; // its place leaves statements of views and casts as they are
    bool halves;     // two equal parts of one tensor were matched
    // self.scale = size ** 0.5 stands for the root of the last axis' size.
    Val *size, *size_root;
    Val *cut_tensor, *cut_at; // x[..., :d] and x[..., d:]: where it is cut
    DefaultNumber defaults[DEFAULTS_MAX];
    uint32_t default_count;
    // The last axis was written as this number: x has one axis more. 0: it was not.
    uint32_t last_axis;
    Branch choices[BRANCHES_MAX]; // arms of choices that were taken, as terms of the guard
    uint32_t choice_count;
    const Attend *attend; // of attention: what was read off the values; else NULL
    uint32_t steps;  // values compared
    // The furthest difference met, for explanations.
    uint32_t best_seen;
    const Val *want, *got;
    const Val *had; // what the parameter `want` stood for before, or NULL
} Match;

// Whether `u` (casts stripped) is the pattern of the spec. On success `bound`
// and `seen` are filled; on failure `want` and `got` are the first difference
// of the furthest attempt, and `best_seen` how far it came.
bool match_value(Match *out, Flow *flow, const Spec *spec, Val *u);

// y of y[..., None].flatten(k), which is y where that has k + 1 axes; NULL: of
// another value.
Val *below_flat(const Val *v);

// What a rule of attention binds to the argument of the summary (ATTEND_QUERY ...).
Val *attend_input(const Match *match, int arg);

// Whether the computation of `v` contains `part` (casts stripped).
bool val_depends(const Val *v, const Val *part);

enum { ASSUMPTIONS_MAX = 16 };
// What the match rests on, of each subject once; returns how many there are.
uint32_t match_assumptions(const Frame *f, const Match *match,
                           const Assumption *out[ASSUMPTIONS_MAX]);

#endif
