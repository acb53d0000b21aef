// scan.c - files, functions, candidates, findings.
#include "base/base.h"

#include "match/scan.h"

#include "base/buf.h"
#include "base/sha256.h"
#include "flow/dtype.h"
#include "flow/recall.h"
#include "match/affine.h"
#include "match/evidence.h"
#include "match/explain.h"
#include "match/filter.h"
#include "match/inside.h"
#include "match/installed.h"
#include "match/moe.h"
#include "match/signals.h"
#include "match/split.h"
#include "match/switch.h"
#include "match/training.h"
#include "match/turns.h"
#include "match/wrapped.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MODULES_MAX_BYTES = 96 * 1024 * 1024, // parsed files kept, all threads
    JOBS_MAX = 16,
    CHUNK_FILES = 8, // taken by a thread at once: neighbours share imports
};

// What the threads share: which files are still to be scanned.
typedef struct Pool {
    const ScanInput *inputs;
    uint32_t count, next, done, jobs;
    pthread_mutex_t lock;
} Pool;

// One thread's work. Threads share nothing else: each has its own symbols,
// rules and modules.
typedef struct Scan {
    FindingSet *out;
    Arena *run;
    Arena file, scratch; // reset for each scanned file
    Recall recall;
    Str file_sha256; // of the file that is scanned, once asked for
    const ScanOptions *options;
    Project project, rule_project; // of the scanned files; of the rules
    SymTable symbols;
    OpTable ops;
    RuleSet rules;
    Filter filter;
    Signals signals; // of the files that this thread scanned; in `run`
    struct Pool *pool;
} Scan;

static void skip_file(Scan *scan, Str file, Str reason, uint32_t line) {
    Skipped skipped = {arena_str(scan->run, file), arena_str(scan->run, reason), line};
    vec_push(scan->run, &scan->out->skipped, skipped);
}

// ---- code that is fused already ---------------------------------------------

typedef struct FusedWalk {
    Scan *scan;
    Module *module;
    Frame *frame; // of the module: resolves names
    Str qualname;
    uint32_t before; // entries of `existing` before this file
} FusedWalk;

// An operator of torch_npu, or one of torch that a rule writes.
static bool is_fused_api(const Scan *scan, Str name) {
    if (str_starts(name, "torch_npu.npu")) return true;
    if (str_starts(name, "torch_npu.optim.NpuFused")) return true;
    for (uint32_t i = 0; i < scan->rules.rules.len; i++) {
        const Rule *rule = scan->rules.rules.at[i];
        if (rule->plain_torch && str_eq(rule->api, name)) return true;
    }
    return false;
}

static bool visit_fused(Node *node, void *data) {
    FusedWalk *walk = data;
    Str outer = walk->qualname;
    if (node->kind == N_FUNCTION_DEF || node->kind == N_CLASS_DEF) {
        const Sym *name = node->kind == N_CLASS_DEF ? node->u.class_->name
                                                    : node->u.function->name;
        walk->qualname = outer.len
            ? arena_printf(walk->scan->run, "%.*s.%s", STR_FMT(outer), name->text)
            : sym_str(name);
    }
    if (node->kind == N_CALL && node->u.call.func->kind == N_ATTRIBUTE) {
        Val *callee = NULL;
        Node *func = node->u.call.func;
        bool dotted = func->u.attribute.value->kind == N_NAME ||
                      func->u.attribute.value->kind == N_ATTRIBUTE;
        Node *head = func;
        while (head->kind == N_ATTRIBUTE) head = head->u.attribute.value;
        if (dotted && head->kind == N_NAME) {
            const Binding *b = module_binding(walk->module, head->u.name.id);
            bool npu = b || str_is(sym_str(head->u.name.id), "torch_npu");
            if (npu) callee = eval_expr(walk->frame, func);
        }
        if (callee && callee->op == V_GLOBAL && is_fused_api(walk->scan, callee->text)) {
            Span span = make_span(walk->scan->run, walk->module, node);
            Existing e = {span.file, span.start_line, span.end_line,
                          arena_str(walk->scan->run, callee->text),
                          arena_str(walk->scan->run, walk->qualname)};
            vec_push(walk->scan->run, &walk->scan->out->existing, e);
        }
    }
    node_children(node, visit_fused, data);
    walk->qualname = outer;
    return true;
}

static uint32_t find_existing(Scan *scan, Flow *flow, Module *module) {
    uint32_t before = scan->out->existing.len;
    if (!(module->parsed.marks & scan->filter.fused)) return before;
    FusedWalk walk = {.scan = scan, .module = module,
                      .frame = flow_module(flow, module)->frame};
    visit_fused(module->parsed.module, &walk);
    return before;
}

typedef struct FallbackSearch {
    const SourceText *source;
    const Existing *call;
    const Node *node; // the hand-written form
    bool found;
} FallbackSearch;

static bool holds_line(const SourceText *source, const NodeList *block, uint32_t line) {
    return block->len && line >= source_line(source, block->at[0]->start) &&
           line <= source_line(source, block->at[block->len - 1]->end - 1);
}

// The call itself, or an `if` with the call in its body and the hand-written
// form in its `else`.
static bool search_fallback(Node *node, void *data) {
    FallbackSearch *search = data;
    uint32_t line = source_line(search->source, search->node->start);
    if (node == search->node) search->found |= line == search->call->start_line;
    if (node->kind == N_IF) {
        const NodeList *body = &node->u.while_.body, *rest = &node->u.while_.orelse;
        search->found |= holds_line(search->source, body, search->call->start_line) &&
                         holds_line(search->source, rest, line);
    }
    return !search->found && node_children(node, search_fallback, data);
}

// A function that calls the operator already keeps the hand-written form as
// its fallback. What torch itself has may be called for many reasons, and
// another operator stands for this form only where the form is its `else`.
static bool is_fused_already(const Scan *scan, uint32_t from, const Candidate *c,
                             Str qualname) {
    const Rule *rule = c->match.spec->rule;
    for (uint32_t i = from; i < scan->out->existing.len; i++) {
        const Existing *e = &scan->out->existing.at[i];
        if (!str_eq(e->qualname, qualname)) continue;
        bool same = str_eq(e->api, rule->api);
        if (!rule->plain_torch && same) return true;
        if (!same && !str_starts(e->api, "torch_npu.npu")) continue;
        FallbackSearch search = {&c->frame->module->source, e, c->record->node, false};
        search_fallback(c->frame->fn, &search);
        if (search.found) return true;
    }
    return !rule->plain_torch && wraps_operator(c->frame, c->record->node, rule->api);
}

// ---- findings of one file ---------------------------------------------------

// An expression in a match of the function `fn`.
typedef struct UsedNode {
    const Node *node, *fn;
    const Module *module;
    Str family;
} UsedNode;

typedef struct NodeSet {
    UsedNode *at; // open addressing by node
    uint32_t cap, len;
} NodeSet;

typedef struct FileMatches {
    VEC(Candidate) list;
    VEC(Str) qualnames;
    VEC(Finding) sites; // finished
    Splits splits;
    NodeSet parts; // of matches that have a good place
    NodeSet roots; // their results
} FileMatches;

static uint32_t node_slot(const NodeSet *set, const Node *node) {
    uint64_t hash = (uintptr_t)node * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32) & (set->cap - 1);
}

static void put_node(NodeSet *set, UsedNode used) {
    uint32_t i = node_slot(set, used.node);
    for (; set->at[i].node; i = (i + 1) & (set->cap - 1)) {
        const UsedNode *at = &set->at[i];
        if (at->node == used.node && at->fn == used.fn && at->module == used.module &&
            str_eq(at->family, used.family)) {
            return;
        }
    }
    set->at[i] = used;
    set->len++;
}

static void add_node(NodeSet *set, Arena *arena, UsedNode used) {
    if (set->len * 2 >= set->cap) {
        NodeSet old = *set;
        *set = (NodeSet){.cap = old.cap ? old.cap * 2 : 64};
        set->at = NEW_N(arena, UsedNode, set->cap);
        for (uint32_t i = 0; i < old.cap; i++) {
            if (old.at[i].node) put_node(set, old.at[i]);
        }
    }
    put_node(set, used);
}

// Whether the set has the expression from another function than `used.fn`.
static bool has_node_elsewhere(const NodeSet *set, UsedNode used) {
    if (!set->cap) return false;
    uint32_t i = node_slot(set, used.node);
    for (; set->at[i].node; i = (i + 1) & (set->cap - 1)) {
        const UsedNode *at = &set->at[i];
        if (at->node == used.node && at->fn != used.fn && at->module == used.module &&
            str_eq(at->family, used.family)) {
            return true;
        }
    }
    return false;
}

static bool has_good_place(const Candidate *c) {
    return c->place && !c->place->fault && !c->place->wasted;
}

static UsedNode used_by(const Candidate *c, const Node *node, const Module *module) {
    return (UsedNode){node, c->place ? c->frame->fn : NULL, module,
                      c->match.spec->rule->family};
}

static void list_nodes(FileMatches *all, Arena *arena) {
    for (uint32_t i = 0; i < all->list.len; i++) {
        const Candidate *c = &all->list.at[i];
        if (c->near || !has_good_place(c)) continue;
        add_node(&all->roots, arena, used_by(c, c->record->node, c->frame->module));
        for (uint32_t k = 0; k < c->match.seen.len; k++) {
            const Val *v = c->match.seen.at[k];
            if (v->node) add_node(&all->parts, arena, used_by(c, v->node, v->module));
        }
    }
}

// A helper whose whole computation is part of a larger match at its call site
// is no candidate of its own.
static bool is_helper_part(const FileMatches *all, const Candidate *c) {
    return has_node_elsewhere(&all->parts,
                              used_by(c, c->record->node, c->frame->module));
}

// A match without a good place whose helper alone has one: the helper is it.
static bool is_better_in_helper(const FileMatches *all, const Candidate *whole) {
    if (whole->near || has_good_place(whole)) return false;
    for (uint32_t k = 0; k < whole->match.seen.len; k++) {
        const Val *v = whole->match.seen.at[k];
        if (v->node && has_node_elsewhere(&all->roots, used_by(whole, v->node, v->module))) {
            return true;
        }
    }
    return false;
}

// What was left out of a function is said.
static void note_truncated(Scan *scan, const Module *m, const Frame *f) {
    if (!f->truncated) return;
    skip_file(scan, m->shown, STR("function too large: read in part"),
              source_line(&m->source, f->fn->start));
}

// Whether --explain asks about this function.
static bool is_explained(const Scan *scan, const Module *module, const Node *fn) {
    const ScanOptions *options = scan->options;
    if (!options->explain_file.len || !options->explain) return false;
    if (!str_eq(options->explain_file, module->shown)) return false;
    return options->explain_line >= source_line(&module->source, fn->start) &&
           options->explain_line <= source_line(&module->source, fn->end - 1);
}

static void add_site(Scan *scan, Site *site, const Module *module, Str qualname,
                     FileMatches *out) {
    Str only = scan->options->only_rule;
    if (only.len && !str_is(only, site->id)) return;
    Finding finding;
    site_finding(&finding, scan->run, site, module, qualname);
    vec_push(&scan->file, &out->sites, finding);
}

static void find_moe(Scan *scan, Frame *frame, Str qualname, FileMatches *out) {
    Sites sites = {0};
    moe_find_experts(&sites, frame);
    moe_find_gathered(&sites, frame);
    if (!sites.len) moe_find_batched(&sites, frame);
    moe_find_routers(&sites, frame);
    for (uint32_t i = 0; i < sites.len; i++) {
        sites.at[i].family = "moe";
        sites.at[i].priority = PRIORITY_MEDIUM;
        sites.at[i].frame = frame;
        if (str_is(str_of(sites.at[i].id), "moe_experts")) {
            site_add_fact(&sites.at[i], "dynamic_shape", FACT_PROVEN,
                          STR("how many rows an expert gets depends on the data"));
        }
        add_site(scan, &sites.at[i], frame->module, qualname, out);
    }
}

// Whether the near miss stands where a site of its family says what the code is.
static bool is_told(const Sites *sites, const Candidate *c) {
    for (uint32_t i = 0; c->near && i < sites->len; i++) {
        const Site *site = &sites->at[i];
        const Node *at = c->record->stmt ? c->record->stmt : c->record->node;
        bool same = str_is(c->match.spec->rule->family, site->family);
        if (same && at->start < site->last->end && site->first->start < at->end) return true;
    }
    return false;
}

// Whether the softmax is one of an attention that is told, maybe as a caller reads it.
static bool is_attention_told(const FileMatches *all, const Val *softmax) {
    for (uint32_t i = 0; softmax && i < all->list.len; i++) {
        const Candidate *c = &all->list.at[i];
        const Val *own = !c->near && c->match.attend ? c->match.attend->softmax : NULL;
        if (own && own->node == softmax->node) return true;
    }
    for (uint32_t i = 0; softmax && i < all->splits.len; i++) {
        if (all->splits.at[i].attend->softmax->node == softmax->node) return true;
    }
    return false;
}

static void find_named(Scan *scan, Flow *flow, Module *module, FileMatches *out) {
    NamedSites sites = {0};
    uint32_t mark = scan->filter.training;
    if (module->parsed.marks & mark) training_find(&sites, flow, module, mark);
    affine_find(&sites, flow, module);
    for (uint32_t i = 0; i < sites.len; i++) {
        if (is_attention_told(out, sites.at[i].site.softmax)) continue;
        add_site(scan, &sites.at[i].site, module, sites.at[i].qualname, out);
    }
}

static void collect(Scan *scan, Flow *flow, Module *module, FileMatches *out) {
    scan->out->function_count += module->parsed.function_count;
    bool all = scan->options->no_filter;
    if (!all && !filter_may_pass(&scan->filter, module)) return;
    FilterModule *fm = filter_module(&scan->filter, &scan->file, module);
    ModuleFlow *mf = flow_module(flow, module);
    flow_list_functions(flow, mf);
    for (uint32_t i = 0; i < mf->functions.len; i++) {
        FunctionInfo *info = mf->functions.at[i];
        bool explained = is_explained(scan, module, info->fn);
        if (!all && !filter_passes(fm, info->fn, info->owner)) {
            if (explained) explain_filtered(scan->options, info->qualname);
            continue;
        }
        Frame *frame = flow_function(flow, mf, info);
        if (!frame) continue;
        if (explained) explain_line(scan->options, frame, &scan->rules);
        splits_find(&out->splits, frame, info->qualname);
        find_moe(scan, frame, info->qualname, out);
        Candidates found = {0};
        find_candidates(&found, frame, &scan->rules, scan->options->only_rule);
        note_truncated(scan, module, frame);
        Sites turns = {0};
        turns_find(&turns, frame, &found);
        for (uint32_t k = 0; k < turns.len; k++) {
            add_site(scan, &turns.at[k], module, info->qualname, out);
        }
        for (uint32_t k = 0; k < found.list.len; k++) {
            if (is_told(&turns, &found.list.at[k])) continue;
            vec_push(&scan->file, &out->list, found.list.at[k]);
            vec_push(&scan->file, &out->qualnames, info->qualname);
        }
    }
}

// A function that calls the operator already keeps this form as its fallback.
static bool calls_fused(const Scan *scan, uint32_t from, const char *api, Str qualname) {
    for (uint32_t i = from; i < scan->out->existing.len; i++) {
        const Existing *e = &scan->out->existing.at[i];
        if (str_eq(e->qualname, qualname) && str_is(e->api, api)) return true;
    }
    return false;
}

static void add_splits(Scan *scan, FileMatches *out, const Module *module, uint32_t from) {
    SplitGroups groups = {0};
    splits_group(&groups, &out->splits, scan->run);
    for (uint32_t i = 0; i < groups.len; i++) {
        SplitGroup *group = &groups.at[i];
        uint32_t before = out->sites.len;
        if (calls_fused(scan, from, group->site.api, group->qualname)) continue;
        add_site(scan, &group->site, module, group->qualname, out);
        if (out->sites.len == before) continue;
        Finding *finding = &out->sites.at[before];
        for (uint32_t k = 0; k < group->others.len; k++) {
            vec_push(scan->run, &finding->helpers, group->others.at[k]);
        }
    }
}

static Str hash_file(Scan *scan, const Module *module) {
    if (!scan->file_sha256.len) {
        char hex[SHA256_HEX + 1];
        sha256_hex(hex, module->source.bytes);
        scan->file_sha256 = arena_str(scan->run, str_of(hex));
    }
    return scan->file_sha256;
}

static void add_findings(Scan *scan, FileMatches *all, const Module *module,
                         uint32_t existing_from) {
    Str sha256 = {0};
    list_nodes(all, &scan->file);
    Finding *findings = NEW_N(&scan->file, Finding, all->list.len);
    Found *found = NEW_N(&scan->file, Found, all->list.len);
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->list.len; i++) {
        const Candidate *c = &all->list.at[i];
        if (is_fused_already(scan, existing_from, c, all->qualnames.at[i])) continue;
        if (is_helper_part(all, c) || is_better_in_helper(all, c)) continue;
        Finding *finding = &findings[count];
        RepoSwitch own;
        bool has_switch = c->place && find_switch(&own, scan->run, c->place, c->match.spec->rule);
        ArenaMark mark = arena_mark(&scan->scratch);
        make_finding(finding, scan->run, c, all->qualnames.at[i], has_switch ? &own : NULL);
        arena_reset(&scan->scratch, mark);
        // Refusing what is never recommended tells nobody anything.
        bool caution = c->match.spec->rule->caution.len > 0;
        if (caution && finding->verdict == VERDICT_REJECT) continue;
        if (!sha256.len) sha256 = hash_file(scan, module);
        finding->file_sha256 = sha256;
        found[count++] = (Found){c, finding};
    }
    judge_inside(found, count, scan->run);
    for (uint32_t i = 0; i < count; i++) vec_push(scan->run, &scan->out->findings, findings[i]);
}

static void add_sites(Scan *scan, const FileMatches *all, const Module *module) {
    Str sha256 = all->sites.len ? hash_file(scan, module) : STR("");
    for (uint32_t i = 0; i < all->sites.len; i++) {
        Finding finding = all->sites.at[i];
        finding.file_sha256 = sha256;
        vec_push(scan->run, &scan->out->findings, finding);
    }
}

static void note_faults(Scan *scan, const Module *m) {
    const char *last = "";
    for (uint32_t i = 0; i < m->parsed.fault_count; i++) {
        const SyntaxFault *fault = &m->parsed.faults[i];
        // Every branch of one long chain has the fault: it is said once.
        bool again = strcmp(fault->message, last) == 0 && strcmp(last, "too many branches") == 0;
        last = fault->message;
        if (again) continue;
        skip_file(scan, m->shown, str_of(fault->message),
                  source_line(&m->source, fault->offset));
    }
}

static void scan_file(Scan *scan, const ScanInput *input) {
    Err err;
    Module *m = project_open(&scan->project, input->path, input->shown, &err);
    if (!m) {
        skip_file(scan, input->shown, str_of(err.text), 0);
        return;
    }
    note_faults(scan, m);
    scan->file_sha256 = (Str){0};
    scan->out->file_count++;
    scan->out->line_count += m->source.line_count;
    Flow flow;
    flow_init(&flow, &scan->project, &scan->ops, &scan->file);
    flow.scratch = &scan->scratch;
    flow.recall = &scan->recall;
    uint32_t existing_from = find_existing(scan, &flow, m);
    if (m->parsed.marks & scan->filter.signals) {
        signals_collect(&scan->signals, scan->run, &flow, m);
    }
    FileMatches matches = {0};
    collect(scan, &flow, m, &matches);
    add_splits(scan, &matches, m, existing_from);
    find_named(scan, &flow, m, &matches);
    add_findings(scan, &matches, m, existing_from);
    if (dtype_gave_up(&flow)) {
        skip_file(scan, m->shown, STR("too much code that is joined: dtypes are known in part"), 1);
    }
    add_sites(scan, &matches, m);
    arena_clear(&scan->file);
    arena_clear(&scan->scratch);
    project_trim(&scan->project, MODULES_MAX_BYTES / scan->pool->jobs);
}

// ---- the whole scan ---------------------------------------------------------

static int compare_findings(const void *a, const void *b) {
    const Finding *x = a, *y = b;
    int order = str_cmp(x->file, y->file);
    if (order) return order;
    if (x->start_line != y->start_line) return x->start_line < y->start_line ? -1 : 1;
    order = str_cmp(x->family, y->family);
    return order ? order : str_cmp(x->id, y->id);
}

// Equal ids get #2, #3 ... in order. An id names its file.
static void number_ids(FindingSet *set, Arena *run) {
    typedef struct IdCount {
        Str id;
        uint32_t count;
    } IdCount;
    uint32_t cap = 64;
    while (cap < set->findings.len * 2) cap *= 2;
    IdCount *counts = NEW_N(run, IdCount, cap);
    for (uint32_t i = 0; i < set->findings.len; i++) {
        Str id = set->findings.at[i].id;
        uint32_t slot = (uint32_t)hash_bytes(HASH_SEED, id.at, id.len) & (cap - 1);
        while (counts[slot].count && !str_eq(counts[slot].id, id)) slot = (slot + 1) & (cap - 1);
        counts[slot].id = id;
        if (++counts[slot].count == 1) continue;
        set->findings.at[i].id = arena_printf(run, "%.*s#%u", STR_FMT(id),
                                              (unsigned)counts[slot].count);
    }
}

// What the paths have before the names that are shown.
static Str shared_prefix(Arena *run, const ScanInput *inputs, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        Str path = str_of(inputs[i].path), shown = inputs[i].shown;
        if (path.len <= shown.len) continue;
        Str tail = {path.at + path.len - shown.len, shown.len};
        if (!str_eq(tail, shown)) continue;
        return arena_str(run, (Str){path.at, path.len - shown.len});
    }
    return (Str){0};
}

static void list_files(Project *project, Arena *run, const ScanInput *inputs,
                       uint32_t count) {
    project->files = NEW_N(run, const char *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        Str path = str_of(inputs[i].path);
        Str head = {path.at, project->prefix.len};
        bool below = path.len > head.len && str_eq(head, project->prefix);
        if (below) project->files[project->file_count++] = inputs[i].path;
        if (!inputs[i].has_text) continue;
        project_give_text(project, inputs[i].path, inputs[i].text);
    }
}

static bool load_rules(Scan *scan, Err *err) {
    for (uint32_t i = 0; i < scan->options->rule_folder_count; i++) {
        if (!rules_load(&scan->rules, scan->options->rule_folders[i], err)) return false;
    }
    rules_check_installed(&scan->rules, scan->options->book);
    Str only = scan->options->only_rule;
    for (uint32_t i = 0; only.len && i < scan->rules.rules.len; i++) {
        if (str_eq(scan->rules.rules.at[i]->id, only)) return true;
    }
    return !only.len || err_set(err, "no rule '%.*s'", STR_FMT(only));
}

static bool open_scan(Scan *scan, Err *err) {
    arena_init(&scan->file);
    arena_init(&scan->scratch);
    recall_init(&scan->recall);
    sym_table_init(&scan->symbols);
    ops_init(&scan->ops, scan->run);
    project_init(&scan->rule_project, &scan->symbols);
    project_init(&scan->project, &scan->symbols);
    scan->project.traces = scan->options->traces != NULL;
    rules_init(&scan->rules, scan->run, &scan->rule_project, &scan->ops);
    bool ok = load_rules(scan, err);
    filter_init(&scan->filter, &scan->rules, &scan->symbols);
    const Pool *pool = scan->pool;
    scan->project.prefix = shared_prefix(scan->run, pool->inputs, pool->count);
    list_files(&scan->project, scan->run, pool->inputs, pool->count);
    return ok;
}

static void close_scan(Scan *scan) {
    project_free(&scan->project);
    project_free(&scan->rule_project);
    sym_table_free(&scan->symbols);
    arena_free(&scan->file);
    arena_free(&scan->scratch);
    recall_free(&scan->recall);
}

// Takes the next few files; false when there are none.
static bool take_files(Pool *pool, uint32_t *from, uint32_t *to) {
    pthread_mutex_lock(&pool->lock);
    *from = pool->next;
    *to = pool->next + CHUNK_FILES < pool->count ? pool->next + CHUNK_FILES
                                                 : pool->count;
    pool->next = *to;
    pthread_mutex_unlock(&pool->lock);
    return *from < *to;
}

static void tell_progress(Scan *scan) {
    const ScanOptions *options = scan->options;
    if (!options->progress) return;
    pthread_mutex_lock(&scan->pool->lock);
    options->progress(options->progress_data, ++scan->pool->done, scan->pool->count);
    pthread_mutex_unlock(&scan->pool->lock);
}

static void *scan_files(void *data) {
    Scan *scan = data;
    uint32_t from, to;
    while (take_files(scan->pool, &from, &to)) {
        for (uint32_t i = from; i < to; i++) {
            scan_file(scan, &scan->pool->inputs[i]);
            tell_progress(scan);
        }
    }
    return NULL;
}

static uint32_t job_count(const ScanOptions *options, uint32_t files) {
    long cores = options->jobs ? (long)options->jobs : sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t jobs = cores < 1 ? 1 : cores > JOBS_MAX ? JOBS_MAX : (uint32_t)cores;
    uint32_t useful = files / (4 * CHUNK_FILES) + 1; // a thread reads the rules first
    return jobs < useful ? jobs : useful;
}

static void merge(FindingSet *out, Arena *run, const FindingSet *part) {
    out->file_count += part->file_count;
    out->function_count += part->function_count;
    out->line_count += part->line_count;
    for (uint32_t i = 0; i < part->findings.len; i++) {
        vec_push(run, &out->findings, part->findings.at[i]);
    }
    for (uint32_t i = 0; i < part->existing.len; i++) {
        vec_push(run, &out->existing, part->existing.at[i]);
    }
    for (uint32_t i = 0; i < part->skipped.len; i++) {
        vec_push(run, &out->skipped, part->skipped.at[i]);
    }
}

static int compare_existing(const void *a, const void *b) {
    const Existing *x = a, *y = b;
    int order = str_cmp(x->file, y->file);
    if (order) return order;
    if (x->start_line != y->start_line) return x->start_line < y->start_line ? -1 : 1;
    return str_cmp(x->api, y->api);
}

// Fused code of the same operator elsewhere in the project is a reference.
static void add_references(FindingSet *set, Arena *run) {
    enum { REFERENCES_MAX = 5 };
    for (uint32_t i = 0; i < set->findings.len; i++) {
        Finding *f = &set->findings.at[i];
        for (uint32_t k = 0; k < set->existing.len; k++) {
            const Existing *e = &set->existing.at[k];
            if (f->references.len == REFERENCES_MAX) break;
            if (!str_eq(e->api, f->api)) continue;
            Span span = {e->file, e->start_line, e->end_line, e->qualname};
            vec_push(run, &f->references, span);
        }
    }
}

static void sort_set(FindingSet *set, Arena *run) {
    if (set->findings.len) {
        qsort(set->findings.at, set->findings.len, sizeof(Finding), compare_findings);
    }
    if (set->existing.len) {
        qsort(set->existing.at, set->existing.len, sizeof(Existing), compare_existing);
    }
    number_ids(set, run);
    add_references(set, run);
}

typedef struct Worker {
    Scan scan;
    FindingSet set;
    Arena run;
    pthread_t thread;
    bool started;
} Worker;

// The first worker runs in this thread; the others may fail to start, then
// there are fewer.
static void run_workers(Worker *workers, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        Worker *w = &workers[i];
        w->started = pthread_create(&w->thread, NULL, scan_files, &w->scan) == 0;
    }
    scan_files(&workers[0].scan);
    for (uint32_t i = 1; i < count; i++) {
        if (workers[i].started) pthread_join(workers[i].thread, NULL);
    }
}

static void copy_traces(ScanTraces *out, const Project *project) {
    for (uint32_t i = 0; i < project->trace.len; i++) {
        Trace trace = project->trace.at[i];
        trace.path = arena_str(out->arena, trace.path);
        vec_push(out->arena, out, trace);
    }
}

bool scan_run(FindingSet *out, Arena *run, ScanInputs inputs,
              const ScanOptions *options, Err *err) {
    *out = (FindingSet){.root = arena_str(run, options->root),
                        .tool_version = STR(NPUFUSE_VERSION)};
    if (options->book) out->torch_npu = book_title(run, options->book);
    Pool pool = {.inputs = inputs.at, .count = inputs.len};
    pool.jobs = options->explain_file.len ? 1 : job_count(options, inputs.len);
    pthread_mutex_init(&pool.lock, NULL);
    Worker *workers = NEW_N(run, Worker, pool.jobs);
    Signals signals = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < pool.jobs; i++) {
        Worker *w = &workers[i];
        arena_init(&w->run);
        w->scan = (Scan){.out = &w->set, .run = &w->run, .options = options,
                         .pool = &pool};
        ok = open_scan(&w->scan, err);
    }
    if (ok) run_workers(workers, pool.jobs);
    for (uint32_t i = 0; i < pool.jobs; i++) {
        if (!workers[i].scan.pool) continue; // never opened
        if (options->traces) copy_traces(options->traces, &workers[i].scan.project);
        close_scan(&workers[i].scan);
        merge(out, run, &workers[i].set);
        for (uint32_t k = 0; k < workers[i].scan.signals.len; k++) {
            vec_push(run, &signals, workers[i].scan.signals.at[k]);
        }
        arena_adopt(run, &workers[i].run);
    }
    arena_give_back(); // the reports come next
    sort_set(out, run);
    signals_settle(out, run, &signals);
    pthread_mutex_destroy(&pool.lock);
    return ok;
}
