// confirm.c - `npufuse confirm`: the person's agreement to candidates that they
// have read about. Nothing is verified or applied without it.
#include "base/base.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/lock.h"
#include "cli/commands.h"
#include "cli/derive.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/output_folder.h"
#include "model/confirmation.h"
#include "model/finding_read.h"
#include "model/utf8.h"
#include "report/md.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { REPORT_MAX_BYTES = 256 * 1024 * 1024 };

typedef struct ConfirmArgs {
    const char *output, *statement;
    bool list;
} ConfirmArgs;

#define FIELD(name) offsetof(ConfirmArgs, name)

static const Option options[] = {
    {"output", 'o', OPTION_TEXT, "DIR",
     "the folder with findings.json (fusion_verify)", FIELD(output)},
    {"statement", 0, OPTION_TEXT, "TEXT",
     "the user's own words, where no terminal can be asked;\n"
     "kept, and printed in every later report", FIELD(statement)},
    {"list", 0, OPTION_FLAG, NULL,
     "show what is confirmed, and whether it still holds", FIELD(list)},
};

static const Usage usage = {
    .name = "confirm",
    .operands = "ID...",
    .purpose =
        "Agrees to candidates of report.md by their IDs, so that they may be "
        "verified.\nEach is derived anew from the code, shown, and asked "
        "about. The agreement is\nbound to what was shown: if the file, the "
        "rule or the replacement changes, it\nis void. There is no way to "
        "confirm all at once.",
    .example = "npufuse confirm rms_norm:decoder/norm.py:RMSNorm.forward:0d012d5b",
    .options = options,
    .option_count = COUNT(options),
    .exit_help = {
        [EXIT_NO] = "--list: something confirmed does not hold any more",
        [EXIT_BLOCKED] = "not confirmed: the answer was not yes, there is nobody to "
                         "ask,\n     or the code or findings.json changed since the scan",
    },
};

typedef struct Confirm {
    ConfirmArgs args;
    Arena *run;
    ArgList ids;
    FindingSet claimed;
    Journal journal;
    VEC(const Finding *) chosen; // of `claimed`
    const Finding **derived;     // the same, from the code
} Confirm;

// ---- What is asked for.

static bool read_folder(Confirm *confirm, Err *err) {
    const char *folder = confirm->args.output;
    const char *path = path_join(confirm->run, str_of(folder), STR("findings.json"));
    if (file_kind(path) == FILE_NONE) {
        return err_set(err, "there is no '%s': run 'npufuse scan' first, or name its folder "
                       "with -o", path);
    }
    ConfirmationSet before; // a damaged one is told before anything is asked
    return findings_read(&confirm->claimed, confirm->run, path, err) &&
           confirmations_read(&before, confirm->run, folder, err) &&
           journal_open(&confirm->journal, confirm->run, folder, err);
}

// Names one that holds the text, else the most alike, of those that may be
// confirmed.
static bool fail_unknown(const Confirm *confirm, const char *id, Err *err) {
    const FindingSet *set = &confirm->claimed;
    const char **names = NEW_N(confirm->run, const char *, (size_t)set->findings.len + 1);
    const char *near = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < set->findings.len; i++) {
        const Finding *finding = &set->findings.at[i];
        if (finding->replacement.len == 0) continue;
        const char *name = arena_cstr(confirm->run, finding->id);
        if (!near && *id && strstr(name, id)) near = name;
        names[count++] = name;
    }
    if (!near) near = nearest_name(id, names, count);
    if (near) return err_set(err, "no candidate '%s', did you mean '%s'?", id, near);
    return err_set(err, "no candidate '%s' (report.md in '%s' names them)", id,
                   confirm->args.output);
}

static bool is_chosen(const Confirm *confirm, const Finding *finding) {
    for (uint32_t i = 0; i < confirm->chosen.len; i++) {
        if (confirm->chosen.at[i] == finding) return true;
    }
    return false;
}

static bool choose(Confirm *confirm, const char *id, Err *err) {
    const Finding *finding = find_finding(&confirm->claimed, str_of(id));
    if (!finding) return fail_unknown(confirm, id, err);
    Str why = finding->reasons.len ? finding->reasons.at[0] : STR("it gives no reason");
    if (finding->verdict == VERDICT_REJECT) {
        return err_set(err, "'%s' is rejected and cannot be confirmed: %.*s", id,
                       STR_FMT(utf8_one_line(confirm->run, why)));
    }
    if (finding->replacement.len == 0) {
        return err_set(err, "'%s' has no replacement to confirm: %.*s", id,
                       STR_FMT(utf8_one_line(confirm->run, why)));
    }
    if (!is_chosen(confirm, finding)) vec_push(confirm->run, &confirm->chosen, finding);
    return true;
}

static bool choose_all(Confirm *confirm, Err *err) {
    if (confirm->ids.len == 0) {
        return err_set(err, "confirm needs the ID of each candidate; report.md names them");
    }
    for (uint32_t i = 0; i < confirm->ids.len; i++) {
        if (!choose(confirm, confirm->ids.at[i], err)) return false;
    }
    return true;
}

static bool check_statement(const Confirm *confirm, Err *err) {
    const char *statement = confirm->args.statement;
    if (!statement) return true;
    if (strspn(statement, " \t\r\n") == strlen(statement)) {
        return err_set(err, "'--statement' is empty: it takes the user's own words");
    }
    if (strlen(statement) <= STATEMENT_MAX_BYTES) return true;
    return err_set(err, "'--statement' is longer than %d bytes", STATEMENT_MAX_BYTES);
}

static DeriveRequest derive_request(const Confirm *confirm) {
    return (DeriveRequest){&confirm->claimed, confirm->args.output, &confirm->journal};
}

static bool derive(Confirm *confirm, Err *err) {
    DeriveRequest request = derive_request(confirm);
    uint32_t count = confirm->chosen.len;
    confirm->derived = NEW_N(confirm->run, const Finding *, count);
    DeriveList list = {confirm->chosen.at, confirm->derived, count};
    return derive_check(list, confirm->run, &request, err);
}

// Whether report.md shows the replacement, byte for byte: what nobody could
// read cannot be agreed to.
static bool is_shown(const Confirm *confirm, Str report, const Finding *finding, Err *err) {
    Buf shown = {0};
    md_fence(&shown, "python", finding->replacement);
    bool found = str_contains(report, buf_str(&shown));
    buf_free(&shown);
    if (found) return true;
    return err_set(err, "report.md in '%s' does not show this replacement of '%.*s'; scan again",
                   confirm->args.output, STR_FMT(finding->id));
}

static bool are_shown(const Confirm *confirm, Err *err) {
    Str report;
    const char *path = path_join(confirm->run, str_of(confirm->args.output), STR("report.md"));
    if (file_kind(path) == FILE_NONE) {
        return err_set(err, "there is no '%s' that anybody could have read; scan again", path);
    }
    if (!file_read(&report, confirm->run, path, REPORT_MAX_BYTES, err)) return false;
    for (uint32_t i = 0; i < confirm->chosen.len; i++) {
        if (!is_shown(confirm, report, confirm->derived[i], err)) return false;
    }
    return true;
}

// ---- The question.

static void show_lines(Buf *out, Arena *run, const char *label, Str text) {
    buf_addf(out, "  %s: %.*s\n", label, STR_FMT(utf8_one_line(run, text)));
}

static uint32_t count_lines(Str text) {
    uint32_t count = text.len && text.at[text.len - 1] != '\n';
    for (size_t i = 0; i < text.len; i++) count += text.at[i] == '\n';
    return count;
}

// How much of the file the candidate changes.
static Str describe_change(Arena *run, const Finding *finding) {
    uint32_t added = 0;
    for (uint32_t i = 0; i < finding->inserts.len; i++) {
        added += count_lines(finding->inserts.at[i].text);
    }
    return arena_printf(run, "lines %u -> %u, and %u added before them",
                        (unsigned)count_lines(finding->original),
                        (unsigned)count_lines(finding->replacement), (unsigned)added);
}

static void show_candidate(Buf *out, Arena *run, const Finding *finding) {
    buf_addf(out, "%.*s\n", STR_FMT(utf8_one_line(run, finding->id)));
    Str place = arena_printf(run, "%.*s:%u-%u, %.*s", STR_FMT(finding->file),
                             (unsigned)finding->start_line, (unsigned)finding->end_line,
                             STR_FMT(finding->qualname));
    show_lines(out, run, "place", place);
    show_lines(out, run, "becomes", finding->api);
    show_lines(out, run, "change", describe_change(run, finding));
    show_lines(out, run, "verdict", str_of(verdict_name(finding->verdict)));
    for (uint32_t i = 0; i < finding->reasons.len; i++) {
        show_lines(out, run, "reason", finding->reasons.at[i]);
    }
    for (uint32_t i = 0; i < finding->risks.len; i++) {
        show_lines(out, run, "risk", finding->risks.at[i]);
    }
    buf_add_char(out, '\n');
}

// Rules that npufuse does not bring along decide what a replacement says: they
// are named however it is confirmed.
static void show_rules(Buf *out, const Confirm *confirm) {
    const ScanRecord *scan = &confirm->claimed.scan;
    for (uint32_t i = 0; i < scan->rules.len; i++) {
        show_lines(out, confirm->run, "found with the rules in", scan->rules.at[i]);
    }
}

static void show_question(const Confirm *confirm) {
    Buf out = {0};
    uint32_t count = confirm->chosen.len;
    for (uint32_t i = 0; i < count; i++) {
        show_candidate(&out, confirm->run, confirm->derived[i]);
    }
    show_rules(&out, confirm);
    buf_addf(&out, "Confirm %s %u candidate%s? Type yes: ", count == 1 ? "this" : "these",
             (unsigned)count, count == 1 ? "" : "s");
    output_talk(buf_str(&out));
    buf_free(&out);
}

// Whether the person's line is `yes`.
static bool read_yes(void) {
    char line[64];
    fflush(stderr);
    if (!fgets(line, sizeof(line), stdin)) return false;
    line[strcspn(line, "\r\n")] = 0;
    return strcmp(line, "yes") == 0;
}

static bool has_person(void) {
    return isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
}

static bool is_agreed(const Confirm *confirm, Err *err) {
    if (confirm->args.statement) {
        Buf rules = {0};
        show_rules(&rules, confirm);
        output_talk(buf_str(&rules));
        buf_free(&rules);
        return true;
    }
    if (!has_person()) {
        return err_set(err, "there is no terminal to ask on: give --statement with the "
                       "user's own words, or run this command on a terminal");
    }
    show_question(confirm);
    return read_yes() ? true : err_set(err, "not confirmed: the answer was not yes");
}

// ---- The record.

// Now, as 2026-12-02T14:00:00Z.
static Str time_stamp(Arena *run) {
    time_t now = (time_t)clock_now();
    struct tm parts;
    char text[40];
    if (!gmtime_r(&now, &parts) ||
        !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts)) {
        return STR("unknown");
    }
    return arena_str(run, str_of(text));
}

static bool add_to_file(const Confirm *confirm, Err *err) {
    const char *folder = confirm->args.output;
    ConfirmationSet set;
    if (!confirmations_read(&set, confirm->run, folder, err)) return false;
    Str now = time_stamp(confirm->run);
    for (uint32_t i = 0; i < confirm->chosen.len; i++) {
        Confirmation c = confirmation_of(confirm->run, confirm->derived[i]);
        c.by = confirm->args.statement ? CONFIRMED_STATEMENT : CONFIRMED_TERMINAL;
        c.statement = str_of(confirm->args.statement);
        c.confirmed_at = now;
        confirmation_put(&set, confirm->run, c);
    }
    return confirmations_write(&set, confirm->run, folder, err);
}

// Two that confirm at once would lose one of the two.
static bool record(const Confirm *confirm, Err *err) {
    Lock lock;
    const char *path = path_join(confirm->run, str_of(confirm->args.output), STR("lock"));
    if (!lock_take(&lock, path, err)) return false;
    bool ok = add_to_file(confirm, err);
    lock_free(&lock);
    return ok;
}

static bool tell_confirmed(const Confirm *confirm, Err *err) {
    Buf out = {0};
    for (uint32_t i = 0; i < confirm->chosen.len; i++) {
        Str id = utf8_one_line(confirm->run, confirm->chosen.at[i]->id);
        buf_addf(&out, "confirmed %.*s\n", STR_FMT(id));
    }
    bool ok = output_write(buf_str(&out), err);
    buf_free(&out);
    return ok;
}

static int run_confirm(Confirm *confirm) {
    Err err;
    if (!check_statement(confirm, &err) || !read_folder(confirm, &err) ||
        !choose_all(confirm, &err)) {
        return output_fail(EXIT_USAGE, "%s", err.text);
    }
    if (!derive(confirm, &err) || !are_shown(confirm, &err) || !is_agreed(confirm, &err)) {
        return output_fail(EXIT_BLOCKED, "%s", err.text);
    }
    if (!record(confirm, &err)) return output_fail(EXIT_BLOCKED, "%s", err.text);
    if (!tell_confirmed(confirm, &err)) return output_fail(EXIT_USAGE, "%s", err.text);
    return EXIT_DONE;
}

// ---- --list.

static void list_one(Buf *out, Arena *run, const Confirmation *c, Str reason) {
    buf_addf(out, "%s %.*s\n", reason.len ? "void " : "holds",
             STR_FMT(utf8_one_line(run, c->id)));
    if (reason.len) buf_addf(out, "      %.*s\n", STR_FMT(reason));
    buf_addf(out, "      confirmed %.*s", STR_FMT(utf8_one_line(run, c->confirmed_at)));
    if (c->by == CONFIRMED_STATEMENT) {
        buf_addf(out, " by the statement: %.*s", STR_FMT(utf8_one_line(run, c->statement)));
    } else {
        buf_add(out, STR(" on a terminal"));
    }
    buf_add_char(out, '\n');
}

// Prints every confirmation; returns how many do not hold.
static uint32_t list_all(Buf *out, const Confirm *confirm, const ConfirmationSet *set,
                         const FindingSet *derived) {
    uint32_t void_count = 0;
    for (uint32_t i = 0; i < set->list.len; i++) {
        const Confirmation *c = &set->list.at[i];
        Str reason;
        void_count += !confirmation_state(&reason, c, find_finding(derived, c->id));
        list_one(out, confirm->run, c, reason);
    }
    return void_count;
}

static int run_list(Confirm *confirm) {
    Err err;
    ConfirmationSet set;
    FindingSet derived;
    if (!confirmations_read(&set, confirm->run, confirm->args.output, &err)) {
        return output_fail(EXIT_USAGE, "%s", err.text);
    }
    if (set.list.len == 0) {
        output_note(STR("nothing is confirmed"));
        return EXIT_DONE;
    }
    if (!read_folder(confirm, &err)) return output_fail(EXIT_USAGE, "%s", err.text);
    DeriveRequest request = derive_request(confirm);
    if (!derive_scan(&derived, confirm->run, &request, &err)) {
        return output_fail(EXIT_BLOCKED, "%s", err.text);
    }
    Buf out = {0};
    uint32_t void_count = list_all(&out, confirm, &set, &derived);
    bool ok = output_write(buf_str(&out), &err);
    buf_free(&out);
    if (!ok) return output_fail(EXIT_USAGE, "%s", err.text);
    return void_count ? EXIT_NO : EXIT_DONE;
}

int confirm_command(const Args *args) {
    Confirm confirm = {.args = {.output = OUTPUT_FOLDER}, .run = args->run};
    int code;
    if (!options_read(&confirm.args, &confirm.ids, &usage, args, &code)) return code;
    if (!confirm.args.list) return run_confirm(&confirm);
    if (confirm.ids.len || confirm.args.statement) {
        return output_fail(EXIT_USAGE, "'--list' takes neither an ID nor a statement");
    }
    return run_list(&confirm);
}
