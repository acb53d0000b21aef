// cache.h - what was read from a large file once, kept beside the user's other
// caches. Safe to delete; a damaged one is read past and written anew.
#ifndef NPUFUSE_CACHE_H
#define NPUFUSE_CACHE_H

#include "apidoc/library.h"

// The library of the file at `path` (a wheel), if it was kept and the file is the
// same since: place, size, time and inode. False where there is nothing to use.
MUST_CHECK bool cache_read(Library *out, Arena *arena, const char *path);
// Keeps it. That it cannot be kept is no error.
void cache_write(const Library *library, Arena *arena, const char *path);

#endif
