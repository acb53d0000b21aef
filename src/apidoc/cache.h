// cache.h - what was read from a large file once, kept beside the user's other
// caches. Safe to delete; a damaged one is read past and written anew.
#ifndef NPUFUSE_CACHE_H
#define NPUFUSE_CACHE_H

#include "apidoc/library.h"

// What a file is known by: its place, size, time and inode as they are now.
// Empty where there is no such file. Ask before reading it: what changes while
// it is read is then not kept under its new name.
Str cache_identity(Arena *arena, const char *path);
// The library of the file (a wheel), if it was kept. False where there is
// nothing to use.
MUST_CHECK bool cache_read(Library *out, Arena *arena, Str identity);
// Keeps it. That it cannot be kept is no error.
void cache_write(const Library *library, Arena *arena, Str identity);

#endif
