// check_attention.c - scale, mask and dtypes of fused attention.
#include "base/base.h"

#include "flow/dtype.h"
#include "lint/checks.h"
#include "lint/value.h"

enum { COMPRESSED_MASK = 2048, PREFIX_ROWS = 3072 };

static bool is_absent(const NpuCall *call, const char *role) {
    if (call_role(call, role) < 0) return false;
    Val *v = call_role_value(call, role);
    return v ? val_is_none(v) : !call->open;
}

// Whether a product with anything but a mask is below the query: it may be
// scaled already.
static bool may_be_scaled(Val *v, int depth) {
    v = v ? value_below(v) : NULL;
    if (!v || depth > 12) return true;
    switch ((int)v->op) {
    case OP_MUL: case OP_DIV: case V_PARAM: case V_ATTR: case V_OPAQUE:
        return true;
    case OP_LINEAR:
        return false;
    case OP_TRANSPOSE: case OP_PERMUTE: case OP_FLATTEN: case OP_UNFLATTEN: case V_PART:
        return may_be_scaled(v->args[0], depth + 1);
    case V_PHI:
        return may_be_scaled(v->args[1], depth + 1) || may_be_scaled(v->args[2], depth + 1);
    default:
        return true;
    }
}

// That nothing scales is proven where the query is a projection's output; where it
// comes from elsewhere, it is told as a warning.
void check_scale(LintJob *job, const NpuCall *call) {
    if (!call_leaves_out(call, "attention_scale")) return;
    bool proven = !may_be_scaled(call_role_value(call, "query"), 0);
    lint_fault(job, &(Fault){
        .check = "scale-left-out", .severity = proven ? LINT_ERROR : LINT_WARNING,
        .at = call->node,
        .message = arena_printf(job->arena, "%.*s is called without scale, which is 1.0 then%s",
                                STR_FMT(call->name),
                                proven ? ": the scores are not divided by sqrt(head_dim)"
                                       : "; right only if the query is scaled before"),
        .right = STR("scale=1.0 / math.sqrt(head_dim), or scale=1.0 written out where the query "
                     "is scaled"),
    });
}

void check_sparse_mask(LintJob *job, const NpuCall *call) {
    int64_t mode;
    Val *given = call_role_value(call, "sparse_mode");
    if (!given || !value_int(given, &mode) || mode == 0) return;
    if (!is_absent(call, "drop_mask")) return;
    lint_fault(job, &(Fault){
        .check = "sparse-mode-without-mask", .severity = LINT_ERROR,
        .at = call_arg_node(call, call_role(call, "sparse_mode")),
        .message = arena_printf(job->arena, "sparse_mode=%lld has no effect without atten_mask: "
                                "every key is seen", (long long)mode),
        .right = mode >= 2 && mode <= 4
            ? STR("atten_mask=torch.triu(torch.ones(2048, 2048, dtype=torch.bool, "
                  "device=query.device), diagonal=1)")
            : STR("pass the atten_mask that the mode works with"),
    });
}

void check_mask_size(LintJob *job, const NpuCall *call) {
    int64_t mode;
    Val *given = call_role_value(call, "sparse_mode");
    if (!given || !value_int(given, &mode)) return;
    bool compressed = mode == 2 || mode == 3 || mode == 4 || mode == 7 || mode == 8;
    uint32_t size = compressed ? value_square(call_role_value(call, "drop_mask")) : 0;
    if (!size || size == COMPRESSED_MASK) return;
    lint_fault(job, &(Fault){
        .check = "mask-size", .severity = LINT_ERROR,
        .at = call_arg_node(call, call_role(call, "drop_mask")),
        .message = arena_printf(job->arena, "sparse_mode=%lld takes a mask of 2048 x 2048 for any "
                                "length, this one is %u x %u", (long long)mode, size, size),
        .right = STR("torch.triu(torch.ones(2048, 2048, dtype=torch.bool, device=query.device), "
                     "diagonal=1)"),
    });
}

void check_mask_kind(LintJob *job, const NpuCall *call) {
    Val *from, *given = call_role_value(call, "drop_mask");
    if (!given) return;
    MaskKind kind = value_mask(given, &from);
    Node *at = call_arg_node(call, call_role(call, "drop_mask"));
    Str place = lint_place(job, call, from);
    if (kind == MASK_ADDITIVE) {
        lint_fault(job, &(Fault){
            .check = "mask-kind", .severity = LINT_ERROR, .at = at,
            .message = arena_printf(job->arena, "atten_mask is an additive mask%.*s; the operator "
                                    "takes true or 1 where a key is dropped", STR_FMT(place)),
            .right = STR("mask < 0 of an additive mask of 0 and -inf; a bias goes to pse"),
        });
    } else if (kind == MASK_KEEPS) {
        lint_fault(job, &(Fault){
            .check = "mask-kind", .severity = LINT_ERROR, .at = at,
            .message = arena_printf(job->arena, "atten_mask is true where a key is seen%.*s; the "
                                    "operator drops what is true", STR_FMT(place)),
            .right = STR("the negation of it: ~mask, as for a mask of "
                         "scaled_dot_product_attention"),
        });
    }
}

// ---- one mask for two operators of opposite meaning -----------------------------------

static bool is_sdpa(const Val *v) {
    return v->op == V_CALL && v->nargs &&
           val_is_global(v->args[0], "torch.nn.functional.scaled_dot_product_attention");
}

static Val *sdpa_mask(const Val *call) {
    for (uint32_t i = 1; i < call->nargs; i++) {
        Val *arg = call->args[i];
        if (arg->op == V_KEYWORD && arg->name && strcmp(arg->name->text, "attn_mask") == 0) {
            return arg->args[0];
        }
    }
    return call->nargs > 4 && call->args[4]->op != V_KEYWORD ? call->args[4] : NULL;
}

// scaled_dot_product_attention keeps what is true and adds what is a number;
// neither is what atten_mask means, so one value cannot be right for both.
void check_mask_shared(LintJob *job, const NpuCall *call) {
    Val *given = call_role_value(call, "drop_mask");
    if (!given || val_is_none(given) || given->op == V_CONST) return;
    const Frame *f = call->frame;
    for (uint32_t i = 0; i < f->evals.len; i++) {
        const Val *v = f->evals.at[i].val;
        if (!v || !is_sdpa(v) || sdpa_mask(v) != given) continue;
        lint_fault(job, &(Fault){
            .check = "mask-shared-with-sdpa", .severity = LINT_ERROR,
            .at = call_arg_node(call, call_role(call, "drop_mask")),
            .message = arena_printf(job->arena, "the same mask goes to "
                                    "scaled_dot_product_attention (line %u), where true is seen; "
                                    "here true is dropped",
                                    source_line(&f->module->source, f->evals.at[i].node->start)),
            .right = STR("negate it for one of them: atten_mask=~mask"),
        });
        return;
    }
}

// ---- dtypes -----------------------------------------------------------------------------

static const char *fixed_dtype(const Val *dtype) {
    if (dtype->op != V_GLOBAL || !str_starts(dtype->text, "torch.")) return NULL;
    return val_is_floating_dtype(dtype) ? dtype->text.at : NULL;
}

static Val *dtype_of_role(const NpuCall *call, const char *role) {
    Val *v = call_role_value(call, role);
    return v ? dtype_of(call->frame->flow, v, (Scalars){0}) : NULL;
}

// One is cast to a fixed dtype, another comes out of an operator that autocast
// runs in half precision.
void check_dtypes(LintJob *job, const NpuCall *call) {
    static const char *const roles[] = {"query", "key", "value"};
    const char *fixed = NULL, *fixed_role = NULL, *lowered = NULL;
    for (size_t i = 0; i < COUNT(roles); i++) {
        Val *dtype = dtype_of_role(call, roles[i]);
        if (!dtype) return;
        if (dtype->op == V_AUTOCAST) lowered = roles[i];
        const char *name = fixed_dtype(dtype);
        if (!name) continue;
        if (fixed && strcmp(fixed, name) != 0) lowered = roles[i];
        fixed = name;
        fixed_role = roles[i];
    }
    if (!fixed || !lowered || strcmp(fixed, "torch.float32") != 0) return;
    lint_fault(job, &(Fault){
        .check = "mixed-dtypes", .severity = LINT_WARNING, .at = call->node,
        .message = arena_printf(job->arena, "%s is %s and %s is not under autocast: the operator "
                                "takes one dtype", fixed_role, fixed, lowered),
        .right = arena_printf(job->arena, "cast back before the call: %s = %s.to(%s.dtype)",
                              fixed_role, fixed_role, lowered),
    });
}
