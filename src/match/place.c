// place.c - spans, reaching definitions and expressions for values.
#include "base/base.h"

#include "match/place.h"

#include "flow/dtype.h"
#include "match/compose.h"
#include "match/binds.h"
#include "match/frame_index.h"
#include "match/release.h"
#include "match/sizes.h"
#include "match/writes.h"

// ---- what a statement does --------------------------------------------------

static StmtInfo *info_of(Frame *f, const Node *stmt) {
    return stmt ? index_stmt_info(frame_index(f), stmt) : NULL;
}

static bool holds_time(const StmtInfo *s, uint32_t time) {
    return time >= s->time_before && time <= s->time_after;
}

static bool holds_stmt(Frame *f, const StmtInfo *s, const Node *stmt) {
    if (s->stmt == stmt) return true;
    const StmtInfo *inner = info_of(f, stmt);
    return inner && inner->time_before > s->time_before &&
           inner->time_before <= s->time_after;
}

// parts = x.chunk(2, -1), of which parts[0] and parts[1] are matched; a view in
// pairs, of which each side is; a stack that is woven into one axis.
static bool is_split_of_seen(const Match *m, const Val *v) {
    const Val *x = v->nargs ? v->args[0] : NULL;
    switch ((int)v->op) {
    case OP_CHUNK: case OP_SPLIT: case OP_TENSOR_SPLIT: case OP_UNFLATTEN: case OP_STACK:
        break;
    case OP_UNBIND:
        if (x->op == OP_UNFLATTEN) x = x->args[0];
        break;
    default: return false;
    }
    for (uint32_t i = 0; i < m->seen.len; i++) {
        const Val *part = m->seen.at[i];
        bool takes = v->op == OP_STACK ? part->op == OP_WEAVE
                                       : part->op == V_PART || part->op == OP_STRIDED;
        if (takes && part->args[0] == x) return true;
    }
    return false;
}

static bool computes_inner(const Place *p, const StmtInfo *s) {
    const FrameIndex *index = frame_index(p->frame);
    Range stmts = frame_inside(p->frame, s);
    for (uint32_t i = index->evals_from[stmts.from]; i < index->evals_from[stmts.to]; i++) {
        if (match_sees(p->match, index->evals[i]->val)) return true;
    }
    // gate, up = x.chunk(2, -1); h = x[..., :d]: what is bound is the part.
    Range events = index_events(index, s->time_before + 1, s->time_after);
    for (uint32_t i = events.from; i < events.to; i++) {
        const Bind *b = index->events[i].bind;
        if (b && b->val && (match_sees(p->match, b->val) || is_split_of_seen(p->match, b->val))) {
            return true;
        }
    }
    return false;
}

static uint32_t total_effects(const Frame *f, const StmtInfo *s) {
    uint32_t total = 0;
    Range stmts = frame_inside(f, s);
    for (uint32_t i = stmts.from; i < stmts.to; i++) total += f->stmts.at[i].effects;
    return total;
}

typedef struct EffectWalk {
    const ModuleFlow *mf;
    const Match *match;
    bool inputs_only; // count effects inside bound inputs
    uint32_t effects;
} EffectWalk;

// nn.Sequential(layer, activation), where an input goes from one to the other.
static bool is_layer_and_activation(const Match *m, const Val *v) {
    if (!v->assume || v->nargs == 0 || !match_binds(m, val_strip(v->args[0]))) return false;
    const Val *made = flow_resolve(m->flow, v->assume->subject).val;
    return made && made->op == V_INSTANCE && !made->def &&
           str_is(made->text, "torch.nn.Sequential");
}

static bool count_effects(Node *node, void *data) {
    EffectWalk *walk = data;
    if (walk->inputs_only) {
        Val *v = node_val(walk->mf, node);
        if (v && (match_binds(walk->match, val_strip(v)) ||
                  is_layer_and_activation(walk->match, v))) {
            EffectWalk inside = *walk;
            inside.inputs_only = false;
            inside.effects = 0;
            count_effects(node, &inside);
            walk->effects += inside.effects;
            return true;
        }
        return node_children(node, count_effects, data);
    }
    if (node->kind == N_CALL) {
        walk->effects += node_effects(walk->mf, node);
        return true;
    }
    return node_children(node, count_effects, data);
}

static uint32_t effects_in(const Frame *f, const Match *m, Node *node,
                           bool inputs_only) {
    EffectWalk walk = {f->mf, m, inputs_only, 0};
    count_effects(node, &walk);
    return walk.effects;
}

static bool is_pure(const Place *p, const StmtInfo *s) {
    bool writes = s->stmt->kind == N_EXPR && s->writes; // scores.masked_fill_(m, c)
    if (!(stmt_only_binds(s->stmt) || writes) || s->ends || place_writes_others(p, s)) return false;
    uint32_t inside = effects_in(p->frame, p->match, s->stmt, true);
    return total_effects(p->frame, s) == inside;
}

// ---- who reads it -----------------------------------------------------------

bool place_drops(const Place *p, const Node *stmt) {
    for (uint32_t i = p->first; i < p->last; i++) {
        if (!p->kept[i] && holds_stmt(p->frame, p->infos[i], stmt)) return true;
    }
    return p->infos[p->last]->stmt == stmt;
}

typedef struct NameWalk {
    const Place *place;
    const StmtInfo *dropped; // NULL: any
    const Node *skip;
    const Node *stmt;
    bool found;
} NameWalk;

// The index of the name's first event at `time` or later.
static uint32_t first_event(const NameInfo *info, uint32_t time) {
    uint32_t low = 0, high = info->events.len;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (info->events.at[mid].time < time) low = mid + 1;
        else high = mid;
    }
    return low;
}

// The last statement must not read, outside the result, what `dropped` binds.
static bool find_outside_read(Node *node, void *data) {
    NameWalk *walk = data;
    if (node == walk->skip) return true;
    if (node->kind == N_NAME && node->ctx == CTX_LOAD) {
        const Place *p = walk->place;
        NameInfo *info = name_find(&p->frame->names, (uintptr_t)node->u.name.id);
        if (!info) return true;
        Bind *now = name_at(info, p->infos[p->last]->time_before);
        for (uint32_t i = first_event(info, walk->dropped->time_before);
             i < info->events.len && holds_time(walk->dropped, info->events.at[i].time); i++) {
            if (now == info->events.at[i].bind) walk->found = true;
        }
        return true;
    }
    return node_children(node, find_outside_read, data);
}

static bool is_private(const Place *p, const StmtInfo *s) {
    const FrameIndex *index = frame_index(p->frame);
    Range events = index_events(index, s->time_before, s->time_after);
    for (uint32_t i = events.from; i < events.to; i++) {
        const TimedEvent *e = &index->events[i];
        if (e->info->captured) return false;
        if (e->bind && !place_bind_is_private(p, e->bind) && !place_may_release(p, e->bind)) {
            return false;
        }
    }
    const Node *root = p->infos[p->last]->stmt;
    NameWalk walk = {.place = p, .dropped = s, .skip = p->record->node};
    if (root != p->record->node) find_outside_read((Node *)(uintptr_t)root, &walk);
    return !walk.found;
}

// ---- names in the fused branch ----------------------------------------------

static bool has_event(const NameInfo *info, const StmtInfo *s) {
    uint32_t i = first_event(info, s->time_before);
    return i < info->events.len && holds_time(s, info->events.at[i].time);
}

// What the name holds in the fused branch just before block statement `at`.
static Bind *fused_bind(const Place *p, const NameInfo *info, uint32_t at) {
    for (uint32_t i = at; i-- > p->first;) {
        if (p->kept[i] && has_event(info, p->infos[i])) {
            return name_at(info, p->infos[i]->time_after);
        }
    }
    return name_at(info, p->infos[p->first]->time_before);
}

typedef struct ReadSearch {
    const Place *place;
    const Val *val;
    uint32_t at;
    const Sym *found;
} ReadSearch;

// A name that the matched statements themselves read the value by.
static bool search_read(Node *node, void *data) {
    ReadSearch *search = data;
    const Place *p = search->place;
    if (node->kind != N_NAME) return node_children(node, search_read, data);
    if (node->ctx != CTX_LOAD || node_val(p->frame->mf, node) != search->val) return true;
    const NameInfo *info = name_find(&p->frame->names, (uintptr_t)node->u.name.id);
    const Bind *b = info ? fused_bind(p, info, search->at) : NULL;
    if (!b || b->val != search->val) return true;
    search->found = node->u.name.id;
    return false;
}

static const Sym *name_holding(const Place *p, const Val *v, uint32_t at) {
    ReadSearch search = {.place = p, .val = v, .at = at};
    for (uint32_t i = p->first; i <= p->last && !search.found; i++) {
        if (!p->kept[i]) search_read(p->infos[i]->stmt, &search);
    }
    if (search.found) return search.found;
    const Sym *best = NULL;
    uint32_t best_time = 0;
    for (const HeldBy *held = index_held(frame_index(p->frame), v); held; held = held->next) {
        const NameInfo *info = held->info;
        if (held->val != v || info->key & 1) continue;
        const Bind *b = fused_bind(p, info, at);
        if (!b || b->val != v || b->may_lack) continue;
        uint32_t time = info->events.len ? info->events.at[0].time : 0;
        if (!best || time > best_time) {
            best = (const Sym *)info->key;
            best_time = time;
        }
    }
    return best;
}

static Str number_text(const Place *p, const Val *v) {
    if (v->node && v->node->kind == N_CONSTANT && v->module) {
        return source_span(&v->module->source, v->node->start, v->node->end);
    }
    return arena_printf(p->frame->flow->arena, "%.12g", v->num);
}

static Str expr_at(const Place *p, Val *v, uint32_t at, int depth) {
    Arena *arena = p->frame->flow->arena;
    if (val_is_number(v)) return number_text(p, v);
    if (val_is_none(v)) return STR("None");
    if (!p->infos[p->last]) return (Str){0}; // a block too long to be looked at
    const Sym *name = name_holding(p, v, at);
    if (name) return sym_str(name);
    if (v->op == V_ATTR && depth < 8) {
        Str object = expr_at(p, v->args[0], at, depth + 1);
        if (object.len) {
            return arena_printf(arena, "%.*s.%s", STR_FMT(object), v->name->text);
        }
    }
    return (Str){0};
}

Str place_expr_at(const Place *p, Val *v, uint32_t at) {
    return expr_at(p, v, at, 0);
}

Str place_expr_start(const Place *p, Val *v) {
    return expr_at(p, v, p->first, 0);
}

Str place_expr(const Place *p, Val *v) {
    Str text = expr_at(p, v, p->last, 0);
    for (uint32_t i = 0; !text.len && i < p->match->spec->rule->param_count; i++) {
        if (p->inputs[i].val == v) text = p->inputs[i].text;
    }
    return text;
}

// ---- inputs that are no name: the source expression, evaluated once ---------

typedef struct NodeSearch {
    const Place *place;
    const Val *val;
    bool exact;
    Node *found;
} NodeSearch;

static bool search_node(Node *node, void *data) {
    NodeSearch *search = data;
    Val *v = node_val(search->place->frame->mf, node);
    bool stored = node->kind == N_NAME && node->ctx != CTX_LOAD;
    bool statement = node_is_statement(node);
    if (v && !stored && !statement && node->kind != N_STARRED &&
        (search->exact ? v == search->val : val_strip(v) == search->val)) {
        search->found = node;
        return false;
    }
    if (node->kind == N_LAMBDA) return true;
    return node_children(node, search_node, data);
}

typedef struct FreshCheck {
    const Place *place;
    uint32_t at;
    bool changed;
} FreshCheck;

// Every name of the expression must hold, in the fused branch, what it held.
static bool check_name(Node *node, void *data) {
    FreshCheck *check = data;
    const Place *p = check->place;
    if (asks_size(p, check->at, node)) return true;
    if (node->kind != N_NAME) return node_children(node, check_name, data);
    NameInfo *info = name_find(&p->frame->names, (uintptr_t)node->u.name.id);
    Val *was = node_val(p->frame->mf, node);
    if (!info || !was) return true;
    const Bind *b = fused_bind(p, info, check->at);
    if (!b || b->val != was || b->may_lack) check->changed = true;
    return true;
}

static bool is_evaluable(const Place *p, Node *node, uint32_t at) {
    FreshCheck check = {.place = p, .at = at};
    check_name(node, &check);
    return !check.changed;
}

static Node *find_node(const Place *p, const Val *v, bool exact, uint32_t *at) {
    for (uint32_t i = p->first; i <= p->last; i++) {
        if (i < p->last && p->kept[i]) continue;
        NodeSearch search = {.place = p, .val = v, .exact = exact};
        Node *from = i == p->last ? p->record->node : p->infos[i]->stmt;
        if (node_is_statement(from)) node_children(from, search_node, &search);
        else search_node(from, &search);
        if (search.found && is_evaluable(p, search.found, i)) {
            *at = i;
            return search.found;
        }
    }
    return NULL;
}

// Casts of a bound input that were met: any of them may stand for it.
static Val *other_form(const Place *p, const Val *bound, uint32_t *from) {
    const Match *m = p->match;
    for (; *from < m->seen.len; (*from)++) {
        Val *v = m->seen.at[*from];
        if (v->op == V_CAST && val_strip(v) == bound) {
            (*from)++;
            return v;
        }
    }
    return NULL;
}

static bool place_named(Place *p, PlacedInput *in, Val *v) {
    Str text = expr_at(p, v, p->last, 0);
    if (!text.len) return false;
    in->val = v;
    in->text = text;
    in->start = expr_at(p, v, p->first, 0);
    return true;
}

// A view of something that has no name: that is evaluated into one.
static bool place_below_views(Place *p, PlacedInput *in, Val *v) {
    Val *inner = attend_below_views(v);
    in->node = inner != v ? find_node(p, inner, false, &in->at) : NULL;
    if (!in->node) return false;
    in->val = v;
    in->suffix = compose_views(p, v, inner);
    return in->suffix.len > 0;
}

// What the matcher made up: attention's masks under their conditions.
static bool place_composed(Place *p, PlacedInput *in, Val *v) {
    Str text = p->match->attend ? compose_expr(p, v, p->last) : (Str){0};
    if (!text.len) return p->match->attend && place_below_views(p, in, v);
    in->val = v;
    in->text = text;
    in->start = compose_expr(p, v, p->first);
    in->composed = true;
    return true;
}

// What goes into the activation of nn.Sequential(layer, activation): self.gate[0](x),
// evaluated where self.gate(x) is.
static bool place_layer(Place *p, PlacedInput *in, Val *bound) {
    const Match *m = p->match;
    for (uint32_t i = 0; i < m->seen.len; i++) {
        const Val *v = m->seen.at[i];
        if (!is_layer_and_activation(m, v) || val_strip(v->args[0]) != bound) continue;
        in->node = find_node(p, v, true, &in->at);
        in->made = in->node ? compose_expr(p, bound, in->at) : (Str){0};
        if (!in->made.len) continue;
        in->val = bound;
        return true;
    }
    in->node = NULL;
    return false;
}

static bool place_input(Place *p, uint32_t param) {
    PlacedInput *in = &p->inputs[param];
    Val *bound = p->match->bound[param];
    if (place_named(p, in, bound)) return true;
    in->node = find_node(p, bound, true, &in->at);
    if (in->node) {
        in->val = bound;
        return true;
    }
    uint32_t from = 0;
    for (Val *v; (v = other_form(p, bound, &from));) {
        if (place_named(p, in, v)) return true;
    }
    in->node = find_node(p, bound, false, &in->at);
    if (!in->node) return place_composed(p, in, bound) || place_layer(p, in, bound);
    in->val = node_val(p->frame->mf, in->node);
    return true;
}

// ---- fresh names ------------------------------------------------------------

static bool name_used(const Place *p, Str name) {
    const Sym *sym = sym_find(p->frame->flow->symbols, name);
    if (!sym) return false;
    // A nested function that binds a name of the function around it hides it.
    for (const Frame *f = p->frame; f; f = f->lexical) {
        if (name_find(&f->names, (uintptr_t)sym)) return true;
    }
    return module_binding(p->frame->module, sym);
}

Str place_fresh_name(const Place *p, Str wish) {
    Str name = wish;
    for (uint32_t i = 1; name_used(p, name); i++) {
        name = i == 1 ? arena_printf(p->frame->flow->arena, "npu_%.*s", STR_FMT(wish))
                      : arena_printf(p->frame->flow->arena, "npu_%.*s_%u",
                                     STR_FMT(wish), i);
    }
    return name;
}

static void name_inputs(Place *p) {
    const Rule *rule = p->match->spec->rule;
    for (uint32_t i = 0; i < rule->param_count; i++) {
        PlacedInput *in = &p->inputs[i];
        if (!in->node) continue;
        in->name = place_fresh_name(p, sym_str(rule->params[i].name));
        in->text = in->suffix.len ? arena_printf(p->frame->flow->arena, "%.*s%.*s",
                                                 STR_FMT(in->name), STR_FMT(in->suffix))
                                  : in->name;
    }
}

// ---- the span ---------------------------------------------------------------

static bool is_simple_root(const Node *stmt, const Node *expr) {
    switch ((int)stmt->kind) {
    case N_ASSIGN: case N_ANN_ASSIGN: case N_RETURN: case N_EXPR: return true;
    case N_AUG_ASSIGN: return stmt == expr || stmt->u.aug_assign.target->kind == N_NAME;
    default: return false;
    }
}

static bool collect_infos(Place *p, const StmtInfo *root) {
    if (root->index >= SPAN_MAX) {
        p->first = p->last = SPAN_MAX - 1;
        return false;
    }
    p->block = root->block;
    p->last = root->index;
    for (uint32_t i = 0; i <= p->last; i++) {
        p->infos[i] = info_of(p->frame, root->block->at[i]);
        if (!p->infos[i]) return false;
    }
    return true;
}

// Operators whose result costs something; views and casts hardly do.
enum { READERS_MAX = 10000 }; // behind so many one will do

static bool is_work(const Val *v) {
    switch ((int)v->op) {
    case OP_CONTIGUOUS: case OP_VIEW: case OP_CHUNK: case OP_SPLIT: case OP_UNSQUEEZE:
    case OP_SQUEEZE: case OP_TRANSPOSE: case OP_PERMUTE: case OP_EXPAND: case OP_DETACH:
    case OP_STRIDED: case OP_UNFLATTEN: case OP_UNBIND: case OP_VIEW_AS_COMPLEX:
    case OP_VIEW_AS_REAL:
        return false;
    default: return v->op > V_CAST;
    }
}

// Whether the statement computes an inner value that costs something: more than
// the cast of an input.
static bool computes_work(const Place *p, const StmtInfo *s) {
    const FrameIndex *index = frame_index(p->frame);
    Range stmts = frame_inside(p->frame, s);
    for (uint32_t i = index->evals_from[stmts.from]; i < index->evals_from[stmts.to]; i++) {
        const Val *v = index->evals[i]->val;
        if (is_work(v) && match_sees(p->match, v)) return true;
    }
    return false;
}

// Leaves out what is only there for the match, until nothing changes.
static void drop_statements(Place *p) {
    p->first = 0;
    for (uint32_t i = 0; i < p->last; i++) {
        p->computes[i] = computes_inner(p, p->infos[i]);
        bool leaves = p->match->keeps_views && !computes_work(p, p->infos[i]);
        p->kept[i] = leaves || !(p->computes[i] && is_pure(p, p->infos[i]));
    }
    // Numbers like `dtype = x.dtype` that only dropped statements read.
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = p->last; i-- > 0;) {
            if (p->kept[i] || is_private(p, p->infos[i])) continue;
            p->kept[i] = true;
            p->wasted |= computes_work(p, p->infos[i]);
            changed = true;
        }
    }
    while (p->first < p->last && p->kept[p->first]) p->first++;
    for (uint32_t i = p->first; i < p->last; i++) {
        if (!p->kept[i]) place_note_released(p, p->infos[i]);
    }
}

// if half: return x * a: what follows is reached only without it.
static bool block_leaves(const NodeList *block) {
    const Node *last = block->len ? block->at[block->len - 1] : NULL;
    return last && (last->kind == N_RETURN || last->kind == N_RAISE);
}

// Whether `stmt` has run whenever the root is reached: it stands in or before
// a statement of a block around the root.
static bool runs_before(const Place *p, const Node *stmt) {
    Frame *f = p->frame;
    for (const StmtInfo *s = info_of(f, stmt); s; s = frame_around(f, s)) {
        for (const StmtInfo *q = p->infos[p->last]; q; q = frame_around(f, q)) {
            if (s->block == q->block && s->index < q->index) return true;
        }
        if (block_leaves(s->block)) return false;
    }
    return false;
}

// In the statement of the result, outside of it: silu(x) * y * silu(x)
static bool is_beside(const Place *p, const EvalRecord *e) {
    const Node *whole = p->record->node;
    return e->stmt == p->record->stmt && !is_scalar(p->frame->flow, e->val, (Scalars){0}) &&
           (e->node->end <= whole->start || e->node->start >= whole->end);
}

// Inner values that statements outside of the span compute stay computed.
static bool leaves_work(const Place *p) {
    const FrameIndex *index = frame_index(p->frame);
    uint32_t looked = 0;
    for (uint32_t i = 0; i < p->match->seen.len; i++) {
        const Val *v = p->match->seen.at[i];
        if (!is_work(v)) continue;
        for (const EvalOf *of = index_evals_of(index, v); of; of = of->next) {
            const EvalRecord *e = of->record;
            if (e->val != v || !e->stmt) continue;
            if (is_beside(p, e)) return true;
            if (place_drops(p, e->stmt)) continue;
            if (++looked > READERS_MAX || runs_before(p, e->stmt)) return true;
        }
    }
    return false;
}

static bool spans_lines(Node *node, void *data) {
    const Place *p = data;
    const SourceText *source = &p->frame->module->source;
    bool text = (node->kind == N_CONSTANT && node->op == CONST_STR) ||
                node->kind == N_JOINED_STR;
    if (text && source_line(source, node->start) !=
                    source_line(source, node->end ? node->end - 1 : 0)) {
        return false;
    }
    return node_children(node, spans_lines, data);
}

static bool is_blank(const SourceText *source, uint32_t from, uint32_t to,
                     bool comment_ends) {
    for (uint32_t i = from; i < to; i++) {
        char c = source->text.at[i];
        if (comment_ends && c == '#') return true;
        if (c != ' ' && c != '\t' && c != '\f' && c != '\r') return false;
    }
    return true;
}

// The span must own its lines: nothing before it on the first, nothing but a
// comment behind it on the last.
static bool owns_lines(const Place *p) {
    const SourceText *source = &p->frame->module->source;
    const Node *first = p->infos[p->first]->stmt, *last = p->infos[p->last]->stmt;
    uint32_t line = source_line(source, first->start);
    uint32_t end_line = source_line(source, last->end);
    uint32_t end = end_line < source->line_count ? source->lines[end_line]
                                                 : (uint32_t)source->text.len;
    while (end > last->end && (source->text.at[end - 1] == '\n' ||
                               source->text.at[end - 1] == '\r')) {
        end--;
    }
    return is_blank(source, source->lines[line - 1], first->start, false) &&
           is_blank(source, last->end, end, true);
}

typedef struct CallSearch {
    const Place *place;
    bool found;
} CallSearch;

static bool search_call_before(Node *node, void *data) {
    CallSearch *search = data;
    const Place *p = search->place;
    if (node == p->record->node) return true;
    if (node->kind == N_CALL && node->end <= p->record->node->start &&
        node_effects(p->frame->mf, node)) {
        search->found = true;
        return false;
    }
    return node_children(node, search_call_before, data);
}

// A call that is evaluated wholly before the result; f(result) is not.
static bool has_call_before(const Place *p, Node *value) {
    CallSearch search = {.place = p};
    search_call_before(value, &search);
    return search.found;
}

// Calls evaluated before the result in its statement keep their order only if
// no input is evaluated ahead of them.
static bool keeps_order(const Place *p) {
    const Node *root = p->infos[p->last]->stmt;
    if (root == p->record->node) return true;
    bool hoists = false;
    for (uint32_t i = 0; i < RULE_MAX_PARAMS; i++) {
        const PlacedInput *in = &p->inputs[i];
        hoists |= in->node && in->at == p->last &&
                  effects_in(p->frame, p->match, in->node, false) > 0;
    }
    uint32_t all = p->infos[p->last]->effects;
    uint32_t inside = effects_in(p->frame, p->match, p->record->node, false);
    if (!hoists || all == inside) return true;
    Node *value = root->kind == N_RETURN || root->kind == N_EXPR
                      ? root->u.return_.value
                  : root->kind == N_ASSIGN ? root->u.assign.value : NULL;
    return value && !has_call_before(p, value);
}

typedef struct ReboundSearch {
    const Place *place;
    uint32_t at; // the left out statement that is searched
    bool found;
} ReboundSearch;

// A name that a later statement, kept in its place, binds anew or deletes.
static bool search_rebound(Node *node, void *data) {
    ReboundSearch *search = data;
    const Place *p = search->place;
    for (uint32_t i = 0; i < p->match->spec->rule->param_count; i++) {
        if (p->inputs[i].node == node && p->inputs[i].at == search->at) return true;
    }
    if (node->kind != N_NAME || node->ctx != CTX_LOAD) {
        return node_children(node, search_rebound, data);
    }
    const NameInfo *info = name_find(&p->frame->names, (uintptr_t)node->u.name.id);
    for (uint32_t k = search->at + 1; info && k < p->last; k++) {
        search->found |= p->kept[k] && has_event(info, p->infos[k]);
    }
    return !search->found;
}

bool place_rereads(const Place *p) {
    ReboundSearch search = {.place = p};
    for (uint32_t i = p->first; i < p->last && !search.found; i++) {
        search.at = i;
        if (!p->kept[i]) search_rebound(p->infos[i]->stmt, &search);
    }
    return !search.found;
}

// Names that the emitted code reads from the module.
static bool hides_emitted(const Place *p) {
    static const char *const NAMES[] = {"torch_npu", "npu_fused_ready"};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        const Sym *sym = sym_find(p->frame->flow->symbols, str_of(NAMES[i]));
        for (const Frame *f = p->frame; sym && f && f->fn; f = f->lexical) {
            if (name_find(&f->names, (uintptr_t)sym)) return true;
        }
    }
    return false;
}

void place_match(Place *out, Frame *frame, const Match *match,
                 const EvalRecord *record) {
    *out = (Place){.frame = frame, .match = match, .record = record};
    if (record->in_nested || frame->fn->u.function->of_lambda) {
        out->fault = "it stands in a lambda or comprehension, where no statement can be replaced";
        return;
    }
    StmtInfo *root = record->stmt ? info_of(frame, record->stmt) : NULL;
    if (!root || !is_simple_root(record->stmt, record->node)) {
        out->fault = "it stands in the header of a compound statement";
        return;
    }
    if (!collect_infos(out, root)) {
        out->fault = "its block is too long";
        return;
    }
    drop_statements(out);
    if (match->attend) out->fault = match->attend->trouble;
    if (match->attend && !out->fault) out->fault = match->attend->unread;
    if (out->fault) return;
    out->wasted |= leaves_work(out);
    if (hides_emitted(out)) {
        out->fault = "the function has a name of its own that the replacement needs";
        return;
    }
    if (place_writes_others(out, root) || place_writes_shared(out, root)) {
        out->fault = "an in-place operator changes a tensor that others see";
        return;
    }
    if (place_leaves_stores(out, root)) {
        out->fault = "a function that would not be called any more stores something";
        return;
    }
    for (uint32_t i = 0; i < match->spec->rule->param_count; i++) {
        if (match->bound[i] && !place_input(out, i)) {
            out->fault = "an input has no expression where the replacement would stand";
            return;
        }
    }
    name_inputs(out);
    if (place_writes_input(out)) {
        out->fault = "an input changes between its statement and the result's";
        return;
    }
    if (!keeps_order(out)) {
        out->fault = "calls would be evaluated in another order";
        return;
    }
    for (uint32_t i = out->first; i <= out->last; i++) {
        if (spans_lines(out->infos[i]->stmt, out)) continue;
        out->fault = "a string of several lines would be indented";
        return;
    }
    if (!owns_lines(out)) out->fault = "other statements share its lines";
}
