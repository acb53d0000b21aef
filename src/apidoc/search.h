// search.h - entries by words, and names near to one that does not exist.
#ifndef NPUFUSE_SEARCH_H
#define NPUFUSE_SEARCH_H

#include "apidoc/page.h"

typedef struct SearchHit {
    const DocEntry *entry; // NULL: registered without a text
    Str name;
    uint32_t score; // words found in the name count most, then the summary
} SearchHit;
typedef VEC(SearchHit) SearchHits;

typedef VEC(Str) Names;

// What has every word (ASCII letters in any case) in its name or text, best
// first, equal scores by name. `registered` are further names.
void search_docs(SearchHits *out, Arena *arena, const Docs *docs, const Names *registered,
                 const Names *words);
// What has some of the words, each as a whole word of its name or summary, best first:
// those with more of `words`, then of `lesser`, then the shorter name. Words are in
// lower case, such as "layer_norm"; nothing is found by `lesser` alone.
void search_some(SearchHits *out, Arena *arena, const Docs *docs, const Names *words,
                 const Names *lesser);
// At most five names that `name` may have meant, nearest first: part of one
// another, or a few letters apart.
void search_near(Names *out, Arena *arena, const Names *names, Str name);
// The first line that says what the operator does; empty if there is none.
Str search_summary(Arena *arena, const DocEntry *entry);

#endif
