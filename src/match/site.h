// site.h - findings that no rule can state: a loop, a constructor, a call whose
// result is another type. Each is a caution or a refusal with what is proven of
// it, never a replacement.
#ifndef NPUFUSE_SITE_H
#define NPUFUSE_SITE_H

#include "flow/flow.h"
#include "model/finding.h"

enum { SITE_FACTS_MAX = 8 };

typedef struct SiteFact {
    const char *name;
    FactState state;
    Str claim;
    Val *from;      // what shows it, or
    const Node *at; // where that stands in the site's module; both may be NULL
} SiteFact;

typedef struct Site {
    const char *family;
    const char *id;  // in place of a rule's: "moe_experts", "moe_router"
    const char *api; // the operator that stands for the rewrite
    Frame *frame; // of the function around it, or NULL
    const char *autograd; // the operator's class (ops/*.py), where there is a frame
    bool refused;    // a reject; else a caution
    Priority priority;
    Str variant;
    const Node *first, *last; // statements or expressions
    const Val *softmax; // that the site is about: no news where it is part of attention
    Str reason, gain;
    SiteFact facts[SITE_FACTS_MAX];
    uint32_t fact_count;
} Site;

typedef VEC(Site) Sites;

typedef struct NamedSite {
    Site site;
    Str qualname; // of the function or class it stands in; empty: the module
} NamedSite;

typedef VEC(NamedSite) NamedSites;

// Past the last place nothing is added.
void site_add_fact(Site *site, const char *name, FactState state, Str claim);
void site_add_fact_at(Site *site, SiteFact fact);

// The finding of a site.
void site_finding(Finding *out, Arena *run, const Site *site, const Module *module,
                  Str qualname);

#endif
