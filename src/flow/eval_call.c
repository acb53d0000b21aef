// eval_call.c - calls: operators in every spelling, casts, modules of torch.nn,
// and functions of the project, which are read in place.
#include "base/base.h"

#include "flow/assume.h"
#include "flow/builtins.h"
#include "flow/call_cast.h"
#include "flow/call_nn.h"
#include "flow/call_of.h"
#include "flow/changes.h"
#include "flow/flow.h"
#include "flow/inplace.h"
#include "flow/recall.h"
#include "flow/maybe.h"
#include "flow/libraries.h"
#include "flow/spellings.h"

static bool is_container(const Val *v) {
    return v->op == V_DICT || v->op == V_LIST;
}

// A function that leaves the lists and dicts it is given as they are.
static bool keeps_containers(const Val *callee) {
    static const char *const libraries[] = {"torch.", "einops.", "math.", "numpy.", "logging.",
                                            "warnings.", "copy."};
    static const char *const own[] = { // Python's
        "print", "len", "zip", "enumerate", "sum", "max", "min", "sorted", "tuple", "list",
        "dict", "set", "range", "isinstance", "any", "all", "str", "repr", "format", "id",
        "type", "bool", "reversed", "hasattr", "map", "filter", "iter", "frozenset", "getattr",
    };
    if (callee->op != V_GLOBAL) return false;
    for (size_t i = 0; i < COUNT(libraries); i++) {
        if (str_starts(callee->text, libraries[i])) return true;
    }
    for (size_t i = 0; i < COUNT(own); i++) {
        if (str_is(callee->text, own[i])) return true;
    }
    return false;
}

// What is not in sight may change a list or a dict that it is given.
static void hand_containers(Frame *f, const Val *callee, Val *const *args, uint32_t nargs) {
    if (keeps_containers(callee)) return;
    for (uint32_t i = 0; i < nargs; i++) {
        Val *given = args[i]->op == V_KEYWORD && args[i]->name ? args[i]->args[0] : args[i];
        if (is_container(given) && given->nargs) eval_mutation(f, given);
    }
}

// A call that is not understood: its result is unlike any other, and the
// statement it stands in does more than compute.
static Val *unknown_call(Frame *f, Val *callee, Val *const *args,
                         uint32_t nargs) {
    Arena *arena = f->flow->arena;
    Val **all = NEW_N(arena, Val *, nargs + 1);
    all[0] = callee;
    if (nargs) memcpy(all + 1, args, sizeof(Val *) * nargs);
    if (!call_only_makes(callee)) frame_add_effects(f, 1);
    hand_containers(f, callee, args, nargs);
    Val *made = val_unique(&f->flow->graph, V_CALL, all, nargs + 1);
    if (callee->op == V_GLOBAL) made->rank = einops_rank(callee->text, args, nargs);
    return made;
}

// ---- operators --------------------------------------------------------------

// Two draws differ, even where they are spelled alike.
static bool is_random(Op op) {
    return op == OP_EMPTY || op == OP_DROPOUT;
}

static Val *apply_op(Frame *f, const OpInfo *info, Val *const *args,
                     uint32_t nargs) {
    Val *bound[OP_MAX_PARAMS];
    if (!ops_bind(bound, &f->flow->graph, info, args, nargs)) return NULL;
    Val *value = op_make(f->flow, info->op, bound, info->param_count);
    if (is_random(info->op)) {
        value = val_unique(&f->flow->graph, info->op, value->args, value->nargs);
    }
    if (call_makes_booleans(f->flow, value, args, nargs)) {
        value = op_cast(f->flow, value, val_global(&f->flow->graph, STR("torch.bool")));
    }
    for (uint32_t p = 1; p < info->param_count; p++) {
        bool inplace = str_is(info->params[p].name, "inplace");
        if (inplace && val_truth(bound[p]) == 1) eval_mutation(f, bound[0]);
    }
    return value;
}

static Val *with_receiver(Frame *f, Val *x, Val *const *args, uint32_t nargs,
                          Val ***out) {
    Val **all = NEW_N(f->flow->arena, Val *, nargs + 1);
    all[0] = x;
    if (nargs) memcpy(all + 1, args, sizeof(Val *) * nargs);
    *out = all;
    return x;
}

static const OpInfo *method_op(Frame *f, Str name) {
    char spelling[64];
    if (name.len + 1 >= sizeof(spelling)) return NULL;
    spelling[0] = '.';
    memcpy(spelling + 1, name.at, name.len);
    return ops_find(f->flow->ops, (Str){spelling, name.len + 1});
}

// x.mul_(y): the value of x.mul(y) in the dtype of x, and x changes.
static Val *call_inplace(Frame *f, Val *x, const Sym *method, Val *const *args,
                         uint32_t nargs) {
    Str name = sym_str(method);
    if (str_is(name, "fill")) eval_mutation(f, x); // x.numpy().fill(0)
    if (!sym_ends_in_place(method)) return NULL;
    const OpInfo *info = method_op(f, (Str){name.at, name.len - 1});
    if (!info) { // x.fill_(1), x.copy_(y)
        eval_mutation(f, x);
        return NULL;
    }
    Val **all;
    with_receiver(f, x, args, nargs, &all);
    Val *value = apply_op(f, info, all, nargs + 1);
    eval_mutation(f, x);
    if (!value) return NULL;
    value = op_cast(f->flow, value, op_dtype(f->flow, x));
    eval_renewed(f, x, value);
    return value;
}

static Val *call_tensor_method(Frame *f, Val *x, const Sym *name,
                               Val *const *args, uint32_t nargs) {
    Str method = sym_str(name);
    Val *cast = call_cast(f, x, method, args, nargs);
    if (cast) return cast;
    if (str_starts(method, "__") || is_comparison(method)) {
        Val **operands;
        with_receiver(f, x, args, nargs, &operands);
        return python_operator(f, method, operands, nargs + 1);
    }
    if (str_is(method, "size")) {
        if (nargs == 0) return val_new1(&f->flow->graph, V_SHAPE, x);
        if (nargs == 1) {
            Val *axis = args[0]->op == V_KEYWORD ? args[0]->args[0] : args[0];
            return op_size(f->flow, x, axis);
        }
    }
    if (str_is(method, "where") && nargs == 2 && arg_is_positional(args[0]) &&
        arg_is_positional(args[1])) { // x.where(condition, other)
        return op_make(f->flow, OP_WHERE, (Val *[]){args[0], x, args[1]}, 3);
    }
    const OpInfo *info = method_op(f, method);
    if (info) {
        Val **all;
        with_receiver(f, x, args, nargs, &all);
        Val *value = apply_op(f, info, all, nargs + 1);
        if (value) return value;
    }
    return call_inplace(f, x, name, args, nargs);
}

// ---- modules of torch.nn ----------------------------------------------------

// functools.partial(fn, ...)(...)
static Val *call_partial(Frame *f, Node *node, Val *inst, Val *const *args,
                         uint32_t nargs) {
    if (inst->nargs == 0) return NULL;
    uint32_t total = inst->nargs - 1 + nargs, at = 0;
    Val **all = NEW_N(f->flow->arena, Val *, total + 1);
    for (uint32_t i = 1; i < inst->nargs; i++) {
        if (arg_is_positional(inst->args[i])) all[at++] = inst->args[i];
    }
    for (uint32_t i = 0; i < nargs; i++) all[at++] = args[i];
    for (uint32_t i = 1; i < inst->nargs; i++) {
        if (!arg_is_positional(inst->args[i])) all[at++] = inst->args[i];
    }
    return call_value(f, node, inst->args[0], all, total);
}

static Val *call_instance(Frame *f, Node *node, Val *inst, Val *const *args,
                          uint32_t nargs) {
    if (!inst->def) {
        if (nargs && module_is_inplace(inst)) eval_mutation(f, args[0]);
        if (str_is(inst->text, "functools.partial")) {
            return call_partial(f, node, inst, args, nargs);
        }
        return call_nn(f, node, inst, args, nargs);
    }
    Val *method = object_attr(f->flow, inst, f->flow->names.forward);
    if (!method) method = object_attr(f->flow, inst, f->flow->names.call);
    if (!method || method->op != V_METHOD) return NULL;
    return call_value(f, node, method, args, nargs);
}

// ---- builtins and torch helpers ---------------------------------------------

static Val *call_getattr(Frame *f, Val *const *args, uint32_t nargs) {
    if (nargs < 2 || args[1]->op != V_CONST || args[1]->ck != CONST_STR) return NULL;
    return eval_attribute(f, args[0], sym_intern(f->flow->symbols, args[1]->text));
}

static Val *call_setattr(Frame *f, Val *const *args, uint32_t nargs) {
    if (nargs == 3 && args[1]->op == V_CONST && args[1]->ck == CONST_STR) {
        const Sym *name = sym_intern(f->flow->symbols, args[1]->text);
        eval_attr_change(f, args[0], name, args[2]);
    }
    return NULL; // more than computing
}

static Val *call_super(Frame *f, uint32_t nargs) {
    if (nargs != 0 && nargs != 2) return NULL;
    if (!f->self || !f->owner) return NULL;
    Val v = {.op = V_SUPER, .ptr = f->owner, .nargs = 1, .args = &f->self};
    return val_intern(&f->flow->graph, &v);
}

static bool is_instance_class(Str dotted) {
    static const char *const named[] = {
        "functools.partial", "collections.OrderedDict", "dict", "OrderedDict",
    };
    for (size_t i = 0; i < COUNT(named); i++) {
        if (str_is(dotted, named[i])) return true;
    }
    // torch.nn.SiLU: a capital after the last dot.
    Str base = dotted;
    while (base.len && memchr(base.at, '.', base.len)) {
        size_t skip = (size_t)((char *)memchr(base.at, '.', base.len) - base.at) + 1;
        base.at += skip;
        base.len -= skip;
    }
    bool nn = str_starts(dotted, "torch.nn.") &&
              !str_starts(dotted, "torch.nn.Parameter") &&
              !str_starts(dotted, "torch.nn.Buffer") &&
              !str_starts(dotted, "torch.nn.functional.") &&
              !str_starts(dotted, "torch.nn.parameter.");
    return nn && base.len && base.at[0] >= 'A' && base.at[0] <= 'Z';
}

static Val *make_instance(Frame *f, Def *def, Str text, Val *const *args,
                          uint32_t nargs) {
    Val *inst = val_unique(&f->flow->graph, V_INSTANCE, args, nargs);
    inst->def = def;
    inst->text = text;
    return inst;
}

static Val *call_builtin(Frame *f, Str name, Val *const *args, uint32_t nargs) {
    if (str_is(name, "isinstance")) return builtin_isinstance(f, args, nargs);
    if (str_is(name, "getattr")) return call_getattr(f, args, nargs);
    if (str_is(name, "setattr")) return call_setattr(f, args, nargs);
    if (str_is(name, "super")) return call_super(f, nargs);
    if (str_is(name, "map")) return builtin_map(f, args, nargs);
    if (str_is(name, "slice")) return builtin_slice(f, args, nargs);
    if (str_is(name, "float") || str_is(name, "int")) {
        if (nargs == 1 && arg_is_positional(args[0])) return args[0];
    }
    if ((str_is(name, "tuple") || str_is(name, "list")) && nargs == 1) {
        return val_sequence(f->flow, str_is(name, "tuple") ? V_TUPLE : V_LIST, args[0]);
    }
    bool copies = str_is(name, "copy.copy") || str_is(name, "copy.deepcopy");
    if (copies && nargs >= 1 && is_container(args[0])) return args[0];
    // Decorators and wrappers that keep the function.
    static const char *const same[] = {
        "torch.jit.script", "torch.compile", "torch.jit.ignore",
        "torch.jit.export", "torch.compiler.disable", "torch.fx.wrap", "staticmethod",
    };
    for (size_t i = 0; i < COUNT(same); i++) {
        if (str_is(name, same[i]) && nargs >= 1 && arg_is_positional(args[0])) {
            return args[0];
        }
    }
    return NULL;
}

// `dict(a=1)` and `dict({...})`
static Val *call_dict(Frame *f, Val *const *args, uint32_t nargs) {
    VEC(Val *) items = {0};
    for (uint32_t i = 0; i < nargs; i++) {
        if (args[i]->op == V_DICT) {
            if (items.len + args[i]->nargs > DICT_MERGED_MAX) return NULL;
            for (uint32_t k = 0; k < args[i]->nargs; k++) {
                vec_push(f->flow->arena, &items, args[i]->args[k]);
            }
        } else if (args[i]->op == V_KEYWORD && args[i]->name) {
            vec_push(f->flow->arena, &items,
                     val_str(&f->flow->graph, sym_str(args[i]->name)));
            vec_push(f->flow->arena, &items, args[i]->args[0]);
        } else {
            return NULL;
        }
    }
    return val_new(&f->flow->graph, V_DICT, items.at, items.len);
}

// What is in a list changes, too: torch._foreach_mul_([x, y], c).
static void write_into(Frame *f, Val *x) {
    bool several = x->op == V_LIST || x->op == V_TUPLE;
    for (uint32_t i = 0; several && i < x->nargs; i++) eval_mutation(f, x->args[i]);
    if (!several) eval_mutation(f, x);
}

// torch.relu_(x), rotate_(x) of a library and torch.add(x, y, out=z) write into x and z.
static void note_writes(Frame *f, Val *callee, Val *const *args, uint32_t nargs) {
    Val *out = keyword_arg(args, nargs, "out");
    if (out) write_into(f, out);
    if (nargs == 0 || !arg_is_positional(args[0])) return;
    const Sym *name = sym_intern(f->flow->symbols, str_last_part(callee->text));
    if (sym_ends_in_place(name)) write_into(f, args[0]);
    else if (call_says_inplace(callee->text, args, nargs)) eval_mutation(f, args[0]);
}

// torch.mean(x, -1, out=y): from here on y holds the mean, in y's dtype.
static Val *call_out(Frame *f, const OpInfo *info, Val *const *args, uint32_t nargs) {
    Val *out = keyword_arg(args, nargs, "out");
    if (!out || val_is_none(out)) return NULL;
    Val **others = NEW_N(f->flow->arena, Val *, nargs);
    uint32_t n = 0;
    for (uint32_t i = 0; i < nargs; i++) {
        if (args[i]->op != V_KEYWORD || args[i]->args[0] != out) others[n++] = args[i];
    }
    Val *value = n + 1 == nargs ? apply_op(f, info, others, n) : NULL;
    if (!value) return NULL;
    value = op_cast(f->flow, value, op_dtype(f->flow, out));
    eval_renewed(f, out, value);
    return value;
}

// torch.ops.aten.mul.Tensor(x, y): as torch has it, else as the method of that name.
static Val *call_aten(Frame *f, Str name, Val *const *args, uint32_t nargs) {
    Graph *g = &f->flow->graph;
    if (nargs == 0 || !arg_is_positional(args[0])) return NULL;
    if (str_is(name, "_softmax") && nargs == 3 && val_truth(args[2]) == 0) {
        return val_new3(g, OP_SOFTMAX, args[0], args[1], val_none(g));
    }
    Str dotted = torch_spelling(f->flow->ops, f->flow->arena, name);
    const OpInfo *info = dotted.len ? ops_find(f->flow->ops, dotted) : NULL;
    if (info) return apply_op(f, info, args, nargs);
    const Sym *method = sym_intern(f->flow->symbols, name);
    return call_tensor_method(f, args[0], method, args + 1, nargs - 1);
}

static Val *call_global(Frame *f, Val *callee, Val *const *args,
                        uint32_t nargs) {
    Str name = callee->text, aten = aten_function(name);
    note_writes(f, callee, args, nargs);
    if (str_is(name, "torch.jit.is_scripting")) return val_bool(&f->flow->graph, false);
    if (str_is(name, "dict") || str_is(name, "collections.OrderedDict")) {
        Val *dict = call_dict(f, args, nargs);
        if (dict) return dict;
    }
    const OpInfo *info = ops_find(f->flow->ops, name);
    if (info) {
        Val *value = apply_op(f, info, args, nargs);
        if (!value) value = call_out(f, info, args, nargs);
        if (value) return value;
    }
    Val *value = aten.len ? call_aten(f, aten, args, nargs) : NULL;
    bool compares = str_starts(name, "torch.") && is_comparison(str_last_part(name));
    if (!value && (compares || str_starts(name, "operator."))) {
        value = python_operator(f, str_last_part(name), args, nargs);
    }
    if (!value) value = call_builtin(f, name, args, nargs);
    if (!value) value = op_einops(f->flow, name, args, nargs);
    if (!value) value = library_call(f, name, args, nargs);
    if (value) return value;
    if (is_instance_class(name)) return make_instance(f, NULL, name, args, nargs);
    // Tensor.float(x) and torch.Tensor.mul(x, y)
    if (str_starts(name, "torch.Tensor.") && nargs >= 1) {
        Str method = {name.at + 13, name.len - 13};
        return call_tensor_method(f, args[0], sym_intern(f->flow->symbols, method),
                                  args + 1, nargs - 1);
    }
    return NULL;
}

// ---- the call itself --------------------------------------------------------

// A function under @torch.no_grad() returns constants.
static Val *call_def(Frame *f, Val *callee, Val *self, Val *const *args,
                     uint32_t nargs) {
    const Def *def = callee->def;
    if (decorators_change(f->flow, def)) return NULL;
    Val *value = eval_inline(f, callee, self, args, nargs);
    NodeList decorators = def->node->u.function->decorators;
    for (uint32_t i = 0; value && i < decorators.len; i++) {
        Val *d = eval_expr(flow_module_frame(f->flow, flow_module(f->flow, def->module)),
                           decorators.at[i]);
        if (stops_gradients(d)) value = eval_detached(f, value);
    }
    return value;
}

Val *eval_property(Frame *f, Val *method) {
    if (!has_decorator(method->def->node, f->flow->names.property)) return NULL;
    return eval_inline(f, method, method->args[0], NULL, 0);
}

static Val *call_method(Frame *f, Val *callee, Val *const *args,
                        uint32_t nargs) {
    bool plain = has_decorator(callee->def->node, f->flow->names.staticmethod_);
    return call_def(f, callee, plain ? NULL : callee->args[0], args, nargs);
}

static Val *with_assumption(Frame *f, Val *subject, Resolved r, Val *value);

// super().__getitem__(key) in a class derived from dict
static Val *call_super_item(Frame *f, Val *callee, Val *const *args,
                            uint32_t nargs) {
    if (callee->name != f->flow->names.getitem || nargs != 1) return NULL;
    Val *dict = instance_dict(callee->args[0]->args[0]);
    if (!dict) return NULL;
    Val *item = eval_item(f, dict, args[0]);
    return item->op == V_ITEM ? NULL : item;
}

static Val *call_maybe_silu(Frame *f, Node *node, Val *callee, Val *const *args,
                            uint32_t nargs);

// self.act(x): the object behind the attribute is looked for, and what that
// rests on is noted at the result.
static Val *call_attr(Frame *f, Node *node, Val *callee, Val *const *args,
                      uint32_t nargs) {
    if (callee->op == V_ATTR && callee->args[0]->op == V_SUPER) {
        return call_super_item(f, callee, args, nargs);
    }
    Resolved r = flow_resolve_called(f->flow, callee);
    if (!r.val || r.val == callee || r.val->op == V_ATTR) {
        return call_maybe_silu(f, node, callee, args, nargs);
    }
    if (r.val->op == V_INSTANCE || r.val->op == V_GLOBAL ||
        r.val->op == V_FUNCTION || r.val->op == V_LAMBDA ||
        r.val->op == V_METHOD) {
        Val *value = call_value(f, node, r.val, args, nargs);
        if (!value || value->op == V_CALL) {
            return value ? value : NULL;
        }
        Val *assumed = with_assumption(f, callee, r, value);
        Assumption *a = assumed->assume;
        if (a && a->from_config && a->subject == callee) {
            assume_by_type(f, node, a, (Called){r.val, args, nargs, value});
        }
        return assumed;
    }
    return NULL;
}

static Str type_name_of(const Val *v);

// The table entry behind an attribute: self.act = TABLE[key] with a key that
// nothing in sight decides.
static Val *table_entry(Frame *f, Val *callee) {
    if (callee->op == V_ATTR && object_class(callee->args[0])) {
        Val *made = object_attr(f->flow, callee->args[0], callee->name);
        if (made) callee = made;
    }
    return callee->op == V_ITEM && callee->nargs == 2 ? callee : NULL;
}

static Val *call_open(Frame *f, Node *node, Val *callee, Val *const *args, Resolved r) {
    Val *value = call_value(f, node, r.val, args, 1);
    uint16_t op = val_strip(value)->op;
    if (op != OP_SILU && op != OP_GELU) return NULL;
    r.from_config = r.likely = true;
    Called called = {r.val, args, 1, value};
    value = with_assumption(f, callee, r, value);
    if (value->assume) {
        value->assume->open = true;
        assume_by_type(f, node, value->assume, called);
    }
    return value;
}

// Such a call may be SiLU where the table has it under its usual name, or where
// one of the callers gives it; that it is one is left to the guard, and said to be
// unknown.
static Val *call_maybe_silu(Frame *f, Node *node, Val *callee, Val *const *args,
                            uint32_t nargs) {
    if (nargs != 1 || f->flow->only_certain) return NULL;
    Val *entry = table_entry(f, callee);
    if (!entry) {
        Val *found = maybe_activation(f->flow, callee);
        return found ? call_open(f, node, callee, args, (Resolved){.val = found}) : NULL;
    }
    if (entry->args[1]->op == V_CONST) return NULL;
    static const char *const keys[] = {"silu", "swish"};
    for (size_t i = 0; i < COUNT(keys); i++) {
        Val *key = val_str(&f->flow->graph, str_of(keys[i]));
        Val *item = val_new2(&f->flow->graph, V_ITEM, entry->args[0], key);
        Resolved r = flow_resolve(f->flow, item);
        if (!r.val || r.val->op == V_ITEM) continue;
        Val *value = call_open(f, node, callee, args, r);
        if (value) return value;
    }
    return NULL;
}

static Str type_name_of(const Val *v) {
    Str dotted = {0};
    if (v->op == V_INSTANCE) dotted = v->def ? v->def->dotted : v->text;
    if (v->op == V_GLOBAL) dotted = v->text;
    if (v->op == V_FUNCTION) dotted = v->def->dotted;
    return str_last_part(dotted);
}

// self.act = nn.SiLU(), but another method or a subclass stores another.
static void note_changes(Frame *f, Assumption *a, const Val *made) {
    const Val *subject = a->subject;
    bool holder = made->op == V_INSTANCE && str_is(made->text, "torch.nn.Sequential");
    const Val *holds = subject->op == V_ITEM ? subject->args[0] : holder ? subject : NULL;
    if (holds && holds->op == V_ATTR && object_class(holds->args[0]) &&
        attr_items_change(f->flow, object_class(holds->args[0]), holds->name)) {
        a->open = a->likely = a->from_config = true;
        a->untestable |= holder;
    }
    if (subject->op != V_ATTR || !object_class(subject->args[0])) return;
    switch (attr_change(f->flow, object_class(subject->args[0]), subject->name)) {
    case ATTR_KEPT: return;
    case ATTR_CHANGED: a->open = a->likely = true; break;
    case ATTR_CHANGED_OUTSIDE: break;
    }
    a->from_config = true; // left to the guard
}

static Val *with_assumption(Frame *f, Val *subject, Resolved r, Val *value) {
    if (value->op == V_OPAQUE) return value;
    for (const Assumption *a = value->assume; a; a = a->inner) {
        if (a->subject == subject) return value;
    }
    Arena *arena = f->flow->arena;
    value = call_nn_behind(f, value, r.val, subject);
    Assumption *a = NEW(arena, Assumption);
    *a = (Assumption){.subject = subject, .from_config = r.from_config,
                      .likely = r.likely,
                      .chain = r.chain, .type_name = type_name_of(r.val),
                      .inner = value->assume};
    a->is_function = r.val->op != V_INSTANCE;
    bool of_library = r.val->op == V_INSTANCE && !r.val->def;
    if (of_library && r.val->ptr) a->other_name = str_of(r.val->ptr);
    bool partial = of_library && str_is(r.val->text, "functools.partial");
    if (partial) a->partial = r.val;
    bool names = partial && r.val->nargs && r.val->args[0]->op == V_GLOBAL;
    const Val *made = val_strip(value);
    if (of_library && !partial && made->op == OP_GELU && made->args[1]->op == V_CONST) {
        a->approximate = made->args[1]->text;
    }
    note_changes(f, a, r.val);
    a->claim = names ? arena_printf(arena, "a partial of %.*s",
                                    STR_FMT(str_last_part(r.val->args[0]->text)))
                     : a->type_name.len ? a->type_name : STR("a lambda");
    Val copy = *value;
    copy.assume = a;
    copy.chain = NULL;
    return val_intern(&f->flow->graph, &copy);
}

static Val *call_known(Frame *f, Node *node, Val *callee, Val *const *args,
                       uint32_t nargs) {
    switch ((int)callee->op) {
    case V_GLOBAL: return call_global(f, callee, args, nargs);
    case V_FUNCTION: return call_def(f, callee, NULL, args, nargs);
    case V_LAMBDA:
        return eval_inline(f, callee, NULL, args, nargs);
    case V_METHOD: return call_method(f, callee, args, nargs);
    case V_CLASS:
        return make_instance(f, callee->def, (Str){0}, args, nargs);
    case V_INSTANCE: return call_instance(f, node, callee, args, nargs);
    case V_ATTR:
    case V_ITEM:
    case V_PARAM: // def forward(x, act=F.silu)
        return call_attr(f, node, callee, args, nargs);
    case V_CALL: // getattr(F, config.activation)(x)
        return val_is_global(callee->args[0], "getattr") ? call_attr(f, node, callee, args, nargs)
                                                         : NULL;
    case V_PHI: {
        Val *value = call_attr(f, node, callee, args, nargs);
        return value ? value : call_either(f, node, callee, args, nargs);
    }
    default: return NULL;
    }
}

Val *call_value(Frame *f, Node *node, Val *callee, Val *const *args,
                uint32_t nargs) {
    Val *value = call_known(f, node, callee, args, nargs);
    return value ? value : unknown_call(f, callee, args, nargs);
}

// Whether it is a constructor that is read, with what it calls. (A method that registers
// anew keeps the form that the constructor gave: what it had is read on.)
static bool constructs(const Frame *f) {
    const Node *fn = f->top && f->top->fn ? f->top->fn : NULL;
    return !fn || fn->kind != N_FUNCTION_DEF || fn->u.function->name == f->flow->names.init;
}

// self.register_parameter("weight", w) and register_buffer bind an attribute.
static void register_attr(Frame *f, const Sym *method, Val *const *args,
                          uint32_t nargs) {
    bool registers = str_is(sym_str(method), "register_parameter") ||
                     str_is(sym_str(method), "register_buffer");
    if (!registers || !constructs(f) || nargs < 2 || args[0]->op != V_CONST ||
        args[0]->ck != CONST_STR || !arg_is_positional(args[1])) {
        return;
    }
    const Sym *name = sym_intern(f->flow->symbols, args[0]->text);
    name_set(f, f->attrs, (uintptr_t)name | 1,
             (Bind){.val = args[1], .stmt = f->stmt, .module = f->module});
}

typedef struct Member {
    Val *object;
    const Sym *name;
} Member;

// xs.append(x), options.update(more): the list or dict is no longer what it was
// written as.
static bool changes_container(const Val *object, const Sym *method) {
    bool holds = object->op == V_LIST || object->op == V_DICT ||
                 (object->op == V_INSTANCE && !object->def &&
                  str_starts(object->text, "torch.nn."));
    return holds && changes_items(method);
}

// self.act.forward(x), self.act.__call__(x)
static Val *call_forward(Frame *f, Node *node, Member member, Val *const *args,
                         uint32_t nargs) {
    Resolved r = flow_resolve(f->flow, member.object);
    if (!r.val) return NULL;
    if (r.val->op == V_INSTANCE && r.val->def) {
        Val *method = object_attr(f->flow, r.val, member.name);
        return method ? call_value(f, node, method, args, nargs) : NULL;
    }
    bool of_function = member.name == f->flow->names.call;
    if (r.val->op != V_INSTANCE && !of_function) return NULL;
    return call_attr(f, node, member.object, args, nargs);
}

// obj.name(...) where obj may be a tensor.
static Val *call_member(Frame *f, Node *node, Member member_of, Val *const *args,
                        uint32_t nargs) {
    Val *object = member_of.object;
    const Sym *name = member_of.name;
    switch ((int)object->op) {
    case V_GLOBAL: case V_MODULE: case V_CLASS: case V_SUPER:
        return call_value(f, node, eval_attribute(f, object, name), args, nargs);
    default:
        break;
    }
    Val *member = eval_attribute(f, object, name);
    if (f->attrs && object == f->attrs_self && member->op == V_ATTR) {
        recall_taint(f->flow);
        register_attr(f, name, args, nargs);
    }
    if (member->op != V_ATTR || object_class(object)) {
        return call_value(f, node, member, args, nargs);
    }
    bool runs = name == f->flow->names.forward || name == f->flow->names.call;
    if (object->op == V_ATTR && runs) {
        Val *value = call_forward(f, node, member_of, args, nargs);
        if (value) return value;
    }
    const Node *of = node->u.call.func->kind == N_ATTRIBUTE ? node->u.call.func->u.attribute.value
                                                            : node;
    Val *got = builtin_dict_get(f, &(DictCall){of, object, sym_str(name)}, args, nargs);
    if (got) return got;
    if (changes_container(object, name)) eval_mutation(f, object);
    Val *value = call_tensor_method(f, object, name, args, nargs);
    // self.config.activation_func(x)
    if (!value && object->op == V_ATTR) value = call_attr(f, node, member, args, nargs);
    return value ? value : unknown_call(f, member, args, nargs);
}

// The entries of **{...} as keywords; returns the new count.
static uint32_t add_dict_keywords(Frame *f, Val ***args, uint32_t at,
                                  uint32_t cap, const Val *dict) {
    Flow *flow = f->flow;
    Val **all = NEW_N(flow->arena, Val *, at + cap + dict->nargs + 1);
    memcpy(all, *args, sizeof(Val *) * at);
    for (uint32_t i = 0; i + 1 < dict->nargs; i += 2) {
        Val *key = dict->args[i], *value = dict->args[i + 1];
        bool named = key->op == V_CONST && key->ck == CONST_STR;
        Val v = {.op = V_KEYWORD, .nargs = 1, .args = &value,
                 .name = named ? sym_intern(flow->symbols, key->text) : NULL};
        all[at++] = val_intern(&flow->graph, &v);
    }
    *args = all;
    return at;
}

// The positional arguments; of *args that is written out, its items.
static uint32_t eval_positional(Frame *f, NodeList given, Val ***out, uint32_t room) {
    VEC(Val *) args = {0};
    for (uint32_t i = 0; i < given.len; i++) {
        Val *arg = eval_expr(f, given.at[i]);
        const Val *items = arg->op == V_STAR ? arg->args[0] : NULL;
        bool known = items && (items->op == V_TUPLE || items->op == V_LIST) &&
                     items->nargs <= DICT_MERGED_MAX;
        if (!known) vec_push(f->flow->arena, &args, arg);
        for (uint32_t k = 0; known && k < items->nargs; k++) {
            vec_push(f->flow->arena, &args, items->args[k]);
        }
    }
    *out = NEW_N(f->flow->arena, Val *, args.len + room + 1);
    if (args.len) memcpy(*out, args.at, sizeof(Val *) * args.len);
    return args.len;
}

// What **of stands for: a dict that is written out, or one behind an attribute.
static Val *eval_keywords(Frame *f, const Node *keyword) {
    Val *value = eval_expr(f, keyword->u.keyword.value);
    if (keyword->u.keyword.name || value->op != V_ATTR) return value;
    Resolved r = flow_resolve(f->flow, value);
    bool sure = r.val && r.val->op == V_DICT && !r.from_config && !r.likely;
    return sure ? r.val : value;
}

static Val *eval_call_inner(Frame *f, Node *node) {
    Node *func = node->u.call.func;
    NodeList given = node->u.call.args, keywords = node->u.call.keywords;
    Val *object = NULL, *callee = NULL;
    if (func->kind == N_ATTRIBUTE) {
        object = eval_expr(f, func->u.attribute.value);
    } else {
        callee = eval_expr(f, func);
    }
    Val **args;
    uint32_t at = eval_positional(f, given, &args, keywords.len), nargs = at + keywords.len;
    for (uint32_t i = 0; i < keywords.len; i++) {
        Val *value = eval_keywords(f, keywords.at[i]);
        const Sym *name = keywords.at[i]->u.keyword.name;
        bool merges = !name && value->op == V_DICT &&
                      at + value->nargs <= nargs + DICT_MERGED_MAX;
        if (merges) { // **{...}
            at = add_dict_keywords(f, &args, at, nargs, value);
            continue;
        }
        Val v = {.op = V_KEYWORD, .name = name, .nargs = 1, .args = &value};
        args[at++] = val_intern(&f->flow->graph, &v);
    }
    if (object) {
        return call_member(f, node, (Member){object, func->u.attribute.attr}, args, at);
    }
    if (func->kind == N_CALL && callee->op == V_ATTR) { // getattr(x, "rsqrt")()
        return call_member(f, node, (Member){callee->args[0], callee->name}, args, at);
    }
    return call_value(f, node, callee, args, at);
}

// The parameter whose annotation says what attn.to_q(x) and attn(x) call, or NULL.
static const Val *handed_in(const Frame *f, const Node *func) {
    while (func->kind == N_ATTRIBUTE) func = func->u.attribute.value;
    if (func->kind != N_NAME) return NULL;
    const NameInfo *info = name_find(&f->names, (uintptr_t)func->u.name.id);
    const Val *v = info && info->bind ? info->bind->val : NULL;
    return v && v->op == V_PARAM && v->ptr && v->def ? v : NULL; // `self` has no frame
}

// Of very many calls the ranges of one parameter become one, which holds more than they did.
static void note_handed_in(Frame *top, HandedIn made) {
    enum { HANDED_MAX = 256 };
    for (uint32_t i = top->handed.len; i-- > 0 && top->handed.len >= HANDED_MAX;) {
        if (top->handed.at[i].param != made.param) continue;
        top->handed.at[i].to = made.to;
        return;
    }
    vec_push(top->flow->arena, &top->handed, made);
}

static Val *eval_call_of(Frame *f, Node *node) {
    const Val *param = handed_in(f, node->u.call.func);
    uint32_t from = f->flow->graph.next_id;
    Val *value = eval_call_inner(f, node);
    HandedIn made = {param, from, f->flow->graph.next_id};
    if (param && made.to > from) note_handed_in(f->top, made);
    return value;
}

Val *eval_call(Frame *f, Node *node) {
    StmtInfo *stmt = frame_stmt(f);
    if (!f->root || !stmt) return eval_call_of(f, node);
    uint32_t before = stmt->effects;
    const Node *around = f->call;
    f->call = node;
    Val *value = eval_call_of(f, node);
    f->call = around;
    uint32_t count = frame_stmt(f)->effects - before;
    node_set_effects(f, node, count);
    return value;
}
