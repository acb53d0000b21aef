// operator.c - reads ops/<operator>.py: plain assignments of strings and
// tuples of strings, and two functions that are left as they are.
#include "base/base.h"

#include "apidoc/operator.h"

#include "base/file.h"

#include <stdlib.h>

enum { REMOVALS_MAX_BYTES = 1024 * 1024 };

static bool fault(Err *err, const Module *m, const Node *at, const char *text) {
    uint32_t line = at ? source_line(&m->source, at->start) : 1;
    return err_set(err, "'%.*s' line %u: %s", STR_FMT(m->shown), line, text);
}

static Node *assigned(const Module *m, const char *name) {
    NodeList body = m->parsed.module->u.module.body;
    for (uint32_t i = 0; i < body.len; i++) {
        Node *stmt = body.at[i];
        if (stmt->kind != N_ASSIGN || stmt->u.assign.targets.len != 1) continue;
        Node *target = stmt->u.assign.targets.at[0];
        if (target->kind == N_NAME && str_is(sym_str(target->u.name.id), name)) {
            return stmt->u.assign.value;
        }
    }
    return NULL;
}

static Node *function(const Module *m, const char *name) {
    NodeList body = m->parsed.module->u.module.body;
    for (uint32_t i = 0; i < body.len; i++) {
        Node *stmt = body.at[i];
        if (stmt->kind != N_FUNCTION_DEF) continue;
        if (str_is(sym_str(stmt->u.function->name), name)) return stmt;
    }
    return NULL;
}

static bool is_text(const Node *n) {
    return n->kind == N_CONSTANT && n->op == CONST_STR;
}

// The string of `name`; empty if it is not assigned. Fails on anything else.
static bool read_text(Str *out, const Module *m, const char *name, Err *err) {
    const Node *value = assigned(m, name);
    *out = (Str){0};
    if (!value) return true;
    if (!is_text(value)) return fault(err, m, value, "a string is expected here");
    *out = value->u.constant.text;
    return true;
}

static Str trimmed(Str s) {
    while (s.len && s.at[0] == ' ') s = (Str){s.at + 1, s.len - 1};
    while (s.len && s.at[s.len - 1] == ' ') s.len--;
    return s;
}

typedef VEC(Str) Texts;

// name = ("...", ...); empty if it is not assigned.
static bool read_texts(Texts *out, Arena *arena, const Module *m, const char *name, Err *err) {
    const Node *value = assigned(m, name);
    *out = (Texts){0};
    if (!value) return true;
    bool fine = value->kind == N_TUPLE;
    for (uint32_t i = 0; fine && i < value->u.list.elts.len; i++) {
        const Node *item = value->u.list.elts.at[i];
        fine = item && is_text(item);
        if (fine) vec_push(arena, out, item->u.constant.text);
    }
    return fine || fault(err, m, value, "a tuple of strings is expected here");
}

// "NAME: TEXT" in its two parts, the second one empty where there is no colon.
static OperatorRole split_pair(Str text) {
    OperatorRole pair = {.param = trimmed(str_take(&text, ':'))};
    pair.role = trimmed(text);
    return pair;
}

// roles = ("atten_mask: drop_mask", ...)
static bool read_roles(Operator *op, Arena *arena, Err *err) {
    Texts texts;
    if (!read_texts(&texts, arena, op->module, "roles", err)) return false;
    for (uint32_t i = 0; i < texts.len; i++) {
        OperatorRole role = split_pair(texts.at[i]);
        if (!role.role.len || !schema_arg(&op->schema, role.param)) {
            return fault(err, op->module, assigned(op->module, "roles"),
                         "a role is \"PARAMETER: ROLE\" with a parameter of the schema");
        }
        vec_push(arena, &op->roles, role);
    }
    return true;
}

static bool read_products(Operator *op, Arena *arena, Err *err) {
    Texts texts;
    if (!read_texts(&texts, arena, op->module, "products", err)) return false;
    for (uint32_t i = 0; i < texts.len; i++) vec_push(arena, &op->products, texts.at[i]);
    return true;
}

static bool read_overloads(Operator *op, Arena *arena, Err *err) {
    Texts texts;
    if (!read_texts(&texts, arena, op->module, "overloads", err)) return false;
    for (uint32_t i = 0; i < texts.len; i++) {
        Schema schema;
        Err why;
        if (!schema_parse(&schema, arena, texts.at[i], &why)) {
            return fault(err, op->module, assigned(op->module, "overloads"), why.text);
        }
        vec_push(arena, &op->overloads, schema);
    }
    return true;
}

static bool read_grad(Operator *op, Err *err) {
    Str word;
    if (!read_text(&word, op->module, "autograd", err)) return false;
    if (str_is(word, "differentiable")) op->grad = GRAD_DIFFERENTIABLE;
    else if (str_is(word, "raises")) op->grad = GRAD_RAISES;
    else if (str_is(word, "silent")) op->grad = GRAD_NONE;
    else {
        return fault(err, op->module, assigned(op->module, "autograd"),
                     "autograd is \"differentiable\", \"raises\" or \"silent\"");
    }
    return true;
}

static bool read_schema(Operator *op, Arena *arena, Err *err) {
    Err why;
    if (schema_parse(&op->schema, arena, op->schema_text, &why)) return true;
    return fault(err, op->module, assigned(op->module, "schema"), why.text);
}

static bool read_operator(Operator *op, Arena *arena, Err *err) {
    const Module *m = op->module;
    Str module;
    struct {
        const char *name;
        Str *at;
    } rows[] = {
        {"operator", &op->name}, {"schema", &op->schema_text}, {"summary", &op->summary},
        {"source", &op->source}, {"versions", &op->versions}, {"removal", &op->removal},
        {"module", &module},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (!read_text(rows[i].at, m, rows[i].name, err)) return false;
    }
    if (!op->name.len) return fault(err, m, NULL, "operator = \"npu_...\" is missing");
    if (!op->schema_text.len) return fault(err, m, NULL, "schema = \"...\" is missing");
    if (!module.len) module = STR("torch_npu");
    op->plain_torch = str_is(module, "torch") || str_starts(module, "torch.");
    op->api = arena_dotted(arena, module, op->name);
    op->limits = function(m, "limits");
    op->golden = function(m, "golden");
    return read_grad(op, err) && read_products(op, arena, err) &&
           read_schema(op, arena, err) && read_overloads(op, arena, err) &&
           read_roles(op, arena, err);
}

static bool load_file(OperatorSet *set, Arena *arena, Project *project, const char *path,
                      Err *err) {
    Operator op = {0};
    Str shown = arena_printf(arena, "ops/%.*s", STR_FMT(path_base(str_of(path))));
    op.module = project_open(project, path, shown, err);
    if (!op.module) return false;
    if (op.module->parsed.fault_count) {
        Node at = {.start = op.module->parsed.faults[0].offset};
        return fault(err, op.module, &at, op.module->parsed.faults[0].message);
    }
    if (!read_operator(&op, arena, err)) return false;
    vec_push(arena, &set->at, op);
    return true;
}

// Lines "OPERATOR: what to use instead", and comments.
static bool load_removals(OperatorSet *set, Arena *arena, const char *path, Err *err) {
    Str rest;
    if (!file_read(&rest, arena, path, REMOVALS_MAX_BYTES, err)) return false;
    while (rest.len) {
        Str line = trimmed(str_take(&rest, '\n'));
        if (!line.len || line.at[0] == '#') continue;
        OperatorRole pair = split_pair(line);
        if (!pair.role.len) {
            return err_set(err, "'%s': '%.*s' is not 'OPERATOR: what to use instead'", path,
                           STR_FMT(line));
        }
        vec_push(arena, &set->removals, pair);
    }
    return true;
}

static int by_name(const void *a, const void *b) {
    return str_cmp(((const Operator *)a)->name, ((const Operator *)b)->name);
}

bool operators_load(OperatorSet *out, Arena *arena, Project *project,
                    const char *folder, Err *err) {
    FolderList list;
    *out = (OperatorSet){0};
    if (!folder_read(&list, arena, folder, err)) return false;
    for (size_t i = 0; i < list.len; i++) {
        Str name = str_of(list.at[i].name);
        const char *path = path_join(arena, str_of(folder), name);
        if (str_is(name, "removals.txt") && !load_removals(out, arena, path, err)) return false;
        if (list.at[i].kind != FILE_REGULAR || !str_ends(name, ".py")) continue;
        if (name.at[0] == '_') continue;
        if (!load_file(out, arena, project, path, err)) return false;
    }
    if (out->at.len) qsort(out->at.at, out->at.len, sizeof(Operator), by_name);
    return true;
}

bool operators_load_file(OperatorSet *out, Arena *arena, Project *project,
                         const char *path, Err *err) {
    *out = (OperatorSet){0};
    return load_file(out, arena, project, path, err);
}

const Operator *operators_find(const OperatorSet *set, Str name) {
    uint32_t low = 0, high = set->at.len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = str_cmp(set->at.at[middle].name, name);
        if (order == 0) return &set->at.at[middle];
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return NULL;
}

Str operators_removal(const OperatorSet *set, Str name) {
    const Operator *op = operators_find(set, name);
    if (op && op->removal.len) return op->removal;
    for (uint32_t i = 0; i < set->removals.len; i++) {
        if (str_eq(set->removals.at[i].param, name)) return set->removals.at[i].role;
    }
    return STR("");
}
