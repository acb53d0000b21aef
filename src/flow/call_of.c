// call_of.c - receiver and arguments of a call by its last name.
#include "base/base.h"

#include "flow/call_of.h"

static const char *last_name(const Val *callee) {
    if (callee->op == V_ATTR) return callee->name->text;
    if (callee->op != V_GLOBAL) return "";
    const char *end = callee->text.at + callee->text.len;
    const char *at = end;
    while (at > callee->text.at && at[-1] != '.') at--;
    return at; // NUL terminated as all dotted names are
}

static bool is_method(const Val *call) {
    return call->args[0]->op == V_ATTR;
}

// An operator that the graph has a row for by now.
static bool is_operator(const Val *v, const char *name) {
    return v->op > V_CAST && v->nargs && strcmp(op_name((Op)v->op), name) == 0;
}

Val *value_of_call(Val *v, const char *name) {
    if (v && is_operator(v, name)) return v->args[0];
    if (!v || v->op != V_CALL || !v->nargs) return NULL;
    const Val *callee = v->args[0];
    const char *last = last_name(callee);
    size_t n = strlen(name);
    if (strncmp(last, name, n) != 0) return NULL;
    size_t len = callee->op == V_ATTR ? callee->name->len
                                      : (size_t)(callee->text.at + callee->text.len - last);
    if (len != n) return NULL;
    if (is_method(v)) return callee->args[0];
    return v->nargs > 1 && v->args[1]->op != V_KEYWORD ? v->args[1] : NULL;
}

Val *value_argument(Val *v, uint32_t index, const char *keyword) {
    if (v->op > V_CAST) return index + 1 < v->nargs ? v->args[index + 1] : NULL;
    uint32_t first = is_method(v) ? 1 : 2, at = 0;
    for (uint32_t i = first; i < v->nargs; i++) {
        Val *arg = v->args[i];
        if (arg->op == V_KEYWORD) {
            if (arg->name && strcmp(arg->name->text, keyword) == 0) return arg->args[0];
        } else if (at++ == index) {
            return arg;
        }
    }
    return NULL;
}

bool arg_is_positional(const Val *arg) {
    return arg->op != V_KEYWORD && arg->op != V_STAR;
}

Val *keyword_arg(Val *const *args, uint32_t nargs, const char *name) {
    for (uint32_t i = 0; i < nargs; i++) {
        if (args[i]->op == V_KEYWORD && args[i]->name &&
            str_is(sym_str(args[i]->name), name)) {
            return args[i]->args[0];
        }
    }
    return NULL;
}

Val *like_of_new(const Val *v) {
    if (v->op == OP_ZEROS_LIKE) return v->nargs == 1 ? v->args[0] : NULL;
    bool one = v->op == V_CALL && v->nargs == 2 && v->args[0]->op == V_GLOBAL;
    if (!one || !arg_is_positional(v->args[1])) return NULL;
    return str_is(v->args[0]->text, "torch.empty_like") ? v->args[1] : NULL;
}

bool call_only_makes(const Val *callee) {
    static const char *const makers[] = {
        "torch.finfo", "torch.iinfo", "torch.tensor", "torch.arange", "torch.device",
        "torch.as_tensor", "len", "range",
    };
    if (callee->op != V_GLOBAL) return false;
    for (size_t i = 0; i < COUNT(makers); i++) {
        if (str_is(callee->text, makers[i])) return true;
    }
    return false;
}
