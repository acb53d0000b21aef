// fault.h - faults on demand, for the tests of interruption.
//
// Every function that changes the disk passes two points: before and after.
// In builds with NPUFUSE_FAULTS (the tests' builds) the environment says what
// happens there:
//   NPUFUSE_FAULT_AT=N      the process kills itself at its N-th point
//   NPUFUSE_FAULT_COUNT=F   the number of points so far is kept in the file F
//   NPUFUSE_FAULT_FULL=N    from the N-th write on, the disk is full
// Elsewhere these are empty.
#ifndef NPUFUSE_FAULT_H
#define NPUFUSE_FAULT_H

#include "base/base.h"

#ifdef NPUFUSE_FAULTS
void fault_point(void);
// Whether this write has to fail; errno is ENOSPC then.
bool fault_write_fails(void);
#else
static inline void fault_point(void) {}
static inline bool fault_write_fails(void) { return false; }
#endif

#endif
