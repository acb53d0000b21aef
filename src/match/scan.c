// scan.c - files, functions, candidates, findings.
#include "base/base.h"

#include "match/scan.h"

#include "base/buf.h"
#include "match/evidence.h"
#include "match/filter.h"

#include <stdlib.h>

enum { MODULES_MAX_BYTES = 96 * 1024 * 1024 };

typedef struct Scan {
    FindingSet *out;
    Arena *run;
    Arena file; // reset for each scanned file
    const ScanOptions *options;
    Project project, rule_project; // of the scanned files; of the rules
    SymTable symbols;
    OpTable ops;
    RuleSet rules;
    Filter filter;
} Scan;

static void skip_file(Scan *scan, Str file, Str reason, uint32_t line) {
    Skipped skipped = {arena_str(scan->run, file), arena_str(scan->run, reason), line};
    vec_push(scan->run, &scan->out->skipped, skipped);
}

// ---- code that is fused already -------------------------------------------------------

typedef struct FusedWalk {
    Scan *scan;
    Module *module;
    Frame *frame; // of the module: resolves names
    Str qualname;
    uint32_t before; // entries of `existing` before this file
} FusedWalk;

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
        if (callee && callee->op == V_GLOBAL && str_starts(callee->text, "torch_npu.npu")) {
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

// A function that calls the operator already keeps the hand-written form as
// its fallback.
static bool is_fused_already(const Scan *scan, uint32_t from, const Candidate *c,
                             Str qualname) {
    for (uint32_t i = from; i < scan->out->existing.len; i++) {
        const Existing *e = &scan->out->existing.at[i];
        if (str_eq(e->api, c->match.spec->rule->api) && str_eq(e->qualname, qualname)) {
            return true;
        }
    }
    return false;
}

// ---- findings of one file -----------------------------------------------------------------

typedef struct FileMatches {
    VEC(Candidate) list;
    VEC(Str) qualnames;
} FileMatches;

// A helper whose whole computation is part of a larger match at its call site
// is no candidate of its own.
static bool is_helper_part(const FileMatches *all, uint32_t index) {
    const Candidate *c = &all->list.at[index];
    for (uint32_t i = 0; i < all->list.len; i++) {
        const Candidate *other = &all->list.at[i];
        if (i == index || other->near) continue;
        if (!str_eq(other->match.spec->rule->family, c->match.spec->rule->family)) continue;
        if (other->place->frame->fn == (c->place ? c->place->frame->fn : NULL)) continue;
        for (uint32_t k = 0; k < other->match.seen.len; k++) {
            const Val *v = other->match.seen.at[k];
            if (v->node == c->record->node && v->module == c->record->val->module) return true;
        }
    }
    return false;
}

static void collect(Scan *scan, Flow *flow, Module *module, FileMatches *out) {
    scan->out->function_count += module->parsed.function_count;
    bool all = scan->options->no_filter;
    if (!all && !filter_may_pass(&scan->filter, module)) return;
    FilterModule *fm = filter_module(&scan->filter, &scan->file, module);
    ModuleFlow *mf = flow_module(flow, module);
    flow_list_functions(flow, mf);
    for (uint32_t i = 0; i < mf->functions.len; i++) {
        if (!all && !filter_passes(fm, mf->functions.at[i]->fn)) continue;
        Frame *frame = flow_function(flow, mf, mf->functions.at[i]);
        if (!frame) continue;
        Candidates found = {0};
        find_candidates(&found, frame, &scan->rules, scan->options->only_rule);
        for (uint32_t k = 0; k < found.list.len; k++) {
            vec_push(&scan->file, &out->list, found.list.at[k]);
            vec_push(&scan->file, &out->qualnames, mf->functions.at[i]->qualname);
        }
    }
}

static void add_findings(Scan *scan, FileMatches *all, uint32_t existing_from) {
    for (uint32_t i = 0; i < all->list.len; i++) {
        const Candidate *c = &all->list.at[i];
        if (is_fused_already(scan, existing_from, c, all->qualnames.at[i])) continue;
        if (is_helper_part(all, i)) continue;
        Finding finding;
        make_finding(&finding, scan->run, c, all->qualnames.at[i], NULL);
        vec_push(scan->run, &scan->out->findings, finding);
    }
}

static void note_faults(Scan *scan, const Module *m) {
    for (uint32_t i = 0; i < m->parsed.fault_count; i++) {
        const SyntaxFault *fault = &m->parsed.faults[i];
        skip_file(scan, m->shown, str_of(fault->message),
                  source_line(&m->source, fault->offset));
    }
}

static void scan_file(Scan *scan, const ScanInput *input) {
    Err err;
    Module *m = input->has_text
        ? project_open_text(&scan->project, input->path, input->shown, input->text, &err)
        : project_open(&scan->project, input->path, input->shown, &err);
    if (!m) {
        skip_file(scan, input->shown, str_of(err.text), 0);
        return;
    }
    note_faults(scan, m);
    scan->out->file_count++;
    scan->out->line_count += m->source.line_count;
    Flow flow;
    flow_init(&flow, &scan->project, &scan->ops, &scan->file);
    uint32_t existing_from = find_existing(scan, &flow, m);
    FileMatches matches = {0};
    collect(scan, &flow, m, &matches);
    add_findings(scan, &matches, existing_from);
    arena_clear(&scan->file);
    project_trim(&scan->project, MODULES_MAX_BYTES);
}

// ---- the whole scan -------------------------------------------------------------------------

static int compare_findings(const void *a, const void *b) {
    const Finding *x = a, *y = b;
    int order = str_cmp(x->file, y->file);
    if (order) return order;
    if (x->start_line != y->start_line) return x->start_line < y->start_line ? -1 : 1;
    order = str_cmp(x->family, y->family);
    return order ? order : str_cmp(x->id, y->id);
}

// Equal ids get #2, #3 ... in order.
static void number_ids(FindingSet *set, Arena *run) {
    for (uint32_t i = 0; i < set->findings.len; i++) {
        uint32_t same = 1;
        Str id = set->findings.at[i].id;
        for (uint32_t k = i; k-- > 0;) {
            if (!str_eq(set->findings.at[k].file, set->findings.at[i].file)) break;
            if (str_starts(set->findings.at[k].id, id.at) &&
                (set->findings.at[k].id.len == id.len ||
                 set->findings.at[k].id.at[id.len] == '#')) {
                same++;
            }
        }
        if (same > 1) {
            set->findings.at[i].id = arena_printf(run, "%.*s#%u", STR_FMT(id), same);
        }
    }
}

// What the paths have before the names that are shown.
static Str shared_prefix(Arena *run, const ScanInput *inputs, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        Str path = str_of(inputs[i].path), shown = inputs[i].shown;
        if (inputs[i].has_text || path.len <= shown.len) continue;
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
        bool below = path.len > project->prefix.len &&
                     memcmp(path.at, project->prefix.at, project->prefix.len) == 0;
        if (below && !inputs[i].has_text) {
            project->files[project->file_count++] = inputs[i].path;
        }
    }
}

static bool load_rules(Scan *scan, Err *err) {
    for (uint32_t i = 0; i < scan->options->rule_folder_count; i++) {
        if (!rules_load(&scan->rules, scan->run, &scan->rule_project, &scan->ops,
                        scan->options->rule_folders[i], err)) {
            return false;
        }
    }
    Str only = scan->options->only_rule;
    for (uint32_t i = 0; only.len && i < scan->rules.rules.len; i++) {
        if (str_eq(scan->rules.rules.at[i]->id, only)) return true;
    }
    return !only.len || err_set(err, "no rule '%.*s'", STR_FMT(only));
}

bool scan_run(FindingSet *out, Arena *run, const ScanInput *inputs,
              uint32_t count, const ScanOptions *options, Err *err) {
    *out = (FindingSet){.root = arena_str(run, options->root),
                        .tool_version = STR(NPUFUSE_VERSION)};
    Scan scan = {.out = out, .run = run, .options = options};
    arena_init(&scan.file);
    sym_table_init(&scan.symbols);
    ops_init(&scan.ops, run);
    project_init(&scan.rule_project, &scan.symbols);
    project_init(&scan.project, &scan.symbols);
    bool ok = load_rules(&scan, err);
    filter_init(&scan.filter, &scan.rules, &scan.symbols);
    scan.project.prefix = shared_prefix(run, inputs, count);
    list_files(&scan.project, run, inputs, count);
    for (uint32_t i = 0; ok && i < count; i++) {
        scan_file(&scan, &inputs[i]);
        if (options->progress) options->progress(options->progress_data, i + 1, count);
    }
    if (out->findings.len) {
        qsort(out->findings.at, out->findings.len, sizeof(Finding), compare_findings);
    }
    number_ids(out, run);
    project_free(&scan.project);
    project_free(&scan.rule_project);
    sym_table_free(&scan.symbols);
    arena_free(&scan.file);
    return ok;
}
