// sha256.h - SHA-256 (FIPS 180-4), for telling whether a text is the one that
// was shown.
#ifndef NPUFUSE_SHA256_H
#define NPUFUSE_SHA256_H

#include "base/base.h"

enum { SHA256_HEX = 64 };

typedef struct Sha256 {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[64]; // the part of a block that is not hashed yet
} Sha256;

void sha256_init(Sha256 *hash);
void sha256_add(Sha256 *hash, Str data);
// 64 lower case digits and a NUL; `hash` is used up.
void sha256_end(Sha256 *hash, char out[SHA256_HEX + 1]);
void sha256_hex(char out[SHA256_HEX + 1], Str data);

#endif
