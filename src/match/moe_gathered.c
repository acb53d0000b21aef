// moe_gathered.c - experts whose weights are gathered for every token:
//   h = act(einsum("ti,taoi->tao", x, W1[chosen]));  einsum(.., h, W2[chosen])
// Two products in a chain take weights at the same indices. It is what decoding with
// few tokens does; a grouped product over sorted tokens reads each weight once.
#include "base/base.h"

#include "match/moe.h"

enum { CHAIN_MAX = 400, CHAIN_DEPTH = 16 };

// W[chosen] among the factors of a product: W of the module, at an index tensor. `*rest`
// is the other factor.
static Val *gathered_weight(Val *product, Val **rest) {
    Val *const *args = product->args;
    uint32_t n = product->nargs;
    if (product->op == OP_EINSUM && n == 2 && args[1]->op == V_TUPLE) {
        n = args[1]->nargs;
        args = args[1]->args;
    } else if (product->op != OP_MATMUL && product->op != OP_BMM) {
        return NULL;
    }
    for (uint32_t i = 0; n == 2 && i < 2; i++) {
        Val *w = val_strip(args[i]);
        while (w->op == OP_TRANSPOSE || w->op == OP_PERMUTE) w = val_strip(w->args[0]);
        if (w->op != V_ITEM || (w->args[0]->op != V_ATTR && w->args[0]->op != OP_PARAMETER)) {
            continue;
        }
        const Val *index = val_strip(w->args[1]);
        bool tensor = index->op == V_PARAM || index->op == V_ITEM || index->op == V_ATTR ||
                      index->op == OP_VIEW || index->op == V_CALL;
        *rest = args[!i];
        if (tensor) return w;
    }
    return NULL;
}

// The product inside `v` that takes another weight at the same indices: behind an
// activation, a gate, a bias, not behind a softmax (relative positions of attention).
static Val *inner_product(Val *v, const Val *weight, uint32_t *steps, int depth) {
    v = val_strip(v);
    if (depth > CHAIN_DEPTH || ++*steps > CHAIN_MAX || v->op == OP_SOFTMAX) return NULL;
    Val *rest, *other = gathered_weight(v, &rest);
    if (other && other != weight && other->args[1] == weight->args[1] &&
        other->args[0] != weight->args[0]) {
        return v;
    }
    for (uint32_t i = 0; i < v->nargs; i++) {
        Val *found = inner_product(v->args[i], weight, steps, depth + 1);
        if (found) return found;
    }
    return NULL;
}

// The activations of a feed-forward net; the rules of the gated ones are anchored at
// them, so that the function filter lets such functions through.
static bool is_activated(const Val *v, uint32_t *steps, int depth) {
    if (v->op == OP_SILU || v->op == OP_GELU) return true;
    if (depth > CHAIN_DEPTH || ++*steps > CHAIN_MAX) return false;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (is_activated(v->args[i], steps, depth + 1)) return true;
    }
    return false;
}

static void add_site(Sites *out, Frame *f, const Node *first, const Node *last, Val *chosen) {
    Site site = {.id = "moe_experts", .api = "torch_npu.npu_grouped_matmul",
                 .autograd = "silent", .first = first, .last = last,
                 .variant = STR("gathered")};
    site.reason = STR("every token reads copies of its experts' weights; npu_grouped_matmul takes "
                      "tokens sorted by expert instead, and has no backward: training would lose "
                      "the experts' gradients silently");
    site.gain = STR("each expert's weights are read once, not once for every token");
    site_add_fact(&site, "rows", FACT_PROVEN,
                  STR("both products take the weights at the same indices"));
    site.facts[0].from = chosen;
    vec_push(f->flow->arena, out, site);
}

void moe_find_gathered(Sites *out, Frame *frame) {
    for (uint32_t i = 0; i < frame->evals.len; i++) {
        const EvalRecord *record = &frame->evals.at[i];
        Val *rest, *weight = record->val ? gathered_weight(record->val, &rest) : NULL;
        // In a loop the index is one expert of many, and a number.
        if (!weight || moe_loop_around(frame, record->node)) continue;
        uint32_t steps = 0, more = 0;
        if (!is_activated(rest, &steps, 0)) continue;
        Val *inner = inner_product(rest, weight, &more, 0);
        const Node *first = inner ? moe_stmt_of(frame, inner) : NULL;
        if (!first) continue;
        add_site(out, frame, first, moe_stmt(record), weight->args[1]);
        return;
    }
}
