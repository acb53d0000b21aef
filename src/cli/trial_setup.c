// trial_setup.c - from a work folder to a trial that can begin.
#include "base/base.h"

#include "cli/trial_setup.h"

#include "base/file.h"
#include "base/locate.h"
#include "cli/derive.h"
#include "cli/environment.h"
#include "cli/output.h"
#include "cli/output_folder.h"
#include "cli/report_page.h"
#include "model/finding_read.h"
#include "patch/edits.h"

#include <stdlib.h>
#include <unistd.h>

// ---- confirmed candidates -----------------------------------------------------------

static bool read_folder(TrialSetup *setup, Err *err) {
    const char *folder = setup->args.output;
    const char *path = path_join(setup->run, str_of(folder), STR("findings.json"));
    if (file_kind(path) == FILE_NONE) {
        return err_set(err, "there is no '%s': run 'npufuse scan' first, or name its folder "
                       "with -o", path);
    }
    return findings_read(&setup->claimed, setup->run, path, err) &&
           confirmations_read(&setup->confirmations, setup->run, folder, err) &&
           journal_open(&setup->journal, setup->run, folder, err) &&
           tasks_read(&setup->tasks, setup->run, folder, err);
}

static void add_candidate(TrialSetup *setup, const Finding *finding, const Confirmation *c) {
    TrialCandidate candidate = {
        .finding = finding, .edits_sha256 = c->edits_sha256,
        .confirmed_by = str_of(confirmed_by_name(c->by)), .statement = c->statement,
        .confirmed_at = c->confirmed_at,
    };
    for (uint32_t i = 0; i < setup->candidates.len; i++) {
        if (str_eq(setup->candidates.at[i].finding->id, finding->id)) return;
    }
    vec_push(setup->run, &setup->candidates, candidate);
}

// A task whose confirmation does not hold speaks of code that is gone.
static void mark_stale(TrialSetup *setup, Str id, Str reason) {
    Task *task = task_find(&setup->tasks, id);
    if (!task) return;
    task->state = TASK_STALE;
    task->answer = ANSWER_UNDECIDED;
    task->reason = reason;
}

// Takes the candidate if its confirmation is that of what the code gives now.
static bool take(TrialSetup *setup, const FindingSet *derived, Str id, Str *reason) {
    const Finding *claimed = find_finding(&setup->claimed, id), *finding = NULL;
    const Confirmation *c = confirmation_find(&setup->confirmations, id);
    Err err;
    if (c && claimed && !derive_match(&finding, derived, claimed, &err)) {
        *reason = arena_str(setup->run, str_of(err.text));
        return false;
    }
    if (!c && !claimed) {
        *reason = STR("there is no such candidate");
        return false;
    }
    if (!confirmation_state(reason, c, finding ? finding : claimed)) return false;
    add_candidate(setup, finding, c);
    return true;
}

static int take_named(TrialSetup *setup, const FindingSet *derived) {
    for (uint32_t i = 0; i < setup->args.ids->len; i++) {
        Str id = str_of(setup->args.ids->at[i]), reason;
        if (take(setup, derived, id, &reason)) continue;
        return output_fail(EXIT_BLOCKED, "'%.*s': %.*s", STR_FMT(id), STR_FMT(reason));
    }
    return EXIT_DONE;
}

static int take_confirmed(TrialSetup *setup, const FindingSet *derived) {
    for (uint32_t i = 0; i < setup->confirmations.list.len; i++) {
        Str id = setup->confirmations.list.at[i].id, reason;
        if (take(setup, derived, id, &reason)) continue;
        mark_stale(setup, id, reason);
        setup->void_count++;
        output_complain("'%.*s' is left out: %.*s", STR_FMT(id), STR_FMT(reason));
    }
    if (setup->candidates.len) return EXIT_DONE;
    return output_fail(EXIT_BLOCKED, "no candidate is confirmed; read report.md in '%s', then run "
                       "'npufuse confirm ID...'", setup->args.output);
}

static int choose(TrialSetup *setup) {
    Err err;
    FindingSet derived;
    if (!setup->confirmations.list.len) {
        return output_fail(EXIT_BLOCKED, "no candidate is confirmed; read report.md in '%s', then "
                           "run 'npufuse confirm ID...'", setup->args.output);
    }
    DeriveRequest request = {&setup->claimed, setup->args.output, &setup->journal};
    if (!derive_scan(&derived, setup->run, &request, &err)) {
        return output_fail(EXIT_BLOCKED, "%s", err.text);
    }
    return setup->args.ids->len ? take_named(setup, &derived) : take_confirmed(setup, &derived);
}

// The task of each candidate; one of another text begins anew.
static void match_tasks(TrialSetup *setup) {
    for (uint32_t i = 0; i < setup->candidates.len; i++) {
        const TrialCandidate *candidate = &setup->candidates.at[i];
        const Finding *finding = candidate->finding;
        Task fresh = {.id = finding->id, .slug = task_slug(setup->run, finding->id),
                      .file_sha256 = finding->file_sha256,
                      .edits_sha256 = candidate->edits_sha256};
        Task *task = task_find(&setup->tasks, finding->id);
        if (!task) {
            vec_push(setup->run, &setup->tasks.tasks, fresh);
        } else if (!str_eq(task->edits_sha256, fresh.edits_sha256) ||
                   !str_eq(task->file_sha256, fresh.file_sha256)) {
            *task = fresh;
        }
    }
}

int trial_setup_begin(TrialSetup *setup, const TrialArgs *args, Arena *run) {
    *setup = (TrialSetup){.run = run, .args = *args, .lock = {-1}};
    Err err;
    if (file_kind(args->output) != FILE_FOLDER) {
        return output_fail(EXIT_USAGE, "no folder '%s'; run 'npufuse scan' first", args->output);
    }
    const char *path = path_join(run, str_of(args->output), STR("lock"));
    if (!lock_take(&setup->lock, path, &err)) return output_fail(EXIT_BLOCKED, "%s", err.text);
    if (!read_folder(setup, &err)) return output_fail(EXIT_USAGE, "%s", err.text);
    if (!journal_recover(&setup->journal, &err)) return output_fail(EXIT_BLOCKED, "%s", err.text);
    int code = choose(setup);
    if (code == EXIT_DONE) match_tasks(setup);
    return code;
}

void trial_setup_end(TrialSetup *setup) {
    lock_free(&setup->lock);
}

// ---- the project's text ---------------------------------------------------------------

static bool pristine(TrialSetup *setup, Str *out, Str file, Err *err) {
    Str bytes;
    const char *path = path_join(setup->run, setup->claimed.root, file);
    return file_read(&bytes, setup->run, path, FILE_MAX_BYTES, err) &&
           journal_pristine(out, &setup->journal, file, bytes, err);
}

// The file with those of its candidates that are in; notes where they stand.
static bool render_file(TrialSetup *setup, TrialEdits *out, Str file, const bool *in, Err *err) {
    EditSet set = {0};
    Str text;
    if (!pristine(setup, &text, file, err)) return false;
    for (uint32_t i = 0; i < setup->candidates.len; i++) {
        const Finding *finding = setup->candidates.at[i].finding;
        if (in && in[i] && str_eq(finding->file, file)) vec_push(setup->run, &set, finding);
    }
    Edits edits;
    if (!edits_render(&edits, setup->run, text, (EditList){set.at, set.len}, err)) return false;
    OverlayEdit edit = {file, edits.text};
    vec_push(setup->run, &out->files, edit);
    for (uint32_t i = 0; i < set.len; i++) {
        ArmCandidate candidate = {set.at[i], edits.places[i].start_line, edits.places[i].end_line,
                                  true};
        vec_push(setup->run, &out->candidates, candidate);
    }
    return true;
}

static bool has_file(const TrialEdits *out, Str file) {
    for (uint32_t i = 0; i < out->files.len; i++) {
        if (str_eq(out->files.at[i].file, file)) return true;
    }
    return false;
}

static bool render(void *data, TrialEdits *out, const bool *in, Err *err) {
    TrialSetup *setup = data;
    for (uint32_t i = 0; i < setup->candidates.len; i++) {
        const Finding *finding = setup->candidates.at[i].finding;
        if (!has_file(out, finding->file) && !render_file(setup, out, finding->file, in, err)) {
            return false;
        }
        if (in) continue;
        ArmCandidate plain = {finding, finding->start_line, finding->end_line, false};
        vec_push(setup->run, &out->candidates, plain);
    }
    // What is applied to the project is not part of the unchanged code.
    for (uint32_t i = 0; i < setup->journal.files.len; i++) {
        Str file = setup->journal.files.at[i].file;
        if (!has_file(out, file) && !render_file(setup, out, file, in, err)) return false;
    }
    return true;
}

// ---- where the parts are ----------------------------------------------------------------

static bool is_python(const char *word) {
    Str base = path_base(str_of(word));
    return str_starts(base, "python") || str_starts(base, "pypy");
}

static const char *find_python(TrialSetup *setup) {
    Arena *run = setup->run;
    if (setup->args.python) return proc_find(run, setup->args.python);
    if (setup->tasks.launch.python.len) {
        return proc_find(run, arena_cstr(run, setup->tasks.launch.python));
    }
    for (uint32_t i = 0; i < setup->tasks.launch.argv.len; i++) {
        const char *word = arena_cstr(run, setup->tasks.launch.argv.at[i]);
        const char *found = is_python(word) ? proc_find(run, word) : NULL;
        if (found) return found;
    }
    const char *venv = getenv("VIRTUAL_ENV");
    const char *inside = venv ? path_join(run, str_of(venv), STR("bin/python")) : NULL;
    if (inside && access(inside, X_OK) == 0) return inside;
    const char *found = proc_find(run, "python3");
    return found ? found : proc_find(run, "python");
}

// Python finds the package through a folder that holds nothing else, so that
// nothing else of this installation reaches the user's processes.
static bool find_runtime(TrialSetup *setup, Err *err) {
    Runtime *runtime = &setup->trial.runtime;
    Arena *run = setup->run;
    Str site;
    if (!locate_data(&site, run, "python/npufuse/_site", err) &&
        !locate_data(&site, run, "_site", err)) {
        return false;
    }
    const char *package = arena_cstr(run, path_folder(site));
    const char *folder = path_join(run, str_of(setup->trial.work), STR("runs/runtime"));
    const char *link = path_join(run, str_of(folder), STR("npufuse"));
    runtime->hook = site.at;
    runtime->package = folder;
    return file_remove(link, err) && file_make_folder(folder, err) &&
           file_link(package, link, err);
}

// Rules that this scan used: the bundled ones, and those of --rules first.
static bool find_rules(TrialSetup *setup, ArgList *folders, Err *err) {
    Str bundled;
    const ScanRecord *scan = &setup->claimed.scan;
    for (uint32_t i = 0; i < scan->rules.len; i++) {
        const char *real = path_real(setup->run, arena_cstr(setup->run, scan->rules.at[i]));
        if (real) vec_push(setup->run, folders, real);
    }
    if (!locate_rules(&bundled, setup->run, err)) return false;
    vec_push(setup->run, folders, bundled.at);
    return true;
}

static bool find_ops(TrialSetup *setup, const ArgList *folders, Err *err) {
    ArgList ops = {0};
    Str bundled;
    for (uint32_t i = 0; i < folders->len; i++) {
        const char *beside = path_join(setup->run, str_of(folders->at[i]), STR("../ops"));
        const char *real = path_real(setup->run, beside);
        if (real) vec_push(setup->run, &ops, real);
    }
    if (!locate_data(&bundled, setup->run, "ops", err)) return false;
    vec_push(setup->run, &ops, bundled.at);
    setup->trial.runtime.ops = ops.at;
    setup->trial.runtime.op_count = ops.len;
    return true;
}

// The file whose rule() gives the id: mostly the one of that name.
static const char *find_rule_file(TrialSetup *setup, const ArgList *folders, Str rule) {
    Str name = arena_printf(setup->run, "%.*s.py", STR_FMT(rule));
    for (uint32_t i = 0; i < folders->len; i++) {
        const char *path = path_join(setup->run, str_of(folders->at[i]), name);
        if (file_kind(path) == FILE_REGULAR) return path;
    }
    Str said = arena_printf(setup->run, "id=\"%.*s\"", STR_FMT(rule));
    for (uint32_t i = 0; i < folders->len; i++) {
        FolderList list;
        Err ignored;
        if (!folder_read(&list, setup->run, folders->at[i], &ignored)) continue;
        for (size_t k = 0; k < list.len; k++) {
            Str text;
            const char *path = path_join(setup->run, str_of(folders->at[i]),
                                         str_of(list.at[k].name));
            if (file_kind(path) == FILE_REGULAR &&
                file_read(&text, setup->run, path, 1 << 20, &ignored) &&
                str_contains(text, said)) {
                return path;
            }
        }
    }
    return "";
}

static void tell(void *data, Str line) {
    const TrialSetup *setup = data;
    if (!setup->args.quiet) output_note(line);
}

static bool find_parts(TrialSetup *setup, Err *err) {
    ArgList folders = {0};
    if (!find_rules(setup, &folders, err) || !find_ops(setup, &folders, err)) return false;
    for (uint32_t i = 0; i < setup->candidates.len; i++) {
        TrialCandidate *candidate = &setup->candidates.at[i];
        candidate->rule_file = find_rule_file(setup, &folders, candidate->finding->rule);
    }
    return find_runtime(setup, err);
}

static bool write_page(void *data, const Task *task, Str report, Err *err) {
    TrialSetup *setup = data;
    return page_put(setup->run, setup->trial.work, task->slug, report, err);
}

static void write_environment(void *data, Json *json) {
    const TrialSetup *setup = data;
    Environment environment;
    environment_read(&environment, setup->run, setup->trial.python);
    environment_write(json, &environment);
}

bool trial_setup_ready(TrialSetup *setup, Err *err) {
    Trial *trial = &setup->trial;
    Arena *run = setup->run;
    trial->arena = run;
    trial->work = path_real(run, setup->args.output);
    trial->root = path_real(run, arena_cstr(run, setup->claimed.root));
    if (!trial->work || !trial->root) {
        return err_set(err, "the scanned folder '%.*s' is not there; run this command where the "
                       "scan was made", STR_FMT(setup->claimed.root));
    }
    if (!find_parts(setup, err)) return false;
    trial->python = find_python(setup);
    trial->hooks = (TrialHooks){.data = setup, .render = render, .page = write_page,
                                .say = tell};
    trial->environment = write_environment;
    trial->tasks = &setup->tasks;
    trial->candidates = setup->candidates.at;
    trial->count = setup->candidates.len;
    trial->chinese = output_lang(setup->args.lang) == LANG_ZH;
    return true;
}

// ---- the end --------------------------------------------------------------------------------

void tasks_print(Buf *out, const TaskList *tasks) {
    for (uint32_t i = 0; i < tasks->tasks.len; i++) {
        const Task *task = &tasks->tasks.at[i];
        buf_addf(out, "%-9s  %-17s  %.*s\n", answer_name(task->answer),
                 task_state_name(task->state), STR_FMT(task->id));
        Str reason = task->reason;
        const char *end = memchr(reason.at, '\n', reason.len);
        if (end) reason.len = (size_t)(end - reason.at);
        if (reason.len) buf_addf(out, "           %.*s\n", STR_FMT(reason));
    }
    const Stage *together = &tasks->together;
    if (together->status == STAGE_OPEN) return;
    buf_addf(out, "all that passed, in one run: %s%s: %.*s\n", stage_status_name(together->status),
             together->emulated ? " (emulated)" : "", STR_FMT(together->reason));
}

int tasks_exit_code(const TaskList *tasks) {
    int code = EXIT_DONE;
    for (uint32_t i = 0; i < tasks->tasks.len; i++) {
        Answer value = tasks->tasks.at[i].answer;
        if (value == ANSWER_DO_NOT) return EXIT_NO;
        if (value == ANSWER_UNDECIDED) code = EXIT_BLOCKED;
    }
    return code;
}

int trial_setup_run(TrialSetup *setup) {
    Err err;
    Buf out = {0};
    if (!trial_setup_ready(setup, &err)) return output_fail(EXIT_USAGE, "%s", err.text);
    if (!trial_run(&setup->trial, &err)) {
        output_complain("%s", err.text);
        return output_fail(EXIT_USAGE, "what was reached is kept; 'npufuse resume' goes on");
    }
    if (setup->trial.interrupted) {
        return output_fail(EXIT_BLOCKED, "interrupted; 'npufuse resume' goes on");
    }
    tasks_print(&out, &setup->tasks);
    bool ok = output_write(buf_str(&out), &err);
    buf_free(&out);
    if (!ok) return output_fail(EXIT_USAGE, "%s", err.text);
    int code = tasks_exit_code(&setup->tasks);
    return code == EXIT_DONE && setup->void_count ? EXIT_BLOCKED : code;
}
