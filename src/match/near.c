// near.c - sentences for the differences that people make on purpose, and the
// two sides as they are written for all others.
#include "base/base.h"

#include "match/near.h"

#include "base/buf.h"

enum { QUOTE_MAX = 70, PARENT_DEPTH = 24 };

// ---- quoting ----------------------------------------------------------------------

// The value as its source writes it, if that is short; else as a formula.
static void quote(Buf *out, const Val *v) {
    if (!v) {
        buf_add(out, STR("nothing"));
        return;
    }
    Str text = {0};
    bool written = v->node && v->module && v->op != V_CONST && v->op != V_PARAM;
    if (written) text = source_span(&v->module->source, v->node->start, v->node->end);
    bool short_ = text.len && text.len <= QUOTE_MAX;
    for (size_t i = 0; short_ && i < text.len; i++) short_ = text.at[i] != '\n';
    if (!short_) {
        val_print(out, v, 3);
        return;
    }
    buf_add(out, STR("`"));
    buf_add(out, text);
    buf_add(out, STR("`"));
}

Str quoted_value(Arena *arena, const Val *v) {
    Buf text = {0};
    quote(&text, v);
    Str made = arena_str(arena, buf_str(&text));
    buf_free(&text);
    return made;
}

// ---- the place of a number in the pattern -------------------------------------------

// The value of the pattern that has `part` as an operand; `*index`: which.
static const Val *parent_of(const Val *v, const Val *part, uint32_t *index, int depth) {
    if (depth > PARENT_DEPTH) return NULL;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (v->args[i] == part) {
            *index = i;
            return v;
        }
        const Val *found = parent_of(v->args[i], part, index, depth + 1);
        if (found) return found;
    }
    return NULL;
}

static bool is_axis_of(const Val *parent, uint32_t index) {
    switch ((int)parent->op) {
    case OP_MEAN: case OP_SUM: case OP_CAT: case OP_STACK: case OP_CHUNK: case OP_SOFTMAX:
    case V_PART: case V_SIZE: return index == 1;
    case OP_NORM: case OP_VECTOR_NORM: case OP_NORMALIZE: return index == 2;
    default: return false;
    }
}

static Str axis_sentence(Arena *arena, const Val *of, const Val *got) {
    bool length = of->op == OP_NORM || of->op == OP_VECTOR_NORM || of->op == OP_NORMALIZE;
    const char *what = of->op == OP_MEAN ? "the mean is taken"
                     : length ? "the length is taken"
                     : of->op == V_PART || of->op == OP_CHUNK ? "it is cut" : "it is joined";
    if (val_is_none(got)) {
        return arena_printf(arena, "%s over the whole tensor, not along the last axis", what);
    }
    if (got->op == V_TUPLE || got->op == V_LIST) {
        return arena_printf(arena, "%s along several axes, not along the last one alone", what);
    }
    return arena_printf(arena, val_is_number(got)
                            ? "%s along axis %.*s, not along the last one"
                            : "%s along %.*s, and nothing shows that it is the last axis",
                        what, STR_FMT(quoted_value(arena, got)));
}

static Str number_sentence(Arena *arena, const Match *m) {
    uint32_t index = 0;
    const Val *parent = parent_of(m->spec->pattern, m->want, &index, 0);
    if (!parent || !m->got) return (Str){0};
    if (is_axis_of(parent, index)) return axis_sentence(arena, parent, m->got);
    if (parent->op == OP_POW && index == 1 && val_is_number(m->got)) {
        return arena_printf(arena, "the power is %g, not %g", m->got->num, m->want->num);
    }
    bool part = parent->op == V_PART;
    if (part && index == 3) {
        return arena_printf(arena, "the axis is cut into %.*s parts, not into halves",
                            STR_FMT(quoted_value(arena, m->got)));
    }
    return (Str){0};
}

// ---- operators in place of others ----------------------------------------------------

static bool is_clamp(const Val *v) {
    switch ((int)v->op) {
    case OP_CLAMP: case OP_CLAMP_MIN: case OP_CLAMP_MAX: case OP_MAXIMUM: return true;
    default: return false;
    }
}

// A half, written as a part or as a slice.
static bool is_half(const Val *v) {
    return v->op == V_PART || v->op == V_ITEM;
}

static const char *operator_sentence(const Val *want, const Val *got) {
    if (want->op == OP_MEAN) {
        if (got->op == OP_SUM) return "a sum is taken where the operator takes the mean";
        if (got->op == OP_VAR) return "the variance subtracts the mean first, as a layer norm does";
    }
    bool mean = want->op == OP_MEAN && got->op != OP_MEAN;
    if (mean) return "what stands under the root is another statistic than the mean of squares";
    if (want->op == OP_ADD && is_clamp(got)) {
        return "epsilon is a lower bound, not a term under the root";
    }
    if (want->op == OP_NEG && is_half(got)) return "neither half changes its sign";
    if (want->op == V_PART && got->op == V_PART) {
        if (!val_is_int(got->args[3], 2)) return "the axis is not cut into halves";
        if (want->args[2] != got->args[2] && got->args[2]->num != want->args[2]->num) {
            return "the halves are joined in the other order";
        }
    }
    return NULL;
}

static Str unquoted(Str text) {
    bool quotes = text.len >= 2 && text.at[0] == '`';
    return quotes ? (Str){text.at + 1, text.len - 2} : text;
}

Str difference_sentence(Arena *arena, const Match *m) {
    if (m->attend) return str_of(m->attend->reason);
    if (m->want && m->got && m->want->op == V_CONST) {
        Str number = number_sentence(arena, m);
        if (number.len) return number;
    }
    const char *known = m->want && m->got ? operator_sentence(m->want, m->got) : NULL;
    if (known) return str_of(known);
    Str got = quoted_value(arena, m->got);
    if (m->want && m->got && m->want->op == V_PARAM) {
        bool turns = m->spec->rule->part.len > 0;
        if (m->had && str_eq(unquoted(got), unquoted(quoted_value(arena, m->had)))) {
            return arena_printf(arena, "`%.*s` is changed between its two uses",
                                STR_FMT(unquoted(got)));
        }
        return arena_printf(arena, turns ? "the tensor that is turned is another one than %.*s"
                                         : "what is scaled is not what the mean is taken of: %.*s",
                            STR_FMT(got));
    }
    return arena_printf(arena, "expected %.*s, found %.*s", STR_FMT(quoted_value(arena, m->want)),
                        STR_FMT(got));
}

static bool reduces_below(const Val *v, int depth) {
    switch ((int)v->op) {
    case OP_MEAN: case OP_SUM: case OP_VAR: case OP_STD: case OP_NORM: case OP_VECTOR_NORM:
        return true;
    default: break;
    }
    for (uint32_t i = 0; depth < 6 && i < v->nargs; i++) {
        if (reduces_below(v->args[i], depth + 1)) return true;
    }
    return false;
}

bool is_scaled_alone(const Match *m) {
    if (m->attend || !m->want || !m->got) return false;
    bool wants_mean = m->want->op == OP_MEAN ||
                      (m->want->op == OP_ADD && reduces_below(m->want, 0));
    return wants_mean && !reduces_below(m->got, 0);
}

// ---- norms with another denominator ---------------------------------------------------

// The tensor whose squares are averaged along the last axis, or NULL; `*size`:
// absolute values in place of squares.
static Val *averaged(Val *v, bool *size) {
    v = val_strip(v);
    if (v->op != OP_MEAN || !val_is_int(v->args[1], -1)) return NULL;
    Val *of = val_strip(v->args[0]);
    *size = of->op == OP_ABS;
    bool square = of->op == OP_POW && val_is_int(of->args[1], 2);
    return square || *size ? val_strip(of->args[0]) : NULL;
}

typedef struct Denominator {
    Val *of; // the tensor that is averaged; NULL: this is none
    const char *why;
} Denominator;

// Below 1 / y.
static Denominator below_reciprocal(Val *y) {
    bool size = false, plus = y->op == OP_ADD;
    for (uint32_t i = 0; i < (plus ? 2 : y->nargs ? 1 : 0); i++) {
        Val *inner = val_strip(y->args[i]);
        Val *of = averaged(inner, &size);
        if (of && (plus || is_clamp(y))) {
            return (Denominator){of, size ? "the mean is that of absolute values, not of squares"
                                          : "no root is taken of the mean of squares"};
        }
        if (inner->op != OP_SQRT || (!plus && !is_clamp(y))) continue;
        of = averaged(inner->args[0], &size);
        if (of && !size) {
            return (Denominator){of, plus ? "epsilon is added outside of the root"
                                          : "epsilon is a lower bound, not a term under the root"};
        }
    }
    return (Denominator){0};
}

static Denominator read_denominator(Val *v) {
    v = val_strip(v);
    if (v->op == OP_RECIPROCAL) return below_reciprocal(val_strip(v->args[0]));
    if (v->op != OP_RSQRT) return (Denominator){0};
    Val *under = val_strip(v->args[0]);
    bool size = false;
    Val *of = is_clamp(under) ? averaged(under->args[0], &size) : NULL;
    if (!of || size) return (Denominator){0};
    return (Denominator){of, "epsilon is a lower bound, not a term under the root"};
}

const char *norm_difference(Flow *flow, Val *root, const Val **at) {
    Factors all;
    product_factors(&all, flow, root);
    for (uint32_t i = 0; i < all.len; i++) {
        Denominator d = read_denominator(all.at[i]);
        for (uint32_t k = 0; d.of && k < all.len; k++) {
            if (k == i || val_strip(all.at[k]) != d.of) continue;
            *at = all.at[i];
            return d.why;
        }
    }
    return NULL;
}
