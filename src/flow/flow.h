// flow.h - evaluating Python functions into a graph of values.
//
// Nothing is executed: a function body is read once, statement by statement,
// with values in place of objects. `if` joins are phi nodes, a loop body is
// read once with unknown values for what it carries, and calls of functions
// that the project defines are read in place, within a budget.
//
// A Frame is one such reading. Besides the values it keeps what a rewrite
// needs: which name holds which value at which time, who reads it, and which
// statements do more than compute.
#ifndef NPUFUSE_FLOW_H
#define NPUFUSE_FLOW_H

#include "flow/ops.h"
#include "flow/val.h"
#include "py/project.h"

typedef struct Flow Flow;
typedef struct Frame Frame;
typedef struct ModuleFlow ModuleFlow;
typedef struct Recall Recall;

// Entries of a dict that is merged from others, times two: merging it with
// itself again and again would double it each time.
enum { DICT_MERGED_MAX = 2048 };

// A value bound to a name by a statement.
typedef struct Bind {
    Val *val;
    Node *stmt;        // NULL for parameters
    Module *module;    // of `stmt`, for attributes
    struct Bind *a, *b; // of a join: the bindings that meet
    VEC(Node *) users; // statements that read it (root frames only)
    bool escaped;      // read where no statement stands for it
    bool may_lack;     // of a join: on the other way the name is bound to nothing
    bool read;
} Bind;

typedef struct NameEvent {
    uint32_t time;
    Bind *bind;
} NameEvent;

typedef struct NameInfo {
    uintptr_t key; // the Sym, tagged 1 for an attribute of self
    Bind *bind;    // now
    VEC(NameEvent) events;
    bool captured; // a nested function reads it
    uint32_t stamp, stamped_at; // of the join that met it last
} NameInfo;

typedef struct NameTable {
    NameInfo **slots;
    uint32_t cap, len;
} NameTable;

typedef struct NameChange {
    NameTable *table;
    NameInfo *info;
    Bind *old;
} NameChange;

// What one evaluation from a root function shares among its frames.
// A new tensor shaped like another, of which one half or every other element is written.
typedef struct Stored {
    const Val *tensor; // as it is now
    Val *like, *value; // what was written
    uint32_t index;    // of the part: 0 or 1
    bool halves;       // else every other element
} Stored;

typedef struct Run {
    VEC(Stored) stored;
    VEC(NameChange) log;
    uint32_t time;
    uint32_t budget;  // statements that may still be read
    uint32_t inlined; // statements of functions read in place
    uint32_t work;    // as Flow.work
    uint32_t effects; // of all statements: see StmtInfo
    VEC(const Val *) changed; // attributes whose object or numbers changed
} Run;

// An in-place operator changed the storage: of the statement itself, or in a
// function that it calls (the innermost call that it spells).
typedef struct Write {
    const Val *storage; // or one of several that it may be
    const Node *call; // NULL: of the statement itself
    struct Write *next;
} Write;

typedef struct StmtInfo {
    Node *stmt;
    const NodeList *block; // the list it stands in
    uint32_t index;        // its place there
    uint32_t time_before, time_after;
    uint32_t effects; // unknown calls and stores: more than binding names
    bool ends;     // return, raise, break, continue
    Write *writes; // of in-place operators, the last first
    Write *stores; // in attributes, by functions that it calls
} StmtInfo;

// One expression read in a root frame.
typedef struct EvalRecord {
    Node *node;
    Val *val;
    Node *stmt;
    bool in_nested; // inside a lambda or comprehension
} EvalRecord;

typedef struct ReturnRecord {
    Val *val, *cond; // cond NULL: unconditional
    Node *stmt;
} ReturnRecord;

// Values that were computed in a call of an object that was handed in, whose annotation
// alone names its class: from <= id < to.
typedef struct HandedIn {
    const Val *param;
    uint32_t from, to;
} HandedIn;

struct Frame {
    Flow *flow;
    Run *run;
    Module *module;
    ModuleFlow *mf;
    Frame *scope; // what its unbound parameters are named after, or itself
    Node *fn;   // FunctionDef or Lambda, NULL at module level
    Def *owner; // the class whose body holds fn, or NULL
    Val *self;  // or NULL
    Frame *lexical; // the frame around a nested function
    NameTable names;
    NameTable *attrs; // of `attrs_self`
    Val *attrs_self;
    Frame *caller; // that reads this one in place, with these arguments
    Val *const *args;
    uint32_t nargs;
    Frame *top; // the root frame that reads this one in place, or itself
    Node *stmt; // now
    const Node *call; // root frames: the innermost call that is being evaluated
    uint32_t stmt_index; // of `stmt` in `stmts`, root frames only
    bool root;  // keeps records
    bool rule;  // parameters are not None
    int nested; // inside lambdas or comprehensions
    int loops;  // around the statement
    Val *cond;  // of the innermost `if`
    bool shares_names; // `global x`: a name that is not bound here has a value all the same
    uint32_t grad_off; // names_mark + 1 where a statement turned gradients off, or 0
    VEC(StmtInfo) stmts;
    VEC(EvalRecord) evals;
    VEC(ReturnRecord) returns;
    VEC(HandedIn) handed; // root frames only
    bool truncated; // the budget ran out
    struct FrameIndex *index; // match/frame_index.h, once asked for
};

typedef struct FunctionInfo {
    Node *fn;
    Def *owner;   // class or NULL
    Str qualname; // of functions of the scanned module
    Frame *frame; // of its evaluation as a root, once asked for
    Frame *outer; // of the function around it
    Frame *light; // of its parameters alone
    struct InitIndex *stores; // of a constructor: what it stores where
    bool running;
} FunctionInfo;

// What is kept for a node of a module.
typedef struct NodeFact {
    uint32_t id; // of the node, plus 1; 0: free
    uint32_t effects;
    Val *val;
    FunctionInfo *function;
} NodeFact;

// What Flow knows about one module.
struct ModuleFlow {
    Module *module;
    NodeFact *facts; // hash by node id
    uint32_t fact_cap, fact_len;
    VEC(FunctionInfo *) functions; // once listed
    struct NameVals *names; // what names of the module mean (eval_expr.c)
    struct Classes *annotated; // of all parameters, once asked for
    bool listed;
    struct CompileCalls *compiles; // once asked for (match/compiled.c)
    Frame *frame; // module level
    ModuleFlow *next;
};

typedef struct FlowNames {
    const Sym *self, *forward, *init, *call, *getitem, *post_init, *dtype, *shape, *apply,
        *property, *sub_configs, *staticmethod_, *classmethod_, *data, *ndim, *real, *imag,
        *mT;
} FlowNames;

// Values by the order of their making: from <= id < to.
typedef struct MadeIds {
    uint32_t from, to;
} MadeIds;

struct Flow {
    Project *project;
    SymTable *symbols;
    const OpTable *ops;
    Arena *arena; // *file* lifetime
    Arena *scratch; // of one attempt to match
    Graph graph;
    FlowNames names;
    ModuleFlow *modules;
    int resolving;    // depth of flow_resolve
    bool only_certain; // flow_resolve gives nothing that rests on a default
    int constructing; // constructors being read within one another
    int inverting;    // products being opened under 1 / x
    bool flags_open; // constants of modules are names: they may be set otherwise
    int depth;        // of eval_expr, all frames together
    uint32_t work;    // expressions read and the like, bounded for a file
    uint32_t dtype_steps;  // of the dtype calculus, bounded for a file
    uint32_t callers_work; // calls looked at for the arguments of functions
    uint32_t resolve_steps, resolve_work; // of one question, of all
    uint32_t stamp;   // counts joins: what one of them has met already
    Recall *recall; // of the thread (recall.h), or NULL
    uint32_t taints; // see recall_taint
    VEC(MadeIds) made; // see recall_made_to
    VEC(const Val *) written; // of all in-place changes, what they changed
    VEC(Val *) defaults; // an instance of a class made without arguments
};

void flow_init(Flow *flow, Project *project, const OpTable *ops, Arena *arena);
ModuleFlow *flow_module(Flow *flow, Module *module);
Frame *flow_module_frame(Flow *flow, ModuleFlow *mf);
// Fills mf->functions.
void flow_list_functions(Flow *flow, ModuleFlow *mf);
// The value of an expression or target read in a root frame; NULL if none.
Val *node_val(const ModuleFlow *mf, const Node *node);
void node_set_val(Frame *f, const Node *node, Val *val);
// Effects while the call was read.
uint32_t node_effects(const ModuleFlow *mf, const Node *node);
void node_set_effects(Frame *f, const Node *node, uint32_t effects);
// Reads the function as a root, once. NULL if it is being read already.
Frame *flow_function(Flow *flow, ModuleFlow *mf, FunctionInfo *info);
// The record of a function, made on first use; `owner` is its class or NULL.
FunctionInfo *flow_function_info(Flow *flow, ModuleFlow *mf, Node *fn,
                                 const Def *owner);
// The value that the frame's function returns, joined; NULL if none.
Val *frame_result(Frame *f);
// The value of an expression of the function that reads nothing which the function
// assigns: without reading the function. NULL where it does.
Val *flow_read_alone(Flow *flow, ModuleFlow *mf, FunctionInfo *info, Node *expr);
// A root frame for `fn` with given parameter values (rules).
Frame *flow_call_root(Flow *flow, ModuleFlow *mf, Node *fn,
                      Val *const *params, uint32_t count);

// Adds to what was done for this function and file; false once that is too
// much for either.
bool frame_may_work(Frame *f, uint32_t amount);
// Whether functions are still read in place: behind half of the file's work
// only the functions themselves are.
bool flow_may_inline(const Flow *flow);
// Whether as many statements may still be read in place.
bool frame_may_inline(const Frame *f, uint32_t stmts);

// ---- names (names.c) -------------------------------------------------------
NameInfo *name_find(const NameTable *table, uintptr_t key);
void name_set(Frame *f, NameTable *table, uintptr_t key, Bind bind);
Bind *name_at(const NameInfo *info, uint32_t time);
void bind_used(Frame *f, Bind *bind, Node *user);
uint32_t names_mark(const Frame *f);
typedef VEC(NameChange) NameChanges;
// Takes back every change since the mark and hands out the newer state.
void names_rewind(NameChanges *out, Frame *f, uint32_t mark);
// Puts a state handed out by names_rewind in force.
void names_apply(Frame *f, const NameChanges *changes);
// Joins the state in force with `other` under `cond`.
void names_join(Frame *f, const NameChanges *then, const NameChanges *orelse,
                Val *cond);

// ---- expressions (eval_expr.c, eval_call.c) ----------------------------------
Val *eval_expr(Frame *f, Node *node);
Val *eval_call(Frame *f, Node *node);
Val *eval_lookup(Frame *f, const Sym *name);
Val *eval_def(Flow *flow, const Def *def);
Val *eval_attribute(Frame *f, Val *object, const Sym *name);
Val *eval_item(Frame *f, Val *object, Val *index);
// tuple(x.shape[:-1]), list(sizes); NULL of what is neither sequence nor shape.
Val *val_sequence(Flow *flow, Op op, Val *of);
Val *call_value(Frame *f, Node *node, Val *callee, Val *const *args,
                uint32_t nargs);
// Whether a call of the function may do more than the function itself: some
// decorator is neither known nor hands the function back (decorators.c).
bool decorators_change(Flow *flow, const Def *def);
// The same where only decorators of other libraries may do more.
bool decorators_unseen(Flow *flow, const Def *def);
// Whether the function stands under `@name`; a cached_property is a property.
bool has_decorator(const Node *fn, const Sym *name);
// The call of one of two functions, which a condition decides; NULL: of something else.
Val *call_either(Frame *f, Node *node, Val *phi, Val *const *args, uint32_t nargs);
// x.add_, torch.relu_: a name that ends in one underscore writes in place.
bool sym_ends_in_place(const Sym *name);
// The value of a property (a method that is read without a call); NULL if
// `method` is not one.
Val *eval_property(Frame *f, Val *method);
void eval_mutation(Frame *f, Val *storage);
// A value for what is known of `of` no more.
Val *opaque_in(Frame *f, const Val *of);
// x[index] = value was read, and x changed: where both halves of x are written, names
// that held it hold what was written (stores.c).
void eval_part_store(Frame *f, Val *x, const Val *index, Val *value);
// Names that held x itself when it was changed in place hold `value` now.
void eval_renewed(Frame *f, const Val *x, Val *value);
// The source says how many axes `x` has: b, s, d = x.shape.
void note_rank(Frame *f, Val *x, uint32_t rank);
// An attribute of an object holds something new.
void eval_attr_change(Frame *f, Val *object, const Sym *name, Val *value);
// The value as seen by gradients that were off while it was computed.
Val *eval_detached(Frame *f, Val *v);
// Whether the context manager or decorator turns gradients off.
bool stops_gradients(const Val *v);
// The `index`-th of `count` values that `value` is unpacked into.
Val *eval_unpack(Frame *f, Val *value, uint32_t index, uint32_t count);
void assign_target(Frame *f, Node *target, Val *value);
// 1, 0, or -1 where it is not known.
int val_truth(const Val *v);

// ---- statements (eval_stmt.c) --------------------------------------------------
void bind_name(Frame *f, const Sym *name, Val *value);
// The record of the statement that the root frame is at, or NULL.
StmtInfo *frame_stmt(Frame *f);
// The statement does as much more than compute.
void frame_add_effects(Frame *f, uint32_t count);

typedef enum Falls { BLOCK_FALLS, BLOCK_ENDS } Falls;
Falls eval_block(Frame *f, const NodeList *block);
// `self` of a class: one value, whichever method it is seen from.
Val *self_val(Flow *flow, const Def *owner);
// Binds every parameter to itself.
void bind_own_params(Frame *f);
Val *eval_inline(Frame *caller, Val *callee, Val *self, Val *const *args,
                 uint32_t nargs);

// ---- equivalences (equiv.c) -----------------------------------------------------
// Makes the operator's Val in its simplest equivalent form.
Val *op_make(Flow *flow, Op op, Val *const *args, uint32_t nargs);
Val *op_cast(Flow *flow, Val *x, Val *dtype);
// Of the largest along `*dim`, which keeps its axis: what it is the largest of, or NULL.
Val *op_below_largest(const Val *v, Val **dim);
Val *op_dtype(Flow *flow, Val *x);
// Whether x[index], a V_ITEM, is certainly a part of a tensor, and so has its dtype: not
// an entry of a dictionary or of a tuple, which have dtypes of their own.
bool item_has_dtype(const Val *item);
Val *op_phi(Flow *flow, Val *cond, Val *a, Val *b);
Val *op_size(Flow *flow, Val *x, Val *axis);
// A reduction of the last axis, or what is computed of it element by element, given
// back that axis; NULL for other values.
Val *op_unsqueeze_last(Flow *flow, Val *x);
// dim(x) - 1  ->  -1, as an axis of x; other axes as they are.
Val *op_axis_from_end(Flow *fl, Val *x, Val *axis);

// ---- einsum that is no product of matrices (einsum.c) -----------------------------
Val *op_einsum(Flow *flow, Val *const *args, uint32_t nargs);

// ---- halves and pairs of the last axis (parts.c) --------------------------------
// x[index] as a part or a stride of x's last axis; NULL if it is neither.
Val *op_part_item(Flow *flow, Val *x, const Val *index);
// Whether x's last axis, cut at `at`, is certainly not cut in the middle.
bool op_cuts_elsewhere(Flow *flow, Val *x, const Val *at);
// Pairs of the last axis, with an axis before them; NULL for other values.
Val *op_pairs_as_rows(Flow *flow, Val *pairs);
// One of `count` equal parts of x along an axis.
Val *op_part(Flow *flow, Val *x, Val *axis, uint32_t index, uint32_t count);
// The `index`-th value of an unbind; NULL if it is no part of the last axis.
Val *op_part_unbind(Flow *flow, const Val *unbind, uint32_t index);
// Called by op_make, with the operator's bound arguments.
Val *op_flatten(Flow *flow, Val *const *args);
Val *op_unflatten(Flow *flow, Val *const *args);
Val *op_view(Flow *flow, Val *x, Val *shape);
Val *op_reshape_as(Flow *flow, Val *x, Val *y);
Val *op_repeat_interleave(Flow *flow, Val *const *args);
Val *op_complex(Flow *flow, Val *real, Val *imag);
Val *op_view_as_complex(Flow *flow, Val *x);
Val *op_select(Flow *flow, Val *const *args);
Val *op_narrow(Flow *flow, Val *const *args);
// rearrange() and repeat() of the last axis (einops.c); NULL for other calls.
Val *op_einops(Flow *flow, Str name, Val *const *args, uint32_t nargs);
// The number of axes that a rearrange(), repeat() or reduce() returns, else 0.
uint32_t einops_rank(Str name, Val *const *args, uint32_t nargs);
// cat, stack and weave.
Val *op_join(Flow *flow, Op op, Val *const *args, uint32_t nargs);

// ---- resolution (resolve.c) ------------------------------------------------------
// The attribute of an object whose class is known, from its constructor, its
// class body or its methods; NULL if it is not known.
Val *object_attr(Flow *flow, Val *object, const Sym *name);
// The method of this name of the object's class, bound to it; NULL if none.
Val *object_method(Flow *flow, Val *object, const Sym *name);
// The class of `self` or of an instance; NULL if unknown.
const Def *object_class(const Val *object);

// self.name as a constructor registers it (register_buffer), the whole of which is read
// for it; NULL if none does. What is loaded may have other numbers.
Val *object_buffer(Flow *flow, const Val *object, const Sym *name);
// The attributes that the class's own constructor stores, in order; returns
// how many of the `max` were filled.
uint32_t stored_names(Flow *flow, const Def *class_def, const Sym **out, uint32_t max);
// The classes that a configuration object may have (at most `max`).
uint32_t config_classes(Flow *flow, Val *object, Def *out, uint32_t max);
// The dict that a dict-like instance was made from, or NULL.
Val *instance_dict(const Val *inst);

typedef struct Resolved {
    Val *val; // NULL: not resolved
    ChainLink *chain;
    bool from_config; // a default or the callers in sight decide
    bool likely;      // only agreement of what is in sight, no chain
} Resolved;

// Follows attributes, constructors, callers, tables and config defaults to a
// concrete object, noting each step.
// Each value is resolved once.
Resolved flow_resolve(Flow *flow, Val *v);
// Of what is called: `made if given else None` is what was made, as None cannot be called.
Resolved flow_resolve_called(Flow *flow, Val *callee);

#endif
