// val.h - the tensor-flow graph: values, not statements.
//
// A Val is one value that a function computes, named by what computes it.
// Values are hash-consed: the same operator on the same values is the same
// Val, so that equal computations are equal pointers. What may differ between
// two evaluations (a call that is not understood) is never shared.
//
// Notation in the comments of this folder: x, y, w are tensors, c a number.
#ifndef NPUFUSE_VAL_H
#define NPUFUSE_VAL_H

#include "base/arena.h"
#include "py/ast.h"
#include "py/project.h"

typedef enum Op {
    V_CONST,    // a literal: `ck`, `text`, and `num` for numbers
    V_PARAM,    // a parameter: `name`; `node` is its N_ARG, `ptr` its Frame
    V_GLOBAL,   // an external dotted name: `text`
    V_MODULE,   // a module of the project: `ptr` is the Module
    V_FUNCTION, // `def`
    V_CLASS,    // `def`
    V_LAMBDA,   // `node` (Lambda or nested FunctionDef), `ptr` its Frame
    V_METHOD,   // args: self; `def` the function, `ptr` the owner's Def
    V_SUPER,    // args: self; `ptr` the Def of the class to start behind
    V_INSTANCE, // a constructed object: args as written; `def` the class, or
                // `text` the external class's dotted name
    V_TUPLE, V_LIST,
    V_DICT,     // args: key, value, key, value ...
    V_ATTR,     // args: object; `name`
    V_ITEM,     // args: object, index
    V_SLICE,    // args: lower, upper, step
    V_CALL,     // not understood: args: callee, arguments ...
    V_KEYWORD,  // args: value; `name` (NULL for **)
    V_STAR,     // args: value
    V_PHI,      // args: condition, value if true, value if false
    V_PYOP,     // and, or, not, comparisons, %, //, ...: `ck` is the AstOp
    V_OPAQUE,   // anything else; never equal to another. `ptr`: the Val whose storage
                // it may share, or NULL
    V_DTYPE,    // args: x; the dtype of x
    V_PROMOTE,  // args: dtypes; their torch.promote_types
    V_AUTOCAST, // args: dtype under autocast, dtype without
    V_SHAPE,    // args: x
    V_SIZE,     // args: x, axis
    V_PART,     // args: x, axis, index, count: one of `count` equal parts
    V_CAST,     // args: x, dtype
#define X(op, text, params, spellings) op,
#include "flow/ops.def"
#undef X
    OP_COUNT
} Op;

typedef struct Val Val;

// What has to hold for a Val to be what it is said to be, e.g. that
// self.act_fn is the SiLU which the config's default makes it.
typedef struct Assumption {
    Val *subject;     // the attribute
    Str claim;        // "self.act_fn is SiLU"
    Str type_name;    // of the resolved object's class or function, for the guard
    Str other_name;   // of the class, in other releases of its library
    const Val *partial; // the functools.partial(...) that it is, or NULL
    Str approximate;  // of an nn.GELU: its class name alone does not say which
    bool any_kind;    // a function or an object of that name: the guard takes either
    bool is_function; // of a function's __name__, not an object's class
    bool open;        // nothing in sight decides it: one possibility of many
    bool likely;      // no chain: only what is in sight agrees
    bool from_config; // a default was used: the value may differ at run time
    bool untestable;  // another object of the same type may compute something else
    bool by_annotation; // of an object that was handed in
    bool is_test;     // of a setting that chooses a branch, not of an object's type:
    const Val *test;  // the subject is this text, or one of these; NULL: it is true
    bool test_holds;  // or is not
    Val *choice;      // of all branches: the activation stands in its place
    struct ChainLink *chain;
    const Sym *part;  // the attribute that it hands its input to, whose value a guard has
    const Val *part_value; // to ask for: a function of torch or a partial of one; or NULL
    const struct Assumption *inner; // what is assumed of a part of that object, or NULL
} Assumption;

typedef struct ChainLink { // the latest step first
    Module *module;
    Node *node;
    const char *what; // "config default", "constructor", ...
    struct ChainLink *next;
} ChainLink;

struct Val {
    uint16_t op;
    uint8_t ck; // ConstKind or AstOp
    uint8_t flags;
    uint32_t id; // creation order
    uint32_t nargs;
    uint32_t hash;
    Val *chain; // of the hash table; beside the hash, for a search reads both
    Val **args;
    const Sym *name;
    double num;
    Str text;
    Def *def;
    const void *ptr;
    Node *node;   // where it was first computed
    Module *module;
    uint32_t rank; // number of axes where the source unpacks its shape; else 0
    uint32_t sure_rank; // the same, told in no branch: nothing after it has another
    Assumption *assume; // NULL if nothing is assumed
    struct Frame *init; // of an instance: the reading of its constructor
    bool init_running;
    struct Resolved *resolved; // what flow_resolve found, once asked
    struct Attend *attend; // what match/attend.c made of a product, once asked
};

enum {
    VF_TENSOR = 1,   // certainly a tensor
    VF_INPLACE = 2,  // result of an in-place operator
    VF_NOT_NONE = 4, // a parameter that is not None (rules)
    VF_NO_GRAD = 8,
};

typedef struct Graph {
    Arena *arena; // *file* lifetime
    Val **slots;
    uint32_t cap, len, next_id;
} Graph;

void graph_init(Graph *graph, Arena *arena);

// Constructors. `node` may be NULL.
Val *val_const(Graph *g, ConstKind kind, Str text);
Val *val_int(Graph *g, int64_t number);
Val *val_number(Graph *g, double number);
Val *val_none(Graph *g);
Val *val_bool(Graph *g, bool value);
Val *val_str(Graph *g, Str text);
Val *val_global(Graph *g, Str dotted);
Val *val_new(Graph *g, Op op, Val *const *args, uint32_t nargs);
Val *val_new1(Graph *g, Op op, Val *a);
Val *val_new2(Graph *g, Op op, Val *a, Val *b);
Val *val_new3(Graph *g, Op op, Val *a, Val *b, Val *c);
Val *val_attr(Graph *g, Val *object, const Sym *name);
// Never shared with another.
Val *val_unique(Graph *g, Op op, Val *const *args, uint32_t nargs);
// A shared Val from a filled prototype (args are copied).
Val *val_intern(Graph *g, const Val *prototype);

bool val_is_number(const Val *v);
bool val_is_int(const Val *v, int64_t number);
bool val_near(const Val *v, double number); // equal up to 1e-9 relative
bool val_is_none(const Val *v);
bool val_is_ellipsis(const Val *v);
bool val_is_str(const Val *v, const char *text);
bool val_is_global(const Val *v, const char *dotted);
bool val_is_floating_dtype(const Val *v); // torch.float32 and its like

// Below every cast to a floating or unknown dtype.
Val *val_strip(Val *v);
// Whether it is made of constants and global names alone: equal values are one Val, so
// that `node` is where the first of many stands.
bool val_is_placeless(const Val *v);
// Whether `v` is `part` or may have it among its arguments, a few levels down.
bool val_holds(const Val *v, const Val *part);
const char *op_name(Op op);
// A readable form, nested at most `depth` levels; "..." below that.
struct Buf;
void val_print(struct Buf *out, const Val *v, int depth);
// The same with the number of each value that is cut off.
void val_dump(struct Buf *out, const Val *v, int depth);

#endif
