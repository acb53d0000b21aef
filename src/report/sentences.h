// sentences.h - the engine's sentences in the language of the report.
#ifndef NPUFUSE_SENTENCES_H
#define NPUFUSE_SENTENCES_H

#include "base/arena.h"
#include "report/phrases.h"

// The sentence in `lang`: translated if sentences.c has its pattern, else the
// English text itself. The result lives in `arena` or is `english`.
Str sentence(Arena *arena, Lang lang, Str english);

#endif
