// ast_dump.h - the syntax tree as text, one line a node.
//
//     body FunctionDef 3:0-4:16 name=f
//       args arguments
//       body Return 4:4-4:16
//         value Constant 4:11-4:16 str="one\n"
//
// First the field of the parent, then the kind, the first line and column and
// those behind the end, then what the node holds besides nodes. Field names are
// those of CPython's ast. Nodes without a position in CPython have none here.
// Below 50 levels the indentation stops and the depth is written instead.
#ifndef NPUFUSE_AST_DUMP_H
#define NPUFUSE_AST_DUMP_H

#include "base/buf.h"
#include "py/ast.h"
#include "py/source.h"

enum {
    // Leaves out the positions of what is inside f-strings, which CPython
    // before 3.12 gets wrong.
    AST_DUMP_NO_FSTRING_POSITIONS = 1,
};

// Appends the tree below `node` to `buf`.
void ast_dump(Buf *buf, const SourceText *source, const Node *node,
              unsigned flags);

#endif
