// parse_target.c - what may be assigned to or deleted.
//
// Targets are parsed as the expressions they look like; then their form is
// checked and their ctx set.
#include "base/base.h"

#include "py/parser_impl.h"

static const char *describe(const Node *node) {
    switch (node->kind) {
    case N_CALL: return "cannot assign to a call";
    case N_CONSTANT:
    case N_JOINED_STR:
    case N_TEMPLATE_STR: return "cannot assign to a literal";
    case N_COMPARE: return "cannot assign to a comparison";
    case N_IF_EXP: return "cannot assign to a conditional expression";
    case N_LAMBDA: return "cannot assign to a lambda";
    case N_AWAIT: return "cannot assign to an await expression";
    case N_YIELD:
    case N_YIELD_FROM: return "cannot assign to a yield expression";
    case N_STARRED: return "cannot use a starred expression here";
    case N_TUPLE: return "cannot use a tuple here";
    case N_LIST: return "cannot use a list here";
    case N_DICT:
    case N_SET: return "cannot assign to a dict or set display";
    case N_LIST_COMP:
    case N_SET_COMP:
    case N_DICT_COMP:
    case N_GENERATOR_EXP: return "cannot assign to a comprehension";
    default: return "cannot assign to an expression";
    }
}

static Node *set_elements(Parser *p, Node *node, TargetUse use) {
    NodeList elts = node->u.list.elts;
    for (uint32_t i = 0; i < elts.len; i++) {
        parse_set_target(p, elts.at[i], use);
    }
    return node;
}

void parse_set_target(Parser *p, Node *node, TargetUse use) {
    if (p->failed) return;
    node->ctx = use == TARGET_DELETE ? CTX_DEL : CTX_STORE;
    switch (node->kind) {
    case N_NAME:
    case N_ATTRIBUTE:
    case N_SUBSCRIPT: return;
    case N_TUPLE:
    case N_LIST:
        if (use == TARGET_SINGLE) break;
        set_elements(p, node, use);
        return;
    case N_STARRED:
        if (use != TARGET_ASSIGN) break;
        parse_set_target(p, node->u.return_.value, use);
        return;
    default: break;
    }
    parser_fault_at(p, node->start, describe(node));
}

static Node *parse_star_target(Parser *p) {
    if (parser_at(p, T_STAR)) return parse_starred(p, parse_bitwise_or);
    return parse_bitwise_or(p);
}

// star_targets: ','.star_target+ [',']
//
// Operands that bind tighter than `in` are read, so that `in` ends the list.
Node *parse_for_target(Parser *p) {
    Node *target = parse_tuple_of(p, parse_star_target);
    parse_set_target(p, target, TARGET_ASSIGN);
    return target;
}
