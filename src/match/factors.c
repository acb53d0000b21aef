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
        bool negates = op == OP_MUL && v->op == OP_NEG; // -x is (-1) * x
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
    fold_squares(out, flow);
}

void product_factors_numbers(Factors *out, Flow *flow, Val *v) {
    *out = (Factors){.coefficient = 1, .numbers = true};
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
