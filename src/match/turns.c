// turns.c - finds rotations of pairs by their sums, or by a complex product.
#include "base/base.h"

#include "match/turns.h"

#include "match/caller.h"
#include "match/rule.h"

enum {
    SUMS_MAX = 64, // of a function
    SIDES_MAX = 3, // factors beside the part
    PEEL_MAX = 8,
    ROW_DEPTH = 6, // operators around a row of sums
    STORE_DEPTH = 64, // of nested statements
};

// ---- parts of a tensor ------------------------------------------------------------

typedef struct Part {
    Val *of;
    const Val *key; // what tells it from the other part
    bool by_axis;   // pairs have an axis of their own, and the part is one index of it
} Part;

// Below a copy, and what only adds or takes an axis of length one.
static Val *peel(Val *v) {
    for (int i = 0; i < PEEL_MAX; i++) {
        v = val_strip(v);
        if (v->op != OP_UNSQUEEZE && v->op != OP_SQUEEZE && v->op != OP_CONTIGUOUS &&
            v->op != OP_CLONE) {
            return v;
        }
        v = v->args[0];
    }
    return v;
}

static bool is_rearranged(const Val *v) {
    return v->op == V_CALL && val_is_global(v->args[0], "einops.rearrange");
}

static bool has_two(const Val *v) {
    for (uint32_t i = 0; i < v->nargs; i++) {
        const Val *arg = v->args[i]->op == V_KEYWORD ? v->args[i]->args[0] : v->args[i];
        if (val_is_int(arg, 2)) return true;
    }
    return false;
}

// A view that gives pairs an axis of length two, beside at least two others.
static bool is_view_of_pairs(const Val *v) {
    if (is_rearranged(v)) return has_two(v);
    if (v->op == OP_UNFLATTEN) return v->args[2]->op == V_TUPLE && has_two(v->args[2]);
    if (v->op != OP_VIEW || v->args[1]->op != V_TUPLE) return false;
    return v->args[1]->nargs >= 3 && has_two(v->args[1]);
}

// An axis that is cut in halves: not that of the batch.
static bool is_inner_axis(const Val *axis, const Val *of) {
    if (!val_is_number(axis)) return false;
    return axis->num == -1 || axis->num >= 2 || is_view_of_pairs(of);
}

// x[..., :d] and x[..., d:], of more than one column.
static bool is_wide_slice(const Val *v) {
    if (v->op != V_SLICE) return false;
    const Val *low = v->args[0], *high = v->args[1];
    if (val_is_none(low) && val_is_none(high)) return !val_is_none(v->args[2]);
    double from = val_is_number(low) ? low->num : 0;
    return !val_is_number(high) || high->num - from > 1;
}

static bool item_part(Part *out, Val *v) {
    Val *of = v->args[0];
    const Val *index = v->args[1];
    *out = (Part){.of = of, .key = index};
    if (val_is_number(index)) { // a, b = y.unbind(-1); a, b, rest = x.split(sizes, -1)
        bool split = of->op == OP_SPLIT && is_inner_axis(of->args[2], of->args[0]);
        bool bound = of->op == OP_UNBIND && is_view_of_pairs(of->args[0]);
        out->by_axis = !split;
        return split || bound || (is_rearranged(of) && has_two(of));
    }
    if (index->op != V_TUPLE || index->nargs < 2) return false;
    const Val *last = index->args[index->nargs - 1];
    if (last->op == V_SLICE && val_is_ellipsis(index->args[0])) {
        const Val *second = index->nargs == 3 ? index->args[1] : NULL; // y[..., 0, :]
        out->by_axis = second && val_is_number(second);
        if (out->by_axis) return is_view_of_pairs(of);
        return index->nargs == 2 && is_wide_slice(last);
    }
    if (last->op == V_SLICE) return is_wide_slice(last); // x[:, :, :d]
    out->by_axis = true;
    return val_is_number(last) && is_view_of_pairs(of);
}

static bool part_of(Part *out, Val *v) {
    v = peel(v);
    switch ((int)v->op) {
    case V_PART:
        *out = (Part){.of = v->args[0], .key = v->args[2]};
        return val_is_int(v->args[3], 2) && is_inner_axis(v->args[1], v->args[0]);
    case OP_STRIDED:
        *out = (Part){.of = v->args[0], .key = v->args[1]};
        return true;
    case V_ITEM: return item_part(out, v);
    default: return false;
    }
}

static bool are_siblings(const Part *a, const Part *b) {
    return a->of == b->of && a->key != b->key;
}

// ---- sums of two products ------------------------------------------------------------

typedef struct Term {
    double sign;
    Part part;
    Val *sides[SIDES_MAX];
    uint32_t side_count;
} Term;

typedef struct Sum {
    Val *val;
    const EvalRecord *record;
    Val *terms[2];
} Sum;

static bool is_sum(Sum *out, Flow *flow, const EvalRecord *record) {
    Val *v = val_strip(record->val);
    Factors terms;
    if (v->op != OP_ADD) return false;
    sum_terms(&terms, flow, v);
    if (terms.len != 2 || terms.overflow || terms.coefficient != 0) return false;
    *out = (Sum){v, record, {terms.at[0], terms.at[1]}};
    return true;
}

// The product as the `which`-th of its parts, times the rest; false: it has fewer.
static bool read_term(Term *out, Flow *flow, Val *v, uint32_t which) {
    Factors f;
    product_factors(&f, flow, v);
    bool plain = !f.overflow && f.len >= 2 && f.len <= SIDES_MAX + 1;
    if (!plain || (f.coefficient != 1 && f.coefficient != -1)) return false;
    *out = (Term){.sign = f.coefficient};
    uint32_t met = 0, chosen = f.len;
    for (uint32_t i = 0; i < f.len; i++) {
        Part part;
        if (!part_of(&part, f.at[i]) || met++ != which) continue;
        out->part = part;
        chosen = i;
    }
    if (chosen == f.len) return false;
    for (uint32_t i = 0; i < f.len; i++) {
        if (i != chosen) out->sides[out->side_count++] = peel(f.at[i]);
    }
    return true;
}

// The same factor, or the other half of the same table.
static bool same_side(Val *a, Val *b) {
    Part p, q;
    if (a == b) return true;
    return part_of(&p, a) && part_of(&q, b) && !p.by_axis && are_siblings(&p, &q);
}

static bool same_sides(const Term *a, const Term *b) {
    uint32_t used = 0;
    if (a->side_count != b->side_count) return false;
    for (uint32_t i = 0; i < a->side_count; i++) {
        uint32_t k = 0;
        while (k < b->side_count && (used >> k & 1 || !same_side(a->sides[i], b->sides[k]))) k++;
        if (k == b->side_count) return false;
        used |= 1u << k;
    }
    return true;
}

static bool holds_part(const Term *t, const Val *of) {
    for (uint32_t i = 0; i < t->side_count; i++) {
        Part part;
        if (part_of(&part, t->sides[i]) && part.of == of) return true;
    }
    return false;
}

static bool same_part(const Part *a, const Part *b) {
    return a->of == b->of && a->key == b->key;
}

// p = a * c - b * s, q = b * c + a * s, with any signs of which one or three are minus.
static bool turn(const Term p[2], const Term q[2]) {
    for (int i = 0; i < 2; i++) {
        const Term *qb = &q[i], *qa = &q[1 - i];
        bool crossed = same_part(&p[0].part, &qa->part) && same_part(&p[1].part, &qb->part) &&
                       are_siblings(&p[0].part, &p[1].part);
        if (!crossed || !same_sides(&p[0], qb) || !same_sides(&p[1], qa)) continue;
        if (same_sides(&p[0], &p[1]) || holds_part(&p[0], p[0].part.of)) continue;
        if (p[0].sign * p[1].sign * qa->sign * qb->sign < 0) return true;
    }
    return false;
}

enum { WAYS = 16 }; // of two parts in each of four products

static bool is_turn(Flow *flow, const Sum *p, const Sum *q, bool *by_axis) {
    for (uint32_t way = 0; way < WAYS; way++) {
        Term a[2], b[2];
        bool reads = read_term(&a[0], flow, p->terms[0], way & 1) &&
                     read_term(&a[1], flow, p->terms[1], way >> 1 & 1) &&
                     read_term(&b[0], flow, q->terms[0], way >> 2 & 1) &&
                     read_term(&b[1], flow, q->terms[1], way >> 3 & 1);
        if (!reads || !turn(a, b)) continue;
        *by_axis = a[0].part.by_axis;
        return true;
    }
    return false;
}

// ---- the site ------------------------------------------------------------------------

static bool is_matched(const Candidates *found, const Val *v) {
    for (uint32_t i = 0; i < found->list.len; i++) {
        const Candidate *c = &found->list.at[i];
        if (c->near || !str_is(c->match.spec->rule->family, "rope")) continue;
        if (c->root == v) return true;
        for (uint32_t k = 0; k < c->match.seen.len; k++) {
            if (c->match.seen.at[k] == v) return true;
        }
    }
    return false;
}

static const Node *stmt_of(const EvalRecord *record) {
    return record->stmt ? record->stmt : record->node;
}

static void add_site(Sites *out, Frame *frame, const Node *a, const Node *b) {
    Site site = {.family = "rope", .id = "rope_parts", .api = "torch_npu.npu_rotary_mul",
                 .frame = frame, .priority = PRIORITY_MEDIUM, .variant = STR("parts")};
    site.first = a->start <= b->start ? a : b;
    site.last = a->end >= b->end ? a : b;
    site.gain = STR("its products, sums and copies become one kernel; backward becomes one too");
    vec_push(frame->flow->arena, out, site);
}

// Below what changes no element of a sum.
static Val *unmoved(Val *v) {
    for (int i = 0; i < PEEL_MAX; i++) {
        v = peel(v);
        if (v->op != OP_VIEW && v->op != OP_FLATTEN && v->op != OP_TRANSPOSE) return v;
        v = v->args[0];
    }
    return v;
}

// Both stand, as they are, in one row that `v` is made of.
static bool rows_both(Val *v, const Val *p, const Val *q, int depth) {
    if (depth == ROW_DEPTH || !val_depends(v, p)) return false;
    bool row = v->op == V_TUPLE || v->op == V_LIST, has_p = false, has_q = false;
    for (uint32_t i = 0; i < v->nargs; i++) {
        const Val *arg = row ? unmoved(v->args[i]) : NULL;
        has_p |= arg == p;
        has_q |= arg == q;
        if (rows_both(v->args[i], p, q, depth + 1)) return true;
    }
    return has_p && has_q;
}

// The two are joined along the axis that was taken apart: of parts that are indices, by
// a view or flatten behind the stack.
static bool is_joined(const Frame *f, Val *p, Val *q, bool by_axis) {
    for (uint32_t i = 0; i < f->evals.len; i++) {
        Val *v = val_strip(f->evals.at[i].val);
        bool joins = v->op == OP_FLATTEN || v->op == OP_VIEW || v->op == OP_WEAVE ||
                     is_rearranged(v) || (v->op == OP_CAT && !by_axis);
        if (joins && rows_both(v, p, q, 0)) return true;
    }
    return false;
}

// ---- parts that are written into a tensor -----------------------------------------------

typedef struct Store {
    const Val *val; // what is written
    Str of, where;  // in `of[where]`
} Store;

typedef struct Stores {
    const Frame *frame;
    Store at[SUMS_MAX];
    uint32_t len;
    int depth;
} Stores;

static Str text_of(const Frame *f, const Node *node) {
    return source_span(&f->module->source, node->start, node->end);
}

static void add_store(Stores *stores, const Node *target, const Node *value) {
    if (target->kind != N_SUBSCRIPT || stores->len == SUMS_MAX) return;
    const Frame *f = stores->frame;
    Val *v = node_val(f->mf, value);
    if (!v) return;
    stores->at[stores->len++] = (Store){val_strip(v), text_of(f, target->u.subscript.value),
                                        text_of(f, target->u.subscript.slice)};
}

static bool is_row(const Node *node) {
    return node->kind == N_TUPLE || node->kind == N_LIST;
}

// y[..., 0] = p; y[..., :d], y[..., d:] = p, q
static bool collect_stores(Node *node, void *data) {
    Stores *stores = data;
    if (!node_is_statement(node) || stores->depth > STORE_DEPTH) return true;
    if (node->kind == N_ASSIGN && node->u.assign.targets.len == 1) {
        const Node *target = node->u.assign.targets.at[0], *value = node->u.assign.value;
        add_store(stores, target, value);
        bool rows = is_row(target) && is_row(value) &&
                    target->u.list.elts.len == value->u.list.elts.len;
        for (uint32_t i = 0; rows && i < target->u.list.elts.len; i++) {
            add_store(stores, target->u.list.elts.at[i], value->u.list.elts.at[i]);
        }
    }
    stores->depth++;
    bool more = node_children(node, collect_stores, data);
    stores->depth--;
    return more;
}

// Both go into one tensor, each to a place of its own.
static bool are_stored(const Stores *stores, const Val *p, const Val *q) {
    for (uint32_t i = 0; i < stores->len; i++) {
        const Store *a = &stores->at[i];
        for (uint32_t k = 0; a->val == p && k < stores->len; k++) {
            const Store *b = &stores->at[k];
            if (b->val == q && str_eq(a->of, b->of) && !str_eq(a->where, b->where)) return true;
        }
    }
    return false;
}

static void find_sums(Sites *out, Frame *frame, const Candidates *found) {
    Sum *sums = NEW_N(frame->flow->arena, Sum, SUMS_MAX);
    bool used[SUMS_MAX] = {false};
    uint32_t count = 0;
    for (uint32_t i = 0; i < frame->evals.len && count < SUMS_MAX; i++) {
        count += is_sum(&sums[count], frame->flow, &frame->evals.at[i]);
    }
    Stores stores = {.frame = frame};
    if (count > 1) node_children(frame->fn, collect_stores, &stores);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = i + 1; k < count && !used[i]; k++) {
            bool by_axis;
            if (used[k] || sums[i].val == sums[k].val) continue;
            if (!is_turn(frame->flow, &sums[i], &sums[k], &by_axis)) continue;
            bool stored = are_stored(&stores, sums[i].val, sums[k].val);
            if (!stored && !is_joined(frame, sums[i].val, sums[k].val, by_axis)) continue;
            used[i] = used[k] = true;
            if (is_matched(found, sums[i].val) || is_matched(found, sums[k].val)) continue;
            uint32_t before = out->len;
            add_site(out, frame, stmt_of(sums[i].record), stmt_of(sums[k].record));
            if (out->len == before) continue;
            Site *site = &out->at[out->len - 1];
            site_add_fact(site, "form", FACT_PROVEN,
                          STR("a * c - b * s and b * c + a * s of two parts of one tensor"));
            site->reason = STR("the rotation is proven; how its parts lie in the tensor is no form "
                               "that can be written as npu_rotary_mul: view them as halves or as "
                               "neighbours of the last axis");
        }
    }
}

// A value that a called function computes is that function's own site.
static bool is_own(const Frame *f, const Val *v) {
    return v->node && v->module == f->module && v->node->start >= f->fn->start &&
           v->node->end <= f->fn->end;
}

// ---- complex numbers -----------------------------------------------------------------

static bool is_double(const Val *v) {
    for (; v->op == V_CAST; v = v->args[0]) {
        if (val_is_global(v->args[1], "torch.float64")) return true;
    }
    return false;
}

typedef struct Numbers { // complex ones
    bool doubles, given; // of float64; made by the function's caller
} Numbers;

// view_as_complex of a view in pairs.
static bool is_paired(Val *v, Numbers *out) {
    v = val_strip(v);
    if (v->op != OP_VIEW_AS_COMPLEX) return false;
    Val *pairs = peel(v->args[0]);
    out->doubles |= is_double(v->args[0]) || (pairs->nargs && is_double(pairs->args[0]));
    return is_view_of_pairs(pairs);
}

// The same, also where it is handed in.
static bool are_numbers_of_pairs(Frame *f, Val *v, Numbers *out) {
    v = val_strip(v);
    if (v->op == V_PARAM) {
        v = find_argument(f, v).arg;
        if (!v) return false;
        v = val_strip(v);
        out->given = true;
    }
    if (v->op == V_PHI && out->given) { // a whole tensor, or its first columns
        return is_paired(v->args[1], out) && is_paired(v->args[2], out);
    }
    return is_paired(v, out);
}

// Whether it is the product of such numbers and a table.
static bool complex_turn(Frame *frame, Val *real_view, Numbers *out) {
    Val *product = val_strip(real_view->args[0]);
    Factors f;
    if (product->op != OP_MUL) return false;
    product_factors(&f, frame->flow, product);
    if (f.overflow || f.len != 2 || f.coefficient != 1) return false;
    Numbers sides[2] = {{0}, {0}};
    bool first = are_numbers_of_pairs(frame, f.at[0], &sides[0]);
    bool second = are_numbers_of_pairs(frame, f.at[1], &sides[1]);
    *out = sides[first ? 0 : 1];
    return first != second;
}

static void find_complex(Sites *out, Frame *frame, const Candidates *found) {
    for (uint32_t i = 0; i < frame->evals.len; i++) {
        const EvalRecord *record = &frame->evals.at[i];
        Val *v = val_strip(record->val);
        if (v->op != OP_FLATTEN && v->op != OP_VIEW && !is_rearranged(v)) continue;
        Val *view = peel(v->args[v->op == V_CALL && v->nargs > 1 ? 1 : 0]);
        Numbers numbers = {0};
        if (view->op != OP_VIEW_AS_REAL || is_matched(found, view)) continue;
        if (!is_own(frame, view)) continue;
        if (!complex_turn(frame, view, &numbers)) continue;
        add_site(out, frame, stmt_of(record), stmt_of(record));
        Site *site = &out->at[out->len - 1];
        site_add_fact(site, "form", FACT_PROVEN,
                      STR("complex numbers made of pairs, times a table, and pairs again"));
        site->reason = numbers.doubles
            ? STR("the original computes in float64, the operator in float32: the difference is to "
                  "be judged")
            : numbers.given
            ? STR("the pairs are made complex by the function that calls this one: no single place "
                  "to write npu_rotary_mul at")
            : STR("the product is proven; how the pairs lie in the tensor is no form that can be "
                  "written as npu_rotary_mul: view them as neighbours of the last axis");
        return; // one tells it
    }
}

void turns_find(Sites *out, Frame *frame, const Candidates *found) {
    find_sums(out, frame, found);
    find_complex(out, frame, found);
}
