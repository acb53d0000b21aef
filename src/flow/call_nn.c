// call_nn.c - calls of torch.nn's own modules, as the operator that each one is.
#include "base/base.h"

#include "flow/call_nn.h"

#include "flow/call_of.h"
#include "flow/changes.h"
#include "flow/libraries.h"

static bool is_argument(const Val *arg) {
    return arg->op != V_KEYWORD && arg->op != V_STAR;
}

static Val *instance_arg(const Val *inst, uint32_t index, const char *name) {
    Val *given = keyword_arg(inst->args, inst->nargs, name);
    if (given) return given;
    if (index < inst->nargs && is_argument(inst->args[index])) {
        return inst->args[index];
    }
    return NULL;
}

static Val *call_sequential(Frame *f, Node *node, Val *inst, Val *x) {
    for (uint32_t i = 0; i < inst->nargs; i++) {
        if (!is_argument(inst->args[i])) return NULL;
        x = call_value(f, node, inst->args[i], &x, 1);
    }
    return x;
}

static Val *attr_named(Frame *f, Val *object, const char *name) {
    return val_attr(&f->flow->graph, object, sym_intern(f->flow->symbols, str_of(name)));
}

// Whether the constructor says that the module has a weight, or a bias.
static bool has_learned(const Val *inst, uint32_t index, const char *name) {
    Val *given = instance_arg(inst, index, name);
    return !given || val_truth(given) == 1;
}

static bool has_open_arguments(const Val *inst) {
    for (uint32_t i = 0; i < inst->nargs; i++) {
        const Val *arg = inst->args[i];
        if (arg->op == V_STAR || (arg->op == V_KEYWORD && !arg->name)) return true;
    }
    return false;
}

// nn.LayerNorm(d)(x)  ->  layer_norm(x, shape(weight), weight, bias, eps)
static Val *call_layer_norm(Frame *f, Val *inst, Val *x) {
    bool learned = has_learned(inst, 2, "elementwise_affine") && has_learned(inst, 3, "bias");
    if (!learned || has_open_arguments(inst)) return NULL;
    Val *weight = attr_named(f, inst, "weight");
    Val *parts[5] = {x, val_none(&f->flow->graph), weight, attr_named(f, inst, "bias"),
                     attr_named(f, inst, "eps")};
    return op_make(f->flow, OP_LAYER_NORM, parts, 5);
}

// nn.GroupNorm(n, c)(x)  ->  group_norm(x, n, weight, bias, eps)
static Val *call_group_norm(Frame *f, Val *inst, Val *x) {
    if (!has_learned(inst, 3, "affine") || has_open_arguments(inst)) return NULL;
    Val *parts[5] = {x, attr_named(f, inst, "num_groups"), attr_named(f, inst, "weight"),
                     attr_named(f, inst, "bias"), attr_named(f, inst, "eps")};
    return op_make(f->flow, OP_GROUP_NORM, parts, 5);
}

// torch.nn modules whose call is one operator.
Val *call_nn(Frame *f, Node *node, Val *inst, Val *const *args,
                    uint32_t nargs) {
    Graph *g = &f->flow->graph;
    Str name = inst->text;
    if (nargs != 1 || !is_argument(args[0])) return NULL;
    Val *x = args[0];
    static const struct {
        const char *name;
        Op op;
    } unary[] = {
        {"torch.nn.SiLU", OP_SILU}, {"torch.nn.Sigmoid", OP_SIGMOID},
        {"torch.nn.Tanh", OP_TANH}, {"torch.nn.ReLU", OP_RELU},
    };
    for (size_t i = 0; i < COUNT(unary); i++) {
        if (!str_is(name, unary[i].name)) continue;
        return op_make(f->flow, unary[i].op, &x, 1);
    }
    if (str_is(name, "torch.nn.Identity")) return x;
    if (str_is(name, "torch.nn.Sequential")) return call_sequential(f, node, inst, x);
    if (str_is(name, "torch.nn.GELU")) {
        Val *approximate = instance_arg(inst, 0, "approximate");
        if (!approximate) approximate = val_str(g, STR("none"));
        const Sym *attr = sym_find(f->flow->symbols, STR("approximate"));
        if (attr_is_stored(f->mf, attr)) return NULL;
        return val_new2(g, OP_GELU, x, approximate);
    }
    const char *kind = library_gelu_kind(name);
    if (kind) return val_new2(g, OP_GELU, x, val_str(g, str_of(kind)));
    if (str_is(name, "torch.nn.Dropout")) {
        Val *parts[4] = {x, attr_named(f, inst, "p"), attr_named(f, inst, "training"),
                         val_bool(g, false)};
        return val_unique(g, OP_DROPOUT, parts, 4);
    }
    if (str_is(name, "torch.nn.Softmax")) {
        Val *dim = instance_arg(inst, 0, "dim");
        return val_new3(g, OP_SOFTMAX, x, dim ? dim : val_none(g), val_none(g));
    }
    if (str_is(name, "torch.nn.LayerNorm")) return call_layer_norm(f, inst, x);
    if (str_is(name, "torch.nn.GroupNorm")) return call_group_norm(f, inst, x);
    if (str_is(name, "torch.nn.GLU")) {
        Val *dim = instance_arg(inst, 0, "dim");
        return val_new2(g, OP_GLU, x, dim ? dim : val_int(g, -1));
    }
    return NULL;
}

Val *call_nn_behind(Frame *f, Val *value, const Val *inst, Val *subject) {
    if (value->op != OP_LAYER_NORM && value->op != OP_GROUP_NORM) return value;
    Val *parts[5];
    if (value->nargs != COUNT(parts)) return value;
    for (uint32_t i = 0; i < value->nargs; i++) {
        Val *part = value->args[i];
        bool read = part->op == V_ATTR && part->args[0] == inst;
        parts[i] = read ? val_attr(&f->flow->graph, subject, part->name) : part;
    }
    return op_make(f->flow, (Op)value->op, parts, COUNT(parts));
}
