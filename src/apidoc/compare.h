// compare.h - where the documents and what is registered disagree.
#ifndef NPUFUSE_COMPARE_H
#define NPUFUSE_COMPARE_H

#include "apidoc/page.h"
#include "apidoc/schema.h"

typedef VEC(Str) Sentences;

// One sentence for each difference of the documented signature from the schema:
// names, arguments only one has, defaults, keyword only, number of results.
void signature_compare(Sentences *out, Arena *arena, const DocSignature *documented,
                       const Schema *registered);
// Of all pairs of a signature and a schema (overloads, texts with two forms) the
// one that differs least; nothing where either list is empty. And a text that
// seems to be another operator's.
void signatures_compare(Sentences *out, Arena *arena, const DocPage *page,
                        const Schema *schemas, uint32_t schema_count);
// Which calls a difference breaks.
typedef enum DriftScope {
    DRIFT_ANY,       // every call
    DRIFT_GIVEN,     // those that give the argument
    DRIFT_LEFT_OUT,  // those that leave it out
    DRIFT_KEYWORD,   // those that give it by keyword
    DRIFT_POSITION,  // those that give it by position
} DriftScope;

typedef struct Drift {
    Str text;
    bool breaks; // some call written for ours fails, or means something else
    DriftScope scope;
    Str arg; // by our name; empty where it is about none
} Drift;
typedef VEC(Drift) Drifts;

// What changed from `ours` to `installed`, both schemas of one operator.
void schema_compare(Drifts *out, Arena *arena, const Schema *ours,
                    const Schema *installed);

#endif
