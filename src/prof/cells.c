// cells.c - finds the separators of a line, 64 bytes at a time, as bits of a
// word. Where quotes are, a prefix sum of their bits tells inside from outside.
#include "base/base.h"

#include "prof/cells.h"

#if defined(__SSE2__)
#include <emmintrin.h>

typedef struct Block {
    __m128i part[4];
} Block;

static inline Block load(const char *at) {
    const __m128i *from = (const __m128i *)(const void *)at;
    return (Block){{_mm_loadu_si128(from), _mm_loadu_si128(from + 1),
                    _mm_loadu_si128(from + 2), _mm_loadu_si128(from + 3)}};
}

// Bit i: byte i is `c`.
static inline uint64_t find_bytes(const Block *block, char c) {
    __m128i wanted = _mm_set1_epi8(c);
    uint64_t bits = 0;
    for (int i = 3; i >= 0; i--) {
        __m128i same = _mm_cmpeq_epi8(block->part[i], wanted);
        bits = bits << 16 | (uint32_t)_mm_movemask_epi8(same);
    }
    return bits;
}
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>

typedef struct Block {
    uint8x16_t part[4];
} Block;

static inline Block load(const char *at) {
    const uint8_t *from = (const uint8_t *)at;
    return (Block){{vld1q_u8(from), vld1q_u8(from + 16), vld1q_u8(from + 32),
                    vld1q_u8(from + 48)}};
}

static inline uint64_t find_bytes(const Block *block, char c) {
    static const uint8_t weights[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                        1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t wanted = vdupq_n_u8((uint8_t)c), bit = vld1q_u8(weights);
    uint8x16_t same[4];
    for (int i = 0; i < 4; i++) same[i] = vandq_u8(vceqq_u8(block->part[i], wanted), bit);
    uint8x16_t low = vpaddq_u8(same[0], same[1]), high = vpaddq_u8(same[2], same[3]);
    uint8x16_t all = vpaddq_u8(low, high);
    all = vpaddq_u8(all, all);
    return vgetq_lane_u64(vreinterpretq_u64_u8(all), 0);
}
#else
typedef struct Block {
    char part[64];
} Block;

static inline Block load(const char *at) {
    Block block;
    memcpy(block.part, at, 64);
    return block;
}

static inline uint64_t find_bytes(const Block *block, char c) {
    uint64_t bits = 0;
    for (int i = 0; i < 64; i++) bits |= (uint64_t)(block->part[i] == c) << i;
    return bits;
}
#endif

// Bit i: an odd number of bits at and below i is set.
static inline uint64_t prefix_odd(uint64_t bits) {
    for (int step = 1; step < 64; step *= 2) bits ^= bits << step;
    return bits;
}

// Adds the places of the bits; writes up to 63 beyond the count.
static inline uint32_t add_places(uint32_t *out, uint32_t count, uint64_t bits,
                                  uint32_t base) {
    while (bits) {
        out[count++] = base + (uint32_t)__builtin_ctzll(bits);
        bits &= bits - 1;
    }
    return count;
}

void cells_split(Cells *out, Str line, char separator) {
    uint64_t inside = 0; // all bits: the block begins inside quotes
    uint32_t count = 0, base = 0, len = (uint32_t)line.len;
    out->too_many = false;
    for (; base < len; base += 64) {
        Block block = load(line.at + base);
        uint64_t here = len - base >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << (len - base)) - 1;
        uint64_t quotes = find_bytes(&block, '"') & here;
        uint64_t bits = find_bytes(&block, separator) & here;
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
