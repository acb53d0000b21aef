// call_cast.c - which dtype a call of a cast, or of a constructor, asks for.
#include "base/base.h"

#include "flow/call_cast.h"

#include "flow/call_of.h"

static const char *cast_method_dtype(Str method) {
    static const struct {
        const char *method, *dtype;
    } rows[] = {
        {"float", "torch.float32"}, {"half", "torch.float16"},
        {"bfloat16", "torch.bfloat16"}, {"double", "torch.float64"},
        {"int", "torch.int32"}, {"long", "torch.int64"},
        {"short", "torch.int16"}, {"char", "torch.int8"},
        {"byte", "torch.uint8"}, {"bool", "torch.bool"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (str_is(method, rows[i].method)) return rows[i].dtype;
    }
    return NULL;
}

// torch.float -> torch.float32 and its like: one name a dtype.
static Val *canonical_dtype(Flow *flow, Val *dtype) {
    static const struct {
        const char *alias, *name;
    } rows[] = {
        {"torch.float", "torch.float32"}, {"torch.half", "torch.float16"},
        {"torch.double", "torch.float64"}, {"torch.long", "torch.int64"},
        {"torch.int", "torch.int32"},
    };
    if (dtype->op != V_GLOBAL) return dtype;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (str_is(dtype->text, rows[i].alias)) {
            return val_global(&flow->graph, str_of(rows[i].name));
        }
    }
    return dtype;
}

static bool is_device(const Val *arg) {
    if (arg->op == V_CONST) return true; // "cuda", 0, True
    if (arg->op == V_ATTR) return str_is(sym_str(arg->name), "device");
    return arg->op == V_CALL && arg->args[0]->op == V_GLOBAL &&
           str_is(arg->args[0]->text, "torch.device");
}

// What one argument of x.to(...) says about the dtype; NULL: nothing.
static Val *dtype_of_arg(Flow *flow, Val *arg) {
    if (is_device(arg)) return NULL;
    bool dtype = arg->op == V_DTYPE || arg->op == V_PHI || arg->op == V_PROMOTE ||
                 (arg->op == V_GLOBAL && str_starts(arg->text, "torch."));
    if (dtype) return canonical_dtype(flow, arg);
    if (arg->op == V_ATTR || arg->op == V_PARAM || arg->op == V_OPAQUE ||
        arg->op == V_ITEM || arg->op == V_GLOBAL || arg->op == V_CALL) {
        // A dtype, a device or a tensor: a cast to what only run time knows,
        // unless it is a tensor that the graph knows.
        return arg;
    }
    return op_dtype(flow, arg); // x.to(y)
}

// Whether `v` is computed with, as a tensor or number is and no dtype or device.
static bool is_operand(const Val *of, const Val *v, int depth, int *steps) {
    if (depth > 16 || ++*steps > 100) return false;
    if (of->op < V_CAST && of->op != V_PART) return false;
    for (uint32_t i = 0; i < of->nargs && i < 2; i++) {
        if (of->args[i] == v) return i == 0 || of->op == OP_MUL;
        if (is_operand(of->args[i], v, depth + 1, steps)) return true;
    }
    return false;
}

// x.to(y): of a y that nothing is known of, what it is.
static Val *dtype_beside(Frame *f, Val *x, Val *arg) {
    int steps = 0;
    Val *made = arg->op == V_ATTR && object_class(arg->args[0])
                    ? object_attr(f->flow, arg->args[0], arg->name) : NULL;
    bool tensor = (made && made->op == OP_PARAMETER) ||
                  (arg->op == V_PARAM && is_operand(x, arg, 0, &steps));
    return tensor ? op_dtype(f->flow, arg) : dtype_of_arg(f->flow, arg);
}

static Val *call_to(Frame *f, Val *x, Val *const *args, uint32_t nargs) {
    Val *dtype = keyword_arg(args, nargs, "dtype");
    if (dtype) dtype = canonical_dtype(f->flow, dtype);
    for (uint32_t i = 0; i < nargs && !dtype; i++) {
        if (args[i]->op == V_STAR || (args[i]->op == V_KEYWORD && !args[i]->name)) {
            return NULL;
        }
        if (!arg_is_positional(args[i])) {
            if (str_is(sym_str(args[i]->name), "other")) {
                dtype = op_dtype(f->flow, args[i]->args[0]);
            }
            continue;
        }
        dtype = dtype_beside(f, x, args[i]);
    }
    return dtype && !val_is_none(dtype) ? op_cast(f->flow, x, dtype) : x;
}

Val *call_cast(Frame *f, Val *x, Str name, Val *const *args, uint32_t nargs) {
    const char *fixed = cast_method_dtype(name);
    if (fixed && nargs == 0) {
        return op_cast(f->flow, x, val_global(&f->flow->graph, str_of(fixed)));
    }
    if (str_is(name, "to")) return call_to(f, x, args, nargs);
    if (nargs != 1 || !arg_is_positional(args[0])) return NULL;
    if (str_is(name, "type_as")) {
        return op_cast(f->flow, x, op_dtype(f->flow, args[0]));
    }
    if (str_is(name, "type") && args[0]->op != V_CONST) {
        return op_cast(f->flow, x, canonical_dtype(f->flow, args[0]));
    }
    return NULL;
}

bool call_makes_booleans(Flow *flow, const Val *made, Val *const *args, uint32_t nargs) {
    switch ((int)made->op) {
    case OP_ONES: case OP_ZEROS: case OP_FULL: case OP_ONES_LIKE: case OP_ZEROS_LIKE: break;
    default: return false;
    }
    Val *dtype = keyword_arg(args, nargs, "dtype");
    if (dtype) return val_is_global(canonical_dtype(flow, dtype), "torch.bool");
    const Val *fill = made->op == OP_FULL ? made->args[1] : NULL;
    return fill && fill->op == V_CONST && (fill->ck == CONST_TRUE || fill->ck == CONST_FALSE);
}
