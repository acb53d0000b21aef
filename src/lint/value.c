// value.c - how masks and lengths are made.
#include "base/base.h"

#include "lint/value.h"

enum { DEPTH_MAX = 24, VERY_NEGATIVE = -1000 };

// Calls that hand on what they are called on.
static Val *handed_on(Val *v) {
    static const char *const names[] = {"to", "npu", "cuda", "cpu", "tolist", "list", "tuple",
                                        "copy_", "type", "repeat", "expand_as", "broadcast_to",
                                        "view_as", "from_numpy", "tensor", "as_tensor"};
    for (size_t i = 0; i < COUNT(names); i++) {
        Val *x = value_of_call(v, names[i]);
        if (x) return x;
    }
    return NULL;
}

static bool is_whole_axis(const Val *v) {
    if (val_is_none(v)) return true;
    if (v->op == V_CONST) return v->ck == CONST_ELLIPSIS;
    return v->op == V_SLICE && val_is_none(v->args[0]) && val_is_none(v->args[1]) &&
           val_is_none(v->args[2]);
}

static bool only_adds_axes(const Val *index) {
    if (index->op != V_TUPLE) return is_whole_axis(index);
    for (uint32_t i = 0; i < index->nargs; i++) {
        if (!is_whole_axis(index->args[i])) return false;
    }
    return true;
}

// Below the outermost cast, view or copy; `v` itself where it is none.
static Val *one_below(Val *v) {
    switch ((int)v->op) {
    case V_CAST: case OP_CLONE: case OP_DETACH: case OP_CONTIGUOUS: case OP_EXPAND:
    case OP_UNSQUEEZE: case OP_SQUEEZE: case OP_VIEW:
        return v->args[0];
    case V_CALL: {
        Val *x = handed_on(v);
        return x ? x : v;
    }
    case V_ITEM: // mask[None, :, None]
        return only_adds_axes(v->args[1]) ? v->args[0] : v;
    default:
        return v;
    }
}

Val *value_below(Val *v) {
    for (int i = 0; v && i < DEPTH_MAX; i++) {
        Val *next = one_below(v);
        if (next == v) break;
        v = next;
    }
    return v;
}

bool value_int(const Val *v, int64_t *out) {
    if (!v || v->op != V_CONST || v->ck != CONST_INT) return false;
    if (v->num < -9e15 || v->num > 9e15) return false;
    *out = (int64_t)v->num;
    return true;
}

bool value_is_very_negative(Val *v) {
    v = v ? value_below(v) : NULL;
    if (!v) return false;
    if (val_is_number(v)) return v->num <= VERY_NEGATIVE;
    if (v->op == V_CONST && str_is(v->text, "-inf")) return true;
    if (v->op == OP_NEG) {
        const Val *x = v->args[0];
        if (val_is_number(x)) return x->num >= -VERY_NEGATIVE;
        return (x->op == V_CONST && str_is(x->text, "inf")) || val_is_global(x, "math.inf") ||
               val_is_global(x, "torch.inf") || val_is_global(x, "numpy.inf");
    }
    // torch.finfo(dtype).min
    return v->op == V_ATTR && strcmp(v->name->text, "min") == 0 &&
           v->args[0]->op == V_CALL && val_is_global(v->args[0]->args[0], "torch.finfo");
}

// ---- masks ------------------------------------------------------------------------

static MaskKind negated(MaskKind kind) {
    if (kind == MASK_DROPS || kind == MASK_DROPS_ITSELF) return MASK_KEEPS;
    if (kind == MASK_KEEPS) return MASK_DROPS;
    return MASK_UNKNOWN;
}

static bool is_ones(Val *v) {
    v = value_below(v);
    if (v->op == OP_ONES || v->op == OP_ONES_LIKE) return true;
    if (v->op != OP_FULL || v->nargs < 2) return false;
    return val_is_int(v->args[1], 1) ||
           (v->args[1]->op == V_CONST && v->args[1]->ck == CONST_TRUE);
}

// Rows are queries and columns keys, and a later key is not to be seen: that is
// what a triangle stands for where the whole is a mask of attention.
static MaskKind triangle(Val *v) {
    int64_t diagonal = 0;
    Val *upper = value_of_call(v, "triu"), *lower = value_of_call(v, "tril");
    Val *ones = upper ? upper : lower;
    if (!ones || !is_ones(ones)) return MASK_UNKNOWN;
    Val *given = value_argument(v, 0, "diagonal");
    if (given && !value_int(given, &diagonal)) return MASK_UNKNOWN;
    if (upper) return diagonal == 1 ? MASK_DROPS : diagonal == 0 ? MASK_DROPS_ITSELF : MASK_UNKNOWN;
    return diagonal == 0 ? MASK_KEEPS : MASK_UNKNOWN;
}

static MaskKind mask(Val *v, Val **from, int depth);

// x == 0, x < 1, x != 0: of a mask of zeros and ones.
static MaskKind compared(Val *v, Val **from, int depth) {
    MaskKind kind = mask(v->args[0], from, depth + 1);
    bool zero = v->nargs > 1 && val_near(v->args[1], 0);
    if (kind == MASK_ADDITIVE) {
        // 0 is seen, what is below it is not.
        if (v->ck == A_LT && zero) return MASK_DROPS;
        if (v->ck == A_NOT_EQ && zero) return MASK_DROPS;
        if (v->ck == A_EQ && zero) return MASK_KEEPS;
        return MASK_UNKNOWN;
    }
    if (v->ck == A_EQ && zero) return negated(kind);
    if (v->ck == A_NOT_EQ && zero) return kind;
    if (v->ck == A_EQ && v->nargs > 1 && val_is_int(v->args[1], 1)) return kind;
    return MASK_UNKNOWN;
}

static bool is_filled_mask(const Val *v) {
    if (v->op == OP_MASKED_FILL) return v->nargs > 2 && value_is_very_negative(v->args[2]);
    if (v->op != OP_WHERE || v->nargs < 3) return false;
    bool low = value_is_very_negative(v->args[2]), high = value_is_very_negative(v->args[1]);
    return low != high;
}

// Zeros with -inf at places, not scores with -inf at places.
static bool is_filled_zeros(const Val *v) {
    if (!is_filled_mask(v)) return false;
    const Val *base = v->op == OP_MASKED_FILL ? v->args[0]
                      : value_is_very_negative(v->args[2]) ? v->args[1] : v->args[2];
    base = value_below((Val *)(uintptr_t)base);
    return base->op == OP_ZEROS || base->op == OP_ZEROS_LIKE || val_near(base, 0);
}

// (1 - mask) * -10000.0, and a triangle of -inf.
static bool is_scaled_mask(Val *v) {
    if (v->op == OP_MUL && v->nargs == 2) {
        return value_is_very_negative(v->args[0]) || value_is_very_negative(v->args[1]);
    }
    Val *whole = value_of_call(v, "triu");
    whole = whole ? value_below(whole) : NULL;
    return whole && whole->op == OP_FULL && whole->nargs > 1 &&
           value_is_very_negative(whole->args[1]);
}

static MaskKind joined(Val *v, Val **from, int depth) {
    Val *other;
    MaskKind a = mask(v->args[1], from, depth + 1), b = mask(v->args[2], &other, depth + 1);
    return a == b ? a : MASK_UNKNOWN;
}

static MaskKind one_minus(Val *v, Val **from, int depth) {
    const Val *one = v->args[0], *rest = v->args[1];
    if (val_near(rest, 1)) {
        const Val *swap = one;
        one = rest;
        rest = swap;
    }
    if (!val_near(one, 1) || rest->op != OP_NEG) return MASK_UNKNOWN;
    return negated(mask(rest->args[0], from, depth + 1));
}

static bool is_truth_dtype(const Val *dtype) {
    return val_is_global(dtype, "torch.bool") || val_is_global(dtype, "torch.uint8") ||
           val_is_global(dtype, "torch.int8") || val_is_global(dtype, "bool");
}

// A cast to bool on the way down: what was added is true where it is not 0.
static bool becomes_truth(Val *v) {
    for (int i = 0; v && i < DEPTH_MAX; i++) {
        if (v->op == V_CAST && is_truth_dtype(v->args[1])) return true;
        Val *dtype = v->op == V_CALL ? value_argument(v, UINT32_MAX, "dtype") : NULL;
        if (dtype && is_truth_dtype(dtype)) return true;
        Val *next = one_below(v);
        if (next == v) return false;
        v = next;
    }
    return false;
}

static MaskKind shown(Val *v, Val **from, int depth);

static MaskKind mask(Val *v, Val **from, int depth) {
    if (!v || depth > DEPTH_MAX) return MASK_UNKNOWN;
    MaskKind kind = shown(value_below(v), from, depth);
    return kind == MASK_ADDITIVE && becomes_truth(v) ? MASK_DROPS : kind;
}

static MaskKind shown(Val *v, Val **from, int depth) {
    MaskKind kind = triangle(v);
    *from = v;
    if (kind != MASK_UNKNOWN) return kind;
    if (is_filled_zeros(v) || is_scaled_mask(v)) return MASK_ADDITIVE;
    Val *not_of = value_of_call(v, "logical_not");
    if (!not_of) not_of = value_of_call(v, "bitwise_not");
    if (not_of) return negated(mask(not_of, from, depth + 1));
    if (v->op == V_PYOP && v->ck == A_INVERT) return negated(mask(v->args[0], from, depth + 1));
    if (v->op == V_PYOP && v->nargs == 2) return compared(v, from, depth);
    if (v->op == V_PHI) return joined(v, from, depth);
    if (v->op == OP_ADD && v->nargs == 2) return one_minus(v, from, depth);
    return MASK_UNKNOWN;
}

MaskKind value_mask(Val *v, Val **from) {
    *from = v;
    return mask(v, from, 0);
}

// The lengths of a sequence: x.shape[i], a name's value, not a number of the source.
static bool is_length(const Val *v) {
    return v->op == V_SIZE;
}

static bool read_mask_size(const Val *size, MaskSize *out) {
    if ((size->op != V_TUPLE && size->op != V_LIST) || size->nargs < 2) return false;
    for (uint32_t i = 0; i + 2 < size->nargs; i++) { // leading axes of one entry
        if (!val_is_int(size->args[i], 1)) return false;
    }
    const Val *rows = size->args[size->nargs - 2], *columns = size->args[size->nargs - 1];
    out->literal = value_int(rows, &out->rows) && value_int(columns, &out->columns);
    return out->literal || (is_length(rows) && is_length(columns));
}

bool value_mask_size(Val *v, MaskSize *out) {
    *out = (MaskSize){0};
    for (int i = 0; v && i < DEPTH_MAX; i++) {
        v = value_below(v);
        Val *inner = value_of_call(v, "triu");
        if (!inner) inner = value_of_call(v, "tril");
        if (!inner) inner = value_of_call(v, "logical_not");
        if (!inner && v->op == V_PYOP && v->ck == A_INVERT) inner = v->args[0];
        if (!inner) break;
        v = inner;
    }
    bool made = v && (v->op == OP_ONES || v->op == OP_ZEROS || v->op == OP_FULL);
    if (!made || !v->nargs) return false;
    out->from = v;
    return read_mask_size(v->args[0], out);
}

// ---- lengths ----------------------------------------------------------------------

// A list written out. One that never falls may be ends or counts.
static LengthsKind written_out(const Val *v) {
    int64_t before = 0, number;
    bool rises = true, zero = v->nargs > 1 && val_is_int(v->args[0], 0);
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (!value_int(v->args[i], &number)) return LENGTHS_UNKNOWN;
        rises &= number >= before;
        before = number;
    }
    if (!rises) return LENGTHS_COUNTS;
    return zero ? LENGTHS_LEADING_ZERO : LENGTHS_UNKNOWN;
}

// torch.cat([zeros(1), x]) and F.pad(x, (1, 0)): x, else NULL.
static Val *behind_zero(Val *v) {
    Val *padded = value_of_call(v, "pad");
    const Val *by = padded ? value_argument(v, 0, "pad") : NULL;
    if (by && (by->op == V_TUPLE || by->op == V_LIST) && by->nargs == 2) {
        return val_is_int(by->args[0], 1) && val_is_int(by->args[1], 0) ? padded : NULL;
    }
    const Val *parts = v->op == OP_CAT && v->nargs ? v->args[0] : NULL;
    if (!parts || (parts->op != V_LIST && parts->op != V_TUPLE) || parts->nargs != 2) return NULL;
    const Val *first = value_below(parts->args[0]);
    bool list = (first->op == V_LIST || first->op == V_TUPLE) && first->nargs == 1 &&
                val_is_int(first->args[0], 0);
    return first->op == OP_ZEROS || list ? parts->args[1] : NULL;
}

// The part of a list behind its first entry.
static bool is_tail(const Val *v) {
    const Val *index = v->op == V_ITEM ? v->args[1] : NULL;
    return index && index->op == V_SLICE && val_is_int(index->args[0], 1) &&
           val_is_none(index->args[1]);
}

// cu[1:] - cu[:-1]
static bool is_difference(const Val *v) {
    if (v->op != OP_ADD || v->nargs < 2 || v->args[1]->op != OP_NEG) return false;
    const Val *tail = v->args[0], *head = v->args[1]->args[0];
    if (!is_tail(tail) || head->op != V_ITEM || head->args[0] != tail->args[0]) return false;
    const Val *index = head->args[1];
    return index->op == V_SLICE && val_is_int(index->args[1], -1) &&
           (val_is_none(index->args[0]) || val_is_int(index->args[0], 0));
}

// [len(x) for x in xs], [x.shape[0] for x in xs]
static bool is_list_of_lengths(const Val *v) {
    if (v->op != V_OPAQUE || v->nargs != 1) return false;
    const Val *item = v->args[0];
    return item->op == V_SIZE ||
           (item->op == V_CALL && item->nargs == 2 && val_is_global(item->args[0], "len"));
}

// [n] * count
static bool is_repeated(const Val *v) {
    if (v->op != OP_MUL || v->nargs != 2) return false;
    for (int i = 0; i < 2; i++) {
        const Val *list = v->args[i], *count = v->args[1 - i];
        int64_t number;
        bool one = value_int(count, &number) && number <= 1;
        if (list->op == V_LIST && list->nargs == 1 && !one) return true;
    }
    return false;
}

static bool counts(Val *v) {
    if (value_of_call(v, "bincount") || value_of_call(v, "histc") || value_of_call(v, "diff")) {
        return true;
    }
    if (is_difference(v) || is_list_of_lengths(v) || is_repeated(v)) return true;
    return v->op == OP_SUM && value_of_call(value_below(v->args[0]), "one_hot");
}

LengthsKind value_lengths(Val *v, Val **from) {
    Val *ignored;
    *from = v;
    v = v ? value_below(v) : NULL;
    if (!v) return LENGTHS_UNKNOWN;
    *from = v;
    if (v->op == V_LIST || v->op == V_TUPLE) return written_out(v);
    if (counts(v)) return LENGTHS_COUNTS;
    Val *summed = value_of_call(v, "cumsum"), *rest = behind_zero(v);
    if (summed) return behind_zero(value_below(summed)) ? LENGTHS_LEADING_ZERO : LENGTHS_ENDS;
    if (rest) {
        LengthsKind kind = value_lengths(rest, &ignored);
        return kind == LENGTHS_ENDS ? LENGTHS_LEADING_ZERO : LENGTHS_UNKNOWN;
    }
    if (is_tail(v) && value_lengths(v->args[0], from) == LENGTHS_LEADING_ZERO) return LENGTHS_ENDS;
    return LENGTHS_UNKNOWN;
}
