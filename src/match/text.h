// text.h - source text with parts replaced, and lines that are moved right.
//
// Texts are made by copying source and putting expressions in place of names
// and nodes, so that what the user wrote stays as written.
#ifndef NPUFUSE_TEXT_H
#define NPUFUSE_TEXT_H

#include "base/arena.h"
#include "base/buf.h"
#include "py/source.h"

typedef struct Patch { // put `text` in place of source bytes start..end
    uint32_t start, end;
    Str text;
} Patch;

typedef VEC(Patch) Patches; // in the order of their starts

void patch_add(Arena *arena, Patches *list, Patch patch);
// The source between two offsets with the patches that lie inside.
Str patched(Arena *arena, const SourceText *source, uint32_t start, uint32_t end,
            const Patches *list);
// The expression in parentheses, unless it is a name, an attribute or a number.
Str text_atom(Arena *arena, Str text);
// An expression over several lines as one line.
Str text_squeeze(Arena *arena, Str text);

// Lines at the place of a replacement.
typedef struct Lines {
    Buf buf;
    Str indent, unit, newline;
} Lines;

void put_line(Lines *out, uint32_t level, Str text);
// Source lines from..to (1-based) with their own indentation moved right.
void put_source_lines(Lines *out, const SourceText *source, uint32_t from,
                      uint32_t to, uint32_t level);
// A statement's text after substitution; its further lines move right too.
void put_statement(Lines *out, uint32_t level, Str text);
// `if cond:`, one term a line where it is long.
void put_condition(Lines *out, uint32_t level, Str cond);

Str file_newline(const SourceText *source); // "\r\n", "\n" or "\r"
Str indent_unit(const SourceText *source);  // a tab or four spaces
// Lines from..to with their ends, copied into `run`.
Str source_lines(Arena *run, const SourceText *source, uint32_t from, uint32_t to);

#endif
