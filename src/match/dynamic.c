// dynamic.c - a bounded search below a value.
#include "base/base.h"

#include "match/dynamic.h"

#include "match/caller.h"

enum { SEARCH_DEPTH = 40, SEARCH_STEPS = 600 };

typedef struct Search {
    Frame *frame;
    Dynamic found;
    const Node *call;
    uint32_t steps;
} Search;

static void note(Search *s, const Val *at, const char *what, bool certain) {
    if (s->found.certain || (s->found.what && !certain)) return;
    s->found = (Dynamic){what, at, certain, s->call};
}

// torch.nonzero(m), m.nonzero(), ...: as many results as the data has.
static bool counts_data(const Val *v) {
    static const char *const names[] = {"nonzero", "argwhere", "unique", "masked_select",
                                        "unique_consecutive"};
    if (v->op == OP_WHERE) return val_is_none(v->args[1]);
    if (v->op != V_CALL) return false;
    const Val *callee = v->args[0];
    bool method = callee->op == V_ATTR && callee->name;
    if (!method && (callee->op != V_GLOBAL || !str_starts(callee->text, "torch."))) return false;
    Str name = method ? sym_str(callee->name) : callee->text;
    for (size_t i = 0; i < COUNT(names); i++) {
        size_t n = strlen(names[i]);
        bool ends = str_ends(name, names[i]);
        if (ends && (name.len == n || name.at[name.len - n - 1] == '.')) return true;
    }
    return false;
}

// n.item(), n.tolist()
static bool reads_data(const Val *v, int depth) {
    if (depth > 8) return false;
    if (v->op == V_CALL && v->args[0]->op == V_ATTR && v->args[0]->name) {
        Str name = sym_str(v->args[0]->name);
        if (str_is(name, "item") || str_is(name, "tolist")) return true;
    }
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (reads_data(v->args[i], depth + 1)) return true;
    }
    return false;
}

static bool is_boolean(const Val *v) {
    if (v->op == OP_LOGICAL_NOT) return true;
    if (v->op != V_PYOP) return false;
    switch ((int)v->ck) {
    case A_EQ: case A_NOT_EQ: case A_LT: case A_LT_E: case A_GT: case A_GT_E: return true;
    case A_BIT_AND: case A_BIT_OR: return is_boolean(v->args[0]) || is_boolean(v->args[1]);
    default: return false;
    }
}

static bool holds_count(const Val *v, int depth) {
    if (depth > 12) return false;
    if (counts_data(v)) return true;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (holds_count(v->args[i], depth + 1)) return true;
    }
    return false;
}

static void look_at_index(Search *s, const Val *item, const Val *index) {
    if (is_boolean(index)) {
        note(s, item, "rows are picked by a boolean index", true);
    } else if (index->op == V_SLICE && reads_data(index, 0)) {
        note(s, item, "it is cut at a number that is read off a tensor", true);
    } else if (index->op != V_SLICE && holds_count(index, 0)) {
        note(s, item, "rows are picked by what nonzero or its like counts", true);
    } else if (index->op == V_PARAM && item->args[0]->op != V_ATTR) {
        note(s, item, "an index that a caller gives picks rows", false);
    }
}

// torch.cat((kept, new), dim): what is kept between calls grows.
static bool is_cache(const Val *v) {
    const Val *parts = v->args[0];
    if (parts->op != V_TUPLE && parts->op != V_LIST) return false;
    if (parts->nargs != 2 || val_is_int(v->args[1], -1)) return false;
    const Val *kept = val_strip(parts->args[0]), *fresh = val_strip(parts->args[1]);
    bool stored = kept->op == V_ATTR || kept->op == V_PARAM ||
                  (kept->op == V_ITEM && (kept->args[0]->op == V_PARAM ||
                                          kept->args[0]->op == V_ATTR ||
                                          kept->args[0]->op == V_ITEM));
    return stored && (fresh->op > V_CAST || fresh->op == V_CALL);
}

// k, v = cache.update(k, v) in one arm: k comes back from an object that is not
// followed, longer or not.
static void look_at_exchange(Search *s, const Val *phi, const Val *given, const Val *own) {
    if (given->op != V_ITEM || !val_is_number(given->args[1])) return;
    const Val *call = given->args[0];
    if (call->op != V_CALL || call->args[0]->op != V_ATTR) return;
    for (uint32_t i = 1; i < call->nargs; i++) {
        if (val_strip(call->args[i]) != val_strip((Val *)(uintptr_t)own)) continue;
        note(s, call->node ? call : phi,
             "it is exchanged for what an object keeps, as a cache of a decode step does", false);
    }
}

static void search(Search *s, const Val *v, int depth) {
    if (depth > SEARCH_DEPTH || ++s->steps > SEARCH_STEPS || s->found.certain) return;
    if (v->op == V_ATTR || v->op == V_SHAPE || v->op == V_SIZE || v->op == V_DTYPE) return;
    if (v->op == V_PARAM && !s->call) {
        CallSite site = find_argument(s->frame, v);
        s->call = site.call;
        if (site.arg) search(s, site.arg, depth + 1);
        s->call = NULL;
        return;
    }
    if (counts_data(v)) note(s, v, "it has as many rows as the data decides", true);
    if (v->op == OP_CAT && is_cache(v)) {
        note(s, v, "what is kept between calls is joined with what is new, as in a decode step",
             true);
    }
    if (v->op == V_PHI) {
        look_at_exchange(s, v, v->args[1], v->args[2]);
        look_at_exchange(s, v, v->args[2], v->args[1]);
    }
    if (v->op == V_ITEM) {
        const Val *index = v->args[1];
        for (uint32_t i = 0; index->op == V_TUPLE && i < index->nargs; i++) {
            look_at_index(s, v, index->args[i]);
        }
        look_at_index(s, v, index);
        search(s, v->args[0], depth + 1); // an index gives values, not sizes
        return;
    }
    for (uint32_t i = v->op == V_CALL; i < v->nargs; i++) search(s, v->args[i], depth + 1);
}

Dynamic find_dynamic(Frame *frame, const Val *v) {
    Search s = {.frame = frame};
    search(&s, v, 0);
    return s.found;
}
