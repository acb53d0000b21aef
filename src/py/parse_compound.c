// parse_compound.c - statements with blocks.
//
// A header that does not parse breaks the whole statement, and its block is
// skipped. A later clause (elif, else, except, finally) that does not parse
// breaks only itself: what the earlier clauses hold is kept.
#include "base/base.h"

#include "py/parser_impl.h"

// --- if, while, for --------------------------------------------------------

// else_block: 'else' ':' block; empty where there is none
static NodeList parse_else(Parser *p, TokenKind keyword) {
    Clause clause = parse_clause(p);
    if (!parser_accept(p, keyword)) return (NodeList){0};
    NodeList body = parse_block(p);
    if (parse_clause_failed(p, &clause)) return (NodeList){0};
    return body;
}

// 'if' or 'elif', a condition and a block.
static Node *parse_if_branch(Parser *p) {
    uint32_t start = p->tok.start;
    parser_advance(p);
    Node *test = parse_named_expression(p);
    NodeList body = parse_block(p);
    Node *node = parser_node(p, N_IF, start);
    node->u.while_.test = test;
    node->u.while_.body = body;
    return node;
}

static NodeList list_of_one(Parser *p, Node *node) {
    NodeList list = {NEW(p->arena, Node *), 1};
    list.at[0] = node;
    return list;
}

// if_stmt: 'if' named_expression ':' block
//          ('elif' named_expression ':' block)* [else_block]
//
// Each elif is an If in the orelse of the one before; all end together.
static Node *parse_if(Parser *p) {
    Node *first = parse_if_branch(p);
    if (p->failed) return first;
    Node *last = first;
    for (uint32_t count = 0; parser_at(p, T_ELIF); count++) {
        Clause clause = parse_clause(p);
        if (count >= PARSER_MAX_CHAIN) parser_fault(p, "too many branches");
        Node *next = parse_if_branch(p);
        if (parse_clause_failed(p, &clause)) continue;
        last->u.while_.orelse = list_of_one(p, next);
        last = next;
    }
    last->u.while_.orelse = parse_else(p, T_ELSE);
    for (Node *node = first;; node = node->u.while_.orelse.at[0]) {
        node->end = p->prev_end;
        if (node == last) return first;
    }
}

// while_stmt: 'while' named_expression ':' block [else_block]
static Node *parse_while(Parser *p) {
    Node *node = parse_if_branch(p);
    if (p->failed) return node;
    node->kind = N_WHILE;
    node->u.while_.orelse = parse_else(p, T_ELSE);
    node->end = p->prev_end;
    return node;
}

// for_stmt: 'for' star_targets 'in' star_expressions ':' block [else_block]
static Node *parse_for(Parser *p, NodeKind kind, uint32_t start) {
    p->lex.marks |= MARK_LOOP;
    parser_advance(p);
    Node *target = parse_for_target(p);
    parser_expect(p, T_IN);
    Node *iter = parse_star_expressions(p);
    NodeList body = parse_block(p);
    if (p->failed) return p->dummy;
    NodeList orelse = parse_else(p, T_ELSE);
    Node *node = parser_node(p, kind, start);
    node->u.for_ = NEW(p->arena, ForNode);
    node->u.for_->target = target;
    node->u.for_->iter = iter;
    node->u.for_->body = body;
    node->u.for_->orelse = orelse;
    return node;
}

// --- with ------------------------------------------------------------------

// with_item: expression ['as' star_target]
static Node *parse_with_item(Parser *p) {
    uint32_t start = p->tok.start;
    Node *expr = parse_expression(p);
    Node *vars = NULL;
    if (parser_accept(p, T_AS)) {
        bool starred = parser_at(p, T_STAR);
        vars = starred ? parse_starred(p, parse_bitwise_or) : parse_bitwise_or(p);
        parse_set_target(p, vars, TARGET_ASSIGN);
    }
    Node *node = parser_node(p, N_WITHITEM, start);
    node->u.withitem.expr = expr;
    node->u.withitem.vars = vars;
    return node;
}

// '(' ','.with_item+ [','] ')' ':' is tried first, as Python does: it takes
// `with (a, b):` for two items. False, with nothing consumed, if it is not so.
static bool parse_with_parens(Parser *p, NodeList *items) {
    if (!parser_at(p, T_LPAR)) return false;
    ParserMark mark = parser_mark(p);
    parser_advance(p);
    do {
        parser_push(p, parse_with_item(p));
    } while (parser_accept(p, T_COMMA) && !parser_at(p, T_RPAR));
    if (parser_accept(p, T_RPAR) && parser_at(p, T_COLON)) {
        *items = parser_take(p, mark.stack_len);
        return true;
    }
    parser_restore(p, &mark);
    return false;
}

// with_stmt: 'with' '(' ','.with_item+ [','] ')' ':' block
//          | 'with' ','.with_item+ ':' block
static Node *parse_with(Parser *p, NodeKind kind, uint32_t start) {
    NodeList items;
    parser_advance(p);
    if (!parse_with_parens(p, &items)) {
        uint32_t base = p->stack_len;
        do {
            parser_push(p, parse_with_item(p));
        } while (parser_accept(p, T_COMMA));
        items = parser_take(p, base);
    }
    NodeList body = parse_block(p);
    Node *node = parser_node(p, kind, start);
    node->u.with.items = items;
    node->u.with.body = body;
    return node;
}

// --- try -------------------------------------------------------------------

// The exceptions behind 'except': since 3.14 several need no parentheses
// unless `as` follows.
static Node *parse_except_types(Parser *p) {
    uint32_t start = p->tok.start;
    Node *first = parse_expression(p);
    if (!parser_at(p, T_COMMA)) return first;
    Node *types = parse_tuple_after(p, first, start, parse_expression);
    if (parser_at(p, T_AS)) {
        parser_fault(p, "several exceptions need parentheses before 'as'");
    }
    return types;
}

// except_block: 'except' [expression ['as' NAME]] ':' block
static Node *parse_handler(Parser *p, bool *is_star) {
    uint32_t start = p->tok.start;
    Node *type = NULL;
    const Sym *name = NULL;
    parser_advance(p);
    *is_star = parser_accept(p, T_STAR);
    if (*is_star || !parser_at(p, T_COLON)) {
        type = parse_except_types(p);
        if (parser_accept(p, T_AS)) name = parser_name(p);
    }
    NodeList body = parse_block(p);
    Node *node = parser_node(p, N_EXCEPT_HANDLER, start);
    node->u.handler.type = type;
    node->u.handler.name = name;
    node->u.handler.body = body;
    return node;
}

// The handlers of one try; they have all a star or none.
static NodeList parse_handlers(Parser *p, bool *star) {
    uint32_t base = p->stack_len;
    bool is_star;
    while (parser_at(p, T_EXCEPT)) {
        Clause clause = parse_clause(p);
        Node *handler = parse_handler(p, &is_star);
        if (parse_clause_failed(p, &clause)) continue;
        if (p->stack_len == base) *star = is_star;
        if (*star != is_star) {
            parse_incomplete(p, "cannot have both 'except' and 'except*'");
        }
        parser_push(p, handler);
    }
    return parser_take(p, base);
}

// try_stmt: 'try' ':' block (except_block+ [else_block] [finally_block]
//                            | finally_block)
static Node *parse_try(Parser *p) {
    uint32_t start = p->tok.start;
    bool star = false;
    parser_advance(p);
    NodeList body = parse_block(p);
    if (p->failed) return p->dummy;
    uint32_t broken = p->broken.len;
    NodeList handlers = parse_handlers(p, &star);
    NodeList orelse = {0};
    if (handlers.len) orelse = parse_else(p, T_ELSE);
    NodeList finalbody = parse_else(p, T_FINALLY);
    if (!handlers.len && !finalbody.len && p->broken.len == broken) {
        parse_incomplete(p, "expected 'except' or 'finally'");
    }
    Node *node = parser_node(p, star ? N_TRY_STAR : N_TRY, start);
    node->u.try_ = NEW(p->arena, TryNode);
    node->u.try_->body = body;
    node->u.try_->handlers = handlers;
    node->u.try_->orelse = orelse;
    node->u.try_->finalbody = finalbody;
    return node;
}

// --- functions and classes -------------------------------------------------

// function_def: 'def' NAME [type_params] '(' [params] ')' ['->' expression]
//               ':' block
static Node *parse_function(Parser *p, NodeKind kind, uint32_t start,
                            NodeList decorators) {
    FunctionNode *function = NEW(p->arena, FunctionNode);
    uint32_t outer_marks = p->lex.marks;
    p->lex.marks = 0;
    parser_advance(p);
    function->decorators = decorators;
    function->name = parser_name(p);
    function->type_params = parse_type_params(p);
    parser_expect(p, T_LPAR);
    function->args = parse_parameters(p, T_RPAR);
    parser_expect(p, T_RPAR);
    if (parser_accept(p, T_ARROW)) function->returns = parse_expression(p);
    function->body = parse_block(p);
    function->marks = p->lex.marks;
    p->function_count++;
    p->lex.marks |= outer_marks;
    Node *node = parser_node(p, kind, start);
    node->u.function = function;
    return node;
}

static uint64_t method_bits(NodeList body) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < body.len; i++) {
        const Node *stmt = body.at[i];
        bool function = stmt->kind == N_FUNCTION_DEF || stmt->kind == N_ASYNC_FUNCTION_DEF;
        if (function) bits |= class_name_bit(stmt->u.function->name);
    }
    return bits;
}

// class_def: 'class' NAME [type_params] ['(' [args] ')'] ':' block
static Node *parse_class(Parser *p, NodeList decorators) {
    uint32_t start = p->tok.start;
    ClassNode *class_ = NEW(p->arena, ClassNode);
    parser_advance(p);
    class_->decorators = decorators;
    class_->name = parser_name(p);
    class_->type_params = parse_type_params(p);
    if (parser_at(p, T_LPAR)) {
        CallArgs args = parse_call_args(p, false);
        class_->bases = args.args;
        class_->keywords = args.keywords;
    }
    class_->body = parse_block(p);
    class_->methods = method_bits(class_->body);
    Node *node = parser_node(p, N_CLASS_DEF, start);
    node->u.class_ = class_;
    return node;
}

// 'async' (function_def | for_stmt | with_stmt)
static Node *parse_async(Parser *p, NodeList decorators) {
    uint32_t start = p->tok.start;
    parser_advance(p);
    if (parser_at(p, T_DEF)) {
        return parse_function(p, N_ASYNC_FUNCTION_DEF, start, decorators);
    }
    if (decorators.len) return parser_fault(p, "expected 'def'");
    if (parser_at(p, T_FOR)) return parse_for(p, N_ASYNC_FOR, start);
    if (parser_at(p, T_WITH)) return parse_with(p, N_ASYNC_WITH, start);
    return parser_fault(p, "expected 'def', 'for' or 'with' behind 'async'");
}

// decorators: ('@' named_expression NEWLINE)+
static Node *parse_decorated(Parser *p) {
    uint32_t base = p->stack_len;
    while (parser_accept(p, T_AT)) {
        parser_push(p, parse_named_expression(p));
        parser_expect(p, T_NEWLINE);
    }
    NodeList decorators = parser_take(p, base);
    uint32_t start = p->tok.start;
    NodeKind kind = parser_at(p, T_DEF)     ? N_FUNCTION_DEF
                    : parser_at(p, T_CLASS) ? N_CLASS_DEF
                    : parser_at(p, T_ASYNC) ? N_ASYNC_FUNCTION_DEF
                                            : N_NONE;
    if (kind == N_NONE) {
        return parser_fault(p, "expected a function or a class behind '@'");
    }
    // If the definition is broken, parsing shall not resume at its first line.
    p->header = start;
    if (kind == N_CLASS_DEF) return parse_class(p, decorators);
    if (kind == N_ASYNC_FUNCTION_DEF) return parse_async(p, decorators);
    return parse_function(p, kind, start, decorators);
}

Node *parse_compound_statement(Parser *p) {
    uint32_t start = p->tok.start;
    NodeList none = {0};
    switch (p->tok.kind) {
    case T_IF: return parse_if(p);
    case T_DEF: return parse_function(p, N_FUNCTION_DEF, start, none);
    case T_FOR: return parse_for(p, N_FOR, start);
    case T_WITH: return parse_with(p, N_WITH, start);
    case T_TRY: return parse_try(p);
    case T_CLASS: return parse_class(p, none);
    case T_WHILE: return parse_while(p);
    case T_AT: return parse_decorated(p);
    case T_ASYNC: return parse_async(p, none);
    case T_NAME: return p->tok.sym->tag == T_SOFT_MATCH ? parse_match(p) : NULL;
    default: return NULL;
    }
}
