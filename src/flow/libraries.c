// libraries.c - activations that a public library keeps under names.
//
// Code outside transformers writes ACT2FN[config.hidden_act] and is read without
// transformers beside it. What the library's own files have under a name is
// said here once; a guard asks the object at run time.
#include "base/base.h"

#include "flow/libraries.h"

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
