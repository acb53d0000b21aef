// sha256.c - FIPS 180-4, section 6.2; names as there. Processors that have
// instructions for it hash ten times as fast with them.
#include "base/base.h"

#include "base/sha256.h"

#include <stdatomic.h>
#include <stdio.h>
#if defined(__x86_64__) && defined(__GNUC__)
#define FAST_TARGET "sha,sse4.1,ssse3"
#include <cpuid.h>
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__linux__) && defined(__GNUC__)
#ifdef __clang__
#define FAST_TARGET "crypto"
#else
#define FAST_TARGET "+crypto"
#endif
#include <arm_neon.h>
#include <sys/auxv.h>
#endif

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

static void add_block(uint32_t state[8], const uint8_t *block) {
    uint32_t w[64];
    make_schedule(w, block);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int t = 0; t < 64; t++) {
        uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
        uint32_t choice = (e & f) ^ (~e & g);
        uint32_t t1 = h + s1 + choice + K[t] + w[t];
        uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
        uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + s0 + majority;
    }
    const uint32_t added[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++) state[i] += added[i];
}

static void add_blocks(uint32_t state[8], const uint8_t *at, size_t count) {
    for (; count; count--, at += 64) add_block(state, at);
}

#if defined(__x86_64__) && defined(FAST_TARGET)
static bool has_instructions(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 19 & 1)) return false; // SSE 4.1
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);     // SHA
}

// Four words of the schedule and four rounds in an instruction or two. The state is
// held as ABEF and CDGH.
__attribute__((target(FAST_TARGET)))
static void add_blocks_fast(uint32_t state[8], const uint8_t *at, size_t count) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i dcba = _mm_loadu_si128((const __m128i *)state);
    __m128i hgfe = _mm_loadu_si128((const __m128i *)(state + 4));
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xB1), efgh = _mm_shuffle_epi32(hgfe, 0x1B);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);
    for (; count; count--, at += 64) {
        __m128i before[2] = {abef, cdgh}, w[4];
        for (int i = 0; i < 16; i++) {
            __m128i next;
            if (i < 4) {
                next = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)at + i), swap);
            } else { // w[t - 16] + s0(w[t - 15]) + w[t - 7] + s1(w[t - 2])
                const __m128i *last = &w[(i + 3) & 3], *third = &w[(i + 2) & 3];
                next = _mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]);
                next = _mm_add_epi32(next, _mm_alignr_epi8(*last, *third, 4));
                next = _mm_sha256msg2_epu32(next, *last);
            }
            w[i & 3] = next;
            __m128i k = _mm_add_epi32(next, _mm_loadu_si128((const __m128i *)K + i));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, k);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(k, 0x0E));
        }
        abef = _mm_add_epi32(abef, before[0]);
        cdgh = _mm_add_epi32(cdgh, before[1]);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#elif defined(FAST_TARGET)
static bool has_instructions(void) {
    const unsigned long sha2 = 1 << 6; // HWCAP_SHA2
    return getauxval(AT_HWCAP) & sha2;
}

__attribute__((target(FAST_TARGET)))
static void add_blocks_fast(uint32_t state[8], const uint8_t *at, size_t count) {
    uint32x4_t abcd = vld1q_u32(state), efgh = vld1q_u32(state + 4);
    for (; count; count--, at += 64) {
        uint32x4_t before[2] = {abcd, efgh}, w[4];
        for (int i = 0; i < 16; i++) {
            uint32x4_t next;
            if (i < 4) {
                next = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(at + i * 16)));
            } else {
                next = vsha256su0q_u32(w[i & 3], w[(i + 1) & 3]);
                next = vsha256su1q_u32(next, w[(i + 2) & 3], w[(i + 3) & 3]);
            }
            w[i & 3] = next;
            uint32x4_t k = vaddq_u32(next, vld1q_u32(K + i * 4)), old = abcd;
            abcd = vsha256hq_u32(abcd, efgh, k);
            efgh = vsha256h2q_u32(efgh, old, k);
        }
        abcd = vaddq_u32(abcd, before[0]);
        efgh = vaddq_u32(efgh, before[1]);
    }
    vst1q_u32(state, abcd);
    vst1q_u32(state + 4, efgh);
}
#endif

#ifdef FAST_TARGET
// Asked once: the question itself takes longer than a block.
static bool may_hash_fast(void) {
    static atomic_int answer; // plus 1; 0: not asked yet
    if (!answer) answer = 1 + has_instructions();
    return answer == 2;
}
#endif

static void hash_blocks(uint32_t state[8], const uint8_t *at, size_t count) {
#ifdef FAST_TARGET
    if (may_hash_fast()) {
        add_blocks_fast(state, at, count);
        return;
    }
#endif
    add_blocks(state, at, count);
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
    if (held) {
        size_t n = sizeof(hash->block) - held;
        if (n > data.len) n = data.len;
        memcpy(hash->block + held, data.at, n);
        data = (Str){data.at + n, data.len - n};
        if (held + n < sizeof(hash->block)) return;
        hash_blocks(hash->state, hash->block, 1);
    }
    size_t whole = data.len / sizeof(hash->block);
    if (whole) hash_blocks(hash->state, (const uint8_t *)data.at, whole);
    size_t done = whole * sizeof(hash->block);
    if (data.len > done) memcpy(hash->block, data.at + done, data.len - done);
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
