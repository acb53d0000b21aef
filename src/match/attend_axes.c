// attend_axes.c - the axes of products: matmul, einsum, views and repeats.
#include "base/base.h"

#include "match/attend_impl.h"

enum { RANK_MAX_STEPS = 64, CHOICES_MAX = 8 };

// ---- ranks ------------------------------------------------------------------

static uint32_t tuple_rank(const Val *sizes) {
    if (sizes->op != V_TUPLE && sizes->op != V_LIST) return 0;
    for (uint32_t i = 0; i < sizes->nargs; i++) {
        if (sizes->args[i]->op == V_STAR || sizes->args[i]->op == V_SHAPE) return 0;
    }
    // x.view(hidden_shape): one name for all sizes.
    return sizes->nargs > 1 ? sizes->nargs : 0;
}

static uint32_t changed_rank(uint32_t rank, int by) {
    return rank ? (uint32_t)((int)rank + by) : 0;
}

static uint32_t letters_rank(const Val *einsum) {
    if (einsum->args[0]->op != V_CONST || einsum->args[0]->ck != CONST_STR) return 0;
    Str text = einsum->args[0]->text;
    uint32_t n = 0;
    bool behind = false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '.') return 0;
        if (text.at[i] == '>') behind = true;
        else if (behind && text.at[i] != ' ') n++;
    }
    return n;
}

static uint32_t rank_of(const Val *x, uint32_t *steps) {
    while (++*steps < RANK_MAX_STEPS) {
        if (x->rank) return x->rank;
        switch ((int)x->op) {
        case V_CAST: case OP_CONTIGUOUS: case OP_CLONE: case OP_SOFTMAX: case OP_DROPOUT:
        case OP_TRANSPOSE: case OP_NEG: case OP_SIGMOID: case OP_MASKED_FILL:
        case OP_REPEAT_INTERLEAVE: case OP_DETACH: case OP_CLAMP:
            x = x->args[0];
            break;
        case OP_MUL: case OP_ADD: {
            uint32_t a = rank_of(x->args[0], steps), b = rank_of(x->args[1], steps);
            return a > b ? a : b;
        }
        case OP_MATMUL: {
            uint32_t a = rank_of(x->args[0], steps);
            return a ? a : rank_of(x->args[1], steps);
        }
        case V_PHI:
            return rank_of(x->args[1], steps) == rank_of(x->args[2], steps)
                ? rank_of(x->args[1], steps) : 0;
        case OP_VIEW: case OP_PERMUTE: case OP_EXPAND: return tuple_rank(x->args[1]);
        case OP_UNSQUEEZE: return changed_rank(rank_of(x->args[0], steps), 1);
        case OP_EINSUM: return letters_rank(x);
        default: return 0;
        }
    }
    return 0;
}

uint32_t value_rank(const Val *x) {
    uint32_t steps = 0;
    return rank_of(x, &steps);
}

// ---- axes by letters --------------------------------------------------------

static int letter_at(const char *axes, char letter) {
    const char *at = strchr(axes, letter);
    return at && letter ? (int)(at - axes) : -1;
}

static Val *transpose(Flow *flow, Val *x, int64_t a, int64_t b) {
    Graph *g = &flow->graph;
    return val_new3(g, OP_TRANSPOSE, x, val_int(g, a), val_int(g, b));
}

Val *reorder_axes(Flow *flow, Val *x, const char *from, const char *to) {
    Graph *g = &flow->graph;
    uint32_t n = (uint32_t)strlen(from), moved = 0;
    Val *dims[AXES_MAX];
    int first = -1, last = -1;
    for (uint32_t i = 0; i < n; i++) {
        int at = letter_at(from, to[i]);
        if (at < 0) return NULL;
        dims[i] = val_int(g, at);
        if (at == (int)i) continue;
        moved++;
        if (first < 0) first = (int)i;
        last = (int)i;
    }
    if (moved == 0) return x;
    if (moved == 2) return transpose(flow, x, first, last);
    return val_new2(g, OP_PERMUTE, x, val_new(g, V_TUPLE, dims, n));
}

// Whether axes a and b are the last two of a tensor with `rank` axes (0: not
// known; then axes 2 and 3 are taken for those of four).
static bool is_last_two(const Val *a, const Val *b, uint32_t rank) {
    if (!val_is_number(a) || !val_is_number(b)) return false;
    int64_t n = rank ? rank : 4, x = (int64_t)a->num, y = (int64_t)b->num;
    if (x < 0) x += n;
    if (y < 0) y += n;
    return (x == n - 1 && y == n - 2) || (x == n - 2 && y == n - 1);
}

// permute(0, 2, 1), permute(0, 1, 3, 2)
static bool permutes_last_two(const Val *sizes) {
    uint32_t n = sizes->nargs;
    if ((sizes->op != V_TUPLE && sizes->op != V_LIST) || n < 2) return false;
    for (uint32_t i = 0; i < n; i++) {
        int64_t wanted = i + 2 < n ? i : i + 2 == n ? n - 1 : n - 2;
        bool fits = val_is_int(sizes->args[i], wanted) ||
                    val_is_int(sizes->args[i], wanted - (int64_t)n);
        if (!fits) return false;
    }
    return true;
}

Val *below_turn(const Val *v) {
    if (v->op == OP_PERMUTE) return permutes_last_two(v->args[1]) ? v->args[0] : NULL;
    if (v->op != OP_TRANSPOSE || !is_last_two(v->args[1], v->args[2], value_rank(v))) return NULL;
    return v->args[0];
}

// x^T on the last two axes: below a transpose, else with one around it.
static Val *flipped(Reader *r, Val *x) {
    Val *inner = read_open(r, x), *below = below_turn(inner);
    if (below) {
        read_sees(r, inner);
        return read_open(r, below); // k.float().transpose(-2, -1)
    }
    return transpose(r->flow, inner, -2, -1);
}

static const char *const BATCH[] = {"", "", "", "N", "BN", "BWN", "BWXN"};

static void set_axes(char *out, const char *batch, const char *rest) {
    size_t n = strlen(batch);
    memcpy(out, batch, n);
    memcpy(out + n, rest, strlen(rest) + 1);
}

static bool matmul_scores(Reader *r, Val *v, Scores *out) {
    uint32_t rank = value_rank(v);
    if (!rank) rank = value_rank(v->args[1]);
    out->rank = rank;
    const char *batch = BATCH[rank >= 2 && rank < COUNT(BATCH) ? rank : 4];
    read_sees(r, v);
    out->query = read_open(r, v->args[0]);
    out->key = flipped(r, v->args[1]);
    set_axes(out->query_axes, batch, "QD");
    set_axes(out->key_axes, batch, "KD");
    set_axes(out->axes, batch, "QK");
    return true;
}

// ---- einsum -----------------------------------------------------------------

typedef struct Equation {
    char in[2][AXES_MAX + 1], out[AXES_MAX + 1];
    Val *operands[2];
} Equation;

// One side of an equation without its "...", which may only stand first.
static bool read_letters(char *out, bool *dots, Str text) {
    uint32_t n = 0;
    *dots = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == ' ') continue;
        if (n == 0 && !*dots && str_starts((Str){text.at + i, text.len - i}, "...")) {
            *dots = true;
            i += 2;
            continue;
        }
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter || n == AXES_MAX || strchr(out, c)) return false;
        out[n++] = c;
        out[n] = 0;
    }
    return true;
}

// "...qhd, ...khd -> ...hqk": the axes that "..." stands for, so that there are
// four, which the guard asks for.
static bool name_dots(Equation *e) {
    char *sides[] = {e->in[0], e->in[1], e->out};
    size_t open = strlen(e->in[0]) < 4 ? 4 - strlen(e->in[0]) : 0;
    if (open == 0 || open > 2) return false;
    for (size_t i = 0; i < COUNT(sides); i++) {
        size_t n = strlen(sides[i]);
        if (n + open > AXES_MAX) return false;
        memmove(sides[i] + open, sides[i], n + 1);
        for (size_t k = 0; k < open; k++) sides[i][k] = (char)('1' + k);
    }
    return true;
}

static bool is_text(const Val *v) {
    return v->op == V_CONST && v->ck == CONST_STR;
}

// Of an equation that is chosen the longer one, which leaves no axis out; `*arm`: 1 or 2
// where there are two.
static const Val *equation_of(const Val *einsum, int *arm) {
    const Val *v = einsum->args[0];
    *arm = 0;
    if (v->op != V_PHI || !is_text(v->args[1]) || !is_text(v->args[2])) return v;
    *arm = v->args[1]->text.len >= v->args[2]->text.len ? 1 : 2;
    return v->args[*arm];
}

// What is read is the one arm of a chosen equation.
static void see_choice(Reader *r, const Val *einsum) {
    int arm;
    equation_of(einsum, &arm);
    for (uint32_t i = 0; arm && i < r->out->branches.len; i++) {
        if (r->out->branches.at[i].cond == einsum->args[0]->args[0]) return; // is said
    }
    if (!arm) return;
    Branch branch = {einsum->args[0]->args[0], arm == 1, "the equation is another", true};
    vec_push(r->flow->arena, &r->out->branches, branch);
}

// "bqhd, bkhd -> bhqk" of two operands; false for anything else.
static bool read_equation(const Val *v, Equation *out) {
    *out = (Equation){0};
    if (v->op != OP_EINSUM) return false;
    int arm;
    const Val *equation = equation_of(v, &arm);
    if (!is_text(equation)) return false;
    if (v->args[1]->nargs != 2) return false;
    Str text = equation->text;
    size_t comma = 0, arrow = 0;
    for (size_t i = 0; i + 1 < text.len; i++) {
        if (text.at[i] == ',' && !comma) comma = i;
        if (text.at[i] == '-' && text.at[i + 1] == '>' && !arrow) arrow = i;
    }
    if (!comma || arrow < comma) return false;
    bool dots[3];
    bool fits = read_letters(out->in[0], &dots[0], (Str){text.at, comma}) &&
                read_letters(out->in[1], &dots[1],
                             (Str){text.at + comma + 1, arrow - comma - 1}) &&
                read_letters(out->out, &dots[2],
                             (Str){text.at + arrow + 2, text.len - arrow - 2});
    out->operands[0] = v->args[1]->args[0];
    out->operands[1] = v->args[1]->args[1];
    if (!fits || dots[0] != dots[1] || dots[0] != dots[2]) return false;
    return !dots[0] || name_dots(out);
}

// Letters as their roles, by what was found for each; false if one has none.
static bool name_axes(char *out, const char *letters, const char *roles) {
    uint32_t n = 0;
    for (; letters[n]; n++) {
        out[n] = roles[(unsigned char)letters[n]];
        if (!out[n]) return false;
    }
    out[n] = 0;
    return true;
}

// x without an axis that the queries have, "bkd": with one of length 1, which the operator
// reads for all of theirs.
static Val *with_one_head(Reader *r, Val *x, char *axes, char role) {
    memmove(axes + 2, axes + 1, strlen(axes));
    axes[1] = role;
    return val_new2(&r->flow->graph, OP_UNSQUEEZE, x, val_int(&r->flow->graph, 1));
}

// "bhid, bjd -> bhij": keys of one head, so that all axes of the queries but the last before
// that of the keys are heads; "bghid, bhjd -> bghij": groups of queries that share the keys
// of a head. The axis that the keys get, or 0.
static char head_of_queries(const Equation *e) {
    size_t n = strlen(e->out), own = 0;
    const char *keys = e->in[1];
    if (n < 4 || n > 5 || strlen(e->in[0]) != n || strlen(keys) != n - 1) return 0;
    if (!strchr(keys, e->out[n - 1]) || keys[0] != e->out[0] || e->in[0][0] != e->out[0]) return 0;
    char head = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        if (strchr(keys, e->out[i])) continue;
        own++;
        head = head ? head : e->out[i];
    }
    return own == 2 ? head : 0;
}

// Axes of both sides and of the result, in the order of the queries. No layout of the
// operator has more than two.
static const char BATCHES[] = "BNWXYZ";

static bool einsum_scores(Reader *r, Val *v, Scores *out) {
    Equation e;
    if (!read_equation(v, &e)) {
        return read_fails(r, v, "an einsum that is no product of queries and keys");
    }
    char head = head_of_queries(&e);
    char roles[128] = {0};
    uint32_t batches = 0;
    for (const char *c = e.in[0]; *c; c++) {
        bool key = strchr(e.in[1], *c), kept = strchr(e.out, *c);
        if (key && kept) roles[(unsigned char)*c] = BATCHES[batches++];
        else if (key) roles[(unsigned char)*c] = 'D';
        else roles[(unsigned char)*c] = 'Q';
    }
    if (head) roles[(unsigned char)head] = BATCHES[batches++];
    for (const char *c = e.in[1]; *c; c++) {
        if (!roles[(unsigned char)*c]) roles[(unsigned char)*c] = 'K';
    }
    if (batches == 1) {
        for (int i = 0; i < 128; i++) roles[i] = roles[i] == 'B' ? 'N' : roles[i];
    }
    size_t n = strlen(e.out);
    bool fits = name_axes(out->query_axes, e.in[0], roles) &&
                name_axes(out->key_axes, e.in[1], roles) && name_axes(out->axes, e.out, roles) &&
                n == strlen(e.in[0]) && n == strlen(e.in[1]) + !!head && n == batches + 2 &&
                strchr(out->axes, 'Q') && strchr(out->axes, 'K') && batches > 0 && batches < 5;
    if (!fits) return read_fails(r, v, "an einsum that is no product of queries and keys");
    read_sees(r, v);
    see_choice(r, v);
    out->rank = (uint32_t)n;
    out->query = read_open(r, e.operands[0]);
    out->key = read_open(r, e.operands[1]);
    if (head) out->one_head = roles[(unsigned char)head];
    if (head) out->key = with_one_head(r, out->key, out->key_axes, out->one_head);
    return true;
}

bool read_product(Reader *r, Val *v, Scores *out) {
    bool is_product = v->op == OP_MATMUL || v->op == OP_EINSUM;
    return is_product && (v->op == OP_MATMUL ? matmul_scores(r, v, out) : einsum_scores(r, v, out));
}

// ---- weights times values ---------------------------------------------------

// Whether weights of a softmax are in it, not behind another product.
static bool is_softmaxed(const Val *v, uint32_t *steps, int depth) {
    if (v->op == OP_SOFTMAX) return true;
    bool product = v->op == OP_MATMUL || v->op == OP_BMM || v->op == OP_EINSUM;
    if (product || depth > 16 || ++*steps > 200) return false;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (is_softmaxed(v->args[i], steps, depth + 1)) return true;
    }
    return false;
}

bool weighted_operands(Flow *flow, Val *root, Weighted *out) {
    (void)flow;
    *out = (Weighted){0};
    if (root->op == OP_MATMUL) {
        out->weights = root->args[0];
        out->value = root->args[1];
        return true;
    }
    Equation e;
    if (!read_equation(root, &e)) return false;
    uint32_t steps = 0, more = 0;
    out->second = !is_softmaxed(e.operands[0], &steps, 0) && is_softmaxed(e.operands[1], &more, 0);
    out->weights = e.operands[out->second];
    out->value = e.operands[!out->second];
    return true;
}

bool weighted_axes(Reader *r, Val *root, const Scores *s, Weighted *out) {
    size_t n = strlen(s->axes);
    if (root->op == OP_MATMUL) {
        if (strcmp(s->axes + n - 2, "QK") != 0) {
            return read_fails(r, root, "the weights are multiplied along another axis");
        }
        memcpy(out->axes, s->axes, n + 1);
        memcpy(out->value_axes, s->axes, n + 1);
        out->axes[n - 1] = 'D';
        out->value_axes[n - 2] = 'K';
        out->value_axes[n - 1] = 'D';
        return true;
    }
    Equation e;
    char roles[128] = {0};
    bool read = read_equation(root, &e);
    const char *weights = e.in[out->second], *value = e.in[!out->second];
    if (!read || strlen(weights) != n) {
        return read_fails(r, root, "an einsum that is no product of weights and values");
    }
    for (size_t i = 0; i < n; i++) roles[(unsigned char)weights[i]] = s->axes[i];
    for (const char *c = value; *c; c++) {
        if (!roles[(unsigned char)*c]) roles[(unsigned char)*c] = 'D';
    }
    bool fits = name_axes(out->value_axes, value, roles) && name_axes(out->axes, e.out, roles) &&
                strlen(value) + !!s->one_head == n && strlen(e.out) == n &&
                !strchr(out->value_axes, 'Q') && !strchr(out->axes, 'K') &&
                strchr(out->axes, 'Q') && strchr(out->axes, 'D');
    if (!fits) return read_fails(r, root, "the weights are multiplied along another axis");
    see_choice(r, root);
    if (s->one_head && out->value_axes[0] == 'B' && !strchr(out->value_axes, s->one_head)) {
        Val *open = read_open(r, out->value);
        out->value = with_one_head(r, open, out->value_axes, s->one_head);
    }
    return true;
}

// ---- heads that are repeated ------------------------------------------------

// x[:, :, None, :, :]: where the new axis stands, or -1.
static int new_axis(const Val *v) {
    if (v->op == OP_UNSQUEEZE && val_is_number(v->args[1])) return (int)v->args[1]->num;
    if (v->op != V_ITEM || v->args[1]->op != V_TUPLE) return -1;
    int found = -1;
    for (uint32_t i = 0; i < v->args[1]->nargs; i++) {
        const Val *part = v->args[1]->args[i];
        bool whole = part->op == V_SLICE && val_is_none(part->args[0]) &&
                     val_is_none(part->args[1]) && val_is_none(part->args[2]);
        if (val_is_none(part) && found < 0) found = (int)i;
        else if (!whole) return -1;
    }
    return found;
}

// Whether sizes (b, h * n, s, d) merge axes `axis` and the next of (b, h, n, s, d).
static bool merges_axis(const Val *sizes, const Val *wide, int axis) {
    if (sizes->nargs != 4) return false;
    for (int i = 0; i < 4; i++) {
        const Val *old = wide->args[i < axis ? i : i + 1];
        bool open = val_is_int(sizes->args[i], -1) || val_is_int(old, -1);
        if (i != axis && !open && sizes->args[i] != old) return false;
    }
    return true;
}

// x[:, :, None].expand(b, h, n, s, d).reshape(b, h * n, s, d)
static Val *unrepeat_view(Val *x, int axis, Val **times) {
    bool merges = x->op == OP_VIEW || x->op == OP_FLATTEN;
    if (!merges) return NULL;
    Val *wide = x->args[0];
    if (wide->op == OP_CONTIGUOUS) wide = wide->args[0];
    if (wide->op != OP_EXPAND || wide->args[1]->nargs != 5) return NULL;
    if (new_axis(wide->args[0]) != axis + 1) return NULL;
    if (x->op == OP_VIEW && !merges_axis(x->args[1], wide->args[1], axis)) return NULL;
    if (x->op == OP_FLATTEN &&
        (!val_is_int(x->args[1], axis) || !val_is_int(x->args[2], axis + 1))) {
        return NULL;
    }
    if (val_is_int(wide->args[1]->args[axis], 1)) return NULL;
    *times = wide->args[1]->args[axis + 1];
    return wide->args[0]->args[0];
}

// One arm is x, the other x repeated: repeated n == 1 times.
static Val *unrepeat(Flow *flow, Val *x, int axis, Val **times, int depth);

static Val *unrepeat_phi(Flow *flow, Val *x, int axis, Val **times, int depth) {
    for (int i = 1; i <= 2; i++) {
        Val *inner = unrepeat(flow, x->args[i], axis, times, depth + 1);
        if (inner && val_strip(inner) == val_strip(x->args[3 - i])) return inner;
    }
    return NULL;
}

static Val *unrepeat(Flow *flow, Val *x, int axis, Val **times, int depth) {
    if (depth > CHOICES_MAX) return NULL;
    x = val_strip(x);
    switch ((int)x->op) {
    case OP_REPEAT_INTERLEAVE: {
        bool fits = val_is_int(x->args[2], axis) || val_is_int(x->args[2], axis - 4);
        *times = x->args[1];
        return fits ? x->args[0] : NULL;
    }
    case V_PHI: return unrepeat_phi(flow, x, axis, times, depth);
    case OP_CONTIGUOUS: return unrepeat(flow, x->args[0], axis, times, depth + 1);
    case OP_TRANSPOSE: { // axes 1 and 2 changed places
        bool middle = (val_is_int(x->args[1], 1) && val_is_int(x->args[2], 2)) ||
                      (val_is_int(x->args[1], 2) && val_is_int(x->args[2], 1));
        Val *inner = middle ? unrepeat(flow, x->args[0], 3 - axis, times, depth + 1) : NULL;
        return inner ? transpose(flow, inner, 1, 2) : NULL;
    }
    default: return unrepeat_view(x, axis, times);
    }
}

Val *attend_unrepeat(Flow *flow, Val *x, int axis, Val **times) {
    return unrepeat(flow, x, axis, times, 0);
}

Val *attend_below_views(Val *v) {
    while (v->op == OP_TRANSPOSE || v->op == OP_PERMUTE) v = v->args[0];
    return v;
}
