// attend_scores.c - what stands under the softmax: the product of queries and
// keys, its scale, and the masks, each with its polarity.
//
// Read from the softmax inwards. Where a choice has attention in one arm only,
// that arm is taken and the choice is noted: it becomes a term of the guard.
#include "base/base.h"

#include "match/attend_impl.h"

#include "match/number.h"
#include "match/tensor_kind.h"

enum { SCORES_MAX_DEPTH = 24, SCORES_MAX_STEPS = 600, FACTOR_MAX_DEPTH = 12 };

// ---- numbers ----------------------------------------------------------------

static bool is_infinity(const Val *v) {
    if (v->op == V_CONST && v->ck == CONST_STR) return str_is(v->text, "inf");
    return val_is_global(v, "torch.inf") || val_is_global(v, "math.inf") ||
           val_is_global(v, "numpy.inf");
}

// torch.finfo(d).min, and of the largest
static bool is_limit(const Val *v, const char *which) {
    if (v->op != V_ATTR || !str_is(sym_str(v->name), which)) return false;
    const Val *call = v->args[0];
    return call->op == V_CALL && call->nargs == 2 && val_is_global(call->args[0], "torch.finfo");
}

// torch.tensor(c), x.new_tensor(c), torch.full((), c), torch.full([], c)
const Val *lone_number(const Val *v) {
    v = val_strip((Val *)(uintptr_t)v);
    if (v->op == V_CALL && v->nargs >= 2) {
        const Val *callee = v->args[0];
        bool made = val_is_global(callee, "torch.tensor") ||
                    val_is_global(callee, "torch.scalar_tensor") ||
                    (callee->op == V_ATTR && str_is(sym_str(callee->name), "new_tensor"));
        bool several = v->args[1]->op == V_LIST || v->args[1]->op == V_TUPLE;
        if (made) return several ? v : v->args[1];
    }
    if (v->op == OP_FULL) {
        const Val *size = v->args[0];
        bool none = (size->op == V_TUPLE || size->op == V_LIST) && size->nargs == 0;
        if (none || (size->op == V_LIST && size->nargs == 1 && val_is_int(size->args[0], 1))) {
            return v->args[1];
        }
    }
    return v;
}

static bool is_low(const Val *v, int depth) {
    if (depth > 6) return false;
    v = lone_number(v);
    if (val_is_number(v)) return v->num <= -9000;
    if (v->op == OP_NEG) return is_infinity(v->args[0]) || is_limit(v->args[0], "max");
    if (v->op == V_PHI) return is_low(v->args[1], depth + 1) && is_low(v->args[2], depth + 1);
    // finfo.min / 2
    if (v->op == OP_MUL) {
        for (int i = 0; i < 2; i++) {
            const Val *c = v->args[1 - i];
            if (is_low(v->args[i], depth + 1) && val_is_number(c) && c->num > 1e-3) return true;
        }
    }
    return is_limit(v, "min") ||
        (v->op == V_CONST && v->ck == CONST_STR && str_is(v->text, "-inf"));
}

bool is_very_negative(const Val *v) {
    return is_low(v, 0);
}

// How a factor is looked for.
typedef struct Factor {
    Flow *flow;
    bool stored; // in what a constructor keeps: a call of what is not in sight may give a number
} Factor;

static bool is_factor_at(const Factor *f, Val *v, int depth);

static bool are_factors(const Factor *f, const Val *v, uint32_t first, int depth) {
    for (uint32_t i = first; i < v->nargs; i++) {
        if (!is_factor_at(f, v->args[i], depth + 1)) return false;
    }
    return true;
}

// config.rope_scaling["factor"], config.rope_scaling.get("factor", 1): what a constructor
// reads of its argument may be a number as well as the argument itself.
static bool is_setting(const Factor *f, const Val *v) {
    for (int depth = 0; f->stored && depth < 8; depth++) {
        if (v->op == V_PARAM) {
            return !object_class(v) && may_be_number(f->flow, (Val *)(uintptr_t)v);
        }
        if (v->op == V_CALL ? v->args[0]->op != V_ATTR : v->op != V_ITEM && v->op != V_ATTR) break;
        v = v->args[0];
    }
    return false;
}

// math.log(n); max(1, n) of numbers.
static bool is_factor_call(const Factor *f, const Val *call, int depth) {
    const Val *callee = call->args[0];
    if (callee->op != V_GLOBAL) return is_setting(f, call);
    if (str_starts(callee->text, "math.")) return true;
    bool picks = str_is(callee->text, "max") || str_is(callee->text, "min");
    if (picks && call->nargs > 2) return are_factors(f, call, 1, depth);
    return f->stored && !str_starts(callee->text, "torch.");
}

// self.scale, by what the constructor keeps.
static bool is_stored_factor(const Factor *f, Val *v, int depth) {
    Val *made = object_class(v->args[0]) ? object_attr(f->flow, v->args[0], v->name) : NULL;
    if (made && made->op == OP_PARAMETER) return false;
    if (made && lone_number(made) != val_strip(made)) return true; // a buffer
    const Factor stored = {f->flow, true};
    if (made && made != v && made->op != V_OPAQUE && made->op != V_CALL) {
        return is_factor_at(&stored, made, depth + 1);
    }
    return may_be_number(f->flow, v);
}

// A number that scores may be multiplied by: never a learned tensor.
static bool is_factor_at(const Factor *f, Val *v, int depth) {
    if (depth > FACTOR_MAX_DEPTH) return false;
    const Val *lone = lone_number(v);
    if (lone != val_strip(v)) return true;
    v = val_strip(v);
    if (is_number(f->flow, v)) return true;
    switch ((int)v->op) {
    case V_PARAM: return may_be_number(f->flow, v);
    case V_ATTR: return is_stored_factor(f, v, depth);
    case V_PHI: // an arm that is None multiplies nothing
        for (int i = 1; i <= 2; i++) {
            if (!val_is_none(v->args[i]) && !is_factor_at(f, v->args[i], depth + 1)) return false;
        }
        return true;
    case V_PYOP: case V_SIZE: case OP_NUMEL: return true;
    case V_CALL: return is_factor_call(f, v, depth);
    case V_ITEM: return is_setting(f, v);
    case OP_MUL: case OP_ADD: case OP_POW:
    case OP_SQRT: case OP_RSQRT: case OP_RECIPROCAL: case OP_NEG:
        return are_factors(f, v, 0, depth);
    default: return false;
    }
}

bool is_factor(Flow *flow, Val *v) {
    const Factor anywhere = {flow, false};
    return is_factor_at(&anywhere, v, 0);
}

// Sizes (n, 1, 1), (1,) or ().
static bool is_one_a_row(const Val *sizes) {
    if (sizes->op == V_TUPLE && sizes->nargs == 1 && sizes->args[0]->op != V_CONST) {
        return is_one_a_row(sizes->args[0]);
    }
    if (sizes->op != V_TUPLE && sizes->op != V_LIST) return val_is_int(sizes, 1);
    uint32_t n = sizes->nargs;
    if (n > 4) return false;
    for (uint32_t i = n > 2 ? n - 2 : 0; i < n; i++) {
        if (!val_is_int(sizes->args[i], 1)) return false;
    }
    return true;
}

// A tensor that is one number for each head at most: exp(clamp(scale)) of a
// parameter of such a size.
static bool is_head_factor(Flow *flow, const Val *v, int depth) {
    if (depth > 10) return false;
    v = val_strip((Val *)(uintptr_t)v);
    if (val_is_number(v) || lone_number(v) != v) return true;
    switch ((int)v->op) {
    case V_ATTR: {
        Val *made = object_class(v->args[0]) ? object_attr(flow, v->args[0], v->name) : NULL;
        return made && made != v && is_head_factor(flow, made, depth + 1);
    }
    case OP_PARAMETER: case OP_EXP: case OP_LOG: case OP_NEG: case OP_CLAMP: case OP_ABS:
    case OP_SIGMOID: case OP_SQRT: case OP_RSQRT: case OP_RECIPROCAL: case OP_CLONE:
        return is_head_factor(flow, v->args[0], depth + 1);
    case OP_MUL: case OP_ADD:
        return is_head_factor(flow, v->args[0], depth + 1) &&
               is_head_factor(flow, v->args[1], depth + 1);
    case OP_ONES: case OP_ZEROS: case OP_EMPTY: case OP_FULL: return is_one_a_row(v->args[0]);
    case V_PHI: // self.scale = nn.Parameter(...) if learned else None
        for (int i = 1; i <= 2; i++) {
            bool fits = val_is_none(v->args[i]) || is_head_factor(flow, v->args[i], depth + 1);
            if (!fits) return false;
        }
        return true;
    case V_PARAM: { // of the constructor; others may be any tensor
        const Frame *f = v->ptr;
        bool made = f && f->fn && f->fn->kind == N_FUNCTION_DEF &&
                    f->fn->u.function->name == flow->names.init;
        return made && is_factor(flow, (Val *)(uintptr_t)v);
    }
    default: return is_factor(flow, (Val *)(uintptr_t)v);
    }
}

// ---- masks ------------------------------------------------------------------

static Val *pyop1(Flow *flow, AstOp op, Val *x) {
    Val v = {.op = V_PYOP, .ck = (uint8_t)op, .nargs = 1, .args = &x};
    return val_intern(&flow->graph, &v);
}

static Val *pyop2(Flow *flow, AstOp op, Val *x, Val *y) {
    Val v = {.op = V_PYOP, .ck = (uint8_t)op, .nargs = 2, .args = (Val *[]){x, y}};
    return val_intern(&flow->graph, &v);
}

// ~~m -> m
Val *inverted_mask(Flow *flow, Val *mask) {
    mask = val_strip(mask);
    if (mask->op == V_PYOP && mask->ck == A_INVERT) return mask->args[0];
    return pyop1(flow, A_INVERT, mask);
}

// fills speak of booleans; some write m.to(torch.bool) or m.byte().
static bool add_mask(Reader *r, Val **list, uint32_t *count, Val *mask, Scores *s) {
    if (*count == MASKS_MAX) return read_fails(r, mask, "more masks than can be joined");
    list[(*count)++] = mask;
    s->flat_masks |= s->rank == 3;
    return true;
}

static bool add_drop(Reader *r, Scores *s, Val *drop) {
    return add_mask(r, s->drop, &s->drop_count, drop, s);
}

// Whether `cond` says that `v` is (or is not) None: then v itself is what is left.
static bool tests_presence(const Val *cond, bool holds, const Val *v) {
    AstOp present = holds ? A_IS_NOT : A_IS;
    return cond->op == V_PYOP && cond->ck == present && cond->args[0] == v &&
        val_is_none(cond->args[1]);
}

Val *optional_val(Flow *flow, Val *cond, bool holds, Val *v) {
    Val *none = val_none(&flow->graph);
    if (tests_presence(cond, holds, v)) return v;
    return val_new3(&flow->graph, V_PHI, cond, holds ? v : none, holds ? none : v);
}

// ---- attempts ---------------------------------------------------------------

typedef struct Attempt {
    uint32_t seen, scores, branches;
    const char *reason, *unread;
    Val *at;
} Attempt;

static Attempt begin(const Reader *r) {
    return (Attempt){r->out->seen.len, r->out->scores.len, r->out->branches.len, r->out->reason,
                     r->out->unread, r->out->at};
}

static void drop_attempt(Reader *r, const Attempt *was) {
    r->out->seen.len = was->seen;
    r->out->scores.len = was->scores;
    r->out->branches.len = was->branches;
    r->out->reason = was->reason;
    r->out->unread = was->unread;
    r->out->at = was->at;
}

// Reads `v`; what a failed attempt left behind is taken back.
static bool try_scores(Reader *r, Val *v, Scores *out, int depth) {
    Attempt was = begin(r);
    if (read_scores(r, v, out, depth)) return true;
    drop_attempt(r, &was);
    return false;
}

// The number that is filled in, and how it is made: torch.finfo(x.dtype).min
static void see_constant(Reader *r, Val *v, int depth) {
    bool made = v->op == V_CAST || v->op == V_CALL || v->op == V_ATTR || v->op == OP_NEG ||
                v->op == OP_MUL || v->op == OP_FULL;
    if (!made || depth > 6) return;
    read_sees(r, v);
    for (uint32_t i = 0; i < v->nargs; i++) see_constant(r, v->args[i], depth + 1);
}

// ---- masks of two arms --------------------------------------------------------

static bool holds_val(Val *const *list, uint32_t n, const Val *v) {
    for (uint32_t i = 0; i < n; i++) {
        if (list[i] == v) return true;
    }
    return false;
}

bool join_masks(Reader *r, Val *cond, MaskList a, MaskList b) {
    uint32_t own = *a.count;
    for (uint32_t i = 0; i < own; i++) {
        if (!holds_val(b.at, *b.count, a.at[i])) a.at[i] =
            optional_val(r->flow, cond, true, a.at[i]);
    }
    for (uint32_t i = 0; i < *b.count; i++) {
        bool both = false;
        for (uint32_t k = 0; k < own; k++) both |= a.at[k] == b.at[i];
        if (both) continue;
        if (*a.count == MASKS_MAX) return read_fails(r, cond, "more masks than can be joined");
        a.at[(*a.count)++] = optional_val(r->flow, cond, false, b.at[i]);
    }
    return true;
}

// torch.zeros_like(scores)
static bool is_zero_score(const Reader *r, const Val *v) {
    v = val_strip((Val *)(uintptr_t)v);
    const Val *like = v->op == OP_ZEROS_LIKE ? val_strip(v->args[0]) : NULL;
    for (uint32_t i = 0; like && i < r->out->scores.len; i++) {
        if (r->out->scores.at[i] == like) return true;
    }
    return false;
}

static bool add_bias(Reader *r, Scores *s, Val *bias, int depth);

// Of two arms, each under its condition.
static bool add_bias_choice(Reader *r, Scores *s, Val *bias, int depth) {
    Scores arms[2] = {{.rank = s->rank}, {.rank = s->rank}};
    for (int i = 0; i < 2; i++) {
        if (!add_bias(r, &arms[i], bias->args[1 + i], depth + 1)) return false;
    }
    Val *cond = bias->args[0];
    bool joined = join_masks(r, cond, (MaskList){arms[0].bias, &arms[0].bias_count},
                             (MaskList){arms[1].bias, &arms[1].bias_count}) &&
                  join_masks(r, cond, (MaskList){arms[0].drop, &arms[0].drop_count},
                             (MaskList){arms[1].drop, &arms[1].drop_count});
    for (uint32_t i = 0; joined && i < arms[0].bias_count; i++) {
        joined = add_mask(r, s->bias, &s->bias_count, arms[0].bias[i], s);
    }
    for (uint32_t i = 0; joined && i < arms[0].drop_count; i++) {
        joined = add_drop(r, s, arms[0].drop[i]);
    }
    return joined;
}

static bool has_zero_score(const Reader *r, const Val *v, int depth) {
    v = val_strip((Val *)(uintptr_t)v);
    if (v->op == OP_MASKED_FILL) return is_zero_score(r, v->args[0]);
    return v->op == V_PHI && depth < 4 && (has_zero_score(r, v->args[1], depth + 1) ||
                                           has_zero_score(r, v->args[2], depth + 1));
}

// zeros_like(scores) filled by a mask and then added is a fill of the scores.
static bool add_bias(Reader *r, Scores *s, Val *bias, int depth) {
    bias = read_open(r, bias);
    bool fills = has_zero_score(r, bias, 0);
    if (fills && bias->op == V_PHI) return add_bias_choice(r, s, bias, depth);
    if (fills && is_very_negative(bias->args[2])) {
        read_sees(r, bias);
        read_sees(r, bias->args[0]);
        see_constant(r, bias->args[2], 0);
        return add_drop(r, s, val_strip(bias->args[1]));
    }
    return add_mask(r, s->bias, &s->bias_count, bias, s);
}

// ---- sums -------------------------------------------------------------------

// A number, or -max(x), which a softmax along the same axis does not see.
static bool is_shift(const Val *v, Scores *out) {
    v = val_strip((Val *)(uintptr_t)v);
    if (val_is_number(v)) return true;
    Val *dim = NULL;
    if (v->op != OP_NEG || !op_below_largest(v->args[0], &dim)) return false;
    if (out->shift && out->shift != dim) return false;
    out->shift = dim;
    return true;
}

// c * (1 - g), c very negative, beside scores * g: a fill of the scores where g is 0.
static bool is_gate_fill(const Val *v, const Val *gate) {
    v = val_strip((Val *)(uintptr_t)v);
    if (v->op == OP_NEG) { // - 1e4 * (1 - g)
        const Val *m = val_strip(v->args[0]);
        if (m->op != OP_MUL) return false;
        for (int i = 0; i < 2; i++) {
            const Val *c = m->args[i];
            if (!val_is_number(c) || c->num < 9000) continue;
            v = m->args[1 - i];
        }
    } else if (v->op == OP_MUL) {
        int i = is_very_negative(v->args[0]) ? 0 : 1;
        if (!is_very_negative(v->args[i])) return false;
        v = v->args[1 - i];
    } else {
        return false;
    }
    v = val_strip((Val *)(uintptr_t)v);
    if (v->op != OP_ADD) return false;
    int one = val_is_int(v->args[0], 1) ? 0 : 1;
    const Val *rest = val_strip(v->args[1 - one]);
    return val_is_int(v->args[one], 1) && rest->op == OP_NEG && val_strip(rest->args[0]) == gate;
}

// The gate among the factors of the scores, where it is no tensor for all that is seen:
// scores * 0.125 * g.
static void find_gate(Scores *s, const Val *fill) {
    Val *scale = s->scale;
    if (!scale || s->gate) return;
    for (int i = -1; i < (scale->op == OP_MUL ? 2 : 0); i++) {
        Val *gate = val_strip(i < 0 ? scale : scale->args[i]);
        if (!is_gate_fill(fill, gate)) continue;
        s->gate = gate;
        s->scale = i < 0 ? NULL : scale->args[1 - i];
        return;
    }
}

static bool close_gate(Reader *r, Scores *out) {
    if (!is_zero_one(r->flow, out->gate)) {
        read_leaves(r, out->gate, "the scores are multiplied by g and -c * (1 - g) is added: a "
                                  "mask, if g holds 0 and 1 alone");
    }
    Val *zero = val_int(&r->flow->graph, 0);
    Val *drop = pyop2(r->flow, A_EQ, out->gate, zero);
    out->gate = NULL;
    return add_drop(r, out, drop);
}

// What is added to the scores, which were found in the other operand.
static bool read_summand(Reader *r, Val *other, Scores *out) {
    if (is_shift(other, out)) return true;
    find_gate(out, other);
    if (out->gate && is_gate_fill(other, out->gate)) return close_gate(r, out);
    return add_bias(r, out, other, 0);
}

// Reads one of the two operands, preferably one that is all in sight; `*other`: the
// one that was not read.
static bool read_either(Reader *r, Val *v, Scores *out, Val **other, int depth) {
    bool open = r->open, found = false;
    for (int pass = 0; !found && pass <= open; pass++) {
        r->open = pass;
        for (int i = 0; !found && i < 2; i++) {
            *out = (Scores){0};
            *other = v->args[1 - i];
            found = try_scores(r, v->args[i], out, depth + 1);
        }
    }
    r->open = open;
    return found;
}

static bool read_sum(Reader *r, Val *v, Scores *out, int depth) {
    read_sees(r, v);
    Val *other = NULL;
    if (read_either(r, v, out, &other, depth)) return read_summand(r, other, out);
    *out = (Scores){0};
    return read_scores(r, v->args[0], out, depth + 1); // for its reason
}

// `scale` given or not: the arm that is a number is taken where only one is.
static Val *factor_arm(Reader *r, Val *v) {
    v = val_strip(v);
    if (v->op != V_PHI || is_factor(r->flow, v)) return v;
    bool first = is_factor(r->flow, v->args[1]), second = is_factor(r->flow, v->args[2]);
    if (first == second) return v;
    Branch branch = {v->args[0], first, "the scores are multiplied by a tensor before the softmax",
                     true};
    vec_push(r->flow->arena, &r->out->branches, branch);
    read_sees(r, v);
    return (Val *)(uintptr_t)lone_number(v->args[first ? 1 : 2]);
}

static bool read_multiple(Reader *r, Val *v, Scores *out, int depth) {
    read_sees(r, v);
    for (int i = 0; i < 2; i++) {
        Val *factor = v->args[1 - i];
        if (is_factor(r->flow, v->args[i])) continue;
        *out = (Scores){0};
        if (!try_scores(r, v->args[i], out, depth + 1)) continue;
        factor = factor_arm(r, factor);
        if (is_factor(r->flow, factor)) {
            Val *both[] = {out->scale, val_strip(factor)};
            out->scale = out->scale ? op_make(r->flow, OP_MUL, both, 2) : both[1];
            return true;
        }
        if (is_head_factor(r->flow, factor, 0)) {
            r->out->trouble = "the scores are multiplied by a tensor, one number a head: "
                              "multiply the queries by it first";
            return true;
        }
        if (out->gate) return read_fails(r, v, "the scores are multiplied by tensors");
        out->gate = val_strip(factor);
        return true;
    }
    *out = (Scores){0};
    Val *inner = is_factor(r->flow, v->args[0]) ? v->args[1] : v->args[0];
    return read_scores(r, inner, out, depth + 1);
}

// ---- fills ------------------------------------------------------------------

// self.masked_bias = torch.tensor(-1e9): the module may change it, so it is said and
// nothing is written. The same of a registered buffer and of a number that a constructor is
// given where nothing else is.
static bool is_stored_low(Reader *r, const Val *v) {
    v = val_strip((Val *)(uintptr_t)lone_number(v));
    if (v->op != V_ATTR || !object_class(v->args[0])) return false;
    const Val *made = object_attr(r->flow, v->args[0], v->name);
    if (!made || made == v) made = object_buffer(r->flow, v->args[0], v->name);
    if (made && made->op == V_PARAM) made = flow_resolve(r->flow, (Val *)(uintptr_t)v).val;
    if (!made || made == v || !is_very_negative(made)) return false;
    r->out->trouble = "masked scores get a number that the module stores and may load: "
                      "it has to be very negative";
    return true;
}

static bool is_fill(Reader *r, const Val *v) {
    // torch.full_like(scores, c), in the shape of what it stands beside
    if (v->op == V_CALL && v->nargs >= 3 && val_is_global(v->args[0], "torch.full_like")) {
        v = v->args[2];
    }
    return is_very_negative(v) || is_stored_low(r, v);
}

static bool read_fill(Reader *r, Val *v, Scores *out, int depth) {
    read_sees(r, v);
    see_constant(r, v->args[2], 0);
    if (!read_scores(r, v->args[0], out, depth + 1)) return false;
    if (!is_fill(r, v->args[2])) {
        return read_fails(r, v,
                          "masked scores get a value that does not take them out of the softmax");
    }
    return add_drop(r, out, val_strip(v->args[1]));
}

static bool read_where(Reader *r, Val *v, Scores *out, int depth) {
    read_sees(r, v);
    Val *cond = val_strip(v->args[0]);
    bool keeps = is_fill(r, v->args[2]), drops = is_fill(r, v->args[1]);
    if (keeps == drops) {
        return read_fails(r, v,
                          "masked scores get a value that does not take them out of the softmax");
    }
    see_constant(r, v->args[keeps ? 2 : 1], 0);
    if (!read_scores(r, v->args[keeps ? 1 : 2], out, depth + 1)) return false;
    return add_drop(r, out, keeps ? inverted_mask(r->flow, cond) : cond);
}

// ---- choices ----------------------------------------------------------------

static bool join_scores(Reader *r, Val *v, Scores *a, Scores *b) {
    Val *cond = v->args[0];
    bool same = a->query == b->query && a->key == b->key && a->gate == b->gate &&
                strcmp(a->axes, b->axes) == 0;
    if (!same) {
        return read_fails(r, v, "a choice between two products of queries and keys");
    }
    Val *one = val_int(&r->flow->graph, 1);
    Val *sa = a->scale ? a->scale : one, *sb = b->scale ? b->scale : one;
    if (sa != sb) a->scale = val_new3(&r->flow->graph, V_PHI, cond, sa, sb);
    a->heads = a->heads ? a->heads : b->heads;
    if (!a->shift) a->shift = b->shift;
    if (b->shift && b->shift != a->shift) return read_fails(r, v, "a choice between two sums");
    a->flat_masks |= b->flat_masks;
    return join_masks(r, cond, (MaskList){a->bias, &a->bias_count},
                      (MaskList){b->bias, &b->bias_count}) &&
           join_masks(r, cond, (MaskList){a->drop, &a->drop_count},
                      (MaskList){b->drop, &b->drop_count});
}

// Of two arms the one that is given.
static bool read_arm(Reader *r, Val *v, Scores *out, int arm, int depth) {
    Branch branch = {v->args[0], arm == 0, "the keys have one head", true};
    vec_push(r->flow->arena, &r->out->branches, branch);
    *out = (Scores){0};
    return read_scores(r, v->args[1 + arm], out, depth + 1);
}

// Of two arms the one that is attention; the other is left to the original.
static bool read_choice(Reader *r, Val *v, Scores *out, int depth) {
    read_sees(r, v);
    Scores arms[2] = {{0}, {0}};
    const char *why[2] = {0};
    bool fine[2];
    const Attempt start = begin(r);
    for (int i = 0; i < 2; i++) {
        Attempt was = begin(r);
        fine[i] = read_scores(r, v->args[1 + i], &arms[i], depth + 1);
        if (!fine[i]) {
            why[i] = r->out->reason;
            if (i == 0 || fine[0]) drop_attempt(r, &was);
        }
    }
    if (!fine[0] && !fine[1]) return false;
    if (fine[0] && fine[1] && !arms[0].one_head != !arms[1].one_head) {
        drop_attempt(r, &start);
        return read_arm(r, v, out, !!arms[0].one_head, depth);
    }
    *out = arms[fine[0] ? 0 : 1];
    if (fine[0] && fine[1]) return join_scores(r, v, out, &arms[1]);
    Branch branch = {v->args[0], fine[0], why[fine[0] ? 1 : 0], true};
    vec_push(r->flow->arena, &r->out->branches, branch);
    return true;
}

// ---- all of it --------------------------------------------------------------

// Whether the size may be that of axis -2 of `x`; of x itself it has to be.
static bool may_be_length(const Val *size, const Val *x, const Scores *s) {
    if (val_is_number(size)) return val_is_int(size, -1);
    if (size->op != V_SIZE || val_strip(size->args[0]) != val_strip((Val *)(uintptr_t)x)) {
        return true;
    }
    return val_is_int(size->args[1], -2) || val_is_int(size->args[1], (int64_t)strlen(s->axes) - 2);
}

// The last two axes stay queries and keys; the first is open or computed.
static bool keeps_scores(const Val *sizes, const Scores *s) {
    uint32_t n = sizes->nargs;
    if (n < 3 || n > 4 || sizes->args[n - 1]->op == V_STAR) return true;
    bool open = !val_is_number(sizes->args[0]) || val_is_int(sizes->args[0], -1);
    bool one = val_is_int(sizes->args[n - 2], 1); // a step of decoding: one query
    return open && (one || may_be_length(sizes->args[n - 2], s->query, s)) &&
           may_be_length(sizes->args[n - 1], s->key, s);
}

// Whether batch and heads of the keys are those of the queries, and not broadcast.
static bool has_all_heads(Reader *r, Val *query, Val *key) {
    Graph *g = &r->flow->graph;
    for (int axis = 0; axis < 2; axis++) {
        Val *at = val_int(g, axis);
        if (op_size(r->flow, query, at) != op_size(r->flow, key, at)) return false;
    }
    return true;
}

// (b, n, q, k) seen as (b * n, q, k): query and key are seen so, too.
static bool fold_heads(Reader *r, Scores *out) {
    bool fits = out->rank == 4 && !out->heads && !out->one_head &&
                strcmp(out->query_axes, "BNQD") == 0 && strcmp(out->key_axes, "BNKD") == 0 &&
                strcmp(out->axes, "BNQK") == 0;
    if (!fits) return false;
    if (!has_all_heads(r, out->query, out->key)) {
        r->out->trouble = "heads are folded into the batch: the keys need as many as the queries";
    }
    Graph *g = &r->flow->graph;
    Val *first = val_int(g, 0), *second = val_int(g, 1);
    out->heads = op_size(r->flow, out->query, second);
    out->query = val_new3(g, OP_FLATTEN, out->query, first, second);
    out->key = val_new3(g, OP_FLATTEN, out->key, first, second);
    memcpy(out->query_axes, "NQD", 4);
    memcpy(out->key_axes, "NKD", 4);
    memcpy(out->axes, "NQK", 4);
    out->rank = 3;
    return true;
}

// (b * n, q, k) seen as (b, n, q, k), and back.
static bool read_view(Reader *r, Val *v, Scores *out, int depth) {
    read_sees(r, v);
    if (!read_scores(r, v->args[0], out, depth + 1)) return false;
    uint32_t rank = v->args[1]->nargs;
    if (rank > 4) r->out->trouble = "the scores are seen with more axes than four";
    bool one = rank > 2 && val_is_int(v->args[1]->args[rank - 2], 1);
    if (one) r->out->trouble = "the scores are seen as those of one query";
    if (!keeps_scores(v->args[1], out)) {
        return read_fails(r, v, "the scores are taken apart before the softmax");
    }
    if (rank == 3 && fold_heads(r, out)) return true;
    if (out->rank == 3 && rank == 4 && !out->heads) {
        out->heads = v->args[1]->args[1];
        out->rank = 4;
        return true;
    }
    if (out->heads && (rank == 3 || rank == 4)) {
        out->rank = rank;
        return true;
    }
    if (out->rank == 0 || rank == out->rank) return true; // of one shape
    return read_fails(r, v, "the scores are taken apart before the softmax");
}

// What makes of scores something else: they are read all the same, so that it
// is known that they were scores.
static bool spoils(Reader *r, Val *v, Val *inner, int depth, const char *reason) {
    Scores ignored = {0};
    read_fails(r, v, reason);
    read_scores(r, inner, &ignored, depth + 1);
    return false;
}

static bool read_clamp(Reader *r, Val *v, Scores *out, int depth) {
    read_sees(r, v);
    bool open = val_is_none(v->args[2]) && is_very_negative(v->args[1]);
    if (!open) {
        return spoils(r, v, v->args[0], depth, "the scores are clamped before the softmax");
    }
    return read_scores(r, v->args[0], out, depth + 1);
}

// A call of which nothing is known: one of its arguments may be the scores.
static bool read_unread_call(Reader *r, Val *v, Scores *out, int depth) {
    bool unread = takes_unread(r, v);
    r->met_unread |= unread;
    for (uint32_t i = 1; r->open && unread && i < v->nargs; i++) {
        *out = (Scores){0};
        if (!try_scores(r, v->args[i], out, depth + 1)) continue;
        read_leaves(r, v, "what is done to the scores is not in sight");
        return true;
    }
    return false;
}

// a += b in a loop: all that is added is one bias.
static bool read_loop_sum(Reader *r, Val *v, Scores *out, int depth) {
    r->met_unread = true;
    if (!r->open || !read_scores(r, v->args[0], out, depth + 1)) return false;
    read_leaves(r, v, "a loop adds tensors to the scores: biases, or masks, to be joined first");
    return true;
}

static bool read_other(Reader *r, Val *v, Scores *out, int depth) {
    switch ((int)v->op) {
    case V_OPAQUE:
        if (v->nargs && v->ck == A_ADD && read_loop_sum(r, v, out, depth)) return true;
        break;
    case OP_TANH:
        return spoils(r, v, v->args[0], depth,
                      "the scores are soft-capped by tanh before the softmax");
    case OP_CAT:
        return spoils(r, v, v->args[0]->nargs ? v->args[0]->args[0] : v->args[0], depth,
                      "a column is joined to the scores before the softmax (a sink)");
    case OP_MAX: // torch.max(scores, finfo.min)
        if (!is_very_negative(v->args[1])) break;
        read_sees(r, v);
        see_constant(r, v->args[1], 0);
        return read_scores(r, v->args[0], out, depth + 1);
    case V_CALL:
        if (read_unread_call(r, v, out, depth)) return true;
        break;
    default: break;
    }
    return read_fails(r, v, "the softmax is not over a product of queries and keys");
}

bool read_scores(Reader *r, Val *v, Scores *out, int depth) {
    if (depth > SCORES_MAX_DEPTH || ++r->steps > SCORES_MAX_STEPS) {
        return read_fails(r, v, "the scores are too deep to read");
    }
    v = read_open(r, v);
    vec_push(r->flow->arena, &r->out->scores, v);
    switch ((int)v->op) {
    case OP_MATMUL: case OP_EINSUM: {
        bool product = read_product(r, v, out);
        r->out->product |= product;
        return product;
    }
    case OP_ADD: return read_sum(r, v, out, depth);
    case OP_MUL: return read_multiple(r, v, out, depth);
    case OP_MASKED_FILL: return read_fill(r, v, out, depth);
    case OP_WHERE: return read_where(r, v, out, depth);
    case V_PHI: return read_choice(r, v, out, depth);
    case OP_VIEW: return read_view(r, v, out, depth);
    case OP_CLAMP: return read_clamp(r, v, out, depth);
    default: return read_other(r, v, out, depth);
    }
}
