// base.c - strings by pointer and length, hashing, and the end of the world.
#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void bug_at(const char *file, int line, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "npufuse: BUG at %s:%d: ", file, line);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}

Str str_of(const char *text) {
    return text ? (Str){text, strlen(text)} : (Str){"", 0};
}

bool str_eq(Str a, Str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

bool str_is(Str a, const char *text) {
    return str_eq(a, str_of(text));
}

bool str_starts(Str a, const char *prefix) {
    size_t len = strlen(prefix);
    return a.len >= len && memcmp(a.at, prefix, len) == 0;
}

bool str_ends(Str a, const char *suffix) {
    size_t len = strlen(suffix);
    return a.len >= len && memcmp(a.at + a.len - len, suffix, len) == 0;
}

Str str_last_part(Str dotted) {
    size_t n = dotted.len;
    while (n > 0 && dotted.at[n - 1] != '.') n--;
    return (Str){dotted.at + n, dotted.len - n};
}

bool str_contains(Str a, Str part) {
    if (part.len == 0) return true;
    while (a.len >= part.len) {
        const char *hit = memchr(a.at, part.at[0], a.len - part.len + 1);
        if (!hit) return false;
        if (memcmp(hit, part.at, part.len) == 0) return true;
        a.len -= (size_t)(hit - a.at) + 1;
        a.at = hit + 1;
    }
    return false;
}

Str str_take(Str *rest, char separator) {
    const char *end = rest->len ? memchr(rest->at, separator, rest->len) : NULL;
    size_t len = end ? (size_t)(end - rest->at) : rest->len;
    Str part = {rest->at, len};
    len += end != NULL;
    *rest = (Str){rest->at + len, rest->len - len};
    return part;
}

int str_cmp(Str a, Str b) {
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len ? memcmp(a.at, b.at, len) : 0;
    if (order) return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

uint64_t hash_bytes(uint64_t seed, const void *at, size_t len) {
    const unsigned char *p = at;
    for (size_t i = 0; i < len; i++) {
        seed = (seed ^ p[i]) * UINT64_C(0x100000001b3);
    }
    return seed;
}

// The two halves of a 128-bit product, as wyhash mixes.
static uint64_t fold(uint64_t a, uint64_t b) {
    __extension__ typedef unsigned __int128 Wide;
    Wide product = (Wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash_content(Str bytes) {
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15), other = UINT64_C(0xd1b54a32d192ed03);
    uint64_t hash = odd ^ bytes.len, a, b = 0;
    size_t i = 0;
    for (; i + 16 <= bytes.len; i += 16) {
        memcpy(&a, bytes.at + i, 8);
        memcpy(&b, bytes.at + i + 8, 8);
        hash = fold(a ^ hash, b ^ other);
    }
    char tail[16] = {0};
    if (i < bytes.len) memcpy(tail, bytes.at + i, bytes.len - i);
    memcpy(&a, tail, 8);
    memcpy(&b, tail + 8, 8);
    return fold(a ^ hash ^ odd, b ^ other);
}
