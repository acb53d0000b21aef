// factors.c - products and sums as flat lists, so that association and order
// do not matter. Casts between the factors are opened: they round, but they do
// not change what is multiplied.
#include "base/base.h"

#include "match/rule.h"

enum { STEPS_MAX = 2000 };

static void add_factor(Factors *out, Val *v) {
    if (out->len == FACTORS_MAX) out->overflow = true;
    else out->at[out->len++] = v;
}

static Val *open_casts(Factors *out, Flow *flow, Val *v) {
    Val *inner = val_strip(v);
    for (Val *c = v; c != inner; c = c->args[0]) vec_push(flow->scratch, &out->seen, c);
    return inner;
}

// self.alpha that the constructor sets to one number is that number.
static Val *known_number(Flow *flow, Val *v) {
    if (v->op != V_ATTR || !object_class(v->args[0])) return v;
    Resolved r = flow_resolve(flow, v);
    return r.val && !r.from_config && val_is_number(r.val) ? r.val : v;
}

// Opens `op` down to `left` more levels. A product whose factors share their
// own factors has no end as a list: it overflows.
static void flatten(Factors *out, Flow *flow, Val *v, Op op, int left) {
    for (;;) {
        if (++out->steps > STEPS_MAX) out->overflow = true;
        if (out->overflow) return;
        v = open_casts(out, flow, v);
        if (out->numbers) v = known_number(flow, v);
        if (val_is_number(v)) {
            out->coefficient = op == OP_MUL ? out->coefficient * v->num
                                            : out->coefficient + v->num;
            return;
        }
        bool opens = v->op == op && left > 0;
        bool negates = op == OP_MUL && v->op == OP_NEG && left > 0; // -x is (-1) * x
        if (!opens && !negates && v->op != OP_CONTIGUOUS) {
            add_factor(out, v);
            return;
        }
        vec_push(flow->scratch, &out->seen, v);
        if (negates) out->coefficient = -out->coefficient;
        if (opens) flatten(out, flow, v->args[0], op, --left);
        v = v->args[opens];
    }
}

static void remove_factor(Factors *f, uint32_t i) {
    for (; i + 1 < f->len; i++) f->at[i] = f->at[i + 1];
    f->len--;
}

// x * sigmoid(x)  ->  silu(x)
static void fold_silu(Factors *f, Flow *flow) {
    for (uint32_t s = 0; s < f->len; s++) {
        if (f->at[s]->op != OP_SIGMOID) continue;
        Val *x = val_strip(f->at[s]->args[0]);
        for (uint32_t i = 0; i < f->len; i++) {
            if (f->at[i] != x) continue;
            vec_push(flow->scratch, &f->seen, f->at[s]);
            f->at[s] = val_new1(&flow->graph, OP_SILU, x);
            remove_factor(f, i);
            fold_silu(f, flow);
            return;
        }
    }
}

// ---- 0.5 * y * (1 + erf(y / sqrt(2))), and its tanh form -------------------------

enum { POLY = 4, POLY_STEPS = 64 };

typedef struct Poly {
    double c[POLY]; // of y ** 0 .. y ** 3
} Poly;

static bool poly_of(Poly *out, Val *v, const Val *y, int *steps);

static bool poly_mul(Poly *out, const Poly *a, const Poly *b) {
    Poly product = {{0}};
    for (int i = 0; i < POLY; i++) {
        for (int k = 0; k < POLY; k++) {
            double c = a->c[i] * b->c[k];
            if (c != 0 && i + k >= POLY) return false;
            if (c != 0) product.c[i + k] += c;
        }
    }
    *out = product;
    return true;
}

static bool poly_power(Poly *out, const Val *v, const Val *y, int *steps) {
    Poly base;
    double n = v->nargs > 1 && val_is_number(v->args[1]) ? v->args[1]->num : 0;
    if (n != 1 && n != 2 && n != 3) return false;
    if (!poly_of(&base, v->args[0], y, steps)) return false;
    *out = base;
    for (int i = 1; i < (int)n; i++) {
        if (!poly_mul(out, out, &base)) return false;
    }
    return true;
}

// The value as a polynomial in y of degree three at most.
static bool poly_of(Poly *out, Val *v, const Val *y, int *steps) {
    Poly a, b;
    v = val_strip(v);
    *out = (Poly){{0}};
    if (++*steps > POLY_STEPS) return false;
    if (v == y) {
        out->c[1] = 1;
        return true;
    }
    if (val_is_number(v)) {
        out->c[0] = v->num;
        return true;
    }
    if (v->op == OP_POW) return poly_power(out, v, y, steps);
    if (v->op == OP_NEG) {
        if (!poly_of(&a, v->args[0], y, steps)) return false;
        for (int i = 0; i < POLY; i++) out->c[i] = -a.c[i];
        return true;
    }
    if ((v->op != OP_ADD && v->op != OP_MUL) || v->nargs != 2) return false;
    if (!poly_of(&a, v->args[0], y, steps) || !poly_of(&b, v->args[1], y, steps)) return false;
    if (v->op == OP_MUL) return poly_mul(out, &a, &b);
    for (int i = 0; i < POLY; i++) out->c[i] = a.c[i] + b.c[i];
    return true;
}

// Constants are written with as few as six digits; that is no more than the
// rounding of half precision can tell.
static bool is_close(double a, double b) {
    double d = a > b ? a - b : b - a;
    return d <= 2e-6;
}

// "none" if 1 + v is that of the exact GELU of y, "tanh" if of its approximation
// (both: Hendrycks and Gimpel, "Gaussian Error Linear Units"); else NULL.
static const char *gelu_kind(Val *v, const Val *y) {
    Poly p;
    int steps = 0;
    if (v->op != OP_ERF && v->op != OP_TANH) return NULL;
    if (!poly_of(&p, v->args[0], y, &steps)) return NULL;
    if (p.c[0] != 0 || !is_close(p.c[2], 0)) return NULL;
    bool exact = is_close(p.c[1], 0.7071067811865476) && is_close(p.c[3], 0);
    bool approximate = is_close(p.c[1], 0.7978845608028654) &&
                       is_close(p.c[3], 0.035677408136300125); // 0.044715 * sqrt(2 / pi)
    if (v->op == OP_ERF) return exact ? "none" : NULL;
    return approximate ? "tanh" : NULL;
}

// The erf or tanh of 1 + v, or NULL.
static Val *one_plus(Flow *flow, Val *v) {
    Factors terms;
    if (v->op != OP_ADD) return NULL;
    sum_terms(&terms, flow, v);
    bool plain = !terms.overflow && terms.len == 1 && terms.coefficient == 1;
    return plain ? val_strip(terms.at[0]) : NULL;
}

// y * (1 + erf(...))  ->  2 * gelu(y)
static void fold_gelu(Factors *f, Flow *flow) {
    for (uint32_t s = 0; s < f->len; s++) {
        Val *inner = one_plus(flow, f->at[s]);
        for (uint32_t i = 0; inner && i < f->len; i++) {
            const char *kind = gelu_kind(inner, f->at[i]);
            if (!kind) continue;
            vec_push(flow->scratch, &f->seen, f->at[s]);
            vec_push(flow->scratch, &f->seen, inner);
            f->at[s] = val_new2(&flow->graph, OP_GELU, f->at[i],
                                val_str(&flow->graph, str_of(kind)));
            f->coefficient *= 2;
            f->gelu = true;
            remove_factor(f, i);
            return;
        }
    }
}

// x * x  ->  x ** 2, where the two met only when the product was opened
static void fold_squares(Factors *f, Flow *flow) {
    for (uint32_t a = 0; a < f->len; a++) {
        for (uint32_t b = a + 1; b < f->len; b++) {
            if (f->at[a] != f->at[b]) continue;
            f->at[a] = val_new2(&flow->graph, OP_POW, f->at[a],
                                val_int(&flow->graph, 2));
            remove_factor(f, b);
            return;
        }
    }
}

void product_factors_to(Factors *out, Flow *flow, Val *v, int depth) {
    *out = (Factors){.coefficient = 1};
    flatten(out, flow, v, OP_MUL, depth);
    fold_silu(out, flow);
    fold_gelu(out, flow);
    fold_squares(out, flow);
}

void product_factors_numbers(Factors *out, Flow *flow, Val *v) {
    *out = (Factors){.coefficient = 1, .numbers = true};
    flatten(out, flow, v, OP_MUL, FACTORS_ALL);
    fold_silu(out, flow);
    fold_gelu(out, flow);
    fold_squares(out, flow);
}

void product_factors_written(Factors *out, Flow *flow, Val *v) {
    *out = (Factors){.coefficient = 1};
    flatten(out, flow, v, OP_MUL, FACTORS_ALL);
    fold_silu(out, flow);
    fold_squares(out, flow);
}

void product_factors(Factors *out, Flow *flow, Val *v) {
    product_factors_to(out, flow, v, FACTORS_ALL);
}

void sum_terms_to(Factors *out, Flow *flow, Val *v, int depth) {
    *out = (Factors){.coefficient = 0};
    flatten(out, flow, v, OP_ADD, depth);
}

void sum_terms(Factors *out, Flow *flow, Val *v) {
    sum_terms_to(out, flow, v, FACTORS_ALL);
}
