// equiv.c - equal computations get one form.
//
// Each function is one equivalence under its formula; `x`, `y`, `v` are
// tensors, `c` a number, `~` equal up to casts. op_make applies them while the
// graph is built, so that users' code and rules meet in the same form.
#include "base/base.h"

#include "flow/device.h"

#include <float.h>
#include <math.h>

enum { INVERT_MAX = 8 };

static Val *make1(Flow *fl, Op op, Val *x) {
    return op_make(fl, op, &x, 1);
}

static Val *make2(Flow *fl, Op op, Val *x, Val *y) {
    return op_make(fl, op, (Val *[]){x, y}, 2);
}

Val *op_cast(Flow *fl, Val *x, Val *dtype) {
    if (x->op == V_CAST && x->args[1] == dtype) return x;
    return val_new2(&fl->graph, V_CAST, x, dtype);
}

static bool is_operator(const Val *v) {
    return v->op > V_CAST && v->op < OP_COUNT;
}

bool item_has_dtype(const Val *item) {
    const Val *of = item->args[0], *index = item->args[1];
    switch ((int)index->op) {
    case V_TUPLE: case V_SLICE: return true; // no key that people write
    case V_CONST:
        if (index->ck == CONST_NONE || index->ck == CONST_ELLIPSIS) return true;
        break;
    default:
        if (is_operator(index)) return true; // a tensor of places
    }
    bool pair = of->op == OP_MAX; // the largest and where they are
    return (is_operator(of) && !pair) || of->op == V_PART || of->op == V_CAST ||
           (of->op == V_ITEM && item_has_dtype(of));
}

// dtype(cast(x, d))  ->  d;  dtype(-x), dtype(x[..., i]), ...  ->  dtype(x)
Val *op_dtype(Flow *fl, Val *x) {
    for (int depth = 0; depth < 64; depth++) {
        switch ((int)x->op) {
        case V_CAST:
            if (x->args[1]->op == V_DTYPE || val_is_floating_dtype(x->args[1])) {
                return x->args[1];
            }
            return val_new1(&fl->graph, V_DTYPE, x);
        case OP_NEG: case OP_SILU: case OP_SIGMOID: case OP_TANH: case OP_ERF: case OP_RELU:
        case OP_GELU: case OP_ABS: case OP_SQRT: case OP_VIEW: case V_PART:
        case OP_CONTIGUOUS: case OP_CLONE: case OP_DETACH: case OP_TRANSPOSE:
        case OP_PERMUTE: case OP_UNSQUEEZE: case OP_SQUEEZE: case OP_EXPAND:
        case OP_CLAMP: case OP_FLATTEN: case OP_UNFLATTEN: case OP_DROPOUT:
        case OP_STRIDED: case OP_SELECT: case OP_NARROW: case OP_UNBIND:
        case OP_CHUNK: case OP_SPLIT: case OP_TENSOR_SPLIT:
            x = x->args[0];
            break;
        case V_ITEM:
            if (!item_has_dtype(x)) return val_new1(&fl->graph, V_DTYPE, x);
            x = x->args[0];
            break;
        default:
            return val_new1(&fl->graph, V_DTYPE, x);
        }
    }
    return val_new1(&fl->graph, V_DTYPE, x);
}

// phi(c, silu(x), silu(y))  ->  silu(phi(c, x, y));  gelu, too, where it is of one kind
static Val *activation_of_phi(Flow *fl, Val *cond, const Val *a, const Val *b) {
    bool one = a->op == b->op && (a->op == OP_SILU || a->op == OP_GELU);
    for (uint32_t i = 1; one && i < a->nargs; i++) one = a->args[i] == b->args[i];
    if (!one) return NULL;
    Val *x = op_phi(fl, cond, a->args[0], b->args[0]);
    return a->nargs > 1 ? val_new2(&fl->graph, (Op)a->op, x, a->args[1])
                        : val_new1(&fl->graph, (Op)a->op, x);
}

// phi(c, x', x'')  ->  cast(x, phi(c, d', d''))  where x' ~ x'' ~ x
// phi(c, x, x)     ->  x
// phi(x.device.type != "mps", f(x), g(x))  ->  f(x)
Val *op_phi(Flow *fl, Val *cond, Val *a, Val *b) {
    if (a == b) return a;
    Val *side = device_side(cond, a, b);
    if (!side) side = activation_of_phi(fl, cond, a, b);
    if (side) return side;
    Val *x = val_strip(a);
    if (x == val_strip(b) && x->op != V_CONST) {
        Val *dtype = val_new3(&fl->graph, V_PHI, cond, op_dtype(fl, a),
                              op_dtype(fl, b));
        return op_cast(fl, x, dtype);
    }
    return val_new3(&fl->graph, V_PHI, cond, a, b);
}

// size(f(x), axis)  ->  size(x, axis)  for elementwise f of one tensor
Val *op_size(Flow *fl, Val *x, Val *axis) {
    for (int depth = 0; depth < 64; depth++) {
        switch ((int)x->op) {
        case V_CAST: case OP_NEG: case OP_POW: case OP_SQRT: case OP_RSQRT:
        case OP_SILU: case OP_SIGMOID: case OP_TANH: case OP_ERF: case OP_RELU: case OP_GELU:
        case OP_ABS: case OP_EXP: case OP_CONTIGUOUS: case OP_CLONE:
        case OP_DETACH: case OP_CLAMP: case OP_DROPOUT:
            x = x->args[0];
            break;
        default:
            return val_new2(&fl->graph, V_SIZE, x, axis);
        }
    }
    return val_new2(&fl->graph, V_SIZE, x, axis);
}

// c1 op c2  ->  c
static Val *fold_numbers(Flow *fl, Op op, Val *const *args, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (!val_is_number(args[i])) return NULL;
    }
    double a = args[0]->num, b = n > 1 ? args[1]->num : 0, r;
    switch ((int)op) {
    case OP_MUL: r = a * b; break;
    case OP_ADD: r = a + b; break;
    case OP_NEG: r = -a; break;
    case OP_POW: r = pow(a, b); break;
    case OP_SQRT: r = sqrt(a); break;
    case OP_RSQRT: r = 1 / sqrt(a); break;
    case OP_RECIPROCAL: r = 1 / a; break;
    default: return NULL;
    }
    return isfinite(r) ? val_number(&fl->graph, r) : NULL;
}

// The axis argument (-1,) or [-1] means -1.
static Val *lone_axis(Val *dim) {
    bool wrapped = dim->op == V_TUPLE || dim->op == V_LIST;
    return wrapped && dim->nargs == 1 ? dim->args[0] : dim;
}

// The rank of f(x) is that of x for elementwise f.
static Val *rank_root(Val *x) {
    for (int depth = 0; depth < 64; depth++) {
        switch ((int)x->op) {
        case OP_MUL: // x * x
            if (x->args[0] != x->args[1]) return x;
            x = x->args[0];
            break;
        case V_PHI: // x.to(dtype) if dtype is not None else x
            if (val_strip(x->args[1]) != val_strip(x->args[2])) return x;
            x = x->args[1];
            break;
        case V_CAST: case OP_NEG: case OP_POW: case OP_ABS: case OP_CONTIGUOUS:
        case OP_CLONE: case OP_DETACH: case V_PART: case OP_STRIDED:
            x = x->args[0];
            break;
        default: return x;
        }
    }
    return x;
}

// dim(x) - 1  ->  -1, as an axis of x, and 2 of one that has three axes
Val *op_axis_from_end(Flow *fl, Val *x, Val *axis) {
    if (val_is_number(axis) && axis->num >= 1) {
        bool last = rank_root(x)->sure_rank == axis->num + 1;
        return last ? val_int(&fl->graph, -1) : axis;
    }
    if (axis->op != OP_ADD) return axis;
    for (int i = 0; i < 2; i++) {
        Val *rank = axis->args[i], *back = axis->args[1 - i];
        bool counts = rank->op == OP_NDIM && val_is_number(back) && back->num < 0;
        if (counts && rank_root(rank->args[0]) == rank_root(x)) return back;
    }
    return axis;
}

// mean(x, dim, keepdim, dtype=d)  ->  mean(cast(x, d), dim, keepdim)
static Val *make_reduction(Flow *fl, Op op, Val *const *a) {
    Val *x = val_is_none(a[3]) ? a[0] : op_cast(fl, a[0], a[3]);
    return val_new3(&fl->graph, op, x, op_axis_from_end(fl, x, lone_axis(a[1])), a[2]);
}

// norm(x, 2, dim, keepdim)  ->  sqrt(sum(x ** 2, dim, keepdim))
static Val *make_norm(Flow *fl, Op op, Val *const *a) {
    bool two = val_is_number(a[1]) ? a[1]->num == 2 : val_is_none(a[1]);
    if (!two || val_is_none(a[2])) return val_new(&fl->graph, op, a, 5);
    Val *square = make2(fl, OP_POW, a[0], val_int(&fl->graph, 2));
    Val *sum[] = {square, a[2], a[3], a[4]};
    return make1(fl, OP_SQRT, make_reduction(fl, OP_SUM, sum));
}

// x ** 2 stays; x ** 0.5 -> sqrt(x); x ** -0.5 -> rsqrt(x); x ** -1 -> 1 / x;
// sqrt(x) ** 2 -> x
// Whether the shape spans the last axis only, as (n,), [n], n and shape[-1:] do:
// 1, 0, or -1 where nobody knows.
static int spans_last_axis(const Val *shape) {
    if (shape->op == V_SIZE) return 1;
    if (shape->op == V_TUPLE || shape->op == V_LIST) {
        for (uint32_t i = 0; i < shape->nargs; i++) {
            if (shape->args[i]->op == V_STAR) return -1;
        }
        return shape->nargs == 1;
    }
    if (shape->op == V_PHI) {
        int a = spans_last_axis(shape->args[1]), b = spans_last_axis(shape->args[2]);
        return a == b ? a : -1;
    }
    if (shape->op != V_ITEM || shape->args[0]->op != V_SHAPE) return -1;
    const Val *slice = shape->args[1];
    return slice->op == V_SLICE && val_is_int(slice->args[0], -1) && val_is_none(slice->args[1]) &&
           val_is_none(slice->args[2]);
}

// rms_norm(x, (n,), weight, eps)  ->  rms_norm(x, -1, weight, eps): a weight
// has the normalised shape, so that whoever asks for its axes asks for these.
// Without eps that of the input's dtype counts, which is lost where casts are
// looked through.
static Val *make_rms_norm(Flow *fl, Val *const *a) {
    Val *axis = val_int(&fl->graph, -1), *eps = a[3];
    int known = spans_last_axis(a[1]);
    bool last = known == 1 || (known < 0 && !val_is_none(a[2]));
    if (val_is_none(eps) && a[0]->op == V_CAST) {
        bool wide = val_is_global(a[0]->args[1], "torch.float32");
        if (wide) eps = val_number(&fl->graph, FLT_EPSILON);
        else last = false;
    }
    return val_new(&fl->graph, OP_RMS_NORM, (Val *[]){a[0], last ? axis : a[1], a[2], eps}, 4);
}

static Val *make_pow(Flow *fl, Val *x, Val *e) {
    if (val_near(e, 0.5)) return make1(fl, OP_SQRT, x);
    if (val_near(e, -0.5)) return make1(fl, OP_RSQRT, x);
    if (val_near(e, -1)) return make1(fl, OP_RECIPROCAL, x);
    if (val_near(e, 1)) return x;
    if (x->op == OP_SQRT && val_near(e, 2)) return x->args[0];
    return val_new2(&fl->graph, OP_POW, x, e);
}

// mean(x, -1, False)[..., None]  ->  mean(x, -1, True); sum too
static Val *keep_axis(Flow *fl, Val *x) {
    bool reduced = x->op == OP_MEAN || x->op == OP_SUM;
    if (!reduced || !val_is_int(x->args[1], -1) || val_truth(x->args[2]) != 0) return NULL;
    return val_new3(&fl->graph, (Op)x->op, x->args[0], x->args[1], val_bool(&fl->graph, true));
}

// A number, or what stands where code has one: an epsilon.
static bool is_plain_number(const Val *v) {
    return val_is_number(v) || v->op == V_ATTR || v->op == V_PARAM || v->op == V_SIZE;
}

// rsqrt(mean(x, -1, False) + c)[..., None]  ->  rsqrt(mean(x, -1, True) + c)
static Val *unsqueeze_below(Flow *fl, Val *x, int depth) {
    if (depth > 8) return NULL;
    switch ((int)x->op) {
    case V_CAST: {
        Val *kept = unsqueeze_below(fl, x->args[0], depth + 1);
        return kept ? op_cast(fl, kept, x->args[1]) : NULL;
    }
    case OP_SQRT: case OP_RSQRT: case OP_RECIPROCAL: {
        Val *kept = unsqueeze_below(fl, x->args[0], depth + 1);
        return kept ? make1(fl, (Op)x->op, kept) : NULL;
    }
    case OP_ADD: case OP_MUL: case OP_POW:
        for (int i = 0; i < 2; i++) {
            if (!is_plain_number(x->args[1 - i])) continue;
            Val *kept = unsqueeze_below(fl, x->args[i], depth + 1);
            if (!kept) continue;
            Val *parts[2] = {kept, kept};
            parts[1 - i] = x->args[1 - i];
            return op_make(fl, (Op)x->op, parts, 2);
        }
        return NULL;
    default: return keep_axis(fl, x);
    }
}

Val *op_unsqueeze_last(Flow *fl, Val *x) {
    return unsqueeze_below(fl, x, 0);
}

// 1 / (1 + exp(-x))  ->  sigmoid(x), of the dtype of exp(-x)
static Val *as_sigmoid(Flow *fl, Val *v) {
    if (v->op != OP_ADD) return NULL;
    for (int i = 0; i < 2; i++) {
        Val *exp = val_strip(v->args[1 - i]);
        if (val_near(v->args[i], 1) && exp->op == OP_EXP &&
            val_strip(exp->args[0])->op == OP_NEG) {
            Val *sigmoid = make1(fl, OP_SIGMOID, val_strip(exp->args[0])->args[0]);
            // What exp gives, which autocast raises to float32, or a cast of it.
            return op_cast(fl, sigmoid, op_dtype(fl, v->args[1 - i]));
        }
    }
    return NULL;
}

// 1 / sqrt(v) -> rsqrt(v); 1 / rsqrt(v) -> sqrt(v); 1 / (x * y) -> 1/x * 1/y;
// 1 / cast(x, d) -> cast(1 / x, d); 1 / (1 / x) -> x
static Val *make_reciprocal(Flow *fl, Val *x) {
    switch ((int)x->op) {
    case OP_SQRT: return make1(fl, OP_RSQRT, x->args[0]);
    case OP_RSQRT: return make1(fl, OP_SQRT, x->args[0]);
    case OP_RECIPROCAL: return x->args[0];
    case V_CAST:
        return op_cast(fl, make1(fl, OP_RECIPROCAL, x->args[0]), x->args[1]);
    case OP_MUL: {
        if (fl->inverting >= INVERT_MAX) break;
        fl->inverting++; // factors may share factors: not opened for ever
        Val *a = make1(fl, OP_RECIPROCAL, x->args[0]);
        Val *b = make1(fl, OP_RECIPROCAL, x->args[1]);
        fl->inverting--;
        return make2(fl, OP_MUL, a, b);
    }
    default: break;
    }
    Val *sigmoid = as_sigmoid(fl, x);
    return sigmoid ? sigmoid : val_new1(&fl->graph, OP_RECIPROCAL, x);
}

// Whether `size` is the length of x along `axis`.
static bool is_size_of(Flow *fl, const Val *size, Val *x, Val *axis) {
    return size->op == V_SIZE && size == op_size(fl, x, axis);
}

// sum(x, axis, True) * 1/size(x, axis)            ->  mean(x, axis, True)
// sqrt(sum(x, axis, True)) * rsqrt(size(x, axis)) ->  sqrt(mean(x, axis, True))
static Val *as_mean(Flow *fl, Val *a, Val *b) {
    Val *s = val_strip(a), *under = s->op == OP_SQRT ? s->args[0] : s, *inner = val_strip(under);
    Op scale = s->op == OP_SQRT ? OP_RSQRT : OP_RECIPROCAL;
    if (inner->op != OP_SUM || b->op != scale) return NULL;
    if (!is_size_of(fl, b->args[0], inner->args[0], inner->args[1])) return NULL;
    Val *mean = val_new(&fl->graph, OP_MEAN, inner->args, 3);
    if (under->op == V_CAST) mean = op_cast(fl, mean, under->args[1]);
    if (s->op == OP_SQRT) mean = make1(fl, OP_SQRT, mean);
    return a->op == V_CAST ? op_cast(fl, mean, a->args[1]) : mean;
}

Val *op_below_largest(const Val *v, Val **dim) {
    v = val_strip((Val *)(uintptr_t)v);
    while (v->op == OP_DETACH) v = val_strip(v->args[0]);
    bool first = v->op == V_ITEM && val_is_int(v->args[1], 0);
    bool values = v->op == V_ATTR && str_is(sym_str(v->name), "values");
    if ((first || values) && v->args[0]->op == OP_MAX) v = v->args[0]; // of (values, indices)
    else if (v->op != OP_AMAX) return NULL;
    *dim = v->args[1];
    return val_is_number(*dim) && val_truth(v->args[2]) == 1 ? v->args[0] : NULL;
}

// x - max(x)  ->  x, where a softmax along `dim` is all that sees it
static Val *below_shift(Val *x, const Val *dim) {
    Val *sum = val_strip(x), *along = NULL;
    for (int i = 0; sum->op == OP_ADD && i < 2; i++) {
        Val *neg = val_strip(sum->args[1 - i]);
        Val *of = neg->op == OP_NEG ? op_below_largest(neg->args[0], &along) : NULL;
        if (of && along == dim && val_strip(of) == val_strip(sum->args[i])) return sum->args[i];
    }
    return x;
}

// exp(x) * 1/sum(exp(x), dim, True)  ->  softmax(x, dim), with what it was written as
static Val *as_softmax(Flow *fl, Val *a, Val *b) {
    Val *e = val_strip(a);
    Val *sum = b->op == OP_RECIPROCAL ? val_strip(b->args[0]) : NULL;
    bool fits = e->op == OP_EXP && sum && sum->op == OP_SUM && val_strip(sum->args[0]) == e &&
                val_is_number(sum->args[1]) && val_truth(sum->args[2]) == 1;
    if (!fits) return NULL;
    Val *x = below_shift(e->args[0], sum->args[1]);
    Val *args[] = {x, sum->args[1], val_none(&fl->graph), val_new2(&fl->graph, OP_MUL, a, b)};
    return val_new(&fl->graph, OP_SOFTMAX, args, 4);
}

// x * x -> x ** 2;  1 * x -> x;  -1 * x -> -x
static Val *make_mul(Flow *fl, Val *a, Val *b) {
    if (val_is_int(a, 1) && !val_is_number(b)) return b;
    if (val_is_int(b, 1) && !val_is_number(a)) return a;
    if (val_is_int(a, -1) && !val_is_number(b)) return make1(fl, OP_NEG, b);
    if (val_is_int(b, -1) && !val_is_number(a)) return make1(fl, OP_NEG, a);
    if (val_strip(a) == val_strip(b) && !val_is_number(a)) {
        return make2(fl, OP_POW, a->op == V_CAST ? a : b,
                     val_int(&fl->graph, 2));
    }
    Val *mean = as_mean(fl, a, b);
    if (!mean) mean = as_mean(fl, b, a);
    if (!mean) mean = as_softmax(fl, a, b);
    if (!mean) mean = as_softmax(fl, b, a);
    return mean ? mean : val_new2(&fl->graph, OP_MUL, a, b);
}

// x + c * y: alpha of add and sub
static Val *scaled(Flow *fl, Val *y, Val *alpha) {
    return val_is_int(alpha, 1) ? y : make2(fl, OP_MUL, alpha, y);
}

static Val *make_add(Flow *fl, Val *a, Val *b) {
    if (val_is_int(a, 0) && !val_is_number(b)) return b;
    if (val_is_int(b, 0) && !val_is_number(a)) return a;
    for (int i = 0; i < 2; i++) { // x + x * y -> x * (1 + y)
        Val *x = i ? b : a, *product = i ? a : b;
        if (product->op != OP_MUL || x->op <= V_CAST) continue;
        int at = product->args[0] == x ? 0 : product->args[1] == x ? 1 : -1;
        if (at < 0) continue;
        Val *one = val_new2(&fl->graph, OP_ADD, val_int(&fl->graph, 1), product->args[1 - at]);
        return make2(fl, OP_MUL, x, one);
    }
    return val_new2(&fl->graph, OP_ADD, a, b);
}

// -(-x) -> x;  -(c * x) -> (-c) * x
static Val *make_neg(Flow *fl, Val *x) {
    if (x->op == OP_NEG) return x->args[0];
    return val_new1(&fl->graph, OP_NEG, x);
}

// var(x, dim, unbiased=False) keeps one form: [x, dim, keepdim, correction]
static Val *make_var(Flow *fl, Op op, Val *const *a) {
    bool biased = val_truth(a[2]) == 0 || val_is_int(a[4], 0);
    return val_new(&fl->graph, op,
                   (Val *[]){a[0], lone_axis(a[1]), a[3],
                             val_int(&fl->graph, biased ? 0 : 1)}, 4);
}

// clamp_min(x, c) -> clamp(x, c, None); clamp_max(x, c) -> clamp(x, None, c)
static Val *make_clamp(Flow *fl, Op op, Val *const *a) {
    Val *none = val_none(&fl->graph);
    bool low = op == OP_CLAMP_MIN || op == OP_MAXIMUM;
    return val_new3(&fl->graph, OP_CLAMP, a[0], low ? a[1] : none,
                    low ? none : a[1]);
}

// Operators that move values and compute nothing.
// layer_norm(x, shape, w, ...)  ->  layer_norm(x, shape(w), w, ...): torch asks for that
static Val *make_layer_norm(Flow *fl, Val *const *a, uint32_t n) {
    if (n < 5 || val_is_none(a[2])) return val_new(&fl->graph, OP_LAYER_NORM, a, n);
    Val *parts[5] = {a[0], val_new1(&fl->graph, V_SHAPE, a[2]), a[2], a[3], a[4]};
    return val_new(&fl->graph, OP_LAYER_NORM, parts, 5);
}

static Val *make_layout(Flow *fl, Op op, Val *const *a, uint32_t n) {
    switch ((int)op) {
    case OP_CAT:
    case OP_STACK:
    case OP_WEAVE: return op_join(fl, op, a, n);
    case OP_VIEW: return op_view(fl, a[0], a[1]);
    case OP_FLATTEN: return op_flatten(fl, a);
    case OP_UNFLATTEN: return op_unflatten(fl, a);
    case OP_RESHAPE_AS: return op_reshape_as(fl, a[0], a[1]);
    case OP_REPEAT_INTERLEAVE: return op_repeat_interleave(fl, a);
    case OP_COMPLEX: return op_complex(fl, a[0], a[1]);
    case OP_VIEW_AS_COMPLEX: return op_view_as_complex(fl, a[0]);
    case OP_SELECT: return op_select(fl, a);
    case OP_NARROW: return op_narrow(fl, a);
    case OP_TRANSPOSE: { // x.transpose(-1, -2)  ->  x.transpose(-2, -1)
        bool sorted = !val_is_int(a[1], -1) || !val_is_int(a[2], -2);
        return val_new3(&fl->graph, op, a[0], a[sorted ? 1 : 2], a[sorted ? 2 : 1]);
    }
    case OP_SQUEEZE: // x[..., None].squeeze(-1)
        if (a[0]->op == OP_UNSQUEEZE && a[0]->args[1] == a[1]) return a[0]->args[0];
        return val_new(&fl->graph, op, a, n);
    case OP_LAYER_NORM: return make_layer_norm(fl, a, n);
    case OP_EINSUM: return op_einsum(fl, a, n);
    default: return val_new(&fl->graph, op, a, n);
    }
}

// bmm(x, y)  ->  matmul(x, y) of three axes
static Val *make_bmm(Flow *fl, Val *x, Val *y) {
    if (!x->rank) x->rank = 3;
    if (!y->rank) y->rank = 3;
    Val *product = val_new2(&fl->graph, OP_MATMUL, x, y);
    product->rank = 3;
    return product;
}

// baddbmm(z, x, y, beta, alpha)  ->  beta * z + alpha * bmm(x, y); z is not
// read where beta is 0
static Val *make_baddbmm(Flow *fl, Val *const *a) {
    Val *product = scaled(fl, make_bmm(fl, a[1], a[2]), a[4]);
    if (val_is_number(a[3]) && a[3]->num == 0) return product;
    return make2(fl, OP_ADD, scaled(fl, a[0], a[3]), product);
}

static Val *make_product(Flow *fl, Op op, Val *const *a) {
    switch ((int)op) {
    case OP_BMM: return make_bmm(fl, a[0], a[1]);
    case OP_BADDBMM: return make_baddbmm(fl, a);
    default: break;
    }
    Val v = {.op = V_PYOP, .ck = A_INVERT, .nargs = 1, .args = (Val **)(uintptr_t)a};
    return val_intern(&fl->graph, &v); // logical_not(x) -> ~x
}

static Val *make_arithmetic(Flow *fl, Op op, Val *const *a, uint32_t n) {
    switch ((int)op) {
    case OP_MUL: return make_mul(fl, a[0], a[1]);
    case OP_ADD:
        return make_add(fl, a[0], n > 2 ? scaled(fl, a[1], a[2]) : a[1]);
    case OP_SUB: // x - y -> x + (-y)
        return make2(fl, OP_ADD, a[0],
                     make1(fl, OP_NEG, n > 2 ? scaled(fl, a[1], a[2]) : a[1]));
    case OP_DIV: // x / y -> x * 1/y
        if (n > 2 && !val_is_none(a[2])) break;
        return make2(fl, OP_MUL, a[0], make1(fl, OP_RECIPROCAL, a[1]));
    case OP_NEG: return make_neg(fl, a[0]);
    case OP_POW: return make_pow(fl, a[0], a[1]);
    case OP_FLOAT_POWER: // float_power(x, e)  ->  cast(x, float64) ** e
        return make2(fl, OP_POW, op_cast(fl, a[0], val_global(&fl->graph, STR("torch.float64"))),
                     a[1]);
    case OP_SQUARE: return make2(fl, OP_POW, a[0], val_int(&fl->graph, 2));
    case OP_RECIPROCAL: return make_reciprocal(fl, a[0]);
    case OP_EXP: // exp(log_softmax(x, dim))  ->  softmax(x, dim)
        if (a[0]->op == OP_LOG_SOFTMAX) return val_new(&fl->graph, OP_SOFTMAX, a[0]->args, 3);
        return val_new1(&fl->graph, OP_EXP, a[0]);
    case OP_UNSQUEEZE: {
        Val *kept = val_is_int(a[1], -1) ? op_unsqueeze_last(fl, a[0]) : NULL;
        if (!kept && val_is_int(a[1], -2)) kept = op_pairs_as_rows(fl, a[0]);
        if (kept) return kept;
        break;
    }
    case OP_SILU:
    case OP_RELU: return val_new1(&fl->graph, op, a[0]);
    case OP_MEAN:
    case OP_SUM: return make_reduction(fl, op, a);
    case OP_NORM:
    case OP_VECTOR_NORM: return make_norm(fl, op, a);
    case OP_RMS_NORM: return make_rms_norm(fl, a);
    case OP_VAR:
    case OP_STD: return make_var(fl, op, a);
    case OP_CLAMP_MIN:
    case OP_CLAMP_MAX: return make_clamp(fl, op, a);
    case OP_ADDCMUL:
        return make_add(fl, a[0], scaled(fl, make2(fl, OP_MUL, a[1], a[2]), a[3]));
    case OP_BMM:
    case OP_BADDBMM:
    case OP_LOGICAL_NOT: return make_product(fl, op, a);
    default: break;
    }
    return make_layout(fl, op, a, n);
}

Val *op_make(Flow *fl, Op op, Val *const *args, uint32_t nargs) {
    Val *folded = fold_numbers(fl, op, args, nargs);
    return folded ? folded : make_arithmetic(fl, op, args, nargs);
}
