// parse_simple.c - the statements of one line.
#include "base/base.h"

#include "py/parser_impl.h"

// AugAssign operators. ORDER TOKEN does not matter here.
static AstOp augmented_op(TokenKind kind) {
    static const uint8_t OPS[T_KIND_COUNT] = {
        [T_PLUSEQUAL] = A_ADD,        [T_MINUSEQUAL] = A_SUB,
        [T_STAREQUAL] = A_MULT,       [T_SLASHEQUAL] = A_DIV,
        [T_PERCENTEQUAL] = A_MOD,     [T_AMPEREQUAL] = A_BIT_AND,
        [T_VBAREQUAL] = A_BIT_OR,     [T_CIRCUMFLEXEQUAL] = A_BIT_XOR,
        [T_LSHIFTEQUAL] = A_L_SHIFT,  [T_RSHIFTEQUAL] = A_R_SHIFT,
        [T_DOUBLESTAREQUAL] = A_POW,  [T_DOUBLESLASHEQUAL] = A_FLOOR_DIV,
        [T_ATEQUAL] = A_MAT_MULT,
    };
    return (AstOp)OPS[kind];
}

// --- expressions and assignments -------------------------------------------

// (star_targets '=')+ (yield_expr | star_expressions)
static Node *parse_assign(Parser *p, Node *first, uint32_t start) {
    uint32_t base = p->stack_len;
    Node *value = first;
    while (parser_accept(p, T_EQUAL)) {
        parse_set_target(p, value, TARGET_ASSIGN);
        parser_push(p, value);
        value = parse_yield_or_star_expressions(p);
    }
    Node *node = parser_node(p, N_ASSIGN, start);
    node->u.assign.targets = parser_take(p, base);
    node->u.assign.value = value;
    return node;
}

// single_target augassign (yield_expr | star_expressions)
static Node *parse_aug_assign(Parser *p, Node *target, uint32_t start) {
    AstOp op = augmented_op(p->tok.kind);
    parse_set_target(p, target, TARGET_SINGLE);
    parser_advance(p);
    Node *value = parse_yield_or_star_expressions(p);
    Node *node = parser_node(p, N_AUG_ASSIGN, start);
    p->lex.marks |= parser_op_marks(op);
    node->op = (uint8_t)op;
    node->u.aug_assign.target = target;
    node->u.aug_assign.value = value;
    return node;
}

// single_target ':' expression ['=' annotated_rhs]
static Node *parse_ann_assign(Parser *p, Node *target, uint32_t start) {
    parse_set_target(p, target, TARGET_SINGLE);
    parser_advance(p);
    Node *annotation = parse_expression(p);
    Node *value = NULL;
    if (parser_accept(p, T_EQUAL)) value = parse_yield_or_star_expressions(p);
    Node *node = parser_node(p, N_ANN_ASSIGN, start);
    bool bare = target->kind == N_NAME && !(target->flags & NODE_PARENTHESISED);
    if (bare) node->flags |= NODE_SIMPLE;
    node->u.ann_assign.target = target;
    node->u.ann_assign.annotation = annotation;
    node->u.ann_assign.value = value;
    return node;
}

// A statement whose only child is `value`, or NULL.
static Node *new_value_node(Parser *p, NodeKind kind, Node *value,
                            uint32_t start) {
    Node *node = parser_node(p, kind, start);
    node->u.return_.value = value;
    return node;
}

static Node *parse_expression_statement(Parser *p) {
    uint32_t start = p->tok.start;
    Node *first = parse_yield_or_star_expressions(p);
    if (parser_at(p, T_EQUAL)) return parse_assign(p, first, start);
    if (parser_at(p, T_COLON)) return parse_ann_assign(p, first, start);
    if (augmented_op(p->tok.kind)) return parse_aug_assign(p, first, start);
    return new_value_node(p, N_EXPR, first, start);
}

// --- statements that start with a keyword ----------------------------------

// return_stmt: 'return' [star_expressions]
static Node *parse_return(Parser *p) {
    uint32_t start = p->tok.start;
    parser_advance(p);
    bool has_value = starts_expression(p->tok.kind);
    Node *value = has_value ? parse_star_expressions(p) : NULL;
    return new_value_node(p, N_RETURN, value, start);
}

// raise_stmt: 'raise' [expression ['from' expression]]
static Node *parse_raise(Parser *p) {
    uint32_t start = p->tok.start;
    Node *exc = NULL;
    Node *cause = NULL;
    parser_advance(p);
    if (starts_expression(p->tok.kind)) {
        exc = parse_expression(p);
        if (parser_accept(p, T_FROM)) cause = parse_expression(p);
    }
    Node *node = parser_node(p, N_RAISE, start);
    node->u.raise.exc = exc;
    node->u.raise.cause = cause;
    return node;
}

// assert_stmt: 'assert' expression [',' expression]
static Node *parse_assert(Parser *p) {
    uint32_t start = p->tok.start;
    parser_advance(p);
    Node *test = parse_expression(p);
    Node *msg = parser_accept(p, T_COMMA) ? parse_expression(p) : NULL;
    Node *node = parser_node(p, N_ASSERT, start);
    node->u.assert_.test = test;
    node->u.assert_.msg = msg;
    return node;
}

// del_stmt: 'del' del_targets
static Node *parse_delete(Parser *p) {
    uint32_t start = p->tok.start;
    uint32_t base = p->stack_len;
    parser_advance(p);
    do {
        Node *target = parse_bitwise_or(p);
        parse_set_target(p, target, TARGET_DELETE);
        parser_push(p, target);
    } while (parser_accept(p, T_COMMA) && starts_expression(p->tok.kind));
    Node *node = parser_node(p, N_DELETE, start);
    node->u.delete_.targets = parser_take(p, base);
    return node;
}

// 'global' ','.NAME+ | 'nonlocal' ','.NAME+
static Node *parse_global(Parser *p, NodeKind kind) {
    VEC(const Sym *) names = {0};
    uint32_t start = p->tok.start;
    parser_advance(p);
    do {
        vec_push(p->arena, &names, parser_name(p));
    } while (parser_accept(p, T_COMMA));
    Node *node = parser_node(p, kind, start);
    node->u.global.names = names.at;
    node->u.global.len = names.len;
    return node;
}

static Node *parse_keyword(Parser *p, NodeKind kind) {
    uint32_t start = p->tok.start;
    parser_advance(p);
    return parser_node(p, kind, start);
}

// type_alias: "type" NAME [type_params] '=' expression
static Node *parse_type_alias(Parser *p) {
    uint32_t start = p->tok.start;
    parser_advance(p);
    uint32_t name_start = p->tok.start;
    const Sym *id = parser_name(p);
    Node *name = parser_node(p, N_NAME, name_start);
    name->u.name.id = id;
    name->ctx = CTX_STORE;
    NodeList type_params = parse_type_params(p);
    parser_expect(p, T_EQUAL);
    Node *value = parse_expression(p);
    Node *node = parser_node(p, N_TYPE_ALIAS, start);
    node->u.type_alias.name = name;
    node->u.type_alias.type_params = type_params;
    node->u.type_alias.value = value;
    return node;
}

// `type` starts an alias only where a name follows it.
static bool at_type_alias(Parser *p) {
    if (p->tok.sym->tag != T_SOFT_TYPE) return false;
    ParserMark mark = parser_mark(p);
    parser_advance(p);
    bool found = parser_at(p, T_NAME);
    parser_restore(p, &mark);
    return found;
}

// --- imports ---------------------------------------------------------------

// The text from `start` on without blanks, comments and line ends.
static const Sym *intern_dotted(Parser *p, uint32_t start, bool spaced) {
    Str text = {p->lex.text + start, p->prev_end - start};
    if (!spaced) return sym_intern(p->symbols, text);
    Lexer lex = p->lex;
    Token tok;
    Pieces name = {0};
    lex.at = lex.text + start;
    // What the lexer found behind the name is no business of this copy.
    lex.line_start = false;
    lex.error = NULL;
    lex.dedents = 0;
    while (lex.at < text.at + text.len) {
        lexer_next(&lex, &tok);
        Str piece = {lex.text + tok.start, tok.end - tok.start};
        pieces_add(p, &name, piece);
    }
    return sym_intern(p->symbols, name.text);
}

// dotted_name: '.'.NAME+
static const Sym *parse_dotted_name(Parser *p) {
    uint32_t start = p->tok.start;
    const Sym *name = parser_name(p);
    bool spaced = false;
    if (!parser_at(p, T_DOT)) return name;
    while (parser_at(p, T_DOT)) {
        spaced |= p->tok.start != p->prev_end;
        parser_advance(p);
        spaced |= p->tok.start != p->prev_end;
        parser_name(p);
    }
    return p->failed ? name : intern_dotted(p, start, spaced);
}

static Node *finish_alias(Parser *p, const Sym *name, uint32_t start) {
    const Sym *asname = parser_accept(p, T_AS) ? parser_name(p) : NULL;
    Node *node = parser_node(p, N_ALIAS, start);
    node->u.alias.name = name;
    node->u.alias.asname = asname;
    return node;
}

// import_name: 'import' ','.(dotted_name ['as' NAME])+
static Node *parse_import(Parser *p) {
    uint32_t start = p->tok.start;
    uint32_t base = p->stack_len;
    parser_advance(p);
    do {
        uint32_t alias_start = p->tok.start;
        const Sym *name = parse_dotted_name(p);
        parser_push(p, finish_alias(p, name, alias_start));
    } while (parser_accept(p, T_COMMA));
    Node *node = parser_node(p, N_IMPORT, start);
    node->u.import.names = parser_take(p, base);
    return node;
}

// ('.' | '...')*
static uint32_t parse_import_level(Parser *p) {
    uint32_t level = 0;
    for (;;) {
        if (parser_accept(p, T_DOT)) {
            level++;
        } else if (parser_accept(p, T_ELLIPSIS)) {
            level += 3;
        } else {
            return level;
        }
    }
}

static Node *parse_import_star(Parser *p) {
    uint32_t start = p->tok.start;
    parser_advance(p);
    Node *node = parser_node(p, N_ALIAS, start);
    node->u.alias.name = sym_intern(p->symbols, STR("*"));
    return node;
}

// import_from_targets: '*' | '(' names [','] ')' | names
static NodeList parse_import_targets(Parser *p) {
    uint32_t base = p->stack_len;
    if (parser_at(p, T_STAR)) {
        parser_push(p, parse_import_star(p));
        return parser_take(p, base);
    }
    bool paren = parser_accept(p, T_LPAR);
    do {
        uint32_t start = p->tok.start;
        const Sym *name = parser_name(p);
        parser_push(p, finish_alias(p, name, start));
    } while (parser_accept(p, T_COMMA) && !(paren && parser_at(p, T_RPAR)));
    if (paren) parser_expect(p, T_RPAR);
    return parser_take(p, base);
}

// import_from: 'from' ('.' | '...')* [dotted_name] 'import' targets
static Node *parse_import_from(Parser *p) {
    uint32_t start = p->tok.start;
    parser_advance(p);
    uint32_t level = parse_import_level(p);
    bool named = level == 0 || !parser_at(p, T_IMPORT);
    const Sym *module = named ? parse_dotted_name(p) : NULL;
    parser_expect(p, T_IMPORT);
    NodeList names = parse_import_targets(p);
    Node *node = parser_node(p, N_IMPORT_FROM, start);
    node->u.import_from.module = module;
    node->u.import_from.names = names;
    node->u.import_from.level = level;
    return node;
}

// --- dispatch --------------------------------------------------------------

Node *parse_simple_statement(Parser *p) {
    switch (p->tok.kind) {
    case T_NAME:
        if (at_type_alias(p)) return parse_type_alias(p);
        return parse_expression_statement(p);
    case T_RETURN: return parse_return(p);
    case T_IMPORT: return parse_import(p);
    case T_FROM: return parse_import_from(p);
    case T_RAISE: return parse_raise(p);
    case T_PASS: return parse_keyword(p, N_PASS);
    case T_BREAK: return parse_keyword(p, N_BREAK);
    case T_CONTINUE: return parse_keyword(p, N_CONTINUE);
    case T_ASSERT: return parse_assert(p);
    case T_DEL: return parse_delete(p);
    case T_GLOBAL: return parse_global(p, N_GLOBAL);
    case T_NONLOCAL: return parse_global(p, N_NONLOCAL);
    case T_INDENT: return parser_fault(p, "unexpected indent");
    default:
        if (starts_expression(p->tok.kind) || parser_at(p, T_YIELD)) {
            return parse_expression_statement(p);
        }
        return parser_fault(p, "invalid syntax");
    }
}
