// utf8.c - one decoder for every writer (JSON, Markdown, terminal), so that
// hostile bytes are judged in one place.
#include "base/base.h"

#include "model/utf8.h"

static bool is_tail(const char *at, size_t i) {
    return ((unsigned char)at[i] & 0xC0) == 0x80;
}

// The length that a first byte announces; 0 if it cannot start a sequence.
static size_t announced_len(unsigned char first) {
    if (first < 0x80) return 1;
    if (first < 0xC2) return 0;
    if (first < 0xE0) return 2;
    if (first < 0xF0) return 3;
    return first < 0xF5 ? 4 : 0;
}

// The code point of `len` bytes at `at`; UTF8_BAD if they are not well formed.
static uint32_t decode(const char *at, size_t len) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t code = (unsigned char)at[0] & (0xFFu >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if (!is_tail(at, i)) return UTF8_BAD;
        code = code << 6 | ((unsigned char)at[i] & 0x3F);
    }
    bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code < least[len] || surrogate || code > 0x10FFFF) return UTF8_BAD;
    return code;
}

uint32_t utf8_take(Str *rest) {
    if (rest->len == 0) BUG("utf8_take on empty text");
    size_t len = announced_len((unsigned char)rest->at[0]);
    uint32_t code = UTF8_BAD;
    if (len == 1) {
        code = (unsigned char)rest->at[0];
    } else if (len && len <= rest->len) {
        code = decode(rest->at, len);
    }
    // A real U+FFFD has three bytes, a bad byte stands for itself.
    bool real = code != UTF8_BAD ||
                (rest->len >= 3 && memcmp(rest->at, "\xEF\xBF\xBD", 3) == 0);
    size_t step = real ? len : 1;
    rest->at += step;
    rest->len -= step;
    return code;
}

Str utf8_take_plain(Str *rest) {
    Str plain = {rest->at, 0};
    while (plain.len < rest->len && (unsigned char)rest->at[plain.len] >= 0x20 &&
           (unsigned char)rest->at[plain.len] < 0x7F) {
        plain.len++;
    }
    *rest = (Str){rest->at + plain.len, rest->len - plain.len};
    return plain;
}

void utf8_add(Buf *out, uint32_t code) {
    char bytes[4];
    size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = len; i-- > 1;) {
        bytes[i] = (char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    bytes[0] = (char)(first[len] | code);
    buf_add(out, (Str){bytes, len});
}

typedef struct Range {
    uint32_t first, last;
} Range;

static bool is_in(const Range *ranges, size_t count, uint32_t code) {
    for (size_t i = 0; i < count; i++) {
        if (code >= ranges[i].first && code <= ranges[i].last) return true;
    }
    return false;
}

bool utf8_is_unsafe(uint32_t code) {
    static const Range unsafe[] = {
        {0x00, 0x08},     {0x0B, 0x1F},     {0x7F, 0x9F},
        {0x061C, 0x061C}, {0x200B, 0x200F}, {0x2028, 0x202E},
        {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB},
        {0xE0000, 0xE007F},
    };
    return is_in(unsafe, COUNT(unsafe), code);
}

void utf8_add_safe(Buf *out, Str text) {
    while (text.len) {
        buf_add(out, utf8_take_plain(&text));
        if (!text.len) break;
        uint32_t code = utf8_take(&text);
        utf8_add(out, utf8_is_unsafe(code) ? '?' : code);
    }
}

Str utf8_one_line(Arena *arena, Str text) {
    Buf buf = {0};
    while (text.len) {
        buf_add(&buf, utf8_take_plain(&text));
        if (!text.len) break;
        uint32_t code = utf8_take(&text);
        bool space = code == '\n' || code == '\t';
        utf8_add(&buf, space ? ' ' : utf8_is_unsafe(code) ? '?' : code);
    }
    Str made = arena_str(arena, buf_str(&buf));
    buf_free(&buf);
    return made;
}

uint32_t utf8_columns(Str text) {
    static const Range none[] = {
        {0x0300, 0x036F}, {0x200B, 0x200F}, {0xFE00, 0xFE0F},
    };
    static const Range wide[] = {
        {0x1100, 0x115F}, {0x2E80, 0xA4CF}, {0xAC00, 0xD7A3},
        {0xF900, 0xFAFF}, {0xFE30, 0xFE6F}, {0xFF00, 0xFF60},
        {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD},
    };
    uint32_t columns = 0;
    while (text.len) {
        uint32_t code = utf8_take(&text);
        if (is_in(none, COUNT(none), code)) continue;
        columns += is_in(wide, COUNT(wide), code) ? 2 : 1;
    }
    return columns;
}
