// api_check.h - what ops/ states against what an installation registers.
#ifndef NPUFUSE_API_CHECK_H
#define NPUFUSE_API_CHECK_H

#include "apidoc/book.h"
#include "base/buf.h"

// Prints a line for each operator of ops/. Returns an exit code: EXIT_NO where
// one is absent or differs; what failed is told.
int api_check(Buf *out, Arena *run, const Book *book, bool as_json);

#endif
