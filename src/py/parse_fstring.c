// parse_fstring.c - f-strings and t-strings (PEP 701, PEP 750).
//
// The literal parts are read here byte by byte, straight from the lexer's
// place; fields are parsed as the expressions they are. While a field is read
// the lexer knows its depth (`field_depth`), because there ':' ends the
// expression. Quotes inside a field may be those of the string around it.
#include "base/base.h"

#include "py/parser_impl.h"

typedef struct FString {
    unsigned flags; // STRING_*
    char quote;
    bool in_spec; // the literal is a format specification
} FString;

static void parse_field(Parser *p, const FString *f);

static uint32_t offset_of(const Parser *p, const char *s) {
    return (uint32_t)(s - p->lex.text);
}

static bool is_brace(char c) {
    return c == '{' || c == '}';
}

// --- literal parts ---------------------------------------------------------

static bool at_close(const FString *f, const char *s) {
    if (*s != f->quote) return false;
    return !(f->flags & STRING_TRIPLE) || (s[1] == *s && s[2] == *s);
}

// Behind the backslash at `s` and what it escapes. Braces are never escaped
// by it; \N{...} has braces of its own.
static const char *skip_escape(const Parser *p, const FString *f,
                               const char *s) {
    if (is_brace(s[1])) return s + 1;
    if (s + 1 == p->lex.end) return s + 1;
    if (s[1] == '\r' && s[2] == '\n') return s + 3;
    if (s[1] != 'N' || s[2] != '{' || f->flags & STRING_RAW) return s + 2;
    const char *close = memchr(s, '}', (size_t)(p->lex.end - s));
    return close ? close + 1 : s + 3;
}

// A literal while it is read: `{{` and `}}` cut it into pieces.
typedef struct Literal {
    Pieces value;
    const char *piece; // start of the current piece
    const char *end;   // of the last piece that was not empty
    unsigned escape;   // STRING_ESCAPE once the piece needs decoding
    uint8_t node_flags;
} Literal;

// The piece ends before `end`, the next one starts at `next`.
static void end_piece(Parser *p, const FString *f, Literal *lit,
                      const char *end, const char *next) {
    Str body = {lit->piece, (size_t)(end - lit->piece)};
    unsigned flags = (f->flags & STRING_RAW) | lit->escape;
    Str value = parse_string_body(p, body, flags, &lit->node_flags);
    pieces_add(p, &lit->value, value);
    if (value.len) lit->end = next;
    lit->piece = next;
    lit->escape = 0;
}

// Moves over one byte, an escape or a doubled brace. NULL at the end of the
// literal or at a fault.
static const char *literal_step(Parser *p, const FString *f, Literal *lit,
                                const char *s) {
    bool doubled = is_brace(*s) && s[1] == *s && !f->in_spec;
    if (doubled) {
        end_piece(p, f, lit, s + 1, s + 2);
        return s + 2;
    }
    if (at_close(f, s) || is_brace(*s)) return NULL;
    if (*s == '\\') {
        lit->escape = STRING_ESCAPE;
        return skip_escape(p, f, s);
    }
    if (*s == '\r') lit->escape = STRING_ESCAPE;
    bool line_end = *s == '\n' || *s == '\r';
    if (s == p->lex.end || (line_end && !(f->flags & STRING_TRIPLE))) {
        parser_fault_at(p, offset_of(p, s), "unterminated f-string");
        return NULL;
    }
    return s + 1;
}

// Reads the literal at the lexer's place and pushes it unless it is empty.
// Stops at the closing quote, at '{' or, in a format, at '}'.
static void parse_literal(Parser *p, const FString *f) {
    Literal lit = {.piece = p->lex.at};
    const char *start = p->lex.at;
    const char *s = start;
    for (const char *next; (next = literal_step(p, f, &lit, s));) s = next;
    end_piece(p, f, &lit, s, s);
    p->lex.at = s;
    if (!lit.value.text.len) return;
    Node *node = parser_node(p, N_CONSTANT, offset_of(p, start));
    node->op = CONST_STR;
    node->end = offset_of(p, lit.end);
    node->flags = lit.node_flags;
    node->u.constant.text = lit.value.text;
    parser_push(p, node);
}

// --- fields ----------------------------------------------------------------

// The source of a field's expression without comments, line ends as "\n".
static Str field_text(Parser *p, const char *start, const char *end) {
    Str text = {start, (size_t)(end - start)};
    Pieces out = {0};
    uint8_t unused = 0;
    char quote = '\0';
    const char *piece = start;
    for (const char *s = start; s < end; s++) {
        if (quote ? *s == quote : (*s == '"' || *s == '\'')) {
            quote = quote ? '\0' : *s;
        }
        if (quote || *s != '#') continue;
        pieces_add(p, &out, (Str){piece, (size_t)(s - piece)});
        while (s < end && *s != '\n' && *s != '\r') s++;
        piece = s;
    }
    pieces_add(p, &out, (Str){piece, (size_t)(end - piece)});
    bool has_cr = text.len && memchr(text.at, '\r', text.len);
    if (!has_cr) return out.text;
    return parse_string_body(p, out.text, STRING_RAW | STRING_ESCAPE, &unused);
}

// A t-string keeps the text of the expression: no blanks or '=' behind it.
static Str strip_field_text(Str text) {
    while (text.len && strchr(" \t\n\f=", text.at[text.len - 1])) text.len--;
    return text;
}

// fstring_conversion: '!' NAME, with nothing between the two
static char parse_conversion(Parser *p) {
    if (!parser_at(p, T_BANG)) return '\0';
    uint32_t end = p->tok.end;
    parser_advance(p);
    char letter = p->lex.text[p->tok.start];
    bool good = parser_at(p, T_NAME) && p->tok.start == end &&
                p->tok.end == end + 1 && strchr("sra", letter);
    if (!good) parser_fault(p, "expected 's', 'r' or 'a' behind '!'");
    parser_advance(p);
    return letter;
}

// fstring_full_format_spec: ':' (literal | field)*
static Node *parse_format_spec(Parser *p, const FString *outer) {
    FString f = *outer;
    uint32_t start = p->tok.start;
    uint32_t base = p->stack_len;
    f.in_spec = true;
    parse_literal(p, &f);
    while (!p->failed && *p->lex.at == '{') {
        parse_field(p, &f);
        if (!p->failed) parse_literal(p, &f);
    }
    if (p->failed) return p->dummy;
    Node *node = parser_node(p, N_JOINED_STR, start);
    node->end = offset_of(p, p->lex.at);
    node->u.joined.values = parse_join_parts(p, base);
    parser_advance(p);
    return node;
}

// The `x=` of {x=}: a constant before the value.
static void push_debug_text(Parser *p, const char *start, const char *end) {
    Node *node = parser_node(p, N_CONSTANT, offset_of(p, start));
    node->op = CONST_STR;
    node->end = offset_of(p, end);
    node->u.constant.text = field_text(p, start, end);
    parser_push(p, node);
}

// fstring_replacement_field: '{' (yield_expr | star_expressions) ['=']
//                            [conversion] [full_format_spec] '}'
//
// The current token is the '{' in effect; at the end it is the '}', and the
// lexer stands behind it.
static void parse_field_inside(Parser *p, const FString *f) {
    const char *open = p->lex.at;
    p->lex.at++;
    parser_advance(p);
    Node *value = parse_yield_or_star_expressions(p);
    bool debug = parser_accept(p, T_EQUAL);
    const char *end = p->lex.text + p->tok.start;
    if (debug && !p->failed) push_debug_text(p, open + 1, end);
    char conversion = parse_conversion(p);
    Node *spec = parser_at(p, T_COLON) ? parse_format_spec(p, f) : NULL;
    if (!parser_at(p, T_RBRACE)) parser_fault(p, "expected '}' in an f-string");
    if (p->failed) return;
    bool template_ = f->flags & STRING_TEMPLATE && !f->in_spec;
    NodeKind kind = template_ ? N_INTERPOLATION : N_FORMATTED_VALUE;
    Node *node = parser_node(p, kind, offset_of(p, open));
    node->end = p->tok.end;
    if (debug && !conversion && !spec) conversion = 'r';
    node->op = (uint8_t)conversion;
    node->u.formatted.value = value;
    node->u.formatted.format_spec = spec;
    node->u.formatted.expr_text = strip_field_text(field_text(p, open + 1, end));
    parser_push(p, node);
}

static void parse_field(Parser *p, const FString *f) {
    uint32_t outer = p->lex.field_depth;
    p->lex.field_depth = ++p->lex.depth;
    if (parser_enter(p)) parse_field_inside(p, f);
    p->depth--;
    p->lex.field_depth = outer;
}

void parse_fstring_parts(Parser *p) {
    FString f = {p->tok.flags, p->lex.at[-1], false};
    parse_literal(p, &f);
    while (!p->failed && *p->lex.at == '{') {
        parse_field(p, &f);
        if (!p->failed) parse_literal(p, &f);
    }
    if (p->failed) return;
    if (*p->lex.at == '}') {
        parser_fault_at(p, offset_of(p, p->lex.at), "a single '}' in an f-string");
        return;
    }
    p->lex.at += f.flags & STRING_TRIPLE ? 3 : 1;
    p->tok.end = offset_of(p, p->lex.at);
    parser_advance(p);
}
