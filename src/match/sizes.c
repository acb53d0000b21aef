// sizes.c - sizes of scores, said of query and key.
#include "base/base.h"

#include "match/sizes.h"

#include "match/compose.h"

static bool is_score(const Match *m, const Val *v) {
    v = val_strip((Val *)(uintptr_t)v);
    for (uint32_t i = 0; m->attend && i < m->attend->scores.len; i++) {
        if (m->attend->scores.at[i] == v) return true;
    }
    return false;
}

// Of scores (batch, heads, queries, keys); NULL: not known.
static Val *same_size(const Match *m, int64_t axis) {
    Flow *flow = m->flow;
    Val *layout = m->attend->form->args[ATTEND_AXES];
    Val *query = m->attend->form->args[ATTEND_QUERY], *key = m->attend->form->args[ATTEND_KEY];
    bool four = val_is_str(layout, "BNSD");
    if (axis == -1 || (four && axis == 3)) return op_size(flow, key, val_int(&flow->graph, -2));
    if (axis == -2 || (four && axis == 2)) return op_size(flow, query, val_int(&flow->graph, -2));
    bool leads = axis == 0 || (four && axis == 1);
    return leads ? op_size(flow, query, val_int(&flow->graph, axis)) : NULL;
}

static Str composed(const Place *p, Val *v, uint32_t at) {
    return v ? compose_expr(p, v, at) : (Str){0};
}

// (b, n, q, k) of scores.shape
static Str composed_shape(const Place *p, uint32_t at) {
    Arena *arena = p->frame->flow->arena;
    Str text = {0};
    if (!val_is_str(p->match->attend->form->args[ATTEND_AXES], "BNSD")) return text;
    for (int axis = 0; axis < 4; axis++) {
        Str one = composed(p, same_size(p->match, axis), at);
        if (!one.len) return one;
        text = axis ? arena_printf(arena, "%.*s, %.*s", STR_FMT(text), STR_FMT(one)) : one;
    }
    return arena_printf(arena, "(%.*s)", STR_FMT(text));
}

// The text for a node that asks a score for a size or its device.
static Str size_text(const Place *p, const Val *v, uint32_t at) {
    const Match *m = p->match;
    if (!v || !m->attend || v->nargs == 0 || !is_score(m, v->args[0])) return (Str){0};
    if (v->op == V_SIZE && val_is_number(v->args[1])) {
        return composed(p, same_size(m, (int64_t)v->args[1]->num), at);
    }
    if (v->op == V_SHAPE) return composed_shape(p, at);
    if (v->op == V_ATTR && str_is(sym_str(v->name), "device")) {
        Str query = composed(p, m->attend->form->args[ATTEND_QUERY], at);
        return query.len ? arena_printf(p->frame->flow->arena, "%.*s.device", STR_FMT(query))
            : query;
    }
    return (Str){0};
}

typedef struct SizeWalk {
    const Place *place;
    uint32_t at;
    const Val *v;   // whose other reads are looked for
    Patches *list;  // or the patches that are collected
    bool found;
} SizeWalk;

static bool visit(Node *node, void *data) {
    SizeWalk *walk = data;
    Val *v = node_val(walk->place->frame->mf, node);
    bool asks = node->kind == N_CALL || node->kind == N_SUBSCRIPT || node->kind == N_ATTRIBUTE;
    Str text = asks ? size_text(walk->place, v, walk->at) : (Str){0};
    if (text.len) {
        if (walk->list) {
            patch_add(walk->place->frame->flow->arena, walk->list,
                      (Patch){node->start, node->end, text});
        }
        return true;
    }
    if (walk->v && node->kind == N_NAME && node->ctx == CTX_LOAD && v == walk->v) walk->found =
        true;
    return !walk->found && node_children(node, visit, data);
}

bool sizes_only(const Place *p, uint32_t at, const Val *v) {
    SizeWalk walk = {.place = p, .at = at, .v = v};
    if (!p->match->attend) return false;
    visit(p->infos[at]->stmt, &walk);
    return !walk.found;
}

void size_patches(const Place *p, uint32_t at, Node *in, Patches *out) {
    SizeWalk walk = {.place = p, .at = at, .list = out};
    if (p->match->attend) visit(in, &walk);
}

bool asks_size(const Place *p, uint32_t at, const Node *node) {
    bool asks = node->kind == N_CALL || node->kind == N_SUBSCRIPT || node->kind == N_ATTRIBUTE;
    return asks && p->match->attend && size_text(p, node_val(p->frame->mf, node), at).len > 0;
}
