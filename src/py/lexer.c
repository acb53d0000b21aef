// lexer.c - layout (lines, indentation, comments), names and operators.
//
// The class of a token's first byte decides in one table look-up who reads it.
// The text ends with a NUL, so no loop checks for the end. Names are interned
// at once: keywords are the names whose Sym carries a TokenKind as tag.
#include "base/base.h"

#include "py/lexer.h"

#include "py/xid.h"

// ORDER TOKEN
static const char *const TOKEN_TEXT[] = {
    "the end of the file", "the end of the line", "an indent", "a dedent",
    "", "", "a name", "a number", "a string", "an f-string",
    "'('", "')'", "'['", "']'", "'{'", "'}'", "','", "':'",
    "';'", "'.'", "'...'", "'='", "':='", "'->'", "'!'", "'@'",
    "'+'", "'-'", "'*'", "'**'", "'/'", "'//'", "'%'",
    "'<<'", "'>>'", "'&'", "'|'", "'^'", "'~'", "'<'",
    "'>'", "'<='", "'>='", "'=='", "'!='",
    "'+='", "'-='", "'*='", "'/='", "'%='",
    "'&='", "'|='", "'^='", "'<<='",
    "'>>='", "'**='", "'//='", "'@='",
    "'False'", "'None'", "'True'", "'and'", "'as'", "'assert'", "'async'",
    "'await'", "'break'", "'class'", "'continue'", "'def'", "'del'", "'elif'",
    "'else'", "'except'", "'finally'", "'for'", "'from'", "'global'", "'if'",
    "'import'", "'in'", "'is'", "'lambda'", "'nonlocal'", "'not'", "'or'",
    "'pass'", "'raise'", "'return'", "'try'", "'while'", "'with'", "'yield'",
};
_Static_assert(COUNT(TOKEN_TEXT) == T_KIND_COUNT, "ORDER TOKEN");

// The first three make up names.
enum {
    C_NAME, C_DIGIT, C_HIGH, C_OPERATOR, C_OPEN, C_CLOSE, C_SPACE, C_NEWLINE,
    C_HASH, C_QUOTE, C_DOT, C_BACKSLASH, C_NUL, C_OTHER
};

#define OT C_OTHER
#define NA C_NAME
#define DI C_DIGIT
#define OP C_OPERATOR
#define X4(c) c, c, c, c
#define X16(c) X4(c), X4(c), X4(c), X4(c)
static const uint8_t CHAR_CLASS[256] = {
    C_NUL, X4(OT), X4(OT), C_SPACE, C_NEWLINE, OT, C_SPACE, C_NEWLINE, OT, OT,
    X16(OT),
    C_SPACE, OP, C_QUOTE, C_HASH, OT, OP, OP, C_QUOTE, // space ! " # $ % & '
    C_OPEN, C_CLOSE, OP, OP, OP, OP, C_DOT, OP,        // ( ) * + , - . /
    X4(DI), X4(DI), DI, DI, OP, OP, OP, OP, OP, OT,    // 0-9 : ; < = > ?
    OP, NA, NA, NA, X4(NA), X4(NA), X4(NA),            // @ A-O
    X4(NA), X4(NA), NA, NA, NA,                        // P-Z
    C_OPEN, C_BACKSLASH, C_CLOSE, OP, NA,              // [ \ ] ^ _
    OT, NA, NA, NA, X4(NA), X4(NA), X4(NA),            // ` a-o
    X4(NA), X4(NA), NA, NA, NA,                        // p-z
    C_OPEN, OP, C_CLOSE, OP, OT,                       // { | } ~
    X16(C_HIGH), X16(C_HIGH), X16(C_HIGH), X16(C_HIGH),
    X16(C_HIGH), X16(C_HIGH), X16(C_HIGH), X16(C_HIGH),
};
#undef OT
#undef NA
#undef DI
#undef OP

static unsigned class_of(char c) {
    return CHAR_CLASS[(unsigned char)c];
}

const char *token_name(TokenKind kind) {
    return TOKEN_TEXT[kind];
}

// Keywords and their token kinds follow each other in both lists.
void lexer_init_symbols(SymTable *symbols) {
    for (unsigned kind = T_FALSE; kind < T_KIND_COUNT; kind++) {
        Str quoted = str_of(TOKEN_TEXT[kind]);
        sym_intern_tag(symbols, (Str){quoted.at + 1, quoted.len - 2}, kind);
    }
    sym_intern_tag(symbols, STR("match"), T_SOFT_MATCH);
    sym_intern_tag(symbols, STR("case"), T_SOFT_CASE);
    sym_intern_tag(symbols, STR("type"), T_SOFT_TYPE);
    sym_intern_tag(symbols, STR("_"), T_SOFT_UNDERSCORE);
}

void lexer_init(Lexer *lex, const SourceText *source, Arena *arena,
                SymTable *symbols) {
    Str text = source->text;
    *lex = (Lexer){.text = text.at, .at = text.at, .end = text.at + text.len};
    lex->strict_until = text.at;
    lex->line_start = true;
    lex->has_cr = text.len && memchr(text.at, '\r', text.len);
    lex->indents = NEW_N(arena, Indent, LEXER_MAX_INDENTS);
    lex->indent_count = 1;
    lex->names = symbols->recent; // warm from the files before
    lex->symbols = symbols;
}

void lex_error(Lexer *lex, Token *tok, const char *message) {
    tok->kind = T_ERROR;
    lex->error = message;
}

// --- names -----------------------------------------------------------------

static uint32_t load32(const char *s) {
    uint32_t v;
    memcpy(&v, s, sizeof(v));
    return v;
}

// Spreads names over the cache; only speed depends on it.
static uint32_t name_slot(const char *s, size_t len) {
    uint32_t a, b;
    if (len >= 4) {
        a = load32(s);
        b = load32(s + len - 4);
    } else {
        a = (unsigned char)s[0] | (uint32_t)(unsigned char)s[len / 2] << 8;
        b = (unsigned char)s[len - 1];
    }
    uint32_t mid = (unsigned char)s[len / 2];
    uint32_t h = a * 0x9E3779B1u ^ (b * 0x85EBCA77u + (uint32_t)len * 0x27D4EB2Fu + mid);
    return (h * 0xC2B2AE3Du) >> (32 - SYM_RECENT_BITS);
}

static const Sym *intern_name(Lexer *lex, const char *s, size_t len) {
    const Sym **slot = &lex->names[name_slot(s, len)];
    const Sym *sym = *slot;
    if (sym && sym->len == len && memcmp(sym->text, s, len) == 0) return sym;
    return *slot = sym_intern(lex->symbols, (Str){s, len});
}

// A name, a keyword, or the prefix of a string.
static void lex_name(Lexer *lex, Token *tok) {
    const char *s = lex->at;
    unsigned char all = 0;
    do {
        all |= (unsigned char)*s++;
    } while (class_of(*s) <= C_HIGH);
    Str text = {lex->at, (size_t)(s - lex->at)};
    lex->at = s;
    if (class_of(*s) == C_QUOTE && lex_string_prefix(text, tok)) {
        lex_string(lex, tok);
        return;
    }
    if (all >= 0x80 && !xid_is_name(text)) {
        lex_error(lex, tok, "invalid character in a name");
        return;
    }
    tok->sym = intern_name(lex, text.at, text.len);
    lex->marks |= tok->sym->marks;
    tok->kind = tok->sym->tag && tok->sym->tag < T_KIND_COUNT
                    ? (uint8_t)tok->sym->tag
                    : T_NAME;
}

// --- operators -------------------------------------------------------------

static TokenKind take(Lexer *lex, size_t len, TokenKind kind) {
    lex->at += len;
    return kind;
}

// `c`, `c=`
static TokenKind op_equal(Lexer *lex, TokenKind plain, TokenKind equal) {
    if (lex->at[1] == '=') return take(lex, 2, equal);
    return take(lex, 1, plain);
}

// `c`, `c=`, `cc`, `cc=`
static TokenKind op_double(Lexer *lex, TokenKind plain, TokenKind equal,
                           TokenKind twice, TokenKind twice_equal) {
    if (lex->at[1] != lex->at[0]) return op_equal(lex, plain, equal);
    if (lex->at[2] == '=') return take(lex, 3, twice_equal);
    return take(lex, 2, twice);
}

// In an f-string's field ':' starts the format, so that {x:=5} is no walrus.
static TokenKind op_colon(Lexer *lex) {
    bool in_field = lex->field_depth && lex->depth == lex->field_depth;
    if (in_field) return take(lex, 1, T_COLON);
    return op_equal(lex, T_COLON, T_COLONEQUAL);
}

static TokenKind op_minus(Lexer *lex) {
    if (lex->at[1] == '>') return take(lex, 2, T_ARROW);
    return op_equal(lex, T_MINUS, T_MINUSEQUAL);
}

static TokenKind op_dot(Lexer *lex) {
    if (lex->at[1] == '.' && lex->at[2] == '.') return take(lex, 3, T_ELLIPSIS);
    return take(lex, 1, T_DOT);
}

// Tokens of one character.
static const uint8_t PLAIN[256] = {
    ['('] = T_LPAR,    [')'] = T_RPAR,   ['['] = T_LSQB,    [']'] = T_RSQB,
    ['{'] = T_LBRACE,  ['}'] = T_RBRACE, [','] = T_COMMA,   [':'] = T_COLON,
    [';'] = T_SEMI,    ['='] = T_EQUAL,  ['!'] = T_BANG,    ['@'] = T_AT,
    ['+'] = T_PLUS,    ['-'] = T_MINUS,  ['*'] = T_STAR,    ['/'] = T_SLASH,
    ['%'] = T_PERCENT, ['&'] = T_AMPER,  ['|'] = T_VBAR,    ['^'] = T_CIRCUMFLEX,
    ['~'] = T_TILDE,   ['<'] = T_LESS,   ['>'] = T_GREATER,
};

// Two operator characters in a row: one token, or the first one's.
static TokenKind lex_long_operator(Lexer *lex) {
    char c = *lex->at;
    switch (c) {
    case ':': return op_colon(lex);
    case '-': return op_minus(lex);
    case '=': return op_equal(lex, T_EQUAL, T_EQEQUAL);
    case '!': return op_equal(lex, T_BANG, T_NOTEQUAL);
    case '+': return op_equal(lex, T_PLUS, T_PLUSEQUAL);
    case '@': return op_equal(lex, T_AT, T_ATEQUAL);
    case '%': return op_equal(lex, T_PERCENT, T_PERCENTEQUAL);
    case '&': return op_equal(lex, T_AMPER, T_AMPEREQUAL);
    case '|': return op_equal(lex, T_VBAR, T_VBAREQUAL);
    case '^': return op_equal(lex, T_CIRCUMFLEX, T_CIRCUMFLEXEQUAL);
    case '*': return op_double(lex, T_STAR, T_STAREQUAL, T_DOUBLESTAR,
                               T_DOUBLESTAREQUAL);
    case '/': return op_double(lex, T_SLASH, T_SLASHEQUAL, T_DOUBLESLASH,
                               T_DOUBLESLASHEQUAL);
    case '<': return op_double(lex, T_LESS, T_LESSEQUAL, T_LSHIFT,
                               T_LSHIFTEQUAL);
    case '>': return op_double(lex, T_GREATER, T_GREATEREQUAL, T_RSHIFT,
                               T_RSHIFTEQUAL);
    default: return take(lex, 1, (TokenKind)PLAIN[(unsigned char)c]);
    }
}

static TokenKind lex_plain(Lexer *lex) {
    return take(lex, 1, (TokenKind)PLAIN[(unsigned char)*lex->at]);
}

static TokenKind lex_operator(Lexer *lex) {
    if (class_of(lex->at[1]) != C_OPERATOR) return lex_plain(lex);
    return lex_long_operator(lex);
}

// --- layout ----------------------------------------------------------------

size_t line_end_len(const char *s) {
    if (*s == '\n') return 1;
    if (*s == '\r') return s[1] == '\n' ? 2 : 1;
    return 0;
}

static const char *skip_comment(const Lexer *lex, const char *s) {
    size_t left = (size_t)(lex->end - s);
    if (!lex->has_cr) {
        const char *found = memchr(s, '\n', left);
        return found ? found : lex->end;
    }
    while (s < lex->end && *s != '\n' && *s != '\r') s++;
    return s;
}

// A backslash that ends a line which is not the last one.
static bool joins_line(const Lexer *lex) {
    size_t len = line_end_len(lex->at + 1);
    return len && lex->at + 1 + len < lex->end;
}

// The column of the first thing on the line; `at` moves there. A backslash
// joins the next line, whose blanks do not count then.
static Indent measure_indent(Lexer *lex) {
    Indent now = {0, 0};
    Indent first = {0, 0};
    for (;;) {
        char c = *lex->at;
        if (c == ' ') {
            now.col++, now.alt_col++;
        } else if (c == '\t') {
            now.col = (now.col / 8 + 1) * 8, now.alt_col++;
        } else if (c == '\f') {
            now = (Indent){0, 0};
        } else if (c == '\\' && joins_line(lex)) {
            if (!first.col) first = now;
            lex->at += line_end_len(lex->at + 1);
        } else {
            return first.col ? (Indent){first.col, first.col} : now;
        }
        lex->at++;
    }
}

// Goes to the first token of the next line that has one; its column.
static Indent skip_blank_lines(Lexer *lex) {
    for (;;) {
        Indent indent = measure_indent(lex);
        if (*lex->at == '#') lex->at = skip_comment(lex, lex->at);
        size_t len = line_end_len(lex->at);
        if (len == 0) {
            if (lex->at == lex->end) return (Indent){0, 0};
            return indent;
        }
        lex->at += len;
    }
}

// Compares the line's indentation with the open blocks. True when it yields a
// token of its own.
static bool lex_indent(Lexer *lex, Token *tok) {
    Indent now = skip_blank_lines(lex);
    Indent top = lex->indents[lex->indent_count - 1];
    tok->start = tok->end = (uint32_t)(lex->at - lex->text);
    lex->line_start = false;
    if (now.col > top.col) {
        if (lex->indent_count == LEXER_MAX_INDENTS) {
            lex_error(lex, tok, "too many levels of indentation");
        } else if (now.alt_col <= top.alt_col) {
            lex_error(lex, tok, "inconsistent use of tabs and spaces");
        } else {
            lex->indents[lex->indent_count++] = now;
            tok->kind = T_INDENT;
        }
        return true;
    }
    while (now.col < lex->indents[lex->indent_count - 1].col) {
        lex->indent_count--;
        lex->dedents++;
    }
    top = lex->indents[lex->indent_count - 1];
    lex->error = NULL;
    if (now.col != top.col) {
        lex->error = "unindent does not match any outer indentation level";
    } else if (now.alt_col != top.alt_col) {
        lex->error = "inconsistent use of tabs and spaces";
    }
    return false;
}

static void lex_end(Lexer *lex, Token *tok) {
    if (lex->at < lex->end) {
        lex->at++;
        lex_error(lex, tok, "a NUL byte");
        return;
    }
    tok->kind = T_EOF;
    if (lex->depth == 0 && lex->has_token) {
        tok->kind = T_NEWLINE;
        lex->has_token = false;
        lex->line_start = true;
    }
}

// A backslash before a line end is space; anywhere else it is an error.
static bool skip_continuation(Lexer *lex, Token *tok) {
    size_t len = line_end_len(lex->at + 1);
    if (len == 0) {
        lex->at++;
        lex_error(lex, tok, "unexpected character after line continuation");
        return false;
    }
    lex->at += 1 + len;
    if (lex->at == lex->end) {
        lex_error(lex, tok, "unexpected end of file after line continuation");
        return false;
    }
    return true;
}

// A line end: false where it is mere space.
static bool lex_newline(Lexer *lex, Token *tok) {
    lex->at += line_end_len(lex->at);
    if (lex->depth) {
        if (lex->at >= lex->strict_until) return false;
        if (!lexer_at_statement_line(lex)) return false;
        lex_error(lex, tok, "a bracket is never closed");
        return true;
    }
    tok->kind = T_NEWLINE;
    lex->line_start = true;
    lex->has_token = false;
    return true;
}

// What is neither a name nor an operator.
static bool lex_other(Lexer *lex, Token *tok) {
    switch (class_of(*lex->at)) {
    case C_SPACE: lex->at++; return false;
    case C_NEWLINE: return lex_newline(lex, tok);
    case C_HASH: lex->at = skip_comment(lex, lex->at); return false;
    case C_QUOTE:
        tok->flags = tok->prefix = 0;
        lex_string(lex, tok);
        return true;
    case C_DIGIT: lex_number(lex, tok); return true;
    case C_DOT:
        if (class_of(lex->at[1]) == C_DIGIT) {
            lex_number(lex, tok);
        } else {
            tok->kind = (uint8_t)op_dot(lex);
        }
        return true;
    case C_BACKSLASH: return !skip_continuation(lex, tok);
    case C_NUL: lex_end(lex, tok); return true;
    default:
        lex->at++;
        lex_error(lex, tok, "invalid character");
        return true;
    }
}

// One token from where `at` stands, or false after space. The commonest kinds
// are told by branches, which processors predict better than a jump table.
static bool lex_here(Lexer *lex, Token *tok) {
    unsigned class_ = class_of(*lex->at);
    if (class_ == C_NAME || class_ == C_HIGH) {
        lex_name(lex, tok);
    } else if (class_ == C_OPERATOR) {
        tok->kind = (uint8_t)lex_operator(lex);
    } else if (class_ == C_OPEN) {
        lex->depth++;
        tok->kind = (uint8_t)lex_plain(lex);
    } else if (class_ == C_CLOSE) {
        if (lex->depth) lex->depth--;
        tok->kind = (uint8_t)lex_plain(lex);
    } else {
        return lex_other(lex, tok);
    }
    return true;
}

// Dedents owed, then a complaint about the line's indentation. False where
// there is neither.
static bool give_layout(Lexer *lex, Token *tok) {
    tok->start = tok->end = (uint32_t)(lex->at - lex->text);
    if (lex->dedents) {
        lex->dedents--;
        tok->kind = T_DEDENT;
        return true;
    }
    if (!lex->error) return false;
    tok->kind = T_ERROR;
    return true;
}

void lexer_next(Lexer *lex, Token *tok) {
    if (lex->line_start) {
        if (lex_indent(lex, tok)) return;
    }
    if (lex->dedents || lex->error) {
        if (give_layout(lex, tok)) return;
    }
    const char *start;
    do {
        // Most tokens have one blank before them: no dispatch for that.
        while (*lex->at == ' ') lex->at++;
        start = lex->at;
    } while (!lex_here(lex, tok));
    if (tok->kind > T_ERROR) lex->has_token = true;
    tok->start = (uint32_t)(start - lex->text);
    tok->end = (uint32_t)(lex->at - lex->text);
}
