// matcher.c - structural matching with bindings that are undone on backtrack.
//
// Casts are transparent here; what they do to the result is worked out from
// the matched values afterwards (dtype.c). Products and sums match as sets.
#include "base/base.h"

#include "match/matcher.h"
#include "match/number.h"

enum { MATCH_MAX_DEPTH = 64, MATCH_MAX_STEPS = 20000, CHOICES_MAX = 8 };

typedef struct State {
    Match *m;
    uint32_t steps;
    bool chose;    // a free parameter had several factors to stand for
    bool backward; // it takes the last of them first
} State;

typedef struct Mark {
    Val *bound[RULE_MAX_PARAMS];
    uint32_t seen, default_count, last_axis, choice_count;
    bool halves;
    Val *size, *size_root, *cut_tensor, *cut_at;
} Mark;

static Mark mark_state(const Match *m) {
    Mark mark = {.seen = m->seen.len, .default_count = m->default_count,
                 .last_axis = m->last_axis,
                 .choice_count = m->choice_count, .halves = m->halves, .size = m->size,
                 .size_root = m->size_root,
                 .cut_tensor = m->cut_tensor, .cut_at = m->cut_at};
    memcpy(mark.bound, m->bound, sizeof(mark.bound));
    return mark;
}

static void undo(Match *m, const Mark *mark) {
    memcpy(m->bound, mark->bound, sizeof(mark->bound));
    m->seen.len = mark->seen;
    m->default_count = mark->default_count;
    m->last_axis = mark->last_axis;
    m->choice_count = mark->choice_count;
    m->halves = mark->halves;
    m->size = mark->size;
    m->size_root = mark->size_root;
    m->cut_tensor = mark->cut_tensor;
    m->cut_at = mark->cut_at;
}

static bool differ(State *s, const Val *want, const Val *got) {
    Match *m = s->m;
    if (m->seen.len >= m->best_seen) {
        m->best_seen = m->seen.len;
        m->want = want;
        m->got = got;
        m->had = want && want->op == V_PARAM ? m->bound[(uint32_t)want->num] : NULL;
    }
    return false;
}

static void see(State *s, Val *u) {
    vec_push(s->m->flow->scratch, &s->m->seen, u);
    // What a branch chooses from goes with what is chosen.
    Val *choice = u->assume ? u->assume->choice : NULL;
    for (int i = 0; choice && i < CHOICES_MAX; i++) {
        for (; choice->op == V_CAST; choice = choice->args[0]) {
            vec_push(s->m->flow->scratch, &s->m->seen, choice);
        }
        vec_push(s->m->flow->scratch, &s->m->seen, choice);
        if (choice->op != V_PHI) break;
        vec_push(s->m->flow->scratch, &s->m->seen, choice->args[1]);
        choice = choice->args[2];
    }
}

static bool match(State *s, Val *p, Val *u, int depth);

// Below casts and copies; both are part of the computation.
static Val *open_value(State *s, Val *u) {
    for (;;) {
        Val *inner = val_strip(u);
        for (Val *c = u; c != inner; c = c->args[0]) see(s, c);
        if (inner->op != OP_CONTIGUOUS && inner->op != OP_CLONE) return inner;
        see(s, inner);
        u = inner->args[0];
    }
}

static bool bind_param(State *s, Val *p, Val *u) {
    uint32_t i = (uint32_t)p->num;
    Val *x = s->m->spec->rule->params[i].scalar ? u : open_value(s, u);
    if (val_is_none(x)) return differ(s, p, u);
    const Val *bound = s->m->bound[i];
    bool equal = bound && val_is_number(bound) && val_is_number(x) && bound->num == x->num;
    if (bound) return bound == x || equal || differ(s, p, u);
    bool scalar = s->m->spec->rule->params[i].scalar;
    bool fits = s->m->spec->rule->params[i].text ? x->op == V_ATTR || x->op == V_PARAM
                : scalar ? s->m->attend || may_be_number(s->m->flow, x) // asked already
                       : !is_number(s->m->flow, x);
    if (!fits) return differ(s, p, u);
    s->m->bound[i] = x;
    return true;
}

// ---- the last axis ------------------------------------------------------------

enum { AXIS_MAX = 7 };

// An axis counted from the front, where the rule has the last one: right if x
// has so many axes, which the guard tests. Of rules about a part of the last axis,
// whose inner values all have the axes of x.
static bool take_last_axis(State *s, double axis) {
    Match *m = s->m;
    if (m->spec->rule->part.len == 0 || axis < 1 || axis > AXIS_MAX) return false;
    if (m->last_axis && m->last_axis != (uint32_t)axis) return false;
    m->last_axis = (uint32_t)axis;
    return true;
}

static bool match_axis(State *s, Val *p, Val *u, int depth) {
    if (val_is_int(p, -1) && val_is_number(u) && take_last_axis(s, u->num)) return true;
    return match(s, p, u, depth);
}

// ---- halves -----------------------------------------------------------------

static bool is_whole(const Val *v) {
    return v->op == V_SLICE && val_is_none(v->args[0]) && val_is_none(v->args[1]) &&
           val_is_none(v->args[2]);
}

// x[..., :d] is (x, None, d) and x[..., d:] is (x, d, None), on the last axis.
// x[:, :, :d] too, where x has as many axes.
static bool last_axis_slice(State *s, const Val *u, const Val **slice) {
    if (u->op != V_ITEM) return false;
    const Val *index = u->args[1];
    if (index->op != V_TUPLE || index->nargs < 2) return false;
    *slice = index->args[index->nargs - 1];
    if ((*slice)->op != V_SLICE || !val_is_none((*slice)->args[2])) return false;
    bool rest = val_is_ellipsis(index->args[0]);
    if (rest) return index->nargs == 2;
    for (uint32_t i = 0; i + 1 < index->nargs; i++) {
        if (!is_whole(index->args[i])) return false;
    }
    return take_last_axis(s, index->nargs - 1);
}

// x[..., :1] and x[..., 1:]: the one column is broadcast over the others.
static bool cuts_one(const State *s, Val *at) {
    if (!val_is_number(at)) {
        Resolved r = flow_resolve(s->m->flow, at);
        if (r.val) at = r.val;
    }
    return val_is_int(at, 1) || val_is_int(at, -1);
}

// part(x, -1, i, 2) against x[..., :d] and x[..., d:]: both with the same d;
// that the halves are equal follows from their product being computed.
static bool match_cut(State *s, Val *p, Val *u, int depth) {
    const Val *slice;
    if (!last_axis_slice(s, u, &slice) || !val_is_int(p->args[3], 2)) {
        return differ(s, p, u);
    }
    bool first = val_is_int(p->args[2], 0);
    Val *low = slice->args[0], *high = slice->args[1];
    Val *at = first ? high : low;
    bool open_low = val_is_none(low) || val_is_int(low, 0);
    if (first ? !open_low || val_is_none(high) : val_is_none(low) || !val_is_none(high)) {
        // x[..., d : 2 * d] ends where x ends only if the sizes say so.
        return differ(s, p, u);
    }
    if (cuts_one(s, at) || op_cuts_elsewhere(s->m->flow, u->args[0], at)) return differ(s, p, u);
    if (s->m->cut_at && (s->m->cut_at != at || s->m->cut_tensor != u->args[0])) {
        return differ(s, p, u);
    }
    s->m->cut_at = at;
    s->m->cut_tensor = u->args[0];
    see(s, u);
    s->m->halves = true;
    Val *axis = val_int(&s->m->flow->graph, -1);
    return match(s, p->args[1], axis, depth + 1) &&
           match(s, p->args[0], u->args[0], depth + 1);
}

static bool match_part(State *s, Val *p, Val *u, int depth) {
    if (u->op != V_PART) return match_cut(s, p, u, depth);
    if (p->args[2]->num != u->args[2]->num || p->args[3]->num != u->args[3]->num) {
        return differ(s, p, u);
    }
    see(s, u);
    s->m->halves = true;
    return match_axis(s, p->args[1], u->args[1], depth + 1) &&
           match(s, p->args[0], u->args[0], depth + 1);
}

// ---- products and sums ------------------------------------------------------

static bool is_of_params(const Val *p) {
    return p->op == V_PARAM || (p->op == OP_MUL && is_of_params(val_strip(p->args[0])) &&
                                is_of_params(val_strip(p->args[1])));
}

// Operators first, then what is bound already, then what fits in several ways:
// products of parameters, and free parameters. A choice within a term of a sum
// is not taken back for another term.
static int factor_rank(const State *s, const Val *p) {
    if (p->op == V_PARAM) return s->m->bound[(uint32_t)p->num] ? 1 : 3;
    return is_of_params(p) ? 2 : 0;
}

typedef struct Pairing {
    const Factors *ps, *us;
    int depth;
} Pairing;

// x * y, -(x * y): a product of signs, numbers and factors.
static bool is_product(const Val *p) {
    if (p->op == OP_NEG) p = val_strip(p->args[0]);
    return p->op == OP_MUL;
}

// Whether the operators alone rule out that `got` is what is wanted.
static bool is_hopeless(const Val *want, const Val *got) {
    if (want->op == got->op || got->op == V_PHI || is_product(want)) return false;
    return want->op != V_PARAM && want->op != V_PART &&
           !(want->op == OP_SQRT && got->op == V_ATTR) && want->op != OP_ADD;
}

static uint32_t next_factor(const State *s, const Factors *ps, uint32_t used) {
    uint32_t best = ps->len;
    for (uint32_t i = 0; i < ps->len; i++) {
        if (used >> i & 1) continue;
        if (best == ps->len ||
            factor_rank(s, ps->at[i]) < factor_rank(s, ps->at[best])) {
            best = i;
        }
    }
    return best;
}

// Pairs pattern factors with the user's; the bits say which are taken.
static bool match_factors(State *s, const Pairing *pair, uint32_t p_used,
                          uint32_t u_used) {
    const Factors *ps = pair->ps, *us = pair->us;
    int depth = pair->depth;
    uint32_t p = next_factor(s, ps, p_used), taken = 0;
    if (p == ps->len) return true;
    for (uint32_t u = 0; u < us->len; u++) taken += u_used >> u & 1;
    if (factor_rank(s, ps->at[p]) == 3 && us->len - taken > 1) s->chose = true;
    for (uint32_t i = 0; i < us->len; i++) {
        uint32_t u = s->backward ? us->len - 1 - i : i;
        if (u_used >> u & 1) continue;
        Val *want = ps->at[p], *got = us->at[u];
        if (is_hopeless(want, got)) continue;
        Mark mark = mark_state(s->m);
        if (match(s, want, got, depth + 1) &&
            match_factors(s, pair, p_used | 1u << p, u_used | 1u << u)) {
            return true;
        }
        undo(s->m, &mark);
    }
    return differ(s, ps->at[p], us->len ? us->at[0] : NULL);
}

static bool match_lists(State *s, const Factors *ps, const Factors *us,
                        int depth) {
    bool same_size = ps->len == us->len && !us->overflow && !ps->overflow;
    double gap = ps->coefficient - us->coefficient;
    if (!same_size || gap > 1e-9 || gap < -1e-9) return false;
    // A GELU that stands alone in a rule is one that is written out: torch's own
    // is one kernel already.
    if (ps->gelu && ps->len == 1 && !us->gelu) return false;
    Mark mark = mark_state(s->m);
    for (uint32_t i = 0; i < us->seen.len; i++) see(s, us->seen.at[i]);
    Pairing pair = {ps, us, depth};
    if (match_factors(s, &pair, 0, 0)) return true;
    undo(s->m, &mark);
    return false;
}

// Whether a parameter that is a number is a factor, and the pattern's only one.
static bool takes_number(const State *s, const Factors *ps) {
    for (uint32_t i = 0; ps->coefficient == 1 && i < ps->len; i++) {
        const Val *p = ps->at[i];
        if (p->op == V_PARAM && s->m->spec->rule->params[(uint32_t)p->num].scalar) return true;
    }
    return false;
}

// All factors of the product at once, else fewer: in silu(gate) * (a * b) and in
// silu(gate) * (2 * a) a parameter may stand for the inner product.
static bool match_product(State *s, Val *p, Val *u, int depth) {
    Factors ps, us;
    Flow *flow = s->m->flow;
    product_factors(&ps, flow, p);
    product_factors(&us, flow, u);
    s->m->steps += us.steps;
    if (match_lists(s, &ps, &us, depth)) return true;
    if (ps.gelu && !us.gelu) { // how near is what is no GELU?
        product_factors_written(&ps, flow, p);
        if (match_lists(s, &ps, &us, depth)) return true;
    }
    if (ps.coefficient != 1 && us.len > ps.len) { // 1.702 written as self.alpha
        Factors known;
        product_factors_numbers(&known, flow, u);
        if (match_lists(s, &ps, &known, depth)) return true;
    }
    if (us.coefficient != 1 && takes_number(s, &ps) && us.len < FACTORS_MAX) {
        Factors offered = us; // gate * 1.702 against gate * alpha
        offered.at[offered.len++] = val_number(&flow->graph, us.coefficient);
        offered.coefficient = 1;
        if (match_lists(s, &ps, &offered, depth)) return true;
    }
    bool more = us.len > ps.len || us.coefficient != ps.coefficient;
    for (int level = 1; more && level <= 3; level++) {
        Factors fewer;
        product_factors_to(&fewer, flow, u, level);
        bool other = fewer.len < us.len || fewer.coefficient != us.coefficient;
        if (other && match_lists(s, &ps, &fewer, depth)) return true;
    }
    return differ(s, p, u);
}

// c + x against eps + x: the constant may be a parameter.
static void offer_constant(const Factors *ps, Factors *us, Flow *flow) {
    if (us->coefficient == 0 || ps->coefficient != 0 || us->len == FACTORS_MAX) return;
    us->at[us->len++] = val_number(&flow->graph, us->coefficient);
    us->coefficient = 0;
}

static bool match_sum(State *s, Val *p, Val *u, int depth) {
    Factors ps, us;
    Flow *flow = s->m->flow;
    sum_terms(&ps, flow, p);
    sum_terms(&us, flow, u);
    s->m->steps += us.steps;
    offer_constant(&ps, &us, flow);
    if (match_lists(s, &ps, &us, depth)) return true;
    for (int level = 1; us.len > ps.len && level <= 3; level++) {
        Factors fewer; // a parameter may stand for an inner sum
        sum_terms_to(&fewer, flow, u, level);
        offer_constant(&ps, &fewer, flow);
        if (fewer.len < us.len && match_lists(s, &ps, &fewer, depth)) return true;
    }
    return differ(s, p, u);
}

// ---- all other values -------------------------------------------------------

static bool take_number(Match *m, Val *subject, double num, bool axes) {
    for (uint32_t i = 0; i < m->default_count; i++) {
        if (m->defaults[i].subject == subject) return m->defaults[i].num == num;
    }
    if (m->default_count == DEFAULTS_MAX) return false;
    m->defaults[m->default_count++] = (DefaultNumber){subject, num, axes};
    return true;
}

// The axes from the last one on, as many as a shape has: tuple(range(-n, 0)),
// tuple(range(-1, -n - 1, -1)).
static bool counts_from_last(Flow *flow, Val *u) {
    if (u->op == V_ATTR && object_class(u->args[0])) u = object_attr(flow, u->args[0], u->name);
    if (!u || u->op != V_CALL || u->nargs != 2) return false;
    if (!val_is_global(u->args[0], "tuple") && !val_is_global(u->args[0], "list")) return false;
    const Val *range = u->args[1];
    bool ranges = range->op == V_CALL && val_is_global(range->args[0], "range");
    if (!ranges || range->nargs < 3) return false;
    if (range->nargs == 3) return val_is_int(range->args[2], 0);
    return val_is_int(range->args[1], -1) && val_is_int(range->args[3], -1);
}

// mean(self.dim) of __init__(self, dim=-1), mean(dim) of f(x, dim=-1)
static bool match_default(State *s, const Val *p, Val *u) {
    if (!val_is_number(p) || (u->op != V_ATTR && u->op != V_PARAM)) return false;
    Match *m = s->m;
    Resolved r = flow_resolve(m->flow, u);
    if (!r.val || !val_near(r.val, p->num)) return false;
    return take_number(m, u, p->num, false);
}

static bool match_const(State *s, Val *p, Val *u) {
    if (match_default(s, p, u)) return true;
    if (val_is_int(p, -1) && counts_from_last(s->m->flow, u)) {
        return take_number(s->m, u, -1, true) || differ(s, p, u);
    }
    if (is_very_negative(p) && is_very_negative(u)) return true; // leaves a score out
    bool numbers = val_is_number(p) && val_is_number(u);
    bool same = numbers ? val_near(u, p->num)
                        : p->ck == u->ck && u->op == V_CONST && str_eq(p->text, u->text);
    return same || differ(s, p, u);
}

// sqrt(size(x, -1)) against self.scale = dim ** 0.5: that `dim` is the size
// is left to who asks (candidate.c).
static bool match_root_of_size(State *s, const Val *p, Val *u) {
    if (p->op != OP_SQRT || p->args[0]->op != V_SIZE) return false;
    if (u->op != V_ATTR || !object_class(u->args[0])) return false;
    Val *made = object_attr(s->m->flow, u->args[0], u->name);
    if (!made || made->op != OP_SQRT || made->args[0]->op != V_PARAM) return false;
    if (s->m->size && s->m->size != made->args[0]) return false;
    s->m->size = made->args[0];
    s->m->size_root = u;
    return true;
}

// What the condition is by default: 1, 0, or -1 where nothing in sight says.
static int default_truth(Flow *flow, Val *cond) {
    bool negated = cond->op == V_PYOP && cond->ck == A_NOT;
    Val *of = negated ? cond->args[0] : cond;
    if (of->op != V_PARAM && of->op != V_ATTR) return -1;
    Resolved r = flow_resolve(flow, of);
    int truth = r.val ? val_truth(r.val) : -1;
    return truth < 0 ? -1 : truth != negated;
}

// Whether the arm may be taken: it agrees with what was taken before, and, where
// the condition has a default, with that.
static bool take_choice(State *s, Val *cond, bool holds) {
    Match *m = s->m;
    for (uint32_t i = 0; i < m->choice_count; i++) {
        if (m->choices[i].cond == cond) return m->choices[i].holds == holds;
    }
    int usual = default_truth(m->flow, cond);
    if ((usual >= 0 && usual != holds) || m->choice_count == BRANCHES_MAX) return false;
    m->choices[m->choice_count++] = (Branch){.cond = cond, .holds = holds};
    return true;
}

// pairs or halves by a flag: one arm, under its condition.
static bool match_choice(State *s, Val *p, Val *u, int depth) {
    if (s->m->spec->rule->part.len == 0) return differ(s, p, u);
    for (int arm = 1; arm <= 2; arm++) {
        Mark mark = mark_state(s->m);
        if (take_choice(s, u->args[0], arm == 1)) {
            if (match(s, p, u->args[arm], depth + 1)) {
                see(s, u);
                return true;
            }
        }
        undo(s->m, &mark);
    }
    return differ(s, p, u);
}

Val *below_flat(const Val *v) {
    if (v->op != OP_FLATTEN || !val_is_number(v->args[1]) || !val_is_int(v->args[2], -1)) {
        return NULL;
    }
    const Val *wide = val_strip(v->args[0]);
    bool adds = wide->op == OP_UNSQUEEZE && val_is_int(wide->args[1], -1);
    return adds && v->args[1]->num >= 1 ? val_strip(wide->args[0]) : NULL;
}

static bool match(State *s, Val *p, Val *u, int depth) {
    if (depth > MATCH_MAX_DEPTH || ++s->steps > MATCH_MAX_STEPS) return false;
    p = val_strip(p);
    if (p->op == V_PARAM) return bind_param(s, p, u);
    u = open_value(s, u);
    if (p->op == V_CONST) return match_const(s, p, u);
    if (u->op == V_PHI) return match_choice(s, p, u, depth);
    Val *bare = p->op == u->op ? NULL : below_flat(u);
    if (bare && take_last_axis(s, u->args[1]->num)) {
        see(s, u);
        see(s, val_strip(u->args[0]));
        u = bare;
    }
    if (p->op == V_PART) return match_part(s, p, u, depth);
    bool silu = p->op == OP_SILU && u->op == OP_MUL; // x * sigmoid(x)
    if (is_product(p) || silu) return match_product(s, p, u, depth);
    if (p->op == OP_ADD) return match_sum(s, p, u, depth);
    if (match_root_of_size(s, p, u)) return true;
    if (p->op == OP_NEG && val_is_number(u)) { // -limit, written as -7.0
        return match(s, p->args[0], val_number(&s->m->flow->graph, -u->num), depth + 1);
    }
    if (p->op != u->op || p->nargs != u->nargs || p->ck != u->ck) {
        return differ(s, p, u);
    }
    if (p->op == V_GLOBAL && !str_eq(p->text, u->text)) return differ(s, p, u);
    if (p->op == V_ATTR && p->name != u->name) return differ(s, p, u);
    see(s, u);
    for (uint32_t i = 0; i < p->nargs; i++) {
        bool axis = p->op == OP_CAT && i == 1;
        bool fits = axis ? match_axis(s, p->args[i], u->args[i], depth + 1)
                         : match(s, p->args[i], u->args[i], depth + 1);
        if (!fits) return false;
    }
    return true;
}

// Attention is compared in its summary.
static bool match_attention(Match *out, State *s, Val *u) {
    out->attend = attend_of(out->flow, u);
    if (!out->attend) return false;
    if (!out->attend->form) {
        out->got = out->attend->at;
        return false;
    }
    for (uint32_t i = 0; i < out->attend->seen.len; i++) see(s, out->attend->seen.at[i]);
    return match(s, out->spec->pattern, out->attend->form, 0);
}

bool match_value(Match *out, Flow *flow, const Spec *spec, Val *u) {
    *out = (Match){.spec = spec, .flow = flow};
    State s = {.m = out};
    if (spec->pattern->op == OP_ATTEND) return match_attention(out, &s, u);
    Mark mark = mark_state(out);
    bool matches = match(&s, spec->pattern, u, 0);
    out->steps += s.steps;
    if (matches || !s.chose) return matches;
    // scale * (a * sin): what stands for `sin` here may be wrong for the next
    // term, and is not taken back there.
    undo(out, &mark);
    State again = {.m = out, .backward = true};
    matches = match(&again, spec->pattern, u, 0);
    out->steps += again.steps;
    return matches;
}

Val *attend_input(const Match *match, int arg) {
    const Val *param = match->spec->pattern->args[arg];
    return param->op == V_PARAM ? match->bound[(uint32_t)param->num] : NULL;
}

static bool depends(const Val *v, const Val *part, uint32_t *steps) {
    if (v == part) return true;
    if (++*steps > 4000) return true; // too large to tell: assume so
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (depends(v->args[i], part, steps)) return true;
    }
    return false;
}

bool val_depends(const Val *v, const Val *part) {
    uint32_t steps = 0;
    return depends(v, part, &steps);
}

static uint32_t add_assumption(const Assumption **out, uint32_t count, const Assumption *a) {
    for (uint32_t k = 0; k < count; k++) {
        if (out[k]->subject == a->subject) return count;
    }
    if (count < ASSUMPTIONS_MAX) out[count++] = a;
    return count;
}

static bool was_seen(const Match *match, const HandedIn *made) {
    for (uint32_t i = 0; i < match->seen.len; i++) {
        const Val *v = match->seen.at[i];
        if (v->id >= made->from && v->id < made->to && v->op > V_CALL) return true;
    }
    return false;
}

// That an object is of the class that its annotation names.
static const Assumption *by_annotation(const Frame *f, const HandedIn *made) {
    Assumption *a = NEW(f->flow->arena, Assumption);
    Str name = sym_str(made->param->def->node->u.class_->name);
    *a = (Assumption){.subject = (Val *)(uintptr_t)made->param, .claim = name,
                      .type_name = name, .from_config = true, .by_annotation = true};
    return a;
}

uint32_t match_assumptions(const Frame *f, const Match *match,
                           const Assumption *out[ASSUMPTIONS_MAX]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < match->seen.len; i++) {
        for (const Assumption *a = match->seen.at[i]->assume; a; a = a->inner) {
            count = add_assumption(out, count, a);
        }
    }
    for (uint32_t i = 0; i < f->handed.len; i++) {
        if (!was_seen(match, &f->handed.at[i])) continue;
        count = add_assumption(out, count, by_annotation(f, &f->handed.at[i]));
    }
    return count;
}
