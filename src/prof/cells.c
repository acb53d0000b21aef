// cells.c - finds the separators of a line, 64 bytes at a time, as bits of a
// word. Where quotes are, a prefix sum of their bits tells inside from outside.
#include "base/base.h"

#include "prof/cells.h"

#define INLINE static inline __attribute__((always_inline))

// Of 64 bytes: bit i is set where byte i is the separator, or a quote.
typedef struct Masks {
    uint64_t separators, quotes;
} Masks;

typedef Masks (*FindMasks)(const char *at, char separator);

#if defined(__SSE2__)
#include <immintrin.h>

INLINE Masks masks_16(const char *at, char separator) {
    const __m128i wanted = _mm_set1_epi8(separator), quote = _mm_set1_epi8('"');
    Masks masks = {0, 0};
    for (int i = 3; i >= 0; i--) {
        __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(at + 16 * i));
        uint32_t s = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(part, wanted));
        uint32_t q = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(part, quote));
        masks.separators = masks.separators << 16 | s;
        masks.quotes = masks.quotes << 16 | q;
    }
    return masks;
}

__attribute__((target("avx2"))) INLINE Masks masks_32(const char *at, char separator) {
    const __m256i wanted = _mm256_set1_epi8(separator), quote = _mm256_set1_epi8('"');
    Masks masks = {0, 0};
    for (int i = 1; i >= 0; i--) {
        __m256i part = _mm256_loadu_si256((const __m256i *)(const void *)(at + 32 * i));
        uint32_t s = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(part, wanted));
        uint32_t q = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(part, quote));
        masks.separators = masks.separators << 32 | s;
        masks.quotes = masks.quotes << 32 | q;
    }
    return masks;
}
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>

// One bit of each of 64 bytes that are 0 or 255.
INLINE uint64_t gather_bits(const uint8x16_t same[4]) {
    static const uint8_t weights[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                        1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t bit = vld1q_u8(weights);
    uint8x16_t low = vpaddq_u8(vandq_u8(same[0], bit), vandq_u8(same[1], bit));
    uint8x16_t high = vpaddq_u8(vandq_u8(same[2], bit), vandq_u8(same[3], bit));
    uint8x16_t all = vpaddq_u8(low, high);
    all = vpaddq_u8(all, all);
    return vgetq_lane_u64(vreinterpretq_u64_u8(all), 0);
}

INLINE Masks masks_16(const char *at, char separator) {
    uint8x16_t wanted = vdupq_n_u8((uint8_t)separator), quote = vdupq_n_u8('"');
    uint8x16_t separators[4], quotes[4];
    for (int i = 0; i < 4; i++) {
        uint8x16_t part = vld1q_u8((const uint8_t *)at + 16 * i);
        separators[i] = vceqq_u8(part, wanted);
        quotes[i] = vceqq_u8(part, quote);
    }
    return (Masks){gather_bits(separators), gather_bits(quotes)};
}
#else
INLINE Masks masks_16(const char *at, char separator) {
    Masks masks = {0, 0};
    for (int i = 0; i < 64; i++) {
        masks.separators |= (uint64_t)(at[i] == separator) << i;
        masks.quotes |= (uint64_t)(at[i] == '"') << i;
    }
    return masks;
}
#endif

// Bit i: an odd number of bits at and below i is set.
INLINE uint64_t prefix_odd(uint64_t bits) {
    for (int step = 1; step < 64; step *= 2) bits ^= bits << step;
    return bits;
}

INLINE uint32_t add_places(uint32_t *out, uint32_t count, uint64_t bits,
                                  uint32_t base) {
    while (bits) {
        out[count++] = base + (uint32_t)__builtin_ctzll(bits);
        bits &= bits - 1;
    }
    return count;
}

INLINE void split(Cells *out, Str line, char separator, FindMasks find) {
    uint64_t inside = 0; // all bits: the block begins inside quotes
    uint32_t count = 0, base = 0, len = (uint32_t)line.len;
    out->too_many = false;
    for (; base < len; base += 64) {
        Masks masks = find(line.at + base, separator);
        uint64_t here = len - base >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << (len - base)) - 1;
        uint64_t quotes = masks.quotes & here, bits = masks.separators & here;
        if (quotes | inside) {
            uint64_t quoted = prefix_odd(quotes) ^ inside;
            bits &= ~quoted;
            inside = (uint64_t)((int64_t)quoted >> 63);
        }
        count = add_places(out->end, count, bits, base);
        if (count < CELLS_MAX) continue;
        out->too_many = true;
        count = CELLS_MAX - 1;
        break;
    }
    out->end[count++] = len;
    out->count = count;
    out->quote_open = inside != 0;
}

#if defined(__SSE2__)
__attribute__((target("avx2"))) static void split_32(Cells *out, Str line, char separator) {
    split(out, line, separator, masks_32);
}
#endif

void cells_split(Cells *out, Str line, char separator) {
#if defined(__SSE2__)
    if (__builtin_cpu_supports("avx2")) {
        split_32(out, line, separator);
        return;
    }
#endif
    split(out, line, separator, masks_16);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\0';
}

Str cell_strip(Str cell) {
    for (;;) {
        while (cell.len && is_blank(cell.at[0])) cell.at++, cell.len--;
        while (cell.len && is_blank(cell.at[cell.len - 1])) cell.len--;
        bool quoted = cell.len >= 2 && cell.at[0] == '"' && cell.at[cell.len - 1] == '"';
        if (!quoted) return cell;
        cell = (Str){cell.at + 1, cell.len - 2};
    }
}

Str cells_text(const Cells *cells, Str line, uint32_t index) {
    uint32_t from = index ? cells->end[index - 1] + 1 : 0;
    return cell_strip((Str){line.at + from, cells->end[index] - from});
}
