// wheel.h - the parts of a torch_npu that was not unpacked.
#ifndef NPUFUSE_WHEEL_H
#define NPUFUSE_WHEEL_H

#include "apidoc/docs.h"
#include "apidoc/library.h"

// The texts in the wheel at `path`. Fails, saying why, where there are none.
MUST_CHECK bool wheel_docs(Docs *out, Arena *arena, const char *path, Err *err);
// What its libtorch_npu.so registers; read from the cache where `cache` allows
// and it is there.
MUST_CHECK bool wheel_library(Library *out, Arena *arena, const char *path, bool cache,
                              Err *err);

#endif
