// libraries.c - what a public library has under names: activations and functions.
//
// Code outside transformers writes ACT2FN[config.hidden_act] and is read without
// transformers beside it. What the library's own files have under a name is
// said here once; a guard asks the object at run time. Code that puts an attention of its
// own into the library's models takes their rotate_half, which has been the same in
// every release.
#include "base/base.h"

#include <stdio.h>

#include "flow/libraries.h"

#include "flow/call_of.h"

// A relative import that leads out of the project is known by its last names.
static const char *const tables[] = {
    "transformers.activations.ACT2FN", "activations.ACT2FN",
};

static const char *const factories[] = {
    "transformers.activations.get_activation",
};

// Class names by release: `made`, and before it `once`.
static const struct {
    const char *key, *made, *once;
} activations[] = {
    {"silu", "torch.nn.SiLU", "SiLUActivation"},
    {"swish", "torch.nn.SiLU", "SiLUActivation"},
    {"gelu", "transformers.activations.GELUActivation", NULL},
    {"gelu_pytorch_tanh", "transformers.activations.GELUTanh", "PytorchGELUTanh"},
    {"relu", "torch.nn.ReLU", NULL},
    {"sigmoid", "torch.nn.Sigmoid", NULL},
    {"tanh", "torch.nn.Tanh", NULL},
};

static bool is_one_of(Str name, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (str_is(name, names[i])) return true;
    }
    return false;
}

bool library_has_activations(const Val *holder) {
    if (holder->op != V_GLOBAL) return false;
    return is_one_of(holder->text, tables, COUNT(tables)) ||
           is_one_of(holder->text, factories, COUNT(factories));
}

Val *library_activation(Flow *flow, const Val *holder, const Val *key) {
    if (!library_has_activations(holder)) return NULL;
    if (key->op != V_CONST || key->ck != CONST_STR) return NULL;
    for (size_t i = 0; i < COUNT(activations); i++) {
        if (!str_is(key->text, activations[i].key)) continue;
        Val *inst = val_unique(&flow->graph, V_INSTANCE, NULL, 0);
        inst->text = str_of(activations[i].made);
        inst->ptr = activations[i].once;
        return inst;
    }
    return NULL;
}

const char *library_gelu_kind(Str class_name) {
    if (str_is(class_name, "transformers.activations.GELUActivation")) return "none";
    return str_is(class_name, "transformers.activations.GELUTanh") ? "tanh" : NULL;
}

// The models whose rotate_half is cat((-x2, x1)) of the halves x1 and x2. Others turn
// neighbours, under the same name.
static const char *const half_turning[] = {
    "falcon", "gemma", "gemma2", "gpt_neox", "llama", "mistral", "mixtral", "olmo", "olmo2",
    "persimmon", "phi", "phi3", "qwen2", "qwen2_moe", "qwen2_vl", "qwen3", "stablelm",
    "starcoder2",
};

// transformers.models.M.modeling_M.rotate_half of such a model.
static bool turns_halves(Str dotted) {
    char wanted[128];
    for (size_t i = 0; i < COUNT(half_turning); i++) {
        snprintf(wanted, sizeof(wanted), "transformers.models.%s.modeling_%s.rotate_half",
                 half_turning[i], half_turning[i]);
        if (str_is(dotted, wanted)) return true;
    }
    return false;
}

Val *library_call(Frame *f, Str dotted, Val *const *args, uint32_t nargs) {
    if (nargs != 1 || !arg_is_positional(args[0]) || !str_starts(dotted, "transformers.models.")) {
        return NULL;
    }
    if (!turns_halves(dotted)) return NULL;
    Graph *g = &f->flow->graph;
    Val *last = val_int(g, -1);
    Val *halves = op_make(f->flow, OP_CHUNK, (Val *[]){args[0], val_int(g, 2), last}, 3);
    Val *first = eval_item(f, halves, val_int(g, 0)), *second = eval_item(f, halves, val_int(g, 1));
    Val *turned[] = {op_make(f->flow, OP_NEG, &second, 1), first};
    return op_make(f->flow, OP_CAT, (Val *[]){val_new(g, V_TUPLE, turned, 2), last}, 2);
}
