// parts.c - halves and pairs of the last axis: equal ways to take them apart
// and to put them together get one form.
//
//   x[..., i::2], x.view(*lead, -1, 2)[..., i], its unbind(-1)  ->  strided(x, i, 2)
//   x[..., :d // 2], x.view(*lead, 2, -1).unbind(-2)            ->  part(x, -1, i, 2)
//   stack((a, b), -1).flatten(-2) in every spelling             ->  weave((a, b))
//   stack((a, b), -2).flatten(-2)                               ->  cat((a, b), -1)
//   x.view(*lead, -1, 1, 2)[..., i]                             ->  strided(x, i, 2)[..., None]
#include "base/base.h"

#include <math.h>

#include "flow/flow.h"

enum { LEAVES_DEPTH = 12, LEAVES_STEPS = 200 };

// ---- shapes -------------------------------------------------------------------

// x[..., a:b], which has the other axes of x.
static bool slices_last_axis(const Val *v) {
    const Val *index = v->op == V_ITEM ? v->args[1] : NULL;
    return index && index->op == V_TUPLE && index->nargs == 2 &&
           val_is_ellipsis(index->args[0]) &&
           index->args[1]->op == V_SLICE;
}

static Val *leading_source(Flow *fl, Val *x);

// x, or a part of its last axis, by a condition: what both have their axes from.
static Val *source_of_both(Flow *fl, Val *phi) {
    Val *arm = phi->args[1];
    if (val_strip(arm)->op == V_PHI || val_strip(phi->args[2])->op == V_PHI) return NULL;
    Val *source = leading_source(fl, arm);
    return source == leading_source(fl, phi->args[2]) ? source : NULL;
}

// Below linear layers and parts of the last axis, which keep every other axis.
static Val *leading_source(Flow *fl, Val *x) {
    for (int depth = 0; depth < 16; depth++) {
        x = val_strip(x);
        if (x->op == V_PHI) {
            Val *both = source_of_both(fl, x);
            return both ? both : x;
        }
        if (x->op == OP_LINEAR || slices_last_axis(x) ||
            (x->op == V_PART && val_is_int(x->args[1], -1))) {
            x = x->args[0];
        } else if (x->op == V_CALL && x->nargs == 2) {
            Resolved r = flow_resolve(fl, x->args[0]);
            bool linear = r.val && r.val->op == V_INSTANCE && !r.val->def &&
                          str_is(r.val->text, "torch.nn.Linear");
            if (!linear) return x;
            x = x->args[1];
        } else {
            return x;
        }
    }
    return x;
}

// Whether the `count` entries of a shape are the leading sizes of x, all of
// them: (*x.shape[:-1], ...) or, where x is known to have count + 1 axes,
// (b, s, ...) with b, s, _ = x.shape.
static bool keeps_leading_axes(Flow *fl, Val *x, Val *const *lead, uint32_t count) {
    Graph *g = &fl->graph;
    Val *source = leading_source(fl, x);
    if (count == 1 && lead[0]->op == V_STAR) {
        Val *rest = val_new3(g, V_SLICE, val_none(g), val_int(g, -1), val_none(g));
        Val *item = lead[0]->args[0];
        return item->op == V_ITEM && item->args[1] == rest &&
               item->args[0]->op == V_SHAPE &&
               leading_source(fl, item->args[0]->args[0]) == source;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (lead[i]->op != V_SIZE || lead[i]->args[1] != val_int(g, i)) return false;
        Val *of = lead[i]->args[0];
        if (leading_source(fl, of) != source || of->rank != count + 1) return false;
    }
    return count > 0;
}

// Whether the entries of a shape are sizes 0, 1, ... of x; `open`: one may be -1.
static bool has_own_sizes_of(Flow *fl, Val *x, Val *const *lead, uint32_t count, bool open) {
    Val *source = leading_source(fl, x);
    for (uint32_t i = 0; i < count; i++) {
        if (open && val_is_int(lead[i], -1)) {
            open = false;
            continue;
        }
        bool size = lead[i]->op == V_SIZE && lead[i]->args[1] == val_int(&fl->graph, i);
        if (!size || leading_source(fl, lead[i]->args[0]) != source) return false;
    }
    return true;
}

// The length of the last axis where what made x gives it: x = y.view(b, s, n, d),
// and y[..., :d], unless y is shorter.
static Val *made_last_size(Val *x) {
    for (int depth = 0; depth < 16; depth++) {
        x = val_strip(x);
        if (slices_last_axis(x)) {
            const Val *slice = x->args[1]->args[1];
            bool start = val_is_none(slice->args[0]) || val_is_int(slice->args[0], 0);
            Val *stop = slice->args[1];
            bool cut = start && val_is_none(slice->args[2]) && !val_is_none(stop);
            return cut && (!val_is_number(stop) || stop->num > 0) ? stop : NULL;
        }
        if (x->op == OP_TRANSPOSE || x->op == OP_CONTIGUOUS || x->op == OP_CLONE) {
            // Axes counted from the front; the view below says that none is the last.
            Val *below = val_strip(x->args[0]);
            if (x->op == OP_TRANSPOSE) {
                if (below->op != OP_VIEW) return NULL;
                double last = (double)below->args[1]->nargs - 1;
                for (int i = 1; i <= 2; i++) {
                    const Val *axis = x->args[i];
                    if (!val_is_number(axis) || axis->num < 0 || axis->num >= last) return NULL;
                }
            }
            x = below;
        } else if (x->op == OP_VIEW && x->args[1]->nargs) {
            Val *last = x->args[1]->args[x->args[1]->nargs - 1];
            return last->op == V_STAR || val_is_int(last, -1) ? NULL : last;
        } else {
            return NULL;
        }
    }
    return NULL;
}

// Whether the size is the length of x's last axis.
static bool is_last_size(Flow *fl, Val *x, const Val *size) {
    Val *last = op_size(fl, x, val_int(&fl->graph, -1));
    if (size == last || size == made_last_size(x)) return true;
    uint32_t rank = last->args[0]->rank;
    return rank && size == op_size(fl, x, val_int(&fl->graph, (int64_t)rank - 1));
}

// What `v` is of the length of x's last axis: 0.5 for d // 2 and int(d / 2); 0 if unknown.
static double share_of_last(Flow *fl, Val *x, const Val *v) {
    if (is_last_size(fl, x, v)) return 1;
    if (v->op == V_PYOP && v->ck == A_FLOOR_DIV && val_is_number(v->args[1])) {
        double by = v->args[1]->num;
        return by >= 1 && is_last_size(fl, x, v->args[0]) ? 1 / by : 0;
    }
    for (int i = 0; v->op == OP_MUL && i < 2; i++) { // int(d / 2)
        if (!val_is_number(v->args[i]) || v->args[i]->num <= 0) continue;
        if (is_last_size(fl, x, v->args[1 - i])) return v->args[i]->num;
    }
    return 0;
}

static bool is_half_size(Flow *fl, Val *x, const Val *v) {
    return fabs(share_of_last(fl, x, v) - 0.5) < 1e-9;
}

bool op_cuts_elsewhere(Flow *flow, Val *x, const Val *at) {
    double share = share_of_last(flow, x, at);
    if (share > 0) return fabs(share - 0.5) >= 1e-9;
    const Val *last = made_last_size(x);
    bool numbers = last && val_is_number(last) && val_is_number(at) && at->num > 0;
    return numbers && at->num * 2 != last->num;
}

// The other of two sizes, one of which is 2: any, or a number that can be one.
static bool may_be_rest(const Val *size) {
    return !val_is_number(size) || size->num >= 1 || size->num == -1;
}

// ---- taking apart ---------------------------------------------------------------

static Val *strided(Flow *fl, Val *x, int64_t start) {
    Graph *g = &fl->graph;
    return val_new3(g, OP_STRIDED, x, val_int(g, start), val_int(g, 2));
}

static Val *half(Flow *fl, Val *x, int64_t index) {
    Graph *g = &fl->graph;
    return val_new(g, V_PART, (Val *[]){x, val_int(g, -1), val_int(g, index), val_int(g, 2)}, 4);
}

static bool is_whole(const Val *slice) {
    return slice->op == V_SLICE && val_is_none(slice->args[0]) &&
           val_is_none(slice->args[1]) && val_is_none(slice->args[2]);
}

// x[..., i] or x[:, :, i]: what stands at the last axis; NULL for other indices.
// `counted`: the axes before it were written one by one.
static Val *last_index(const Val *index, bool *counted) {
    if (index->op != V_TUPLE || index->nargs < 2) return NULL;
    *counted = !val_is_ellipsis(index->args[0]);
    if (!*counted) return index->nargs == 2 ? index->args[1] : NULL;
    for (uint32_t i = 0; i + 1 < index->nargs; i++) {
        if (!is_whole(index->args[i])) return NULL;
    }
    return index->args[index->nargs - 1];
}

// x[..., i::2]. With the axes written one by one the last index is taken for
// that of the last axis: what is put together of such parts along the last
// axis would not fit x otherwise.
static Val *strided_slice(Flow *fl, Val *x, const Val *slice) {
    if (!val_is_int(slice->args[2], 2) || !val_is_none(slice->args[1])) return NULL;
    const Val *low = slice->args[0];
    if (val_is_none(low)) return strided(fl, x, 0);
    if (!val_is_int(low, 0) && !val_is_int(low, 1)) return NULL;
    return strided(fl, x, (int64_t)low->num);
}

// x[..., :d // 2] and x[..., d // 2:]
static Val *half_slice(Flow *fl, Val *x, const Val *slice) {
    if (!val_is_none(slice->args[2])) return NULL;
    const Val *low = slice->args[0], *high = slice->args[1];
    bool from_start = val_is_none(low) || val_is_int(low, 0);
    if (from_start && is_half_size(fl, x, high)) return half(fl, x, 0);
    if (val_is_none(high) && is_half_size(fl, x, low)) return half(fl, x, 1);
    return NULL;
}

// x.unflatten(-1, (2, -1))[..., i, :], x.unflatten(-1, (-1, 2))[..., i]
static Val *unflattened_item(Flow *fl, Val *u, const Val *index) {
    if (index->op != V_TUPLE || !val_is_ellipsis(index->args[0]) || !val_is_int(u->args[1], -1)) {
        return NULL;
    }
    Val *const *sizes = u->args[2]->args;
    bool halves = index->nargs == 3 && is_whole(index->args[2]) && val_is_int(sizes[0], 2);
    bool pairs = val_is_int(sizes[1], 2) &&
                 (index->nargs == 2 || (index->nargs == 3 && is_whole(index->args[1])));
    const Val *which = index->args[halves ? 1 : index->nargs - 1];
    if ((!halves && !pairs) || !val_is_number(which)) return NULL;
    int64_t i = (int64_t)which->num + (which->num < 0 ? 2 : 0);
    if (i != 0 && i != 1) return NULL;
    return halves ? half(fl, u->args[0], i) : strided(fl, u->args[0], i);
}

// x.unflatten(-1, (-1, 1, 2)): pairs as rows, for products with 2 x 2 matrices.
static bool is_rows_of_two(const Val *u) {
    if (u->op != OP_UNFLATTEN || !val_is_int(u->args[1], -1)) return false;
    const Val *sizes = u->args[2];
    return sizes->op == V_TUPLE && sizes->nargs == 3 && may_be_rest(sizes->args[0]) &&
           val_is_int(sizes->args[1], 1) && val_is_int(sizes->args[2], 2);
}

static Val *with_new_axis(Flow *fl, Val *x, int64_t axis) {
    return val_new2(&fl->graph, OP_UNSQUEEZE, x, val_int(&fl->graph, axis));
}

// [..., i] of pairs as rows, and of y[..., None]
static Val *item_of_last(Flow *fl, Val *u, const Val *index) {
    bool last = index->op == V_TUPLE && index->nargs == 2 && val_is_ellipsis(index->args[0]) &&
                val_is_number(index->args[1]);
    if (!last) return NULL;
    int64_t i = (int64_t)index->args[1]->num;
    if (u->op == OP_UNSQUEEZE) return i == 0 || i == -1 ? u->args[0] : NULL;
    i += i < 0 ? 2 : 0;
    return i == 0 || i == 1 ? with_new_axis(fl, strided(fl, u->args[0], i), -1) : NULL;
}

static bool is_two_sizes(const Val *u) {
    return u->op == OP_UNFLATTEN && u->args[2]->op == V_TUPLE && u->args[2]->nargs == 2;
}

// x.view(*lead, -1, 2).unsqueeze(-2)  ->  x.unflatten(-1, (-1, 1, 2))
Val *op_pairs_as_rows(Flow *fl, Val *u) {
    Graph *g = &fl->graph;
    if (u->op == V_CAST) {
        Val *rows = op_pairs_as_rows(fl, u->args[0]);
        return rows ? op_cast(fl, rows, u->args[1]) : NULL;
    }
    bool pairs = is_two_sizes(u) && val_is_int(u->args[1], -1) &&
                 val_is_int(u->args[2]->args[1], 2);
    if (!pairs) return NULL;
    Val *sizes = val_new3(g, V_TUPLE, val_int(g, -1), val_int(g, 1), val_int(g, 2));
    return val_new3(g, OP_UNFLATTEN, u->args[0], val_int(g, -1), sizes);
}

// [..., None, :]
static bool adds_axis_before_last(const Val *index) {
    return index->op == V_TUPLE && index->nargs == 3 && val_is_ellipsis(index->args[0]) &&
           val_is_none(index->args[1]) && is_whole(index->args[2]);
}

Val *op_part_item(Flow *fl, Val *x, const Val *index) {
    if (adds_axis_before_last(index)) return op_pairs_as_rows(fl, x);
    if (is_two_sizes(x)) return unflattened_item(fl, x, index);
    bool rows = is_rows_of_two(x) || (x->op == OP_UNSQUEEZE && val_is_int(x->args[1], -1));
    if (rows) return item_of_last(fl, x, index);
    bool counted;
    const Val *slice = last_index(index, &counted);
    if (!slice || slice->op != V_SLICE) return NULL;
    Val *part = strided_slice(fl, x, slice);
    if (part) return part;
    uint32_t rank = counted ? op_size(fl, x, val_int(&fl->graph, -1))->args[0]->rank : 0;
    return counted && rank != index->nargs ? NULL : half_slice(fl, x, slice);
}

// One of `count` equal parts along an axis: of pairs or halves that have an axis
// of their own, and of the two parts of complex numbers, what they are.
Val *op_part(Flow *fl, Val *x, Val *axis, uint32_t index, uint32_t count) {
    Graph *g = &fl->graph;
    if (count == 2 && index < 2 && is_two_sizes(x) && val_is_int(x->args[1], -1)) {
        bool pairs = val_is_int(x->args[2]->args[1], 2) && val_is_int(axis, -1);
        bool halves = val_is_int(x->args[2]->args[0], 2) && val_is_int(axis, -2);
        if (pairs) return with_new_axis(fl, strided(fl, x->args[0], index), -1);
        if (halves) return with_new_axis(fl, half(fl, x->args[0], index), -2);
    }
    if (count == 2 && index < 2 && val_is_int(axis, -1)) {
        if (x->op == V_CAST && val_strip(x)->op == OP_VIEW_AS_REAL) {
            Val *part = op_part(fl, x->args[0], axis, index, count);
            return with_new_axis(fl, op_cast(fl, part->args[0], x->args[1]), -1);
        }
        if (x->op == OP_VIEW_AS_REAL) {
            const Sym *name = index ? fl->names.imag : fl->names.real;
            return with_new_axis(fl, val_attr(g, x->args[0], name), -1);
        }
    }
    return val_new(g, V_PART, (Val *[]){x, axis, val_int(g, index), val_int(g, count)}, 4);
}

// x.select(-1, i)  ->  x[..., i]
Val *op_select(Flow *fl, Val *const *a) {
    Graph *g = &fl->graph;
    if (!val_is_int(a[1], -1)) return val_new(g, OP_SELECT, a, 3);
    Val *index = val_new2(g, V_TUPLE, val_const(g, CONST_ELLIPSIS, (Str){0}), a[2]);
    Val *item = op_part_item(fl, a[0], index);
    return item ? item : val_new2(g, V_ITEM, a[0], index);
}

// x.narrow(-1, 0, d // 2), x.narrow(-1, d // 2, d // 2)  ->  the halves of x
Val *op_narrow(Flow *fl, Val *const *a) {
    if (val_is_int(a[1], -1) && is_half_size(fl, a[0], a[3])) {
        if (val_is_int(a[2], 0)) return half(fl, a[0], 0);
        if (a[2] == a[3]) return half(fl, a[0], 1);
    }
    return val_new(&fl->graph, OP_NARROW, a, 4);
}

Val *op_part_unbind(Flow *fl, const Val *unbind, uint32_t index) {
    Val *u = unbind->args[0];
    if (is_rows_of_two(u) && index < 2 && val_is_int(unbind->args[1], -1)) {
        return with_new_axis(fl, strided(fl, u->args[0], index), -1);
    }
    if (!is_two_sizes(u) || index > 1 || !val_is_int(u->args[1], -1)) return NULL;
    bool halves = val_is_int(u->args[2]->args[0], 2) && val_is_int(unbind->args[1], -2);
    bool pairs = val_is_int(u->args[2]->args[1], 2) && val_is_int(unbind->args[1], -1);
    if (halves) return half(fl, u->args[0], index);
    return pairs ? strided(fl, u->args[0], index) : NULL;
}

// ---- putting together -------------------------------------------------------------

// Whether the shape is that of `x` up to its last axis, and whole: x.shape,
// (*x.shape,), (*x.shape[:-1], -1), (b, s, d) of b, s, d = x.shape.
static bool is_shape_of(Flow *fl, const Val *shape, Val *x) {
    if (shape->op != V_TUPLE || shape->nargs == 0) return false;
    const Val *first = shape->args[0];
    if (shape->nargs == 1) {
        const Val *whole = first->op == V_STAR ? first->args[0] : first;
        return whole->op == V_SHAPE && leading_source(fl, whole->args[0]) == leading_source(fl, x);
    }
    return keeps_leading_axes(fl, x, shape->args, shape->nargs - 1);
}

// (y.shape[0], y.shape[1], ..., -1): sizes of y itself, in order. That they are
// all but the last two is left to the rank that y has: fewer or more would give
// another rank, which what is computed with it shows.
static bool has_own_sizes(Flow *fl, Val *y, const Val *shape) {
    Graph *g = &fl->graph;
    uint32_t n = shape->nargs;
    if (n < 2 || !val_is_int(shape->args[n - 1], -1)) return false;
    for (uint32_t i = 0; i + 1 < n; i++) {
        if (shape->args[i] != op_size(fl, y, val_int(g, i))) return false;
    }
    return true;
}

typedef struct Leaves {
    Flow *flow;
    const Val *shape;
    bool rows; // pairs have an axis of their own, as in a product with 2 x 2 matrices
    uint32_t steps;
} Leaves;

// Whether `v` is made, element by element of all axes but the last, from a
// tensor that has the shape.
static bool has_leading(Leaves *l, Val *v, int depth) {
    if (depth > LEAVES_DEPTH || ++l->steps > LEAVES_STEPS) return false;
    if (l->rows) {
        if (v->op == OP_UNSQUEEZE) {
            const Val *below = val_is_int(v->args[1], -1) ? v->args[0] : v;
            return below->op == OP_STRIDED && is_shape_of(l->flow, l->shape, below->args[0]);
        }
        if (v->op != OP_MUL && v->op != OP_ADD && v->op != V_CAST) return false;
    } else if (is_shape_of(l->flow, l->shape, v)) {
        return true;
    }
    // y.view(y.shape[0], y.shape[1], -1) of a stack y, which has two axes more.
    if (v->op == OP_STACK && has_own_sizes(l->flow, v, l->shape)) return true;
    switch ((int)v->op) {
    case OP_MUL: case OP_ADD:
        return has_leading(l, v->args[0], depth + 1) || has_leading(l, v->args[1], depth + 1);
    case V_CAST: case OP_NEG: case V_PART: case OP_STRIDED: case OP_UNFLATTEN:
    case OP_VIEW_AS_COMPLEX: case OP_VIEW_AS_REAL: case OP_CONTIGUOUS: case OP_CLONE:
        return has_leading(l, v->args[0], depth + 1);
    case OP_STACK:
        return v->args[0]->nargs && has_leading(l, v->args[0]->args[0], depth + 1);
    default: return false;
    }
}

// Whether `v` is y with its last two axes exchanged.
static bool exchanges_last_two(const Val *v) {
    return v->op == OP_TRANSPOSE && val_is_int(v->args[1], -2) && val_is_int(v->args[2], -1);
}

// view_as_real(z).transpose(-2, -1), its last two axes as one  ->  cat((z.real, z.imag), -1)
static Val *parts_in_order(Flow *fl, Val *y) {
    Graph *g = &fl->graph;
    if (!exchanges_last_two(y) || y->args[0]->op != OP_VIEW_AS_REAL) return NULL;
    Val *z = y->args[0]->args[0];
    Val *real = val_attr(g, z, fl->names.real), *imag = val_attr(g, z, fl->names.imag);
    Val *parts = val_new2(g, V_TUPLE, real, imag);
    return op_make(fl, OP_CAT, (Val *[]){parts, val_int(g, -1)}, 2);
}

// The last two axes of y as one, where y's last axis was made by a stack, a
// split of the last axis or a view of complex numbers; NULL for other values.
static Val *join_last_two(Flow *fl, Val *y) {
    Graph *g = &fl->graph;
    switch ((int)y->op) {
    case V_CAST: {
        Val *joined = join_last_two(fl, y->args[0]);
        return joined ? op_cast(fl, joined, y->args[1]) : NULL;
    }
    case OP_CONTIGUOUS: case OP_CLONE: return join_last_two(fl, y->args[0]);
    case OP_STACK: // of halves, of pairs
        if (y->args[0]->op != V_TUPLE) return NULL;
        if (val_is_int(y->args[1], -2)) {
            return op_make(fl, OP_CAT, (Val *[]){y->args[0], val_int(g, -1)}, 2);
        }
        return val_is_int(y->args[1], -1) ? op_make(fl, OP_WEAVE, y->args, 1) : NULL;
    case OP_UNFLATTEN: return is_two_sizes(y) && val_is_int(y->args[1], -1) ? y->args[0] : NULL;
    case OP_VIEW_AS_REAL: case OP_ADD:
        return val_new3(g, OP_FLATTEN, y, val_int(g, -2), val_int(g, -1));
    case OP_TRANSPOSE: return parts_in_order(fl, y);
    default: return NULL;
    }
}

// x.flatten(-2)
Val *op_flatten(Flow *fl, Val *const *a) {
    Val *joined = val_is_int(a[1], -2) && val_is_int(a[2], -1) ? join_last_two(fl, a[0]) : NULL;
    return joined ? joined : val_new(&fl->graph, OP_FLATTEN, a, 3);
}

static Val *below_copies(Val *x) {
    while (x->op == V_CAST || x->op == OP_CONTIGUOUS || x->op == OP_CLONE) x = x->args[0];
    return x;
}

// x.view(*lead, -1, 1, 2)
static Val *as_rows_of_two(Flow *fl, Val *x, const Val *shape) {
    uint32_t n = shape->nargs;
    if (n < 4 || !val_is_int(shape->args[n - 1], 2) || !val_is_int(shape->args[n - 2], 1)) {
        return NULL;
    }
    if (!may_be_rest(shape->args[n - 3]) ||
        !keeps_leading_axes(fl, x, shape->args, n - 3)) {
        return NULL;
    }
    Graph *g = &fl->graph;
    Val *sizes = val_new3(g, V_TUPLE, val_int(g, -1), val_int(g, 1), val_int(g, 2));
    return val_new3(g, OP_UNFLATTEN, x, val_int(g, -1), sizes);
}

// y.shape[-2] * y.shape[-1]
static bool is_last_two_sizes(Flow *fl, Val *y, const Val *size) {
    if (size->op != OP_MUL) return false;
    Graph *g = &fl->graph;
    const Val *a = op_size(fl, y, val_int(g, -2)), *b = op_size(fl, y, val_int(g, -1));
    return (size->args[0] == a && size->args[1] == b) || (size->args[0] == b && size->args[1] == a);
}

// y.view(*y.shape[:-2], -1)  ->  y.flatten(-2);  y.view(y.shape[0], y.shape[1], -1) of
// y = z[..., None]  ->  y.flatten(2)
static Val *as_flatten(Flow *fl, Val *y, const Val *shape) {
    Graph *g = &fl->graph;
    uint32_t n = shape->nargs;
    if (n < 2) return NULL;
    const Val *lead = shape->args[0], *last = shape->args[n - 1];
    bool starred = n == 2 && lead->op == V_STAR;
    bool open = val_is_int(last, -1) || (starred && is_last_two_sizes(fl, y, last));
    if (!open) return NULL;
    if (starred) {
        const Val *item = lead->args[0];
        Val *rest = val_new3(g, V_SLICE, val_none(g), val_int(g, -2), val_none(g));
        bool own = item->op == V_ITEM && item->args[1] == rest &&
                   item->args[0]->op == V_SHAPE && item->args[0]->args[0] == y;
        return own ? op_flatten(fl, (Val *[]){y, val_int(g, -2), val_int(g, -1)}) : NULL;
    }
    bool adds = val_strip(y)->op == OP_UNSQUEEZE && has_own_sizes(fl, y, shape);
    return adds ? val_new3(g, OP_FLATTEN, y, val_int(g, n - 1), val_int(g, -1)) : NULL;
}

// x.view(*lead, -1, 2) and x.view(*lead, 2, -1) split the last axis;
// stack((a, b), -1).view(x.shape) joins it again.
Val *op_view(Flow *fl, Val *x, Val *shape) {
    Graph *g = &fl->graph;
    uint32_t n = shape->op == V_TUPLE ? shape->nargs : 0;
    if (n > 2) {
        Val *a = shape->args[n - 2], *b = shape->args[n - 1];
        bool two = val_is_int(a, 2) != val_is_int(b, 2);
        two = two && may_be_rest(a) && may_be_rest(b);
        // Of four axes, three sizes are the leading ones; no operator of pairs takes more.
        bool counts = !val_is_number(a) || a->num == -1;
        bool four = two && n == 5 && val_is_int(b, 2) && counts &&
                    has_own_sizes_of(fl, x, shape->args, 3, is_half_size(fl, x, a));
        if (four || (two && keeps_leading_axes(fl, x, shape->args, n - 2))) {
            Val *rest = val_int(g, -1), *both[] = {a, b};
            both[val_is_int(a, 2)] = rest;
            return val_new3(g, OP_UNFLATTEN, x, rest, val_new(g, V_TUPLE, both, 2));
        }
    }
    Val *rows = as_rows_of_two(fl, x, shape);
    if (rows) return rows;
    Val *made = below_copies(x);
    if (n && (made->op == OP_STACK || made->op == OP_VIEW_AS_REAL || made->op == OP_ADD)) {
        Leaves leaves = {fl, shape, made->op == OP_ADD, 0};
        Val *joined = has_leading(&leaves, made, 0) ? join_last_two(fl, x) : NULL;
        if (joined) return joined;
    }
    Val *flat = as_flatten(fl, x, shape);
    if (flat) return flat;
    return val_new2(g, OP_VIEW, x, shape);
}

// x.reshape_as(y)  ->  x.view(y.shape)
Val *op_reshape_as(Flow *fl, Val *x, Val *y) {
    Graph *g = &fl->graph;
    return op_view(fl, x, val_new1(g, V_TUPLE, val_new1(g, V_SHAPE, y)));
}

// x.repeat_interleave(2, -1)  ->  weave((x, x))
Val *op_repeat_interleave(Flow *fl, Val *const *a) {
    Graph *g = &fl->graph;
    if (!val_is_int(a[1], 2) || !val_is_int(a[2], -1)) {
        return val_new(g, OP_REPEAT_INTERLEAVE, a, 3);
    }
    return val_new1(g, OP_WEAVE, val_new2(g, V_TUPLE, a[0], a[0]));
}

// A new last axis: x.unsqueeze(-1), x[..., None]; NULL if v is none.
static Val *below_new_axis(const Val *v) {
    if (v->op == OP_UNSQUEEZE && val_is_int(v->args[1], -1)) return v->args[0];
    if (v->op != V_ITEM || v->args[1]->op != V_TUPLE || v->args[1]->nargs != 2) return NULL;
    bool adds = val_is_ellipsis(v->args[1]->args[0]) && val_is_none(v->args[1]->args[1]);
    return adds ? v->args[0] : NULL;
}

// cat((a[..., None], b[..., None]), -1)  ->  stack((a, b), -1)
static Val *as_stack(Flow *fl, const Val *parts, Val *axis) {
    if (parts->nargs != 2 || !val_is_int(axis, -1)) return NULL;
    Val *below[2];
    for (int i = 0; i < 2; i++) {
        below[i] = below_new_axis(parts->args[i]);
        if (!below[i]) return NULL;
    }
    Val *tuple = val_new(&fl->graph, V_TUPLE, below, 2);
    return op_make(fl, OP_STACK, (Val *[]){tuple, axis}, 2);
}

// cat((a[..., None], b[..., None]), -2)  ->  cat((a, b), -1)[..., None]
static Val *as_wider(Flow *fl, const Val *parts, Val *axis) {
    if (parts->nargs != 2 || !val_is_int(axis, -2)) return NULL;
    Val *below[2];
    for (int i = 0; i < 2; i++) {
        below[i] = below_new_axis(parts->args[i]);
        if (!below[i]) return NULL;
    }
    Val *both[] = {val_new(&fl->graph, V_TUPLE, below, 2), val_int(&fl->graph, -1)};
    return with_new_axis(fl, op_make(fl, OP_CAT, both, 2), -1);
}

// The two of x.chunk(2, axis) as a tuple; other values as they are.
static Val *two_of_chunk(Flow *fl, Val *parts) {
    bool two = parts->op == OP_CHUNK && val_is_int(parts->args[1], 2);
    if (!two) return parts;
    Val *x = parts->args[0], *axis = parts->args[2];
    return val_new2(&fl->graph, V_TUPLE, op_part(fl, x, axis, 0, 2), op_part(fl, x, axis, 1, 2));
}

// stack((z.real, z.imag), -1)  ->  view_as_real(z)
static Val *as_view_of_complex(Flow *fl, const Val *parts, Val *axis) {
    if (parts->nargs != 2 || !val_is_int(axis, -1)) return NULL;
    const Val *a = parts->args[0], *b = parts->args[1];
    bool both = a->op == V_ATTR && b->op == V_ATTR && a->args[0] == b->args[0] &&
                a->name == fl->names.real && b->name == fl->names.imag;
    return both ? val_new1(&fl->graph, OP_VIEW_AS_REAL, a->args[0]) : NULL;
}

// complex(strided(x, 0, 2), strided(x, 1, 2))  ->  view_as_complex(x.unflatten(-1, (-1, 2)))
Val *op_complex(Flow *fl, Val *real, Val *imag) {
    Graph *g = &fl->graph;
    Val *a = val_strip(real), *b = val_strip(imag);
    bool pairs = a->op == OP_STRIDED && b->op == OP_STRIDED && a->args[0] == b->args[0] &&
                 val_is_int(a->args[1], 0) && val_is_int(b->args[1], 1);
    if (!pairs) return val_new2(g, OP_COMPLEX, real, imag);
    Val *sizes = val_new2(g, V_TUPLE, val_int(g, -1), val_int(g, 2));
    Val *split = val_new3(g, OP_UNFLATTEN, a->args[0], val_int(g, -1), sizes);
    if (real->op == V_CAST) split = op_cast(fl, split, real->args[1]);
    return val_new1(g, OP_VIEW_AS_COMPLEX, split);
}

// The two tensors that stand beside each other along the last axis of `v`: of
// stack((a, b), -1), and the halves of x of x.view(*lead, 2, -1).transpose(-2, -1).
static bool split_last(Flow *fl, Val *v, Val *out[2]) {
    if (v->op == OP_STACK) {
        bool two = val_is_int(v->args[1], -1) && v->args[0]->op == V_TUPLE &&
                   v->args[0]->nargs == 2;
        for (int i = 0; two && i < 2; i++) out[i] = v->args[0]->args[i];
        return two;
    }
    if (!exchanges_last_two(v)) return false;
    Val *u = below_copies(v->args[0]);
    bool halves = is_two_sizes(u) && val_is_int(u->args[1], -1) &&
                  val_is_int(u->args[2]->args[0], 2);
    for (int i = 0; halves && i < 2; i++) {
        out[i] = half(fl, u->args[0], i);
        if (v->args[0]->op == V_CAST) out[i] = op_cast(fl, out[i], v->args[0]->args[1]);
    }
    return halves;
}

// view_as_complex(stack((a, b), -1))  ->  complex(a, b)
Val *op_view_as_complex(Flow *fl, Val *x) {
    Val *parts[2];
    if (!split_last(fl, below_copies(x), parts)) return val_new1(&fl->graph, OP_VIEW_AS_COMPLEX, x);
    for (int i = 0; x->op == V_CAST && i < 2; i++) parts[i] = op_cast(fl, parts[i], x->args[1]);
    return op_complex(fl, parts[0], parts[1]);
}

// x.unflatten(-1, [d, 2])  ->  x.unflatten(-1, (-1, 2))
Val *op_unflatten(Flow *fl, Val *const *a) {
    Graph *g = &fl->graph;
    Val *sizes = a[2];
    if (sizes->op == V_LIST) sizes = val_new(g, V_TUPLE, sizes->args, sizes->nargs);
    if (sizes->op == V_TUPLE && sizes->nargs == 2) {
        bool first = val_is_int(sizes->args[0], 2), second = val_is_int(sizes->args[1], 2);
        Val *rest = val_int(g, -1), *two = val_int(g, 2);
        if (first != second && may_be_rest(sizes->args[first])) {
            sizes = first ? val_new2(g, V_TUPLE, two, rest) : val_new2(g, V_TUPLE, rest, two);
        }
    }
    return val_new3(g, OP_UNFLATTEN, a[0], a[1], sizes);
}

// op((a, -b))  ->  -op((-a, b)): one sign for a turned pair.
Val *op_join(Flow *fl, Op op, Val *const *args, uint32_t n) {
    Graph *g = &fl->graph;
    Val *parts = args[0], *axis = n > 1 ? args[1] : NULL;
    if (parts->op == V_LIST) parts = val_new(g, V_TUPLE, parts->args, parts->nargs);
    parts = two_of_chunk(fl, parts);
    Val *other = NULL;
    if (op == OP_CAT && parts->op == V_TUPLE && parts->nargs) {
        axis = op_axis_from_end(fl, parts->args[0], axis);
        other = as_stack(fl, parts, axis);
        if (!other) other = as_wider(fl, parts, axis);
    }
    if (op == OP_STACK && parts->op == V_TUPLE) other = as_view_of_complex(fl, parts, axis);
    if (other) return other;
    bool turned = parts->op == V_TUPLE && parts->nargs == 2 && parts->args[1]->op == OP_NEG &&
                  parts->args[0]->op != OP_NEG && !val_is_number(parts->args[0]);
    if (turned) {
        Val *first = op_make(fl, OP_NEG, &parts->args[0], 1);
        parts = val_new2(g, V_TUPLE, first, parts->args[1]->args[0]);
    }
    Val *made = axis ? val_new2(g, op, parts, axis) : val_new1(g, op, parts);
    return turned ? op_make(fl, OP_NEG, &made, 1) : made;
}
