// compose.c - writes a value from its operands: numbers, shapes, views,
// comparisons and choices, nothing that has an effect or costs much.
#include "base/base.h"

#include "match/compose.h"

#include "base/buf.h"
#include "match/attend.h"
#include "match/text.h"

enum { COMPOSE_MAX_DEPTH = 12, COMPOSE_MAX_LENGTH = 600, COMPOSE_MAX_STEPS = 400 };

typedef struct Composer {
    const Place *place;
    Arena *arena;
    uint32_t at, steps;
} Composer;

static Str compose(Composer *c, Val *v, int depth);

// An operand: in parentheses unless it binds tightly.
static Str operand(Composer *c, Val *v, int depth) {
    Str text = compose(c, v, depth + 1);
    return text.len ? text_atom(c->arena, text) : text;
}

static Str binary(Composer *c, Val *v, const char *op, int depth) {
    Str a = operand(c, v->args[0], depth);
    Str b = a.len ? operand(c, v->args[1], depth) : a;
    if (!b.len) return b;
    return arena_printf(c->arena, "%.*s %s %.*s", STR_FMT(a), op, STR_FMT(b));
}

static Str around(Composer *c, const char *before, Val *v, const char *after, int depth) {
    Str x = operand(c, v, depth);
    if (!x.len) return x;
    return arena_printf(c->arena, "%s%.*s%s", before, STR_FMT(x), after);
}

static const char *pyop_text(const Val *v) {
    switch ((int)v->ck) {
    case A_EQ: return "==";
    case A_NOT_EQ: return "!=";
    case A_LT: return "<";
    case A_LT_E: return "<=";
    case A_GT: return ">";
    case A_GT_E: return ">=";
    case A_IS: return "is";
    case A_IS_NOT: return "is not";
    case A_AND: return "and";
    case A_OR: return "or";
    case A_BIT_OR: return "|";
    case A_BIT_AND: return "&";
    case A_FLOOR_DIV: return "//";
    case A_MOD: return "%";
    default: return NULL;
    }
}

static Str compose_pyop(Composer *c, Val *v, int depth) {
    if (v->ck == A_NOT && v->nargs == 1) return around(c, "not ", v->args[0], "", depth);
    if (v->ck == A_INVERT && v->nargs == 1) return around(c, "~", v->args[0], "", depth);
    const char *op = pyop_text(v);
    if (!op || v->nargs < 2) return (Str){0};
    Str text = operand(c, v->args[0], depth);
    for (uint32_t i = 1; i < v->nargs && text.len; i++) {
        Str next = operand(c, v->args[i], depth);
        if (!next.len) return next;
        text = arena_printf(c->arena, "%.*s %s %.*s", STR_FMT(text), op, STR_FMT(next));
    }
    return text;
}

static Str compose_choice(Composer *c, Val *v, int depth) {
    Str cond = compose(c, v->args[0], depth + 1);
    Str a = cond.len ? operand(c, v->args[1], depth) : cond;
    Str b = a.len ? operand(c, v->args[2], depth) : a;
    if (!b.len) return b;
    return arena_printf(c->arena, "%.*s if %.*s else %.*s", STR_FMT(a), STR_FMT(cond), STR_FMT(b));
}

// One part of a subscript.
static Str compose_index(Composer *c, Val *v, int depth) {
    if (v->op != V_SLICE) return compose(c, v, depth + 1);
    Str text = {0};
    for (uint32_t i = 0; i < 3; i++) {
        bool absent = val_is_none(v->args[i]);
        if (i == 2 && absent) break;
        Str part = absent ? (Str){0} : compose(c, v->args[i], depth + 1);
        if (!absent && !part.len) return part;
        text = arena_printf(c->arena, i ? "%.*s:%.*s" : "%.*s%.*s", STR_FMT(text), STR_FMT(part));
    }
    return text;
}

static Str compose_list(Composer *c, const Val *v, int depth) {
    Str text = {0};
    for (uint32_t i = 0; i < v->nargs; i++) {
        Str part = compose_index(c, v->args[i], depth);
        if (!part.len) return part;
        text = i ? arena_printf(c->arena, "%.*s, %.*s", STR_FMT(text), STR_FMT(part)) : part;
    }
    return text;
}

static Str compose_item(Composer *c, Val *v, int depth) {
    Str object = operand(c, v->args[0], depth);
    if (!object.len) return object;
    Val *index = v->args[1];
    Str inside = index->op == V_TUPLE ? compose_list(c, index, depth)
        : compose_index(c, index, depth);
    if (!inside.len) return inside;
    return arena_printf(c->arena, "%.*s[%.*s]", STR_FMT(object), STR_FMT(inside));
}

// The size of a tensor is also that of what its heads were repeated from.
static Str compose_size(Composer *c, Val *v, int depth) {
    Str x = operand(c, v->args[0], depth);
    Val *times;
    bool kept = val_is_int(v->args[1], -1) || val_is_int(v->args[1], -2);
    for (int axis = 1; !x.len && kept && axis <= 1; axis++) {
        Val *inner = attend_unrepeat(c->place->frame->flow, v->args[0], axis, &times);
        if (inner) x = operand(c, inner, depth);
    }
    Str axis = x.len ? compose(c, v->args[1], depth + 1) : x;
    if (!axis.len) return axis;
    return arena_printf(c->arena, "%.*s.shape[%.*s]", STR_FMT(x), STR_FMT(axis));
}

static Str method_call(Composer *c, Val *v, const char *name, int depth) {
    Str args = {0};
    for (uint32_t i = 1; i < v->nargs; i++) {
        Val *arg = v->args[i];
        Str one = arg->op == V_TUPLE ? compose_list(c, arg, depth) : compose(c, arg, depth + 1);
        if (!one.len) return one;
        args = i > 1 ? arena_printf(c->arena, "%.*s, %.*s", STR_FMT(args), STR_FMT(one)) : one;
    }
    return arena_printf(c->arena, ".%s(%.*s)", name, STR_FMT(args));
}

static Str method(Composer *c, Val *v, const char *name, int depth) {
    Str x = operand(c, v->args[0], depth);
    Str call = x.len ? method_call(c, v, name, depth) : x;
    return call.len ? arena_printf(c->arena, "%.*s%.*s", STR_FMT(x), STR_FMT(call)) : call;
}

// x.unflatten(0, (-1, n))
static Str compose_unflatten(Composer *c, Val *v, int depth) {
    Str x = operand(c, v->args[0], depth), axis = compose(c, v->args[1], depth + 1);
    Str sizes = x.len && axis.len ? compose_list(c, v->args[2], depth) : (Str){0};
    if (!sizes.len) return sizes;
    return arena_printf(c->arena, "%.*s.unflatten(%.*s, (%.*s))", STR_FMT(x), STR_FMT(axis),
                        STR_FMT(sizes));
}

static Str compose_flatten(Composer *c, Val *v, int depth) {
    Str x = operand(c, v->args[0], depth), first = compose(c, v->args[1], depth + 1);
    Str last = x.len && first.len ? compose(c, v->args[2], depth + 1) : (Str){0};
    if (!last.len) return last;
    return arena_printf(c->arena, "%.*s.flatten(%.*s, %.*s)", STR_FMT(x), STR_FMT(first),
                        STR_FMT(last));
}

static Str compose_const(Composer *c, const Val *v) {
    switch ((int)v->ck) {
    case CONST_NONE: return STR("None");
    case CONST_TRUE: return STR("True");
    case CONST_FALSE: return STR("False");
    case CONST_ELLIPSIS: return STR("...");
    case CONST_INT:
    case CONST_FLOAT: return arena_printf(c->arena, "%.17g", v->num);
    case CONST_STR: { // self.layers["gate"]
        bool plain = true;
        for (size_t i = 0; i < v->text.len; i++) {
            unsigned char at = (unsigned char)v->text.at[i];
            plain = plain && at >= ' ' && at < 127 && at != '"' && at != '\\';
        }
        return plain ? arena_printf(c->arena, "\"%.*s\"", STR_FMT(v->text)) : (Str){0};
    }
    default: return (Str){0};
    }
}

// A cast to booleans; others are written where the values are used.
static Str compose_cast(Composer *c, Val *v, int depth) {
    if (val_is_global(v->args[1], "torch.bool")) return around(c, "", v->args[0], ".bool()", depth);
    return val_strip(v) != v ? compose(c, val_strip(v), depth + 1) : (Str){0};
}

// The place of a module in an nn.Sequential, or -1.
static int place_in(const Val *sequential, const Val *module) {
    bool fits = sequential && sequential->op == V_INSTANCE && !sequential->def &&
                str_is(sequential->text, "torch.nn.Sequential");
    for (uint32_t i = 0; fits && i < sequential->nargs; i++) {
        if (sequential->args[i] == module) return (int)i;
    }
    return -1;
}

// A layer of torch in the nn.Sequential that the activation of the match stands in:
// self.gate[0](x).
static Str compose_layer(Composer *c, const Val *v, int depth) {
    const Assumption *assumed[ASSUMPTIONS_MAX];
    uint32_t count = match_assumptions(c->place->frame, c->place->match, assumed);
    for (uint32_t i = 0; i < count; i++) {
        Val *subject = assumed[i]->subject;
        int at = place_in(flow_resolve(c->place->frame->flow, subject).val, v->args[0]);
        if (at < 0) continue;
        Str of = operand(c, subject, depth), x = of.len ? compose(c, v->args[1], depth + 1) : of;
        if (!x.len) continue;
        return arena_printf(c->arena, "%.*s[%d](%.*s)", STR_FMT(of), at, STR_FMT(x));
    }
    return (Str){0};
}

// torch.tensor(c), where a number is asked for.
static Str compose_call(Composer *c, const Val *v, int depth) {
    bool number = v->nargs >= 2 && val_is_global(v->args[0], "torch.tensor");
    if (number) return compose(c, v->args[1], depth + 1);
    bool layer = v->nargs == 2 && v->args[0]->op == V_INSTANCE;
    return layer ? compose_layer(c, v, depth) : (Str){0};
}

static Str compose_operator(Composer *c, Val *v, int depth) {
    switch ((int)v->op) {
    case V_CONST: return compose_const(c, v);
    case V_PYOP: return compose_pyop(c, v, depth);
    case V_PHI: return compose_choice(c, v, depth);
    case V_ITEM: return compose_item(c, v, depth);
    case V_SIZE: return compose_size(c, v, depth);
    case V_ATTR: {
        Str object = operand(c, v->args[0], depth);
        return object.len ? arena_printf(c->arena, "%.*s.%s", STR_FMT(object), v->name->text)
            : object;
    }
    case V_DTYPE: return around(c, "", v->args[0], ".dtype", depth);
    case V_GLOBAL: return str_starts(v->text, "torch.") ? v->text : (Str){0};
    case V_CAST: return compose_cast(c, v, depth);
    case V_CALL: return compose_call(c, v, depth);
    case OP_FULL: { // torch.full([], c)
        Val *number = (Val *)(uintptr_t)lone_number(v);
        return number != v ? compose(c, number, depth + 1) : (Str){0};
    }
    case OP_MUL: return binary(c, v, "*", depth);
    case OP_ADD: return binary(c, v, "+", depth);
    case OP_POW: return binary(c, v, "**", depth);
    case OP_NEG: return around(c, "-", v->args[0], "", depth);
    case OP_SQRT: return around(c, "", v->args[0], " ** 0.5", depth);
    case OP_RSQRT: return around(c, "", v->args[0], " ** -0.5", depth);
    case OP_RECIPROCAL: return around(c, "1 / ", v->args[0], "", depth);
    case OP_TRANSPOSE: return method(c, v, "transpose", depth);
    case OP_PERMUTE: return method(c, v, "permute", depth);
    case OP_UNFLATTEN: return compose_unflatten(c, v, depth);
    case OP_FLATTEN: return compose_flatten(c, v, depth);
    case OP_UNSQUEEZE: return method(c, v, "unsqueeze", depth);
    case OP_NDIM: return around(c, "", v->args[0], ".dim()", depth);
    default: return (Str){0};
    }
}

static Str compose(Composer *c, Val *v, int depth) {
    if (depth > COMPOSE_MAX_DEPTH || ++c->steps > COMPOSE_MAX_STEPS) return (Str){0};
    Str text = place_expr_at(c->place, v, c->at);
    if (!text.len) text = compose_operator(c, v, depth);
    return text.len > COMPOSE_MAX_LENGTH ? (Str){0} : text;
}

Str compose_expr(const Place *place, Val *v, uint32_t at) {
    Composer c = {.place = place, .arena = place->frame->flow->arena, .at = at};
    return compose(&c, v, 0);
}

Str compose_views(const Place *place, Val *v, const Val *inner) {
    Composer c = {.place = place, .arena = place->frame->flow->arena, .at = place->last};
    Str calls = {0};
    for (; v != inner; v = v->args[0]) {
        Str one = method_call(&c, v, v->op == OP_PERMUTE ? "permute" : "transpose", 0);
        if (!one.len) return one;
        calls = arena_printf(c.arena, "%.*s%.*s", STR_FMT(one), STR_FMT(calls));
    }
    return calls;
}
