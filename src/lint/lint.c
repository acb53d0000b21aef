// lint.c - files, functions, calls, checks; what is told of them all in the end.
#include "base/base.h"

#include "lint/lint.h"

#include "lint/checks.h"
#include "lint/ignore.h"
#include "lint/mocked.h"

#include <stdlib.h>

enum { MODULES_MAX_BYTES = 96 * 1024 * 1024 };

// A check's answer about one call, wherever it was asked.
typedef struct CallKey {
    const char *path; // of the call's module
    uint32_t start;   // of the call
    const char *check;
} CallKey;

typedef struct Pending {
    LintFinding finding;
    CallKey key;
    bool context; // told where a function is called that has the call inside
} Pending;

typedef struct Lint {
    LintSet *out;
    VEC(Pending) pending;
    VEC(CallKey) cleared;
    Arena *run;
    Arena file, scratch; // of one input
    const LintOptions *options;
    Project project;
    SymTable symbols;
    OpTable ops;
    Ignores ignores; // of the file
    Mocked mocked;   // in the file
    uint64_t work;   // of checks, in the file
} Lint;

// ---- one call -------------------------------------------------------------------------

static Str message_of(Lint *lint, const NpuCall *call, const Fault *fault) {
    if (!call->through) return arena_str(lint->run, fault->message);
    return arena_printf(lint->run, "%.*s (the call at %.*s:%u)", STR_FMT(fault->message),
                        STR_FMT(call->module->shown),
                        source_line(&call->module->source, call->node->start));
}

static LintFinding make_finding(Lint *lint, const NpuCall *call, const Fault *fault,
                                const Check *check) {
    const SourceText *source = &call->frame->module->source;
    const Node *at = call->through ? call->through : fault->at;
    LintFinding out = {
        .check = str_of(check->id), .severity = fault->severity,
        .file = arena_str(lint->run, call->frame->module->shown),
        .line = source_line(source, at->start), .column = source_col(source, at->start) + 1,
        .start = at->start, .end = at->end, .api = arena_str(lint->run, call->api),
        .message = message_of(lint, call, fault), .right = arena_str(lint->run, fault->right),
        .source = str_of(check->source),
    };
    if (fault->fix.len && !call->through) {
        out.fix = arena_str(lint->run, fault->fix);
        out.fix_start = fault->fix_start;
        out.fix_end = fault->fix_end;
        out.fix_old = arena_str(lint->run, source_span(source, out.fix_start, out.fix_end));
    }
    out.path = arena_cstr(lint->run, str_of(call->frame->module->path));
    out.ignored = ignores_silence(&lint->ignores, call->frame->module,
                                  call->through ? call->through : call->node, check->id);
    out.source_line = arena_str(lint->run, source_line_text(source, out.line));
    return out;
}

static void check_call(Lint *lint, const NpuCall *call) {
    if (mocked_has(&lint->mocked, call->name)) return;
    for (uint32_t i = 0; i < lint_check_count; i++) {
        const Check *check = &lint_checks[i];
        LintJob job = {.arena = &lint->scratch, .work = &lint->work};
        if (call->through && !check->in_context) continue;
        check->run(&job, call);
        CallKey key = {arena_cstr(lint->run, str_of(call->module->path)), call->node->start,
                       check->id};
        if (job.cleared) vec_push(lint->run, &lint->cleared, key);
        for (uint32_t k = 0; k < job.faults.len; k++) {
            Pending pending = {make_finding(lint, call, &job.faults.at[k], check), key,
                               call->through != NULL};
            vec_push(lint->run, &lint->pending, pending);
        }
    }
}

// ---- one file -------------------------------------------------------------------------

static void note_line(Lint *lint, const Module *m, uint32_t line, const char *text) {
    Str note = arena_printf(lint->run, "%.*s:%u: %s", STR_FMT(m->shown), line, text);
    vec_push(lint->run, &lint->out->notes, note);
}

static void check_record(Lint *lint, Frame *frame, CallWalk *walk, const EvalRecord *record) {
    NpuCall call;
    if (npu_call(&call, frame, record, &lint->options->book)) {
        lint->out->call_count++;
        check_call(lint, &call);
    }
    npu_calls_through(walk, record);
}

static void check_found(Lint *lint, const CallWalk *walk) {
    for (uint32_t i = 0; i < walk->found.len; i++) check_call(lint, &walk->found.at[i]);
}

static void check_frame(Lint *lint, Frame *frame) {
    CallWalk walk = {.frame = frame, .book = &lint->options->book};
    for (uint32_t i = 0; i < frame->evals.len; i++) {
        EvalRecord record = frame->evals.at[i];
        check_record(lint, frame, &walk, &record);
    }
    check_found(lint, &walk);
}

typedef struct TopLevel {
    Lint *lint;
    Frame *frame; // of the module
    CallWalk walk;
} TopLevel;

// Calls outside of functions, those of a class's body among them.
static bool check_top_level(Node *node, void *data) {
    TopLevel *top = data;
    bool function = node->kind == N_FUNCTION_DEF || node->kind == N_ASYNC_FUNCTION_DEF ||
                    node->kind == N_LAMBDA;
    if (function) return true;
    if (!node_children(node, check_top_level, data)) return false;
    if (node->kind != N_CALL) return true;
    EvalRecord record = {.node = node, .val = eval_expr(top->frame, node)};
    check_record(top->lint, top->frame, &top->walk, &record);
    return true;
}

static void check_module(Lint *lint, Flow *flow, Module *m) {
    ModuleFlow *mf = flow_module(flow, m);
    TopLevel top = {lint, mf->frame, {.frame = mf->frame, .book = &lint->options->book}};
    flow_list_functions(flow, mf);
    for (uint32_t i = 0; i < mf->functions.len; i++) {
        FunctionInfo *info = mf->functions.at[i];
        Frame *frame = info->fn->u.function->of_lambda ? NULL : flow_function(flow, mf, info);
        if (!frame) continue; // calls in a lambda are seen where they stand
        check_frame(lint, frame);
        if (!frame->truncated) continue;
        note_line(lint, m, source_line(&m->source, frame->fn->start),
                  "function too large: read in part");
    }
    node_children(m->parsed.module, check_top_level, &top);
    check_found(lint, &top.walk);
}

static void note_ignores(Lint *lint, const Module *m) {
    for (uint32_t i = 0; i < lint->ignores.at.len; i++) {
        const Ignore *ignore = &lint->ignores.at.at[i];
        if (!ignore->used) note_line(lint, m, ignore->line, "the comment ignores nothing");
        else if (!ignore->has_reason) {
            note_line(lint, m, ignore->line, "the comment says no reason=...");
        }
    }
}

static void note_faults(Lint *lint, const Module *m) {
    for (uint32_t i = 0; i < m->parsed.fault_count; i++) {
        const SyntaxFault *fault = &m->parsed.faults[i];
        note_line(lint, m, source_line(&m->source, fault->offset), fault->message);
    }
}

static bool mentions_npu(const Module *m) {
    return str_contains(m->source.text, STR("npu"));
}

static void skip_file(Lint *lint, Str file, const char *why) {
    Str note = arena_printf(lint->run, "%.*s: skipped: %s", STR_FMT(file), why);
    vec_push(lint->run, &lint->out->notes, note);
}

static void lint_file(Lint *lint, const LintInput *input) {
    Err err;
    Module *m = project_open(&lint->project, input->path, input->shown, &err);
    if (!m) {
        skip_file(lint, input->shown, err.text);
        return;
    }
    lint->out->file_count++;
    if (!mentions_npu(m)) return;
    note_faults(lint, m);
    ignores_read(&lint->ignores, &lint->file, m);
    mocked_read(&lint->mocked, &lint->file, m);
    Flow flow;
    flow_init(&flow, &lint->project, &lint->ops, &lint->file);
    flow.scratch = &lint->scratch;
    lint->work = 0;
    check_module(lint, &flow, m);
    note_ignores(lint, m);
    if (lint->work >= LINT_WORK_MAX) note_line(lint, m, 1, "file too large: checked in part");
    arena_clear(&lint->file);
    arena_clear(&lint->scratch);
    project_trim(&lint->project, MODULES_MAX_BYTES);
}

// ---- all files ------------------------------------------------------------------------

static int by_place(const void *a, const void *b) {
    const LintFinding *x = a, *y = b;
    int order = str_cmp(x->file, y->file);
    if (order) return order;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    order = str_cmp(x->check, y->check);
    return order ? order : str_cmp(x->message, y->message);
}

static int by_key(const void *a, const void *b) {
    const CallKey *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    int order = strcmp(x->check, y->check);
    return order ? order : strcmp(x->path, y->path);
}

typedef VEC(CallKey) CallKeys;

static void sort_keys(CallKeys *keys) {
    if (keys->len) qsort(keys->at, keys->len, sizeof(CallKey), by_key);
}

static bool has_key(const CallKeys *keys, const CallKey *key) {
    return keys->len && bsearch(key, keys->at, keys->len, sizeof(CallKey), by_key);
}

// What is told at the call itself is not told once more where its function is
// called; a warning at the call itself is not told where a caller shows it right.
static void supersede(Lint *lint) {
    CallKeys told = {0}, cleared = {lint->cleared.at, lint->cleared.len, lint->cleared.cap};
    for (uint32_t i = 0; i < lint->pending.len; i++) {
        if (!lint->pending.at[i].context) vec_push(lint->run, &told, lint->pending.at[i].key);
    }
    sort_keys(&told);
    sort_keys(&cleared);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < lint->pending.len; i++) {
        const Pending *p = &lint->pending.at[i];
        bool warning = !p->context && p->finding.severity != LINT_ERROR;
        if (p->context && has_key(&told, &p->key)) continue;
        if (warning && has_key(&cleared, &p->key)) continue;
        lint->pending.at[kept++] = *p;
    }
    lint->pending.len = kept;
}

// One fault, though found on more ways.
static bool is_same_finding(const LintFinding *a, const LintFinding *b) {
    return a->start == b->start && str_eq(a->file, b->file) && str_eq(a->check, b->check) &&
           str_eq(a->right, b->right);
}

static bool is_told(const LintSet *set, uint32_t count, const LintFinding *f) {
    for (uint32_t k = count; k-- > 0;) {
        const LintFinding *before = &set->at.at[k];
        if (before->start != f->start || !str_eq(before->file, f->file)) return false;
        if (is_same_finding(before, f)) return true;
    }
    return false;
}

static void settle(Lint *lint) {
    LintSet *out = lint->out;
    supersede(lint);
    for (uint32_t i = 0; i < lint->pending.len; i++) {
        const Pending *p = &lint->pending.at[i];
        if (p->finding.ignored) out->ignored++;
        else vec_push(lint->run, &out->at, p->finding);
    }
    if (!out->at.len) return;
    qsort(out->at.at, out->at.len, sizeof(LintFinding), by_place);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < out->at.len; i++) {
        LintFinding f = out->at.at[i];
        if (!is_told(out, kept, &f)) out->at.at[kept++] = f;
    }
    out->at.len = kept;
}

static void give_texts(Lint *lint) {
    const LintOptions *options = lint->options;
    for (uint32_t i = 0; i < options->input_count; i++) {
        const LintInput *input = &options->inputs[i];
        if (input->has_text) project_give_text(&lint->project, input->path, input->text);
    }
}

void lint_run(LintSet *out, Arena *run, const LintOptions *options) {
    *out = (LintSet){0};
    Lint lint = {.out = out, .run = run, .options = options};
    arena_init(&lint.file);
    arena_init(&lint.scratch);
    sym_table_init(&lint.symbols);
    project_init(&lint.project, &lint.symbols);
    ops_init(&lint.ops, run);
    give_texts(&lint);
    for (uint32_t i = 0; i < options->input_count; i++) {
        lint_file(&lint, &options->inputs[i]);
        if (options->progress) {
            options->progress(options->progress_data, i + 1, options->input_count);
        }
    }
    settle(&lint);
    project_free(&lint.project);
    sym_table_free(&lint.symbols);
    arena_free(&lint.file);
    arena_free(&lint.scratch);
}
