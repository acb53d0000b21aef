// parse_pattern.c - the match statement and its patterns.
#include "base/base.h"

#include "py/parser_impl.h"

static Node *parse_pattern(Parser *p);

// --- literals and names ----------------------------------------------------

static Node *new_match_value(Parser *p, Node *value, uint32_t start) {
    Node *node = parser_node(p, N_MATCH_VALUE, start);
    node->u.match_value.value = value;
    return node;
}

// signed_number: NUMBER | '-' NUMBER
static Node *parse_signed_number(Parser *p) {
    uint32_t start = p->tok.start;
    bool minus = parser_accept(p, T_MINUS);
    if (!parser_at(p, T_NUMBER)) return parser_fault(p, "expected a number");
    Node *number = parse_atom(p);
    if (!minus) return number;
    Node *node = parser_node(p, N_UNARY_OP, start);
    node->op = A_U_SUB;
    node->u.unary.operand = number;
    return node;
}

// complex_number: signed_real_number ('+' | '-') imaginary_number
static Node *parse_number(Parser *p) {
    uint32_t start = p->tok.start;
    Node *left = parse_signed_number(p);
    AstOp op = parser_at(p, T_PLUS)    ? A_ADD
               : parser_at(p, T_MINUS) ? A_SUB
                                       : A_NONE;
    if (op == A_NONE) return left;
    const Node *real = left->kind == N_UNARY_OP ? left->u.unary.operand : left;
    if (real->op == CONST_COMPLEX) return parser_fault(p, "expected a real number");
    parser_advance(p);
    bool imaginary = parser_at(p, T_NUMBER) && p->tok.flags == CONST_COMPLEX;
    if (!imaginary) return parser_fault(p, "expected an imaginary number");
    Node *right = parse_atom(p);
    Node *node = parser_node(p, N_BIN_OP, start);
    node->op = (uint8_t)op;
    node->u.bin.left = left;
    node->u.bin.right = right;
    return node;
}

static Node *parse_singleton(Parser *p, ConstKind kind) {
    uint32_t start = p->tok.start;
    parser_advance(p);
    Node *node = parser_node(p, N_MATCH_SINGLETON, start);
    node->op = (uint8_t)kind;
    return node;
}

// name_or_attr: NAME ('.' NAME)*
static Node *parse_name_or_attr(Parser *p) {
    uint32_t start = p->tok.start;
    const Sym *name = parser_name(p);
    Node *node = parser_node(p, N_NAME, start);
    node->u.name.id = name;
    for (uint32_t count = 0; parser_accept(p, T_DOT); count++) {
        if (count >= PARSER_MAX_CHAIN) parser_fault(p, "expression too long");
        const Sym *attr = parser_name(p);
        Node *outer = parser_node(p, N_ATTRIBUTE, start);
        outer->u.attribute.value = node;
        outer->u.attribute.attr = attr;
        node = outer;
    }
    return node;
}

// pattern_capture_target: !"_" NAME
static const Sym *parse_capture_name(Parser *p) {
    if (parser_at(p, T_NAME) && p->tok.sym->tag == T_SOFT_UNDERSCORE) {
        parser_fault(p, "cannot use '_' as a target");
    }
    return parser_name(p);
}

static Node *new_match_as(Parser *p, Node *pattern, const Sym *name,
                          uint32_t start) {
    Node *node = parser_node(p, N_MATCH_AS, start);
    node->u.match_as.pattern = pattern;
    node->u.match_as.name = name;
    return node;
}

// --- classes and mappings --------------------------------------------------

// keyword_pattern: NAME '=' pattern. True where the arguments go on.
static void parse_class_args(Parser *p, Node *node) {
    VEC(const Sym *) names = {0};
    uint32_t base = p->stack_len;
    uint32_t positional = 0;
    parser_advance(p);
    while (!parser_at(p, T_RPAR)) {
        Node *pattern = parse_pattern(p);
        if (parser_at(p, T_EQUAL)) {
            bool name = pattern->kind == N_MATCH_AS && !pattern->u.match_as.pattern &&
                        !(pattern->flags & NODE_PARENTHESISED);
            if (!name) parser_fault(p, "expected a name before '='");
            Str text = {p->lex.text + pattern->start,
                        pattern->end - pattern->start};
            parser_advance(p);
            vec_push(p->arena, &names, sym_intern(p->symbols, text));
            pattern = parse_pattern(p);
        } else if (names.len) {
            parser_fault(p, "positional pattern after a keyword pattern");
        } else {
            positional++;
        }
        parser_push(p, pattern);
        if (!parser_accept(p, T_COMMA)) break;
    }
    parser_expect(p, T_RPAR);
    if (p->failed) return;
    node->u.match_class->kwd_patterns = parser_take(p, base + positional);
    node->u.match_class->patterns = parser_take(p, base);
    node->u.match_class->kwd_names = names.at;
}

// class_pattern: name_or_attr '(' [patterns] ')'
static Node *parse_class_pattern(Parser *p, Node *cls, uint32_t start) {
    Node *node = parser_node(p, N_MATCH_CLASS, start);
    node->u.match_class = NEW(p->arena, MatchClassNode);
    node->u.match_class->cls = cls;
    parse_class_args(p, node);
    node->end = p->prev_end;
    return node;
}

// capture, wildcard, value or class: all start with a name.
static Node *parse_name_pattern(Parser *p) {
    uint32_t start = p->tok.start;
    bool wildcard = p->tok.sym->tag == T_SOFT_UNDERSCORE;
    Node *name = parse_name_or_attr(p);
    if (parser_at(p, T_LPAR)) return parse_class_pattern(p, name, start);
    if (name->kind == N_ATTRIBUTE) return new_match_value(p, name, start);
    return new_match_as(p, NULL, wildcard ? NULL : name->u.name.id, start);
}

// The key of a mapping pattern: a literal or a dotted name.
static Node *parse_mapping_key(Parser *p) {
    switch (p->tok.kind) {
    case T_MINUS:
    case T_NUMBER: return parse_number(p);
    case T_NAME: {
        Node *key = parse_name_or_attr(p);
        if (key->kind == N_ATTRIBUTE) return key;
        return parser_fault(p, "a key must be a literal or a dotted name");
    }
    case T_STRING:
    case T_FSTRING:
    case T_NONE:
    case T_TRUE:
    case T_FALSE: return parse_atom(p);
    default: return parser_fault(p, "expected a key");
    }
}

// mapping_pattern: '{' ','.(key ':' pattern)* [',' '**' NAME] [','] '}'
static Node *parse_mapping(Parser *p) {
    uint32_t start = p->tok.start;
    uint32_t base = p->stack_len;
    const Sym *rest = NULL;
    parser_advance(p);
    while (!parser_at(p, T_RBRACE) && !rest) {
        if (parser_accept(p, T_DOUBLESTAR)) {
            rest = parse_capture_name(p);
        } else {
            parser_push(p, parse_mapping_key(p));
            parser_expect(p, T_COLON);
            parser_push(p, parse_pattern(p));
        }
        if (!parser_accept(p, T_COMMA)) break;
    }
    parser_expect(p, T_RBRACE);
    Node *node = parser_node(p, N_MATCH_MAPPING, start);
    uint32_t len = (p->stack_len - base) / 2;
    node->u.match_mapping.keys = parser_every_second(p, base, len);
    node->u.match_mapping.patterns = parser_every_second(p, base + 1, len);
    node->u.match_mapping.rest = rest;
    p->stack_len = base;
    return node;
}

// --- sequences -------------------------------------------------------------

// star_pattern: '*' NAME, where `_` names nothing
static Node *parse_star_pattern(Parser *p) {
    uint32_t start = p->tok.start;
    parser_advance(p);
    const Sym *name = parser_name(p);
    Node *node = parser_node(p, N_MATCH_STAR, start);
    node->u.match_star.name = name->tag == T_SOFT_UNDERSCORE ? NULL : name;
    return node;
}

static Node *parse_maybe_star(Parser *p) {
    return parser_at(p, T_STAR) ? parse_star_pattern(p) : parse_pattern(p);
}

static bool ends_sequence(const Parser *p) {
    return parser_at(p, T_RPAR) || parser_at(p, T_RSQB) ||
           parser_at(p, T_COLON) || parser_at(p, T_IF);
}

// maybe_sequence_pattern: ','.maybe_star_pattern+ [',']
static Node *parse_sequence_after(Parser *p, Node *first, uint32_t start) {
    uint32_t base = p->stack_len;
    if (first) parser_push(p, first);
    while (parser_accept(p, T_COMMA) && !ends_sequence(p)) {
        parser_push(p, parse_maybe_star(p));
    }
    Node *node = parser_node(p, N_MATCH_SEQUENCE, start);
    node->u.match_list.patterns = parser_take(p, base);
    return node;
}

// sequence_pattern | group_pattern
static Node *parse_bracket_pattern(Parser *p, TokenKind close) {
    uint32_t start = p->tok.start;
    parser_advance(p);
    Node *first = parser_at(p, close) ? NULL : parse_maybe_star(p);
    bool group = close == T_RPAR && first && parser_at(p, T_RPAR) &&
                 first->kind != N_MATCH_STAR;
    if (group) {
        parser_advance(p);
        first->flags |= NODE_PARENTHESISED;
        return first;
    }
    bool lone_star = close == T_RPAR && first && !parser_at(p, T_COMMA);
    if (lone_star) return parser_fault(p, "expected ','");
    Node *node = parse_sequence_after(p, first, start);
    parser_expect(p, close);
    node->end = p->prev_end;
    return node;
}

// --- patterns --------------------------------------------------------------

static Node *parse_closed_pattern(Parser *p) {
    uint32_t start = p->tok.start;
    switch (p->tok.kind) {
    case T_NAME: return parse_name_pattern(p);
    case T_MINUS:
    case T_NUMBER: return new_match_value(p, parse_number(p), start);
    case T_STRING:
    case T_FSTRING: return new_match_value(p, parse_strings(p), start);
    case T_NONE: return parse_singleton(p, CONST_NONE);
    case T_TRUE: return parse_singleton(p, CONST_TRUE);
    case T_FALSE: return parse_singleton(p, CONST_FALSE);
    case T_LPAR: return parse_bracket_pattern(p, T_RPAR);
    case T_LSQB: return parse_bracket_pattern(p, T_RSQB);
    case T_LBRACE: return parse_mapping(p);
    default: return parser_fault(p, "expected a pattern");
    }
}

// or_pattern: '|'.closed_pattern+
static Node *parse_or_pattern(Parser *p) {
    uint32_t start = p->tok.start;
    Node *first = parse_closed_pattern(p);
    if (!parser_at(p, T_VBAR)) return first;
    uint32_t base = p->stack_len;
    parser_push(p, first);
    while (parser_accept(p, T_VBAR)) parser_push(p, parse_closed_pattern(p));
    Node *node = parser_node(p, N_MATCH_OR, start);
    node->u.match_list.patterns = parser_take(p, base);
    return node;
}

// pattern: or_pattern ['as' pattern_capture_target]
static Node *parse_pattern(Parser *p) {
    uint32_t start = p->tok.start;
    Node *pattern = p->dummy;
    if (parser_enter(p)) pattern = parse_or_pattern(p);
    p->depth--;
    if (!parser_accept(p, T_AS)) return pattern;
    const Sym *name = parse_capture_name(p);
    return new_match_as(p, pattern, name, start);
}

// patterns: open_sequence_pattern | pattern
static Node *parse_patterns(Parser *p) {
    uint32_t start = p->tok.start;
    Node *first = parse_maybe_star(p);
    if (parser_at(p, T_COMMA)) return parse_sequence_after(p, first, start);
    if (first->kind == N_MATCH_STAR) return parser_fault(p, "expected ','");
    return first;
}

// --- the statement ---------------------------------------------------------

// case_block: "case" patterns ['if' named_expression] ':' block
static Node *parse_case(Parser *p) {
    uint32_t start = p->tok.start;
    parser_advance(p);
    Node *pattern = parse_patterns(p);
    Node *guard = parser_accept(p, T_IF) ? parse_named_expression(p) : NULL;
    NodeList body = parse_block(p);
    Node *node = parser_node(p, N_MATCH_CASE, start);
    node->u.match_case.pattern = pattern;
    node->u.match_case.guard = guard;
    node->u.match_case.body = body;
    return node;
}

static bool at_case(const Parser *p) {
    return parser_at(p, T_NAME) && p->tok.sym->tag == T_SOFT_CASE;
}

static NodeList parse_cases(Parser *p) {
    uint32_t base = p->stack_len;
    while (!parser_at(p, T_DEDENT) && !parser_at(p, T_EOF)) {
        Clause clause = parse_clause(p);
        Node *node = at_case(p) ? parse_case(p)
                                : parser_fault(p, "expected 'case'");
        if (!parse_clause_failed(p, &clause)) parser_push(p, node);
    }
    return parser_take(p, base);
}

// subject_expr: star_named_expression ',' [star_named_expressions]
//             | named_expression
static Node *parse_subject(Parser *p) {
    Node *subject = parse_tuple_of(p, parse_star_named_expression);
    if (subject->kind == N_STARRED) return parser_fault(p, "expected ','");
    return subject;
}

// match_stmt: "match" subject_expr ':' NEWLINE INDENT case_block+ DEDENT
//
// `match` is also a plain name: only a whole header with `case` below decides.
Node *parse_match(Parser *p) {
    uint32_t start = p->tok.start;
    uint32_t outer;
    ParserMark mark = parser_mark(p);
    parser_advance(p);
    Node *subject = starts_expression(p->tok.kind) ? parse_subject(p) : NULL;
    bool header = subject && parser_accept(p, T_COLON) &&
                  parser_accept(p, T_NEWLINE) && parser_at(p, T_INDENT) &&
                  parser_open_block(p, &outer);
    if (header && !at_case(p)) p->block_indents = outer;
    if (!header || !at_case(p)) {
        parser_restore(p, &mark);
        return NULL;
    }
    NodeList cases = parse_cases(p);
    parser_close_block(p, outer);
    Node *node = parser_node(p, N_MATCH, start);
    node->u.match.subject = subject;
    node->u.match.cases = cases;
    return node;
}
