// lint.c - files, functions, calls, checks; and the comments that silence one:
//   x = npu_x(...)  # npufuse: ignore[scale-left-out] reason=q is scaled above
#include "base/base.h"

#include "lint/lint.h"

#include "lint/checks.h"

#include <stdlib.h>

enum { MODULES_MAX_BYTES = 96 * 1024 * 1024 };

typedef struct Lint {
    LintSet *out;
    Arena *run;
    Arena file, scratch; // of one input
    const LintOptions *options;
    Project project;
    SymTable symbols;
    OpTable ops;
} Lint;

// ---- comments -----------------------------------------------------------------------

// The text between the brackets of "npufuse: ignore[...]" in the line; empty if
// there is no such comment.
static Str ignored_checks(Str line) {
    static const char mark[] = "npufuse: ignore[";
    const char *hash = line.len ? memchr(line.at, '#', line.len) : NULL;
    for (; hash; hash = memchr(hash + 1, '#', (size_t)(line.at + line.len - hash - 1))) {
        Str rest = {hash + 1, (size_t)(line.at + line.len - hash - 1)};
        while (rest.len && rest.at[0] == ' ') rest = (Str){rest.at + 1, rest.len - 1};
        if (!str_starts(rest, mark)) continue;
        rest = (Str){rest.at + strlen(mark), rest.len - strlen(mark)};
        return str_take(&rest, ']');
    }
    return STR("");
}

static bool names_check(Str list, Str check) {
    while (list.len) {
        Str name = str_take(&list, ',');
        while (name.len && name.at[0] == ' ') name = (Str){name.at + 1, name.len - 1};
        while (name.len && name.at[name.len - 1] == ' ') name.len--;
        if (str_eq(name, check)) return true;
    }
    return false;
}

// On a line of the call, or on the line before it.
static bool is_ignored(const SourceText *source, const Node *call, Str check) {
    uint32_t from = source_line(source, call->start), to = source_line(source, call->end - 1);
    for (uint32_t line = from > 1 ? from - 1 : from; line <= to; line++) {
        if (names_check(ignored_checks(source_line_text(source, line)), check)) return true;
    }
    return false;
}

// ---- one file -------------------------------------------------------------------------

static void add_finding(Lint *lint, const NpuCall *call, const Fault *fault, const Check *check) {
    const SourceText *source = &call->frame->module->source;
    LintFinding out = {
        .check = str_of(check->id), .severity = fault->severity,
        .file = arena_str(lint->run, call->frame->module->shown),
        .line = source_line(source, fault->at->start),
        .column = source_col(source, fault->at->start) + 1,
        .start = fault->at->start, .end = fault->at->end,
        .api = arena_str(lint->run, call->api),
        .message = arena_str(lint->run, fault->message),
        .right = arena_str(lint->run, fault->right), .source = str_of(check->source),
        .fix = arena_str(lint->run, fault->fix),
        .fix_at = fault->fix_behind ? fault->fix_behind->end : 0,
        .ignored = is_ignored(source, call->node, str_of(check->id)),
    };
    out.source_line = arena_str(lint->run, source_line_text(source, out.line));
    if (out.ignored) lint->out->ignored++;
    else vec_push(lint->run, &lint->out->at, out);
}

static void check_call(Lint *lint, const NpuCall *call) {
    lint->out->call_count++;
    for (uint32_t i = 0; i < lint_check_count; i++) {
        LintJob job = {.arena = &lint->scratch};
        lint_checks[i].run(&job, call);
        for (uint32_t k = 0; k < job.faults.len; k++) {
            add_finding(lint, call, &job.faults.at[k], &lint_checks[i]);
        }
    }
}

static void check_frame(Lint *lint, Frame *frame) {
    for (uint32_t i = 0; i < frame->evals.len; i++) {
        NpuCall call;
        if (npu_call(&call, frame, &frame->evals.at[i], &lint->options->book)) {
            check_call(lint, &call);
        }
    }
}

static bool mentions_npu(const Module *m) {
    return str_contains(m->source.text, STR("npu"));
}

static void lint_file(Lint *lint, const LintInput *input) {
    Err err;
    Module *m = project_open(&lint->project, input->path, input->shown, &err);
    if (!m) {
        Str note = arena_printf(lint->run, "%.*s: skipped: %s", STR_FMT(input->shown), err.text);
        vec_push(lint->run, &lint->out->notes, note);
        return;
    }
    lint->out->file_count++;
    if (!mentions_npu(m)) return;
    Flow flow;
    flow_init(&flow, &lint->project, &lint->ops, &lint->file);
    flow.scratch = &lint->scratch;
    ModuleFlow *mf = flow_module(&flow, m);
    flow_list_functions(&flow, mf);
    for (uint32_t i = 0; i < mf->functions.len; i++) {
        Frame *frame = flow_function(&flow, mf, mf->functions.at[i]);
        if (frame) check_frame(lint, frame);
    }
    arena_clear(&lint->file);
    arena_clear(&lint->scratch);
    project_trim(&lint->project, MODULES_MAX_BYTES);
}

static int by_place(const void *a, const void *b) {
    const LintFinding *x = a, *y = b;
    int order = str_cmp(x->file, y->file);
    if (order) return order;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return str_cmp(x->check, y->check);
}

void lint_run(LintSet *out, Arena *run, const LintOptions *options) {
    *out = (LintSet){0};
    Lint lint = {.out = out, .run = run, .options = options};
    arena_init(&lint.file);
    arena_init(&lint.scratch);
    sym_table_init(&lint.symbols);
    project_init(&lint.project, &lint.symbols);
    ops_init(&lint.ops, run);
    for (uint32_t i = 0; i < options->input_count; i++) {
        lint_file(&lint, &options->inputs[i]);
        if (options->progress) {
            options->progress(options->progress_data, i + 1, options->input_count);
        }
    }
    if (out->at.len) qsort(out->at.at, out->at.len, sizeof(LintFinding), by_place);
    project_free(&lint.project);
    sym_table_free(&lint.symbols);
    arena_free(&lint.file);
    arena_free(&lint.scratch);
}
