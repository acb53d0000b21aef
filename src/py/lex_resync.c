// lex_resync.c - where to go on after a statement that does not parse.
//
// The lines of the broken statement are skipped with as little trust as
// possible: brackets and quotes are followed, but a line that looks like the
// start of a statement, at a column where one may start, ends an open bracket.
#include "base/base.h"

#include "py/lexer.h"

typedef struct Resync {
    Lexer *lex;
    const char *fault; // where the parser gave up
    uint32_t indent;   // column of the block
    uint32_t depth;    // open brackets
} Resync;

static bool is_name_byte(char c) {
    unsigned char u = (unsigned char)c;
    return u >= 0x80 || u == '_' || (u >= '0' && u <= '9') ||
           ((u | 32) >= 'a' && (u | 32) <= 'z');
}

static bool starts_with_word(const char *s, const char *word) {
    size_t len = strlen(word);
    return strncmp(s, word, len) == 0 && !is_name_byte(s[len]);
}

static bool starts_with_any(const char *s, const char *const *words, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (starts_with_word(s, words[i])) return true;
    }
    return false;
}

// `name = ` or `a.b = `: with blanks, because f(name=1) is written without.
static bool starts_assignment(const char *s) {
    const char *at = s;
    while (is_name_byte(*at) || *at == '.') at++;
    return at > s && strncmp(at, " = ", 3) == 0;
}

// What starts a statement far more often than a line of an expression.
static bool starts_statement(const char *s) {
    static const char *const WORDS[] = {
        "def",    "class",  "return", "if",     "for",      "while", "with",
        "try",    "raise",  "import", "from",   "del",      "pass",  "break",
        "assert", "global", "async",  "except", "continue", "elif",  "finally",
        "nonlocal",
    };
    return *s == '@' || starts_assignment(s) ||
           starts_with_any(s, WORDS, COUNT(WORDS));
}

static bool starts_definition(const char *s) {
    static const char *const WORDS[] = {"def", "class", "async def"};
    return *s == '@' || starts_with_any(s, WORDS, COUNT(WORDS));
}

// The first thing on the line and its column.
static const char *line_start(const char *s, uint32_t *col) {
    for (*col = 0;; s++) {
        if (*s == ' ') {
            ++*col;
        } else if (*s == '\t') {
            *col = (*col / 8 + 1) * 8;
        } else if (*s == '\f') {
            *col = 0;
        } else {
            return s;
        }
    }
}

static bool is_blank(const char *s) {
    return *s == '#' || line_end_len(s);
}

// May parsing go on at the line `s`?
static bool may_resume(const Resync *r, const char *s) {
    uint32_t col;
    s = line_start(s, &col);
    if (is_blank(s) || col > r->indent) return false;
    return r->depth == 0 || starts_statement(s) || s == r->fault;
}

bool lexer_at_statement_line(const Lexer *lex) {
    uint32_t col;
    const char *s = line_start(lex->at, &col);
    return col <= lex->indents[lex->indent_count - 1].col &&
           starts_statement(s);
}

// The next line before `end`, or `end`.
static const char *next_line(const char *s, const char *end) {
    while (s < end && !line_end_len(s)) s++;
    return s < end ? s + line_end_len(s) : end;
}

// Does the triple-quoted text hold a line that looks like a definition in this
// block or outside? Then a quote is missing, and the text is really code.
static bool hides_definition(const Resync *r, const char *s, const char *end) {
    for (s = next_line(s, end); s < end; s = next_line(s, end)) {
        uint32_t col;
        const char *first = line_start(s, &col);
        if (col <= r->indent && starts_definition(first)) return true;
    }
    return false;
}

// Behind the string that opens at `s`. One that does not end, ends with its
// line, and whatever bracket it is in is taken as closed.
static const char *skip_string(Resync *r, const char *s) {
    Lexer lex = *r->lex;
    Token tok = {.kind = T_STRING};
    lex.at = s;
    lex_string(&lex, &tok);
    bool open = tok.kind == T_ERROR;
    memcpy(r->lex->unclosed, lex.unclosed, sizeof(lex.unclosed));
    if (tok.flags & STRING_TRIPLE && hides_definition(r, s, lex.at)) open = true;
    if (!open) return lex.at;
    r->depth = 0;
    while (s < lex.end && !line_end_len(s)) s++;
    return s;
}

static const char *skip_one(Resync *r, const char *s) {
    switch (*s) {
    case '"':
    case '\'': return skip_string(r, s);
    case '(':
    case '[':
    case '{': r->depth++; return s + 1;
    case ')':
    case ']':
    case '}':
        if (r->depth) r->depth--;
        return s + 1;
    case '#':
        while (s < r->lex->end && !line_end_len(s)) s++;
        return s;
    case '\\': return s + 1 + line_end_len(s + 1);
    default: return s + 1;
    }
}

void lexer_resync(Lexer *lex, uint32_t from, uint32_t fault, uint32_t indent) {
    Resync r = {.lex = lex, .fault = lex->text + fault, .indent = indent};
    const char *s = lex->text + from;
    while (s < lex->end) {
        size_t len = line_end_len(s);
        if (len == 0) {
            s = skip_one(&r, s);
            continue;
        }
        s += len;
        if (may_resume(&r, s)) break;
    }
    lex->at = s < lex->end ? s : lex->end;
    if (r.depth && r.fault > lex->strict_until) lex->strict_until = r.fault;
    lex->depth = lex->field_depth = lex->dedents = 0;
    lex->line_start = true;
    lex->has_token = false;
    lex->error = NULL;
}
