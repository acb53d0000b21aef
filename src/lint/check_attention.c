// check_attention.c - scale, mask and dtypes of fused attention.
#include "base/base.h"

#include "flow/dtype.h"
#include "flow/call_of.h"
#include "lint/checks.h"
#include "lint/value.h"
#include "lint/ways.h"

enum { COMPRESSED_MASK = 2048 };

static bool is_absent(const NpuCall *call, const char *role) {
    if (call_role(call, role) < 0) return false;
    Val *v = call_role_value(call, role);
    return v ? val_is_none(v) : !call->open;
}

typedef enum Scaling { SCALING_NONE, SCALING_DONE, SCALING_UNKNOWN } Scaling;

// A number, or what is made of sizes and numbers: 1 / math.sqrt(q.shape[-1]).
static bool is_factor(Flow *flow, Val *v) {
    if (is_scalar(flow, v, (Scalars){0})) return true;
    if (v->op == V_ATTR) {
        Resolved r = flow_resolve(flow, v);
        return r.val && r.val != v && is_scalar(flow, r.val, (Scalars){0});
    }
    if (v->op != OP_POW && v->op != OP_RECIPROCAL && v->op != OP_SQRT && v->op != OP_RSQRT) {
        return false;
    }
    return is_factor(flow, v->args[0]);
}

static bool is_linear_layer(Flow *flow, Val *v) {
    if (v->op != V_CALL || v->nargs != 2) return false;
    Resolved r = flow_resolve(flow, v->args[0]);
    return r.val && r.val->op == V_INSTANCE && !r.val->def &&
           str_is(r.val->text, "torch.nn.Linear");
}

static Scaling scaling(Flow *flow, Val *v, int depth) {
    v = v ? value_below(v) : NULL;
    if (!v || depth > 12) return SCALING_UNKNOWN;
    switch ((int)v->op) {
    case OP_MUL: case OP_DIV: // a learned or computed factor may be anything
        return is_factor(flow, v->args[0]) || is_factor(flow, v->args[1]) ? SCALING_DONE
                                                                          : SCALING_UNKNOWN;
    case OP_LINEAR: case OP_MATMUL:
        return SCALING_NONE;
    case V_CALL:
        return is_linear_layer(flow, v) ? SCALING_NONE : SCALING_UNKNOWN;
    case OP_TRANSPOSE: case OP_PERMUTE: case OP_FLATTEN: case OP_UNFLATTEN: case V_PART:
    case OP_CHUNK: case OP_SPLIT: case V_ITEM:
        return scaling(flow, v->args[0], depth + 1);
    case V_PHI: {
        Scaling a = scaling(flow, v->args[1], depth + 1), b = scaling(flow, v->args[2], depth + 1);
        return a == b ? a : SCALING_UNKNOWN;
    }
    default:
        return SCALING_UNKNOWN;
    }
}

// That nothing scales is proven where query and key are outputs of projections. Where
// they come from elsewhere it is a warning, unless one of them is scaled in sight.
void check_scale(LintJob *job, const NpuCall *call) {
    if (!call_leaves_out(call, "attention_scale")) return;
    Flow *flow = call->frame->flow;
    Scaling query = scaling(flow, call_role_value(call, "query"), 0);
    Scaling key = scaling(flow, call_role_value(call, "key"), 0);
    job->cleared = query == SCALING_DONE || key == SCALING_DONE;
    bool proven = query == SCALING_NONE && key == SCALING_NONE;
    if (job->cleared || (call->through && !proven)) return;
    lint_fault(job, &(Fault){
        .severity = proven ? LINT_ERROR : LINT_WARNING, .at = call->node,
        .message = arena_printf(job->arena, "%.*s is called without scale, which is 1.0 then%s",
                                STR_FMT(call->name),
                                proven ? ": the scores are not divided by sqrt(head_dim)"
                                       : "; right only if the query is scaled before"),
        .right = STR("scale=1.0 / math.sqrt(head_dim), or scale=1.0 written out where the query "
                     "is scaled"),
    });
}

// Wrong where the mode was meant; where every key is to be seen, the mode says what is
// not so.
void check_sparse_mask(LintJob *job, const NpuCall *call) {
    int64_t mode;
    Val *given = call_role_value(call, "sparse_mode");
    if (!given || !value_int(given, &mode) || mode == 0) return;
    if (!is_absent(call, "drop_mask")) return;
    lint_fault(job, &(Fault){
        .severity = LINT_WARNING, .at = call_arg_node(call, call_role(call, "sparse_mode")),
        .message = arena_printf(job->arena, "sparse_mode=%lld has no effect without atten_mask: "
                                "every key is seen", (long long)mode),
        .right = mode >= 2 && mode <= 4
            ? STR("atten_mask=torch.triu(torch.ones(2048, 2048, dtype=torch.bool, "
                  "device=query.device), diagonal=1), or no sparse_mode if every key shall be seen")
            : STR("the atten_mask that the mode works with, or no sparse_mode"),
    });
}

static Str mask_size_text(LintJob *job, const MaskSize *size) {
    if (size->literal) {
        return arena_printf(job->arena, "%lld x %lld", (long long)size->rows,
                            (long long)size->columns);
    }
    return STR("as long as the sequence");
}

void check_mask_size(LintJob *job, const NpuCall *call) {
    int64_t mode;
    MaskSize size;
    Val *given = call_role_value(call, "sparse_mode");
    if (!given || !value_int(given, &mode)) return;
    bool compressed = mode == 2 || mode == 3 || mode == 4 || mode == 7 || mode == 8;
    if (!compressed || !value_mask_size(call_role_value(call, "drop_mask"), &size)) return;
    bool fits = size.literal && size.rows == COMPRESSED_MASK && size.columns == COMPRESSED_MASK;
    if (fits) return;
    Str text = mask_size_text(job, &size);
    lint_fault(job, &(Fault){
        .severity = LINT_ERROR, .at = call_arg_node(call, call_role(call, "drop_mask")),
        .message = arena_printf(job->arena, "sparse_mode=%lld takes a mask of 2048 x 2048 for any "
                                "length, this one is %.*s%.*s", (long long)mode, STR_FMT(text),
                                STR_FMT(lint_place(job, call, size.from))),
        .right = STR("torch.triu(torch.ones(2048, 2048, dtype=torch.bool, device=query.device), "
                     "diagonal=1)"),
    });
}

// Whether the name `torch` is torch in the module.
static bool has_torch(const Module *m) {
    const Sym *name = sym_find(m->project->symbols, STR("torch"));
    Def def = name ? project_lookup((Module *)(uintptr_t)m, name) : (Def){0};
    return def.kind == DEF_EXTERNAL && str_is(def.dotted, "torch");
}

void check_mask_kind(LintJob *job, const NpuCall *call) {
    Val *from, *given = call_role_value(call, "drop_mask");
    if (!given) return;
    MaskKind kind = value_mask(given, &from);
    Node *at = call_arg_node(call, call_role(call, "drop_mask"));
    Str place = lint_place(job, call, from);
    if (kind == MASK_ADDITIVE) {
        lint_fault(job, &(Fault){
            .severity = LINT_ERROR, .at = at,
            .message = arena_printf(job->arena, "atten_mask is an additive mask%.*s; the operator "
                                    "takes true or 1 where a key is dropped", STR_FMT(place)),
            .right = STR("mask < 0 of an additive mask of 0 and -inf; a bias goes to pse"),
        });
    } else if (kind == MASK_DROPS_ITSELF) {
        lint_fault(job, &(Fault){
            .severity = LINT_ERROR, .at = at,
            .message = arena_printf(job->arena, "atten_mask drops the diagonal%.*s: no query sees "
                                    "its own key, and the first one sees none", STR_FMT(place)),
            .right = STR("torch.triu(ones, diagonal=1)"),
        });
    } else if (kind == MASK_KEEPS) {
        bool plain = at != call->node && has_torch(call->module);
        Str text = lint_text(call, at);
        lint_fault(job, &(Fault){
            .severity = LINT_ERROR, .at = at, .fix_start = at->start, .fix_end = at->end,
            .fix = plain ? arena_printf(job->arena, "torch.logical_not(%.*s)", STR_FMT(text))
                         : STR(""),
            .message = arena_printf(job->arena, "atten_mask is true where a key is seen%.*s; the "
                                    "operator drops what is true", STR_FMT(place)),
            .right = STR("the negation of it: ~mask, as for a mask of "
                         "scaled_dot_product_attention"),
        });
    }
}

// ---- one mask for two operators of opposite meaning -----------------------------------

static bool is_sdpa(const Val *v) {
    return v->op == OP_SDPA || // arguments that the graph does not know leave a call
           (v->op == V_CALL && v->nargs &&
            val_is_global(v->args[0], "torch.nn.functional.scaled_dot_product_attention"));
}

static Val *sdpa_mask(const Val *call) {
    if (call->op == OP_SDPA) return call->args[3];
    for (uint32_t i = 1; i < call->nargs; i++) {
        Val *arg = call->args[i];
        if (arg->op == V_KEYWORD && arg->name && strcmp(arg->name->text, "attn_mask") == 0) {
            return arg->args[0];
        }
    }
    return call->nargs > 4 && call->args[4]->op != V_KEYWORD ? call->args[4] : NULL;
}

typedef enum OtherUse { USE_NONE, USE_SDPA, USE_KEEPS, USE_ADDED } OtherUse;

static bool is_negation(const Val *v, const Val *x) {
    if (v->op == V_PYOP && v->ck == A_INVERT) return v->args[0] == x;
    if (v->op == V_PYOP && v->ck == A_EQ) return v->args[0] == x && val_near(v->args[1], 0);
    return value_of_call((Val *)(uintptr_t)v, "logical_not") == x;
}

// scores.masked_fill(~x, -inf), torch.where(x, scores, -inf)
static bool keeps_what_is_true(const Val *v, const Val *x) {
    if (v->op == OP_MASKED_FILL && v->nargs > 2) {
        return value_is_very_negative(v->args[2]) && is_negation(v->args[1], x);
    }
    return v->op == OP_WHERE && v->nargs > 2 && v->args[0] == x &&
           value_is_very_negative(v->args[2]);
}

// q @ k^T * scale + x
static bool is_score(const Val *v, int depth) {
    if (v->op == OP_MATMUL) return true;
    bool through = v->op == OP_MUL || v->op == OP_DIV || v->op == V_CAST;
    if (!through || depth > 6) return false;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (is_score(v->args[i], depth + 1)) return true;
    }
    return false;
}

static bool is_added(const Val *v, const Val *x) {
    if (v->op != OP_ADD || v->nargs < 2) return false;
    return (v->args[0] == x && is_score(v->args[1], 0)) ||
           (v->args[1] == x && is_score(v->args[0], 0));
}

static OtherUse other_use(const Val *v, const Val *mask) {
    if (is_sdpa(v) && sdpa_mask(v) == mask) return USE_SDPA;
    if (keeps_what_is_true(v, mask)) return USE_KEEPS;
    return is_added(v, mask) ? USE_ADDED : USE_NONE;
}

static const char *use_words(OtherUse use) {
    switch (use) {
    case USE_SDPA: return "goes to scaled_dot_product_attention, where true is seen";
    case USE_KEEPS: return "says elsewhere what is seen";
    case USE_ADDED: return "is added to the scores";
    case USE_NONE: break;
    }
    BUG("use %d", (int)use);
}

static bool is_handed_in(Val *v) {
    const Val *below = value_below(v);
    for (int i = 0; below->op == V_ATTR && i < 8; i++) below = below->args[0];
    return below->op == V_PARAM;
}

static void fault_shared(LintJob *job, const NpuCall *call, const EvalRecord *record,
                         OtherUse use) {
    const Frame *f = call->frame;
    int at = call_role(call, "drop_mask");
    // A caller may hand in another one for each of two branches.
    bool apart = is_handed_in(call->args[at]) && ways_exclude(f->fn, call->node, record->node);
    lint_fault(job, &(Fault){
        .severity = apart ? LINT_WARNING : LINT_ERROR, .at = call_arg_node(call, at),
        .message = arena_printf(job->arena, "the same mask %s (line %u%s); here true is dropped",
                                use_words(use),
                                source_line(&f->module->source, record->node->start),
                                apart ? ", in another branch" : ""),
        .right = use == USE_ADDED ? STR("mask < 0 of a mask of 0 and -inf; a bias goes to pse")
                                  : STR("the negation of it for one of them: ~mask"),
    });
}

// A use of the same value that atten_mask, which is true where a key is dropped,
// cannot agree with.
void check_mask_shared(LintJob *job, const NpuCall *call) {
    Val *given = call_role_value(call, "drop_mask");
    const Frame *f = call->frame;
    if (!given || given->op == V_CONST || !lint_may_work(job, f->evals.len)) return;
    for (uint32_t i = 0; i < f->evals.len; i++) {
        const EvalRecord *record = &f->evals.at[i];
        OtherUse use = record->val ? other_use(record->val, given) : USE_NONE;
        if (use == USE_NONE) continue;
        fault_shared(job, call, record, use);
        return;
    }
}

// ---- dtypes -----------------------------------------------------------------------------

// The result of a projection, which autocast makes in half precision, as it is.
static bool is_projected(Flow *flow, Val *v) {
    for (int i = 0; v && i < 24; i++) {
        switch ((int)v->op) {
        case OP_LINEAR: case OP_MATMUL: return true;
        case V_CALL: return is_linear_layer(flow, v);
        case OP_VIEW: case OP_TRANSPOSE: case OP_PERMUTE: case OP_CONTIGUOUS: case OP_UNSQUEEZE:
        case OP_SQUEEZE: case OP_EXPAND: case OP_FLATTEN: case OP_UNFLATTEN: case V_PART:
        case OP_CHUNK: case OP_SPLIT: case OP_CLONE:
            v = v->args[0];
            break;
        default: return false;
        }
    }
    return false;
}

static bool is_float32(const Val *dtype) {
    return val_is_global(dtype, "torch.float32") || val_is_global(dtype, "torch.float64");
}

// At least float32, whatever autocast does: cast to it, or computed with something
// that is.
static bool is_wide(const Val *dtype) {
    if (is_float32(dtype) || dtype->op == V_AUTOCAST) return true;
    for (uint32_t i = 0; dtype->op == V_PROMOTE && i < dtype->nargs; i++) {
        if (is_float32(dtype->args[i])) return true;
    }
    return false;
}

void check_dtypes(LintJob *job, const NpuCall *call) {
    static const char *const roles[] = {"query", "key", "value"};
    const char *wide = NULL, *lowered = NULL;
    Flow *flow = call->frame->flow;
    for (size_t i = 0; i < COUNT(roles); i++) {
        Val *v = call_role_value(call, roles[i]);
        if (!v) continue;
        if (is_projected(flow, v)) lowered = roles[i];
        else if (is_wide(dtype_of(flow, v, (Scalars){0}))) wide = roles[i];
    }
    if (!wide || !lowered) return;
    lint_fault(job, &(Fault){
        .severity = LINT_WARNING, .at = call->node,
        .message = arena_printf(job->arena, "%s is float32 here and %s comes out of a projection, "
                                "in half precision under autocast: the operator takes one dtype",
                                wide, lowered),
        .right = arena_printf(job->arena, "a cast back before the call: %s = %s.to(%s.dtype)",
                              wide, wide, lowered),
    });
}
