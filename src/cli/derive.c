// derive.c - the recorded scan again, and what must come out of it.
#include "base/base.h"

#include "cli/derive.h"

#include "base/file.h"
#include "base/locate.h"
#include "cli/api_book.h"
#include "cli/paths.h"
#include "match/scan.h"
#include "model/finding_read.h"
#include "model/json.h"

// ---- The same scan.

typedef struct Again {
    const DeriveRequest *request;
    Arena *run;
    PathList paths;
    ScanOptions options;
    FindingSet *out;
    Err *err;
} Again;

static void add_arguments(ArgList *out, Arena *run, const Str *at, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) vec_push(run, out, arena_cstr(run, at[i]));
}

static bool collect_paths(Again *again) {
    const FindingSet *claimed = again->request->claimed;
    const ScanRecord *record = &claimed->scan;
    PathRequest paths = {.output = again->request->folder};
    add_arguments(&paths.operands, again->run, record->paths.at, record->paths.len);
    if (record->python.len) paths.python = arena_cstr(again->run, record->python);
    for (uint32_t i = 0; i < paths.operands.len; i++) {
        if (strcmp(paths.operands.at[i], "-") != 0) continue;
        return err_set(again->err, "the findings come from standard input, which cannot be "
                       "read again; scan the file itself");
    }
    Err cause;
    if (!paths_collect(&again->paths, again->run, &paths, &cause)) {
        return err_set(again->err, "cannot scan again what was scanned: %s; go to the folder "
                       "where it was scanned, or scan again", cause.text);
    }
    if (str_eq(again->paths.root, claimed->root)) return true;
    return err_set(again->err, "the root of the scanned files is now '%.*s', not '%.*s'; "
                   "scan again", STR_FMT(again->paths.root), STR_FMT(claimed->root));
}

static bool choose_rules(Again *again) {
    const ScanRecord *record = &again->request->claimed->scan;
    ArgList folders = {0};
    Str bundled;
    if (!locate_rules(&bundled, again->run, again->err)) return false;
    vec_push(again->run, &folders, bundled.at);
    add_arguments(&folders, again->run, record->rules.at, record->rules.len);
    again->options.rule_folders = folders.at;
    again->options.rule_folder_count = folders.len;
    again->options.only_rule = record->rule;
    const char *python = record->python.len ? arena_cstr(again->run, record->python) : NULL;
    again->options.book = api_installed(again->run, python);
    return true;
}

// Whether the findings speak of the file before candidates were applied: a
// scan made since then speaks of the file as it is.
static bool is_of_pristine(const FindingSet *claimed, const JournalFile *entry) {
    for (uint32_t i = 0; i < claimed->findings.len; i++) {
        const Finding *finding = &claimed->findings.at[i];
        if (!str_eq(finding->file, entry->file)) continue;
        return str_eq(finding->file_sha256, entry->pristine_sha256);
    }
    return false;
}

static bool take_pristine(Again *again, ScanInput *input) {
    const DeriveRequest *request = again->request;
    const Journal *journal = request->journal;
    const JournalFile *entry = journal ? journal_find(journal, input->shown) : NULL;
    if (!entry || !is_of_pristine(request->claimed, entry)) return true;
    Str bytes;
    input->has_text = true;
    return file_read(&bytes, again->run, input->path, FILE_MAX_BYTES, again->err) &&
           journal_pristine(&input->text, journal, input->shown, bytes, again->err);
}

static bool scan_inputs(Again *again) {
    uint32_t count = again->paths.files.len;
    ScanInput *inputs = NEW_N(again->run, ScanInput, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const PathFile *file = &again->paths.files.at[i];
        inputs[i] = (ScanInput){.path = file->path, .shown = file->shown};
        if (!take_pristine(again, &inputs[i])) return false;
    }
    again->options.root = again->paths.root;
    return scan_run(again->out, again->run, (ScanInputs){inputs, count}, &again->options,
                    again->err);
}

bool derive_scan(FindingSet *out, Arena *run, const DeriveRequest *request, Err *err) {
    Again again = {.request = request, .run = run, .out = out, .err = err};
    *out = (FindingSet){.file_count = 0};
    if (!collect_paths(&again) || !choose_rules(&again) || !scan_inputs(&again)) return false;
    out->root = again.paths.root;
    out->scan = request->claimed->scan;
    out->tool_version = str_of(NPUFUSE_VERSION);
    return true;
}

// ---- The same finding.

const Finding *find_finding(const FindingSet *set, Str id) {
    for (uint32_t i = 0; i < set->findings.len; i++) {
        if (str_eq(set->findings.at[i].id, id)) return &set->findings.at[i];
    }
    return NULL;
}

// As findings.json spells it, so that bytes that are no UTF-8 compare as what
// they read as.
static bool is_same_text(Str a, Str b) {
    Buf texts[2] = {{0}};
    Json json;
    json_init(&json, &texts[0]);
    json_str(&json, a);
    json_init(&json, &texts[1]);
    json_str(&json, b);
    bool same = str_eq(buf_str(&texts[0]), buf_str(&texts[1]));
    buf_free(&texts[0]);
    buf_free(&texts[1]);
    return same;
}

static bool is_same_list(const Str *a, uint32_t a_len, const Str *b, uint32_t b_len) {
    if (a_len != b_len) return false;
    for (uint32_t i = 0; i < a_len; i++) {
        if (!is_same_text(a[i], b[i])) return false;
    }
    return true;
}

static bool has_same_inserts(const Inserts *a, const Inserts *b) {
    if (a->len != b->len) return false;
    for (uint32_t i = 0; i < a->len; i++) {
        const Insert *x = &a->at[i], *y = &b->at[i];
        if (x->line != y->line || x->order != y->order || !is_same_text(x->text, y->text)) {
            return false;
        }
    }
    return true;
}

static bool has_same_ports(const Port *a, uint32_t a_len, const Port *b, uint32_t b_len) {
    if (a_len != b_len) return false;
    for (uint32_t i = 0; i < a_len; i++) {
        if (!str_eq(a[i].name, b[i].name) || !is_same_text(a[i].expr, b[i].expr) ||
            !is_same_text(a[i].dtype, b[i].dtype) || !is_same_text(a[i].shape, b[i].shape)) {
            return false;
        }
    }
    return true;
}

static bool has_same_switch(const Switch *a, const Switch *b) {
    return a->kind == b->kind && is_same_text(a->expr, b->expr) &&
           is_same_text(a->name, b->name);
}

#define SAME_PORTS(a, b) has_same_ports((a).at, (a).len, (b).at, (b).len)
#define SAME_LIST(a, b) is_same_list((a).at, (a).len, (b).at, (b).len)

// The first field that is not what the scan gives; NULL if all are.
static const char *find_difference(const Finding *a, const Finding *b) {
    if (!str_eq(a->file, b->file)) return "file";
    if (a->start_line != b->start_line) return "start_line";
    if (a->end_line != b->end_line) return "end_line";
    if (!str_eq(a->rule, b->rule) || !str_eq(a->variant, b->variant)) return "rule";
    if (!str_eq(a->family, b->family) || !str_eq(a->api, b->api)) return "api";
    if (a->verdict != b->verdict) return "verdict";
    if (!is_same_text(a->qualname, b->qualname)) return "qualname";
    if (!is_same_text(a->original, b->original)) return "original";
    if (!is_same_text(a->replacement, b->replacement)) return "replacement";
    if (!has_same_inserts(&a->inserts, &b->inserts)) return "inserts";
    if (!SAME_PORTS(a->inputs, b->inputs)) return "inputs";
    if (!SAME_PORTS(a->outputs, b->outputs)) return "outputs";
    if (!has_same_switch(&a->switch_, &b->switch_)) return "switch";
    if (!SAME_LIST(a->reasons, b->reasons)) return "reasons";
    if (!SAME_LIST(a->risks, b->risks)) return "risks";
    return NULL;
}

bool derive_match(const Finding **out, const FindingSet *derived, const Finding *claimed,
                  Err *err) {
    const Finding *found = find_finding(derived, claimed->id);
    *out = found;
    if (!found) {
        return err_set(err, "'%.*s' is no longer found: the code or the rules changed since "
                       "the scan; scan again", STR_FMT(claimed->id));
    }
    if (!str_eq(found->file_sha256, claimed->file_sha256)) {
        return err_set(err, "'%.*s' changed since the scan; scan again",
                       STR_FMT(claimed->file));
    }
    if (!str_eq(found->rule_version, claimed->rule_version)) {
        return err_set(err, "the rule '%.*s' changed since the scan; scan again",
                       STR_FMT(claimed->rule));
    }
    const char *field = find_difference(found, claimed);
    if (!field) return true;
    return err_set(err, "'%.*s': the '%s' in findings.json is not what the code gives: that "
                   "file was edited, or other code changed; scan again",
                   STR_FMT(claimed->id), field);
}

bool derive_check(DeriveList list, Arena *run, const DeriveRequest *request, Err *err) {
    FindingSet derived;
    if (!derive_scan(&derived, run, request, err)) return false;
    for (uint32_t i = 0; i < list.len; i++) {
        if (!derive_match(&list.out[i], &derived, list.claimed[i], err)) return false;
    }
    return true;
}
