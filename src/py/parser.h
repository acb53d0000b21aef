// parser.h - Python 3.8 to 3.14 source text to a syntax tree.
#ifndef NPUFUSE_PARSER_H
#define NPUFUSE_PARSER_H

#include "base/sym.h"
#include "py/ast.h"
#include "py/source.h"

// One syntax error; the statement it is in became an N_BROKEN node.
typedef struct SyntaxFault {
    uint32_t offset;
    const char *message; // "expected ':'", in the arena
} SyntaxFault;

typedef struct ParseResult {
    Node *module; // never NULL
    SyntaxFault *faults;
    uint32_t fault_count;
    uint32_t node_count; // ids are 0 .. node_count - 1
    uint32_t marks;      // of the whole file, as FunctionNode's
    uint32_t function_count;
} ParseResult;

// Reserves the keywords; once per table, before the first parse.
void parser_init_symbols(SymTable *symbols);
// Parses the whole text. Never fails: what is not Python becomes N_BROKEN,
// up to the next statement of the same or a lower indentation. Nesting is
// bounded (PARSER_MAX_DEPTH), deeper text is a fault. All memory is in `arena`.
enum {
    PARSER_MAX_DEPTH = 1000,
    // What is parsed in a loop still makes a deep tree: terms of one a+a+...,
    // links of one a.b().c, branches of one elif chain. Whoever walks a tree
    // by recursion meets at most about the sum of the two bounds; the deepest
    // of 7,000 files of the standard library, torch and transformers is 92.
    PARSER_MAX_CHAIN = 2000,
};
ParseResult parser_parse(const SourceText *source, Arena *arena,
                         SymTable *symbols);

#endif
