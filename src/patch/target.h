// target.h - which files may be written: those of the scanned project itself.
#ifndef NPUFUSE_TARGET_H
#define NPUFUSE_TARGET_H

#include "base/arena.h"
#include "base/err.h"

// The real path of `file`, which findings name relative to `root`; links are
// followed. Fails for a name that leaves the root, as it is written or through
// links, for a file inside installed packages, and for what is no regular file.
MUST_CHECK bool target_path(const char **out, Arena *arena, Str root, Str file, Err *err);

#endif
