// candidate.c - tries every rule at every value of a function.
#include "base/base.h"

#include "match/candidate.h"

#include "flow/dtype.h"

// Smaller patterns have no near miss: any gate would be one of quick_gelu.
enum { NEAR_MIN_SIZE = 4 };

// The factors' operators of a product, as bits; 0 for other values.
static uint64_t factor_bits(Flow *flow, Val *root) {
    Factors factors;
    product_factors(&factors, flow, root);
    uint64_t bits = 0;
    for (uint32_t i = 0; i < factors.len; i++) {
        bits |= op_bit(factors.at[i]->op);
    }
    return bits;
}

static bool may_match(const Spec *spec, const Val *root, uint64_t bits) {
    if (spec->pattern->op != root->op) return false;
    return root->op != OP_MUL || (spec->factor_ops & ~bits) == 0;
}

static bool is_part_of(const Candidates *list, const Val *root, const Rule *rule) {
    for (uint32_t i = 0; i < list->list.len; i++) {
        const Candidate *c = &list->list.at[i];
        if (c->near || !str_eq(c->match.spec->rule->family, rule->family)) continue;
        for (uint32_t k = 0; k < c->match.seen.len; k++) {
            if (c->match.seen.at[k] == root) return true;
        }
    }
    return false;
}

// Records of one value: the outermost cast of it is the best place, the value
// itself the last resort.
typedef struct Group {
    Val *root;
    VEC(const EvalRecord *) records;
    uint64_t bits;
} Group;

typedef VEC(Group) Groups;

// A value that a called function computes is that function's own candidate.
static bool is_own_root(const Frame *f, const Val *v) {
    if (v->op <= V_CAST || !v->node) return false;
    return v->module == f->module && v->node->start >= f->fn->start &&
           v->node->end <= f->fn->end;
}

static void group_records(Groups *out, Frame *f) {
    Arena *arena = f->flow->arena;
    for (uint32_t i = 0; i < f->evals.len; i++) {
        const EvalRecord *e = &f->evals.at[i];
        Val *root = val_strip(e->val);
        if (!is_own_root(f, root)) continue;
        Group *group = NULL;
        for (uint32_t g = out->len; g-- > 0 && !group;) {
            if (out->at[g].root == root) group = &out->at[g];
        }
        if (!group) {
            Group fresh = {.root = root, .bits = factor_bits(f->flow, root)};
            vec_push(arena, out, fresh);
            group = &out->at[out->len - 1];
        }
        vec_push(arena, &group->records, e);
    }
}

static void sort_specs(const Spec **specs, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        for (uint32_t k = i; k > 0 && specs[k]->size > specs[k - 1]->size; k--) {
            const Spec *swap = specs[k];
            specs[k] = specs[k - 1];
            specs[k - 1] = swap;
        }
    }
}

static bool annotated_tensor(const Val *param) {
    const Node *a = param->node ? param->node->u.arg.annotation : NULL;
    if (!a) return false;
    if (a->kind == N_ATTRIBUTE) return str_is(sym_str(a->u.attribute.attr), "Tensor");
    return a->kind == N_NAME && str_is(sym_str(a->u.name.id), "Tensor");
}

// Whether an epsilon may be a number: no tensor, and not negative.
static bool may_be_number(Flow *flow, Val *v, int depth) {
    if (depth > 8) return false;
    switch ((int)v->op) {
    case V_CONST: return val_is_number(v) && v->num >= 0;
    case V_PARAM: return !annotated_tensor(v);
    case V_ATTR: {
        Val *made = object_class(v->args[0]) ? object_attr(flow, v->args[0], v->name) : NULL;
        return !made || made == v || made->op == V_OPAQUE || may_be_number(flow, made, depth + 1);
    }
    case V_PHI:
        return may_be_number(flow, v->args[1], depth + 1) &&
               may_be_number(flow, v->args[2], depth + 1);
    case OP_MUL: case OP_ADD: case OP_POW:
        return may_be_number(flow, v->args[0], depth + 1) &&
               may_be_number(flow, v->args[1], depth + 1);
    case OP_SQRT: case OP_RECIPROCAL: return may_be_number(flow, v->args[0], depth + 1);
    case V_CALL: // an attribute's: self.eps = config.get("eps", 1e-6)
        return depth > 0 || v->args[0]->op == V_GLOBAL;
    case V_ITEM: case V_PYOP: case V_SIZE: case OP_NUMEL: return true;
    default: return false;
    }
}

// x.shape[-1], t.item(), a parameter that is annotated as a number.
static bool is_number(Flow *flow, Val *v) {
    if (v->op == V_CALL && v->args[0]->op == V_ATTR && v->nargs == 1) {
        return str_is(sym_str(v->args[0]->name), "item");
    }
    return is_scalar(flow, v, (Scalars){0});
}

// mask.float(): numbers are not cast.
static bool is_cast(const Match *m, const Val *v) {
    for (uint32_t i = 0; i < m->seen.len; i++) {
        const Val *seen = m->seen.at[i];
        if (seen->op == V_CAST && seen->args[0] == v) return true;
    }
    return false;
}

// A weight that is computed (a gate) is no weight; the norm inside is found by
// itself.
static bool binds_sensibly(const Match *m) {
    const Rule *rule = m->spec->rule;
    for (uint32_t i = 0; i < rule->param_count; i++) {
        Val *v = m->bound[i];
        if (v && rule->params[i].scalar &&
            (is_cast(m, v) || !may_be_number(m->flow, v, 0))) {
            return false;
        }
        if (v && !rule->params[i].scalar && is_number(m->flow, v)) return false;
        if (!v || !rule->params[i].optional) continue;
        bool alone = true; // its only form of the rule: gate and up
        for (uint32_t k = 0; k < rule->param_count; k++) {
            if (!rule->params[k].optional && !rule->params[k].flag &&
                !rule->params[k].scalar) {
                alone = false;
            }
        }
        if (alone) continue;
        Val *leaf = val_strip(v);
        if (leaf->op != V_ATTR && leaf->op != V_PARAM && leaf->op != OP_PARAMETER) {
            return false;
        }
    }
    return true;
}

static void try_group(Candidates *out, Frame *f, const Group *group,
                      const Spec *spec) {
    Flow *flow = f->flow;
    Match *match = NEW(flow->arena, Match);
    if (!match_value(match, flow, spec, group->root) || !binds_sensibly(match)) return;
    Candidate best = {.root = group->root};
    for (uint32_t i = group->records.len; i-- > 0;) {
        Match *own = NEW(flow->arena, Match);
        *own = *match;
        const EvalRecord *record = group->records.at[i];
        // The casts around the result belong to it.
        for (Val *c = record->val; c != group->root; c = c->args[0]) {
            vec_push(flow->arena, &own->seen, c);
        }
        Place *place = NEW(flow->arena, Place);
        place_match(place, f, own, record);
        bool better = !best.place || best.place->fault ||
                      (best.place->wasted && !place->fault && !place->wasted);
        if (!better) continue;
        best.match = *own;
        place->match = own;
        best.place = place;
        best.record = record;
    }
    vec_push(flow->arena, &out->list, best);
}

typedef struct AllSpecs {
    const Spec *at[512];
    uint32_t len;
} AllSpecs;

static void list_specs(AllSpecs *out, const RuleSet *rules, Str only_rule) {
    out->len = 0;
    for (uint32_t r = 0; r < rules->rules.len; r++) {
        Rule *rule = rules->rules.at[r];
        if (only_rule.len && !str_eq(only_rule, rule->id)) continue;
        for (uint32_t s = 0; s < rule->spec_count && out->len < COUNT(out->at); s++) {
            out->at[out->len++] = &rule->specs[s];
        }
    }
    sort_specs(out->at, out->len);
}

// A failed match counts as a near miss when most operators were there.
static void note_near_miss(Candidates *out, Frame *f, const Group *group,
                           const Spec *spec) {
    Match *match = NEW(f->flow->arena, Match);
    if (match_value(match, f->flow, spec, group->root)) return;
    if (match->best_seen * 3 < spec->size * 2 || spec->size < NEAR_MIN_SIZE) return;
    if (is_part_of(out, group->root, spec->rule)) return;
    for (uint32_t i = 0; i < out->list.len; i++) {
        if (out->list.at[i].near && out->list.at[i].root == group->root) return;
    }
    Candidate c = {.match = *match, .record = group->records.at[0],
                   .root = group->root, .near = true};
    vec_push(f->flow->arena, &out->list, c);
}

void find_candidates(Candidates *out, Frame *f, const RuleSet *rules,
                     Str only_rule) {
    Groups groups = {0};
    group_records(&groups, f);
    AllSpecs *specs = NEW(f->flow->arena, AllSpecs);
    list_specs(specs, rules, only_rule);
    for (uint32_t s = 0; s < specs->len; s++) {
        for (uint32_t g = groups.len; g-- > 0;) {
            const Group *group = &groups.at[g];
            if (!may_match(specs->at[s], group->root, group->bits)) continue;
            if (is_part_of(out, group->root, specs->at[s]->rule)) continue;
            try_group(out, f, group, specs->at[s]);
        }
    }
    for (uint32_t s = 0; s < specs->len; s++) {
        for (uint32_t g = 0; g < groups.len; g++) {
            if (may_match(specs->at[s], groups.at[g].root, groups.at[g].bits)) {
                note_near_miss(out, f, &groups.at[g], specs->at[s]);
            }
        }
    }
}
