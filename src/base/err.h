// err.h - faults of the world (a file, an option, a child process).
//
// A function that can fail returns false and fills its last parameter. The
// text is written where the fault happens, once: lower case, no full stop,
// what failed, subject in single quotes. Only the cli adds a prefix.
#ifndef NPUFUSE_ERR_H
#define NPUFUSE_ERR_H

#include "base/base.h"

typedef struct Err {
    char text[512];
} Err;

// Fills `err` and returns false, so that `return err_set(...)` reads well.
bool err_set(Err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
