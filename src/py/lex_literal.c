// lex_literal.c - numbers, and where strings end.
//
// A number is checked but not evaluated; a string is not unescaped here, only
// measured, with a flag that says whether its body is its value.
#include "base/base.h"

#include "py/ast.h"
#include "py/lexer.h"

// --- numbers ---------------------------------------------------------------

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_name_byte(char c) {
    unsigned char u = (unsigned char)c;
    return u >= 0x80 || u == '_' || (u >= '0' && u <= '9') ||
           ((u | 32) >= 'a' && (u | 32) <= 'z');
}

static bool is_radix_digit(char c, int radix) {
    if (radix == 16) {
        return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
    }
    return c >= '0' && c < '0' + radix;
}

// Digits with single underscores between them. False on a stray underscore.
static bool skip_digits(const char **s, int radix) {
    const char *at = *s;
    bool good = true;
    for (;;) {
        while (is_radix_digit(*at, radix)) at++;
        if (*at != '_') break;
        at++;
        if (!is_radix_digit(*at, radix)) {
            good = false;
            break;
        }
    }
    *s = at;
    return good;
}

// A keyword may follow a number without a space (1if x else 2), nothing else
// that looks like a name may.
static bool good_number_end(const char *s) {
    static const char *const KEYWORDS[] = {"and", "else", "for", "if",
                                           "in",  "is",   "not", "or"};
    if (!is_name_byte(*s)) return true;
    for (size_t i = 0; i < COUNT(KEYWORDS); i++) {
        size_t len = strlen(KEYWORDS[i]);
        if (strncmp(s, KEYWORDS[i], len) == 0) return true;
    }
    return false;
}

// 0x1F, 0o17, 0b11: `*s` is on the letter.
static bool skip_radix(const char **s) {
    int radix = (**s | 32) == 'x' ? 16 : (**s | 32) == 'o' ? 8 : 2;
    ++*s;
    if (**s == '_') ++*s;
    if (!is_radix_digit(**s, radix)) return false;
    return skip_digits(s, radix) && !is_digit(**s);
}

// e-5: `*s` is on the 'e'. Left alone where no digit follows, as in 1else.
static bool skip_exponent(const char **s, bool *is_float) {
    const char *at = *s + 1;
    if (*at == '+' || *at == '-') at++;
    if (!is_digit(*at)) return true;
    *is_float = true;
    *s = at;
    return skip_digits(s, 10);
}

static bool skip_decimal(const char **s, bool *is_float) {
    bool good = true;
    if (is_digit(**s)) good = skip_digits(s, 10);
    if (good && **s == '.') {
        ++*s;
        *is_float = true;
        if (is_digit(**s)) good = skip_digits(s, 10);
    }
    if (good && (**s | 32) == 'e') good = skip_exponent(s, is_float);
    return good;
}

// 007 was octal once and is an error now; 000 is zero.
static bool is_old_octal(const char *s, const char *end) {
    if (*s != '0') return false;
    while (s < end && (*s == '0' || *s == '_')) s++;
    return s < end;
}

void lex_number(Lexer *lex, Token *tok) {
    const char *s = lex->at;
    bool is_float = false;
    bool is_complex = false;
    bool good;
    char letter = s[0] == '0' ? (char)(s[1] | 32) : '\0';
    if (letter == 'x' || letter == 'o' || letter == 'b') {
        s++;
        good = skip_radix(&s);
    } else {
        good = skip_decimal(&s, &is_float);
        is_complex = (*s | 32) == 'j';
        if (!is_float && !is_complex && is_old_octal(lex->at, s)) good = false;
        if (is_complex) s++;
    }
    tok->kind = T_NUMBER;
    tok->flags = is_complex ? CONST_COMPLEX : is_float ? CONST_FLOAT : CONST_INT;
    good = good && good_number_end(s);
    lex->at = s;
    if (!good) lex_error(lex, tok, "invalid number");
}

// --- strings ---------------------------------------------------------------

bool lex_string_prefix(Str text, Token *tok) {
    unsigned flags = 0;
    bool format = false;
    if (text.len > 2) return false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned flag = 0;
        switch (text.at[i] | 32) {
        case 'b': flag = STRING_BYTES; break;
        case 'r': flag = STRING_RAW; break;
        case 'u': flag = STRING_U_PREFIX; break;
        case 't': flag = STRING_TEMPLATE; break;
        case 'f': break;
        default: return false;
        }
        if (flag & flags || (flag == 0 && format)) return false;
        flags |= flag;
        if (flag == 0 || flag == STRING_TEMPLATE) {
            if (format) return false;
            format = true;
        }
    }
    if (text.len == 2 && !(flags & STRING_RAW)) return false;
    if (flags & STRING_U_PREFIX && text.len == 2) return false;
    tok->flags = (uint8_t)flags;
    tok->prefix = (uint8_t)text.len;
    tok->kind = format ? T_FSTRING : T_STRING;
    return true;
}

// What ends a run of plain characters, as bits.
enum {
    S_SINGLE = 1, S_DOUBLE = 2, S_BACKSLASH = 4, S_LF = 8, S_CR = 16, S_NUL = 32
};
static const uint8_t STOPS[256] = {
    ['\''] = S_SINGLE, ['"'] = S_DOUBLE, ['\\'] = S_BACKSLASH, ['\n'] = S_LF,
    ['\r'] = S_CR, ['\0'] = S_NUL,
};

static const char *unclosed_string(Lexer *lex, Token *tok, const char *start) {
    bool triple = tok->flags & STRING_TRIPLE;
    if (triple) lex->unclosed[*lex->at == '\''] = start;
    lex_error(lex, tok, triple ? "unterminated triple-quoted string"
                               : "unterminated string");
    return start;
}

// Finds the closing quote; the place behind it. `body` is the first byte.
static const char *find_quote(Lexer *lex, Token *tok, const char *body) {
    char quote = *lex->at;
    bool triple = tok->flags & STRING_TRIPLE;
    unsigned mask = (quote == '"' ? S_DOUBLE : S_SINGLE) | S_BACKSLASH | S_CR |
                    S_NUL | (triple ? 0u : (unsigned)S_LF);
    for (const char *s = body;; s++) {
        unsigned stop;
        while (!(stop = STOPS[(unsigned char)*s] & mask)) s++;
        if (stop & (S_SINGLE | S_DOUBLE)) {
            if (!triple) return s + 1;
            if (s[1] == quote && s[2] == quote) return s + 3;
        } else if (stop == S_BACKSLASH) {
            tok->flags |= STRING_ESCAPE;
            if (s + 1 == lex->end) return unclosed_string(lex, tok, body);
            s += 1 + (s[1] == '\r' && s[2] == '\n');
        } else if (stop == S_CR && triple) {
            tok->flags |= STRING_ESCAPE;
        } else if (stop != S_NUL || s == lex->end) {
            return unclosed_string(lex, tok, body);
        }
    }
}

static bool known_unclosed(const Lexer *lex, const Token *tok) {
    const char *from = lex->unclosed[*lex->at == '\''];
    return tok->flags & STRING_TRIPLE && from && from <= lex->at;
}

void lex_string(Lexer *lex, Token *tok) {
    const char *s = lex->at;
    bool triple = s[1] == s[0] && s[2] == s[0];
    if (tok->prefix == 0) tok->kind = T_STRING;
    if (triple) tok->flags |= STRING_TRIPLE;
    s += triple ? 3 : 1;
    if (tok->kind == T_FSTRING) {
        lex->at = s;
        return;
    }
    tok->sym = NULL;
    lex->at = known_unclosed(lex, tok) ? unclosed_string(lex, tok, s)
                                       : find_quote(lex, tok, s);
}
