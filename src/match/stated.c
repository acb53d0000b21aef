// stated.c - reads the asserts at the top of a function, and what raises there.
#include "base/base.h"

#include "match/stated.h"

#include "match/ranks.h"

enum { TERMS_MAX = 8 }; // of one test

typedef struct Statement { // one comparison that holds behind it
    const Node *left, *right;
    bool raised;
} Statement;

typedef struct Statements {
    const Frame *frame;
    Statement at[TERMS_MAX];
    uint32_t len;
} Statements;

static void add_terms(Statements *out, const Node *test, bool raised) {
    if (test->kind == N_BOOL_OP && test->op == (raised ? A_OR : A_AND)) {
        for (uint32_t i = 0; i < test->u.bool_op.values.len; i++) {
            const Node *term = test->u.bool_op.values.at[i];
            if (term->kind != N_BOOL_OP) add_terms(out, term, raised);
        }
    }
    if (test->kind != N_COMPARE || test->u.compare.comparators.len != 1) return;
    if (test->u.compare.ops[0] != (raised ? A_NOT_EQ : A_EQ) || out->len == TERMS_MAX) return;
    out->at[out->len++] =
        (Statement){test->u.compare.left, test->u.compare.comparators.at[0], raised};
}

// What a statement says of all that follows it.
static void read_statement(Statements *out, const Node *stmt) {
    out->len = 0;
    if (stmt->kind == N_ASSERT) add_terms(out, stmt->u.assert_.test, false);
    if (stmt->kind != N_IF || stmt->u.while_.orelse.len || !stmt->u.while_.body.len) return;
    const NodeList *body = &stmt->u.while_.body;
    if (body->at[body->len - 1]->kind == N_RAISE) add_terms(out, stmt->u.while_.test, true);
}

// x of x.shape and x.size(), or of x.ndim, x.dim() and len(x.shape).
static const Val *subject(const Frame *f, const Node *node, const char *attr, const char *method) {
    bool called = node->kind == N_CALL && node->u.call.args.len == 0;
    if (called) node = node->u.call.func;
    if (node->kind != N_ATTRIBUTE) return NULL;
    Str name = sym_str(node->u.attribute.attr);
    if (!str_is(name, called ? method : attr)) return NULL;
    const Val *v = node_val(f->mf, node->u.attribute.value);
    return v ? val_strip((Val *)(uintptr_t)v) : NULL;
}

static const Val *rank_subject(const Frame *f, const Node *node) {
    if (node->kind == N_CALL && node->u.call.func->kind == N_NAME && node->u.call.args.len == 1 &&
        str_is(sym_str(node->u.call.func->u.name.id), "len")) {
        return subject(f, node->u.call.args.at[0], "shape", "size");
    }
    return subject(f, node, "ndim", "dim");
}

// The statements of the function's own block in front of the match.
static NodeList said_before(const Place *place) {
    const Node *fn = place->frame->fn;
    NodeList body = {0};
    if (!fn || fn->kind != N_FUNCTION_DEF || !place->record->stmt) return body;
    body = fn->u.function->body;
    // A span begins no later than its last statement; what lies in it is no proof.
    const Node *first = place->infos[place->first] ? place->infos[place->first]->stmt
                                                   : place->record->stmt;
    uint32_t n = 0;
    while (n < body.len && body.at[n]->start < first->start) n++;
    body.len = n;
    return body;
}

Stated stated_shape(const Place *place, const Val *a, const Val *b) {
    const Frame *f = place->frame;
    NodeList body = said_before(place);
    Stated best = STATED_NOT;
    Statements said = {.frame = f};
    for (uint32_t i = 0; i < body.len; i++) {
        read_statement(&said, body.at[i]);
        for (uint32_t k = 0; k < said.len; k++) {
            const Val *x = subject(f, said.at[k].left, "shape", "size");
            const Val *y = subject(f, said.at[k].right, "shape", "size");
            if (!x || !y || !((x == a && y == b) || (x == b && y == a))) continue;
            Stated now = said.at[k].raised ? STATED_RAISED : STATED_ASSERTED;
            if (now > best) best = now;
        }
    }
    return best;
}

static uint32_t stated_rank(const Place *place, const Val *x) {
    const Frame *f = place->frame;
    NodeList body = said_before(place);
    Statements said = {.frame = f};
    for (uint32_t i = 0; i < body.len; i++) {
        read_statement(&said, body.at[i]);
        for (uint32_t k = 0; k < said.len; k++) {
            if (rank_subject(f, said.at[k].left) != x) continue;
            const Val *rank = node_val(f->mf, said.at[k].right);
            if (rank && val_is_number(rank) && rank->num > 0) return (uint32_t)rank->num;
        }
    }
    return 0;
}

uint32_t placed_rank(const Place *place, const Val *x) {
    uint32_t rank = tensor_rank(x);
    return rank ? rank : stated_rank(place, val_strip((Val *)(uintptr_t)x));
}
