// library.h - what a shared library registers, read from its bytes.
//
// Schemas stand in the library as text, because the library hands them to
// torch as text. They are found in its read-only data; nothing is loaded, and
// no code of it is looked at.
#ifndef NPUFUSE_LIBRARY_H
#define NPUFUSE_LIBRARY_H

#include "apidoc/schema.h"

enum {
    LIBRARY_MAX_SCHEMAS = 20000,         // and as many classes; more is refused,
    LIBRARY_MAX_TEXT = 16 * 1024 * 1024, // as are longer schemas together
    LIBRARY_MAX_DATA = 256 * 1024 * 1024, // of read-only data; more is refused
};

typedef struct Library {
    VEC(Schema) schemas; // sorted by name, then overload; each text once
    VEC(Str) nodes;      // autograd classes, "NpuRmsNormBackward0", sorted
} Library;

// The schemas in the 64-bit little-endian ELF file at `path`; all texts are in
// `arena`. Fails on what is no such file, or is cut.
MUST_CHECK bool library_read_file(Library *out, Arena *arena, const char *path,
                                  Err *err);
// The same of bytes that are in memory.
MUST_CHECK bool library_read(Library *out, Arena *arena, Str bytes, Err *err);
// Whether there is an autograd class for the operator. That there is none says
// nothing in a library without any.
bool library_has_backward(const Library *library, Arena *arena, Str name);

#endif
