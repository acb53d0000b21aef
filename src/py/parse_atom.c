// parse_atom.c - atoms: names, constants, what stands in brackets, and the
// arguments of a call.
#include "base/base.h"

#include "py/parser_impl.h"

static bool at_comprehension(const Parser *p) {
    return parser_at(p, T_FOR) || parser_at(p, T_ASYNC);
}

static Node *new_comp(Parser *p, NodeKind kind, Node *elt, uint32_t start) {
    Node *node = parser_node(p, kind, start);
    node->u.comp.elt = elt;
    return node;
}

// --- comprehensions --------------------------------------------------------

// for_if_clause: ['async'] 'for' star_targets 'in' disjunction
//                ('if' disjunction)*
static Node *parse_comprehension_clause(Parser *p) {
    uint32_t start = p->tok.start;
    bool is_async = parser_accept(p, T_ASYNC);
    parser_expect(p, T_FOR);
    Node *target = parse_for_target(p);
    parser_expect(p, T_IN);
    Node *iter = parse_disjunction(p);
    uint32_t base = p->stack_len;
    while (parser_accept(p, T_IF)) parser_push(p, parse_disjunction(p));
    Node *node = parser_node(p, N_COMPREHENSION, start);
    if (is_async) node->flags |= NODE_ASYNC;
    node->u.comprehension.target = target;
    node->u.comprehension.iter = iter;
    node->u.comprehension.ifs = parser_take(p, base);
    return node;
}

NodeList parse_comprehension_clauses(Parser *p) {
    uint32_t base = p->stack_len;
    while (at_comprehension(p)) parser_push(p, parse_comprehension_clause(p));
    return parser_take(p, base);
}

// The rest of a comprehension behind `elt`, with its closing bracket.
static Node *parse_comp(Parser *p, NodeKind kind, Node *elt, uint32_t start) {
    static const uint8_t CLOSE[N_KIND_COUNT] = {[N_LIST_COMP] = T_RSQB,
                                                [N_SET_COMP] = T_RBRACE,
                                                [N_DICT_COMP] = T_RBRACE,
                                                [N_GENERATOR_EXP] = T_RPAR};
    if (elt->kind == N_STARRED) {
        return parser_fault(p, "a comprehension cannot unpack");
    }
    NodeList generators = parse_comprehension_clauses(p);
    parser_expect(p, (TokenKind)CLOSE[kind]);
    Node *node = new_comp(p, kind, elt, start);
    node->u.comp.generators = generators;
    return node;
}

// --- brackets --------------------------------------------------------------

// Elements behind a first one that is on the stack, up to `close`.
static NodeList parse_elements(Parser *p, uint32_t base, TokenKind close) {
    while (parser_accept(p, T_COMMA) && !parser_at(p, close)) {
        parser_push(p, parse_star_named_expression(p));
    }
    parser_expect(p, close);
    return parser_take(p, base);
}

static Node *parse_sequence(Parser *p, NodeKind kind, uint32_t start,
                            Node *first) {
    uint32_t base = p->stack_len;
    TokenKind close = kind == N_TUPLE  ? T_RPAR
                      : kind == N_LIST ? T_RSQB
                                       : T_RBRACE;
    parser_push(p, first);
    NodeList elts = parse_elements(p, base, close);
    Node *node = parser_node(p, kind, start);
    node->u.list.elts = elts;
    return node;
}

static Node *parse_empty(Parser *p, NodeKind kind, uint32_t start) {
    parser_advance(p);
    return parser_node(p, kind, start);
}

// group: '(' (yield_expr | named_expression) ')'
static Node *close_group(Parser *p, Node *inner) {
    if (inner->kind == N_STARRED) {
        return parser_fault_at(p, inner->start, "a starred expression needs a comma");
    }
    parser_expect(p, T_RPAR);
    inner->flags |= NODE_PARENTHESISED;
    return inner;
}

// tuple | group | genexp
static Node *parse_paren(Parser *p) {
    uint32_t start = p->tok.start;
    parser_advance(p);
    if (parser_at(p, T_RPAR)) return parse_empty(p, N_TUPLE, start);
    if (parser_at(p, T_YIELD)) return close_group(p, parse_yield(p));
    Node *first = parse_star_named_expression(p);
    if (at_comprehension(p)) return parse_comp(p, N_GENERATOR_EXP, first, start);
    if (parser_at(p, T_COMMA)) return parse_sequence(p, N_TUPLE, start, first);
    return close_group(p, first);
}

// list: '[' [star_named_expressions] ']' | listcomp
static Node *parse_list(Parser *p) {
    uint32_t start = p->tok.start;
    parser_advance(p);
    if (parser_at(p, T_RSQB)) return parse_empty(p, N_LIST, start);
    Node *first = parse_star_named_expression(p);
    if (at_comprehension(p)) return parse_comp(p, N_LIST_COMP, first, start);
    return parse_sequence(p, N_LIST, start, first);
}

// kvpair: expression ':' expression | '**' bitwise_or
//
// Keys and values alternate on the stack.
static void parse_pair(Parser *p) {
    if (parser_accept(p, T_DOUBLESTAR)) {
        parser_push(p, NULL);
        parser_push(p, parse_bitwise_or(p));
        return;
    }
    parser_push(p, parse_expression(p));
    parser_expect(p, T_COLON);
    parser_push(p, parse_expression(p));
}

static Node *finish_dict(Parser *p, uint32_t base, uint32_t start) {
    while (parser_accept(p, T_COMMA) && !parser_at(p, T_RBRACE)) parse_pair(p);
    parser_expect(p, T_RBRACE);
    Node *node = parser_node(p, N_DICT, start);
    uint32_t len = (p->stack_len - base) / 2;
    node->u.dict.keys = parser_every_second(p, base, len);
    node->u.dict.values = parser_every_second(p, base + 1, len);
    p->stack_len = base;
    return node;
}

// dictcomp: '{' expression ':' expression for_if_clauses '}'
static Node *parse_dict_comp(Parser *p, uint32_t base, uint32_t start) {
    Node *key = p->stack[base];
    Node *value = p->stack[base + 1];
    p->stack_len = base;
    if (!key) return parser_fault(p, "a comprehension cannot unpack");
    Node *node = parse_comp(p, N_DICT_COMP, key, start);
    node->u.comp.value = value;
    return node;
}

// The key `first` was read; the rest of its pair and of the dict.
static Node *parse_dict_after(Parser *p, Node *first, uint32_t start) {
    uint32_t base = p->stack_len;
    if (first) {
        parser_push(p, first);
        parser_expect(p, T_COLON);
        parser_push(p, parse_expression(p));
    } else {
        parse_pair(p);
    }
    if (at_comprehension(p)) return parse_dict_comp(p, base, start);
    return finish_dict(p, base, start);
}

static bool is_dict_key(const Node *node) {
    return node->kind != N_STARRED && (node->kind != N_NAMED_EXPR ||
                                       node->flags & NODE_PARENTHESISED);
}

// dict | set | dictcomp | setcomp
static Node *parse_brace(Parser *p) {
    uint32_t start = p->tok.start;
    parser_advance(p);
    if (parser_at(p, T_RBRACE)) return parse_empty(p, N_DICT, start);
    if (parser_at(p, T_DOUBLESTAR)) return parse_dict_after(p, NULL, start);
    Node *first = parse_star_named_expression(p);
    if (parser_at(p, T_COLON) && is_dict_key(first)) {
        return parse_dict_after(p, first, start);
    }
    if (at_comprehension(p)) return parse_comp(p, N_SET_COMP, first, start);
    return parse_sequence(p, N_SET, start, first);
}

// --- atoms -----------------------------------------------------------------

static Node *parse_constant(Parser *p, ConstKind kind) {
    uint32_t start = p->tok.start;
    Str text = {p->lex.text + start, p->tok.end - start};
    parser_advance(p);
    Node *node = parser_node(p, N_CONSTANT, start);
    node->op = (uint8_t)kind;
    node->u.constant.text = text;
    return node;
}

static Node *parse_name(Parser *p) {
    uint32_t start = p->tok.start;
    const Sym *id = p->tok.sym;
    parser_advance(p);
    Node *node = parser_node(p, N_NAME, start);
    node->u.name.id = id;
    return node;
}

Node *parse_atom(Parser *p) {
    switch (p->tok.kind) {
    case T_NAME: return parse_name(p);
    case T_NUMBER: return parse_constant(p, (ConstKind)p->tok.flags);
    case T_STRING:
    case T_FSTRING: return parse_strings(p);
    case T_LPAR: return parse_paren(p);
    case T_LSQB: return parse_list(p);
    case T_LBRACE: return parse_brace(p);
    case T_NONE: return parse_constant(p, CONST_NONE);
    case T_TRUE: return parse_constant(p, CONST_TRUE);
    case T_FALSE: return parse_constant(p, CONST_FALSE);
    case T_ELLIPSIS: return parse_constant(p, CONST_ELLIPSIS);
    default: return parser_fault(p, "expected an expression");
    }
}

// --- call arguments --------------------------------------------------------

// What has been seen, because the order of arguments is restricted.
typedef struct ArgOrder {
    bool keyword; // name=value
    bool unpack;  // **value
    bool generator;
} ArgOrder;

// '**' expression
static Node *parse_double_star_arg(Parser *p, ArgOrder *seen) {
    uint32_t start = p->tok.start;
    parser_advance(p);
    Node *value = parse_expression(p);
    Node *node = parser_node(p, N_KEYWORD, start);
    node->u.keyword.value = value;
    seen->unpack = true;
    return node;
}

// NAME '=' expression: `name` is turned into the keyword.
static Node *finish_keyword_arg(Parser *p, Node *name, ArgOrder *seen) {
    if (name->kind != N_NAME || name->flags & NODE_PARENTHESISED) {
        return parser_fault_at(p, name->start, "only a name may stand before '='");
    }
    const Sym *id = name->u.name.id;
    parser_advance(p);
    Node *value = parse_expression(p);
    name->kind = N_KEYWORD;
    name->end = p->prev_end;
    name->u.keyword.name = id;
    name->u.keyword.value = value;
    seen->keyword = true;
    return name;
}

// The first argument of `f(x for x in y)`, of which it must be the only one.
static Node *parse_generator_arg(Parser *p, Node *elt, ArgOrder *seen) {
    if (seen->keyword || seen->unpack) {
        return parser_fault(p, "a generator expression needs parentheses");
    }
    Node *node = new_comp(p, N_GENERATOR_EXP, elt, elt->start);
    node->u.comp.generators = parse_comprehension_clauses(p);
    seen->generator = true;
    return node;
}

static Node *parse_arg(Parser *p, ArgOrder *seen) {
    if (parser_at(p, T_DOUBLESTAR)) return parse_double_star_arg(p, seen);
    if (parser_at(p, T_STAR)) {
        if (seen->unpack) return parser_fault(p, "'*' after '**'");
        return parse_starred(p, parse_expression);
    }
    Node *node = parse_named_expression(p);
    if (parser_at(p, T_EQUAL)) return finish_keyword_arg(p, node, seen);
    if (at_comprehension(p)) return parse_generator_arg(p, node, seen);
    if (seen->unpack || seen->keyword) {
        parser_fault_at(p, node->start, "positional argument after a keyword");
    }
    return node;
}

// Sorts the nodes from `base` on into positional arguments and keywords.
static CallArgs take_args(Parser *p, uint32_t base, bool has_keywords) {
    CallArgs out = {0};
    if (!has_keywords) {
        out.args = parser_take(p, base);
        return out;
    }
    uint32_t len = p->stack_len - base;
    Node **all = NEW_N(p->arena, Node *, len);
    Node *const *from = p->stack + base;
    for (uint32_t i = 0; i < len; i++) {
        if (from[i]->kind != N_KEYWORD) all[out.args.len++] = from[i];
    }
    out.args.at = all;
    out.keywords.at = all + out.args.len;
    for (uint32_t i = 0; i < len; i++) {
        if (from[i]->kind != N_KEYWORD) continue;
        out.keywords.at[out.keywords.len++] = from[i];
    }
    p->stack_len = base;
    return out;
}

// args: ','.(starred | named_expression)+ [',' kwargs] | kwargs
CallArgs parse_call_args(Parser *p, bool may_be_generator) {
    uint32_t start = p->tok.start;
    uint32_t base = p->stack_len;
    ArgOrder seen = {0};
    parser_advance(p);
    while (!parser_at(p, T_RPAR)) {
        parser_push(p, parse_arg(p, &seen));
        if (parser_at(p, T_RPAR) || !parser_at(p, T_COMMA)) break;
        if (seen.generator) break;
        parser_advance(p);
    }
    if (seen.generator && (!may_be_generator || p->stack_len - base != 1 ||
                           !parser_at(p, T_RPAR))) {
        parser_fault(p, "a generator expression needs parentheses");
    }
    parser_expect(p, T_RPAR);
    if (seen.generator && !p->failed) {
        // Its parentheses are those of the call.
        p->stack[base]->start = start;
        p->stack[base]->end = p->prev_end;
    }
    return take_args(p, base, seen.keyword || seen.unpack);
}
