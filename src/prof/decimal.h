// decimal.h - decimal text to integers, without rounding through a double.
#ifndef NPUFUSE_DECIMAL_H
#define NPUFUSE_DECIMAL_H

#include "base/base.h"

typedef enum DecimalAnswer {
    DECIMAL_OK,
    DECIMAL_NONE,     // empty, N/A, no number
    DECIMAL_NEGATIVE, // below 0
    DECIMAL_RANGE,    // does not fit
    DECIMAL_ROUNDED,  // fits, but in exponent form: digits were lost before us
} DecimalAnswer;

// A raw cell times 10^decimals, further decimals rounded: "4.1" with 3 is 4100.
// Blanks, tabs and quotes around it are skipped; ',' is a point too.
DecimalAnswer decimal_read(uint64_t *out, Str cell, uint32_t decimals);

#endif
