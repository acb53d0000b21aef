// classes.c - what a class statement holds, and what the class inherits from.
#include "base/base.h"

#include "py/project.h"

Node *class_method(const Node *class_node, const Sym *name) {
    NodeList body = class_node->u.class_->body;
    if (!(class_node->u.class_->methods & class_name_bit(name))) return NULL;
    for (uint32_t i = body.len; i-- > 0;) {
        Node *stmt = body.at[i];
        if (stmt->kind != N_FUNCTION_DEF && stmt->kind != N_ASYNC_FUNCTION_DEF) {
            continue;
        }
        if (stmt->u.function->name == name) return stmt;
    }
    return NULL;
}

static bool is_named(const Node *target, const Sym *name) {
    return target->kind == N_NAME && target->u.name.id == name;
}

Node *class_value(const Node *class_node, const Sym *name) {
    NodeList body = class_node->u.class_->body;
    for (uint32_t i = body.len; i-- > 0;) {
        Node *stmt = body.at[i];
        if (stmt->kind == N_ANN_ASSIGN && stmt->u.ann_assign.value &&
            is_named(stmt->u.ann_assign.target, name)) {
            return stmt->u.ann_assign.value;
        }
        if (stmt->kind != N_ASSIGN) continue;
        for (uint32_t k = 0; k < stmt->u.assign.targets.len; k++) {
            if (is_named(stmt->u.assign.targets.at[k], name)) {
                return stmt->u.assign.value;
            }
        }
    }
    return NULL;
}

Node *class_annotation(const Node *class_node, const Sym *name) {
    NodeList body = class_node->u.class_->body;
    for (uint32_t i = body.len; i-- > 0;) {
        Node *stmt = body.at[i];
        if (stmt->kind == N_ANN_ASSIGN &&
            is_named(stmt->u.ann_assign.target, name)) {
            return stmt->u.ann_assign.annotation;
        }
    }
    return NULL;
}

// A base written as a name or as dotted attributes.
static Def base_def(Module *m, const Node *base) {
    if (base->kind == N_NAME) {
        Def def = project_lookup(m, base->u.name.id);
        if (def.kind != DEF_NONE) return def;
        return (Def){.kind = DEF_EXTERNAL, .dotted = sym_str(base->u.name.id)};
    }
    if (base->kind == N_ATTRIBUTE) {
        Def owner = base_def(m, base->u.attribute.value);
        if (!owner.module) owner.module = m;
        return project_member(&owner, base->u.attribute.attr);
    }
    if (base->kind == N_SUBSCRIPT) return base_def(m, base->u.subscript.value);
    return (Def){0};
}

static void add_bases(Def *out, uint32_t *count, const Def *class_def) {
    if (*count >= MRO_MAX) return;
    for (uint32_t i = 0; i < *count; i++) {
        if (out[i].kind == DEF_CLASS && out[i].node == class_def->node) return;
    }
    out[(*count)++] = *class_def;
    if (class_def->kind != DEF_CLASS) return;
    NodeList bases = class_def->node->u.class_->bases;
    for (uint32_t i = 0; i < bases.len && *count < MRO_MAX; i++) {
        Def def = base_def(class_def->module, bases.at[i]);
        if (def.kind == DEF_CLASS || def.kind == DEF_EXTERNAL) {
            add_bases(out, count, &def);
        }
    }
}

// The bases of a class with itself in front, found once for as long as the modules
// that they stand in are open.
struct ClassMro {
    uint64_t epoch;
    uint32_t len;
    Def at[MRO_MAX];
};

static const struct ClassMro *known_mro(const Def *class_def) {
    Module *module = class_def->module;
    struct ClassMro **known = &class_def->node->u.class_->mro;
    if (*known && (*known)->epoch == module->project->epoch) return *known;
    struct ClassMro mro = {.epoch = module->project->epoch};
    add_bases(mro.at, &mro.len, class_def);
    size_t bytes = offsetof(struct ClassMro, at) + sizeof(Def) * mro.len;
    struct ClassMro *made = arena_alloc(&module->arena, bytes);
    memcpy(made, &mro, bytes);
    return *known = made;
}

uint32_t class_mro(Def *out, const Def *class_def) {
    out[0] = *class_def;
    if (class_def->kind != DEF_CLASS) return 1;
    const struct ClassMro *mro = known_mro(class_def);
    memcpy(out + 1, mro->at + 1, sizeof(Def) * (mro->len - 1));
    return mro->len;
}

// ---- texts -------------------------------------------------------------------

struct ClassStrings {
    Arena *arena;
    Str *slots; // open addressing; no text: free
    uint32_t cap, len;
};

static Str *find_text(const struct ClassStrings *set, Str text) {
    uint32_t i = (uint32_t)hash_content(text) & (set->cap - 1);
    while (set->slots[i].at && !str_eq(set->slots[i], text)) i = (i + 1) & (set->cap - 1);
    return &set->slots[i];
}

static void add_text(struct ClassStrings *set, Str text) {
    if (set->len * 2 >= set->cap) {
        struct ClassStrings old = *set;
        set->cap = old.cap ? old.cap * 2 : 32;
        set->slots = NEW_N(set->arena, Str, set->cap);
        for (uint32_t i = 0; i < old.cap; i++) {
            if (old.slots[i].at) *find_text(set, old.slots[i]) = old.slots[i];
        }
    }
    Str *slot = find_text(set, text);
    set->len += !slot->at;
    *slot = text;
}

static bool visit_text(Node *node, void *data) {
    bool text = node->kind == N_CONSTANT && node->u.constant.text.len;
    if (text) add_text(data, node->u.constant.text);
    return node_children(node, visit_text, data);
}

bool class_has_text(const Def *class_def, Str text) {
    struct ClassStrings **set = &class_def->node->u.class_->strings;
    if (!*set) {
        *set = NEW(&class_def->module->arena, struct ClassStrings);
        (*set)->arena = &class_def->module->arena;
        node_children(class_def->node, visit_text, *set);
    }
    return (*set)->cap && find_text(*set, text)->at;
}
