// einsum.c - an einsum that multiplies element by element, as the product that it is.
//
//   einsum("...d,...d->...", x, y)  ->  sum(x * y, -1)
//   einsum("bsd,bs,d->bsd", x, y, z)  ->  x * y[..., None] * z
//
// Other equations stay: match/attend_axes.c reads those of queries and keys.
#include "base/base.h"

#include "flow/flow.h"

enum { OPERANDS_MAX = 4, LETTERS_MAX = 16 };

typedef struct Letters {
    char at[LETTERS_MAX]; // '.' for an ellipsis
    uint32_t len;
} Letters;

typedef struct Equation {
    Letters in[OPERANDS_MAX], out;
    uint32_t count;
} Equation;

static bool has_letter(const Letters *l, char c) {
    for (uint32_t i = 0; i < l->len; i++) {
        if (l->at[i] == c) return true;
    }
    return false;
}

// False for what is no letter, and for one that comes twice: a diagonal.
static bool add_letter(Letters *l, char c) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.';
    if (!letter || l->len == LETTERS_MAX || has_letter(l, c)) return false;
    l->at[l->len++] = c;
    return true;
}

static bool read_equation(Equation *e, Str text) {
    Letters *now = &e->in[0];
    e->count = 1;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == ' ') continue;
        if (c == ',' && now != &e->out) {
            if (e->count == OPERANDS_MAX) return false;
            now = &e->in[e->count++];
        } else if (c == '-' && i + 1 < text.len && text.at[i + 1] == '>' && now != &e->out) {
            now = &e->out;
            i++;
        } else {
            bool dots = c == '.' && i + 2 < text.len && text.at[i + 1] == '.' &&
                        text.at[i + 2] == '.';
            if ((c == '.' && !dots) || !add_letter(now, c)) return false;
            if (dots) i += 2;
        }
    }
    return now == &e->out;
}

static bool same_letters(const Letters *a, const Letters *b, uint32_t count) {
    return a->len == count && b->len >= count && memcmp(a->at, b->at, count) == 0;
}

// The letters are the last ones of `all`.
static bool are_last(const Letters *l, const Letters *all) {
    return l->len && l->len <= all->len &&
           memcmp(l->at, all->at + (all->len - l->len), l->len) == 0;
}

// The operand with its axes where those of `all` are; NULL where more than a new last
// axis would be needed.
static Val *aligned(Flow *fl, Val *x, const Letters *l, const Letters *all) {
    if (are_last(l, all)) return x;
    if (all->len < 2 || !same_letters(l, all, all->len - 1)) return NULL;
    return op_make(fl, OP_UNSQUEEZE, (Val *[]){x, val_int(&fl->graph, -1)}, 2);
}

static Val *as_product(Flow *fl, const Equation *e, Val *const *operands, Val *stays) {
    const Letters *all = NULL; // the letters of all axes: those of some operand
    for (uint32_t i = 0; i < e->count; i++) {
        if (!all || e->in[i].len > all->len) all = &e->in[i];
    }
    bool keeps = same_letters(&e->out, all, all->len);
    bool sums = all->len > 1 && same_letters(&e->out, all, all->len - 1) &&
                all->at[all->len - 1] != '.';
    if (!keeps && !sums) return NULL;
    Val *product = NULL;
    for (uint32_t i = 0; i < e->count; i++) {
        // A sum of what has not all axes is a product of matrices.
        if (sums && !same_letters(&e->in[i], all, all->len)) return NULL;
        Val *x = aligned(fl, operands[i], &e->in[i], all);
        if (!x) return NULL;
        product = product ? op_make(fl, OP_MUL, (Val *[]){product, x}, 2) : x;
    }
    Graph *g = &fl->graph;
    // Under autocast an einsum is a product of matrices, in half precision.
    if (keeps) return op_cast(fl, product, val_new1(g, V_DTYPE, stays));
    Val *sum[] = {product, val_int(g, -1), val_bool(g, false), val_none(g)};
    return op_cast(fl, op_make(fl, OP_SUM, sum, 4), op_dtype(fl, operands[0]));
}

Val *op_einsum(Flow *fl, Val *const *args, uint32_t nargs) {
    Val *stays = val_new(&fl->graph, OP_EINSUM, args, nargs);
    if (nargs < 2 || args[0]->op != V_CONST || args[0]->ck != CONST_STR) return stays;
    const Val *given = args[1]; // *operands
    bool packed = given->op == V_TUPLE || given->op == V_LIST;
    Val *const *operands = packed ? given->args : args + 1;
    uint32_t count = packed ? given->nargs : nargs - 1;
    Equation e = {0};
    bool reads = read_equation(&e, args[0]->text) && e.count == count && count > 1;
    for (uint32_t i = 0; reads && i < count; i++) reads = operands[i]->op != V_STAR;
    Val *made = reads ? as_product(fl, &e, operands, stays) : NULL;
    return made ? made : stays;
}
