// result_dtype.c - dtypes of placed values: as values, and as Python text.
#include "base/base.h"

#include "match/result_dtype.h"

#include "flow/dtype.h"
#include "match/compose.h"
#include "match/text.h"

enum { DTYPE_TEXT_MAX = 2000 };

// ---- dtypes as text ---------------------------------------------------------

static Str cond_text(const Place *place, const Val *cond) {
    const Node *n = cond->node;
    if (!n || cond->module != place->frame->module) return (Str){0};
    return source_span(&cond->module->source, n->start, n->end);
}

static Str dtype_join(const Place *place, const Val *d) {
    Arena *arena = place->frame->flow->arena;
    Str text = {0};
    for (uint32_t i = 0; i < d->nargs; i++) {
        Str one = dtype_text(place, d->args[i]);
        if (!one.len) return (Str){0};
        text = i == 0 ? one
                      : arena_printf(arena, "torch.promote_types(%.*s, %.*s)",
                                     STR_FMT(text), STR_FMT(one));
    }
    return text;
}

// `d if autocast is on else e`: the device is that of a tensor at hand.
static Str dtype_autocast(const Place *place, const Val *d) {
    Arena *arena = place->frame->flow->arena;
    Str on = dtype_text(place, d->args[0]);
    Str off = on.len ? dtype_text(place, d->args[1]) : (Str){0};
    Str tensor = {0};
    const Rule *rule = place->match->spec->rule;
    for (uint32_t i = 0; i < rule->param_count && !tensor.len; i++) {
        if (place->match->bound[i] && !rule->params[i].scalar) {
            tensor = place->inputs[i].text;
        }
    }
    if (!off.len || !tensor.len || off.len > DTYPE_TEXT_MAX) return (Str){0};
    return arena_printf(arena,
                        "(%.*s if torch.is_autocast_enabled(%.*s.device.type) else %.*s)",
                        STR_FMT(on), STR_FMT(tensor), STR_FMT(off));
}

Str dtype_text(const Place *place, Val *d) {
    Arena *arena = place->frame->flow->arena;
    switch ((int)d->op) {
    case V_GLOBAL: return d->text;
    case V_PROMOTE: return dtype_join(place, d);
    case V_AUTOCAST: return dtype_autocast(place, d);
    case V_DTYPE: {
        Str held = place_expr(place, d); // dtype = x.dtype, and x is another now
        if (held.len) return held;
        Str x = place_expr(place, d->args[0]);
        if (!x.len) return (Str){0};
        Str owner = text_atom(arena, x);
        return arena_printf(arena, "%.*s.dtype", STR_FMT(owner));
    }
    case V_PHI: {
        Str cond = cond_text(place, d->args[0]);
        Str a = cond.len ? dtype_text(place, d->args[1]) : (Str){0};
        Str b = a.len ? dtype_text(place, d->args[2]) : (Str){0};
        // Choices share choices: their text may double with each.
        if (!b.len || a.len + b.len > DTYPE_TEXT_MAX) return (Str){0};
        return arena_printf(arena, "(%.*s if %.*s else %.*s)", STR_FMT(a),
                            STR_FMT(cond), STR_FMT(b));
    }
    default: return (Str){0};
    }
}

// The numbers among the bound inputs, and the tensors, whose dtypes are read
// off them and not traced further.
static Scalars bound_scalars(const Place *place, Val **numbers, Val **tensors) {
    const Rule *rule = place->match->spec->rule;
    Scalars s = {.at = numbers, .leaves = tensors};
    for (uint32_t i = 0; i < rule->param_count; i++) {
        Val *v = place->match->bound[i];
        if (!v) continue;
        if (rule->params[i].scalar) numbers[s.len++] = v;
        else if (v->op != V_CAST) tensors[s.leaf_count++] = v;
    }
    if (place->match->size_root) numbers[s.len++] = place->match->size_root;
    return s;
}

Val *placed_dtype(const Place *place, Val *v) {
    Val *numbers[RULE_MAX_PARAMS + 1], *tensors[RULE_MAX_PARAMS];
    return dtype_of(place->frame->flow, v, bound_scalars(place, numbers, tensors));
}

// The guard asks that key and value have the query's dtype.
static Val *as_query_dtype(const Place *place, Val *d) {
    Flow *flow = place->frame->flow;
    Val *query = attend_input(place->match, ATTEND_QUERY);
    for (int i = ATTEND_QUERY; query && d->op == V_DTYPE && i <= ATTEND_VALUE; i++) {
        Val *input = attend_input(place->match, i);
        bool same = input && (d->args[0] == input || d == op_dtype(flow, input));
        if (same) return val_new1(&flow->graph, V_DTYPE, query);
    }
    return d;
}

Val *result_dtype(const Place *place) {
    Val *v = place->record->val;
    if (!place->match->attend) return placed_dtype(place, v);
    if (v->op != V_CAST) v = attend_value_operand(place->frame->flow, v);
    Val *numbers[RULE_MAX_PARAMS + 1], *tensors[RULE_MAX_PARAMS];
    Scalars scalars = bound_scalars(place, numbers, tensors);
    scalars.no_autocast = true;
    return as_query_dtype(place, dtype_of(place->frame->flow, v, scalars));
}

// Whether every value of dtype `d` is held by dtype `wide`, for the dtypes
// that the operators take (float32 and the halves).
static bool is_wider_to(const Val *wide, const Val *d, int depth) {
    if (depth > 8) return false;
    if (wide == d || val_is_global(wide, "torch.float32")) return true;
    switch ((int)wide->op) {
    case V_PROMOTE:
        for (uint32_t i = 0; i < wide->nargs; i++) {
            if (wide->args[i] == d) return true;
        }
        return false;
    case V_AUTOCAST:
        return is_wider_to(wide->args[0], d, depth + 1) &&
               is_wider_to(wide->args[1], d, depth + 1);
    case V_PHI:
        return is_wider_to(wide->args[1], d, depth + 1) &&
               is_wider_to(wide->args[2], d, depth + 1);
    default: return false;
    }
}

bool dtype_is_wider(const Val *wide, const Val *d) {
    return is_wider_to(wide, d, 0);
}
