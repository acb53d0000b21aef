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

// One field of a kind: where it is in the Node, or behind the pointer that its
// union holds.
typedef struct FieldRow {
    const char *name; // NULL ends a row
    uint8_t offset;
    bool is_list;
    bool is_behind;
} FieldRow;

#define ONE(name, field) {name, offsetof(Node, u.field), false, false}
#define LIST(name, field) {name, offsetof(Node, u.field), true, false}
#define ONE_IN(name, Type, field) {name, offsetof(Type, field), false, true}
#define LIST_IN(name, Type, field) {name, offsetof(Type, field), true, true}

#define VALUE {ONE("value", return_.value)}
#define FUNCTION                                                               \
    {LIST_IN("decorator_list", FunctionNode, decorators),                      \
     LIST_IN("type_params", FunctionNode, type_params),                        \
     ONE_IN("args", FunctionNode, args),                                       \
     ONE_IN("returns", FunctionNode, returns),                                 \
     LIST_IN("body", FunctionNode, body)}
#define FOR                                                                    \
    {ONE_IN("target", ForNode, target), ONE_IN("iter", ForNode, iter),         \
     LIST_IN("body", ForNode, body), LIST_IN("orelse", ForNode, orelse)}
#define WHILE                                                                  \
    {ONE("test", while_.test), LIST("body", while_.body),                      \
     LIST("orelse", while_.orelse)}
#define WITH {LIST("items", with.items), LIST("body", with.body)}
#define TRY                                                                    \
    {LIST_IN("body", TryNode, body), LIST_IN("handlers", TryNode, handlers),   \
     LIST_IN("orelse", TryNode, orelse),                                       \
     LIST_IN("finalbody", TryNode, finalbody)}
#define ELTS {LIST("elts", list.elts)}
#define COMP {ONE("elt", comp.elt), LIST("generators", comp.generators)}
#define FORMATTED                                                              \
    {ONE("value", formatted.value), ONE("format_spec", formatted.format_spec)}
#define PATTERNS {LIST("patterns", match_list.patterns)}
#define TYPE_PARAM                                                             \
    {ONE("bound", type_var.bound),                                             \
     ONE("default_value", type_var.default_value)}

enum { MAX_FIELDS = 8 }; // with the end mark

static const FieldRow FIELDS[N_KIND_COUNT][MAX_FIELDS] = {
    [N_MODULE] = {LIST("body", module.body)},
    [N_FUNCTION_DEF] = FUNCTION,
    [N_ASYNC_FUNCTION_DEF] = FUNCTION,
    [N_CLASS_DEF] = {LIST_IN("decorator_list", ClassNode, decorators),
                     LIST_IN("type_params", ClassNode, type_params),
                     LIST_IN("bases", ClassNode, bases),
                     LIST_IN("keywords", ClassNode, keywords),
                     LIST_IN("body", ClassNode, body)},
    [N_RETURN] = VALUE,
    [N_DELETE] = {LIST("targets", delete_.targets)},
    [N_ASSIGN] = {LIST("targets", assign.targets), ONE("value", assign.value)},
    [N_TYPE_ALIAS] = {ONE("name", type_alias.name),
                      LIST("type_params", type_alias.type_params),
                      ONE("value", type_alias.value)},
    [N_AUG_ASSIGN] = {ONE("target", aug_assign.target),
                      ONE("value", aug_assign.value)},
    [N_ANN_ASSIGN] = {ONE("target", ann_assign.target),
                      ONE("annotation", ann_assign.annotation),
                      ONE("value", ann_assign.value)},
    [N_FOR] = FOR,
    [N_ASYNC_FOR] = FOR,
    [N_WHILE] = WHILE,
    [N_IF] = WHILE,
    [N_WITH] = WITH,
    [N_ASYNC_WITH] = WITH,
    [N_MATCH] = {ONE("subject", match.subject), LIST("cases", match.cases)},
    [N_RAISE] = {ONE("exc", raise.exc), ONE("cause", raise.cause)},
    [N_TRY] = TRY,
    [N_TRY_STAR] = TRY,
    [N_ASSERT] = {ONE("test", assert_.test), ONE("msg", assert_.msg)},
    [N_IMPORT] = {LIST("names", import.names)},
    [N_IMPORT_FROM] = {LIST("names", import_from.names)},
    [N_EXPR] = VALUE,
    [N_BOOL_OP] = {LIST("values", bool_op.values)},
    [N_NAMED_EXPR] = {ONE("target", named.target), ONE("value", named.value)},
    [N_BIN_OP] = {ONE("left", bin.left), ONE("right", bin.right)},
    [N_UNARY_OP] = {ONE("operand", unary.operand)},
    [N_LAMBDA] = {ONE("args", lambda.args), ONE("body", lambda.body)},
    [N_IF_EXP] = {ONE("body", if_exp.body), ONE("test", if_exp.test),
                  ONE("orelse", if_exp.orelse)},
    [N_DICT] = {LIST("keys", dict.keys), LIST("values", dict.values)},
    [N_SET] = ELTS,
    [N_LIST_COMP] = COMP,
    [N_SET_COMP] = COMP,
    [N_DICT_COMP] = {ONE("key", comp.elt), ONE("value", comp.value),
                     LIST("generators", comp.generators)},
    [N_GENERATOR_EXP] = COMP,
    [N_AWAIT] = VALUE,
    [N_YIELD] = VALUE,
    [N_YIELD_FROM] = VALUE,
    [N_COMPARE] = {ONE("left", compare.left),
                   LIST("comparators", compare.comparators)},
    [N_CALL] = {ONE("func", call.func), LIST("args", call.args),
                LIST("keywords", call.keywords)},
    [N_FORMATTED_VALUE] = FORMATTED,
    [N_INTERPOLATION] = FORMATTED,
    [N_JOINED_STR] = {LIST("values", joined.values)},
    [N_TEMPLATE_STR] = {LIST("values", joined.values)},
    [N_ATTRIBUTE] = {ONE("value", attribute.value)},
    [N_SUBSCRIPT] = {ONE("value", subscript.value),
                     ONE("slice", subscript.slice)},
    [N_STARRED] = VALUE,
    [N_LIST] = ELTS,
    [N_TUPLE] = ELTS,
    [N_SLICE] = {ONE("lower", slice.lower), ONE("upper", slice.upper),
                 ONE("step", slice.step)},
    [N_COMPREHENSION] = {ONE("target", comprehension.target),
                         ONE("iter", comprehension.iter),
                         LIST("ifs", comprehension.ifs)},
    [N_EXCEPT_HANDLER] = {ONE("type", handler.type),
                          LIST("body", handler.body)},
    [N_ARGUMENTS] = {LIST_IN("posonlyargs", ArgumentsNode, posonly),
                     LIST_IN("args", ArgumentsNode, args),
                     LIST_IN("defaults", ArgumentsNode, defaults),
                     ONE_IN("vararg", ArgumentsNode, vararg),
                     LIST_IN("kwonlyargs", ArgumentsNode, kwonly),
                     LIST_IN("kw_defaults", ArgumentsNode, kw_defaults),
                     ONE_IN("kwarg", ArgumentsNode, kwarg)},
    [N_ARG] = {ONE("annotation", arg.annotation)},
    [N_KEYWORD] = {ONE("value", keyword.value)},
    [N_WITHITEM] = {ONE("context_expr", withitem.expr),
                    ONE("optional_vars", withitem.vars)},
    [N_MATCH_CASE] = {ONE("pattern", match_case.pattern),
                      ONE("guard", match_case.guard),
                      LIST("body", match_case.body)},
    [N_MATCH_VALUE] = {ONE("value", match_value.value)},
    [N_MATCH_SEQUENCE] = PATTERNS,
    [N_MATCH_MAPPING] = {LIST("keys", match_mapping.keys),
                         LIST("patterns", match_mapping.patterns)},
    [N_MATCH_CLASS] = {ONE_IN("cls", MatchClassNode, cls),
                       LIST_IN("patterns", MatchClassNode, patterns),
                       LIST_IN("kwd_patterns", MatchClassNode, kwd_patterns)},
    [N_MATCH_AS] = {ONE("pattern", match_as.pattern)},
    [N_MATCH_OR] = PATTERNS,
    [N_TYPE_VAR] = TYPE_PARAM,
    [N_PARAM_SPEC] = TYPE_PARAM,
    [N_TYPE_VAR_TUPLE] = TYPE_PARAM,
};

// False where the field is empty.
static bool read_field(NodeField *out, const Node *node, const FieldRow *row) {
    const void *behind = node->u.function; // any of the pointers
    const char *at = row->is_behind ? behind : (const char *)node;
    out->name = row->name;
    out->is_list = row->is_list;
    if (row->is_list) {
        NodeList list;
        memcpy(&list, at + row->offset, sizeof(list));
        out->at = list.at;
        out->len = list.len;
        return list.len > 0;
    }
    out->at = (Node *const *)(const void *)(at + row->offset);
    out->len = 1;
    return *out->at != NULL;
}

bool node_fields(const Node *node, NodeFieldVisit visit, void *data) {
    NodeField field;
    for (const FieldRow *row = FIELDS[node->kind]; row->name; row++) {
        if (read_field(&field, node, row) && !visit(&field, data)) return false;
    }
    return true;
}

static inline bool visit_one(Node *child, NodeVisit visit, void *data) {
    return !child || visit(child, data);
}

static inline bool visit_list(const NodeList *list, NodeVisit visit, void *data) {
    for (uint32_t i = 0; i < list->len; i++) {
        if (list->at[i] && !visit(list->at[i], data)) return false;
    }
    return true;
}

static bool visit_fields(const Node *node, NodeVisit visit, void *data) {
    NodeField field;
    for (const FieldRow *row = FIELDS[node->kind]; row->name; row++) {
        if (!read_field(&field, node, row)) continue;
        for (uint32_t i = 0; i < field.len; i++) {
            if (field.at[i] && !visit(field.at[i], data)) return false;
        }
    }
    return true;
}

// Trees are walked often: the kinds that they mostly consist of need no table.
bool node_children(const Node *node, NodeVisit visit, void *data) {
    switch ((int)node->kind) {
    case N_NAME: case N_CONSTANT: case N_PASS:
        return true;
    case N_ATTRIBUTE:
        return visit_one(node->u.attribute.value, visit, data);
    case N_KEYWORD:
        return visit_one(node->u.keyword.value, visit, data);
    case N_EXPR: case N_RETURN:
        return visit_one(node->u.return_.value, visit, data);
    case N_CALL:
        return visit_one(node->u.call.func, visit, data) &&
               visit_list(&node->u.call.args, visit, data) &&
               visit_list(&node->u.call.keywords, visit, data);
    case N_ASSIGN:
        return visit_list(&node->u.assign.targets, visit, data) &&
               visit_one(node->u.assign.value, visit, data);
    case N_BIN_OP:
        return visit_one(node->u.bin.left, visit, data) &&
               visit_one(node->u.bin.right, visit, data);
    case N_SUBSCRIPT:
        return visit_one(node->u.subscript.value, visit, data) &&
               visit_one(node->u.subscript.slice, visit, data);
    case N_COMPARE:
        return visit_one(node->u.compare.left, visit, data) &&
               visit_list(&node->u.compare.comparators, visit, data);
    case N_TUPLE: case N_LIST:
        return visit_list(&node->u.list.elts, visit, data);
    case N_IF:
        return visit_one(node->u.while_.test, visit, data) &&
               visit_list(&node->u.while_.body, visit, data) &&
               visit_list(&node->u.while_.orelse, visit, data);
    default:
        return visit_fields(node, visit, data);
    }
}
