// moe_batched.c - experts as one batched product of each kind:
//   bmm(act(bmm(x, W1)) * bmm(x, W3), W2), or the same by einsum
// x has one block of rows for every expert, W one matrix. The blocks are of one length:
// each expert sees every token, or a padded share. A grouped product takes the rows that
// the routing chose instead.
#include "base/base.h"

#include "match/moe.h"

enum { WALK_MAX = 200, WALK_DEPTH = 12 };

// einsum("ecd,edf->ecf", x, W), with an axis more in front or not: the letters of W are
// those of the experts, of the sum and of what comes out.
static bool is_batch_einsum(const Val *v) {
    const Val *of = v->op == OP_EINSUM && v->nargs == 2 ? v->args[0] : NULL;
    if (!of || of->op != V_CONST || of->ck != CONST_STR) return false;
    char word[3][8] = {{0}};
    int at = 0, len = 0;
    for (size_t i = 0; i < of->text.len; i++) {
        char c = of->text.at[i];
        if (c == ' ' || c == '>') continue;
        if (c == ',' || c == '-') {
            len = 0;
            if (++at > 2) return false;
        } else if (len > 4) {
            return false;
        } else {
            word[at][len++] = c;
        }
    }
    const char *x = word[0], *w = word[1], *out = word[2];
    if (at != 2 || strlen(w) != 3 || strlen(x) < 3 || strlen(x) != strlen(out)) return false;
    bool each = strchr(x, w[0]) && strchr(out, w[0]) && !strchr(x, '.');
    return each && ((strchr(x, w[1]) && !strchr(out, w[1]) && strchr(out, w[2])) ||
                    (strchr(x, w[2]) && !strchr(out, w[2]) && strchr(out, w[1])));
}

// The x or the W of bmm(x, W) and of such an einsum.
static Val *operand_of(const Val *product, uint32_t index) {
    bool einsum = product->op == OP_EINSUM;
    return val_strip(einsum ? product->args[1]->args[index] : product->args[index]);
}

// The W of bmm(x, W): a parameter of the module or, given, an argument.
static Val *batch_weight(const Val *product, bool *given) {
    bool einsum = is_batch_einsum(product) && product->args[1]->nargs == 2;
    if (!einsum && (product->op != OP_MATMUL || product->rank != 3)) return NULL;
    Val *w = operand_of(product, 1);
    if (!einsum && w->rank != 3) return NULL;
    while (w->op == OP_TRANSPOSE || w->op == OP_PERMUTE || w->op == OP_VIEW) {
        w = val_strip(w->args[0]);
    }
    *given = w->op == V_PARAM;
    return *given || w->op == V_ATTR || w->op == OP_PARAMETER ? w : NULL;
}

typedef struct Inner {
    const Val *outer;      // the weight of the last product
    const Val *first;      // a product behind the activation or the gate
    const Val *tokens;     // what all of them multiply
    uint32_t products, steps;
    bool active, gated, other; // `other`: something that no expert has
} Inner;

static void walk(Inner *in, Val *v, int depth) {
    v = val_strip(v);
    bool given = false;
    if (depth > WALK_DEPTH || ++in->steps > WALK_MAX) return;
    const Val *weight = batch_weight(v, &given);
    if (weight) {
        Val *tokens = operand_of(v, 0);
        in->other |= weight == in->outer || (in->tokens && in->tokens != tokens);
        in->tokens = tokens;
        in->other |= in->tokens->op == OP_EXPAND; // all tokens through all experts
        if (!in->first || v->id < in->first->id) in->first = v;
        in->products++;
        return;
    }
    switch ((int)v->op) {
    case OP_SILU: case OP_GELU: case OP_RELU: in->active = true; break;
    case OP_MUL: case V_PART: in->gated = true; break;
    case V_CALL: // an activation that is not known
        in->active |= v->nargs == 2;
        in->other |= v->nargs != 2;
        break;
    case OP_ADD: case V_ITEM: case OP_DROPOUT: case OP_CLAMP: case V_PHI: case OP_POW: break;
    default: in->other |= v->op == OP_SOFTMAX || v->op == OP_MATMUL; return;
    }
    for (uint32_t i = 0; i < v->nargs; i++) walk(in, v->args[i], depth + 1);
}

static void add_site(Sites *out, Frame *f, const Node *first, const Node *last, bool gated) {
    Site site = {.id = "moe_experts", .api = "torch_npu.npu_grouped_matmul",
                 .autograd = "silent", .first = first, .last = last,
                 .variant = gated ? STR("batched+gated") : STR("batched")};
    site.reason = STR("every expert gets a block of rows of one length; npu_grouped_matmul takes "
                      "the rows that the routing chose, so the router has to change with it, and "
                      "it has no backward: training would lose the experts' gradients silently");
    site.gain = STR("no row is multiplied by an expert that was not chosen for it, and no block is "
                    "padded");
    site_add_fact(&site, "expert", FACT_PROVEN, STR("the weights are one tensor for all experts"));
    vec_push(f->flow->arena, out, site);
}

// Two products in a chain, an activation between them. Where the weights are handed in,
// they might be anything: then a gate has to tell.
void moe_find_batched(Sites *out, Frame *frame) {
    for (uint32_t i = 0; i < frame->evals.len; i++) {
        const EvalRecord *record = &frame->evals.at[i];
        Val *root = record->val ? val_strip(record->val) : NULL;
        bool given = false;
        Inner in = {.outer = root ? batch_weight(root, &given) : NULL};
        if (!in.outer) continue;
        walk(&in, operand_of(root, 0), 0);
        bool told = !given || (in.gated && in.products == 2);
        if (!in.products || !in.active || in.other || !told) continue;
        const Node *first = moe_stmt_of(frame, in.first);
        if (!first) continue;
        add_site(out, frame, first, moe_stmt(record), in.gated);
        return;
    }
}
