// apply_choose.c - from IDs, confirmations, tasks and the journal to the
// candidates of one run of `apply`.
#include "base/base.h"

#include "cli/apply_choose.h"

#include "cli/derive.h"
#include "model/confirmation.h"
#include "model/finding_read.h"
#include "model/task.h"
#include "model/utf8.h"

#include <stdlib.h>

typedef struct Chooser {
    Arena *run;
    const ChoiceRequest *request;
    FindingSet set;     // as findings.json has it
    FindingSet derived; // as the code gives it now
    ConfirmationSet confirmations;
    TaskList tasks;
    Choice *out;
} Chooser;

// IDs and paths may hold anything.
int fail_with(Arena *run, ExitCode code, const Err *err) {
    return output_fail(code, "%.*s", STR_FMT(utf8_one_line(run, str_of(err->text))));
}

static const char *path_in(const Chooser *chooser, const char *name) {
    return arena_printf(chooser->run, "%s/%s", chooser->request->folder, name).at;
}

// ---- what is there ----------------------------------------------------------

static const Finding *find_applied(const Journal *journal, Str id) {
    for (uint32_t i = 0; i < journal->files.len; i++) {
        const EditSet *applied = &journal->files.at[i].applied;
        for (uint32_t k = 0; k < applied->len; k++) {
            if (str_eq(applied->at[k]->id, id)) return applied->at[k];
        }
    }
    return NULL;
}

static bool is_chosen(const Chooser *chooser, Str id) {
    const EditSet *chosen = &chooser->out->candidates;
    for (uint32_t i = 0; i < chosen->len; i++) {
        if (str_eq(chosen->at[i]->id, id)) return true;
    }
    return false;
}

static void choose(Chooser *chooser, const Finding *f) {
    if (!is_chosen(chooser, f->id)) vec_push(chooser->run, &chooser->out->candidates, f);
}

// ---- what may be applied ----------------------------------------------------

// Whether the candidate, as it stands now, passed verification. `err` says why
// it did not.
static bool is_verified(const Chooser *chooser, const Finding *f, Err *err) {
    const Task *task = task_find(&chooser->tasks, f->id);
    if (!task) {
        return err_set(err, "'%.*s' was not verified; run 'npufuse verify', or apply it with "
                            "--unverified", STR_FMT(f->id));
    }
    if (task->state != TASK_CONCLUDED || task->answer != ANSWER_REPLACE) {
        Str reason = task->reason;
        return err_set(err, "'%.*s' did not pass verification (%s%s%.*s)", STR_FMT(f->id),
                       answer_name(task->answer), reason.len ? ": " : "", STR_FMT(reason));
    }
    char edits[SHA256_HEX + 1];
    confirmation_edits_sha256(edits, f);
    if (!str_eq(task->file_sha256, f->file_sha256) || !str_is(task->edits_sha256, edits)) {
        return err_set(err, "'%.*s' was verified with another text; run 'npufuse verify' again",
                       STR_FMT(f->id));
    }
    return true;
}

static bool is_confirmed(const Chooser *chooser, const Finding *f, Err *err) {
    Str reason;
    const Confirmation *own = confirmation_find(&chooser->confirmations, f->id);
    if (confirmation_state(&reason, own, f)) return true;
    return err_set(err, "'%.*s': %.*s; read the report, then run 'npufuse confirm'",
                   STR_FMT(f->id), STR_FMT(reason));
}

// `f` is derived from the code, never what findings.json says.
static bool qualifies(const Chooser *chooser, const Finding *f, Err *err) {
    return is_confirmed(chooser, f, err) &&
           (chooser->request->unverified || is_verified(chooser, f, err));
}

// A diff of named candidates needs nobody's consent.
static bool check_named(const Chooser *chooser, const Finding **derived,
                        const Finding *claimed, Err *err) {
    if (!claimed->replacement.len) {
        Str reason = claimed->reasons.len ? claimed->reasons.at[0] : STR("rejected");
        return err_set(err, "'%.*s' has no replacement: %.*s", STR_FMT(claimed->id),
                       STR_FMT(reason));
    }
    return derive_match(derived, &chooser->derived, claimed, err) &&
           (chooser->request->diff || qualifies(chooser, *derived, err));
}

// ---- choices ----------------------------------------------------------------

static int fail_unknown(const Chooser *chooser, Str id) {
    return output_fail(EXIT_USAGE, "no candidate '%.*s' in '%s'",
                       STR_FMT(utf8_one_line(chooser->run, id)),
                       path_in(chooser, "findings.json"));
}

static int choose_named(Chooser *chooser) {
    const ArgList *ids = chooser->request->ids;
    for (uint32_t i = 0; i < ids->len; i++) {
        Err err;
        Str id = str_of(ids->at[i]);
        if (find_applied(chooser->request->journal, id)) {
            chooser->out->already++;
            continue;
        }
        const Finding *claimed = find_finding(&chooser->set, id), *f;
        if (!claimed) return fail_unknown(chooser, id);
        if (!check_named(chooser, &f, claimed, &err)) {
            return fail_with(chooser->run, EXIT_BLOCKED, &err);
        }
        choose(chooser, f);
    }
    return EXIT_DONE;
}

// False with the reason if it does not qualify.
static bool choose_confirmed(Chooser *chooser, Str id, Err *err) {
    if (find_applied(chooser->request->journal, id)) {
        chooser->out->already++;
        return true;
    }
    const Finding *claimed = find_finding(&chooser->set, id), *f;
    if (!claimed) {
        return err_set(err, "'%.*s' is confirmed, and no longer found", STR_FMT(id));
    }
    if (!check_named(chooser, &f, claimed, err) || !qualifies(chooser, f, err)) return false;
    choose(chooser, f);
    return true;
}

// Of what a person confirmed and is not chosen, it is told why.
static int choose_qualified(Chooser *chooser) {
    const ConfirmationSet *confirmed = &chooser->confirmations;
    for (uint32_t i = 0; i < confirmed->list.len; i++) {
        Err why;
        if (choose_confirmed(chooser, confirmed->list.at[i].id, &why)) continue;
        Str line = arena_printf(chooser->run, "left out: %s", why.text);
        output_note(utf8_one_line(chooser->run, line));
    }
    if (chooser->out->candidates.len || chooser->out->already) return EXIT_DONE;
    return chooser->request->unverified
        ? output_fail(EXIT_BLOCKED, "no candidate is confirmed; read '%s', then run 'npufuse "
                                    "confirm'", path_in(chooser, "report.md"))
        : output_fail(EXIT_BLOCKED, "no confirmed candidate passed verification; run 'npufuse "
                                    "verify', or apply what is confirmed with --unverified");
}

static int choose_applied(Chooser *chooser) {
    const Journal *journal = chooser->request->journal;
    const ArgList *ids = chooser->request->ids;
    for (uint32_t i = 0; i < journal->files.len && !ids->len; i++) {
        const EditSet *applied = &journal->files.at[i].applied;
        for (uint32_t k = 0; k < applied->len; k++) choose(chooser, applied->at[k]);
    }
    for (uint32_t i = 0; i < ids->len; i++) {
        Str id = str_of(ids->at[i]);
        const Finding *f = find_applied(journal, id);
        if (f) choose(chooser, f);
        else if (!find_finding(&chooser->set, id)) return fail_unknown(chooser, id);
        else chooser->out->already++;
    }
    chooser->out->root = journal->root;
    return EXIT_DONE;
}

// Another project's files cannot share the journal.
static bool check_root(const Chooser *chooser, Err *err) {
    const Journal *journal = chooser->request->journal;
    if (!journal->files.len || str_eq(journal->root, chooser->set.root)) return true;
    return err_set(err, "candidates of '%.*s' are applied by way of '%s'; take them back first, "
                        "or scan '%.*s' with another -o", STR_FMT(journal->root),
                   chooser->request->folder, STR_FMT(chooser->set.root));
}

static int compare_places(const void *a, const void *b) {
    const Finding *x = *(const Finding *const *)a, *y = *(const Finding *const *)b;
    int order = str_cmp(x->file, y->file);
    if (order) return order;
    return x->start_line < y->start_line ? -1 : x->start_line > y->start_line;
}

static int choose_new(Chooser *chooser) {
    Err err;
    if (!check_root(chooser, &err)) return fail_with(chooser->run, EXIT_BLOCKED, &err);
    const char *folder = chooser->request->folder;
    if (!tasks_read(&chooser->tasks, chooser->run, folder, &err) ||
        !confirmations_read(&chooser->confirmations, chooser->run, folder, &err)) {
        return fail_with(chooser->run, EXIT_USAGE, &err);
    }
    DeriveRequest again = {&chooser->set, folder, chooser->request->journal};
    if (!derive_scan(&chooser->derived, chooser->run, &again, &err)) {
        return fail_with(chooser->run, EXIT_BLOCKED, &err);
    }
    chooser->out->root = chooser->set.root;
    return chooser->request->ids->len ? choose_named(chooser) : choose_qualified(chooser);
}

int choose_candidates(Choice *out, Arena *run, const ChoiceRequest *request) {
    Err err;
    *out = (Choice){0};
    Chooser chooser = {.run = run, .request = request, .out = out};
    const char *path = path_in(&chooser, "findings.json");
    bool read = findings_read(&chooser.set, run, path, &err);
    // What is applied can be taken back without.
    if (!read && !request->revert) return fail_with(run, EXIT_USAGE, &err);
    int code = request->revert ? choose_applied(&chooser) : choose_new(&chooser);
    EditSet *chosen = &out->candidates;
    if (chosen->len) qsort(chosen->at, chosen->len, sizeof(*chosen->at), compare_places);
    return code;
}
