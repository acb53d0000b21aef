// recall.c - see recall.h.
#include "base/base.h"

#include "flow/recall.h"

enum {
    RECALL_MAX_BYTES = 2 * 1024 * 1024,
    VALS_MAX = 256, // of a result or of arguments
    KEY_DEPTH = 8,
};

// A value without a graph: arguments are indices of the list it stands in.
typedef struct KeptVal {
    Val val; // args NULL
    uint32_t *args;
    uint32_t before; // of an opaque value, plus 1: what it was before it changed
    bool unique;
} KeptVal;

typedef struct KeptList {
    KeptVal *at;
    uint32_t len;
} KeptList;

struct RecallEntry {
    RecallEntry *chain;
    const Node *fn;
    uint32_t hash, depth, nargs;
    uint32_t *arg_roots; // in `args`
    KeptList args, result; // the result's root is the last
    uint32_t inlined, budget, work, effects;
};

void recall_init(Recall *recall) {
    *recall = (Recall){0};
    arena_init(&recall->arena);
}

void recall_free(Recall *recall) {
    arena_free(&recall->arena);
}

static void open_table(Recall *recall, uint64_t epoch) {
    if (recall->cap && recall->epoch == epoch) return;
    arena_clear(&recall->arena);
    recall->cap = 1024;
    recall->len = 0;
    recall->slots = NEW_N(&recall->arena, RecallEntry *, recall->cap);
    recall->epoch = epoch;
}

// ---- arguments ----------------------------------------------------------------

static uint32_t mix(uint32_t h, uint64_t x) {
    h ^= (uint32_t)(x ^ (x >> 32));
    h *= 0x9e3779b1u;
    return h ^ (h >> 15);
}

// Of what is the same in every file; 0 of other values.
static uint32_t hash_arg(const Val *v, int depth) {
    if (depth > KEY_DEPTH || v->assume || v->nargs > VALS_MAX) return 0;
    uint32_t h = mix(v->op * 31u + v->ck, v->nargs);
    switch ((int)v->op) {
    case V_CONST: case V_GLOBAL: {
        uint64_t bits;
        memcpy(&bits, &v->num, sizeof(bits));
        h = mix(h, bits);
        if (v->text.len) h = mix(h, hash_bytes(HASH_SEED, v->text.at, v->text.len));
        break;
    }
    case V_KEYWORD: case V_TUPLE: case V_LIST:
        h = mix(h, (uintptr_t)v->name);
        for (uint32_t i = 0; i < v->nargs; i++) {
            uint32_t part = hash_arg(v->args[i], depth + 1);
            if (!part) return 0;
            h = mix(h, part);
        }
        break;
    default:
        return 0;
    }
    return h ? h : 1;
}

static bool same_arg(const KeptList *kept, uint32_t index, const Val *v) {
    const KeptVal *k = &kept->at[index];
    if (k->val.op != v->op || k->val.ck != v->ck || k->val.nargs != v->nargs ||
        k->val.name != v->name || memcmp(&k->val.num, &v->num, sizeof(v->num)) != 0 ||
        !str_eq(k->val.text, v->text)) {
        return false;
    }
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (!same_arg(kept, k->args[i], v->args[i])) return false;
    }
    return true;
}

static uint32_t hash_call(const RecallCall *call) {
    uint32_t h = mix(call->depth, (uintptr_t)call->callee->def->node);
    for (uint32_t i = 0; i < call->nargs; i++) {
        uint32_t part = hash_arg(call->args[i], 0);
        if (!part) return 0;
        h = mix(h, part);
    }
    return h ? h : 1;
}

static bool same_call(const RecallEntry *entry, const RecallCall *call) {
    if (entry->hash != call->hash || entry->fn != call->callee->def->node ||
        entry->depth != call->depth || entry->nargs != call->nargs) {
        return false;
    }
    for (uint32_t i = 0; i < call->nargs; i++) {
        if (!same_arg(&entry->args, entry->arg_roots[i], call->args[i])) return false;
    }
    return true;
}

// ---- copies out of a graph ------------------------------------------------------

typedef struct Copy {
    Arena *arena;
    const Flow *flow;
    const RecallCall *call;
    KeptVal vals[VALS_MAX];
    const Val *from[VALS_MAX];
    uint32_t len;
} Copy;

// Lists that are not filled are left as they are: they are large.
static void start_copy(Copy *copy, const RecallCall *call) {
    copy->flow = call->caller->flow;
    copy->arena = &copy->flow->recall->arena;
    copy->call = call;
    copy->len = 0;
}

// Whether the value would be the same object for another reader, too.
static bool is_shared(const Copy *copy, const Val *v) {
    if (v->id < copy->call->first_id) return true;
    const Flow *flow = copy->flow;
    for (uint32_t i = copy->call->made; i < flow->made.len; i++) {
        if (v->id >= flow->made.at[i].from && v->id < flow->made.at[i].to) return true;
    }
    return false;
}

static bool can_keep(const Copy *copy, const Val *v) {
    // What an opaque value was before it changed was of this call alone (writes_show).
    bool own = !v->ptr || v->op == V_MODULE || v->op == V_OPAQUE;
    if (v->assume || v->rank || !own) return false;
    switch ((int)v->op) {
    case V_CONST: case V_GLOBAL: case V_MODULE: case V_FUNCTION: case V_CLASS:
    case V_TUPLE: case V_LIST: case V_DICT: case V_ATTR: case V_ITEM: case V_SLICE:
    case V_KEYWORD: case V_STAR: case V_PHI: case V_PYOP:
        break;
    case V_INSTANCE: case V_CALL: case V_OPAQUE:
        break;
    default:
        return false;
    }
    return v->hash || !is_shared(copy, v);
}

static Def *copy_def(Arena *arena, const Def *def) {
    if (!def) return NULL;
    Def *copy = NEW(arena, Def);
    *copy = *def;
    copy->dotted = arena_str(arena, def->dotted);
    return copy;
}

static uint32_t copy_val(Copy *copy, const Val *v);

// What the value was before it changed: storage that the two share. It is made before, or
// the chain might close.
static bool copy_before(Copy *copy, const Val *v, uint32_t *out) {
    const Val *before = v->op == V_OPAQUE ? v->ptr : NULL;
    if (before && before->id < v->id) *out = copy_val(copy, before);
    return !before || *out;
}

// The index in the list plus 1; 0 where the value is none that can be kept.
static uint32_t copy_val(Copy *copy, const Val *v) {
    for (uint32_t i = 0; i < copy->len; i++) {
        if (copy->from[i] == v) return i + 1;
    }
    if (!can_keep(copy, v) || v->nargs > VALS_MAX) return 0;
    uint32_t *args = NEW_N(copy->arena, uint32_t, v->nargs + 1);
    for (uint32_t i = 0; i < v->nargs; i++) {
        uint32_t index = copy_val(copy, v->args[i]);
        if (!index) return 0;
        args[i] = index - 1;
    }
    uint32_t before = 0;
    if (!copy_before(copy, v, &before) || copy->len == VALS_MAX) return 0;
    KeptVal *kept = &copy->vals[copy->len];
    copy->from[copy->len++] = v;
    *kept = (KeptVal){.args = args, .before = before, .unique = v->hash == 0};
    kept->val = (Val){.op = v->op, .ck = v->ck, .flags = v->flags, .nargs = v->nargs,
                      .name = v->name, .num = v->num};
    if (v->op == V_MODULE) kept->val.ptr = v->ptr; // others are of the file, as `before`
    kept->val.text = arena_str(copy->arena, v->text);
    kept->val.def = copy_def(copy->arena, v->def);
    // What is shared may have been met first in another module, by chance.
    bool own = v->module == copy->call->callee->def->module || kept->unique;
    kept->val.node = own ? v->node : NULL;
    kept->val.module = own ? v->module : NULL;
    if (v->op == V_FUNCTION || v->op == V_CLASS) { // as eval_def makes it
        kept->val.node = NULL;
        kept->val.module = v->def->module;
    }
    return copy->len;
}

static KeptList copy_list(const Copy *copy) {
    KeptList list = {NEW_N(copy->arena, KeptVal, copy->len + 1), copy->len};
    memcpy(list.at, copy->vals, sizeof(KeptVal) * copy->len);
    return list;
}

static bool copy_args(Copy *copy, RecallEntry *entry) {
    const RecallCall *call = copy->call;
    entry->arg_roots = NEW_N(copy->arena, uint32_t, call->nargs + 1);
    for (uint32_t i = 0; i < call->nargs; i++) {
        uint32_t index = copy_val(copy, call->args[i]);
        if (!index) return false;
        entry->arg_roots[i] = index - 1;
    }
    entry->args = copy_list(copy);
    return true;
}

// Whether somebody else may see an attribute that was set while the call was read.
static bool changes_show(const Copy *copy) {
    const Run *run = copy->call->caller->run;
    for (uint32_t i = copy->call->changed; i < run->changed.len; i++) {
        const Val *v = run->changed.at[i];
        while (v->op == V_ATTR || v->op == V_ITEM) v = v->args[0];
        if (v->op == V_GLOBAL) continue; // never read as changed
        if (v->hash || is_shared(copy, v)) return true;
        for (uint32_t k = 0; k < copy->len; k++) {
            if (copy->from[k] == v) return true;
        }
    }
    return false;
}

// Whether somebody else may see what was changed in place while the call was read. A
// list or dict is one only of who was given it: equal ones are one value.
static bool writes_show(const Copy *copy) {
    const Flow *flow = copy->flow;
    for (uint32_t i = copy->call->written; i < flow->written.len; i++) {
        const Val *v = flow->written.at[i];
        bool container = v->op == V_LIST || v->op == V_DICT || v->op == V_TUPLE;
        if (!container && (v->hash || is_shared(copy, v))) return true;
        for (uint32_t k = 0; container && k < copy->call->nargs; k++) {
            if (val_holds(copy->call->args[k], v)) return true;
        }
    }
    return false;
}

// ---- copies into a graph --------------------------------------------------------

static Val *make_val(Graph *g, const KeptVal *kept, Val **made) {
    Val v = kept->val;
    Val *args[VALS_MAX];
    for (uint32_t i = 0; i < v.nargs; i++) args[i] = made[kept->args[i]];
    v.args = args;
    if (kept->before) v.ptr = made[kept->before - 1];
    Val *val;
    if (kept->unique) {
        val = val_unique(g, (Op)v.op, args, v.nargs);
        Val copy = v;
        copy.id = val->id;
        copy.args = val->args;
        if (copy.def) {
            copy.def = NEW(g->arena, Def);
            *copy.def = *v.def;
        }
        *val = copy;
    } else {
        Val plain = v;
        plain.node = NULL;
        if (v.op != V_FUNCTION && v.op != V_CLASS) plain.module = NULL;
        val = val_intern(g, &plain);
    }
    if (!val->node && v.node) {
        val->node = v.node;
        val->module = v.module;
    }
    return val;
}

static Val *make_result(Flow *flow, const KeptList *list) {
    Val *made[VALS_MAX];
    for (uint32_t i = 0; i < list->len; i++) {
        made[i] = make_val(&flow->graph, &list->at[i], made);
    }
    return made[list->len - 1];
}

// ---- keeping and finding --------------------------------------------------------

Val *recall_find(RecallCall *call) {
    Frame *f = call->caller;
    Flow *flow = f->flow;
    call->hash = 0;
    // What is read in these states is not what others would read.
    if (!flow->recall || flow->flags_open || flow->only_certain || f->rule) return NULL;
    call->hash = hash_call(call);
    if (!call->hash) return NULL;
    flow_module(flow, call->callee->def->module); // it is in sight
    Recall *recall = flow->recall;
    open_table(recall, flow->project->epoch);
    RecallEntry *entry = recall->slots[call->hash & (recall->cap - 1)];
    while (entry && !same_call(entry, call)) entry = entry->chain;
    if (!entry || f->run->budget < entry->budget) return NULL;
    if (!frame_may_inline(f, entry->inlined) ) return NULL;
    frame_may_work(f, entry->work);
    f->run->inlined += entry->inlined;
    f->run->budget -= entry->budget;
    frame_add_effects(f, entry->effects);
    return make_result(flow, &entry->result);
}

void recall_begin(RecallCall *call) {
    if (!call->hash) return;
    const Flow *flow = call->caller->flow;
    const Run *run = call->caller->run;
    call->taints = flow->taints;
    call->first_id = flow->graph.next_id;
    call->made = flow->made.len;
    call->inlined = run->inlined;
    call->budget = run->budget;
    call->work = run->work;
    call->effects = run->effects;
    call->changed = run->changed.len;
    call->written = flow->written.len;
}

void recall_keep(const RecallCall *call, const Val *result) {
    const Flow *flow = call->caller->flow;
    if (!call->hash || !result || flow->taints != call->taints) return;
    Recall *recall = flow->recall;
    if (recall->arena.total_bytes > RECALL_MAX_BYTES) return;
    Arena *arena = &recall->arena;
    ArenaMark mark = arena_mark(arena);
    RecallEntry *entry = NEW(arena, RecallEntry);
    Copy args, copy;
    start_copy(&args, call);
    start_copy(&copy, call);
    if (!copy_args(&args, entry) || !copy_val(&copy, result) || changes_show(&copy) ||
        writes_show(&copy)) {
        arena_reset(arena, mark);
        return;
    }
    const Run *run = call->caller->run;
    entry->result = copy_list(&copy);
    entry->fn = call->callee->def->node;
    entry->hash = call->hash;
    entry->depth = call->depth;
    entry->nargs = call->nargs;
    entry->inlined = run->inlined - call->inlined;
    entry->budget = call->budget - run->budget;
    entry->work = run->work - call->work;
    entry->effects = run->effects - call->effects;
    RecallEntry **slot = &recall->slots[call->hash & (recall->cap - 1)];
    entry->chain = *slot;
    *slot = entry;
    recall->len++;
}

uint32_t recall_made_from(const Flow *flow) {
    return flow->graph.next_id;
}

void recall_made_to(Flow *flow, uint32_t from) {
    if (!flow->recall || from == flow->graph.next_id) return;
    vec_push(flow->arena, &flow->made, ((MadeIds){from, flow->graph.next_id}));
}
