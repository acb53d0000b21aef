// check_limits.c - the asserts of ops/<operator>.py's limits() that the call breaks,
// whatever else happens: each is worked out from literals, dtypes and shapes that the
// source shows, in three values: true, false, not known.
#include "base/base.h"

#include "base/buf.h"
#include "flow/dtype.h"
#include "lint/checks.h"
#include "lint/shape.h"
#include "lint/value.h"

#include <math.h>
#include <stdlib.h>

enum { TERM_MAX_DEPTH = 40, NUMBER_MAX = 64 };

typedef enum TermKind {
    TERM_UNKNOWN,
    TERM_THERE, // not None; nothing else is known
    TERM_NONE, TERM_NUMBER, TERM_TEXT,
    TERM_DTYPE, // `text` is "torch.float16"
} TermKind;

typedef struct Term {
    TermKind kind;
    double number;
    Str text;
} Term;

typedef enum Truth { FALSE_, TRUE_, MAYBE } Truth;

typedef struct Limits {
    LintJob *job;
    const NpuCall *call;
    int named[CALL_MAX_ARGS]; // parameters that the test read a literal of
    uint32_t named_count;
} Limits;

static const Term unknown = {TERM_UNKNOWN, 0, {0}};

static Term number_term(double number) {
    return (Term){.kind = TERM_NUMBER, .number = number};
}

// ---- terms ---------------------------------------------------------------------------

static Term read_number(Str text) {
    char copy[NUMBER_MAX], *end;
    if (!text.len || text.len >= sizeof(copy)) return unknown;
    memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    double number = strtod(copy, &end);
    return *end ? unknown : number_term(number);
}

// A default as the schema writes it: "1e-06", "None", "'half'", "True".
static Term fallback_term(Str text) {
    if (str_is(text, "None")) return (Term){.kind = TERM_NONE};
    if (str_is(text, "True") || str_is(text, "False")) return number_term(str_is(text, "True"));
    bool quoted = text.len >= 2 && (text.at[0] == '\'' || text.at[0] == '"');
    if (quoted) return (Term){.kind = TERM_TEXT, .text = {text.at + 1, text.len - 2}};
    return read_number(text);
}

static Term constant_term(const Val *v) {
    switch ((ConstKind)v->ck) {
    case CONST_NONE: return (Term){.kind = TERM_NONE};
    case CONST_TRUE: return number_term(1);
    case CONST_FALSE: return number_term(0);
    case CONST_STR: return (Term){.kind = TERM_TEXT, .text = v->text};
    case CONST_INT: case CONST_FLOAT:
        return isfinite(v->num) ? number_term(v->num) : (Term){.kind = TERM_THERE};
    case CONST_ELLIPSIS: case CONST_COMPLEX: case CONST_BYTES: break;
    }
    return (Term){.kind = TERM_THERE};
}

static bool is_there(const Val *v) {
    return v->op > V_CAST || v->op == V_CAST || v->op == V_PART || v->op == V_LIST ||
           v->op == V_TUPLE;
}

// Operators take an empty list for one that is not given.
static bool is_empty_list(const Val *v) {
    return (v->op == V_LIST || v->op == V_TUPLE) && v->nargs == 0;
}

static Term value_term(Val *v) {
    if (v->op == V_CONST) return constant_term(v);
    if (is_empty_list(v)) return unknown;
    if (v->op == V_GLOBAL && val_is_floating_dtype(v)) {
        return (Term){.kind = TERM_DTYPE, .text = v->text};
    }
    return is_there(v) ? (Term){.kind = TERM_THERE} : unknown;
}

static int parameter_index(const NpuCall *call, const Node *n) {
    if (n->kind != N_NAME) return -1;
    for (uint32_t i = 0; i < call->schema->args.len && i < CALL_MAX_ARGS; i++) {
        if (str_eq(call->schema->args.at[i].name, sym_str(n->u.name.id))) return (int)i;
    }
    return -1;
}

static void note_name(Limits *limits, int index) {
    for (uint32_t i = 0; i < limits->named_count; i++) {
        if (limits->named[i] == index) return;
    }
    if (limits->named_count < CALL_MAX_ARGS) limits->named[limits->named_count++] = index;
}

static Term parameter_term(Limits *limits, const Node *n) {
    const NpuCall *call = limits->call;
    int index = parameter_index(call, n);
    if (index < 0) return unknown;
    const SchemaArg *arg = &call->schema->args.at[index];
    Val *given = call->args[index];
    if (given) note_name(limits, index);
    if (given) return value_term(given);
    return arg->has_fallback && !call->open ? fallback_term(arg->fallback) : unknown;
}

static Val *given_value(Limits *limits, const Node *n) {
    int index = parameter_index(limits->call, n);
    Val *v = index < 0 ? NULL : limits->call->args[index];
    if (v) note_name(limits, index);
    return v;
}

// x.dtype, torch.float16
static Term attribute_term(Limits *limits, const Node *n) {
    const Node *of = n->u.attribute.value;
    Str name = sym_str(n->u.attribute.attr);
    if (of->kind == N_NAME && str_is(sym_str(of->u.name.id), "torch")) {
        Str text = arena_printf(limits->job->arena, "torch.%.*s", STR_FMT(name));
        return (Term){.kind = TERM_DTYPE, .text = text};
    }
    Val *v = str_is(name, "dtype") ? given_value(limits, of) : NULL;
    const Val *dtype = v ? dtype_of(limits->call->frame->flow, v, (Scalars){0}) : NULL;
    if (!dtype || dtype->op != V_GLOBAL || !val_is_floating_dtype(dtype)) return unknown;
    return (Term){.kind = TERM_DTYPE, .text = dtype->text};
}

// x.dim(), len(x)
static Term call_term(Limits *limits, const Node *n) {
    const Node *func = n->u.call.func;
    if (func->kind == N_ATTRIBUTE && strcmp(func->u.attribute.attr->text, "dim") == 0) {
        Val *v = given_value(limits, func->u.attribute.value);
        uint32_t rank = v ? shape_rank(v) : 0;
        return rank ? number_term(rank) : unknown;
    }
    bool len = func->kind == N_NAME && strcmp(func->u.name.id->text, "len") == 0 &&
               n->u.call.args.len == 1;
    const Val *list = len ? given_value(limits, n->u.call.args.at[0]) : NULL;
    if (!list || (list->op != V_LIST && list->op != V_TUPLE)) return unknown;
    if (list->op == V_LIST && !call_keeps_list(limits->call, list)) return unknown;
    for (uint32_t i = 0; i < list->nargs; i++) {
        if (list->args[i]->op == V_STAR) return unknown;
    }
    return number_term(list->nargs);
}

static Term term(Limits *limits, const Node *n, int depth);

// x.shape[1]
static Term item_term(Limits *limits, const Node *n, int depth) {
    const Node *of = n->u.subscript.value;
    int64_t length;
    if (of->kind != N_ATTRIBUTE || strcmp(of->u.attribute.attr->text, "shape") != 0) return unknown;
    Val *v = given_value(limits, of->u.attribute.value);
    Term axis = term(limits, n->u.subscript.slice, depth + 1);
    if (!v || axis.kind != TERM_NUMBER || fabs(axis.number) > 64) return unknown;
    return shape_length(v, (int64_t)axis.number, &length) ? number_term((double)length) : unknown;
}

static Term arithmetic(AstOp op, double a, double b) {
    switch ((int)op) {
    case A_ADD: return number_term(a + b);
    case A_SUB: return number_term(a - b);
    case A_MULT: return number_term(a * b);
    case A_MOD: return b > 0 ? number_term(a - b * floor(a / b)) : unknown;
    case A_FLOOR_DIV: return b > 0 ? number_term(floor(a / b)) : unknown;
    default: return unknown;
    }
}

static Term term(Limits *limits, const Node *n, int depth) {
    if (depth > TERM_MAX_DEPTH) return unknown;
    switch ((int)n->kind) {
    case N_CONSTANT:
        if (n->op == CONST_STR) return (Term){.kind = TERM_TEXT, .text = n->u.constant.text};
        if (n->op == CONST_NONE) return (Term){.kind = TERM_NONE};
        if (n->op == CONST_TRUE || n->op == CONST_FALSE) return number_term(n->op == CONST_TRUE);
        return read_number(n->u.constant.text);
    case N_NAME: return parameter_term(limits, n);
    case N_ATTRIBUTE: return attribute_term(limits, n);
    case N_CALL: return call_term(limits, n);
    case N_SUBSCRIPT: return item_term(limits, n, depth);
    case N_UNARY_OP: {
        Term x = term(limits, n->u.unary.operand, depth + 1);
        return n->op == A_U_SUB && x.kind == TERM_NUMBER ? number_term(-x.number) : unknown;
    }
    case N_BIN_OP: {
        Term a = term(limits, n->u.bin.left, depth + 1);
        Term b = term(limits, n->u.bin.right, depth + 1);
        if (a.kind != TERM_NUMBER || b.kind != TERM_NUMBER) return unknown;
        return arithmetic((AstOp)n->op, a.number, b.number);
    }
    default: return unknown;
    }
}

// ---- truths --------------------------------------------------------------------------

static Truth not_(Truth t) {
    return t == MAYBE ? MAYBE : t == TRUE_ ? FALSE_ : TRUE_;
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

// Operators read layouts and modes without regard to case.
static bool same_text(Str a, Str b) {
    if (a.len != b.len) return false;
    for (size_t i = 0; i < a.len; i++) {
        if (lower(a.at[i]) != lower(b.at[i])) return false;
    }
    return true;
}

static Truth equal(Term a, Term b) {
    if (a.kind == TERM_UNKNOWN || b.kind == TERM_UNKNOWN) return MAYBE;
    if (a.kind == TERM_NONE || b.kind == TERM_NONE) return a.kind == b.kind ? TRUE_ : FALSE_;
    if (a.kind == TERM_THERE || b.kind == TERM_THERE) return MAYBE;
    if (a.kind != b.kind) return FALSE_;
    if (a.kind == TERM_NUMBER) return a.number == b.number ? TRUE_ : FALSE_;
    return same_text(a.text, b.text) ? TRUE_ : FALSE_;
}

static Truth is_among(Limits *limits, Term x, const Node *set, int depth) {
    if (set->kind != N_TUPLE && set->kind != N_LIST) return MAYBE;
    Truth any = FALSE_;
    for (uint32_t i = 0; i < set->u.list.elts.len; i++) {
        Truth one = equal(x, term(limits, set->u.list.elts.at[i], depth + 1));
        if (one == TRUE_) return TRUE_;
        if (one == MAYBE) any = MAYBE;
    }
    return any;
}

static Truth ordered(AstOp op, Term a, Term b) {
    if (a.kind != TERM_NUMBER || b.kind != TERM_NUMBER) return MAYBE;
    switch ((int)op) {
    case A_LT: return a.number < b.number ? TRUE_ : FALSE_;
    case A_LT_E: return a.number <= b.number ? TRUE_ : FALSE_;
    case A_GT: return a.number > b.number ? TRUE_ : FALSE_;
    case A_GT_E: return a.number >= b.number ? TRUE_ : FALSE_;
    default: return MAYBE;
    }
}

static Truth compared(Limits *limits, Term a, AstOp op, const Node *with) {
    if (op == A_IN) return is_among(limits, a, with, 0);
    if (op == A_NOT_IN) return not_(is_among(limits, a, with, 0));
    Term b = term(limits, with, 0);
    if (op == A_EQ || op == A_IS) return equal(a, b);
    if (op == A_NOT_EQ || op == A_IS_NOT) return not_(equal(a, b));
    return ordered(op, a, b);
}

static Truth truth(Limits *limits, const Node *n, int depth) {
    if (depth > TERM_MAX_DEPTH) return MAYBE;
    if (n->kind == N_UNARY_OP && n->op == A_NOT) {
        return not_(truth(limits, n->u.unary.operand, depth + 1));
    }
    if (n->kind == N_BOOL_OP) {
        Truth stops = n->op == A_AND ? FALSE_ : TRUE_, all = not_(stops);
        for (uint32_t i = 0; i < n->u.bool_op.values.len; i++) {
            Truth one = truth(limits, n->u.bool_op.values.at[i], depth + 1);
            if (one == stops) return stops;
            if (one == MAYBE) all = MAYBE;
        }
        return all;
    }
    if (n->kind != N_COMPARE) return MAYBE;
    Truth all = TRUE_;
    const Node *left = n->u.compare.left;
    for (uint32_t i = 0; i < n->u.compare.comparators.len; i++) {
        const Node *right = n->u.compare.comparators.at[i];
        Truth one = compared(limits, term(limits, left, 0), (AstOp)n->u.compare.ops[i], right);
        if (one == FALSE_) return FALSE_;
        if (one == MAYBE) all = MAYBE;
        left = right;
    }
    return all;
}

// ---- asserts -------------------------------------------------------------------------

static void add_value(Buf *out, Flow *flow, Val *v) {
    if (v->op == V_CONST && v->ck == CONST_STR) {
        buf_addf(out, "='%.*s'", STR_FMT(v->text));
    } else if (val_is_number(v)) {
        buf_addf(out, "=%g", v->num);
    } else if (v->op == V_CONST && v->ck == CONST_NONE) {
        buf_add(out, STR("=None"));
    } else if (v->op == V_GLOBAL && val_is_floating_dtype(v)) {
        buf_addf(out, "=%.*s", STR_FMT(v->text));
    } else if (is_there(v)) {
        const Val *dtype = dtype_of(flow, v, (Scalars){0});
        if (val_is_floating_dtype(dtype)) buf_addf(out, " (%.*s)", STR_FMT(dtype->text));
    }
}

static Str broken_text(const Limits *limits) {
    const NpuCall *call = limits->call;
    Buf out = {0};
    buf_addf(&out, "%.*s does not take this on Atlas A2 and A3:", STR_FMT(call->name));
    for (uint32_t i = 0; i < limits->named_count; i++) {
        int index = limits->named[i];
        buf_addf(&out, "%s%.*s", i ? ", " : " ", STR_FMT(call->schema->args.at[index].name));
        add_value(&out, call->frame->flow, call->args[index]);
    }
    Str text = arena_str(limits->job->arena, buf_str(&out));
    buf_free(&out);
    return text;
}

static void try_assert(Limits *limits, const Node *stmt) {
    const Node *message = stmt->u.assert_.msg;
    limits->named_count = 0;
    if (truth(limits, stmt->u.assert_.test, 0) != FALSE_) return;
    bool said = message && message->kind == N_CONSTANT && message->op == CONST_STR;
    int first = limits->named_count ? limits->named[0] : -1;
    lint_fault(limits->job, &(Fault){
        .severity = LINT_ERROR, .at = call_arg_node(limits->call, first),
        .message = broken_text(limits),
        .right = said ? message->u.constant.text : STR("see limits() of its file in ops/"),
    });
}

static void try_block(Limits *limits, const NodeList *block, int depth) {
    for (uint32_t i = 0; i < block->len && depth < TERM_MAX_DEPTH; i++) {
        const Node *stmt = block->at[i];
        if (stmt->kind == N_ASSERT) try_assert(limits, stmt);
        if (stmt->kind != N_IF) continue;
        Truth test = truth(limits, stmt->u.while_.test, 0);
        if (test == TRUE_) try_block(limits, &stmt->u.while_.body, depth + 1);
        if (test == FALSE_) try_block(limits, &stmt->u.while_.orelse, depth + 1);
    }
}

void check_limits(LintJob *job, const NpuCall *call) {
    if (!call->op || !call->op->limits || !call->schema) return;
    Limits limits = {.job = job, .call = call};
    try_block(&limits, &call->op->limits->u.function->body, 0);
}
