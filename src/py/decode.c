// decode.c - the bytes of a Python file to UTF-8 (PEP 263).
//
// A BOM or a cookie in the first two lines names the encoding, UTF-8 is the
// default. UTF-8, ASCII and Latin-1 are done here, all others by iconv(3) of
// the C library. Faults name the line, because that is what one looks for.
#include "base/base.h"

#include "py/decode.h"

#include <iconv.h>

enum { NAME_MAX_BYTES = 40 };

typedef enum Encoding { ENC_UTF8, ENC_ASCII, ENC_LATIN1, ENC_OTHER } Encoding;

static unsigned line_of(Str bytes, size_t offset) {
    unsigned line = 1;
    for (size_t i = 0; i < offset; i++) {
        if (bytes.at[i] == '\n') line++;
        if (bytes.at[i] == '\r' && bytes.at[i + 1] != '\n') line++;
    }
    return line;
}

// --- the cookie ------------------------------------------------------------

static bool is_cookie_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

static Str first_line(Str text) {
    size_t len = 0;
    while (len < text.len && text.at[len] != '\n' && text.at[len] != '\r') len++;
    return (Str){text.at, len};
}

// '#', anything, "coding", '=' or ':', blanks, the name. Empty if there is none.
static Str cookie_in(Str line) {
    size_t i = 0;
    while (i < line.len && strchr(" \t\f", line.at[i])) i++;
    if (i == line.len || line.at[i] != '#') return STR("");
    for (; i + 7 <= line.len; i++) {
        if (memcmp(line.at + i, "coding", 6) != 0) continue;
        if (line.at[i + 6] != ':' && line.at[i + 6] != '=') continue;
        size_t start = i + 7;
        while (start < line.len && strchr(" \t", line.at[start])) start++;
        size_t end = start;
        while (end < line.len && is_cookie_byte(line.at[end])) end++;
        if (end > start) return (Str){line.at + start, end - start};
    }
    return STR("");
}

// A second line counts only below a blank line or a comment.
static bool may_precede_cookie(Str line) {
    for (size_t i = 0; i < line.len; i++) {
        if (line.at[i] == '#') return true;
        if (!strchr(" \t\f", line.at[i])) return false;
    }
    return true;
}

static Str find_cookie(Str text) {
    Str line = first_line(text);
    Str cookie = cookie_in(line);
    if (cookie.len || !may_precede_cookie(line)) return cookie;
    size_t next = line.len;
    if (next < text.len && text.at[next] == '\r') next++;
    if (next < text.len && text.at[next] == '\n') next++;
    return cookie_in(first_line((Str){text.at + next, text.len - next}));
}

// Lower case, one '-' for any run of '_' and '-', none at either end, as Python
// compares names.
static void normalise(char out[NAME_MAX_BYTES], Str name) {
    size_t n = 0;
    for (size_t i = 0; i < name.len && n + 1 < NAME_MAX_BYTES; i++) {
        char c = name.at[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c | 32);
        if (c == '_') c = '-';
        if (c == '-' && (n == 0 || out[n - 1] == '-')) continue;
        out[n++] = c;
    }
    while (n > 0 && out[n - 1] == '-') n--;
    out[n] = '\0';
}

static bool is_family(const char *name, const char *first) {
    size_t len = strlen(first);
    return strncmp(name, first, len) == 0 &&
           (name[len] == '\0' || name[len] == '-');
}

static bool is_one_of(const char *name, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (strcmp(name, names[i]) == 0) return true;
    }
    return false;
}

static Encoding encoding_of(const char *name) {
    static const char *const UTF8[] = {"utf8", "u8", "cp65001", "utf"};
    static const char *const ASCII[] = {"ascii", "us-ascii", "646"};
    static const char *const LATIN[] = {"latin1", "l1", "8859", "iso8859-1",
                                        "iso8859", "cp819", "latin"};
    if (is_family(name, "utf-8") || is_one_of(name, UTF8, COUNT(UTF8))) {
        return ENC_UTF8;
    }
    if (is_family(name, "latin-1") || is_family(name, "iso-8859-1") ||
        is_family(name, "iso-latin-1") || is_one_of(name, LATIN, COUNT(LATIN))) {
        return ENC_LATIN1;
    }
    return is_one_of(name, ASCII, COUNT(ASCII)) ? ENC_ASCII : ENC_OTHER;
}

// --- the conversions -------------------------------------------------------

// Length of the UTF-8 sequence at `s`, 0 where it is none: too short or long,
// a surrogate, beyond U+10FFFF. The NUL behind the text stops every look.
static size_t utf8_len(const unsigned char *s) {
    if (s[0] < 0x80) return 1;
    if (s[0] < 0xC2 || s[0] > 0xF4) return 0;
    if ((s[1] & 0xC0) != 0x80) return 0;
    if (s[0] < 0xE0) return 2;
    if ((s[2] & 0xC0) != 0x80) return 0;
    if (s[0] == 0xE0 && s[1] < 0xA0) return 0;
    if (s[0] == 0xED && s[1] > 0x9F) return 0;
    if (s[0] < 0xF0) return 3;
    if ((s[3] & 0xC0) != 0x80) return 0;
    if (s[0] == 0xF0 && s[1] < 0x90) return 0;
    if (s[0] == 0xF4 && s[1] > 0x8F) return 0;
    return 4;
}

// The offset of the first byte that is no ASCII.
static size_t skip_ascii(Str text, size_t i) {
    uint64_t word;
    for (; i + sizeof(word) <= text.len; i += sizeof(word)) {
        memcpy(&word, text.at + i, sizeof(word));
        if (word & UINT64_C(0x8080808080808080)) break;
    }
    while (i < text.len && (unsigned char)text.at[i] < 0x80) i++;
    return i;
}

static bool check_utf8(Str text, Err *err) {
    size_t i = 0;
    while ((i = skip_ascii(text, i)) < text.len) {
        size_t len = utf8_len((const unsigned char *)text.at + i);
        if (len == 0) {
            return err_set(err, "line %u: bytes that are not UTF-8; save it so, "
                           "or name its encoding in line 1",
                           line_of(text, i));
        }
        i += len;
    }
    return true;
}

static bool check_ascii(Str text, Err *err) {
    size_t i = skip_ascii(text, 0);
    if (i == text.len) return true;
    return err_set(err, "line %u: bytes that are not ASCII, as the coding "
                        "cookie has it", line_of(text, i));
}

static Str from_latin1(Arena *arena, Str text) {
    if (skip_ascii(text, 0) == text.len) return text;
    char *out = arena_alloc(arena, text.len * 2 + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c >= 0x80) out[n++] = (char)(0xC0 | c >> 6);
        out[n++] = (char)(c < 0x80 ? c : 0x80 | (c & 0x3F));
    }
    return (Str){out, n};
}

static bool run_iconv(Str *out, iconv_t cd, Arena *arena, Str text, Err *err) {
    // A source byte becomes at most one character, that is 4 bytes of UTF-8.
    size_t room = text.len * 4 + 16;
    char *start = arena_alloc(arena, room + 1);
    char *to = start;
    char *from = (char *)(uintptr_t)text.at;
    size_t left = text.len;
    if (iconv(cd, &from, &left, &to, &room) == (size_t)-1 ||
        iconv(cd, NULL, NULL, &to, &room) == (size_t)-1) {
        return err_set(err, "line %u: bytes that are not in the file's encoding",
                       line_of(text, text.len - left));
    }
    *out = (Str){start, (size_t)(to - start)};
    return check_utf8(*out, err);
}

// Names that Python and the C library write differently.
static const char *iconv_name(const char *name) {
    static const char *const PAIRS[][2] = {
        {"mac-roman", "MACINTOSH"},    {"macroman", "MACINTOSH"},
        {"sjis", "SHIFT_JIS"},         {"ujis", "EUC-JP"},
        {"big5hkscs", "BIG5-HKSCS"},   {"iso2022-jp", "ISO-2022-JP"},
        {"iso2022-kr", "ISO-2022-KR"}, {"cyrillic", "ISO-8859-5"},
    };
    for (size_t i = 0; i < COUNT(PAIRS); i++) {
        if (strcmp(name, PAIRS[i][0]) == 0) return PAIRS[i][1];
    }
    return name;
}

// Encodings whose text does not start out as ASCII cannot hold a cookie.
static bool is_wide(const char *name) {
    return strncmp(name, "utf-16", 6) == 0 || strncmp(name, "utf-32", 6) == 0 ||
           strncmp(name, "utf16", 5) == 0 || strncmp(name, "utf32", 5) == 0 ||
           strncmp(name, "ucs", 3) == 0 || strncmp(name, "unicode", 7) == 0;
}

static bool from_other(Str *out, Arena *arena, Str text, const char *name,
                       Err *err) {
    iconv_t cd = is_wide(name) ? (iconv_t)-1
                               : iconv_open("UTF-8", iconv_name(name));
    if (cd == (iconv_t)-1) return err_set(err, "unknown encoding '%s' in its coding line", name);
    bool good = run_iconv(out, cd, arena, text, err);
    iconv_close(cd);
    return good;
}

bool decode_source(Str *text, uint32_t *bom_bytes, Arena *arena, Str bytes,
                   Err *err) {
    char name[NAME_MAX_BYTES];
    *bom_bytes = str_starts(bytes, "\xEF\xBB\xBF") ? 3 : 0;
    *text = (Str){bytes.at + *bom_bytes, bytes.len - *bom_bytes};
    const char *nul = text->len ? memchr(text->at, '\0', text->len) : NULL;
    if (nul) {
        return err_set(err, "line %u: a NUL byte: this is no Python source",
                       line_of(*text, (size_t)(nul - text->at)));
    }
    Str cookie = find_cookie(*text);
    normalise(name, cookie.len ? cookie : STR("utf-8"));
    Encoding encoding = encoding_of(name);
    // Beside a UTF-8 mark Python takes no other spelling, not even "utf8".
    if (*bom_bytes && !is_family(name, "utf-8")) {
        return err_set(err, "encoding '%s' in a file with a UTF-8 mark", name);
    }
    switch (encoding) {
    case ENC_UTF8: return check_utf8(*text, err);
    case ENC_ASCII: return check_ascii(*text, err);
    case ENC_LATIN1: *text = from_latin1(arena, *text); return true;
    case ENC_OTHER: return from_other(text, arena, *text, name, err);
    default: BUG("encoding %d", encoding);
    }
}

bool decode_is_utf8(Str bytes) {
    char name[NAME_MAX_BYTES];
    size_t mark = str_starts(bytes, "\xEF\xBB\xBF") ? 3 : 0;
    Str cookie = find_cookie((Str){bytes.at + mark, bytes.len - mark});
    normalise(name, cookie.len ? cookie : STR("utf-8"));
    return encoding_of(name) == ENC_UTF8;
}
