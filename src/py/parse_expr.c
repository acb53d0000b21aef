// parse_expr.c - expressions from the lowest precedence down to primaries.
//
// All binary operators, `and`, `or` and comparisons are one function that
// climbs precedences, driven by a table on the token kind. Chains of the same
// level are loops: a+a+... may be long, and only its height is bounded.
#include "base/base.h"

#include "py/parser_impl.h"

// ORDER PRECEDENCE: a higher number binds tighter.
enum {
    PREC_NONE, PREC_OR, PREC_AND, PREC_NOT, PREC_COMPARE, PREC_BIT_OR,
    PREC_BIT_XOR, PREC_BIT_AND, PREC_SHIFT, PREC_SUM, PREC_TERM
};

typedef struct BinaryRule {
    uint8_t precedence; // PREC_NONE: not a binary operator
    uint8_t op;         // AstOp
} BinaryRule;

// `not` is here for `not in`, `**` is not here: it has a rule of its own.
static const BinaryRule BINARY[T_KIND_COUNT] = {
    [T_OR] = {PREC_OR, A_OR},
    [T_AND] = {PREC_AND, A_AND},
    [T_IN] = {PREC_COMPARE, A_IN},
    [T_NOT] = {PREC_COMPARE, A_NOT_IN},
    [T_IS] = {PREC_COMPARE, A_IS},
    [T_EQEQUAL] = {PREC_COMPARE, A_EQ},
    [T_NOTEQUAL] = {PREC_COMPARE, A_NOT_EQ},
    [T_LESS] = {PREC_COMPARE, A_LT},
    [T_LESSEQUAL] = {PREC_COMPARE, A_LT_E},
    [T_GREATER] = {PREC_COMPARE, A_GT},
    [T_GREATEREQUAL] = {PREC_COMPARE, A_GT_E},
    [T_VBAR] = {PREC_BIT_OR, A_BIT_OR},
    [T_CIRCUMFLEX] = {PREC_BIT_XOR, A_BIT_XOR},
    [T_AMPER] = {PREC_BIT_AND, A_BIT_AND},
    [T_LSHIFT] = {PREC_SHIFT, A_L_SHIFT},
    [T_RSHIFT] = {PREC_SHIFT, A_R_SHIFT},
    [T_PLUS] = {PREC_SUM, A_ADD},
    [T_MINUS] = {PREC_SUM, A_SUB},
    [T_STAR] = {PREC_TERM, A_MULT},
    [T_SLASH] = {PREC_TERM, A_DIV},
    [T_PERCENT] = {PREC_TERM, A_MOD},
    [T_AT] = {PREC_TERM, A_MAT_MULT},
    [T_DOUBLESLASH] = {PREC_TERM, A_FLOOR_DIV},
};

// One AstOp each, so that the usual `a < b` needs no list of its own.
static const uint8_t SINGLE_OP[A_OP_COUNT] = {
    [A_EQ] = A_EQ,       [A_NOT_EQ] = A_NOT_EQ, [A_LT] = A_LT,
    [A_LT_E] = A_LT_E,   [A_GT] = A_GT,         [A_GT_E] = A_GT_E,
    [A_IS] = A_IS,       [A_IS_NOT] = A_IS_NOT, [A_IN] = A_IN,
    [A_NOT_IN] = A_NOT_IN,
};

static Node *parse_binary(Parser *p, unsigned min);

static uint32_t max_u32(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

// One more link in a left-deep chain.
static void grow_chain(Parser *p) {
    if (++p->height > PARSER_MAX_CHAIN) parser_fault(p, "expression too long");
}

// --- primaries -------------------------------------------------------------

// '*' and then what `operand` parses
Node *parse_starred(Parser *p, ParseElement operand) {
    uint32_t start = p->tok.start;
    parser_advance(p);
    Node *value = operand(p);
    Node *node = parser_node(p, N_STARRED, start);
    node->u.return_.value = value;
    return node;
}

// slice: [expression] ':' [expression] [':' [expression]] | named_expression
static Node *parse_slice(Parser *p) {
    uint32_t start = p->tok.start;
    Node *lower = NULL;
    if (parser_at(p, T_STAR)) return parse_starred(p, parse_expression);
    if (!parser_at(p, T_COLON)) {
        lower = parse_named_expression(p);
        if (!parser_at(p, T_COLON)) return lower;
        if (lower->kind == N_NAMED_EXPR && !(lower->flags & NODE_PARENTHESISED)) {
            return parser_fault(p, "invalid syntax");
        }
    }
    Node *upper = NULL;
    Node *step = NULL;
    parser_expect(p, T_COLON);
    if (starts_expression(p->tok.kind)) upper = parse_expression(p);
    if (parser_accept(p, T_COLON) && starts_expression(p->tok.kind)) {
        step = parse_expression(p);
    }
    Node *node = parser_node(p, N_SLICE, start);
    node->u.slice.lower = lower;
    node->u.slice.upper = upper;
    node->u.slice.step = step;
    return node;
}

// slices: slice !',' | ','.(slice | starred_expression)+ [',']
static Node *parse_slices(Parser *p) {
    uint32_t start = p->tok.start;
    uint32_t base = p->stack_len;
    Node *first = parse_slice(p);
    if (!parser_at(p, T_COMMA) && first->kind != N_STARRED) return first;
    parser_push(p, first);
    while (parser_accept(p, T_COMMA)) {
        if (parser_at(p, T_RSQB)) break;
        parser_push(p, parse_slice(p));
    }
    Node *node = parser_node(p, N_TUPLE, start);
    node->u.list.elts = parser_take(p, base);
    return node;
}

static Node *parse_subscript(Parser *p, Node *value, uint32_t start) {
    parser_advance(p);
    Node *slice = parse_slices(p);
    parser_expect(p, T_RSQB);
    Node *node = parser_node(p, N_SUBSCRIPT, start);
    node->u.subscript.value = value;
    node->u.subscript.slice = slice;
    return node;
}

static Node *parse_call(Parser *p, Node *func, uint32_t start) {
    CallArgs args = parse_call_args(p, true);
    Node *node = parser_node(p, N_CALL, start);
    node->u.call.func = func;
    node->u.call.args = args.args;
    node->u.call.keywords = args.keywords;
    return node;
}

static Node *parse_attribute(Parser *p, Node *value, uint32_t start) {
    parser_advance(p);
    const Sym *attr = parser_name(p);
    Node *node = parser_node(p, N_ATTRIBUTE, start);
    node->u.attribute.value = value;
    node->u.attribute.attr = attr;
    return node;
}

// primary: atom | primary '.' NAME | primary '(' [args] ')' |
//          primary '[' slices ']'
static Node *parse_primary(Parser *p) {
    uint32_t start = p->tok.start;
    Node *node = parse_atom(p);
    for (;;) {
        switch (p->tok.kind) {
        case T_DOT: node = parse_attribute(p, node, start); break;
        case T_LPAR: node = parse_call(p, node, start); break;
        case T_LSQB: node = parse_subscript(p, node, start); break;
        default: return node;
        }
        grow_chain(p);
    }
}

// --- operators -------------------------------------------------------------

static Node *new_unary(Parser *p, AstOp op, Node *operand, uint32_t start) {
    Node *node = parser_node(p, N_UNARY_OP, start);
    node->op = (uint8_t)op;
    node->u.unary.operand = operand;
    return node;
}

static Node *new_binary(Parser *p, AstOp op, Node *const sides[2],
                        uint32_t start) {
    Node *node = parser_node(p, N_BIN_OP, start);
    node->op = (uint8_t)op;
    p->lex.marks |= parser_op_marks(op);
    node->u.bin.left = sides[0];
    node->u.bin.right = sides[1];
    return node;
}

static Node *parse_factor(Parser *p);

// await_primary: 'await' primary | primary
static Node *parse_await(Parser *p) {
    uint32_t start = p->tok.start;
    if (!parser_accept(p, T_AWAIT)) return parse_primary(p);
    Node *value = parse_primary(p);
    Node *node = parser_node(p, N_AWAIT, start);
    node->u.return_.value = value;
    return node;
}

// power: await_primary '**' factor | await_primary
static Node *parse_power(Parser *p) {
    uint32_t start = p->tok.start;
    Node *left = parse_await(p);
    if (!parser_at(p, T_DOUBLESTAR)) return left;
    parser_advance(p);
    uint32_t height = p->height;
    p->height = 0;
    Node *right = p->dummy;
    if (parser_enter(p)) right = parse_factor(p);
    p->depth--;
    p->height = max_u32(height, p->height);
    return new_binary(p, A_POW, (Node *[]){left, right}, start);
}

// factor: '+' factor | '-' factor | '~' factor | power
static Node *parse_factor(Parser *p) {
    AstOp op = parser_at(p, T_PLUS)    ? A_U_ADD
               : parser_at(p, T_MINUS) ? A_U_SUB
               : parser_at(p, T_TILDE) ? A_INVERT
                                       : A_NONE;
    if (op == A_NONE) return parse_power(p);
    uint32_t start = p->tok.start;
    Node *operand = p->dummy;
    if (parser_enter(p)) {
        parser_advance(p);
        operand = parse_factor(p);
    }
    p->depth--;
    return new_unary(p, op, operand, start);
}

// inversion: 'not' inversion | comparison
static Node *parse_not(Parser *p, unsigned min) {
    uint32_t start = p->tok.start;
    if (min > PREC_NOT) return parser_fault(p, "'not' needs parentheses here");
    Node *operand = p->dummy;
    if (parser_enter(p)) {
        parser_advance(p);
        operand = parse_binary(p, PREC_NOT);
    }
    p->depth--;
    return new_unary(p, A_NOT, operand, start);
}

// `not in` and `is not` are two tokens. False where `not` stands alone.
static AstOp compare_op(Parser *p) {
    AstOp op = (AstOp)BINARY[p->tok.kind].op;
    parser_advance(p);
    if (op == A_NOT_IN) parser_expect(p, T_IN);
    if (op == A_IS && parser_accept(p, T_NOT)) op = A_IS_NOT;
    return op;
}

// comparison: bitwise_or (compare_op bitwise_or)+
static Node *parse_compare(Parser *p, Node *left, uint32_t start) {
    VEC(uint8_t) ops = {0};
    uint32_t base = p->stack_len;
    AstOp first = A_NONE;
    while (BINARY[p->tok.kind].precedence == PREC_COMPARE) {
        AstOp op = compare_op(p);
        if (p->stack_len == base) {
            first = op;
        } else {
            if (ops.len == 0) vec_push(p->arena, &ops, (uint8_t)first);
            vec_push(p->arena, &ops, (uint8_t)op);
        }
        parser_push(p, parse_binary(p, PREC_COMPARE + 1));
    }
    Node *node = parser_node(p, N_COMPARE, start);
    node->u.compare.left = left;
    node->u.compare.comparators = parser_take(p, base);
    node->u.compare.ops = ops.len ? ops.at : &SINGLE_OP[first];
    return node;
}

// disjunction: conjunction ('or' conjunction)+, and the same for 'and'
static Node *parse_bool(Parser *p, Node *left, uint32_t start) {
    TokenKind kind = p->tok.kind;
    const BinaryRule *rule = &BINARY[kind];
    uint32_t base = p->stack_len;
    parser_push(p, left);
    while (parser_accept(p, kind)) {
        parser_push(p, parse_binary(p, rule->precedence + 1u));
    }
    Node *node = parser_node(p, N_BOOL_OP, start);
    node->op = rule->op;
    node->u.bool_op.values = parser_take(p, base);
    return node;
}

static Node *parse_arithmetic(Parser *p, Node *left, uint32_t start) {
    const BinaryRule *rule = &BINARY[p->tok.kind];
    parser_advance(p);
    Node *right = parse_binary(p, rule->precedence + 1u);
    grow_chain(p);
    return new_binary(p, (AstOp)rule->op, (Node *[]){left, right}, start);
}

// Operands joined by operators of precedence `min` and above.
static Node *parse_operators(Parser *p, unsigned min) {
    uint32_t start = p->tok.start;
    Node *left = parser_at(p, T_NOT) ? parse_not(p, min) : parse_factor(p);
    for (;;) {
        unsigned precedence = BINARY[p->tok.kind].precedence;
        if (precedence < min || precedence == PREC_NONE) return left;
        if (precedence <= PREC_AND) {
            left = parse_bool(p, left, start);
        } else if (precedence == PREC_COMPARE) {
            left = parse_compare(p, left, start);
        } else {
            left = parse_arithmetic(p, left, start);
        }
    }
}

// p->height is that of the deepest operand read so far in the enclosing one.
static Node *parse_binary(Parser *p, unsigned min) {
    uint32_t outer = p->height;
    Node *node = p->dummy;
    p->height = 0;
    if (parser_enter(p)) node = parse_operators(p, min);
    p->depth--;
    p->height = max_u32(outer, p->height);
    return node;
}

Node *parse_disjunction(Parser *p) {
    return parse_binary(p, PREC_OR);
}

Node *parse_bitwise_or(Parser *p) {
    return parse_binary(p, PREC_BIT_OR);
}

// --- expressions -----------------------------------------------------------

// lambdef: 'lambda' [lambda_params] ':' expression
static Node *parse_lambda(Parser *p) {
    uint32_t start = p->tok.start;
    if (p->lex.field_depth && p->lex.depth == p->lex.field_depth) {
        return parser_fault(p, "a lambda in an f-string needs parentheses");
    }
    parser_advance(p);
    Node *args = parse_parameters(p, T_COLON);
    parser_expect(p, T_COLON);
    Node *body = p->dummy;
    if (parser_enter(p)) body = parse_expression(p);
    p->depth--;
    Node *node = parser_node(p, N_LAMBDA, start);
    node->u.lambda.args = args;
    node->u.lambda.body = body;
    return node;
}

// expression: disjunction ['if' disjunction 'else' expression] | lambdef
Node *parse_expression(Parser *p) {
    uint32_t start = p->tok.start;
    if (parser_at(p, T_LAMBDA)) return parse_lambda(p);
    Node *body = parse_binary(p, PREC_OR);
    if (!parser_accept(p, T_IF)) return body;
    Node *test = parse_binary(p, PREC_OR);
    parser_expect(p, T_ELSE);
    Node *orelse = p->dummy;
    if (parser_enter(p)) orelse = parse_expression(p);
    p->depth--;
    Node *node = parser_node(p, N_IF_EXP, start);
    node->u.if_exp.test = test;
    node->u.if_exp.body = body;
    node->u.if_exp.orelse = orelse;
    return node;
}

// named_expression: NAME ':=' expression | expression !':='
Node *parse_named_expression(Parser *p) {
    uint32_t start = p->tok.start;
    Node *target = parse_expression(p);
    if (!parser_at(p, T_COLONEQUAL)) return target;
    if (target->kind != N_NAME || target->flags & NODE_PARENTHESISED) {
        return parser_fault(p, "only a name may stand before ':='");
    }
    parser_advance(p);
    target->ctx = CTX_STORE;
    Node *value = parse_expression(p);
    Node *node = parser_node(p, N_NAMED_EXPR, start);
    node->u.named.target = target;
    node->u.named.value = value;
    return node;
}

// star_named_expression: '*' bitwise_or | named_expression
Node *parse_star_named_expression(Parser *p) {
    if (parser_at(p, T_STAR)) return parse_starred(p, parse_bitwise_or);
    return parse_named_expression(p);
}

// star_expression: '*' bitwise_or | expression
static Node *parse_star_expression(Parser *p) {
    if (parser_at(p, T_STAR)) return parse_starred(p, parse_bitwise_or);
    return parse_expression(p);
}

Node *parse_tuple_after(Parser *p, Node *first, uint32_t start,
                        ParseElement element) {
    uint32_t base = p->stack_len;
    parser_push(p, first);
    while (parser_accept(p, T_COMMA) && starts_expression(p->tok.kind)) {
        parser_push(p, element(p));
    }
    Node *node = parser_node(p, N_TUPLE, start);
    node->u.list.elts = parser_take(p, base);
    return node;
}

Node *parse_tuple_of(Parser *p, ParseElement element) {
    uint32_t start = p->tok.start;
    Node *first = element(p);
    if (!parser_at(p, T_COMMA)) return first;
    return parse_tuple_after(p, first, start, element);
}

// star_expressions: ','.star_expression+ [',']
Node *parse_star_expressions(Parser *p) {
    return parse_tuple_of(p, parse_star_expression);
}

// yield_expr: 'yield' 'from' expression | 'yield' [star_expressions]
Node *parse_yield(Parser *p) {
    uint32_t start = p->tok.start;
    Node *value = NULL;
    NodeKind kind = N_YIELD;
    parser_advance(p);
    if (parser_accept(p, T_FROM)) {
        kind = N_YIELD_FROM;
        value = parse_expression(p);
    } else if (starts_expression(p->tok.kind)) {
        value = parse_star_expressions(p);
    }
    Node *node = parser_node(p, kind, start);
    node->u.return_.value = value;
    return node;
}

Node *parse_yield_or_star_expressions(Parser *p) {
    return parser_at(p, T_YIELD) ? parse_yield(p) : parse_star_expressions(p);
}

bool starts_expression(TokenKind kind) {
    static const uint8_t STARTS[T_KIND_COUNT] = {
        [T_NAME] = 1,  [T_NUMBER] = 1, [T_STRING] = 1,   [T_FSTRING] = 1,
        [T_LPAR] = 1,  [T_LSQB] = 1,   [T_LBRACE] = 1,   [T_ELLIPSIS] = 1,
        [T_PLUS] = 1,  [T_MINUS] = 1,  [T_STAR] = 1,     [T_TILDE] = 1,
        [T_FALSE] = 1, [T_NONE] = 1,   [T_TRUE] = 1,     [T_AWAIT] = 1,
        [T_NOT] = 1,   [T_LAMBDA] = 1, [T_ERROR] = 1,
    };
    return STARTS[kind];
}
