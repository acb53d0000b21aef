// package.h - versions by the small text files that installers leave.
#ifndef NPUFUSE_PACKAGE_H
#define NPUFUSE_PACKAGE_H

#include "base/arena.h"

// The text of a file of at most 1 MB; empty if it cannot be read.
Str text_small(Arena *arena, const char *path);
// The value of a line "key: value", "key=value" or "key=[1:value]"; `key` in any
// case. The first such line counts; empty if there is none.
Str text_value(Str text, const char *key);
// The version of `package` in a folder of packages: of its .dist-info, else of
// its version.py; empty if it is not there.
Str package_version(Arena *arena, Str folder, const char *package);

#endif
