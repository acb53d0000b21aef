// parse_string.c - string literals: their values, and rows of them.
//
// A body without escapes is its own value. Strings that follow each other are
// one constant or, with an f-string among them, one list of parts in which
// constants that touch are joined.
#include "base/base.h"

#include "py/parser_impl.h"

// --- pieces ----------------------------------------------------------------

void pieces_add(Parser *p, Pieces *pieces, Str piece) {
    if (piece.len == 0) return;
    if (pieces->text.len == 0 && pieces->cap == 0) {
        pieces->text = piece;
        return;
    }
    size_t len = pieces->text.len + piece.len;
    if (len > pieces->cap) {
        pieces->cap = len * 2;
        char *at = arena_alloc(p->arena, pieces->cap);
        memcpy(at, pieces->text.at, pieces->text.len);
        pieces->text.at = at;
    }
    memcpy((char *)(uintptr_t)pieces->text.at + pieces->text.len, piece.at,
           piece.len);
    pieces->text.len = len;
}

// --- escapes ---------------------------------------------------------------

typedef struct Unescape {
    Parser *p;
    const char *s, *end;
    char *out;
    bool bytes;
    bool named; // a \N{...} was kept
} Unescape;

static bool is_octal(char c) {
    return c >= '0' && c <= '7';
}

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if ((c | 32) >= 'a' && (c | 32) <= 'f') return (c | 32) - 'a' + 10;
    return -1;
}

// UTF-8, also for lone surrogates; in bytes the value itself.
static void put_char(Unescape *u, uint32_t c) {
    if (c < 0x80 || u->bytes) {
        *u->out++ = (char)c;
    } else if (c < 0x800) {
        *u->out++ = (char)(0xC0 | c >> 6);
        *u->out++ = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *u->out++ = (char)(0xE0 | c >> 12);
        *u->out++ = (char)(0x80 | (c >> 6 & 0x3F));
        *u->out++ = (char)(0x80 | (c & 0x3F));
    } else {
        *u->out++ = (char)(0xF0 | c >> 18);
        *u->out++ = (char)(0x80 | (c >> 12 & 0x3F));
        *u->out++ = (char)(0x80 | (c >> 6 & 0x3F));
        *u->out++ = (char)(0x80 | (c & 0x3F));
    }
}

static void bad_escape(Unescape *u, const char *at) {
    uint32_t offset = (uint32_t)(at - u->p->lex.text);
    parser_fault_at(u->p, offset, "invalid escape in a string");
}

// \ooo: `s` is on the first digit.
static void put_octal(Unescape *u) {
    uint32_t c = 0;
    for (int i = 0; i < 3 && u->s < u->end && is_octal(*u->s); i++) {
        c = c * 8 + (uint32_t)(*u->s++ - '0');
    }
    put_char(u, u->bytes ? c & 0xFF : c);
}

// \xhh, \uhhhh, \Uhhhhhhhh: `s` is behind the letter.
static void put_hex(Unescape *u, int digits) {
    const char *start = u->s - 2;
    uint32_t c = 0;
    for (int i = 0; i < digits; i++) {
        int value = u->s < u->end ? hex_value(*u->s) : -1;
        if (value < 0) {
            bad_escape(u, start);
            return;
        }
        c = c << 4 | (uint32_t)value;
        u->s++;
    }
    if (c > 0x10FFFF) {
        bad_escape(u, start);
    } else {
        put_char(u, c);
    }
}

// Behind the '}' of a \N{NAME} whose '{' is at `s`; NULL where it is none.
// The names of characters are made of letters, digits, blanks and hyphens.
static const char *named_end(const char *s, const char *end) {
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -";
    if (s == end || *s != '{') return NULL;
    const char *at = s + 1;
    while (at < end && *at && strchr(LETTERS, *at)) at++;
    return at < end && *at == '}' && at > s + 1 ? at + 1 : NULL;
}

// \N{NAME} stays as written: the names are not known here.
static void keep_named(Unescape *u) {
    const char *start = u->s - 2;
    const char *end = named_end(u->s, u->end);
    if (!end) {
        bad_escape(u, start);
        return;
    }
    u->named = true;
    u->s = end;
    memcpy(u->out, start, (size_t)(end - start));
    u->out += end - start;
}

static void keep_unknown(Unescape *u, char c) {
    *u->out++ = '\\';
    *u->out++ = c;
}

// `s` is behind a backslash that is not the last byte.
static void put_escape(Unescape *u) {
    char c = *u->s++;
    switch (c) {
    case '\r':
        if (u->s < u->end && *u->s == '\n') u->s++;
        break;
    case '\n': break;
    case '\\':
    case '\'':
    case '"': *u->out++ = c; break;
    case 'a': *u->out++ = '\a'; break;
    case 'b': *u->out++ = '\b'; break;
    case 'f': *u->out++ = '\f'; break;
    case 'n': *u->out++ = '\n'; break;
    case 'r': *u->out++ = '\r'; break;
    case 't': *u->out++ = '\t'; break;
    case 'v': *u->out++ = '\v'; break;
    case 'x': put_hex(u, 2); break;
    case '0': case '1': case '2': case '3':
    case '4': case '5': case '6': case '7':
        u->s--;
        put_octal(u);
        break;
    case 'u':
    case 'U':
    case 'N':
        if (u->bytes) {
            keep_unknown(u, c);
        } else if (c == 'N') {
            keep_named(u);
        } else {
            put_hex(u, c == 'u' ? 4 : 8);
        }
        break;
    default: keep_unknown(u, c); break;
    }
}

// Line ends become "\n", escapes what they mean unless the string is raw.
// The value is never longer than the body.
static Str unescape(Parser *p, Str body, unsigned flags, uint8_t *node_flags) {
    char *out = arena_alloc(p->arena, body.len);
    Unescape u = {p, body.at, body.at + body.len, out, false, false};
    u.bytes = flags & STRING_BYTES;
    while (u.s < u.end) {
        char c = *u.s++;
        if (c == '\r') {
            if (u.s < u.end && *u.s == '\n') u.s++;
            *u.out++ = '\n';
        } else if (c == '\\' && !(flags & STRING_RAW) && u.s < u.end) {
            put_escape(&u);
        } else {
            *u.out++ = c;
        }
    }
    if (u.named) *node_flags |= NODE_NAMED_ESCAPE;
    return (Str){out, (size_t)(u.out - out)};
}

static void check_ascii(Parser *p, Str body) {
    for (size_t i = 0; i < body.len; i++) {
        if ((unsigned char)body.at[i] < 0x80) continue;
        parser_fault_at(p, (uint32_t)(body.at + i - p->lex.text),
                        "bytes can only contain ASCII characters");
        return;
    }
}

Str parse_string_body(Parser *p, Str body, unsigned flags,
                      uint8_t *node_flags) {
    if (flags & STRING_BYTES) check_ascii(p, body);
    if (!(flags & STRING_ESCAPE)) return body;
    return unescape(p, body, flags, node_flags);
}

// --- rows of strings -------------------------------------------------------

// What a row of strings is made of.
typedef struct StringRow {
    bool text, bytes, format, template_;
} StringRow;

static Node *parse_plain_string(Parser *p) {
    Token tok = p->tok;
    uint32_t quotes = tok.flags & STRING_TRIPLE ? 3 : 1;
    uint32_t start = tok.start + tok.prefix + quotes;
    Str body = {p->lex.text + start, tok.end - quotes - start};
    // CPython remembers u'...' but not U'...'.
    uint8_t node_flags = p->lex.text[tok.start] == 'u' ? NODE_U_PREFIX : 0;
    Str value = parse_string_body(p, body, tok.flags, &node_flags);
    parser_advance(p);
    Node *node = parser_node(p, N_CONSTANT, tok.start);
    node->op = tok.flags & STRING_BYTES ? CONST_BYTES : CONST_STR;
    node->flags = node_flags;
    node->u.constant.text = value;
    return node;
}

static void parse_one_string(Parser *p, StringRow *row) {
    if (parser_at(p, T_FSTRING)) {
        if (p->tok.flags & STRING_TEMPLATE) {
            row->template_ = true;
        } else {
            row->format = true;
        }
        parse_fstring_parts(p);
        return;
    }
    if (p->tok.flags & STRING_BYTES) {
        row->bytes = true;
    } else {
        row->text = true;
    }
    parser_push(p, parse_plain_string(p));
}

// Joins the constants at `at` that follow each other into the first. Empty
// ones count for its end, as in CPython. Returns how many there are.
static uint32_t join_constants(Parser *p, Node **at, uint32_t len) {
    Pieces pieces = {0};
    Node *first = at[0];
    uint32_t i = 0;
    for (; i < len && at[i]->kind == N_CONSTANT; i++) {
        pieces_add(p, &pieces, at[i]->u.constant.text);
        first->flags |= at[i]->flags & NODE_NAMED_ESCAPE;
        first->end = at[i]->end;
    }
    first->u.constant.text = pieces.text;
    return i;
}

NodeList parse_join_parts(Parser *p, uint32_t base) {
    uint32_t out = base;
    for (uint32_t i = base; i < p->stack_len;) {
        Node *node = p->stack[i];
        uint32_t used = 1;
        if (node->kind == N_CONSTANT) {
            used = join_constants(p, p->stack + i, p->stack_len - i);
        }
        i += used;
        if (node->kind == N_CONSTANT && node->u.constant.text.len == 0) continue;
        p->stack[out++] = node;
    }
    p->stack_len = out;
    return parser_take(p, base);
}

static Node *join_plain(Parser *p, uint32_t base) {
    Node *first = p->stack[base];
    uint32_t len = p->stack_len - base;
    if (len > 1) join_constants(p, p->stack + base, len);
    first->end = p->prev_end;
    p->stack_len = base;
    return first;
}

// strings: (STRING | FSTRING)+
Node *parse_strings(Parser *p) {
    uint32_t start = p->tok.start;
    uint32_t base = p->stack_len;
    StringRow row = {0};
    do {
        parse_one_string(p, &row);
    } while (parser_at(p, T_STRING) || parser_at(p, T_FSTRING));
    if (p->failed) return p->dummy;
    if (row.bytes && (row.text || row.format || row.template_)) {
        return parser_fault_at(p, start, "cannot mix bytes and other literals");
    }
    if (row.template_ && (row.text || row.format)) {
        return parser_fault_at(p, start, "cannot mix t-strings and other literals");
    }
    if (!row.format && !row.template_) return join_plain(p, base);
    NodeKind kind = row.template_ ? N_TEMPLATE_STR : N_JOINED_STR;
    Node *node = parser_node(p, kind, start);
    node->u.joined.values = parse_join_parts(p, base);
    return node;
}
