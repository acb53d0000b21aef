// buf.c - the growing text buffer.
#include "base/base.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

static void reserve(Buf *buf, size_t more) {
    if (more > SIZE_MAX / 4 || buf->len > SIZE_MAX / 4) goto fail;
    size_t need = buf->len + more + 1;
    if (need <= buf->cap) return;
    size_t cap = buf->cap ? buf->cap : 256;
    while (cap < need) cap *= 2;
    char *at = realloc(buf->at, cap);
    if (!at) goto fail;
    buf->at = at;
    buf->cap = cap;
    return;
fail:
    fprintf(stderr, "npufuse: out of memory (%zu bytes)\n", more);
    exit(4);
}

void buf_free(Buf *buf) {
    free(buf->at);
    *buf = (Buf){0};
}

void buf_clear(Buf *buf) {
    buf->len = 0;
    if (buf->at) buf->at[0] = 0;
}

void buf_add(Buf *buf, Str s) {
    reserve(buf, s.len);
    if (s.len) memcpy(buf->at + buf->len, s.at, s.len);
    buf->len += s.len;
    buf->at[buf->len] = 0;
}

void buf_add_char(Buf *buf, char c) {
    buf_add(buf, (Str){&c, 1});
}

void buf_addf(Buf *buf, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    buf_addv(buf, fmt, args);
    va_end(args);
}

void buf_addv(Buf *buf, const char *fmt, va_list args) {
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    if (len < 0) BUG("bad format '%s'", fmt);
    reserve(buf, (size_t)len);
    vsnprintf(buf->at + buf->len, (size_t)len + 1, fmt, again);
    buf->len += (size_t)len;
    va_end(again);
}

Str buf_str(const Buf *buf) {
    return (Str){buf->at ? buf->at : "", buf->len};
}
