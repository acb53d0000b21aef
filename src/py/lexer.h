// lexer.h - Python source text to tokens, one at a time.
//
// The parser pulls tokens and looks no further than the current one. Where it
// must try two readings it copies the Lexer, which is small, and puts it back.
// Bodies of f-strings are read by parse_fstring.c straight from `at`.
#ifndef NPUFUSE_LEXER_H
#define NPUFUSE_LEXER_H

#include "base/sym.h"
#include "py/source.h"

// ORDER TOKEN: TOKEN_TEXT in lexer.c and the tables in parse_expr.c.
typedef enum TokenKind {
    T_EOF, T_NEWLINE, T_INDENT, T_DEDENT,
    T_ERROR, // text that is no token; Lexer.error says why
    T_FAULT, // set by the parser: this statement is known to be broken
    T_NAME, T_NUMBER, T_STRING,
    T_FSTRING, // only the opening of an f-string or t-string
    // operators
    T_LPAR, T_RPAR, T_LSQB, T_RSQB, T_LBRACE, T_RBRACE, T_COMMA, T_COLON,
    T_SEMI, T_DOT, T_ELLIPSIS, T_EQUAL, T_COLONEQUAL, T_ARROW, T_BANG, T_AT,
    T_PLUS, T_MINUS, T_STAR, T_DOUBLESTAR, T_SLASH, T_DOUBLESLASH, T_PERCENT,
    T_LSHIFT, T_RSHIFT, T_AMPER, T_VBAR, T_CIRCUMFLEX, T_TILDE, T_LESS,
    T_GREATER, T_LESSEQUAL, T_GREATEREQUAL, T_EQEQUAL, T_NOTEQUAL,
    // augmented assignment
    T_PLUSEQUAL, T_MINUSEQUAL, T_STAREQUAL, T_SLASHEQUAL, T_PERCENTEQUAL,
    T_AMPEREQUAL, T_VBAREQUAL, T_CIRCUMFLEXEQUAL, T_LSHIFTEQUAL,
    T_RSHIFTEQUAL, T_DOUBLESTAREQUAL, T_DOUBLESLASHEQUAL, T_ATEQUAL,
    // keywords
    T_FALSE, T_NONE, T_TRUE, T_AND, T_AS, T_ASSERT, T_ASYNC, T_AWAIT, T_BREAK,
    T_CLASS, T_CONTINUE, T_DEF, T_DEL, T_ELIF, T_ELSE, T_EXCEPT, T_FINALLY,
    T_FOR, T_FROM, T_GLOBAL, T_IF, T_IMPORT, T_IN, T_IS, T_LAMBDA,
    T_NONLOCAL, T_NOT, T_OR, T_PASS, T_RAISE, T_RETURN, T_TRY, T_WHILE,
    T_WITH, T_YIELD,
    T_KIND_COUNT,
    // Soft keywords: these are tags of the Sym only, the token is a T_NAME.
    T_SOFT_MATCH, T_SOFT_CASE, T_SOFT_TYPE, T_SOFT_UNDERSCORE,
} TokenKind;

// Token.flags of T_STRING and T_FSTRING.
enum {
    STRING_BYTES = 1,
    STRING_RAW = 2,
    STRING_U_PREFIX = 4,
    STRING_TRIPLE = 8,
    STRING_ESCAPE = 16, // the body holds a backslash or a carriage return
    STRING_TEMPLATE = 32,
};

typedef struct Token {
    uint8_t kind;   // TokenKind
    uint8_t flags;  // STRING_*; ConstKind of a T_NUMBER
    uint8_t prefix; // strings: bytes before the opening quote
    uint32_t start, end;
    const Sym *sym; // names and keywords
} Token;

typedef struct Indent {
    uint32_t col;     // tabs to multiples of 8
    uint32_t alt_col; // tabs are 1: the two must agree on every comparison
} Indent;

enum { LEXER_MAX_INDENTS = 101 };

typedef struct Lexer {
    const char *text, *at, *end;
    uint32_t depth;       // open brackets: above 0 line ends are space
    uint32_t field_depth; // depth of the f-string field being read, or 0
    uint32_t indent_count;
    uint32_t dedents; // still to be given out
    bool line_start;  // the next token is the first of a logical line
    bool has_token;   // the logical line holds a token, so it needs T_NEWLINE
    bool has_cr;      // the text holds a carriage return
    const char *error;
    Indent *indents;     // LEXER_MAX_INDENTS of them; the first is column 0
    const Sym **names;   // names seen lately, by hash: SymTable.recent
    // From here on a triple quote of this kind ('"' first) has no end: a file
    // full of them is not searched again and again. NULL while not known.
    const char *unclosed[2];
    // Up to here the text was read inside a bracket that is never closed.
    // There, a line that looks like a statement ends every open bracket at
    // once, or a file full of them would be read from each of its lines.
    const char *strict_until;
    SymTable *symbols;
    uint32_t marks; // of the names read, and MARK_* of the parser
} Lexer;

void lexer_init_symbols(SymTable *symbols);
void lexer_init(Lexer *lex, const SourceText *source, Arena *arena,
                SymTable *symbols);
void lexer_next(Lexer *lex, Token *tok);
// The text of a token, for messages: "':='", "'if'", "a name".
const char *token_name(TokenKind kind);

// Moves to the first physical line after `from` where a statement may start
// again: outside brackets and strings at a column not above `indent`, or, in
// a bracket that was never closed, at a keyword that starts a statement or at
// `fault`, if that is the first token of such a line.
void lexer_resync(Lexer *lex, uint32_t from, uint32_t fault, uint32_t indent);

// Is `at` at the start of a line that looks like a statement of this block?
bool lexer_at_statement_line(const Lexer *lex);

// lex_literal.c: `at` is on the digit or dot, or on the opening quote.
void lex_number(Lexer *lex, Token *tok);
void lex_string(Lexer *lex, Token *tok);
// Sets the flags of a string prefix; false where `text` is none.
bool lex_string_prefix(Str text, Token *tok);
// Length of a line end at `s`: 0, 1, or 2 for "\r\n".
size_t line_end_len(const char *s);
void lex_error(Lexer *lex, Token *tok, const char *message);

#endif
