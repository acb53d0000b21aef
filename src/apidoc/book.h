// book.h - all that one installation says of its operators: texts and what is
// registered.
#ifndef NPUFUSE_BOOK_H
#define NPUFUSE_BOOK_H

#include "apidoc/install.h"
#include "apidoc/library.h"

typedef struct Book { // forward declared by match/scan.h
    Install install;
    Docs docs;              // empty where the installation has none
    Library library;        // sorted by name; empty where it was not read
    Str docs_fault, library_fault; // why a part is empty that could be there
} Book;

// Opens what the installation has. With `cache`, what was read from a library
// once is not read again. Fails where neither part can be had.
MUST_CHECK bool book_open(Book *out, Arena *arena, const Install *install, bool cache,
                          Err *err);
// The index of the first schema of the name (its overloads follow each other),
// or library.schemas.len.
uint32_t book_first(const Book *book, Str name);
// "torch_npu 2.13.0", or "torch_npu" where its version is not known.
Str book_title(Arena *arena, const Book *book);
// Whether the library was read, so that an operator that is not in it is absent.
bool book_has_library(const Book *book);

#endif
