// candidate.c - tries every rule at every value of a function.
#include "base/base.h"

#include "match/candidate.h"

#include "match/frame_index.h"
#include "match/near.h"
#include "match/number.h"
#include "match/prove.h"

#include <stdlib.h>

// Smaller patterns have no near miss: any gate would be one of quick_gelu.
enum {
    NEAR_MIN_SIZE = 4,
    STEPS_MAX = 20 * 1000 * 1000, // values compared for one function
    PLACES_MAX = 64, // tried for one value
};

static bool may_match(Flow *flow, const Spec *spec, Val *root, uint64_t bits) {
    if (spec->pattern->op == OP_ATTEND) return attend_of(flow, root);
    if (spec->pattern->op != root->op) {
        if (spec->pattern->op == OP_SILU && root->op == OP_MUL) { // x * sigmoid(x)
            return bits & op_bit(OP_SILU);
        }
        const Val *bare = spec->rule->part.len ? below_flat(root) : NULL;
        if (!bare || spec->pattern->op != bare->op) return false;
    }
    return (spec->factor_ops & ~bits) == 0;
}

// ---- values that are part of a match ----------------------------------------

static MatchPart *find_part(const Candidates *list, const Val *val, Str family) {
    uint64_t hash = hash_bytes(val->id * UINT64_C(0x9e3779b97f4a7c15), family.at, family.len);
    uint32_t i = (uint32_t)(hash ^ hash >> 32) & (list->part_cap - 1);
    for (; list->parts[i].val; i = (i + 1) & (list->part_cap - 1)) {
        if (list->parts[i].val == val && str_eq(list->parts[i].family, family)) break;
    }
    return &list->parts[i];
}

static bool is_part_of(const Candidates *list, const Val *root, Str family) {
    return list->part_cap && find_part(list, root, family)->val;
}

static void grow_parts(Candidates *list, Arena *arena) {
    MatchPart *old = list->parts;
    uint32_t old_cap = list->part_cap;
    if (list->part_len * 2 < old_cap) return;
    list->part_cap = old_cap ? old_cap * 2 : 64;
    list->parts = NEW_N(arena, MatchPart, list->part_cap);
    for (uint32_t i = 0; i < old_cap; i++) {
        if (old[i].val) *find_part(list, old[i].val, old[i].family) = old[i];
    }
}

static void note_parts(Candidates *list, Arena *arena, const Match *m) {
    for (uint32_t i = 0; i < m->seen.len; i++) {
        grow_parts(list, arena);
        MatchPart *part = find_part(list, m->seen.at[i], m->spec->rule->family);
        list->part_len += !part->val;
        *part = (MatchPart){m->seen.at[i], m->spec->rule->family};
    }
}

// ---- values of a function ---------------------------------------------------

// Records of one value: the outermost cast of it is the best place, the value
// itself the last resort.
typedef struct Group {
    Val *root;
    VEC(const EvalRecord *) records;
    uint64_t bits;
    bool near; // it is a near miss
} Group;

typedef struct Groups {
    VEC(Group) list;
    uint32_t *slots; // hash by root: index in the list, plus 1
    uint32_t cap;
} Groups;

// Whether a function that is written inside of f's holds the node. The functions of a
// module are listed in the order of the text.
static bool in_inner_function(const Frame *f, const Node *n) {
    const ModuleFlow *mf = f->mf;
    uint32_t low = 0, high = mf->functions.len;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (mf->functions.at[mid]->fn->start <= f->fn->start) low = mid + 1;
        else high = mid;
    }
    for (uint32_t i = low; i < mf->functions.len; i++) {
        const Node *fn = mf->functions.at[i]->fn;
        if (fn->start > n->start) return false;
        if (n->end <= fn->end) return true;
    }
    return false;
}

static bool holds_node(const Frame *f, const Module *module, const Node *n) {
    return module == f->module && n->start >= f->fn->start && n->end <= f->fn->end &&
           !in_inner_function(f, n);
}

// A value that a called function computes is that function's own candidate.
static bool is_own_root(const Frame *f, const Val *v) {
    return v->op > V_CAST && v->node && holds_node(f, v->module, v->node);
}

// What an attempt to match left behind, where that is apart from what is kept.
static void drop_scratch(Flow *flow, ArenaMark start) {
    if (flow->scratch != flow->arena) arena_reset(flow->scratch, start);
}

static void group_records(Groups *out, Frame *f) {
    Arena *arena = f->flow->arena;
    ArenaMark start = arena_mark(f->flow->scratch);
    for (out->cap = 64; out->cap < f->evals.len * 2;) out->cap *= 2;
    out->slots = NEW_N(arena, uint32_t, out->cap);
    for (uint32_t i = 0; i < f->evals.len; i++) {
        const EvalRecord *e = &f->evals.at[i];
        Val *root = val_strip(e->val);
        if (!is_own_root(f, root)) continue;
        uint32_t slot = root->id * 2654435761u & (out->cap - 1);
        while (out->slots[slot] && out->list.at[out->slots[slot] - 1].root != root) {
            slot = (slot + 1) & (out->cap - 1);
        }
        if (!out->slots[slot]) {
            Group fresh = {.root = root, .bits = root_ops(f->flow, root)};
            drop_scratch(f->flow, start);
            vec_push(arena, &out->list, fresh);
            out->slots[slot] = out->list.len;
        }
        Group *group = &out->list.at[out->slots[slot] - 1];
        if (group->records.len < PLACES_MAX) vec_push(arena, &group->records, e);
    }
}

// mask.float(): numbers are not cast.
static bool is_cast(const Match *m, const Val *v) {
    for (uint32_t i = 0; i < m->seen.len; i++) {
        const Val *seen = m->seen.at[i];
        if (seen->op == V_CAST && seen->args[0] == v) return true;
    }
    return false;
}

// self.scale = dim ** 0.5 and self.weight = nn.Parameter(torch.ones(dim)): the
// weight's length, which is that of the last axis, is the size of the scale.
static bool weight_has_size(const Match *m) {
    const Rule *rule = m->spec->rule;
    for (uint32_t i = 0; i < rule->param_count; i++) {
        Val *v = rule->params[i].optional ? m->bound[i] : NULL;
        if (v && parameter_size(m->flow, v) == m->size) return true;
    }
    return false;
}

// Whether the optional parameter has no required tensor beside it: gate and up.
static bool is_alone(const Rule *rule) {
    for (uint32_t i = 0; i < rule->param_count; i++) {
        const RuleParam *p = &rule->params[i];
        if (!p->optional && !p->flag && !p->scalar) return false;
    }
    return true;
}

// A weight that is computed (a gate) is no weight; the norm inside is found by
// itself.
static bool binds_sensibly(const Match *m) {
    const Rule *rule = m->spec->rule;
    if (m->size && !weight_has_size(m)) return false;
    for (uint32_t i = 0; i < rule->param_count; i++) {
        Val *v = m->bound[i];
        const RuleParam *p = &rule->params[i];
        if (v && p->scalar && is_cast(m, v)) return false;
        if (!v || m->attend || p->scalar) continue;
        if (!p->weight && (!p->optional || is_alone(rule))) continue;
        Val *leaf = val_strip(v);
        if (leaf->op != V_ATTR && leaf->op != V_PARAM && leaf->op != OP_PARAMETER) {
            return false;
        }
    }
    return true;
}

static bool is_clean(const Candidate *c) {
    return !c->place->fault && !c->place->wasted;
}

// The place of the match at one of its records.
static Place *place_at(Frame *f, const Match *match, const Group *group,
                       const EvalRecord *record) {
    Arena *arena = f->flow->arena;
    Match *own = NEW(arena, Match);
    *own = *match;
    // The casts around the result belong to it.
    for (Val *c = record->val; c != group->root; c = c->args[0]) {
        vec_push(arena, &own->seen, c);
    }
    Place *place = NEW(arena, Place);
    place_match(place, f, own, record);
    return place;
}

static void take_place(Candidate *c, Place *place) {
    c->match = *place->match;
    c->place = place;
    c->record = place->record;
}

// Whether the statement stands where a choice that was taken cannot hold: in the
// other arm of an `if` on the same condition.
static bool contradicts(Frame *f, const Match *m, const EvalRecord *record) {
    if (!m->choice_count || !record->stmt) return false;
    const StmtInfo *s = index_stmt_info(frame_index(f), record->stmt);
    for (const StmtInfo *around; s && (around = frame_around(f, s)); s = around) {
        const Node *stmt = around->stmt;
        if (stmt->kind != N_IF) continue;
        const Val *test = node_val(f->mf, stmt->u.while_.test);
        bool holds = s->block == &stmt->u.while_.body;
        if (test && test->op == V_PYOP && test->ck == A_NOT) {
            test = test->args[0];
            holds = !holds;
        }
        for (uint32_t i = 0; i < m->choice_count; i++) {
            const Val *cond = m->choices[i].cond;
            bool negated = cond->op == V_PYOP && cond->ck == A_NOT;
            if (negated) cond = cond->args[0];
            if (cond == test && (m->choices[i].holds != negated) != holds) return true;
        }
    }
    return false;
}

// Whether an expression of the function itself is the value, which may have been met first
// in another function.
static bool is_written_here(const Frame *f, const Val *v) {
    if (v->node && holds_node(f, v->module, v->node)) return true;
    for (uint32_t i = 0; i < f->evals.len; i++) {
        const EvalRecord *e = &f->evals.at[i];
        if (e->val == v && e->node->kind != N_CALL && e->node->kind != N_NAME) return true;
    }
    return false;
}

// Whether the function itself has a sum of the match: one that another function gives
// back can't be taken into an operator here.
static bool sums_here(const Frame *f, const Match *m) {
    for (uint32_t i = 0; f->fn && i < m->seen.len; i++) {
        const Val *v = m->seen.at[i];
        if (v->op == OP_ADD && is_written_here(f, v)) return true;
    }
    return !f->fn;
}

static void try_group(Candidates *out, Frame *f, const Group *group,
                      const Spec *spec) {
    Flow *flow = f->flow;
    Match match;
    bool matches = match_value(&match, flow, spec, group->root);
    out->steps += match.steps;
    if (!matches || !binds_sensibly(&match)) return;
    if (spec->sums && !sums_here(f, &match)) return;
    Val **seen = NEW_N(flow->arena, Val *, match.seen.len + 1);
    if (match.seen.len) memcpy(seen, match.seen.at, sizeof(Val *) * match.seen.len);
    match.seen.at = seen;
    match.seen.cap = match.seen.len; // each place adds to a copy of its own
    Candidate best = {.frame = f, .root = group->root, .group = group,
                      .inner_seen = match.seen.len};
    for (uint32_t i = group->records.len; i-- > 0;) {
        if (best.place && !best.place->fault && !best.place->wasted) break;
        if (contradicts(f, &match, group->records.at[i])) continue;
        Place *place = place_at(f, &match, group, group->records.at[i]);
        bool better = !best.place || best.place->fault ||
                      (best.place->wasted && !place->fault && !place->wasted);
        if (!better) continue;
        take_place(&best, place);
    }
    // What little a sum saves is no reason to rewrite by hand.
    if (!best.place || (spec->sums && best.place->fault)) return;
    // Where it has no good place, its parts may have one.
    if (is_clean(&best)) note_parts(out, flow->arena, &best.match);
    vec_push(flow->arena, &out->list, best);
}

typedef struct AllSpecs {
    const Spec *at[512];
    uint32_t len;
} AllSpecs;

static void list_specs(AllSpecs *out, const RuleSet *rules, Str only_rule) {
    out->len = 0;
    for (uint32_t i = 0; i < rules->by_size.len; i++) {
        const Spec *spec = rules->by_size.at[i];
        if (only_rule.len && !str_eq(only_rule, spec->rule->id)) continue;
        if (out->len < COUNT(out->at)) out->at[out->len++] = spec;
    }
}

typedef struct MarkSearch {
    uint16_t op;
    uint32_t steps;
} MarkSearch;

// Whether the sum or product has the operator among its terms and factors.
static bool has_mark(MarkSearch *search, const Val *v, int depth) {
    if (v->op == search->op) return true;
    if (depth > 6 || ++search->steps > 100) return false;
    bool opens = v->op == OP_ADD || v->op == OP_MUL || v->op == OP_NEG || v->op == V_CAST ||
                 v->op == OP_FLATTEN || v->op == OP_VIEW_AS_REAL || v->op == OP_SUM ||
                 v->op == OP_UNSQUEEZE;
    for (uint32_t i = 0; opens && i < v->nargs; i++) {
        if (has_mark(search, v->args[i], depth + 1)) return true;
    }
    return false;
}

// Whether the value is made of one that is a match of the family: cat((turned, rest)).
static bool holds_match(const Candidates *list, const Val *root, Str family) {
    for (uint32_t i = 0; i < list->list.len; i++) {
        const Candidate *c = &list->list.at[i];
        bool same = !c->near && str_eq(c->match.spec->rule->family, family);
        if (same && val_depends(root, c->root)) return true;
    }
    return false;
}

// Whether `part` is the value itself or one of its factors.
static bool is_factor_of(const Val *v, const Val *part, int depth) {
    if (v == part) return true;
    if (depth > 6 || (v->op != OP_MUL && v->op != V_CAST)) return false;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (is_factor_of(v->args[i], part, depth + 1)) return true;
    }
    return false;
}

// Whether a match or near miss of the family speaks of the same product.
static bool is_told(const Candidates *out, const Val *root, Str family) {
    for (uint32_t i = 0; i < out->list.len; i++) {
        const Candidate *c = &out->list.at[i];
        if (!str_eq(c->match.spec->rule->family, family)) continue;
        if (is_factor_of(c->root, root, 0) || is_factor_of(root, c->root, 0)) return true;
    }
    return false;
}

// What a helper computes is the helper's own near miss: the value, or what goes into
// it, is written there.
static bool is_own(const Frame *f, const Group *group) {
    const Val *root = group->root;
    if (!f->fn) return true;
    if (root->node && !holds_node(f, root->module, root->node)) return false;
    bool call = group->records.at[0]->node->kind == N_CALL;
    for (uint32_t i = 0; call && i < root->nargs; i++) {
        const Val *v = root->args[i];
        if (v->node && v->op > V_CAST && !holds_node(f, v->module, v->node)) return false;
    }
    return true;
}

static void add_near_miss(Candidates *out, Frame *f, Group *group, Candidate c) {
    memset(&c.match.seen, 0, sizeof(c.match.seen)); // it was no part of anything
    c.frame = f;
    c.record = group->records.at[0];
    c.root = group->root;
    c.near = group->near = true;
    vec_push(f->flow->arena, &out->list, c);
}

// A failed match counts as a near miss when most operators were there.
static void note_near_miss(Candidates *out, Frame *f, Group *group,
                           const Spec *spec) {
    // What is never recommended has no near miss worth telling.
    if (group->near || spec->size < NEAR_MIN_SIZE || spec->rule->caution.len) return;
    const Rule *rule = spec->rule;
    if (is_part_of(out, group->root, rule->family)) return;
    MarkSearch search = {spec->mark, 0};
    if (spec->mark && !has_mark(&search, group->root, 0)) return;
    Match match;
    bool matches = match_value(&match, f->flow, spec, group->root);
    out->steps += match.steps;
    bool close = match.attend ? match.attend->product && match.attend->reason
                              : match.best_seen * 3 >= spec->size * 2;
    if (matches || !close || is_scaled_alone(&match)) return;
    if (is_told(out, group->root, rule->family) || !is_own(f, group)) return;
    if (rule->part.len && holds_match(out, group->root, rule->family)) return;
    // A part that a helper turned stands here as it is.
    const Val *got = match.got;
    bool helped = rule->part.len && got && got->node && f->fn &&
                  !holds_node(f, got->module, got->node);
    if (helped && group->root->op == OP_CAT) return;
    add_near_miss(out, f, group, (Candidate){.match = match});
}

// The largest alternative of a norm that may be recommended, or NULL.
static const Spec *norm_spec(const AllSpecs *specs) {
    for (uint32_t s = 0; s < specs->len; s++) {
        const Rule *rule = specs->at[s]->rule;
        if (str_is(rule->family, "rms_norm") && !rule->caution.len) return specs->at[s];
    }
    return NULL;
}

// Norms whose denominator is so different that no alternative comes near.
static void note_norms(Candidates *out, Frame *f, Groups *groups, const AllSpecs *specs) {
    const Spec *spec = norm_spec(specs);
    uint64_t bits = op_bit(OP_RECIPROCAL) | op_bit(OP_RSQRT);
    for (uint32_t g = groups->list.len; spec && g-- > 0;) {
        Group *group = &groups->list.at[g];
        if (group->near || group->root->op != OP_MUL || !(group->bits & bits)) continue;
        Candidate c = {.match = {.spec = spec, .flow = f->flow}};
        c.near_why = norm_difference(f->flow, group->root, &c.match.got);
        bool own = c.near_why && is_own(f, group);
        if (own && !is_told(out, group->root, spec->rule->family)) {
            add_near_miss(out, f, group, c);
        }
    }
}

// Candidates by their roots: for each slot of a hash, and for each candidate,
// the next one of the same hash; indices plus 1.
typedef struct Roots {
    uint32_t *first, *next;
    uint32_t cap;
} Roots;

static Roots index_roots(const Candidates *list, Arena *arena) {
    Roots roots = {.cap = 16};
    while (roots.cap < list->list.len * 2) roots.cap *= 2;
    roots.first = NEW_N(arena, uint32_t, roots.cap);
    roots.next = NEW_N(arena, uint32_t, list->list.len + 1);
    for (uint32_t i = 0; i < list->list.len; i++) {
        uint32_t slot = list->list.at[i].root->id & (roots.cap - 1);
        roots.next[i] = roots.first[slot];
        roots.first[slot] = i + 1;
    }
    return roots;
}

static int compare_indices(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

typedef VEC(uint32_t) Indices;

static bool is_inner(const Candidate *c, const Candidate *whole) {
    for (uint32_t i = 0; i < whole->inner_seen; i++) {
        if (whole->match.seen.at[i] == c->root) return true;
    }
    return whole->root == c->root;
}

// Whether the span shares statements with that of another candidate. Of one that
// lies inside another, one of the two is written: their spans may overlap.
static bool overlaps_another(const Candidates *out, const Candidate *c) {
    const Place *p = c->place;
    for (uint32_t i = 0; i < out->list.len; i++) {
        const Candidate *other = &out->list.at[i];
        const Place *q = other->place;
        if (other == c || !q || q->fault || q->block != p->block) continue;
        if (is_inner(c, other) || is_inner(other, c)) continue;
        if (other->match.spec->rule->caution.len) continue; // never written beside it
        if (q->first <= p->last && p->first <= q->last) return true;
    }
    return false;
}

// The shortest good place of a candidate whose span overlaps another.
static bool shorten_span(const Candidates *out, Candidate *c) {
    if (c->near || !c->place || !is_clean(c) || !overlaps_another(out, c)) return false;
    Match bare = c->match;
    bare.seen.len = bare.seen.cap = c->inner_seen;
    bare.keeps_views = true;
    bool shorter = false;
    for (uint32_t k = c->group->records.len; k-- > 0;) {
        Candidate tried = *c;
        take_place(&tried, place_at(c->frame, &bare, c->group, c->group->records.at[k]));
        uint32_t length = tried.place->last - tried.place->first;
        if (!is_clean(&tried) || length >= c->place->last - c->place->first) continue;
        *c = tried;
        shorter = true;
    }
    return shorter;
}

// q = ...; k = ...; q = q.to(d); k = k.to(d): spans that reach to the casts, and
// from the slices, would overlap, so shorter ones are taken.
static void part_spans(Candidates *out) {
    enum { LIST_MAX = 500, ROUNDS_MAX = 4 };
    bool changed = out->list.len <= LIST_MAX;
    for (int round = 0; changed && round < ROUNDS_MAX; round++) {
        changed = false;
        for (uint32_t i = 0; i < out->list.len; i++) {
            changed |= shorten_span(out, &out->list.at[i]);
        }
    }
}

// The candidates of its family whose root is part of the match, in order.
static void list_parts(Indices *out, const Candidates *list, const Roots *roots,
                       const Candidate *whole, Arena *arena) {
    out->len = 0;
    for (uint32_t i = 0; i < whole->match.seen.len; i++) {
        const Val *v = whole->match.seen.at[i];
        for (uint32_t k = roots->first[v->id & (roots->cap - 1)]; k; k = roots->next[k - 1]) {
            const Candidate *part = &list->list.at[k - 1];
            if (part->root != v || part == whole) continue;
            if (!str_eq(whole->match.spec->rule->family, part->match.spec->rule->family)) continue;
            vec_push(arena, out, k - 1);
        }
    }
    if (out->len > 1) qsort(out->at, out->len, sizeof(*out->at), compare_indices);
}

// Whether the candidate is part of a match of a family that its rule leaves it to.
static bool is_within(const Candidates *out, const Candidate *c) {
    const Rule *rule = c->match.spec->rule;
    for (uint32_t i = 0; i < rule->within.len; i++) {
        if (is_part_of(out, c->root, rule->within.at[i])) return true;
    }
    return false;
}

static void drop_within(Candidates *out) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < out->list.len; i++) {
        if (!is_within(out, &out->list.at[i])) out->list.at[kept++] = out->list.at[i];
    }
    out->list.len = kept;
}

// Of a match and its part, the part stays only if it alone has a good place.
static void choose_parts(Candidates *out, Arena *arena) {
    Roots roots = index_roots(out, arena);
    Indices parts = {0};
    for (uint32_t i = 0; i < out->list.len; i++) {
        Candidate *whole = &out->list.at[i];
        list_parts(&parts, out, &roots, whole, arena);
        for (uint32_t k = 0; k < parts.len; k++) {
            Candidate *part = &out->list.at[parts.at[k]];
            if (part->dropped || whole->dropped) continue;
            if (is_clean(part) && !is_clean(whole)) whole->dropped = true;
            else part->dropped = true;
        }
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < out->list.len; i++) {
        if (!out->list.at[i].dropped) out->list.at[kept++] = out->list.at[i];
    }
    out->list.len = kept;
    for (uint32_t i = 0; i < kept; i++) note_parts(out, arena, &out->list.at[i].match);
    drop_within(out);
}

void find_candidates(Candidates *out, Frame *f, const RuleSet *rules,
                     Str only_rule) {
    Groups groups = {0};
    group_records(&groups, f);
    ArenaMark start = arena_mark(f->flow->scratch);
    AllSpecs *specs = NEW(f->flow->arena, AllSpecs);
    list_specs(specs, rules, only_rule);
    for (uint32_t s = 0; s < specs->len; s++) {
        for (uint32_t g = groups.list.len; g-- > 0 && out->steps < STEPS_MAX;) {
            const Group *group = &groups.list.at[g];
            if (!may_match(f->flow, specs->at[s], group->root, group->bits)) continue;
            if (is_part_of(out, group->root, specs->at[s]->rule->family)) continue;
            try_group(out, f, group, specs->at[s]);
            drop_scratch(f->flow, start);
        }
    }
    choose_parts(out, f->flow->arena);
    part_spans(out);
    for (uint32_t s = 0; s < specs->len; s++) {
        for (uint32_t g = 0; g < groups.list.len && out->steps < STEPS_MAX; g++) {
            Group *group = &groups.list.at[g];
            if (may_match(f->flow, specs->at[s], group->root, group->bits)) {
                note_near_miss(out, f, group, specs->at[s]);
                drop_scratch(f->flow, start);
            }
        }
    }
    note_norms(out, f, &groups, specs);
    if (out->steps >= STEPS_MAX) f->truncated = true;
}
