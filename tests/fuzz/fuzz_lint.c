// fuzz_lint.c - any bytes as a Python file that calls torch_npu: check its calls
// against ops/ of this repository and write every format. Nothing in a source may
// crash lint, or make it take more than a little memory; a fix lies in the text.
#include "base/base.h"

#include "fuzz.h"
#include "lint/lint.h"
#include "report/lint_text.h"

enum { RUN_MAX_BYTES = 256 * 1024 * 1024 };

// The operators, read once for all inputs.
static const OperatorSet *operators(void) {
    static OperatorSet set;
    static bool loaded;
    static Arena arena;
    static SymTable symbols;
    static Project project;
    Err err;
    if (loaded) return &set;
    arena_init(&arena);
    sym_table_init(&symbols);
    project_init(&project, &symbols);
    if (!operators_load(&set, &arena, &project, SOURCE_ROOT "/ops", &err)) BUG("%s", err.text);
    loaded = true;
    return &set;
}

static void check_findings(const LintSet *set) {
    for (uint32_t i = 0; i < set->at.len; i++) {
        const LintFinding *f = &set->at.at[i];
        if (f->line == 0 || f->column == 0 || f->end < f->start) {
            BUG("finding at line %u, bytes %u-%u", f->line, f->start, f->end);
        }
        if (!f->message.len || !f->right.len || !f->source.len) BUG("a finding says nothing");
        if (f->fix.len && (f->fix_end < f->fix_start ||
                           f->fix_old.len != f->fix_end - f->fix_start)) {
            BUG("fix of bytes %u-%u", f->fix_start, f->fix_end);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena run;
    LintSet set;
    Buf out = {0};
    arena_init(&run);
    Str text = arena_str(&run, (Str){(const char *)data, size});
    LintInput input = {.path = "fuzz.py", .shown = STR("fuzz.py"), .text = text,
                       .has_text = true};
    LintOptions options = {.inputs = &input, .input_count = 1, .book = {operators(), NULL}};
    lint_run(&set, &run, &options);
    check_findings(&set);
    lint_text_write(&out, &set);
    lint_json_write(&out, &set);
    lint_github_write(&out, &set);
    if (run.total_bytes > RUN_MAX_BYTES || out.len > RUN_MAX_BYTES) {
        BUG("%zu bytes of memory for %zu bytes of source", run.total_bytes, size);
    }
    buf_free(&out);
    arena_free(&run);
    return 0;
}
