// diff.h - what one set of candidates changes against another, as a unified
// diff that patch(1) and git take.
#ifndef NPUFUSE_DIFF_H
#define NPUFUSE_DIFF_H

#include "base/buf.h"
#include "patch/edits.h"

// From `before` to `after`, two renderings of one pristine file; nothing where
// they are equal. `file` is the path below the root.
void diff_write(Buf *out, Str file, const Edits *before, const Edits *after);

#endif
