// sha256.c - FIPS 180-4, section 6.2; names as there.
#include "base/base.h"

#include "base/sha256.h"

#include <stdio.h>

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n) {
    return x >> n | x << (32 - n);
}

static void make_schedule(uint32_t w[64], const uint8_t *block) {
    for (int t = 0; t < 16; t++) {
        w[t] = (uint32_t)block[t * 4] << 24 | (uint32_t)block[t * 4 + 1] << 16 |
               (uint32_t)block[t * 4 + 2] << 8 | block[t * 4 + 3];
    }
    for (int t = 16; t < 64; t++) {
        uint32_t a = w[t - 15], b = w[t - 2];
        uint32_t s0 = rotate(a, 7) ^ rotate(a, 18) ^ a >> 3;
        uint32_t s1 = rotate(b, 17) ^ rotate(b, 19) ^ b >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
}

static void add_block(Sha256 *hash, const uint8_t *block) {
    uint32_t w[64], v[8];
    make_schedule(w, block);
    memcpy(v, hash->state, sizeof(v));
    for (int t = 0; t < 64; t++) {
        uint32_t a = v[0], e = v[4];
        uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
        uint32_t choice = (e & v[5]) ^ (~e & v[6]);
        uint32_t t1 = v[7] + s1 + choice + K[t] + w[t];
        uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
        uint32_t majority = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);
        memmove(v + 1, v, sizeof(v) - sizeof(v[0]));
        v[4] += t1;
        v[0] = t1 + s0 + majority;
    }
    for (int i = 0; i < 8; i++) hash->state[i] += v[i];
}

void sha256_init(Sha256 *hash) {
    static const uint32_t start[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };
    *hash = (Sha256){0};
    memcpy(hash->state, start, sizeof(start));
}

void sha256_add(Sha256 *hash, Str data) {
    size_t held = hash->bytes % sizeof(hash->block);
    hash->bytes += data.len;
    while (data.len) {
        size_t n = sizeof(hash->block) - held;
        if (n > data.len) n = data.len;
        memcpy(hash->block + held, data.at, n);
        data = (Str){data.at + n, data.len - n};
        held += n;
        if (held < sizeof(hash->block)) return;
        add_block(hash, hash->block);
        held = 0;
    }
}

void sha256_end(Sha256 *hash, char out[SHA256_HEX + 1]) {
    uint64_t bits = hash->bytes * 8;
    sha256_add(hash, (Str){"\x80", 1});
    while (hash->bytes % sizeof(hash->block) != sizeof(hash->block) - 8) {
        sha256_add(hash, (Str){"", 1});
    }
    char length[8];
    for (int i = 0; i < 8; i++) length[i] = (char)(bits >> (56 - 8 * i));
    sha256_add(hash, (Str){length, sizeof(length)});
    for (int i = 0; i < 8; i++) {
        snprintf(out + i * 8, 9, "%08x", (unsigned)hash->state[i]);
    }
}

void sha256_hex(char out[SHA256_HEX + 1], Str data) {
    Sha256 hash;
    sha256_init(&hash);
    sha256_add(&hash, data);
    sha256_end(&hash, out);
}
