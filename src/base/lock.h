// lock.h - one process at a time.
#ifndef NPUFUSE_LOCK_H
#define NPUFUSE_LOCK_H

#include "base/err.h"

typedef struct Lock {
    int fd; // -1: not held
} Lock;

// Takes the lock file `path` (made if absent) until lock_free or the end of
// the process, however it ends. The message names the process that holds it.
MUST_CHECK bool lock_take(Lock *lock, const char *path, Err *err);
void lock_free(Lock *lock);

#endif
