// decode.h - the bytes of a Python file to UTF-8 (PEP 263).
#ifndef NPUFUSE_DECODE_H
#define NPUFUSE_DECODE_H

#include "base/arena.h"
#include "base/err.h"

// `text` is a part of `bytes` where these are UTF-8, else a copy in `arena`.
// `bytes` is NUL terminated, as file_read leaves it.
MUST_CHECK bool decode_source(Str *text, uint32_t *bom_bytes, Arena *arena,
                              Str bytes, Err *err);

// Whether the file is UTF-8 by its mark, its cookie or, without either, by
// default. What it holds is not looked at.
bool decode_is_utf8(Str bytes);

#endif
