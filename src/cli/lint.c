// lint.c - `npufuse lint`: existing calls of torch_npu.
#include "base/base.h"

#include "base/file.h"
#include "base/locate.h"
#include "cli/api_book.h"
#include "cli/commands.h"
#include "cli/lint_fix.h"
#include "cli/output.h"
#include "cli/output_folder.h"
#include "cli/paths.h"
#include "lint/checks.h"
#include "lint/lint.h"
#include "model/utf8.h"
#include "report/lint_text.h"

#include <string.h>

typedef struct LintArgs {
    const char *format, *python, *docs_path, *stdin_name;
    bool error_on_findings, quiet, diff, fix, list_checks;
} LintArgs;

#define FIELD(name) offsetof(LintArgs, name)

static const Option options[] = {
    {"format", 0, OPTION_TEXT, "text|json|github", "what is printed (text)", FIELD(format)},
    {"diff", 0, OPTION_FLAG, NULL, "print what the proven fixes change, in place of the findings",
     FIELD(diff)},
    {"fix", 0, OPTION_FLAG, NULL, "write the proven fixes into the files", FIELD(fix)},
    {"list-checks", 0, OPTION_FLAG, NULL, "print the checks and where each was read",
     FIELD(list_checks)},
    {"error-on-findings", 0, OPTION_FLAG, NULL, "an error or a warning gives exit code 1",
     FIELD(error_on_findings)},
    {"python", 0, OPTION_TEXT, "EXE", "whose torch_npu counts (VIRTUAL_ENV, python3)",
     FIELD(python)},
    {"docs-path", 0, OPTION_TEXT, "PATH",
     "a wheel, an unpacked torch_npu or its shared library, in place of the\ninstalled one",
     FIELD(docs_path)},
    {"stdin-filename", 0, OPTION_TEXT, "NAME",
     "how to call standard input, for PATH -", FIELD(stdin_name)},
    {"quiet", 'q', OPTION_FLAG, NULL, "only data and errors", FIELD(quiet)},
};

static const Usage usage = {
    .name = "lint",
    .operands = "PATH...",
    .purpose =
        "Checks the calls of torch_npu that are in the code already: arguments that do\n"
        "not exist, a scale left out, masks of the wrong kind, lengths that are counts,\n"
        "results used as one tensor, and more (docs/lint.md). Only what the source proves\n"
        "is told. A comment '# npufuse: ignore[CHECK] reason=...' on the call silences it.",
    .example = "npufuse lint models/",
    .options = options,
    .option_count = COUNT(options),
    .exit_help = {
        [EXIT_NO] = "--error-on-findings applies",
    },
};

typedef struct LintRun {
    const LintArgs *given;
    Arena *run;
    PathList paths;
    Project operators_project;
    SymTable symbols;
    OperatorSet operators;
    LintSet set;
} LintRun;

static bool load_operators(LintRun *job, Err *err) {
    Str folder;
    sym_table_init(&job->symbols);
    project_init(&job->operators_project, &job->symbols);
    return locate_data(&folder, job->run, "ops", err) &&
           operators_load(&job->operators, job->run, &job->operators_project, folder.at, err);
}

static bool find_book(const Book **out, LintRun *job, Err *err) {
    if (!job->given->docs_path) {
        *out = api_installed(job->run, job->given->python);
        return true;
    }
    Book *book = NEW(job->run, Book);
    BookChoice choice = {.docs_path = job->given->docs_path};
    *out = book;
    return api_open(book, job->run, &choice, err);
}

static bool make_input(LintInput *out, LintRun *job, const PathFile *file, Err *err) {
    *out = (LintInput){.path = file->path, .shown = file->shown};
    if (file->path) return true;
    out->path = file->shown.at; // standard input
    out->has_text = true;
    return file_read_stdin(&out->text, job->run, FILE_MAX_BYTES, err);
}

static bool run_checks(LintRun *job, Err *err) {
    const Book *book;
    uint32_t count = job->paths.files.len;
    if (!find_book(&book, job, err)) return false;
    LintInput *inputs = NEW_N(job->run, LintInput, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++) {
        if (!make_input(&inputs[i], job, &job->paths.files.at[i], err)) return false;
    }
    LintOptions how = {.inputs = inputs, .input_count = count,
                       .book = {&job->operators, book}};
    if (output_has_progress() && !job->given->quiet) how.progress = output_progress;
    lint_run(&job->set, job->run, &how);
    if (book) job->set.torch_npu = book_title(job->run, book);
    return true;
}

// The fixes, of which `diff` gets what they change.
static bool fix(const LintRun *job, Buf *diff, Err *err) {
    LintFixes fixes = {.run = job->run, .mode = job->given->fix ? FIX_WRITTEN : FIX_SHOWN};
    if (!job->given->fix && !job->given->diff) return true;
    if (!lint_fix(&fixes, &job->set, err)) return false;
    *diff = fixes.diff;
    for (uint32_t i = 0; i < fixes.notes.len; i++) {
        output_note(utf8_one_line(job->run, fixes.notes.at[i]));
    }
    if (job->given->fix && !job->given->quiet) {
        output_note(arena_printf(job->run, "fixed %u in %u file%s", fixes.fixed, fixes.files,
                                 fixes.files == 1 ? "" : "s"));
    }
    return true;
}

static bool print(const LintRun *job, Err *err) {
    Buf out = {0}, diff = {0};
    const char *format = job->given->format;
    if (!fix(job, &diff, err)) return false;
    if (job->given->diff) buf_add(&out, buf_str(&diff));
    else if (strcmp(format, "json") == 0) lint_json_write(&out, &job->set);
    else if (strcmp(format, "github") == 0) lint_github_write(&out, &job->set);
    else lint_text_write(&out, &job->set);
    bool ok = output_write(buf_str(&out), err);
    buf_free(&out);
    buf_free(&diff);
    return ok;
}

static int list_checks(void) {
    Buf out = {0};
    Err err;
    for (uint32_t i = 0; i < lint_check_count; i++) {
        buf_addf(&out, "%-26s %s\n%-26s (%s)\n", lint_checks[i].id, lint_checks[i].purpose, "",
                 lint_checks[i].source);
    }
    bool ok = output_write(buf_str(&out), &err);
    buf_free(&out);
    return ok ? EXIT_DONE : output_fail(EXIT_USAGE, "%s", err.text);
}

static bool has_fault(const LintSet *set) {
    for (uint32_t i = 0; i < set->at.len; i++) {
        if (set->at.at[i].severity != LINT_NOTE) return true;
    }
    return false;
}

static int lint_paths(LintRun *job, const PathRequest *request) {
    Err err;
    bool ok = paths_collect(&job->paths, job->run, request, &err) &&
              load_operators(job, &err) && run_checks(job, &err) && print(job, &err);
    if (!ok) return output_fail(EXIT_USAGE, "%s", err.text);
    for (uint32_t i = 0; i < job->set.notes.len; i++) {
        output_note(utf8_one_line(job->run, job->set.notes.at[i]));
    }
    return job->given->error_on_findings && has_fault(&job->set) ? EXIT_NO : EXIT_DONE;
}

int lint_command(const Args *args) {
    LintArgs given = {.format = "text"};
    PathRequest request = {.output = OUTPUT_FOLDER};
    int code;
    if (!options_read(&given, &request.operands, &usage, args, &code)) return code;
    if (given.list_checks) return list_checks();
    request.python = given.python;
    request.stdin_name = given.stdin_name;
    LintRun job = {.given = &given, .run = args->run};
    code = lint_paths(&job, &request);
    project_free(&job.operators_project);
    sym_table_free(&job.symbols);
    return code;
}
