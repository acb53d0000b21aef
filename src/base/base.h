// base.h - what every file includes first: integer types, strings by pointer
// and length, attributes, and BUG for our own mistakes.
#ifndef NPUFUSE_BASE_H
#define NPUFUSE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define NORETURN __attribute__((noreturn))
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

// Reports a mistake of ours and aborts, in release builds too.
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
NORETURN void bug_at(const char *file, int line, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

// A borrowed run of bytes: not terminated, may hold NUL.
typedef struct Str {
    const char *at;
    size_t len;
} Str;

#define STR(literal) ((Str){("" literal), sizeof(literal) - 1})
#define STR_FMT(s) (int)(s).len, (s).at // for "%.*s"

// A Str over a NUL terminated string; NULL gives the empty Str.
Str str_of(const char *text);
bool str_eq(Str a, Str b);
bool str_is(Str a, const char *text);
bool str_starts(Str a, const char *prefix);
bool str_ends(Str a, const char *suffix);
// `gelu` of `torch.nn.functional.gelu`.
Str str_last_part(Str dotted);
bool str_contains(Str a, Str part);
// Takes the part before `separator`, or all, off the front of *rest; the
// separator goes with it.
Str str_take(Str *rest, char separator);
// Bytewise order, as qsort wants it.
int str_cmp(Str a, Str b);
// 64-bit FNV-1a; `seed` chains calls (start with HASH_SEED).
#define HASH_SEED UINT64_C(0xcbf29ce484222325)
uint64_t hash_bytes(uint64_t seed, const void *at, size_t len);
// A faster one, for whole files: eight bytes at a time. Not for what an attacker
// gains by a collision.
uint64_t hash_content(Str bytes);

#endif
