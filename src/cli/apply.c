// apply.c - `npufuse apply`: candidates into the project's files, and out of
// them again.
#include "base/base.h"

#include "base/file.h"
#include "base/lock.h"
#include "cli/apply_choose.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/output_folder.h"
#include "model/utf8.h"
#include "patch/diff.h"
#include "patch/plan.h"

typedef struct ApplyArgs {
    const char *output;
    bool diff, revert, unverified;
} ApplyArgs;

#define FIELD(name) offsetof(ApplyArgs, name)

static const Option options[] = {
    {"diff", 0, OPTION_FLAG, NULL,
     "print what would be changed, and change nothing", FIELD(diff)},
    {"revert", 0, OPTION_FLAG, NULL,
     "take candidates back; without ID all of them", FIELD(revert)},
    {"unverified", 0, OPTION_FLAG, NULL,
     "a confirmed candidate need not have passed 'npufuse verify'",
     FIELD(unverified)},
    {"output", 'o', OPTION_TEXT, "DIR",
     "the folder that scan wrote (fusion_verify)", FIELD(output)},
};

static const Usage usage = {
    .name = "apply",
    .operands = "[ID...]",
    .purpose =
        "Writes the replacements of candidates into the files of the project: "
        "of those\nnamed, or of all that were confirmed and passed "
        "verification. What a file had is\nkept in DIR, and --revert gives it "
        "back byte for byte, in any order.\n\n"
        "A file that was changed since the scan, that lies in an installed "
        "package or\noutside of the scanned folder is not touched.",
    .example = "npufuse apply --diff | less; npufuse apply",
    .options = options,
    .option_count = COUNT(options),
    .exit_help = {
        [EXIT_USAGE] = "wrong usage, configuration or input; a file cannot be written",
        [EXIT_BLOCKED] = "refused: not confirmed, not verified, or a file was changed",
    },
};

typedef struct Apply {
    ApplyArgs args;
    Arena *run;
    ArgList ids;
    Lock lock;
    Journal journal;
    Choice choice;
    VEC(Plan) plans;
} Apply;

static bool has_conflict(const ApplyArgs *args) {
    return (args->diff && args->revert) || (args->revert && args->unverified);
}

// The next candidate's file, and all candidates of it.
static PlanWish next_wish(const Apply *apply, uint32_t *at) {
    const EditSet *all = &apply->choice.candidates;
    PlanWish wish = {.root = apply->choice.root, .file = all->at[*at]->file,
                     .revert = apply->args.revert};
    for (; *at < all->len && str_eq(all->at[*at]->file, wish.file); ++*at) {
        vec_push(apply->run, &wish.candidates, all->at[*at]);
    }
    return wish;
}

// Everything is checked before anything is written.
static bool plan_all(Apply *apply, Err *err) {
    for (uint32_t at = 0; at < apply->choice.candidates.len;) {
        PlanWish wish = next_wish(apply, &at);
        Plan plan;
        if (!plan_file(&plan, &apply->journal, &wish, err)) return false;
        vec_push(apply->run, &apply->plans, plan);
    }
    return true;
}

static int print_diff(const Apply *apply) {
    Buf out = {0};
    Err err;
    for (uint32_t i = 0; i < apply->plans.len; i++) {
        const Plan *plan = &apply->plans.at[i];
        diff_write(&out, plan->change.file, &plan->before, &plan->after);
    }
    bool ok = output_write(buf_str(&out), &err);
    buf_free(&out);
    return ok ? EXIT_DONE : fail_with(apply->run, EXIT_USAGE, &err);
}

static void tell(const Apply *apply, uint32_t files) {
    bool revert = apply->args.revert;
    uint32_t count = apply->choice.candidates.len;
    if (!count) {
        output_note(revert ? STR("nothing to take back: it is not applied")
                           : STR("nothing to apply: it is applied already"));
        return;
    }
    output_note(arena_printf(apply->run, "%s %u candidate%s; %u file%s changed",
                             revert ? "took back" : "applied", (unsigned)count,
                             count == 1 ? "" : "s", (unsigned)files, files == 1 ? "" : "s"));
    if (!revert) output_note(STR("'npufuse apply --revert' takes it back"));
}

static int write_all(Apply *apply) {
    Err err;
    uint32_t files = 0;
    if (!apply->journal.files.len) apply->journal.root = apply->choice.root;
    for (uint32_t i = 0; i < apply->plans.len; i++) {
        const Plan *plan = &apply->plans.at[i];
        if (str_eq(plan->before.text, plan->after.text)) continue;
        if (!journal_write_file(&apply->journal, &plan->change, &err)) {
            return fail_with(apply->run, EXIT_USAGE, &err);
        }
        Str line = arena_printf(apply->run, "changed %.*s", STR_FMT(plan->change.file));
        output_note(utf8_one_line(apply->run, line));
        files++;
    }
    tell(apply, files);
    return EXIT_DONE;
}

static const char *lock_path(const Apply *apply) {
    return path_join(apply->run, str_of(apply->args.output), STR("lock"));
}

// A diff only reads, and waits for nobody.
static bool take_lock(Apply *apply, Err *err) {
    if (apply->args.diff) return true;
    return lock_take(&apply->lock, lock_path(apply), err);
}

static int run_apply(Apply *apply) {
    Err err;
    const char *folder = apply->args.output;
    if (file_kind(folder) != FILE_FOLDER) {
        return output_fail(EXIT_USAGE, "no folder '%s'; run 'npufuse scan' first", folder);
    }
    if (!take_lock(apply, &err)) {
        // A lock that cannot even be made: the folder cannot be written.
        bool held = file_kind(lock_path(apply)) == FILE_REGULAR;
        return fail_with(apply->run, held ? EXIT_BLOCKED : EXIT_USAGE, &err);
    }
    if (!journal_open(&apply->journal, apply->run, folder, &err)) {
        return fail_with(apply->run, EXIT_USAGE, &err);
    }
    if (!apply->args.diff && !journal_recover(&apply->journal, &err)) {
        return fail_with(apply->run, EXIT_BLOCKED, &err);
    }
    ChoiceRequest request = {.folder = folder, .ids = &apply->ids, .journal = &apply->journal,
                             .revert = apply->args.revert, .diff = apply->args.diff,
                             .unverified = apply->args.unverified};
    int code = choose_candidates(&apply->choice, apply->run, &request);
    if (code != EXIT_DONE) return code;
    if (!plan_all(apply, &err)) return fail_with(apply->run, EXIT_BLOCKED, &err);
    return apply->args.diff ? print_diff(apply) : write_all(apply);
}

int apply_command(const Args *args) {
    Apply apply = {.args = {.output = OUTPUT_FOLDER}, .run = args->run, .lock = {-1}};
    int code;
    if (!options_read(&apply.args, &apply.ids, &usage, args, &code)) return code;
    if (has_conflict(&apply.args)) {
        return output_fail(EXIT_USAGE, "'--revert' goes with neither '--diff' nor "
                                       "'--unverified'");
    }
    code = run_apply(&apply);
    lock_free(&apply.lock);
    return code;
}
