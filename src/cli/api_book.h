// api_book.h - the installation that the options and the environment name.
#ifndef NPUFUSE_API_BOOK_H
#define NPUFUSE_API_BOOK_H

#include "apidoc/book.h"

typedef struct BookChoice {
    const char *python;    // --python; NULL: of the environment
    const char *docs_path; // --docs-path; NULL: the installed torch_npu
    bool no_cache;
} BookChoice;

// Where it is. Fails with what was searched in the message.
MUST_CHECK bool api_find(Install *out, Arena *arena, const BookChoice *choice, Err *err);
// Finds and opens it.
MUST_CHECK bool api_open(Book *out, Arena *arena, const BookChoice *choice, Err *err);

// The installed one, or NULL where there is none. One that cannot be read is told
// on stderr and counts as none.
const Book *api_installed(Arena *arena, const char *python);

#endif
