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
// Of 64 bytes: bit i is set where byte i is `mark`.
typedef uint64_t (*FindMark)(const char *at, char mark);

// Bit i: an odd number of bits at and below i is set.
typedef uint64_t (*PrefixOdd)(uint64_t bits);

INLINE uint64_t prefix_odd(uint64_t bits) {
    for (int step = 1; step < 64; step *= 2) bits ^= bits << step;
    return bits;
}

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

INLINE uint64_t mark_16(const char *at, char mark) {
    const __m128i wanted = _mm_set1_epi8(mark);
    uint64_t bits = 0;
    for (int i = 3; i >= 0; i--) {
        __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(at + 16 * i));
        bits = bits << 16 | (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(part, wanted));
    }
    return bits;
}

#define TARGET_32 "avx2,bmi,popcnt,pclmul"

// A product without carries by all ones adds up the bits below each one.
__attribute__((target(TARGET_32))) INLINE uint64_t prefix_odd_fast(uint64_t bits) {
    __m128i all = _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)bits), _mm_set1_epi8(-1), 0);
    return (uint64_t)_mm_cvtsi128_si64(all);
}

__attribute__((target(TARGET_32))) INLINE Masks masks_32(const char *at, char separator) {
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

__attribute__((target(TARGET_32))) INLINE uint64_t mark_32(const char *at, char mark) {
    const __m256i wanted = _mm256_set1_epi8(mark);
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)at);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(at + 32));
    uint32_t first = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted));
    uint32_t second = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted));
    return (uint64_t)second << 32 | first;
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

INLINE uint64_t mark_16(const char *at, char mark) {
    uint8x16_t wanted = vdupq_n_u8((uint8_t)mark), same[4];
    for (int i = 0; i < 4; i++) same[i] = vceqq_u8(vld1q_u8((const uint8_t *)at + 16 * i), wanted);
    return gather_bits(same);
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

INLINE uint64_t mark_16(const char *at, char mark) {
    uint64_t bits = 0;
    for (int i = 0; i < 64; i++) bits |= (uint64_t)(at[i] == mark) << i;
    return bits;
}
#endif

INLINE uint32_t add_places(uint32_t *out, uint32_t count, uint64_t bits,
                                  uint32_t base) {
    // Four at a time: what is too much is written over by the next ones.
    const uint64_t top = UINT64_C(1) << 63; // there is no count of zeros of 0
    uint32_t found = (uint32_t)__builtin_popcountll(bits);
    uint32_t *to = out + count, *end = to + found;
    for (; to < end; to += 4) {
        to[0] = base + (uint32_t)__builtin_ctzll(bits | top);
        bits &= bits - 1;
        to[1] = base + (uint32_t)__builtin_ctzll(bits | top);
        bits &= bits - 1;
        to[2] = base + (uint32_t)__builtin_ctzll(bits | top);
        bits &= bits - 1;
        to[3] = base + (uint32_t)__builtin_ctzll(bits | top);
        bits &= bits - 1;
    }
    return count + found;
}

// Whether what is left of a line can stay as it is: no quote, and not too many cells.
INLINE bool is_plain(const char *at, uint32_t len, uint32_t count) {
    return len + count < CELLS_MAX && !memchr(at, '"', len);
}

// How a processor finds the masks of 64 bytes.
typedef struct Masker {
    FindMasks find;
    PrefixOdd odd;
    FindMark mark;
} Masker;

// Stops behind the block with the cell `wanted` if the rest is plain; false then.
INLINE bool split(Cells *out, Str line, char separator, uint32_t wanted, Masker masker) {
    uint64_t inside = 0; // all bits: the block begins inside quotes
    uint32_t count = 0, base = 0, len = (uint32_t)line.len;
    bool whole = true;
    out->too_many = false;
    for (; base < len; base += 64) {
        Masks masks = masker.find(line.at + base, separator);
        uint64_t here = len - base >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << (len - base)) - 1;
        uint64_t quotes = masks.quotes & here, bits = masks.separators & here;
        if (quotes | inside) {
            uint64_t quoted = masker.odd(quotes) ^ inside;
            bits &= ~quoted;
            inside = (uint64_t)((int64_t)quoted >> 63);
        }
        count = add_places(out->end, count, bits, base);
        if (count >= CELLS_MAX) {
            out->too_many = true;
            count = CELLS_MAX - 1;
            break;
        }
        if (count < wanted || inside || len - base <= 64) continue;
        whole = !is_plain(line.at + base + 64, len - base - 64, count);
        if (!whole) break;
        wanted = CELLS_MAX;
    }
    out->end[count++] = len;
    out->count = count;
    out->quote_open = inside != 0;
    return whole;
}

// A line on its way through what is expected of it.
typedef struct Follow {
    Cells *out;
    const char *begin, *at, *end;
    uint32_t cell; // the next one
    char separator;
} Follow;

// Passes over cells up to `until`, which have to be within 64 bytes and plain.
INLINE bool follow_cells(Follow *follow, uint32_t until, Masker masker) {
    if (follow->cell >= until) return true;
    if (follow->at >= follow->end) return false;
    Masks masks = masker.find(follow->at, follow->separator);
    uint64_t stops = masks.quotes | masker.mark(follow->at, '\n');
    uint32_t base = (uint32_t)(follow->at - follow->begin), place = 0;
    while (follow->cell < until) {
        if (!masks.separators) return false;
        place = (uint32_t)__builtin_ctzll(masks.separators);
        masks.separators &= masks.separators - 1;
        follow->out->end[follow->cell++] = base + place;
    }
    follow->at += place + 1;
    return follow->at <= follow->end && !(stops & ((UINT64_C(1) << place) - 1));
}

// The span that is expected, and a separator behind it.
INLINE bool follow_span(Follow *follow, CellSpan span, const char *key, size_t len) {
    bool same = (size_t)(follow->end - follow->at) > len && memcmp(follow->at, key, len) == 0 &&
                follow->at[len] == follow->separator;
    if (!same) return false;
    follow->out->end[span.last] = (uint32_t)(follow->at - follow->begin) + (uint32_t)len;
    follow->cell = span.last + 1u;
    follow->at += len + 1;
    return true;
}

// The end of the line, if no quote is in front of it.
INLINE const char *follow_rest(const Follow *follow, Masker masker) {
    const char *at = follow->at, *end = follow->end;
    for (; at < end; at += 64) {
        uint64_t quotes = masker.mark(at, '"'), newlines = masker.mark(at, '\n');
        if (!(quotes | newlines)) continue;
        uint64_t first = (quotes | newlines) & (~(quotes | newlines) + 1);
        const char *stop = at + __builtin_ctzll(first);
        if (stop >= end) break;
        return first & quotes ? NULL : stop;
    }
    return end;
}

INLINE bool follow(Follow *line, size_t *len, const CellsGuess *guess, Masker masker) {
    const char *key = guess->key;
    for (uint32_t i = 0; i < guess->span_count; i++) {
        CellSpan span = guess->spans[i];
        if (!follow_cells(line, span.first, masker)) return false;
        if (!follow_span(line, span, key, guess->span_len[i])) return false;
        key += guess->span_len[i];
    }
    if (!follow_cells(line, guess->needed, masker)) return false;
    const char *end = follow_rest(line, masker);
    if (!end || (size_t)(end - line->at) + line->cell >= CELLS_MAX) return false;
    *len = (size_t)(end - line->begin);
    line->out->count = line->cell;
    line->out->quote_open = line->out->too_many = false;
    return true;
}

#if defined(__SSE2__)
__attribute__((target(TARGET_32))) static bool split_32(Cells *out, Str line, char separator,
                                                     uint32_t wanted) {
    return split(out, line, separator, wanted, (Masker){masks_32, prefix_odd_fast, mark_32});
}

__attribute__((target(TARGET_32))) static bool follow_32(Follow *line, size_t *len,
                                                      const CellsGuess *guess) {
    return follow(line, len, guess, (Masker){masks_32, prefix_odd_fast, mark_32});
}
#endif

#if defined(__SSE2__)
static bool has_target_32(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("pclmul");
}
#endif

void cells_split_first(Cells *out, Str line, char separator, uint32_t wanted, bool *whole) {
#if defined(__SSE2__)
    if (has_target_32()) {
        *whole = split_32(out, line, separator, wanted);
        return;
    }
#endif
    *whole = split(out, line, separator, wanted, (Masker){masks_16, prefix_odd, mark_16});
}

bool cells_follow(Cells *out, size_t *len, Str text, char separator, const CellsGuess *guess) {
    Follow line = {.out = out, .begin = text.at, .at = text.at, .end = text.at + text.len,
                   .separator = separator};
#if defined(__SSE2__)
    if (has_target_32()) return follow_32(&line, len, guess);
#endif
    return follow(&line, len, guess, (Masker){masks_16, prefix_odd, mark_16});
}

void cells_split(Cells *out, Str line, char separator) {
    bool whole;
    cells_split_first(out, line, separator, CELLS_MAX, &whole);
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
