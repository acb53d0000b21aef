// ranks.c - counts dimensions through views, and tells a table that is aligned.
#include "base/base.h"

#include "match/ranks.h"

#include "match/attend.h"

enum {
    RANK_DEPTH = 48,
    INPUT_RANK = 4, // of the input of a rotation, where a table has two dimensions or fewer
    TABLE_RANK_OPEN = 3, // a table of which either fits: T1D beside 11SD
};

static uint32_t rank_below(const Val *x, int depth);

static uint32_t by(uint32_t rank, int change) {
    int changed = (int)rank + change;
    return rank && changed > 0 ? (uint32_t)changed : 0;
}

// What an index makes of the number of dimensions: 1, 0, -1, or false: not known.
static bool index_change(const Val *index, int *change) {
    if (index->op == V_SLICE || val_is_ellipsis(index)) return true;
    if (val_is_none(index)) {
        (*change)++;
        return true;
    }
    if (!val_is_number(index)) return false;
    (*change)--;
    return true;
}

static uint32_t item_rank(const Val *v, int depth) {
    const Val *index = v->args[1];
    int change = 0;
    if (index->op != V_TUPLE) {
        if (!index_change(index, &change)) return 0;
        return by(rank_below(v->args[0], depth + 1), change);
    }
    for (uint32_t i = 0; i < index->nargs; i++) {
        if (!index_change(index->args[i], &change)) return 0;
    }
    return by(rank_below(v->args[0], depth + 1), change);
}

static uint32_t call_rank(const Val *v) {
    if (v->args[0]->op != V_GLOBAL) return 0;
    Str name = v->args[0]->text;
    if (str_is(name, "torch.outer") || str_is(name, "torch.ger")) return 2;
    return str_is(name, "torch.arange") || str_is(name, "torch.linspace") ? 1 : 0;
}

static uint32_t joined_rank(const Val *v, int depth) {
    const Val *list = v->args[0];
    if ((list->op != V_TUPLE && list->op != V_LIST) || list->nargs == 0) return 0;
    return rank_below(list->args[0], depth + 1);
}

static uint32_t either_rank(const Val *a, const Val *b, int depth) {
    uint32_t first = rank_below(a, depth + 1), second = rank_below(b, depth + 1);
    if (!first || !second) return 0;
    return first > second ? first : second;
}

// A number beside a tensor has no dimensions of its own.
static uint32_t operand_rank(const Val *v, int depth) {
    if (val_is_number(v->args[0])) return rank_below(v->args[1], depth + 1);
    if (val_is_number(v->args[1])) return rank_below(v->args[0], depth + 1);
    return either_rank(v->args[0], v->args[1], depth);
}

static uint32_t rank_below(const Val *x, int depth) {
    if (depth > RANK_DEPTH) return 0;
    if (x->rank) return x->rank;
    switch ((int)x->op) {
    case V_CAST: case V_PART: case OP_STRIDED: case OP_CONTIGUOUS: case OP_CLONE: case OP_DETACH:
    case OP_NEG: case OP_COS: case OP_SIN: case OP_TRANSPOSE:
        return rank_below(x->args[0], depth + 1);
    case OP_UNSQUEEZE: return by(rank_below(x->args[0], depth + 1), 1);
    case OP_REPEAT_INTERLEAVE:
        return val_is_none(x->args[2]) ? 1 : rank_below(x->args[0], depth + 1);
    case OP_CAT: case OP_WEAVE: return joined_rank(x, depth);
    case OP_STACK: return by(joined_rank(x, depth), 1);
    case OP_FLATTEN:
        return val_is_int(x->args[1], -2) ? by(rank_below(x->args[0], depth + 1), -1) : 0;
    case OP_MUL: case OP_ADD: return operand_rank(x, depth);
    case V_PHI: {
        uint32_t a = rank_below(x->args[1], depth + 1), b = rank_below(x->args[2], depth + 1);
        return a == b ? a : 0;
    }
    case V_ITEM: return item_rank(x, depth);
    case V_CALL: return call_rank(x);
    default: return value_rank(x);
    }
}

uint32_t tensor_rank(const Val *x) {
    return rank_below(x, 0);
}

// Whether an axis is put into the table on its way, or a whole shape given to it.
static bool is_aligned(const Val *v, int depth) {
    if (depth > RANK_DEPTH) return false;
    switch ((int)v->op) {
    case OP_UNSQUEEZE: case OP_VIEW: case OP_EXPAND: return true;
    case V_ITEM: {
        const Val *index = v->args[1];
        bool added = val_is_none(index);
        for (uint32_t i = 0; index->op == V_TUPLE && i < index->nargs; i++) {
            added |= val_is_none(index->args[i]);
        }
        return added || is_aligned(v->args[0], depth + 1);
    }
    case V_CAST: case V_PART: case OP_STRIDED: case OP_CONTIGUOUS: case OP_CLONE: case OP_DETACH:
    case OP_NEG: case OP_COS: case OP_SIN: case OP_TRANSPOSE: case OP_REPEAT_INTERLEAVE:
    case OP_FLATTEN:
        return is_aligned(v->args[0], depth + 1);
    case OP_CAT: case OP_WEAVE:
        return v->args[0]->nargs && is_aligned(v->args[0]->args[0], depth + 1);
    case OP_MUL: case OP_ADD:
        return is_aligned(v->args[0], depth + 1) || is_aligned(v->args[1], depth + 1);
    case V_PHI: return is_aligned(v->args[1], depth + 1) && is_aligned(v->args[2], depth + 1);
    default: return false;
    }
}

Lack lacking_axes(const Val *table, uint32_t own, uint32_t wanted, uint32_t *count) {
    *count = 0;
    if (own && !wanted && own != TABLE_RANK_OPEN) wanted = INPUT_RANK;
    if (own && wanted) {
        *count = wanted > own ? wanted - own : 0;
        return *count ? LACK_KNOWN : LACK_NONE;
    }
    return is_aligned(table, 0) ? LACK_NONE : LACK_OPEN;
}
