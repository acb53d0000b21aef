// check_constants.c - literals against limits(): an assert that compares one
// parameter with constants can be decided where that parameter is a literal.
#include "base/base.h"

#include "lint/checks.h"
#include "lint/value.h"

#include <stdlib.h>

typedef struct Limits {
    LintJob *job;
    const NpuCall *call;
} Limits;

static int argument_index(const NpuCall *call, const Sym *name) {
    for (uint32_t i = 0; i < call->schema->args.len && i < CALL_MAX_ARGS; i++) {
        if (str_eq(call->schema->args.at[i].name, sym_str(name))) return (int)i;
    }
    return -1;
}

// The literal that the argument of this name has; NULL if it is none.
static const Val *literal(const NpuCall *call, const Node *name, int *index) {
    if (name->kind != N_NAME) return NULL;
    *index = argument_index(call, name->u.name.id);
    const Val *v = *index < 0 ? NULL : call->args[*index];
    return v && v->op == V_CONST && v->ck != CONST_NONE ? v : NULL;
}

static bool as_number(const Node *n, double *out) {
    double sign = 1;
    if (n->kind == N_UNARY_OP && n->op == A_U_SUB) {
        sign = -1;
        n = n->u.unary.operand;
    }
    if (n->kind != N_CONSTANT || (n->op != CONST_INT && n->op != CONST_FLOAT)) return false;
    char text[64], *end;
    if (n->u.constant.text.len >= sizeof(text)) return false;
    memcpy(text, n->u.constant.text.at, n->u.constant.text.len);
    text[n->u.constant.text.len] = '\0';
    *out = sign * strtod(text, &end);
    return *end == '\0';
}

static bool equals(const Val *v, const Node *n) {
    double number;
    if (n->kind != N_CONSTANT) return as_number(n, &number) && val_is_number(v) &&
                                      v->num == number;
    if (n->op == CONST_STR) return v->ck == CONST_STR && str_eq(v->text, n->u.constant.text);
    return as_number(n, &number) && val_is_number(v) && v->num == number;
}

// 1, 0, or -1 where it is not a comparison of literals.
static int compared(const Val *v, AstOp op, const Node *with) {
    double number;
    if (op == A_IN && (with->kind == N_TUPLE || with->kind == N_LIST)) {
        bool any = false;
        for (uint32_t i = 0; i < with->u.list.elts.len; i++) {
            const Node *item = with->u.list.elts.at[i];
            double ignored;
            if (!item || (item->kind != N_CONSTANT && !as_number(item, &ignored))) return -1;
            any |= equals(v, item);
        }
        return any;
    }
    if (!as_number(with, &number) || !val_is_number(v)) return -1;
    switch ((int)op) {
    case A_LT: return v->num < number;
    case A_LT_E: return v->num <= number;
    case A_GT: return v->num > number;
    case A_GT_E: return v->num >= number;
    case A_EQ: return v->num == number;
    case A_NOT_EQ: return v->num != number;
    default: return -1;
    }
}

static void try_assert(const Limits *limits, const Node *stmt) {
    const Node *test = stmt->u.assert_.test, *message = stmt->u.assert_.msg;
    int index = -1;
    if (test->kind != N_COMPARE || test->u.compare.comparators.len != 1) return;
    const Val *v = literal(limits->call, test->u.compare.left, &index);
    if (!v) return;
    if (compared(v, test->u.compare.ops[0], test->u.compare.comparators.at[0]) != 0) return;
    bool said = message && message->kind == N_CONSTANT && message->op == CONST_STR;
    Str name = limits->call->schema->args.at[index].name;
    lint_fault(limits->job, &(Fault){
        .check = "constant-out-of-range", .severity = LINT_ERROR,
        .at = call_arg_node(limits->call, index),
        .message = arena_printf(limits->job->arena, "%.*s does not take this '%.*s'",
                                STR_FMT(limits->call->name), STR_FMT(name)),
        .right = said ? message->u.constant.text : STR("see ops/ for the operator's limits"),
    });
}

void check_constants(LintJob *job, const NpuCall *call) {
    if (!call->op || !call->op->limits || !call->schema) return;
    Limits limits = {job, call};
    NodeList body = call->op->limits->u.function->body;
    for (uint32_t i = 0; i < body.len; i++) {
        if (body.at[i]->kind == N_ASSERT) try_assert(&limits, body.at[i]);
    }
}
