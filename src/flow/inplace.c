// inplace.c - which calls write into the tensor that they are given.
#include "base/base.h"

#include "flow/inplace.h"

#include "flow/call_of.h"

bool sym_ends_in_place(const Sym *name) {
    Str text = sym_str(name);
    return text.len > 2 && text.at[text.len - 1] == '_' && text.at[text.len - 2] != '_' &&
           !str_is(text, "requires_grad_") && !str_is(text, "share_memory_");
}

bool call_says_inplace(Str callee, Val *const *args, uint32_t nargs) {
    static const char *const names[] = {"leaky_relu", "elu", "relu6", "hardswish", "selu", "celu",
                                        "mish", "threshold", "hardsigmoid", "rrelu"};
    const Val *given = keyword_arg(args, nargs, "inplace");
    if (given) return val_truth(given) == 1;
    if (!str_starts(callee, "torch.nn.functional.") || nargs < 2) return false;
    for (size_t i = 0; i < COUNT(names); i++) {
        if (str_is(str_last_part(callee), names[i])) return val_truth(args[nargs - 1]) == 1;
    }
    return false;
}

bool module_is_inplace(const Val *inst) {
    static const char *const names[] = {
        "ReLU", "ReLU6", "SiLU", "LeakyReLU", "ELU", "SELU", "CELU", "Mish", "Threshold", "RReLU",
        "Hardswish", "Hardsigmoid", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d",
        "AlphaDropout",
    };
    const Val *given = keyword_arg(inst->args, inst->nargs, "inplace");
    if (given || inst->nargs == 0) return given && val_truth(given) == 1;
    const Val *last = inst->args[inst->nargs - 1];
    bool yes = last->op == V_CONST && last->ck == CONST_TRUE;
    for (size_t i = 0; yes && i < COUNT(names); i++) {
        if (str_is(str_last_part(inst->text), names[i])) return true;
    }
    return false;
}
