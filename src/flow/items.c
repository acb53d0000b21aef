// items.c - what an index gives, and what a sequence is unpacked into.
#include "base/base.h"

#include "flow/builtins.h"
#include "flow/flow.h"

// ---- subscripts -------------------------------------------------------------

static Val *dict_item(const Val *dict, const Val *key) {
    for (uint32_t i = dict->nargs; i >= 2; i -= 2) {
        if (dict->args[i - 2] == key) return dict->args[i - 1];
    }
    return NULL;
}

static Val *sequence_item(const Val *sequence, const Val *index) {
    if (!val_is_number(index)) return NULL;
    int64_t i = (int64_t)index->num;
    if (i < 0) i += sequence->nargs;
    if (i < 0 || i >= (int64_t)sequence->nargs) return NULL;
    for (uint32_t k = 0; k < sequence->nargs; k++) {
        if (sequence->args[k]->op == V_STAR) return NULL;
    }
    return sequence->args[i];
}

Val *eval_item(Frame *f, Val *object, Val *index) {
    Graph *g = &f->flow->graph;
    Val *item = NULL;
    switch ((int)object->op) {
    case V_TUPLE:
    case V_LIST:
        item = sequence_item(object, index);
        break;
    case V_DICT:
        item = dict_item(object, index);
        break;
    case V_SHAPE:
        if (val_is_number(index)) return op_size(f->flow, object->args[0], index);
        break;
    case OP_CHUNK:
    case OP_SPLIT:
    case OP_TENSOR_SPLIT:
    case OP_UNBIND:
    case OP_STACK:
        if (val_is_number(index) && index->num >= 0) {
            return eval_unpack(f, object, (uint32_t)index->num, 0);
        }
        break;
    case OP_MEAN: case OP_SUM: case OP_ADD: case OP_MUL: case OP_POW: case OP_SQRT:
    case OP_RSQRT: case OP_RECIPROCAL:
    case V_CAST: // x.mean(-1)[..., None]
        if (index->op == V_TUPLE && index->nargs == 2 && val_is_none(index->args[1]) &&
            val_is_ellipsis(index->args[0])) {
            item = op_unsqueeze_last(f->flow, object);
        }
        break;
    default:
        break;
    }
    if (!item) item = op_part_item(f->flow, object, index);
    return item ? item : val_new2(g, V_ITEM, object, index);
}

// split(x, size, dim) gives two equal parts when `size` is half the length, or
// when it is a list of two equal sizes.
static bool splits_in_halves(Flow *flow, Val *split) {
    Val *size = split->args[1];
    if (size->op == V_LIST || size->op == V_TUPLE) {
        return size->nargs == 2 && size->args[0] == size->args[1];
    }
    if (size->op == V_PYOP && size->ck == A_FLOOR_DIV) {
        return val_is_int(size->args[1], 2) &&
               size->args[0] == op_size(flow, split->args[0], split->args[2]);
    }
    // x.unflatten(-1, (-1, 2)).split(1, -1)
    const Val *x = split->args[0];
    return val_is_int(size, 1) && val_is_int(split->args[2], -1) && x->op == OP_UNFLATTEN &&
           val_is_int(x->args[1], -1) && x->args[2]->op == V_TUPLE && x->args[2]->nargs == 2 &&
           val_is_int(x->args[2]->args[1], 2);
}

void note_rank(Frame *f, Val *x, uint32_t rank) {
    x->rank = rank;
    const Frame *at = f;
    while (at && !at->cond) at = at->caller;
    if (!at) x->sure_rank = rank;
}

// b, n, _, h = *x.shape, self.heads: the one star is as long as the others leave names.
static Val *beside_star(Frame *f, Val *value, uint32_t index, uint32_t count) {
    uint32_t at = 0, stars = 0, others = value->nargs - 1;
    for (uint32_t k = 0; k < value->nargs; k++) {
        if (value->args[k]->op != V_STAR) continue;
        at = k;
        stars++;
    }
    if (stars != 1 || count < others) return NULL;
    uint32_t held = count - others;
    if (index < at) return value->args[index];
    if (index >= at + held) return value->args[index + 1 - held];
    return eval_unpack(f, value->args[at]->args[0], index - at, held);
}

Val *eval_unpack(Frame *f, Val *value, uint32_t index, uint32_t count) {
    Graph *g = &f->flow->graph;
    switch ((int)value->op) {
    case V_TUPLE:
    case V_LIST: {
        Val *item = sequence_item(value, val_int(g, index));
        if (!item && count) item = beside_star(f, value, index, count);
        if (item) return item;
        break;
    }
    case V_SHAPE: { // b, s, d = x.shape, which also says how many axes x has
        Val *size = op_size(f->flow, value->args[0], val_int(g, index));
        if (count) note_rank(f, size->args[0], count);
        return size;
    }
    case OP_CHUNK:
    case OP_TENSOR_SPLIT:
        if (val_is_number(value->args[1]) && value->args[1]->num >= 1) {
            return op_part(f->flow, value->args[0], value->args[2], index,
                           (uint32_t)value->args[1]->num);
        }
        break;
    case OP_SPLIT: // of another size, the second part may be one wide, and broadcast
        if (splits_in_halves(f->flow, value)) {
            return op_part(f->flow, value->args[0], value->args[2], index, 2);
        }
        break;
    case OP_STACK: { // of the first axis
        bool first = val_is_int(value->args[1], 0) && value->args[0]->op == V_TUPLE;
        Val *item = first ? sequence_item(value->args[0], val_int(g, index)) : NULL;
        if (item) return item;
        break;
    }
    case OP_UNBIND: { // x.view(..., 2, -1).unbind(-2)
        Val *item = op_part_unbind(f->flow, value, index);
        if (item) return item;
        break;
    }
    default:
        break;
    }
    return val_new2(g, V_ITEM, value, val_int(g, index));
}
