// affine.c - sites of plain torch that the NPU is slow at.
//
// A syntactic look finds what may be one; only the functions that hold such code
// are read, whether or not the filter lets them pass, and the values decide. What
// runs once, in a constructor, is left alone.
#include "base/base.h"

#include "match/affine.h"

#include "match/masked_softmax.h"
#include "match/tensor_kind.h"

typedef enum Suspicion {
    SUSPECT_WRITE, SUSPECT_SORT, SUSPECT_WHERE, SUSPECT_WIDE, SUSPECT_SOFTMAX,
} Suspicion;

typedef struct Suspect {
    Suspicion kind;
    Node *node; // the call, or the assignment
    Node *fn;
    Str qualname;
} Suspect;

typedef struct Search {
    Flow *flow;
    ModuleFlow *mf;
    VEC(Suspect) suspects;
    Node *fn; // innermost, or NULL
    Str qualname;
    int depth;
} Search;

// ---- what may be one -------------------------------------------------------------

static bool is_text(const Sym *name, const char *text) {
    return name && str_is(sym_str(name), text);
}

static bool is_wide_name(const Node *node) {
    static const char *const names[] = {"float64", "double", "complex64", "complex128"};
    if (!node || node->kind != N_ATTRIBUTE) return false;
    for (size_t i = 0; i < COUNT(names); i++) {
        if (is_text(node->u.attribute.attr, names[i])) return true;
    }
    return false;
}

// x.double(), x.to(torch.float64), torch.arange(n, dtype=torch.float64), torch.polar(...)
static bool may_be_wide(const Node *call, const Sym *attr) {
    const NodeList *args = &call->u.call.args, *keywords = &call->u.call.keywords;
    if (is_text(attr, "polar") || (is_text(attr, "double") && !args->len)) return true;
    if (is_text(attr, "to") && args->len && is_wide_name(args->at[args->len - 1])) return true;
    for (uint32_t i = 0; i < keywords->len; i++) {
        const Node *keyword = keywords->at[i];
        if (!is_text(keyword->u.keyword.name, "dtype")) continue;
        if (is_wide_name(keyword->u.keyword.value)) return true;
    }
    return false;
}

static bool suspect_call(const Node *call, Suspicion *out) {
    const Node *func = call->u.call.func;
    const Sym *attr = func->kind == N_ATTRIBUTE ? func->u.attribute.attr
                      : func->kind == N_NAME    ? func->u.name.id
                                                : NULL;
    if (is_text(attr, "sort") || is_text(attr, "argsort")) *out = SUSPECT_SORT;
    else if (is_text(attr, "where") && call->u.call.args.len >= 2) *out = SUSPECT_WHERE;
    else if (is_text(attr, "softmax")) *out = SUSPECT_SOFTMAX;
    else if (may_be_wide(call, attr)) *out = SUSPECT_WIDE;
    else return false;
    return true;
}

// x[mask] = c
static bool suspect_write(const Node *assign) {
    const NodeList *targets = &assign->u.assign.targets;
    if (targets->len != 1 || targets->at[0]->kind != N_SUBSCRIPT) return false;
    switch ((int)targets->at[0]->u.subscript.slice->kind) {
    case N_COMPARE: case N_NAME: case N_UNARY_OP: case N_BIN_OP: case N_CALL: case N_ATTRIBUTE:
        return assign->u.assign.value->kind != N_SUBSCRIPT;
    default: return false;
    }
}

static bool search(Node *node, void *data) {
    enum { NESTED_MAX = 2000 };
    Search *s = data;
    // Outside of functions nothing counts but the functions.
    bool holds = node_is_statement(node) || node->kind == N_EXCEPT_HANDLER ||
                 node->kind == N_MATCH_CASE || node->kind == N_MODULE;
    if (!s->fn && !holds) return true;
    Str outer = s->qualname;
    Node *outer_fn = s->fn;
    bool function = node->kind == N_FUNCTION_DEF || node->kind == N_ASYNC_FUNCTION_DEF;
    if (function || node->kind == N_CLASS_DEF) {
        const Sym *name = function ? node->u.function->name : node->u.class_->name;
        s->qualname = outer.len ? arena_printf(s->flow->arena, "%.*s.%s", STR_FMT(outer),
                                               name->text)
                                : sym_str(name);
        if (function) s->fn = node;
    }
    Suspect found = {.node = node, .fn = s->fn, .qualname = s->qualname};
    bool is = node->kind == N_ASSIGN ? suspect_write(node)
              : node->kind == N_CALL ? suspect_call(node, &found.kind)
                                     : false;
    bool once = !s->fn || s->fn->u.function->name == s->flow->names.init;
    if (is && !once) vec_push(s->flow->arena, &s->suspects, found);
    if (++s->depth < NESTED_MAX) node_children(node, search, s);
    s->depth--;
    s->qualname = outer;
    s->fn = outer_fn;
    return true;
}

static void read_functions(Search *s) {
    flow_list_functions(s->flow, s->mf);
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->mf->functions.len; i++) {
        FunctionInfo *info = s->mf->functions.at[i];
        bool held = false;
        for (uint32_t k = 0; k < s->suspects.len && !held; k++) {
            held = s->suspects.at[(at + k) % s->suspects.len].fn == info->fn;
            if (held) at = (at + k) % s->suspects.len; // both are in order
        }
        if (held) flow_function(s->flow, s->mf, info);
    }
}

static void add_device(Site *site) {
    site_add_fact(site, "device", FACT_UNKNOWN, STR("this runs on the NPU, in every step"));
}

// One site a kind and line.
static void add_site(Search *s, NamedSites *out, const Site *site, Str qualname) {
    const SourceText *source = &s->mf->module->source;
    const Site *last = out->len ? &out->at[out->len - 1].site : NULL;
    bool again = last && str_eq(last->variant, site->variant) &&
                 source_line(source, last->first->start) == source_line(source, site->first->start);
    if (!again) vec_push(s->flow->arena, out, ((NamedSite){*site, qualname}));
}

// ---- writes through a mask -----------------------------------------------------------

// Below what keeps the shape.
static const Val *shape_root(const Val *v) {
    for (int depth = 0; depth < 64; depth++) {
        switch ((int)v->op) {
        case V_CAST: case OP_CLONE: case OP_DETACH: case OP_CONTIGUOUS: case OP_NEG: case OP_ABS:
        case OP_ZEROS_LIKE: case OP_ONES_LIKE: case OP_SOFTMAX: case OP_EXP: case OP_LOGICAL_NOT:
            v = v->args[0];
            break;
        default: return v;
        }
    }
    return v;
}

// Whether the mask has x's shape because x is compared in it. What x is compared with
// may only be broadcast to x: a larger mask could not index x.
static bool has_shape_of(const Val *mask, const Val *x, int depth) {
    if (depth > 20) return false;
    if (shape_root(mask) == shape_root(x)) return true;
    if (mask->op == V_CALL) { // x.eq(0), torch.isnan(x)
        bool method = mask->args[0]->op == V_ATTR;
        if (method && has_shape_of(mask->args[0]->args[0], x, depth + 1)) return true;
    } else if (mask->op != V_PYOP && mask->op != OP_LOGICAL_NOT) {
        return false;
    }
    for (uint32_t i = mask->op == V_CALL; i < mask->nargs; i++) {
        if (has_shape_of(mask->args[i], x, depth + 1)) return true;
    }
    return false;
}

// float("inf"), math.inf, torch.nan
static bool is_endless(const Val *v) {
    if (v->op == OP_NEG) return is_endless(v->args[0]);
    if (v->op == V_CONST) return v->ck == CONST_STR && str_contains(v->text, STR("inf"));
    return v->op == V_GLOBAL && (str_is(v->text, "math.inf") || str_is(v->text, "torch.inf") ||
                                 str_is(v->text, "torch.nan") || str_is(v->text, "math.nan"));
}

static bool is_written_number(const Val *v) {
    if (val_is_number(v) || is_endless(v)) return true;
    if (v->op == V_CONST) return v->ck == CONST_TRUE || v->ck == CONST_FALSE;
    return v->op == V_ATTR && v->args[0]->op == V_CALL &&
           val_is_global(v->args[0]->args[0], "torch.finfo");
}

// Whether every dtype takes it, or refuses it in both spellings.
static bool fits_anywhere(const Val *v) {
    if (val_is_number(v)) return v->num >= -65504 && v->num <= 65504;
    return is_endless(v) || v->op == V_CONST;
}

static void take_write(Search *s, NamedSites *out, const Suspect *suspect) {
    const Node *target = suspect->node->u.assign.targets.at[0];
    const Val *x = node_val(s->mf, target->u.subscript.value);
    Val *mask = node_val(s->mf, target->u.subscript.slice);
    Val *value = node_val(s->mf, suspect->node->u.assign.value);
    if (!is_tensor(x) || !is_bool_mask(mask) || !value || !is_written_number(value)) return;
    bool shaped = has_shape_of(mask, x, 0), fits = fits_anywhere(value);
    Site site = {.family = "affinity", .id = "affinity_index_put", .priority = PRIORITY_LOW,
                 .api = "torch.Tensor.masked_fill_", .first = suspect->node,
                 .last = suspect->node};
    site.variant = STR("index_put");
    site.gain = STR("one kernel with the mask in place of a write at random places");
    site_add_fact_at(&site, (SiteFact){.name = "mask", .state = FACT_PROVEN, .from = mask,
                                       .claim = STR("the index is a boolean mask")});
    site_add_fact(&site, "shape", shaped ? FACT_PROVEN : FACT_UNKNOWN,
                  STR("the mask has the shape of what is written"));
    site_add_fact(&site, "number", fits ? FACT_PROVEN : FACT_UNKNOWN,
                  STR("the number fits the tensor's dtype: masked_fill_ refuses what overflows, "
                      "the index writes infinity"));
    site_add_fact(&site, "nan", FACT_REFUTED,
                  STR("x * ~mask is the same too: it keeps NaN and infinity"));
    add_device(&site);
    site.reason = shaped && fits
        ? STR("x.masked_fill_(mask, value) is proven to be the same; by hand, and what it saves "
              "is not measured")
        : STR("x.masked_fill_(mask, value) is the same if what is unknown holds; by hand, and "
              "what it saves is not measured");
    add_site(s, out, &site, suspect->qualname);
}

// ---- sorts of integers -----------------------------------------------------------------

static void take_sort(Search *s, NamedSites *out, const Suspect *suspect) {
    Val *v = node_val(s->mf, suspect->node);
    const Val *x = v ? torch_call(v, "argsort") : NULL;
    bool order = x != NULL;
    if (!x) x = v ? torch_call(v, "sort") : NULL;
    if (!x || !is_whole_tensor(x)) return;
    const Val *source = index_source(x);
    Site site = {.family = "affinity", .id = "affinity_sort", .priority = PRIORITY_LOW,
                 .api = order ? "torch.argsort" : "torch.sort", .first = suspect->node,
                 .last = suspect->node};
    site.variant = STR("sort");
    site.gain = STR("a sort of float32 in place of one of integers");
    site_add_fact_at(&site, (SiteFact){.name = "dtype", .state = FACT_PROVEN,
                                       .from = (Val *)(uintptr_t)x,
                                       .claim = STR("integers are sorted")});
    site_add_fact_at(&site, (SiteFact){.name = "range", .state = FACT_UNKNOWN,
                                       .from = (Val *)(uintptr_t)source,
                                       .claim = source
        ? STR("every value is below 2^24: they are indices, below the length of their axis")
        : STR("every value is below 2^24 in magnitude")});
    add_device(&site);
    site.reason = source
        ? STR("x.float() sorts into the same order where the axis that these are indices of is "
              "shorter than 2^24; what it saves is not measured")
        : STR("x.float() sorts into the same order where every value is below 2^24 in magnitude, "
              "and nothing here shows that; what it saves is not measured");
    add_site(s, out, &site, suspect->qualname);
}

// ---- choices --------------------------------------------------------------------------

static void take_where(Search *s, NamedSites *out, const Suspect *suspect) {
    Val *v = node_val(s->mf, suspect->node);
    if (!v || v->op != OP_WHERE || v->nargs < 3 || !is_bool_mask(v->args[0])) return;
    if (!is_tensor(v->args[1]) || !is_tensor(v->args[2])) return;
    if (is_bool_mask(v->args[1]) || is_whole_tensor(v->args[1])) return;
    Site site = {.family = "affinity", .id = "affinity_where", .priority = PRIORITY_LOW,
                 .api = "torch.lerp", .first = suspect->node, .last = suspect->node,
                 .refused = true};
    site.variant = STR("where");
    site.gain = STR("a multiplication and a sum in place of a choice");
    site_add_fact(&site, "finite", FACT_UNKNOWN,
                  STR("both sides, and their difference, are finite everywhere"));
    site.reason = STR("no rewrite: lerp(other, input, mask) takes no integers, and multiplies what "
                      "is not chosen by 0: an infinity or NaN there reaches the result");
    add_site(s, out, &site, suspect->qualname);
}

// ---- wide dtypes -------------------------------------------------------------------------

static Val *keyword_of(const Val *call, const char *name) {
    for (uint32_t i = 1; i < call->nargs; i++) {
        const Val *arg = call->args[i];
        if (arg->op == V_KEYWORD && is_text(arg->name, name)) return arg->args[0];
    }
    return NULL;
}

// x.cpu().double(), torch.arange(n, device="cpu")
static bool stays_on_host(const Val *v) {
    if (v->op == V_CAST) {
        const Val *x = v->args[0];
        return x->op == V_CALL && x->args[0]->op == V_ATTR && is_text(x->args[0]->name, "cpu");
    }
    const Val *device = keyword_of(v, "device");
    return device && device->op == V_CONST && device->ck == CONST_STR &&
           str_is(device->text, "cpu");
}

static const char *wide_dtype(const Val *v) {
    const Val *dtype = NULL;
    if (v->op == V_CAST && is_tensor(v->args[0])) dtype = v->args[1];
    if (v->op == V_CALL && v->args[0]->op == V_GLOBAL) {
        if (str_is(v->args[0]->text, "torch.polar")) return "complex numbers";
        if (str_starts(v->args[0]->text, "torch.")) dtype = keyword_of(v, "dtype");
    }
    if (!dtype) return NULL;
    if (val_is_global(dtype, "torch.float64")) return "float64";
    if (val_is_global(dtype, "torch.double")) return "float64";
    bool complex = val_is_global(dtype, "torch.complex64") ||
                   val_is_global(dtype, "torch.complex128");
    return complex ? "complex numbers" : NULL;
}

static void take_wide(Search *s, NamedSites *out, const Suspect *suspect) {
    Val *v = node_val(s->mf, suspect->node);
    const char *kind = v ? wide_dtype(v) : NULL;
    if (!kind || stays_on_host(v)) return;
    bool complex = kind[0] == 'c';
    Site site = {.family = "affinity", .id = "affinity_dtype", .priority = PRIORITY_LOW,
                 .api = complex ? "torch.cos" : "torch.Tensor.float", .first = suspect->node,
                 .last = suspect->node};
    site.variant = complex ? STR("complex") : STR("float64");
    site.gain = STR("the vector core computes what the AI CPU does otherwise");
    site_add_fact_at(&site, (SiteFact){.name = "dtype", .state = FACT_PROVEN, .from = v,
                                       .claim = complex ? STR("the values are complex")
                                                        : STR("the values are float64")});
    add_device(&site);
    site.reason = complex
        ? STR("the vector core has no complex numbers: cos and sin as two real tables are the "
              "same product, and all that uses the table has to change with it")
        : STR("the vector core has no float64: float32 there is another result in the last "
              "digits, which only a person can allow");
    add_site(s, out, &site, suspect->qualname);
}

static void take_softmax(Search *s, NamedSites *out, const Suspect *suspect) {
    Val *v = node_val(s->mf, suspect->node);
    Site site;
    if (!v || !masked_softmax_site(&site, s->flow, v)) return;
    site.first = site.last = suspect->node;
    add_site(s, out, &site, suspect->qualname);
}

void affine_find(NamedSites *out, Flow *flow, Module *module) {
    Search s = {.flow = flow, .mf = flow_module(flow, module)};
    search(module->parsed.module, &s);
    if (!s.suspects.len) return;
    read_functions(&s);
    for (uint32_t i = 0; i < s.suspects.len; i++) {
        const Suspect *suspect = &s.suspects.at[i];
        switch (suspect->kind) {
        case SUSPECT_WRITE: take_write(&s, out, suspect); break;
        case SUSPECT_SORT: take_sort(&s, out, suspect); break;
        case SUSPECT_WHERE: take_where(&s, out, suspect); break;
        case SUSPECT_WIDE: take_wide(&s, out, suspect); break;
        case SUSPECT_SOFTMAX: take_softmax(&s, out, suspect); break;
        }
    }
}
