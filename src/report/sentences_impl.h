// sentences_impl.h - the tables of sentences.c; nobody else includes it.
//
// A pattern is an English sentence in which `*` stands for any text and `@` for
// an expression, a text without blanks outside of brackets; the n-th of them is
// `{n}` of the translation.
#ifndef NPUFUSE_SENTENCES_IMPL_H
#define NPUFUSE_SENTENCES_IMPL_H

#include "base/arena.h"

typedef struct Translation {
    const char *english, *chinese;
} Translation;

extern const Translation sentences_match[];
extern const size_t sentences_match_count;

#endif
