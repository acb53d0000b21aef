// rule.c - reads rule files and makes their specialisations.
#include "base/base.h"

#include "match/rule.h"

#include "match/attend.h"

#include "base/file.h"
#include "base/sha256.h"
#include "match/rule_call.h"

static Str const_str(const Node *n) {
    if (n && n->kind == N_CONSTANT && n->op == CONST_STR) return n->u.constant.text;
    return (Str){0};
}

static bool rule_fault(Err *err, const Module *m, const Node *node,
                       const char *text) {
    uint32_t line = node ? source_line(&m->source, node->start) : 1;
    return err_set(err, "'%.*s' line %u: %s", STR_FMT(m->shown), line, text);
}

static Node *find_function(const Module *m, const char *name) {
    NodeList body = m->parsed.module->u.module.body;
    for (uint32_t i = 0; i < body.len; i++) {
        if (body.at[i]->kind == N_FUNCTION_DEF &&
            str_is(sym_str(body.at[i]->u.function->name), name)) {
            return body.at[i];
        }
    }
    return NULL;
}

static Node *find_assignment(const Module *m, const char *name) {
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

// ---- what rule(...) says ----------------------------------------------------

static Node *find_rule_call(const Module *m) {
    NodeList body = m->parsed.module->u.module.body;
    for (uint32_t i = 0; i < body.len; i++) {
        Node *stmt = body.at[i];
        if (stmt->kind != N_EXPR || stmt->u.return_.value->kind != N_CALL) continue;
        Node *func = stmt->u.return_.value->u.call.func;
        if (func->kind == N_NAME && str_is(sym_str(func->u.name.id), "rule")) {
            return stmt->u.return_.value;
        }
    }
    return NULL;
}

static void read_strings(Strings *out, Arena *arena, const Node *list) {
    if (list->kind != N_TUPLE && list->kind != N_LIST) return;
    for (uint32_t i = 0; i < list->u.list.elts.len; i++) {
        Str text = const_str(list->u.list.elts.at[i]);
        if (text.len) vec_push(arena, out, text);
    }
}

static bool read_meta(Rule *rule, Arena *arena, Err *err) {
    Node *call = find_rule_call(rule->module);
    if (!call) {
        return rule_fault(err, rule->module, NULL,
                          "no call of rule(id=..., family=..., operator=...)");
    }
    struct {
        const char *key;
        Str *at;
        bool required;
    } rows[] = {
        {"id", &rule->id, true}, {"family", &rule->family, true},
        {"operator", &rule->operator_, true}, {"priority", &rule->priority, true},
        {"gain", &rule->gain, true}, {"eager_only", &rule->eager_only, false},
        {"title", &rule->title, false},
        {"part", &rule->part, false}, {"caution", &rule->caution, false},
        {"reused", &rule->reused, false},
    };
    for (uint32_t i = 0; i < call->u.call.keywords.len; i++) {
        Node *keyword = call->u.call.keywords.at[i];
        if (!keyword->u.keyword.name) continue;
        Str key = sym_str(keyword->u.keyword.name);
        if (str_is(key, "risks")) read_strings(&rule->risks, arena, keyword->u.keyword.value);
        if (str_is(key, "risks_of")) {
            read_strings(&rule->risks_of, arena, keyword->u.keyword.value);
        }
        if (str_is(key, "within")) read_strings(&rule->within, arena, keyword->u.keyword.value);
        if (str_is(key, "weights")) read_strings(&rule->weights, arena, keyword->u.keyword.value);
        for (size_t k = 0; k < COUNT(rows); k++) {
            if (str_is(key, rows[k].key)) {
                *rows[k].at = const_str(keyword->u.keyword.value);
            }
        }
    }
    for (size_t k = 0; k < COUNT(rows); k++) {
        if (rows[k].required && rows[k].at->len == 0) {
            Str text = arena_printf(arena, "rule() needs %s=\"...\"", rows[k].key);
            return rule_fault(err, rule->module, call, text.at);
        }
    }
    return true;
}

// ---- parameters -------------------------------------------------------------

static bool add_param(Rule *rule, Node *arg, Node *fallback, bool keyword_only,
                      Err *err) {
    if (rule->param_count == RULE_MAX_PARAMS) {
        return rule_fault(err, rule->module, arg, "too many parameters");
    }
    RuleParam *p = &rule->params[rule->param_count++];
    *p = (RuleParam){.name = arg->u.arg.name, .fallback = fallback};
    bool constant = fallback && fallback->kind == N_CONSTANT;
    p->optional = constant && fallback->op == CONST_NONE;
    p->flag = keyword_only && constant &&
              (fallback->op == CONST_TRUE || fallback->op == CONST_FALSE);
    const Node *a = arg->u.arg.annotation; // p: float = None
    bool number = a && a->kind == N_NAME && str_is(sym_str(a->u.name.id), "float");
    p->text = a && a->kind == N_NAME && str_is(sym_str(a->u.name.id), "str");
    p->scalar = fallback && !p->flag && (!p->optional || number || p->text);
    for (uint32_t i = 0; i < rule->weights.len; i++) {
        p->weight |= str_eq(sym_str(p->name), rule->weights.at[i]);
    }
    return true;
}

static bool read_params(Rule *rule, Err *err) {
    ArgumentsNode *a = rule->reference->u.function->args->u.arguments;
    uint32_t n = a->posonly.len + a->args.len;
    for (uint32_t i = 0; i < n; i++) {
        Node *arg = i < a->posonly.len ? a->posonly.at[i]
                                       : a->args.at[i - a->posonly.len];
        uint32_t first = n - a->defaults.len;
        Node *fallback = i >= first ? a->defaults.at[i - first] : NULL;
        if (!add_param(rule, arg, fallback, false, err)) return false;
    }
    for (uint32_t i = 0; i < a->kwonly.len; i++) {
        if (!add_param(rule, a->kwonly.at[i], a->kw_defaults.at[i], true, err)) {
            return false;
        }
    }
    return true;
}

int rule_param(const Rule *rule, const Sym *name) {
    for (uint32_t i = 0; i < rule->param_count; i++) {
        if (rule->params[i].name == name) return (int)i;
    }
    return -1;
}

// `p is None` and `p is not None`
static int none_test(const Spec *spec, const Node *test) {
    if (test->kind != N_COMPARE || test->u.compare.comparators.len != 1) return -1;
    Node *left = test->u.compare.left, *right = test->u.compare.comparators.at[0];
    AstOp op = (AstOp)test->u.compare.ops[0];
    if (left->kind != N_NAME || right->kind != N_CONSTANT ||
        right->op != CONST_NONE || (op != A_IS && op != A_IS_NOT)) {
        return -1;
    }
    int p = rule_param(spec->rule, left->u.name.id);
    if (p < 0) return -1;
    bool absent = !spec->params[p];
    return op == A_IS ? absent : !absent;
}

int spec_truth(const Spec *spec, const Node *test) {
    if (test->kind == N_NAME) {
        int p = rule_param(spec->rule, test->u.name.id);
        return p >= 0 && spec->rule->params[p].flag ? spec->flags[p] : -1;
    }
    if (test->kind == N_UNARY_OP && test->op == A_NOT) {
        int inner = spec_truth(spec, test->u.unary.operand);
        return inner < 0 ? -1 : !inner;
    }
    if (test->kind == N_BOOL_OP) {
        int stops = test->op == A_AND ? 0 : 1;
        bool all = true;
        for (uint32_t i = 0; i < test->u.bool_op.values.len; i++) {
            int part = spec_truth(spec, test->u.bool_op.values.at[i]);
            if (part == stops) return stops;
            all &= part >= 0;
        }
        return all ? !stops : -1;
    }
    return none_test(spec, test);
}

// ---- specialisations --------------------------------------------------------

uint64_t op_bit(uint16_t op) {
    return UINT64_C(1) << (op % 64);
}

uint64_t root_ops(Flow *flow, Val *root) {
    Factors list = {0};
    if (root->op == OP_MUL) product_factors(&list, flow, root);
    if (root->op == OP_ADD) sum_terms(&list, flow, root);
    uint64_t bits = 0;
    for (uint32_t i = 0; i < list.len; i++) {
        const Val *v = list.at[i];
        bits |= op_bit(v->op == OP_NEG ? val_strip(v->args[0])->op : v->op);
    }
    return bits;
}

enum { SEEN_MAX = 512 };

typedef struct Survey {
    const Val *seen[SEEN_MAX];
    uint32_t seen_count, ops;
    bool none_operand; // arithmetic on None: the alternative makes no sense
    uint16_t mark, pairs; // pairs: the mark where there is no other
    bool joins_halves; // cat((-b, a)) of the halves of a tensor
    bool adds, multiplies;
} Survey;

static bool joins_part(const Val *v) {
    if (v->op != OP_CAT && v->op != OP_STACK && v->op != OP_WEAVE) return false;
    for (uint32_t i = 0; i < v->args[0]->nargs; i++) {
        const Val *part = v->args[0]->args[i];
        if (part->op == OP_NEG) part = part->args[0];
        if (part->op == V_PART) return true;
    }
    return false;
}

static void survey(Survey *s, const Val *v) {
    for (uint32_t i = 0; i < s->seen_count; i++) {
        if (s->seen[i] == v) return;
    }
    if (s->seen_count == SEEN_MAX) return;
    s->seen[s->seen_count++] = v;
    if (v->op > V_CAST || v->op == V_PART) s->ops++;
    s->joins_halves |= joins_part(v);
    s->adds |= v->op == OP_ADD && !val_is_number(v->args[0]) && !val_is_number(v->args[1]);
    s->multiplies |= v->op == OP_MUL;
    bool joins = v->op == OP_CAT || v->op == OP_WEAVE || v->op == OP_VIEW_AS_COMPLEX;
    if (joins && !s->mark) s->mark = v->op;
    bool rows = v->op == OP_STRIDED || v->op == OP_UNFLATTEN;
    if (rows && !s->mark && !s->pairs) s->pairs = v->op;
    for (uint32_t i = 0; i < v->nargs; i++) {
        bool arithmetic = v->op == OP_MUL || v->op == OP_ADD || v->op == OP_POW ||
                          ((v->op > V_CAST || v->op == V_ATTR) && i == 0);
        if (arithmetic && val_is_none(v->args[i])) s->none_operand = true;
        survey(s, v->args[i]);
    }
}

static bool uses_all_params(const Spec *spec, const Survey *s) {
    for (uint32_t p = 0; p < spec->rule->param_count; p++) {
        if (!spec->params[p]) continue;
        bool used = false;
        for (uint32_t i = 0; i < s->seen_count; i++) {
            used |= s->seen[i] == spec->params[p];
        }
        if (!used && !spec->rule->params[p].scalar) return false;
    }
    return true;
}

static Str spec_variant(Arena *arena, const Spec *spec) {
    Str text = {0};
    for (uint32_t p = 0; p < spec->rule->param_count; p++) {
        const RuleParam *param = &spec->rule->params[p];
        bool shown = (param->optional && spec->params[p]) ||
                     (param->flag && spec->flags[p]);
        if (!shown) continue;
        text = text.len ? arena_printf(arena, "%.*s+%s", STR_FMT(text), param->name->text)
                        : sym_str(param->name);
    }
    return text.len ? text : STR("plain");
}

static bool is_new_pattern(const Rule *rule, const Val *pattern) {
    for (uint32_t i = 0; i < rule->spec_count; i++) {
        if (rule->specs[i].pattern == pattern) return false;
    }
    return true;
}

// Reads the reference with the choice in `bits`: one bit for each optional
// parameter (present) and each flag (True).
static void add_spec(RuleSet *set, Rule *rule, ModuleFlow *mf, uint32_t bits) {
    Flow *flow = &set->flow;
    Spec spec = {.rule = rule};
    Val *given[RULE_MAX_PARAMS] = {0};
    uint32_t bit = 0;
    for (uint32_t p = 0; p < rule->param_count; p++) {
        const RuleParam *param = &rule->params[p];
        Val proto = {.op = V_PARAM, .name = param->name, .ptr = rule,
                     .flags = VF_NOT_NONE, .num = (double)p};
        bool choice = (param->optional || param->flag) && (bits >> bit++ & 1);
        if (param->flag) {
            spec.flags[p] = choice;
            given[p] = val_bool(&flow->graph, choice);
        } else if (param->optional && !choice) {
            given[p] = val_none(&flow->graph);
        } else {
            given[p] = spec.params[p] = val_intern(&flow->graph, &proto);
        }
    }
    Frame *f = flow_call_root(flow, mf, rule->reference, given, rule->param_count);
    if (f->returns.len != 1) return; // an `if` that the choice does not decide
    spec.pattern = val_strip(f->returns.at[0].val);
    Survey s = {0};
    survey(&s, spec.pattern);
    if (s.none_operand || !uses_all_params(&spec, &s)) return;
    const Attend *attend = attend_of(flow, spec.pattern);
    if (attend && attend->form) spec.pattern = attend->form;
    if (!is_new_pattern(rule, spec.pattern)) return;
    spec.size = s.ops;
    spec.halves_meet = !s.joins_halves;
    spec.sums = s.adds && !s.multiplies && spec.pattern->op != OP_ATTEND;
    spec.mark = s.mark ? s.mark : s.pairs;
    spec.variant = spec_variant(flow->arena, &spec);
    // A parameter may be anything; the root of a size may stand behind an attribute.
    spec.factor_ops = root_ops(flow, spec.pattern) & ~op_bit(V_PARAM) & ~op_bit(OP_SQRT);
    rule->specs[rule->spec_count++] = spec;
}

static bool make_specs(RuleSet *set, Rule *rule, Err *err) {
    uint32_t choices = 0;
    for (uint32_t p = 0; p < rule->param_count; p++) {
        choices += rule->params[p].optional || rule->params[p].flag;
    }
    if (choices > 6) {
        return rule_fault(err, rule->module, rule->reference,
                          "more than 64 alternatives");
    }
    ModuleFlow *mf = flow_module(&set->flow, rule->module);
    for (uint32_t bits = 0; bits < 1u << choices; bits++) {
        add_spec(set, rule, mf, bits);
    }
    if (rule->spec_count) return true;
    return rule_fault(err, rule->module, rule->reference,
                      "no alternative of reference() returns one value");
}

// ---- files ------------------------------------------------------------------

// The operator's file beside the rules, else beside the first ones; or NULL.
static Module *open_operator(RuleSet *set, const Rule *rule, const char *folder) {
    Arena *arena = set->flow.arena;
    Str shown = arena_printf(arena, "ops/%.*s.py", STR_FMT(rule->operator_));
    const char *folders[] = {folder, set->first_folder};
    Module *found = NULL;
    for (size_t i = 0; i < COUNT(folders) && !found; i++) {
        Str path = arena_printf(arena, "%s/../%.*s", folders[i], STR_FMT(shown));
        Err ignored;
        found = project_open(set->project, path.at, shown, &ignored);
    }
    return found;
}

// `api` from the operator's module: torch_npu, or a part of torch.
static bool name_api(Rule *rule, Arena *arena, Str module, Err *err) {
    rule->plain_torch = str_is(module, "torch") || str_starts(module, "torch.");
    if (!rule->plain_torch && !str_is(module, "torch_npu")) {
        return rule_fault(err, rule->op_module, find_assignment(rule->op_module, "module"),
                          "module is \"torch_npu\", \"torch\" or a part of torch");
    }
    rule->api = arena_dotted(arena, module, rule->operator_);
    return true;
}

static bool read_operator(RuleSet *set, Rule *rule, const char *folder, Err *err) {
    Module *m = open_operator(set, rule, folder);
    Str module = STR("torch_npu");
    rule->op_module = m;
    if (!m) return name_api(rule, set->flow.arena, module, err);
    ModuleFlow *mf = flow_module(&set->flow, m);
    struct {
        const char *name;
        Str *at;
    } rows[] = {
        {"schema", &rule->op_schema}, {"summary", &rule->op_summary},
        {"source", &rule->op_source}, {"autograd", &rule->op_autograd},
        {"versions", &rule->op_versions}, {"module", &module},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        Node *value = find_assignment(m, rows[i].name);
        if (!value) continue;
        Val *v = eval_expr(mf->frame, value);
        if (v->op == V_CONST && v->ck == CONST_STR) *rows[i].at = v->text;
    }
    rule->op_limits = find_function(m, "limits");
    return name_api(rule, set->flow.arena, module, err);
}

// What the rule says: a change of either file makes another version.
static Str version_of(Arena *arena, const Rule *rule) {
    Sha256 hash;
    char hex[SHA256_HEX + 1];
    sha256_init(&hash);
    sha256_add(&hash, rule->module->source.bytes);
    if (rule->op_module) sha256_add(&hash, rule->op_module->source.bytes);
    sha256_end(&hash, hex);
    return arena_str(arena, (Str){hex, 12});
}

static bool load_rule(RuleSet *set, const char *folder, const char *name,
                      Err *err) {
    Arena *arena = set->flow.arena;
    char *path = path_join(arena, str_of(folder), str_of(name));
    Str shown = arena_printf(arena, "rules/%s", name);
    Module *m = project_open(set->project, path, shown, err);
    if (!m) return false;
    if (m->parsed.fault_count) {
        Node at = {.start = m->parsed.faults[0].offset};
        return rule_fault(err, m, &at, m->parsed.faults[0].message);
    }
    Rule *rule = NEW(arena, Rule);
    rule->module = m;
    if (!read_meta(rule, arena, err)) return false;
    rule->reference = find_function(m, "reference");
    rule->replacement = find_function(m, "replacement");
    rule->requires = find_function(m, "requires");
    if (!rule->reference || !rule->replacement || !rule->requires) {
        return rule_fault(err, m, NULL,
                          "a rule has reference(), replacement() and requires()");
    }
    if (!read_params(rule, err) || !make_specs(set, rule, err)) return false;
    if (!read_operator(set, rule, folder, err)) return false;
    if (!rule_check_calls(rule, arena, err)) return false;
    rule->version = version_of(arena, rule);
    for (uint32_t i = 0; i < set->rules.len; i++) {
        if (str_eq(set->rules.at[i]->id, rule->id)) {
            return rule_fault(err, m, NULL, "another rule has the same id");
        }
    }
    vec_push(arena, &set->rules, rule);
    return true;
}

void rules_init(RuleSet *out, Arena *arena, Project *project, const OpTable *ops) {
    *out = (RuleSet){.project = project};
    flow_init(&out->flow, project, ops, arena);
}

// The largest first: what a larger one matches is not left to a smaller one.
static void sort_specs(const Spec **specs, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        for (uint32_t k = i; k > 0 && specs[k]->size > specs[k - 1]->size; k--) {
            const Spec *swap = specs[k];
            specs[k] = specs[k - 1];
            specs[k - 1] = swap;
        }
    }
}

static void order_specs(RuleSet *set) {
    set->by_size.len = 0;
    for (uint32_t r = 0; r < set->rules.len; r++) {
        Rule *rule = set->rules.at[r];
        for (uint32_t s = 0; s < rule->spec_count; s++) {
            vec_push(set->flow.arena, &set->by_size, &rule->specs[s]);
        }
    }
    if (set->by_size.len) sort_specs(set->by_size.at, set->by_size.len);
}

bool rules_load(RuleSet *set, const char *folder, Err *err) {
    FolderList list;
    if (!folder_read(&list, set->flow.arena, folder, err)) return false;
    uint32_t before = set->rules.len;
    if (!set->first_folder) set->first_folder = arena_cstr(set->flow.arena, str_of(folder));
    for (size_t i = 0; i < list.len; i++) {
        Str name = str_of(list.at[i].name);
        if (list.at[i].kind != FILE_REGULAR || !str_ends(name, ".py") ||
            name.at[0] == '_') {
            continue;
        }
        if (!load_rule(set, folder, list.at[i].name, err)) return false;
    }
    order_specs(set);
    if (set->rules.len > before) return true;
    return err_set(err, "no rules in '%s'", folder);
}
