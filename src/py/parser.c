// parser.c - the engine below the grammar: tokens, faults, nodes, lists; then
// blocks of statements and how parsing goes on after a broken one.
//
// The grammar itself is in parse_*.c, one file for each part of it; the rules
// are quoted there as Python's reference has them.
#include "base/base.h"

#include "py/parser.h"

#include "py/parser_impl.h"

#ifdef NPUFUSE_DEBUG_ARENA
enum { POOL_NODES = 1 }; // so that the address sanitizer sees each node's end
#else
enum { POOL_NODES = 64 };
#endif
enum { FIRST_STACK = 256 };

// --- tokens and faults -----------------------------------------------------

void parser_advance(Parser *p) {
    if (p->failed) return;
    if (p->tok.kind > T_FAULT) p->prev_end = p->tok.end;
    lexer_next(&p->lex, &p->tok);
}

Node *parser_fault_at(Parser *p, uint32_t offset, const char *message) {
    if (p->failed) return p->dummy;
    // A block that lacks its indent fails where its first line fails too.
    uint32_t count = p->faults.len;
    if (!count || p->faults.at[count - 1].offset != offset) {
        SyntaxFault fault = {offset, message};
        vec_push(p->arena, &p->faults, fault);
    }
    p->failed = true;
    p->tok.kind = T_FAULT;
    return p->dummy;
}

Node *parser_fault(Parser *p, const char *message) {
    if (p->tok.kind == T_ERROR) message = p->lex.error;
    return parser_fault_at(p, p->tok.start, message);
}

void parser_expect(Parser *p, TokenKind kind) {
    if (parser_accept(p, kind) || p->failed) return;
    Str text = arena_printf(p->arena, "expected %s", token_name(kind));
    parser_fault(p, text.at);
}

const Sym *parser_name(Parser *p) {
    const Sym *name = p->tok.sym;
    if (!parser_at(p, T_NAME)) {
        parser_fault(p, "expected a name");
        return sym_intern(p->symbols, STR("_"));
    }
    parser_advance(p);
    return name;
}

bool parser_enter(Parser *p) {
    if (++p->depth <= PARSER_MAX_DEPTH) return true;
    parser_fault(p, "too deeply nested");
    return false;
}

ParserMark parser_mark(const Parser *p) {
    return (ParserMark){p->lex,    p->tok,        p->prev_end, p->stack_len,
                        p->height, p->faults.len, p->next_id};
}

void parser_restore(Parser *p, const ParserMark *mark) {
    p->lex = mark->lex;
    p->tok = mark->tok;
    p->prev_end = mark->prev_end;
    p->stack_len = mark->stack_len;
    p->height = mark->height;
    p->faults.len = mark->fault_count;
    p->next_id = mark->next_id;
    p->failed = false;
}

// --- nodes and lists -------------------------------------------------------

Node *parser_node(Parser *p, NodeKind kind, uint32_t start) {
    if (p->pool_left == 0) {
        p->pool = NEW_N(p->arena, Node, POOL_NODES);
        p->pool_left = POOL_NODES;
    }
    p->pool_left--;
    Node *node = p->pool++;
    node->kind = (uint8_t)kind;
    node->start = start;
    node->end = p->prev_end;
    node->id = p->next_id++;
    return node;
}

void parser_push(Parser *p, Node *node) {
    if (p->stack_len == p->stack_cap) {
        size_t bytes = p->stack_cap * sizeof(Node *);
        p->stack = arena_grow(p->arena, p->stack, bytes, bytes * 2);
        p->stack_cap *= 2;
    }
    p->stack[p->stack_len++] = node;
}

NodeList parser_take(Parser *p, uint32_t base) {
    NodeList list = {NULL, p->stack_len - base};
    if (list.len) {
        list.at = arena_alloc(p->arena, list.len * sizeof(Node *));
        memcpy(list.at, p->stack + base, list.len * sizeof(Node *));
    }
    p->stack_len = base;
    return list;
}

NodeList parser_every_second(Parser *p, uint32_t first, uint32_t len) {
    NodeList list = {NULL, len};
    if (len) list.at = NEW_N(p->arena, Node *, len);
    for (uint32_t i = 0; i < len; i++) list.at[i] = p->stack[first + 2 * i];
    return list;
}

// --- recovery --------------------------------------------------------------

static uint32_t trim_end(const Parser *p, uint32_t start) {
    const char *s = p->lex.at;
    const char *first = p->lex.text + start;
    while (s > first && strchr(" \t\f\r\n", s[-1])) s--;
    return (uint32_t)(s - p->lex.text);
}

// Skips the lines of what starts at `start` and failed; its brackets are
// followed from `from` on.
static Node *recover(Parser *p, uint32_t start, uint32_t from) {
    const SyntaxFault *fault = &p->faults.at[p->faults.len - 1];
    p->lex.indent_count = p->block_indents;
    lexer_resync(&p->lex, from, fault->offset,
                 p->lex.indents[p->block_indents - 1].col);
    p->prev_end = trim_end(p, start);
    Node *node = parser_node(p, N_BROKEN, start);
    node->u.broken.text = (Str){p->lex.text + start, p->prev_end - start};
    node->u.broken.message = fault->message;
    p->failed = false;
    lexer_next(&p->lex, &p->tok);
    return node;
}

Clause parse_clause(const Parser *p) {
    return (Clause){p->tok.start, p->stack_len};
}

bool parse_clause_failed(Parser *p, const Clause *clause) {
    if (!p->failed) return false;
    p->stack_len = clause->stack_len;
    Node *node = recover(p, clause->start, clause->start);
    vec_push(p->arena, &p->broken, node);
    return true;
}

void parse_incomplete(Parser *p, const char *message) {
    SyntaxFault fault = {p->prev_end, message};
    vec_push(p->arena, &p->faults, fault);
    Node *node = parser_node(p, N_BROKEN, p->prev_end);
    node->u.broken.text = (Str){p->lex.text + p->prev_end, 0};
    node->u.broken.message = message;
    vec_push(p->arena, &p->broken, node);
}

// --- statements and blocks -------------------------------------------------

// Pushes one statement. True for a compound one, which ends its line itself.
static bool parse_statement(Parser *p, bool may_be_compound) {
    Node *node = may_be_compound ? parse_compound_statement(p) : NULL;
    if (node) {
        parser_push(p, node);
        return true;
    }
    parser_push(p, parse_simple_statement(p));
    return false;
}

// Behind a simple statement: is there another one on the line?
static bool parse_separator(Parser *p) {
    if (parser_accept(p, T_NEWLINE)) return false;
    if (parser_accept(p, T_SEMI)) return !parser_accept(p, T_NEWLINE);
    parser_fault(p, "invalid syntax");
    return false;
}

// One statement, or an N_BROKEN in its place. True where another one follows
// on the same line.
static bool parse_guarded(Parser *p, bool may_be_compound) {
    uint32_t start = p->tok.start;
    uint32_t stack_len = p->stack_len;
    uint32_t broken = p->broken.len;
    p->header = start;
    p->height = 0;
    bool more = !parse_statement(p, may_be_compound) && parse_separator(p);
    if (p->failed) {
        p->stack_len = stack_len;
        parser_push(p, recover(p, start, p->header));
        more = false;
    }
    for (uint32_t i = broken; i < p->broken.len; i++) {
        parser_push(p, p->broken.at[i]);
    }
    p->broken.len = broken;
    return more;
}

// statement: compound_stmt | simple_stmts
// simple_stmts: ';'.simple_stmt+ [';'] NEWLINE
static void parse_line(Parser *p, bool may_be_compound) {
    while (parse_guarded(p, may_be_compound)) may_be_compound = false;
}

bool parser_open_block(Parser *p, uint32_t *outer) {
    *outer = p->block_indents;
    if (!parser_at(p, T_INDENT)) {
        parser_fault(p, "expected an indented block");
        return false;
    }
    p->block_indents = p->lex.indent_count;
    parser_advance(p);
    return true;
}

void parser_close_block(Parser *p, uint32_t outer) {
    p->block_indents = outer;
    parser_accept(p, T_DEDENT);
}

// block: NEWLINE INDENT statements DEDENT | simple_stmts
NodeList parse_block(Parser *p) {
    uint32_t base = p->stack_len;
    uint32_t outer;
    parser_expect(p, T_COLON);
    if (p->failed) return (NodeList){0};
    if (!parser_accept(p, T_NEWLINE)) {
        parse_line(p, false);
        return parser_take(p, base);
    }
    if (!parser_open_block(p, &outer)) return (NodeList){0};
    while (!parser_at(p, T_DEDENT) && !parser_at(p, T_EOF)) parse_line(p, true);
    parser_close_block(p, outer);
    return parser_take(p, base);
}

// --- the whole file --------------------------------------------------------

static void parser_init(Parser *p, const SourceText *source, Arena *arena,
                        SymTable *symbols) {
    *p = (Parser){.arena = arena, .symbols = symbols, .block_indents = 1};
    lexer_init(&p->lex, source, arena, symbols);
    p->stack_cap = FIRST_STACK;
    p->stack = NEW_N(arena, Node *, FIRST_STACK);
    p->dummy = NEW(arena, Node);
}

void parser_init_symbols(SymTable *symbols) {
    lexer_init_symbols(symbols);
}

ParseResult parser_parse(const SourceText *source, Arena *arena,
                         SymTable *symbols) {
    Parser p;
    parser_init(&p, source, arena, symbols);
    lexer_next(&p.lex, &p.tok);
    while (!parser_at(&p, T_EOF)) parse_line(&p, true);
    Node *module = parser_node(&p, N_MODULE, 0);
    module->u.module.body = parser_take(&p, 0);
    module->end = (uint32_t)source->text.len;
    return (ParseResult){module, p.faults.at, p.faults.len, p.next_id, p.lex.marks,
                         p.function_count};
}
