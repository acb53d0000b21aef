// switch.c - finding a switch by its role: a boolean of a configuration that
// says "fused" (or names the NPU) together with the family.
//
// A switch is a name that people chose for people, so this is the one place
// that reads names. It decides only which condition is emitted, never what
// matches.
#include "base/base.h"

#include "match/switch.h"

enum { STORED_MAX = 128, CLASSES_SEEN_MAX = 4 };

static const struct {
    const char *family, *words[5];
} family_words[] = {
    {"rms_norm", {"rmsnorm", "norm"}},
    {"swiglu", {"swiglu", "glu", "silu", "mlp"}},
    {"geglu", {"geglu", "glu", "gelu", "mlp"}},
    {"quick_gelu", {"quickgelu", "gelu"}},
    {"gelu", {"gelu"}},
};

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

static bool speaks_of(Str name, const Rule *rule) {
    char buffer[64];
    Str plain = plain_name(buffer, sizeof(buffer), name);
    bool fused = str_contains(plain, STR("fused")) || str_contains(plain, STR("fuse")) ||
                 str_contains(plain, STR("fusion")) || str_contains(plain, STR("npu"));
    if (!fused) return false;
    for (size_t i = 0; i < COUNT(family_words); i++) {
        if (!str_is(rule->family, family_words[i].family)) continue;
        for (size_t k = 0; k < COUNT(family_words[i].words); k++) {
            const char *word = family_words[i].words[k];
            if (word && str_contains(plain, str_of(word))) return true;
        }
        return false;
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
static bool is_branched_on(const Place *place, Str expr) {
    TestSearch search = {.name = str_last_part(expr)};
    search_test(place->frame->fn, &search);
    return search.found;
}

bool find_switch(RepoSwitch *out, Arena *run, const Place *place, const Rule *rule) {
    *out = (RepoSwitch){0};
    if (place->fault) return false;
    if (switch_of_self(out, run, place, rule)) return !is_branched_on(place, out->expr);
    const Frame *f = place->frame;
    for (uint32_t i = 0; i < f->names.cap; i++) { // a parameter that is one
        const NameInfo *info = f->names.slots[i];
        if (!info || !info->events.len || !info->events.at[0].bind) continue;
        Val *v = info->events.at[0].bind->val;
        bool typed = v && v->op == V_PARAM && v->node && v->node->u.arg.annotation;
        if (typed && config_switch(out, run, place, rule, v)) {
            return !is_branched_on(place, out->expr);
        }
    }
    return switch_of_module(out, run, place, rule) && !is_branched_on(place, out->expr);
}
