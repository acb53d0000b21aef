// switch.c - finding a switch by its role: a boolean of a configuration that
// says "fused" (or names the NPU) together with the family.
//
// A switch is a name that people chose for people, so this is the one place
// that reads names. It decides only which condition is emitted, never what
// matches.
#include "base/base.h"

#include "match/switch.h"

#include "py/options.h"

enum { STORED_MAX = 128, CLASSES_SEEN_MAX = 4 };

static const struct {
    const char *family, *words[5];
} family_words[] = {
    {"rms_norm", {"rmsnorm", "norm"}},
    {"swiglu", {"swiglu", "glu", "silu", "mlp"}},
    {"geglu", {"geglu", "glu", "gelu", "mlp"}},
    {"quick_gelu", {"quickgelu", "gelu"}},
    {"gelu", {"gelu"}},
    {"rope", {"rope", "rotary"}},
    {"attention", {"attention", "attn"}},
    {"moe", {"moe", "expert"}},
};

// Norms that are not of the family "rms_norm".
static const char *const other_norms[] = {"layernorm", "batchnorm", "groupnorm", "instancenorm"};

// The name in lower case without '_'.
static Str plain_name(char *buffer, size_t size, Str name) {
    size_t n = 0;
    for (size_t i = 0; i < name.len && n < size; i++) {
        char c = name.at[i];
        if (c == '_') continue;
        buffer[n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return (Str){buffer, n};
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

// use_fused, useFused, fused2: where a word of a name begins.
static bool begins_word(Str name, size_t at) {
    if (at == 0) return true;
    char before = name.at[at - 1], c = name.at[at];
    bool letter = lower(before) >= 'a' && lower(before) <= 'z';
    return !letter || (c != lower(c) && before == lower(before));
}

// Where the name has a word that begins so ("diffusion" and "input" have none of
// "fusion" and "npu"); with `whole`, that is all of the word.
static bool has_word(Str name, const char *text, bool whole) {
    size_t len = strlen(text);
    for (size_t at = 0; at + len <= name.len; at++) {
        size_t n = 0;
        while (n < len && lower(name.at[at + n]) == text[n]) n++;
        if (n < len || !begins_word(name, at)) continue;
        if (!whole || at + len == name.len || begins_word(name, at + len) ||
            name.at[at + len] == '_') {
            return true;
        }
    }
    return false;
}

// no_rope_fusion, disable_fused_norm: what is true while the fused code is off.
static bool is_negative(Str name) {
    static const char *const words[] = {"no", "not", "disable", "disabled", "without", "skip",
                                        "unfused", "avoid"};
    for (size_t i = 0; i < COUNT(words); i++) {
        if (has_word(name, words[i], true)) return true;
    }
    return false;
}

static bool has_any(Str plain, const char *const *words, size_t count) {
    for (size_t i = 0; i < count && words[i]; i++) {
        if (str_contains(plain, str_of(words[i]))) return true;
    }
    return false;
}

static bool speaks_of(Str name, const Rule *rule) {
    char buffer[64];
    Str plain = plain_name(buffer, sizeof(buffer), name);
    bool fused = has_word(name, "fuse", false) || has_word(name, "fusion", true) ||
                 has_word(name, "npu", false);
    if (!fused) return false;
    for (size_t i = 0; i < COUNT(family_words); i++) {
        if (!str_is(rule->family, family_words[i].family)) continue;
        return has_any(plain, family_words[i].words, COUNT(family_words[i].words)) &&
               !(str_is(rule->family, "rms_norm") &&
                 has_any(plain, other_norms, COUNT(other_norms)));
    }
    char family[64];
    return str_contains(plain, plain_name(family, sizeof(family), rule->family));
}

static bool is_bool_node(const Node *value) {
    return value && value->kind == N_CONSTANT &&
           (value->op == CONST_TRUE || value->op == CONST_FALSE);
}

// A boolean field in the class body that speaks of the family; NULL if none.
static Node *switch_field(const Def *class_def, const Rule *rule, Str *name) {
    NodeList body = class_def->node->u.class_->body;
    for (uint32_t i = 0; i < body.len; i++) {
        Node *stmt = body.at[i];
        const Node *target = NULL, *value = NULL;
        if (stmt->kind == N_ANN_ASSIGN) {
            target = stmt->u.ann_assign.target;
            value = stmt->u.ann_assign.value;
        } else if (stmt->kind == N_ASSIGN && stmt->u.assign.targets.len == 1) {
            target = stmt->u.assign.targets.at[0];
            value = stmt->u.assign.value;
        }
        if (!target || target->kind != N_NAME || !is_bool_node(value)) continue;
        *name = sym_str(target->u.name.id);
        if (speaks_of(*name, rule)) return stmt;
    }
    return NULL;
}

// config.field, where `object` is a configuration written as `expr`.
static bool config_switch(RepoSwitch *out, Arena *run, const Place *place,
                          const Rule *rule, Val *object) {
    Def classes[CLASSES_SEEN_MAX];
    Flow *flow = place->frame->flow;
    uint32_t n = config_classes(flow, object, classes, CLASSES_SEEN_MAX);
    for (uint32_t i = 0; i < n; i++) {
        Str name;
        Node *field = switch_field(&classes[i], rule, &name);
        Str expr = field ? place_expr_start(place, object) : (Str){0};
        if (!expr.len) continue;
        out->expr = arena_printf(run, "%.*s.%.*s", STR_FMT(expr), STR_FMT(name));
        out->name = arena_str(run, name);
        out->where = make_span(run, classes[i].module, field);
        return true;
    }
    return false;
}

// self.use_fused_norm, stored from a configuration's or constructor's boolean.
static bool self_switch(RepoSwitch *out, Arena *run, const Place *place,
                        const Rule *rule, const Sym *attr) {
    const Frame *f = place->frame;
    if (!speaks_of(sym_str(attr), rule)) return false;
    Val *value = object_attr(f->flow, f->self, attr);
    if (!value || !value->node || !value->module) return false;
    Resolved r = flow_resolve(f->flow, value);
    bool boolean = r.val && r.val->op == V_CONST &&
                   (r.val->ck == CONST_TRUE || r.val->ck == CONST_FALSE);
    if (!boolean) return false;
    Str expr = place_expr_start(place, val_attr(&f->flow->graph, f->self, attr));
    if (!expr.len) return false;
    out->expr = arena_str(run, expr);
    out->name = arena_str(run, sym_str(attr));
    out->where = make_span(run, value->module, value->node);
    return true;
}

static bool switch_of_self(RepoSwitch *out, Arena *run, const Place *place,
                           const Rule *rule) {
    const Frame *f = place->frame;
    if (!f->self || !object_class(f->self)) return false;
    const Sym *names[STORED_MAX];
    uint32_t n = stored_names(f->flow, object_class(f->self), names, STORED_MAX);
    for (uint32_t i = 0; i < n; i++) {
        if (self_switch(out, run, place, rule, names[i])) return true;
    }
    for (uint32_t i = 0; i < n; i++) {
        Val *attr = val_attr(&f->flow->graph, f->self, names[i]);
        Val *value = object_attr(f->flow, f->self, names[i]);
        // Only a plain configuration: not a layer that has one.
        if (!value || (value->op != V_PARAM && value->op != V_ATTR)) continue;
        if (config_switch(out, run, place, rule, attr)) return true;
    }
    return false;
}

// ---- constants of the module ------------------------------------------------------

// os.environ["X"], os.environ.get("X"), os.getenv("X") somewhere in the expression.
static bool reads_environment(Node *node, void *data) {
    bool *found = data;
    if (node->kind == N_ATTRIBUTE) {
        Str name = sym_str(node->u.attribute.attr);
        *found |= str_is(name, "environ") || str_is(name, "getenv");
    }
    if (node->kind == N_NAME) *found |= str_is(sym_str(node->u.name.id), "getenv");
    return !*found && node_children(node, reads_environment, data);
}

// True, False, or a test of the environment: os.getenv("USE_FUSED_NORM", "0") == "1".
static bool is_setting(Node *value) {
    if (is_bool_node(value)) return true;
    bool test = value->kind == N_COMPARE || value->kind == N_UNARY_OP;
    bool call = value->kind == N_CALL && value->u.call.func->kind == N_NAME &&
                str_is(sym_str(value->u.call.func->u.name.id), "bool");
    bool found = false;
    if (test || call) reads_environment(value, &found);
    return found;
}

// Whether every binding of the name is such a value, or imports one.
static bool is_always_setting(Module *module, const Binding *b, Def *out) {
    *out = project_lookup(module, b->name);
    if (out->kind != DEF_VALUE || !is_setting(out->node)) return false;
    for (; b; b = b->earlier) {
        if (b->kind == BIND_VALUE ? !is_setting(b->value) : b->kind != BIND_FROM) return false;
    }
    return true;
}

// A name of the module, its own or imported, that no local name hides: the first.
static bool switch_of_module(RepoSwitch *out, Arena *run, const Place *place, const Rule *rule) {
    Module *module = place->frame->module;
    const Binding *first = NULL;
    Def of_first, def;
    for (uint32_t i = 0; i < module->slot_count; i++) {
        for (const Binding *b = module->slots[i]; b; b = b->chain) {
            if (first && first->node->start <= b->node->start) continue;
            if (!speaks_of(sym_str(b->name), rule)) continue;
            if (name_find(&place->frame->names, (uintptr_t)b->name)) continue;
            if (!is_always_setting(module, b, &def)) continue;
            first = b;
            of_first = def;
        }
    }
    if (!first) return false;
    out->expr = arena_str(run, sym_str(first->name));
    out->name = out->expr;
    out->where = make_span(run, of_first.module, of_first.node);
    return true;
}

// ---- where the function tests it itself ---------------------------------------------

typedef struct TestSearch {
    Str name;
    bool in_test, found;
} TestSearch;

static bool search_test(Node *node, void *data) {
    TestSearch *search = data;
    const Sym *name = node->kind == N_ATTRIBUTE ? node->u.attribute.attr
                      : node->kind == N_NAME    ? node->u.name.id
                                                : NULL;
    bool named = name && str_eq(sym_str(name), search->name);
    named |= node->kind == N_CONSTANT && node->op == CONST_STR && // getattr(args, "name", False)
             str_eq(node->u.constant.text, search->name);
    if (search->in_test && named) search->found = true;
    if ((node->kind == N_IF || node->kind == N_IF_EXP) && !search->in_test) {
        Node *test = node->kind == N_IF ? node->u.while_.test : node->u.if_exp.test;
        search->in_test = true;
        search_test(test, data);
        search->in_test = false;
    }
    return node_children(node, search_test, data);
}

// Where the function branches on the switch itself, the hand-written code is
// what runs while it is off: it cannot turn on the fused code there.
static bool is_branched_on(const Place *place, Str name) {
    TestSearch search = {.name = name};
    search_test(place->frame->fn, &search);
    return search.found;
}

// ---- options of the command line ----------------------------------------------------

// Objects of which the options of a parser are read: args.hidden_size.
typedef struct NamespaceSearch {
    const Place *place;
    OptionList options;
    const Option *option; // the switch
    const Sym *base;      // only reads of this name count; NULL: of any
    Val *found;           // what is read of; with `base` anything but NULL
} NamespaceSearch;

static bool is_declared(const NamespaceSearch *search, const Sym *dest) {
    for (uint32_t i = 0; i < search->options.len; i++) {
        const Option *option = &search->options.at[i];
        if (option->file == search->option->file && option->dest == dest) return true;
    }
    return false;
}

static bool search_namespace(Node *node, void *data) {
    NamespaceSearch *search = data;
    if (node->kind == N_ATTRIBUTE && is_declared(search, node->u.attribute.attr)) {
        Node *of = node->u.attribute.value;
        bool named = of->kind == N_NAME && (!search->base || of->u.name.id == search->base);
        bool stored = !search->base && of->kind == N_ATTRIBUTE;
        Val *v = named || stored ? node_val(search->place->frame->mf, of) : NULL;
        if (named && search->base) search->found = search->place->frame->self;
        else if (v && v->op != V_CONST && !object_class(v)) search->found = v;
    }
    return !search->found && node_children(node, search_namespace, data);
}

// getattr(args, "use_fused_rmsnorm", False): whoever else makes the object may not have
// the option.
static bool option_of(RepoSwitch *out, Arena *run, const NamespaceSearch *search, Val *object) {
    Str expr = object ? place_expr_start(search->place, object) : (Str){0};
    if (!expr.len) return false;
    Str name = sym_str(search->option->dest);
    out->expr = arena_printf(run, "getattr(%.*s, \"%.*s\", %s)", STR_FMT(expr), STR_FMT(name),
                             is_negative(name) ? "True" : "False");
    out->name = arena_str(run, name);
    out->where = (Span){.file = arena_str(run, search->option->shown),
                        .start_line = search->option->line,
                        .end_line = search->option->line,
                        .text = arena_str(run, search->option->text)};
    return true;
}

// self.args = args in the constructor, which reads args.hidden_size.
static bool option_of_self(RepoSwitch *out, Arena *run, const NamespaceSearch *wanted) {
    Frame *f = wanted->place->frame;
    if (!f->self || !object_class(f->self)) return false;
    const Sym *names[STORED_MAX];
    uint32_t n = stored_names(f->flow, object_class(f->self), names, STORED_MAX);
    for (uint32_t i = 0; i < n; i++) {
        Val *value = object_attr(f->flow, f->self, names[i]);
        if (!value || value->op != V_PARAM || !value->ptr) continue;
        const Frame *constructor = value->ptr;
        if (!constructor->fn || !value->name) continue;
        NamespaceSearch search = *wanted;
        search.base = value->name;
        search_namespace(constructor->fn, &search);
        if (search.found &&
            option_of(out, run, wanted, val_attr(&f->flow->graph, f->self, names[i]))) {
            return true;
        }
    }
    return false;
}

// A boolean option of the project, read of an object that is at hand and of which other
// options of the same parser are read.
static bool option_switch(RepoSwitch *out, Arena *run, const Place *place, const Rule *rule) {
    NamespaceSearch search = {.place = place};
    search.options = project_options(place->frame->flow->project);
    for (uint32_t i = 0; i < search.options.len; i++) {
        search.option = &search.options.at[i];
        if (!search.option->boolean || !speaks_of(sym_str(search.option->dest), rule)) continue;
        search.found = NULL;
        search_namespace(place->frame->fn, &search);
        if (option_of(out, run, &search, search.found)) return true;
        if (option_of_self(out, run, &search)) return true;
    }
    return false;
}

static bool any_switch(RepoSwitch *out, Arena *run, const Place *place, const Rule *rule) {
    if (switch_of_self(out, run, place, rule)) return true;
    const Frame *f = place->frame;
    for (uint32_t i = 0; i < f->names.cap; i++) { // a parameter that is one
        const NameInfo *info = f->names.slots[i];
        if (!info || !info->events.len || !info->events.at[0].bind) continue;
        Val *v = info->events.at[0].bind->val;
        bool typed = v && v->op == V_PARAM && v->node && v->node->u.arg.annotation;
        if (typed && config_switch(out, run, place, rule, v)) return true;
    }
    return switch_of_module(out, run, place, rule) || option_switch(out, run, place, rule);
}

bool find_switch(RepoSwitch *out, Arena *run, const Place *place, const Rule *rule) {
    *out = (RepoSwitch){0};
    if (place->fault || !any_switch(out, run, place, rule)) return false;
    if (is_branched_on(place, out->name)) return false;
    if (is_negative(out->name)) {
        out->expr = arena_printf(run, "not %.*s", STR_FMT(out->expr));
    }
    return true;
}
