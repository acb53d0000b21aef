// trial_setup.c - from a work folder to a trial that can begin.
#include "base/base.h"

#include "cli/trial_setup.h"

#include "base/file.h"
#include "cli/derive.h"
#include "cli/output.h"
#include "cli/output_folder.h"
#include "cli/report_page.h"
#include "model/finding_read.h"
#include "patch/edits.h"

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
    setup->stale_count++;
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

// Candidates that the user names have to be fine, each of them.
static int take_named(TrialSetup *setup, const FindingSet *derived) {
    for (uint32_t i = 0; i < setup->args.ids->len; i++) {
        Str id = str_of(setup->args.ids->at[i]), reason;
        if (take(setup, derived, id, &reason)) continue;
        mark_stale(setup, id, reason);
        return output_fail(EXIT_BLOCKED, "'%.*s': %.*s", STR_FMT(id), STR_FMT(reason));
    }
    return EXIT_DONE;
}

static bool is_asked(const TrialSetup *setup, Str id) {
    const Launch *launch = &setup->tasks.launch;
    if (!setup->args.goes_on || !launch->ids.len) return true;
    for (uint32_t i = 0; i < launch->ids.len; i++) {
        if (str_eq(launch->ids.at[i], id)) return true;
    }
    return false;
}

static int take_confirmed(TrialSetup *setup, const FindingSet *derived) {
    for (uint32_t i = 0; i < setup->confirmations.list.len; i++) {
        Str id = setup->confirmations.list.at[i].id, reason;
        if (!is_asked(setup, id) || take(setup, derived, id, &reason)) continue;
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
    if (setup->stale_count && !tasks_write(&setup->tasks, args->output, &err)) {
        return output_fail(EXIT_USAGE, "%s", err.text);
    }
    if (code == EXIT_DONE) match_tasks(setup);
    return code;
}

void trial_setup_launch(TrialSetup *setup, const Launch *launch) {
    Str hash = launch_sha256(setup->run, launch);
    setup->tasks.launch = *launch;
    for (uint32_t i = 0; i < setup->candidates.len; i++) {
        Task *task = task_find(&setup->tasks, setup->candidates.at[i].finding->id);
        if (str_eq(task->launch_sha256, hash)) continue;
        // What another command or other options gave is no answer to this one.
        *task = (Task){.id = task->id, .slug = task->slug, .file_sha256 = task->file_sha256,
                       .edits_sha256 = task->edits_sha256, .launch_sha256 = hash};
    }
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

static void tell(void *data, Str line) {
    const TrialSetup *setup = data;
    if (!setup->args.quiet) output_note(line);
}

static bool write_page(void *data, const Task *task, Str report, Err *err) {
    TrialSetup *setup = data;
    return page_put(setup->run, setup->trial.work, task->slug, report, err);
}

static void write_environment(void *data, Json *json) {
    const TrialSetup *setup = data;
    environment_write(json, &setup->environment);
}

bool trial_setup_ready(TrialSetup *setup, Err *err) {
    Trial *trial = &setup->trial;
    Arena *run = setup->run;
    trial->arena = run;
    if (!trial_parts_find(setup, err)) return false;
    trial->hooks = (TrialHooks){.data = setup, .render = render, .page = write_page,
                                .say = tell};
    trial->environment = write_environment;
    environment_read(&setup->environment, run, trial->python);
    trial->machine = environment_key(run, &setup->environment);
    trial->hardware = environment_hardware(run, &setup->environment);
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

// The tasks of this trial, without those of candidates that nobody asked about.
static TaskList own_tasks(const TrialSetup *setup) {
    TaskList own = {.launch = setup->tasks.launch, .together = setup->tasks.together};
    for (uint32_t i = 0; i < setup->candidates.len; i++) {
        const Task *task = task_find(&setup->tasks, setup->candidates.at[i].finding->id);
        vec_push(setup->run, &own.tasks, *task);
    }
    return own;
}

// 0: all replace, and they go together; 1: one does not; else 3.
static int exit_code(const TrialSetup *setup, const TaskList *own) {
    bool open = setup->void_count > 0 || own->together.status == STAGE_BLOCKED;
    if (own->together.status == STAGE_FAIL) return EXIT_NO;
    for (uint32_t i = 0; i < own->tasks.len; i++) {
        if (own->tasks.at[i].answer == ANSWER_DO_NOT) return EXIT_NO;
        open |= own->tasks.at[i].answer == ANSWER_UNDECIDED;
    }
    return open ? EXIT_BLOCKED : EXIT_DONE;
}

// Nothing is run before it is sure that the command can be started.
static bool check_command(const TrialSetup *setup, Err *err) {
    const char *word = arena_cstr(setup->run, setup->tasks.launch.argv.at[0]);
    if (proc_find(setup->run, word)) return true;
    return err_set(err, "cannot start '%s': no program of that name is in PATH, or it is not "
                   "executable", word);
}

int trial_setup_run(TrialSetup *setup) {
    Err err;
    Buf out = {0};
    if (!check_command(setup, &err)) return output_fail(EXIT_BLOCKED, "%s", err.text);
    if (!trial_setup_ready(setup, &err)) return output_fail(EXIT_USAGE, "%s", err.text);
    if (!trial_run(&setup->trial, &err)) {
        output_complain("%s", err.text);
        return output_fail(EXIT_USAGE, "what was reached is kept; 'npufuse resume' goes on");
    }
    if (setup->trial.interrupted) {
        return output_fail(EXIT_BLOCKED, "interrupted; 'npufuse resume' goes on");
    }
    TaskList own = own_tasks(setup);
    tasks_print(&out, &own);
    bool ok = output_write(buf_str(&out), &err);
    buf_free(&out);
    if (!ok) return output_fail(EXIT_USAGE, "%s", err.text);
    return exit_code(setup, &own);
}
