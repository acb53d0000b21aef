// buf.h - a growing text buffer for output.
#ifndef NPUFUSE_BUF_H
#define NPUFUSE_BUF_H

#include "base/base.h"

#include <stdarg.h>

typedef struct Buf {
    char *at; // always NUL terminated once something was added
    size_t len, cap;
} Buf;

void buf_free(Buf *buf);
void buf_clear(Buf *buf);
void buf_add(Buf *buf, Str s);
void buf_add_char(Buf *buf, char c);
void buf_addf(Buf *buf, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_addv(Buf *buf, const char *fmt, va_list args) PRINTF_LIKE(2, 0);
Str buf_str(const Buf *buf);

#endif
