// clock.h - the time of day, for records; SOURCE_DATE_EPOCH makes it stand still.
#ifndef NPUFUSE_CLOCK_H
#define NPUFUSE_CLOCK_H

#include "base/base.h"

// Seconds since 1970.
int64_t clock_now(void);

#endif
