// call.c - which values are calls of torch_npu, and what their arguments mean.
#include "base/base.h"

#include "lint/call.h"

// What the schemas of ops/ were read from.
#define OPERATORS_VERSION "torch_npu 2.13.0"

enum { WALK_MAX_DEPTH = 200 };

// "npu_x" of torch_npu.npu_x and torch.ops.npu.npu_x.out, with the overload.
static Str operator_name(const Val *callee, Str *overload) {
    static const char *const prefixes[] = {"torch_npu.", "torch.ops.npu."};
    if (callee->op != V_GLOBAL) return STR("");
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        size_t n = strlen(prefixes[i]);
        if (!str_starts(callee->text, prefixes[i])) continue;
        *overload = (Str){callee->text.at + n, callee->text.len - n};
        return str_take(overload, '.');
    }
    return STR("");
}

static bool is_given(const Schema *schema, uint32_t index, uint32_t places, const Val *call) {
    if (index < places) return true;
    for (uint32_t i = 1; i < call->nargs; i++) {
        const Val *arg = call->args[i];
        if (arg->op == V_STAR || (arg->op == V_KEYWORD && !arg->name)) return true;
        bool named = arg->op == V_KEYWORD && arg->name;
        if (named && str_eq(schema->args.at[index].name, sym_str(arg->name))) return true;
    }
    return false;
}

// Whether the schema has every argument of the call, and the call every one that
// the schema needs.
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
    for (uint32_t i = 0; i < schema->args.len; i++) {
        if (!schema->args.at[i].has_fallback && !is_given(schema, i, given, call)) return false;
    }
    return given <= places;
}

// Whether the call may mean this schema: any, or the one it names.
static bool is_asked_for(const Schema *schema, Str overload) {
    if (!overload.len) return true;
    return str_is(overload, "default") ? !schema->overload.len
                                       : str_eq(schema->overload, overload);
}

// The installed overload that takes the arguments, else the first that is asked for.
static const Schema *installed_schema(const Book *book, const NpuCall *call) {
    const Schema *at = book->library.schemas.at, *first = NULL;
    for (uint32_t i = book_first(book, call->name); i < book->library.schemas.len; i++) {
        if (!str_eq(at[i].name, call->name)) break;
        if (!is_asked_for(&at[i], call->overload)) continue;
        if (fits(&at[i], call->val)) return &at[i];
        if (!first) first = &at[i];
    }
    return first;
}

static const Schema *stated_schema(const Operator *op, const NpuCall *call) {
    const Schema *first = is_asked_for(&op->schema, call->overload) ? &op->schema : NULL;
    if (first && fits(first, call->val)) return first;
    for (uint32_t i = 0; i < op->overloads.len; i++) {
        const Schema *schema = &op->overloads.at[i];
        if (!is_asked_for(schema, call->overload)) continue;
        if (fits(schema, call->val)) return schema;
        if (!first) first = schema;
    }
    return first;
}

static void choose_schema(NpuCall *out, const CallBook *book) {
    if (book->book && book_has_library(book->book)) {
        out->schema = installed_schema(book->book, out);
        out->installed = out->schema != NULL;
    }
    if (out->installed) out->owner = book_title(out->frame->flow->arena, book->book);
    if (out->schema || !out->op) return;
    out->schema = stated_schema(out->op, out);
    out->owner = STR(OPERATORS_VERSION);
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

// npu_x(**options): what the dict was written with is known, but somebody who has it
// may have changed it since. **{...} is as it stands.
static bool spreads_names(const Node *call) {
    for (uint32_t i = 0; i < call->u.call.keywords.len; i++) {
        const Node *keyword = call->u.call.keywords.at[i];
        if (!keyword->u.keyword.name && keyword->u.keyword.value->kind != N_DICT) return true;
    }
    return false;
}

static bool make_call(NpuCall *out, Frame *frame, Val *val, const CallBook *book) {
    if (!val || val->op != V_CALL || !val->nargs || !val->node) return false;
    Str overload, name = operator_name(val->args[0], &overload);
    if (!name.len || val->node->kind != N_CALL) return false;
    *out = (NpuCall){.frame = frame, .val = val, .node = val->node, .module = val->module,
                     .name = name, .overload = overload,
                     .api = val->args[0]->text};
    out->op = operators_find(book->operators, name);
    out->removal = operators_removal(book->operators, name);
    NodeList args = val->node->u.call.args, keywords = val->node->u.call.keywords;
    out->partial = args.len + keywords.len + 1 != val->nargs;
    out->spreads = spreads_names(val->node);
    choose_schema(out, book);
    place_arguments(out);
    out->open |= out->spreads;
    // torch_npu.npu.synchronize() and the like are no operators.
    return out->schema || out->removal.len || str_starts(name, "npu_");
}

// A function that returns the call's value has it, too, where it is called.
static bool stands_here(const NpuCall *call, const EvalRecord *record) {
    return call->node == record->node && call->module == call->frame->module;
}

bool npu_call(NpuCall *out, Frame *frame, const EvalRecord *record, const CallBook *book) {
    if (!make_call(out, frame, record->val, book) || !stands_here(out, record)) return false;
    out->record = record;
    return true;
}

typedef struct LambdaSearch {
    const Node *call;
    bool found;
} LambdaSearch;

static bool search_lambda(Node *node, void *data) {
    LambdaSearch *search = data;
    if (search->call->start < node->start || search->call->end > node->end) return true;
    bool function = node->kind == N_FUNCTION_DEF || node->kind == N_ASYNC_FUNCTION_DEF;
    if (node->kind == N_LAMBDA) search->found = true;
    return !search->found && !function && node_children(node, search_lambda, data);
}

// In a lambda of the frame's function, which is nobody's root but its.
static bool is_own_lambda(const NpuCall *call) {
    const Node *fn = call->frame->fn;
    LambdaSearch search = {.call = call->node};
    if (!fn || call->module != call->frame->module) return false;
    if (call->node->start < fn->start || call->node->end > fn->end) return false;
    node_children(fn, search_lambda, &search);
    return search.found;
}

static bool see(CallWalk *walk, const Val *v) {
    if (v->id / 64 >= walk->seen_len) return true; // made after the walk began
    uint64_t bit = UINT64_C(1) << (v->id % 64);
    bool before = walk->seen[v->id / 64] & bit;
    walk->seen[v->id / 64] |= bit;
    return before;
}

// What is found is looked at after the walk: the caller's record may be gone by then.
static const EvalRecord *kept(const CallWalk *walk, const EvalRecord *record) {
    EvalRecord *copy = NEW(walk->frame->flow->arena, EvalRecord);
    *copy = *record;
    return copy;
}

static void walk_value(CallWalk *walk, const EvalRecord *record, Val *v, int depth) {
    NpuCall call;
    if (depth > WALK_MAX_DEPTH || see(walk, v)) return;
    if (make_call(&call, walk->frame, v, walk->book) && !stands_here(&call, record)) {
        call.record = kept(walk, record);
        call.through = is_own_lambda(&call) ? NULL : record->node;
        vec_push(walk->frame->flow->arena, &walk->found, call);
    }
    for (uint32_t i = 0; i < v->nargs; i++) walk_value(walk, record, v->args[i], depth + 1);
}

void npu_calls_through(CallWalk *walk, const EvalRecord *record) {
    if (!walk->seen) {
        walk->seen_len = walk->frame->flow->graph.next_id / 64 + 1;
        walk->seen = NEW_N(walk->frame->flow->arena, uint64_t, walk->seen_len);
    }
    if (record->val) walk_value(walk, record, record->val, 0);
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

bool call_has_role(const NpuCall *call, int index, const char *role) {
    if (!call->op || !call->schema || index < 0) return false;
    for (uint32_t i = 0; i < call->op->roles.len; i++) {
        const OperatorRole *r = &call->op->roles.at[i];
        if (str_is(r->role, role) && str_eq(r->param, call->schema->args.at[index].name)) {
            return true;
        }
    }
    return false;
}

Val *call_role_value(const NpuCall *call, const char *role) {
    int at = call_role(call, role);
    return at < 0 ? NULL : call->args[at];
}

bool call_leaves_out(const NpuCall *call, const char *role) {
    int at = call_role(call, role);
    return at >= 0 && !call->args[at] && !call->open;
}

static bool is_written_in(const Val *v, const Node *node, const Module *module) {
    return v->node && node && v->module == module && v->node->start >= node->start &&
           v->node->end <= node->end;
}

bool call_keeps_list(const NpuCall *call, const Val *list) {
    const Frame *f = call->frame;
    if (is_written_in(list, call->node, call->module)) return true;
    if (is_written_in(list, call->through, f->module)) return true;
    // Every empty list is one value.
    if (list->nargs == 0 || !is_written_in(list, f->fn, f->module)) return false;
    for (uint32_t i = 0; i < f->evals.len; i++) {
        const Val *v = f->evals.at[i].val;
        if (!v || v->op != V_CALL || v->args[0]->op != V_ATTR) continue;
        if (v->args[0]->args[0] == list) return false;
    }
    return true;
}

Node *call_arg_node(const NpuCall *call, int index) {
    NodeList args = call->node->u.call.args, keywords = call->node->u.call.keywords;
    if (index < 0 || call->partial || call->through) return call->node;
    for (uint32_t i = 0; i < args.len && i <= (uint32_t)index; i++) {
        if (args.at[i]->kind == N_STARRED) break;
        if (i == (uint32_t)index) return args.at[i];
    }
    for (uint32_t i = 0; i < keywords.len; i++) {
        const Sym *name = keywords.at[i]->u.keyword.name;
        if (name && str_eq(call->schema->args.at[index].name, sym_str(name))) {
            return keywords.at[i]->u.keyword.value;
        }
    }
    return call->node;
}
