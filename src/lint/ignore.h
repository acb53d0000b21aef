// ignore.h - comments that silence a check at one call:
//   x = npu_x(...)  # npufuse: ignore[scale-left-out] reason=q is scaled above
#ifndef NPUFUSE_IGNORE_H
#define NPUFUSE_IGNORE_H

#include "py/project.h"

typedef struct Ignore {
    uint32_t line, offset; // of the '#'
    Str checks;            // between the brackets
    bool has_reason, used;
} Ignore;

typedef struct Ignores {
    VEC(Ignore) at; // by line
} Ignores;

// The comments of a module; nothing in a string is one.
void ignores_read(Ignores *out, Arena *arena, const Module *m);
// Whether one on a line of the node, or on the line before it, names the check; it is
// used then.
bool ignores_silence(Ignores *ignores, const Module *m, const Node *node, const char *check);

#endif
