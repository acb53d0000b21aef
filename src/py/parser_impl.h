// parser_impl.h - what the parse_*.c files share; nobody else includes it.
//
// Parsing never stops in the middle: the first fault of a statement sets
// `failed` and turns the current token into T_FAULT, which no rule accepts, so
// that every loop ends and every function returns in its usual way. What they
// return then is some node, never NULL; the statement that holds it is dropped
// in parser.c, which resynchronises and makes an N_BROKEN of the lines.
//
// Each parse function starts with the current token as its first and ends with
// the current token as the first one behind it. The start of a node is that of
// its first token, kept by the function, and not its first child's start: a
// child in parentheses starts later. The end is `prev_end`.
#ifndef NPUFUSE_PARSER_IMPL_H
#define NPUFUSE_PARSER_IMPL_H

#include "py/lexer.h"
#include "py/parser.h"

typedef struct Parser {
    Lexer lex;
    Token tok;         // the current token
    uint32_t prev_end; // end of the last token that is text
    bool failed;       // the current statement has a fault
    uint32_t depth;    // of recursion, up to PARSER_MAX_DEPTH
    uint32_t height;   // of the left-deep part of the last operand
    uint32_t next_id;
    uint32_t function_count;
    Arena *arena;
    SymTable *symbols;
    Node *pool; // nodes not yet given out
    uint32_t pool_left;
    Node *dummy; // stands for what could not be parsed
    // Lists under construction: children are pushed here and copied out once
    // their number is known.
    Node **stack;
    uint32_t stack_len, stack_cap;
    VEC(SyntaxFault) faults;
    VEC(Node *) broken;  // clauses given up inside the current statement
    uint32_t header;     // where skipping starts if the statement fails
    uint32_t block_indents; // open indentations of the block being parsed
} Parser;

// A place to return to after trying one of two readings.
typedef struct ParserMark {
    Lexer lex;
    Token tok;
    uint32_t prev_end, stack_len, height, fault_count, next_id;
} ParserMark;

// --- parser.c: tokens, faults, nodes, lists --------------------------------
void parser_advance(Parser *p);
// Reports at the current token: `message`, or what the lexer found wrong.
// Returns the dummy node.
Node *parser_fault(Parser *p, const char *message);
Node *parser_fault_at(Parser *p, uint32_t offset, const char *message);
// "expected ':'"
void parser_expect(Parser *p, TokenKind kind);
const Sym *parser_name(Parser *p);
// One level deeper, or a fault. Each call is paired with `p->depth--`.
bool parser_enter(Parser *p);
ParserMark parser_mark(const Parser *p);
void parser_restore(Parser *p, const ParserMark *mark);

static inline uint32_t parser_op_marks(AstOp op) {
    if (op == A_MULT || op == A_DIV || op == A_MAT_MULT) return MARK_PRODUCT;
    if (op == A_ADD) return MARK_SUM;
    return op == A_POW ? MARK_POWER : 0;
}
Node *parser_node(Parser *p, NodeKind kind, uint32_t start);
void parser_push(Parser *p, Node *node);
// The nodes pushed since the stack held `base`.
NodeList parser_take(Parser *p, uint32_t base);
// Copies `len` nodes of a stack of pairs: those at `first`, `first` + 2, ...
NodeList parser_every_second(Parser *p, uint32_t first, uint32_t len);

static inline bool parser_at(const Parser *p, TokenKind kind) {
    return p->tok.kind == kind;
}
static inline bool parser_accept(Parser *p, TokenKind kind) {
    if (p->tok.kind != kind) return false;
    parser_advance(p);
    return true;
}

// --- parser.c: blocks and recovery -----------------------------------------
// ':' and then a line of simple statements or an indented block.
NodeList parse_block(Parser *p);
// A clause of a statement (elif, except, case) that may fail on its own.
typedef struct Clause {
    uint32_t start, stack_len;
} Clause;
Clause parse_clause(const Parser *p); // starts at the current token
// Gives the clause up if it failed: its lines become an N_BROKEN behind the
// statement, and the statement goes on. False where the clause is fine.
bool parse_clause_failed(Parser *p, const Clause *clause);

// Reports something missing behind a statement that is kept, such as a 'try'
// without handlers.
void parse_incomplete(Parser *p, const char *message);
// An indented block, whose outer indentation is kept in `outer`.
bool parser_open_block(Parser *p, uint32_t *outer);
void parser_close_block(Parser *p, uint32_t outer);

// --- statements ------------------------------------------------------------
Node *parse_simple_statement(Parser *p);
// NULL, with nothing consumed, where no compound statement starts.
Node *parse_compound_statement(Parser *p);
// The same for `match subject:`.
Node *parse_match(Parser *p);
NodeList parse_type_params(Parser *p); // '[' ... ']' or nothing
// Up to `close`: T_RPAR of a def or T_COLON of a lambda, not consumed.
Node *parse_parameters(Parser *p, TokenKind close);

// --- expressions -----------------------------------------------------------
typedef Node *(*ParseElement)(Parser *p);
bool starts_expression(TokenKind kind); // or a starred one
Node *parse_expression(Parser *p);
Node *parse_named_expression(Parser *p);
Node *parse_star_expressions(Parser *p);
// A single element of a list, a tuple, a set: may be starred or named.
Node *parse_star_named_expression(Parser *p);
Node *parse_yield_or_star_expressions(Parser *p);
Node *parse_disjunction(Parser *p);
Node *parse_bitwise_or(Parser *p);
Node *parse_starred(Parser *p, ParseElement operand); // at '*'
Node *parse_yield(Parser *p);                         // at 'yield'
// A comma separated list that may end in a comma: an N_TUPLE, or the element
// itself where no comma follows it.
Node *parse_tuple_of(Parser *p, ParseElement element);
// The same at the comma behind the first element, which started at `start`.
Node *parse_tuple_after(Parser *p, Node *first, uint32_t start,
                        ParseElement element);
Node *parse_atom(Parser *p);
// The `for` clauses of a comprehension.
NodeList parse_comprehension_clauses(Parser *p);
// One or more strings in a row, at T_STRING or T_FSTRING.
Node *parse_strings(Parser *p);

typedef struct CallArgs {
    NodeList args, keywords;
} CallArgs;
// From '(' to ')'. A class takes no generator expression as sole argument.
CallArgs parse_call_args(Parser *p, bool may_be_generator);

// --- targets ---------------------------------------------------------------
typedef enum TargetUse {
    TARGET_ASSIGN, // also for, with, comprehensions
    TARGET_SINGLE, // annotated and augmented assignment
    TARGET_DELETE,
} TargetUse;
// Checks that `node` may be assigned to and sets its ctx.
void parse_set_target(Parser *p, Node *node, TargetUse use);
// for-loops: everything up to 'in'.
Node *parse_for_target(Parser *p);

// --- strings ---------------------------------------------------------------
// A text that is put together; while it is one piece it is only borrowed.
typedef struct Pieces {
    Str text;
    size_t cap; // 0 while borrowed
} Pieces;
void pieces_add(Parser *p, Pieces *pieces, Str piece);
// The value of the string body at `start`. `flags` are those of the token.
// May set NODE_NAMED_ESCAPE in `node_flags`.
Str parse_string_body(Parser *p, Str body, unsigned flags, uint8_t *node_flags);
// Takes the parts from the stack; constants that touch become one.
NodeList parse_join_parts(Parser *p, uint32_t base);
// The parts of the f-string whose opening is the current token: pushes
// Constants and FormattedValues, to be joined by the caller.
void parse_fstring_parts(Parser *p);

#endif
