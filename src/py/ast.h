// ast.h - the syntax tree of a Python file.
//
// Kinds, fields and positions are those of CPython's `ast` module, so that the
// two can be compared node by node. `start` and `end` are byte offsets into
// the UTF-8 text that the tree was parsed from; lines and columns come from
// SourceText (source.h). Nodes, lists and strings live in the arena given to
// the parser; strings without escapes point into the text itself.
#ifndef NPUFUSE_AST_H
#define NPUFUSE_AST_H

#include "base/arena.h"
#include "base/sym.h"

// ORDER KIND: ast.c keeps the names in this order.
typedef enum NodeKind {
    N_NONE,
    N_MODULE,
    // statements
    N_FUNCTION_DEF, N_ASYNC_FUNCTION_DEF, N_CLASS_DEF, N_RETURN, N_DELETE,
    N_ASSIGN, N_TYPE_ALIAS, N_AUG_ASSIGN, N_ANN_ASSIGN, N_FOR, N_ASYNC_FOR,
    N_WHILE, N_IF, N_WITH, N_ASYNC_WITH, N_MATCH, N_RAISE, N_TRY, N_TRY_STAR,
    N_ASSERT, N_IMPORT, N_IMPORT_FROM, N_GLOBAL, N_NONLOCAL, N_EXPR, N_PASS,
    N_BREAK, N_CONTINUE,
    N_BROKEN, // ours: lines that do not parse, skipped
    // expressions
    N_BOOL_OP, N_NAMED_EXPR, N_BIN_OP, N_UNARY_OP, N_LAMBDA, N_IF_EXP, N_DICT,
    N_SET, N_LIST_COMP, N_SET_COMP, N_DICT_COMP, N_GENERATOR_EXP, N_AWAIT,
    N_YIELD, N_YIELD_FROM, N_COMPARE, N_CALL, N_FORMATTED_VALUE,
    N_INTERPOLATION, N_JOINED_STR, N_TEMPLATE_STR, N_CONSTANT, N_ATTRIBUTE,
    N_SUBSCRIPT, N_STARRED, N_NAME, N_LIST, N_TUPLE, N_SLICE,
    // the rest
    N_COMPREHENSION, N_EXCEPT_HANDLER, N_ARGUMENTS, N_ARG, N_KEYWORD, N_ALIAS,
    N_WITHITEM, N_MATCH_CASE, N_MATCH_VALUE, N_MATCH_SINGLETON,
    N_MATCH_SEQUENCE, N_MATCH_MAPPING, N_MATCH_CLASS, N_MATCH_STAR,
    N_MATCH_AS, N_MATCH_OR, N_TYPE_VAR, N_PARAM_SPEC, N_TYPE_VAR_TUPLE,
    N_KIND_COUNT
} NodeKind;

// Operators of BinOp/AugAssign, UnaryOp, BoolOp and Compare. ORDER AST_OP
typedef enum AstOp {
    A_NONE,
    A_ADD, A_SUB, A_MULT, A_MAT_MULT, A_DIV, A_MOD, A_POW, A_L_SHIFT,
    A_R_SHIFT, A_BIT_OR, A_BIT_XOR, A_BIT_AND, A_FLOOR_DIV,
    A_INVERT, A_NOT, A_U_ADD, A_U_SUB,
    A_AND, A_OR,
    A_EQ, A_NOT_EQ, A_LT, A_LT_E, A_GT, A_GT_E, A_IS, A_IS_NOT, A_IN, A_NOT_IN,
    A_OP_COUNT
} AstOp;

typedef enum AstCtx { CTX_LOAD, CTX_STORE, CTX_DEL } AstCtx;

typedef enum ConstKind {
    CONST_NONE, CONST_TRUE, CONST_FALSE, CONST_ELLIPSIS,
    CONST_INT, CONST_FLOAT, CONST_COMPLEX, // `text` is the literal as written
    CONST_STR,   // `text` is the value, UTF-8 (lone surrogates as in WTF-8)
    CONST_BYTES, // `text` is the value
} ConstKind;

typedef struct Node Node;

typedef struct NodeList {
    Node **at; // entries may be NULL where a field comment says so
    uint32_t len;
} NodeList;

typedef struct FunctionNode { // FunctionDef, AsyncFunctionDef
    const Sym *name;
    Node *args; // N_ARGUMENTS
    NodeList body, decorators, type_params;
    Node *returns; // or NULL
    uint32_t marks; // of all names in it (Sym.marks), and MARK_*
    uint32_t size;  // statements, plus 1, once counted (flow/frames.c)
    bool of_lambda; // made of a lambda that has a name (flow/functions.c)
} FunctionNode;

// What the parser itself adds to the marks of a function: it has a product or
// quotient, a power, a `for`.
enum {
    MARK_PRODUCT = 1, MARK_POWER = 2, MARK_FIRST_FREE = 4, MARK_SUM = 1 << 25,
    MARK_LOOP = 1 << 26,
};

typedef struct ClassNode {
    const Sym *name;
    NodeList bases, keywords, body, decorators, type_params;
    uint64_t methods;     // class_name_bit of every function in the body
    struct ClassMro *mro; // its bases, once asked for (classes.c)
    struct ClassStrings *strings; // the texts in it, once asked for (classes.c)
    struct NearModules *near; // that speak of it, once asked for (flow/callers.c)
} ClassNode;

typedef struct ArgumentsNode {
    NodeList posonly, args, kwonly; // N_ARG
    NodeList defaults;              // of the last posonly + args
    NodeList kw_defaults;           // one per kwonly, NULL for none
    Node *vararg, *kwarg;           // N_ARG or NULL
} ArgumentsNode;

typedef struct ForNode { // For, AsyncFor
    Node *target, *iter;
    NodeList body, orelse;
} ForNode;

typedef struct TryNode { // Try, TryStar
    NodeList body, handlers, orelse, finalbody;
} TryNode;

typedef struct MatchClassNode {
    Node *cls;
    NodeList patterns, kwd_patterns;
    const Sym **kwd_names; // one for each of kwd_patterns
} MatchClassNode;

struct Node {
    uint8_t kind;  // NodeKind
    uint8_t op;    // AstOp, ConstKind, conversion letter of FormattedValue
    uint8_t ctx;   // AstCtx of Attribute, Subscript, Starred, Name, List, Tuple
    uint8_t flags; // see NODE_* below
    uint32_t start, end;
    uint32_t id; // number of the node in creation order within its file
    union {
        struct { NodeList body; } module;
        FunctionNode *function;
        ClassNode *class_;
        struct { Node *value; } return_; // value or NULL; also Expr, Await,
                                         // Yield (or NULL), YieldFrom, Starred
        struct { NodeList targets; } delete_;
        struct { NodeList targets; Node *value; } assign;
        struct { Node *name; NodeList type_params; Node *value; } type_alias;
        struct { Node *target, *value; } aug_assign; // op
        // value may be NULL; NODE_SIMPLE where the target is a bare name
        struct { Node *target, *annotation, *value; } ann_assign;
        ForNode *for_;
        struct { Node *test; NodeList body, orelse; } while_; // also If
        struct { NodeList items, body; } with;
        struct { Node *subject; NodeList cases; } match;
        struct { Node *exc, *cause; } raise; // either may be NULL
        TryNode *try_;
        struct { Node *test, *msg; } assert_; // msg or NULL
        struct { NodeList names; } import;    // N_ALIAS
        // module or NULL
        struct { const Sym *module; NodeList names; uint32_t level; } import_from;
        struct { const Sym **names; uint32_t len; } global; // also Nonlocal
        struct { NodeList values; } bool_op;      // op
        struct { Node *target, *value; } named;
        struct { Node *left, *right; } bin;       // op
        struct { Node *operand; } unary;          // op
        struct { Node *args, *body; } lambda;
        struct { Node *test, *body, *orelse; } if_exp;
        struct { NodeList keys, values; } dict;   // a NULL key is `**value`
        struct { NodeList elts; } list;           // List, Tuple, Set
        struct { Node *elt, *value; NodeList generators; } comp; // value: DictComp only
        struct { Node *left; NodeList comparators; const uint8_t *ops; } compare; // ops: AstOp
        struct { Node *func; NodeList args, keywords; } call;
        // FormattedValue and Interpolation; `op` is the conversion letter or 0
        struct { Node *value, *format_spec; Str expr_text; } formatted;
        struct { NodeList values; } joined;       // JoinedStr, TemplateStr
        struct { Str text; } constant;            // op: ConstKind; NODE_U_PREFIX
        struct { Node *value; const Sym *attr; } attribute;
        struct { Node *value, *slice; } subscript;
        struct { const Sym *id; } name;
        struct { Node *lower, *upper, *step; } slice; // each may be NULL
        struct { Node *target, *iter; NodeList ifs; } comprehension; // NODE_ASYNC
        struct { Node *type; const Sym *name; NodeList body; } handler; // both may be NULL
        ArgumentsNode *arguments;
        struct { const Sym *name; Node *annotation; } arg;   // annotation or NULL
        struct { const Sym *name; Node *value; } keyword;    // name NULL is `**value`
        struct { const Sym *name, *asname; } alias;          // asname or NULL; name "*" for a star
        struct { Node *expr, *vars; } withitem;              // vars or NULL
        struct { Node *pattern, *guard; NodeList body; } match_case; // guard or NULL
        struct { Node *value; } match_value;                 // also MatchSingleton (op: ConstKind)
        struct { NodeList patterns; } match_list;            // MatchSequence, MatchOr
        struct { NodeList keys, patterns; const Sym *rest; } match_mapping; // rest or NULL
        MatchClassNode *match_class;
        struct { const Sym *name; } match_star;              // name or NULL
        struct { Node *pattern; const Sym *name; } match_as; // each may be NULL
        // also ParamSpec, TypeVarTuple
        struct { const Sym *name; Node *bound, *default_value; } type_var;
        struct { Str text; const char *message; } broken;    // what the parser expected
    } u;
};

enum {
    NODE_SIMPLE = 1,       // AnnAssign
    NODE_ASYNC = 2,        // comprehension
    NODE_U_PREFIX = 4,     // Constant u'...'
    NODE_PARENTHESISED = 8, // an expression written in parentheses of its own
    NODE_NAMED_ESCAPE = 16, // a str with \N{...}, kept as written (see docs)
};

// "BinOp", "arguments", ...: the class name in CPython's ast.
const char *node_kind_name(NodeKind kind);
// "Add", "NotEq", ...
const char *ast_op_name(AstOp op);
bool node_is_statement(const Node *node);

// A set of names in 64 bits: a name whose bit is not there is none of them.
static inline uint64_t class_name_bit(const Sym *name) {
    return UINT64_C(1) << (name->hash & 63);
}

// Calls `visit` for each direct child, in source field order; NULLs left out.
// Stops early, returning false, when `visit` does.
typedef bool (*NodeVisit)(Node *child, void *data);
bool node_children(const Node *node, NodeVisit visit, void *data);

// One field of a node that holds nodes: its name in CPython's ast and what it
// holds. A list may have NULL entries, as NodeList says.
typedef struct NodeField {
    const char *name;
    Node *const *at;
    uint32_t len;
    bool is_list;
} NodeField;

// Calls `visit` for each field that is not empty, in the order of
// node_children. Stops early, returning false, when `visit` does.
typedef bool (*NodeFieldVisit)(const NodeField *field, void *data);
bool node_fields(const Node *node, NodeFieldVisit visit, void *data);

#endif
