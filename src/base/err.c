// err.c - the text of a fault.
#include "base/base.h"

#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

bool err_set(Err *err, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(err->text, sizeof(err->text), fmt, args);
    va_end(args);
    return false;
}
