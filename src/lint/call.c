// call.c - which values are calls of torch_npu, and what their arguments mean.
#include "base/base.h"

#include "lint/call.h"

static Str operator_name(const Val *callee) {
    static const char *const prefixes[] = {"torch_npu.", "torch.ops.npu."};
    if (callee->op != V_GLOBAL) return STR("");
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        size_t n = strlen(prefixes[i]);
        if (!str_starts(callee->text, prefixes[i])) continue;
        Str name = {callee->text.at + n, callee->text.len - n};
        // torch.ops.npu.npu_x.default is npu_x.
        return str_take(&name, '.');
    }
    return STR("");
}

// How many of the call's arguments the schema can take; false: one cannot.
static bool fits(const Schema *schema, const Val *call) {
    uint32_t places = 0, given = 0;
    while (places < schema->args.len && !schema->args.at[places].keyword_only) places++;
    for (uint32_t i = 1; i < call->nargs; i++) {
        const Val *arg = call->args[i];
        if (arg->op == V_KEYWORD && arg->name) {
            if (!schema_arg(schema, sym_str(arg->name))) return false;
        } else if (arg->op != V_KEYWORD) {
            given++;
        }
    }
    return given <= places;
}

// The installed overload that takes the arguments, else the first of the name.
static const Schema *installed_schema(const Book *book, Str name, const Val *call) {
    uint32_t first = book_first(book, name);
    const Schema *at = book->library.schemas.at;
    for (uint32_t i = first; i < book->library.schemas.len; i++) {
        if (!str_eq(at[i].name, name)) break;
        if (fits(&at[i], call)) return &at[i];
    }
    return first < book->library.schemas.len ? &at[first] : NULL;
}

static void choose_schema(NpuCall *out, const CallBook *book) {
    if (book->book && book_has_library(book->book)) {
        out->schema = installed_schema(book->book, out->name, out->val);
        out->installed = out->schema != NULL;
    }
    if (!out->schema && out->op) out->schema = &out->op->schema;
}

static void place_keyword(NpuCall *out, Val *arg) {
    if (!arg->name) {
        out->open = true;
        return;
    }
    for (uint32_t k = 0; k < out->schema->args.len && k < CALL_MAX_ARGS; k++) {
        if (str_eq(out->schema->args.at[k].name, sym_str(arg->name))) {
            out->args[k] = arg->args[0];
        }
    }
}

static void place_arguments(NpuCall *out) {
    uint32_t at = 0;
    if (!out->schema) return;
    for (uint32_t i = 1; i < out->val->nargs; i++) {
        Val *arg = out->val->args[i];
        if (arg->op == V_KEYWORD) {
            place_keyword(out, arg);
        } else if (arg->op == V_STAR) {
            out->open = true;
            at = CALL_MAX_ARGS; // what follows has no known place
        } else if (at < CALL_MAX_ARGS && at < out->schema->args.len) {
            out->args[at++] = arg;
        }
    }
}

bool npu_call(NpuCall *out, Frame *frame, const EvalRecord *record, const CallBook *book) {
    Val *val = record->val;
    if (!val || val->op != V_CALL || !val->nargs || record->node->kind != N_CALL) return false;
    Str name = operator_name(val->args[0]);
    if (!name.len) return false;
    *out = (NpuCall){.frame = frame, .record = record, .val = val, .node = record->node,
                     .name = name, .api = val->args[0]->text};
    out->op = operators_find(book->operators, name);
    NodeList args = record->node->u.call.args, keywords = record->node->u.call.keywords;
    out->partial = args.len + keywords.len + 1 != val->nargs;
    choose_schema(out, book);
    place_arguments(out);
    return true;
}

int call_role(const NpuCall *call, const char *role) {
    if (!call->op || !call->schema) return -1;
    for (uint32_t i = 0; i < call->op->roles.len; i++) {
        const OperatorRole *r = &call->op->roles.at[i];
        if (!str_is(r->role, role)) continue;
        for (uint32_t k = 0; k < call->schema->args.len && k < CALL_MAX_ARGS; k++) {
            if (str_eq(call->schema->args.at[k].name, r->param)) return (int)k;
        }
    }
    return -1;
}

Val *call_role_value(const NpuCall *call, const char *role) {
    int at = call_role(call, role);
    return at < 0 ? NULL : call->args[at];
}

bool call_leaves_out(const NpuCall *call, const char *role) {
    int at = call_role(call, role);
    return at >= 0 && !call->args[at] && !call->open;
}

Node *call_arg_node(const NpuCall *call, int index) {
    NodeList args = call->node->u.call.args, keywords = call->node->u.call.keywords;
    if (index < 0 || call->partial) return call->node;
    if ((uint32_t)index < args.len) return args.at[index];
    for (uint32_t i = 0; i < keywords.len; i++) {
        const Sym *name = keywords.at[i]->u.keyword.name;
        if (name && str_eq(call->schema->args.at[index].name, sym_str(name))) {
            return keywords.at[i]->u.keyword.value;
        }
    }
    return call->node;
}
