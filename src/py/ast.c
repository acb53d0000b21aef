// ast.c - names of nodes and operators, and the children of a node.
#include "base/base.h"

#include "py/ast.h"

// ORDER KIND
static const char *const KIND_NAMES[] = {
    "None", "Module",
    "FunctionDef", "AsyncFunctionDef", "ClassDef", "Return", "Delete",
    "Assign", "TypeAlias", "AugAssign", "AnnAssign", "For", "AsyncFor",
    "While", "If", "With", "AsyncWith", "Match", "Raise", "Try", "TryStar",
    "Assert", "Import", "ImportFrom", "Global", "Nonlocal", "Expr", "Pass",
    "Break", "Continue",
    "Broken",
    "BoolOp", "NamedExpr", "BinOp", "UnaryOp", "Lambda", "IfExp", "Dict",
    "Set", "ListComp", "SetComp", "DictComp", "GeneratorExp", "Await",
    "Yield", "YieldFrom", "Compare", "Call", "FormattedValue",
    "Interpolation", "JoinedStr", "TemplateStr", "Constant", "Attribute",
    "Subscript", "Starred", "Name", "List", "Tuple", "Slice",
    "comprehension", "ExceptHandler", "arguments", "arg", "keyword", "alias",
    "withitem", "match_case", "MatchValue", "MatchSingleton",
    "MatchSequence", "MatchMapping", "MatchClass", "MatchStar",
    "MatchAs", "MatchOr", "TypeVar", "ParamSpec", "TypeVarTuple",
};
_Static_assert(COUNT(KIND_NAMES) == N_KIND_COUNT, "ORDER KIND");

// ORDER AST_OP
static const char *const OP_NAMES[] = {
    "None",
    "Add", "Sub", "Mult", "MatMult", "Div", "Mod", "Pow", "LShift",
    "RShift", "BitOr", "BitXor", "BitAnd", "FloorDiv",
    "Invert", "Not", "UAdd", "USub",
    "And", "Or",
    "Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "Is", "IsNot", "In", "NotIn",
};
_Static_assert(COUNT(OP_NAMES) == A_OP_COUNT, "ORDER AST_OP");

const char *node_kind_name(NodeKind kind) {
    return kind < N_KIND_COUNT ? KIND_NAMES[kind] : "?";
}

const char *ast_op_name(AstOp op) {
    return op < A_OP_COUNT ? OP_NAMES[op] : "?";
}

bool node_is_statement(const Node *node) {
    return node->kind >= N_FUNCTION_DEF && node->kind <= N_BROKEN;
}

// --- fields ----------------------------------------------------------------

// Both return false to stop.
typedef struct FieldVisit {
    NodeFieldVisit visit;
    void *data;
} FieldVisit;

static bool one(const FieldVisit *v, const char *name, Node *child) {
    if (!child) return true;
    NodeField field = {name, &child, 1, false};
    return v->visit(&field, v->data);
}

static bool list(const FieldVisit *v, const char *name, NodeList children) {
    if (!children.len) return true;
    NodeField field = {name, children.at, children.len, true};
    return v->visit(&field, v->data);
}

static bool function_fields(const FunctionNode *f, const FieldVisit *v) {
    return list(v, "decorator_list", f->decorators) &&
           list(v, "type_params", f->type_params) && one(v, "args", f->args) &&
           one(v, "returns", f->returns) && list(v, "body", f->body);
}

static bool class_fields(const ClassNode *c, const FieldVisit *v) {
    return list(v, "decorator_list", c->decorators) &&
           list(v, "type_params", c->type_params) &&
           list(v, "bases", c->bases) && list(v, "keywords", c->keywords) &&
           list(v, "body", c->body);
}

static bool arguments_fields(const ArgumentsNode *a, const FieldVisit *v) {
    return list(v, "posonlyargs", a->posonly) && list(v, "args", a->args) &&
           list(v, "defaults", a->defaults) && one(v, "vararg", a->vararg) &&
           list(v, "kwonlyargs", a->kwonly) &&
           list(v, "kw_defaults", a->kw_defaults) && one(v, "kwarg", a->kwarg);
}

bool node_fields(const Node *node, NodeFieldVisit visit, void *data) {
    const FieldVisit v_ = {visit, data};
    const FieldVisit *v = &v_;
    switch ((NodeKind)node->kind) {
    case N_NONE:
    case N_PASS:
    case N_BREAK:
    case N_CONTINUE:
    case N_BROKEN:
    case N_GLOBAL:
    case N_NONLOCAL:
    case N_CONSTANT:
    case N_NAME:
    case N_ALIAS:
    case N_MATCH_SINGLETON:
    case N_MATCH_STAR:
    case N_KIND_COUNT: return true;
    case N_MODULE: return list(v, "body", node->u.module.body);
    case N_FUNCTION_DEF:
    case N_ASYNC_FUNCTION_DEF: return function_fields(node->u.function, v);
    case N_CLASS_DEF: return class_fields(node->u.class_, v);
    case N_RETURN:
    case N_EXPR:
    case N_AWAIT:
    case N_YIELD:
    case N_YIELD_FROM:
    case N_STARRED: return one(v, "value", node->u.return_.value);
    case N_DELETE: return list(v, "targets", node->u.delete_.targets);
    case N_ASSIGN:
        return list(v, "targets", node->u.assign.targets) &&
               one(v, "value", node->u.assign.value);
    case N_TYPE_ALIAS:
        return one(v, "name", node->u.type_alias.name) &&
               list(v, "type_params", node->u.type_alias.type_params) &&
               one(v, "value", node->u.type_alias.value);
    case N_AUG_ASSIGN:
        return one(v, "target", node->u.aug_assign.target) &&
               one(v, "value", node->u.aug_assign.value);
    case N_ANN_ASSIGN:
        return one(v, "target", node->u.ann_assign.target) &&
               one(v, "annotation", node->u.ann_assign.annotation) &&
               one(v, "value", node->u.ann_assign.value);
    case N_FOR:
    case N_ASYNC_FOR:
        return one(v, "target", node->u.for_->target) &&
               one(v, "iter", node->u.for_->iter) &&
               list(v, "body", node->u.for_->body) &&
               list(v, "orelse", node->u.for_->orelse);
    case N_WHILE:
    case N_IF:
        return one(v, "test", node->u.while_.test) &&
               list(v, "body", node->u.while_.body) &&
               list(v, "orelse", node->u.while_.orelse);
    case N_WITH:
    case N_ASYNC_WITH:
        return list(v, "items", node->u.with.items) &&
               list(v, "body", node->u.with.body);
    case N_MATCH:
        return one(v, "subject", node->u.match.subject) &&
               list(v, "cases", node->u.match.cases);
    case N_RAISE:
        return one(v, "exc", node->u.raise.exc) &&
               one(v, "cause", node->u.raise.cause);
    case N_TRY:
    case N_TRY_STAR:
        return list(v, "body", node->u.try_->body) &&
               list(v, "handlers", node->u.try_->handlers) &&
               list(v, "orelse", node->u.try_->orelse) &&
               list(v, "finalbody", node->u.try_->finalbody);
    case N_ASSERT:
        return one(v, "test", node->u.assert_.test) &&
               one(v, "msg", node->u.assert_.msg);
    case N_IMPORT: return list(v, "names", node->u.import.names);
    case N_IMPORT_FROM: return list(v, "names", node->u.import_from.names);
    case N_BOOL_OP: return list(v, "values", node->u.bool_op.values);
    case N_NAMED_EXPR:
        return one(v, "target", node->u.named.target) &&
               one(v, "value", node->u.named.value);
    case N_BIN_OP:
        return one(v, "left", node->u.bin.left) &&
               one(v, "right", node->u.bin.right);
    case N_UNARY_OP: return one(v, "operand", node->u.unary.operand);
    case N_LAMBDA:
        return one(v, "args", node->u.lambda.args) &&
               one(v, "body", node->u.lambda.body);
    case N_IF_EXP:
        return one(v, "body", node->u.if_exp.body) &&
               one(v, "test", node->u.if_exp.test) &&
               one(v, "orelse", node->u.if_exp.orelse);
    case N_DICT:
        return list(v, "keys", node->u.dict.keys) &&
               list(v, "values", node->u.dict.values);
    case N_SET:
    case N_LIST:
    case N_TUPLE: return list(v, "elts", node->u.list.elts);
    case N_DICT_COMP:
        return one(v, "key", node->u.comp.elt) &&
               one(v, "value", node->u.comp.value) &&
               list(v, "generators", node->u.comp.generators);
    case N_LIST_COMP:
    case N_SET_COMP:
    case N_GENERATOR_EXP:
        return one(v, "elt", node->u.comp.elt) &&
               list(v, "generators", node->u.comp.generators);
    case N_COMPARE:
        return one(v, "left", node->u.compare.left) &&
               list(v, "comparators", node->u.compare.comparators);
    case N_CALL:
        return one(v, "func", node->u.call.func) &&
               list(v, "args", node->u.call.args) &&
               list(v, "keywords", node->u.call.keywords);
    case N_FORMATTED_VALUE:
    case N_INTERPOLATION:
        return one(v, "value", node->u.formatted.value) &&
               one(v, "format_spec", node->u.formatted.format_spec);
    case N_JOINED_STR:
    case N_TEMPLATE_STR: return list(v, "values", node->u.joined.values);
    case N_ATTRIBUTE: return one(v, "value", node->u.attribute.value);
    case N_SUBSCRIPT:
        return one(v, "value", node->u.subscript.value) &&
               one(v, "slice", node->u.subscript.slice);
    case N_SLICE:
        return one(v, "lower", node->u.slice.lower) &&
               one(v, "upper", node->u.slice.upper) &&
               one(v, "step", node->u.slice.step);
    case N_COMPREHENSION:
        return one(v, "target", node->u.comprehension.target) &&
               one(v, "iter", node->u.comprehension.iter) &&
               list(v, "ifs", node->u.comprehension.ifs);
    case N_EXCEPT_HANDLER:
        return one(v, "type", node->u.handler.type) &&
               list(v, "body", node->u.handler.body);
    case N_ARGUMENTS: return arguments_fields(node->u.arguments, v);
    case N_ARG: return one(v, "annotation", node->u.arg.annotation);
    case N_KEYWORD: return one(v, "value", node->u.keyword.value);
    case N_WITHITEM:
        return one(v, "context_expr", node->u.withitem.expr) &&
               one(v, "optional_vars", node->u.withitem.vars);
    case N_MATCH_CASE:
        return one(v, "pattern", node->u.match_case.pattern) &&
               one(v, "guard", node->u.match_case.guard) &&
               list(v, "body", node->u.match_case.body);
    case N_MATCH_VALUE: return one(v, "value", node->u.match_value.value);
    case N_MATCH_SEQUENCE:
    case N_MATCH_OR: return list(v, "patterns", node->u.match_list.patterns);
    case N_MATCH_MAPPING:
        return list(v, "keys", node->u.match_mapping.keys) &&
               list(v, "patterns", node->u.match_mapping.patterns);
    case N_MATCH_CLASS:
        return one(v, "cls", node->u.match_class->cls) &&
               list(v, "patterns", node->u.match_class->patterns) &&
               list(v, "kwd_patterns", node->u.match_class->kwd_patterns);
    case N_MATCH_AS: return one(v, "pattern", node->u.match_as.pattern);
    case N_TYPE_VAR:
    case N_PARAM_SPEC:
    case N_TYPE_VAR_TUPLE:
        return one(v, "bound", node->u.type_var.bound) &&
               one(v, "default_value", node->u.type_var.default_value);
    default: BUG("node kind %d", node->kind);
    }
}

typedef struct ChildVisit {
    NodeVisit visit;
    void *data;
} ChildVisit;

static bool visit_children(const NodeField *field, void *data) {
    const ChildVisit *v = data;
    for (uint32_t i = 0; i < field->len; i++) {
        if (field->at[i] && !v->visit(field->at[i], v->data)) return false;
    }
    return true;
}

bool node_children(const Node *node, NodeVisit visit, void *data) {
    ChildVisit v = {visit, data};
    return node_fields(node, visit_children, &v);
}
