// ways.c - branches that exclude each other, by where nodes stand.
#include "base/base.h"

#include "lint/ways.h"

bool block_holds(const NodeList *block, const Node *node) {
    return block->len && node->start >= block->at[0]->start &&
           node->end <= block->at[block->len - 1]->end;
}

static bool leaves(const NodeList *block) {
    const Node *last = block->len ? block->at[block->len - 1] : NULL;
    return last && (last->kind == N_RETURN || last->kind == N_RAISE);
}

typedef struct Pair {
    const Node *a, *b;
    bool excluded;
} Pair;

static bool is_apart(const NodeList *one, const NodeList *other, const Pair *pair) {
    return (block_holds(one, pair->a) && block_holds(other, pair->b)) ||
           (block_holds(one, pair->b) && block_holds(other, pair->a));
}

// if c: return f(a)
// g(b)
static bool is_left_before(const NodeList *block, uint32_t end, const Pair *pair) {
    if (!leaves(block)) return false;
    return (block_holds(block, pair->a) && pair->b->start >= end) ||
           (block_holds(block, pair->b) && pair->a->start >= end);
}

static bool covers(const Node *node, const Node *part) {
    return node->start <= part->start && node->end >= part->end;
}

static bool visit(Node *node, void *data) {
    Pair *pair = data;
    if (!covers(node, pair->a) && !covers(node, pair->b)) return true;
    if (node->kind == N_IF) {
        const NodeList *body = &node->u.while_.body, *orelse = &node->u.while_.orelse;
        pair->excluded |= is_apart(body, orelse, pair) ||
                          is_left_before(body, node->end, pair) ||
                          is_left_before(orelse, node->end, pair);
    }
    if (node->kind == N_IF_EXP) {
        const NodeList body = {&node->u.if_exp.body, 1}, orelse = {&node->u.if_exp.orelse, 1};
        pair->excluded |= is_apart(&body, &orelse, pair);
    }
    return !pair->excluded && node_children(node, visit, data);
}

bool ways_exclude(const Node *function, const Node *a, const Node *b) {
    Pair pair = {.a = a, .b = b};
    if (function) node_children(function, visit, &pair);
    return pair.excluded;
}
