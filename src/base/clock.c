// clock.c - see clock.h.
#include "base/base.h"

#include "base/clock.h"

#include <stdlib.h>
#include <time.h>

int64_t clock_now(void) {
    const char *fixed = getenv("SOURCE_DATE_EPOCH");
    char *end = NULL;
    long long seconds = fixed && *fixed ? strtoll(fixed, &end, 10) : 0;
    return end && !*end && seconds >= 0 ? seconds : (int64_t)time(NULL);
}
