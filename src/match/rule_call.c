// rule_call.c - calls in replacement() against the operator's schema.
#include "base/base.h"

#include "match/rule_call.h"

typedef struct Check {
    const Rule *rule;
    const Schema *schema;
    Arena *arena;
    Err *err;
    uint32_t calls; // of the operator
} Check;

static bool fault(const Check *c, const Node *at, Str text) {
    const Module *m = c->rule->module;
    return err_set(c->err, "'%.*s' line %u: %.*s", STR_FMT(m->shown),
                   source_line(&m->source, at->start), STR_FMT(text));
}

static bool is_operator(const Check *c, const Node *call) {
    const Node *func = call->u.call.func;
    return func->kind == N_ATTRIBUTE && str_eq(sym_str(func->u.attribute.attr),
                                               c->rule->operator_);
}

static bool check_positions(const Check *c, const Node *call) {
    NodeList args = call->u.call.args;
    uint32_t places = 0;
    while (places < c->schema->args.len && !c->schema->args.at[places].keyword_only) places++;
    for (uint32_t i = 0; i < args.len; i++) {
        if (args.at[i]->kind == N_STARRED) {
            return fault(c, call, STR("the operator's arguments are written out, without '*'"));
        }
    }
    if (args.len <= places) return true;
    return fault(c, call, arena_printf(c->arena, "'%.*s' takes %u arguments by position",
                                       STR_FMT(c->rule->operator_), places));
}

static bool check_keywords(const Check *c, const Node *call) {
    NodeList args = call->u.call.args, keywords = call->u.call.keywords;
    for (uint32_t i = 0; i < keywords.len; i++) {
        const Sym *name = keywords.at[i]->u.keyword.name;
        if (!name) {
            return fault(c, call, STR("the operator's arguments are written out, without '**'"));
        }
        const SchemaArg *arg = schema_arg(c->schema, sym_str(name));
        if (!arg) {
            return fault(c, keywords.at[i],
                         arena_printf(c->arena, "'%.*s' has no argument '%s'",
                                      STR_FMT(c->rule->operator_), name->text));
        }
        uint32_t at = (uint32_t)(arg - c->schema->args.at);
        if (at < args.len) {
            return fault(c, keywords.at[i], arena_printf(c->arena, "'%s' is given twice",
                                                         name->text));
        }
        if (arg->has_fallback || arg->keyword_only) continue;
        return fault(c, keywords.at[i],
                     arena_printf(c->arena, "'%s' has no default: pass it by position, because "
                                  "documents and versions call it differently", name->text));
    }
    return true;
}

static bool has_keyword(const Node *call, Str name) {
    NodeList keywords = call->u.call.keywords;
    for (uint32_t i = 0; i < keywords.len; i++) {
        const Sym *given = keywords.at[i]->u.keyword.name;
        if (given && str_eq(sym_str(given), name)) return true;
    }
    return false;
}

static bool check_required(const Check *c, const Node *call) {
    for (uint32_t i = call->u.call.args.len; i < c->schema->args.len; i++) {
        const SchemaArg *arg = &c->schema->args.at[i];
        if (arg->has_fallback || has_keyword(call, arg->name)) continue;
        return fault(c, call, arena_printf(c->arena, "'%.*s' has to be given to '%.*s'",
                                           STR_FMT(arg->name), STR_FMT(c->rule->operator_)));
    }
    return true;
}

static bool visit(Node *node, void *data) {
    Check *c = data;
    if (node->kind == N_CALL && is_operator(c, node)) {
        c->calls++;
        if (!check_positions(c, node) || !check_keywords(c, node) || !check_required(c, node)) {
            return false;
        }
    }
    return node_children(node, visit, data);
}

bool rule_check_calls(const Rule *rule, Arena *arena, Err *err) {
    Schema schema;
    Err ignored;
    if (rule->plain_torch || !rule->op_schema.len) return true;
    if (!schema_parse(&schema, arena, rule->op_schema, &ignored)) return true;
    Check c = {.rule = rule, .schema = &schema, .arena = arena, .err = err};
    if (!node_children(rule->replacement, visit, &c)) return false;
    if (c.calls) return true;
    // By another name it could not be checked, neither here nor against an installation.
    return fault(&c, rule->replacement,
                 arena_printf(arena, "replacement() calls 'torch_npu.%.*s' by this name",
                              STR_FMT(rule->operator_)));
}

typedef struct UseSearch {
    Check check;
    Str arg;
    uint32_t place; // of the argument in the schema
    RuleArgUse use;
} UseSearch;

static bool visit_use(Node *node, void *data) {
    UseSearch *search = data;
    if (node->kind == N_CALL && is_operator(&search->check, node)) {
        bool keyword = has_keyword(node, search->arg);
        bool given = keyword || search->place < node->u.call.args.len;
        search->use.given |= given;
        search->use.keyword |= keyword;
        search->use.position |= given && !keyword;
        search->use.left_out |= !given;
    }
    return node_children(node, visit_use, data);
}

RuleArgUse rule_arg_use(const Rule *rule, const Schema *schema, Str arg) {
    const SchemaArg *at = schema_arg(schema, arg);
    UseSearch search = {.check = {.rule = rule, .schema = schema}, .arg = arg,
                        .place = UINT32_MAX};
    if (at && !at->keyword_only) search.place = (uint32_t)(at - schema->args.at);
    node_children(rule->replacement, visit_use, &search);
    return search.use;
}
