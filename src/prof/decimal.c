// decimal.c - reads digits by hand: a plain cell in one pass, anything unusual
// (quotes, an exponent, a sign) on a slower way.
#include "base/base.h"

#include "prof/cells.h"
#include "prof/decimal.h"

enum { MAX_EXPONENT = 40 };

typedef struct Digits {
    uint64_t value; // all digits so far
    uint32_t decimals; // of those, behind the point
    bool any, full;
} Digits;

static inline bool is_digit(char c) {
    return (unsigned char)(c - '0') < 10;
}

static void add_digit(Digits *digits, char c, bool behind_point) {
    digits->any = true;
    if (digits->value > (UINT64_MAX - 9) / 10) {
        digits->full |= !behind_point; // further decimals are dropped
        return;
    }
    digits->value = digits->value * 10 + (uint64_t)(c - '0');
    digits->decimals += behind_point;
}

static size_t read_digits(Digits *out, Str text) {
    bool behind = false;
    size_t i = 0;
    for (; i < text.len; i++) {
        char c = text.at[i];
        if (is_digit(c)) add_digit(out, c, behind);
        else if ((c == '.' || c == ',') && !behind) behind = true;
        else break;
    }
    return i;
}

// "E+15" at text.at: its value; false if it is none.
static bool read_exponent(int *out, Str text) {
    if (text.len < 2 || (text.at[0] | 0x20) != 'e') return false;
    bool minus = text.at[1] == '-';
    size_t i = text.at[1] == '-' || text.at[1] == '+' ? 2 : 1;
    int value = 0;
    if (i == text.len) return false;
    for (; i < text.len; i++) {
        if (!is_digit(text.at[i])) return false;
        value = value * 10 + text.at[i] - '0';
        if (value > MAX_EXPONENT) return false;
    }
    *out = minus ? -value : value;
    return true;
}

// Brings `digits` to `shift` more decimals (fewer if negative, rounded).
static bool rescale(uint64_t *out, uint64_t value, int shift) {
    for (; shift > 0; shift--) {
        if (value > UINT64_MAX / 10) return false;
        value *= 10;
    }
    for (; shift < -1; shift++) value /= 10;
    *out = shift == -1 ? value / 10 + (value % 10 >= 5) : value;
    return true;
}

static DecimalAnswer read_any(uint64_t *out, Str cell, uint32_t decimals) {
    Str text = cell_strip(cell);
    bool minus = text.len && text.at[0] == '-';
    if (text.len && (minus || text.at[0] == '+')) text.at++, text.len--;
    Digits digits = {0};
    size_t used = read_digits(&digits, text);
    int exponent = 0;
    bool rounded = used < text.len;
    if (!digits.any) return DECIMAL_NONE;
    if (rounded && !read_exponent(&exponent, (Str){text.at + used, text.len - used})) {
        return DECIMAL_NONE;
    }
    if (digits.full) return DECIMAL_RANGE;
    int shift = exponent + (int)decimals - (int)digits.decimals;
    if (!rescale(out, digits.value, shift)) return DECIMAL_RANGE;
    if (minus && digits.value) return DECIMAL_NEGATIVE;
    return rounded ? DECIMAL_ROUNDED : DECIMAL_OK;
}

// Eight digits at once, where the bytes of a word are in the order of the text.
static inline bool read_eight(uint64_t *value, const char *at) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t word, high = UINT64_C(0xF0F0F0F0F0F0F0F0), zeros = UINT64_C(0x3030303030303030);
    memcpy(&word, at, 8);
    bool digits = (word & high) == zeros &&
                  ((word + UINT64_C(0x0606060606060606)) & high) == zeros;
    if (!digits) return false;
    word -= zeros;
    word = word * 10 + (word >> 8); // pairs, in every other byte
    uint64_t low = (word & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x000F424000000064);
    uint64_t rest = (word >> 16 & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x0000271000000001);
    *value = *value * 100000000 + ((low + rest) >> 32);
    return true;
#else
    (void)value, (void)at;
    return false;
#endif
}

// The usual cell: up to 18 digits with up to `decimals` behind a point.
DecimalAnswer decimal_read(uint64_t *out, Str cell, uint32_t decimals) {
    const char *at = cell.at, *end = cell.at + cell.len;
    uint64_t value = 0;
    if (cell.len == 0 || cell.len > 21) return read_any(out, cell, decimals);
    while (end - at >= 8 && read_eight(&value, at)) at += 8;
    while (at < end && is_digit(*at)) value = value * 10 + (uint64_t)(*at++ - '0');
    size_t whole = (size_t)(at - cell.at);
    uint32_t left = decimals;
    if (at < end && *at == '.') {
        at++;
        for (; left && at < end && is_digit(*at); left--) {
            value = value * 10 + (uint64_t)(*at++ - '0');
        }
    }
    if (at < end && *at == '\t') at++;
    if (at != end || whole == 0 || whole + decimals > 19) {
        return read_any(out, cell, decimals);
    }
    for (; left; left--) value *= 10;
    *out = value;
    return DECIMAL_OK;
}
