// parse_params.c - parameters of functions and lambdas, and type parameters.
#include "base/base.h"

#include "py/parser_impl.h"

// --- parameters ------------------------------------------------------------

// Where a parameter list stands.
typedef struct Params {
    ArgumentsNode *out;
    TokenKind close; // T_COLON: a lambda, without annotations
    // Stack of N_ARG and their defaults (NULL for none), in pairs.
    uint32_t base;
    bool after_star; // now come keyword-only parameters
    bool has_slash;
} Params;

// param: NAME [':' expression]; with a star also NAME ':' star_expression
static Node *parse_param_name(Parser *p, const Params *params, bool starred) {
    uint32_t start = p->tok.start;
    const Sym *name = parser_name(p);
    Node *annotation = NULL;
    if (params->close != T_COLON && parser_accept(p, T_COLON)) {
        if (starred && parser_at(p, T_STAR)) {
            annotation = parse_starred(p, parse_bitwise_or);
        } else {
            annotation = parse_expression(p);
        }
    }
    Node *node = parser_node(p, N_ARG, start);
    node->u.arg.name = name;
    node->u.arg.annotation = annotation;
    return node;
}

static void parse_param(Parser *p, const Params *params) {
    parser_push(p, parse_param_name(p, params, false));
    parser_push(p, parser_accept(p, T_EQUAL) ? parse_expression(p) : NULL);
}

static uint32_t param_count(const Parser *p, const Params *params) {
    return (p->stack_len - params->base) / 2;
}

// The defaults of positional parameters, which all stand at the end.
static NodeList take_defaults(Parser *p, const Params *params) {
    NodeList list = {NULL, 0};
    uint32_t len = param_count(p, params);
    Node *const *pairs = p->stack + params->base;
    for (uint32_t i = 0; i < len; i++) {
        Node *value = pairs[2 * i + 1];
        if (!value && list.len) {
            parser_fault_at(p, pairs[2 * i]->start,
                            "parameter without a default after one with it");
        }
        if (!value) continue;
        if (!list.at) list.at = NEW_N(p->arena, Node *, len - i);
        list.at[list.len++] = value;
    }
    return list;
}

static void parse_slash(Parser *p, Params *params) {
    uint32_t len = param_count(p, params);
    if (params->has_slash || params->after_star || len == 0) {
        parser_fault(p, "'/' must follow parameters, once, and before '*'");
        return;
    }
    parser_advance(p);
    params->has_slash = true;
    params->out->posonly.len = len;
}

// All parameters before a star are known: sort them.
static void close_positional(Parser *p, Params *params) {
    ArgumentsNode *out = params->out;
    NodeList all =
        parser_every_second(p, params->base, param_count(p, params));
    out->defaults = take_defaults(p, params);
    out->posonly.at = all.at;
    out->args.at = all.at + out->posonly.len;
    out->args.len = all.len - out->posonly.len;
    p->stack_len = params->base;
}

static void close_keyword_only(Parser *p, Params *params) {
    uint32_t len = param_count(p, params);
    params->out->kwonly = parser_every_second(p, params->base, len);
    params->out->kw_defaults = parser_every_second(p, params->base + 1, len);
    p->stack_len = params->base;
}

// '*' param | '*' ','
static void parse_star_param(Parser *p, Params *params) {
    if (params->after_star) {
        parser_fault(p, "'*' may appear only once");
        return;
    }
    close_positional(p, params);
    params->after_star = true;
    parser_advance(p);
    if (!parser_at(p, T_COMMA)) {
        params->out->vararg = parse_param_name(p, params, true);
    }
}

// A bare '*' needs a name behind it.
static void check_bare_star(Parser *p, const Params *params) {
    bool bare = params->after_star && !params->out->vararg;
    if (bare && p->stack_len == params->base) {
        parser_fault(p, "parameters must follow a bare '*'");
    }
}

static void parse_one_param(Parser *p, Params *params) {
    switch (p->tok.kind) {
    case T_SLASH: parse_slash(p, params); break;
    case T_STAR: parse_star_param(p, params); break;
    case T_DOUBLESTAR:
        check_bare_star(p, params);
        parser_advance(p);
        params->out->kwarg = parse_param_name(p, params, false);
        break;
    default: parse_param(p, params); break;
    }
}

// parameters: params up to `close`
Node *parse_parameters(Parser *p, TokenKind close) {
    uint32_t start = p->tok.start;
    Params params = {NEW(p->arena, ArgumentsNode), close, p->stack_len, 0, 0};
    while (!parser_at(p, close)) {
        parse_one_param(p, &params);
        if (!parser_accept(p, T_COMMA) || params.out->kwarg) break;
    }
    check_bare_star(p, &params);
    if (params.after_star) {
        close_keyword_only(p, &params);
    } else {
        close_positional(p, &params);
    }
    bool empty = p->prev_end <= start;
    Node *node = parser_node(p, N_ARGUMENTS, empty ? p->prev_end : start);
    node->u.arguments = params.out;
    return node;
}

// --- type parameters -------------------------------------------------------

// type_param: NAME [':' expression] ['=' expression]
//           | '*' NAME ['=' star_expression] | '**' NAME ['=' expression]
static Node *parse_type_param(Parser *p) {
    uint32_t start = p->tok.start;
    NodeKind kind = parser_accept(p, T_STAR)         ? N_TYPE_VAR_TUPLE
                    : parser_accept(p, T_DOUBLESTAR) ? N_PARAM_SPEC
                                                     : N_TYPE_VAR;
    const Sym *name = parser_name(p);
    Node *bound = NULL;
    Node *value = NULL;
    if (kind == N_TYPE_VAR && parser_accept(p, T_COLON)) {
        bound = parse_expression(p);
    }
    if (parser_accept(p, T_EQUAL)) {
        bool starred = kind == N_TYPE_VAR_TUPLE && parser_at(p, T_STAR);
        value = starred ? parse_starred(p, parse_bitwise_or)
                        : parse_expression(p);
    }
    Node *node = parser_node(p, kind, start);
    node->u.type_var.name = name;
    node->u.type_var.bound = bound;
    node->u.type_var.default_value = value;
    return node;
}

// type_params: '[' ','.type_param+ [','] ']'
NodeList parse_type_params(Parser *p) {
    uint32_t base = p->stack_len;
    if (!parser_accept(p, T_LSQB)) return (NodeList){0};
    do {
        parser_push(p, parse_type_param(p));
    } while (parser_accept(p, T_COMMA) && !parser_at(p, T_RSQB));
    parser_expect(p, T_RSQB);
    return parser_take(p, base);
}
