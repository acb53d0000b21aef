// scan.c - `npufuse scan`: paths to findings to findings.json and report.md.
// It reads the project and writes its own folder, nothing else.
#include "base/base.h"

#include "base/aside.h"
#include "base/file.h"
#include "base/locate.h"
#include "cli/api_book.h"
#include "cli/commands.h"
#include "cli/measure.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/output_folder.h"
#include "cli/paths.h"
#include "cli/scan_cache.h"
#include "match/scan.h"
#include "model/utf8.h"
#include "prof/chips.h"
#include "report/findings_json.h"
#include "report/github.h"
#include "report/groups.h"
#include "report/markdown.h"
#include "report/sarif.h"
#include "report/summary.h"

#include <stdlib.h>

enum { FAULTS_SHOWN = 20 };

typedef struct ScanArgs {
    const char *output, *format, *lang, *rule, *explain, *stdin_name, *python;
    const char *jobs, *profile, *chip;
    ArgList rules;
    bool no_cache, no_filter, strict, error_on_findings, quiet, verbose;
} ScanArgs;

#define FIELD(name) offsetof(ScanArgs, name)

static const Option options[] = {
    {"output", 'o', OPTION_TEXT, "DIR",
     "where report.md and findings.json go (fusion_verify)", FIELD(output)},
    {"format", 0, OPTION_TEXT, "text|json|md|sarif|github",
     "what is printed (text); the files are always written", FIELD(format)},
    {"lang", 'l', OPTION_TEXT, "zh|en",
     "language of the report (by LC_ALL, LC_MESSAGES, LANG)", FIELD(lang)},
    {"rules", 0, OPTION_LIST, "DIR",
     "more rules, beside the bundled ones; may be repeated\n"
     "(their operators: DIR/../ops)", FIELD(rules)},
    {"rule", 0, OPTION_TEXT, "ID", "look for this rule only", FIELD(rule)},
    {"explain", 0, OPTION_TEXT, "FILE:LINE",
     "say for the code there why each rule matches or not", FIELD(explain)},
    {"profile", 0, OPTION_TEXT, "DIR",
     "measured time beside each candidate: a *_ascend_pt folder, or\n"
     "a file of the profiler (as 'npufuse profile' takes it)", FIELD(profile)},
    {"chip", 0, OPTION_TEXT, "NAME", "of the profile, where it does not say (910B2)", FIELD(chip)},
    {"jobs", 'j', OPTION_TEXT, "N", "threads (one for each processor)", FIELD(jobs)},
    {"no-filter", 0, OPTION_FLAG, NULL,
     "try every rule on every function; slower, same findings",
     FIELD(no_filter)},
    {"no-cache", 0, OPTION_FLAG, NULL,
     "scan again even if nothing changed since the last scan", FIELD(no_cache)},
    {"strict", 0, OPTION_FLAG, NULL,
     "a syntax fault, or a function read in part, gives exit code 1",
     FIELD(strict)},
    {"error-on-findings", 0, OPTION_FLAG, NULL,
     "a recommended or cautioned candidate gives exit code 1",
     FIELD(error_on_findings)},
    {"stdin-filename", 0, OPTION_TEXT, "NAME",
     "how to call standard input, for PATH -", FIELD(stdin_name)},
    {"python", 0, OPTION_TEXT, "EXE",
     "whose site-packages hold the modules named as PATH", FIELD(python)},
    {"quiet", 'q', OPTION_FLAG, NULL, "only data and errors", FIELD(quiet)},
    {"verbose", 'v', OPTION_FLAG, NULL,
     "name everything that was skipped, and why",
     FIELD(verbose)},
};

static const Usage usage = {
    .name = "scan",
    .operands = "PATH...",
    .purpose =
        "Finds hand-written code that a fused operator of torch_npu can "
        "replace, and\nwrites a report to read before anything is confirmed. "
        "The project is only read.\n\nPATH is a folder, a file, a dotted "
        "module name (transformers.models.qwen3), or\n- for standard input; "
        "none means the current folder.",
    .example = "npufuse scan models/ && less fusion_verify/report.md",
    .options = options,
    .option_count = COUNT(options),
    .exit_help = {
        [EXIT_NO] = "the answer is no: --strict or --error-on-findings applies",
    },
};

typedef struct Scan {
    ScanArgs args;
    Arena *run;
    const ArgList *operands;
    PathList paths;
    ScanOptions options;
    FindingSet set;
    Lang lang;
    Buf json, report, explanation;
} Scan;

static bool has_verbosity_conflict(const ScanArgs *args) {
    return args->quiet && args->verbose;
}

// The input that the user calls `name`; NULL if it is not scanned.
static const PathFile *find_input(const PathList *paths, Str name) {
    for (uint32_t i = 0; i < paths->files.len; i++) {
        const PathFile *file = &paths->files.at[i];
        if (str_eq(file->shown, name)) return file;
        if (file->path && str_is(name, file->path)) return file;
    }
    return NULL;
}

// FILE:LINE -> the name as findings show it, and the line.
static bool read_explain(Scan *scan, Err *err) {
    const char *text = scan->args.explain;
    if (!text) return true;
    const char *colon = strrchr(text, ':');
    char *end = NULL;
    unsigned long line = colon ? strtoul(colon + 1, &end, 10) : 0;
    if (!colon || *end || line == 0 || line > UINT32_MAX) {
        return err_set(err, "'--explain' takes FILE:LINE, not '%s'", text);
    }
    Str name = {text, (size_t)(colon - text)};
    if (str_starts(name, "./")) name = (Str){name.at + 2, name.len - 2};
    const PathFile *file = find_input(&scan->paths, name);
    if (!file) {
        return err_set(err, "'%.*s' is not among the scanned files",
                       STR_FMT(name));
    }
    scan->options.explain_file = file->shown;
    scan->options.explain_line = (uint32_t)line;
    return true;
}

static bool read_jobs(Scan *scan, Err *err) {
    const char *text = scan->args.jobs;
    if (!text) return true;
    char *end = NULL;
    unsigned long jobs = strtoul(text, &end, 10);
    if (*end || end == text || jobs == 0 || jobs > 1024) {
        return err_set(err, "'--jobs' takes a number from 1 to 1024, not '%s'", text);
    }
    scan->options.jobs = (uint32_t)jobs;
    return true;
}

static bool make_inputs(Scan *scan, ScanInput **out, Err *err) {
    const PathList *paths = &scan->paths;
    ScanInput *inputs = NEW_N(scan->run, ScanInput, paths->files.len);
    for (uint32_t i = 0; i < paths->files.len; i++) {
        const PathFile *file = &paths->files.at[i];
        inputs[i] = (ScanInput){.path = file->path, .shown = file->shown};
        if (file->path) continue;
        inputs[i].path = file->shown.at;
        inputs[i].has_text = true;
        if (!file_read_stdin(&inputs[i].text, scan->run, FILE_MAX_BYTES,
                             err)) {
            return false;
        }
    }
    *out = inputs;
    return true;
}

static int compare_skipped(const void *a, const void *b) {
    const Skipped *x = a, *y = b;
    int order = str_cmp(x->file, y->file);
    if (order) return order;
    return x->line < y->line ? -1 : x->line > y->line;
}

static void add_skipped_paths(Scan *scan) {
    FindingSet *set = &scan->set;
    for (uint32_t i = 0; i < scan->paths.skipped.len; i++) {
        vec_push(scan->run, &set->skipped, scan->paths.skipped.at[i]);
    }
    if (set->skipped.len) {
        qsort(set->skipped.at, set->skipped.len, sizeof(*set->skipped.at),
              compare_skipped);
    }
}

static void take_explanation(void *data, Str line) {
    Scan *scan = data;
    buf_add(&scan->explanation, utf8_one_line(scan->run, line));
    buf_add_char(&scan->explanation, '\n');
}

// The rule folders: the bundled ones first, then those of --rules.
static bool choose_rules(Scan *scan, Err *err) {
    ArgList folders = {0};
    Str bundled;
    if (!locate_rules(&bundled, scan->run, err)) return false;
    vec_push(scan->run, &folders, bundled.at);
    for (uint32_t i = 0; i < scan->args.rules.len; i++) {
        vec_push(scan->run, &folders, scan->args.rules.at[i]);
    }
    scan->options.rule_folders = folders.at;
    scan->options.rule_folder_count = folders.len;
    return true;
}

// What was asked for, so that a later command can ask the same.
static void record_request(Scan *scan) {
    ScanRecord *record = &scan->set.scan;
    for (uint32_t i = 0; i < scan->operands->len; i++) {
        vec_push(scan->run, &record->paths, str_of(scan->operands->at[i]));
    }
    for (uint32_t i = 0; i < scan->args.rules.len; i++) {
        vec_push(scan->run, &record->rules, str_of(scan->args.rules.at[i]));
    }
    record->rule = str_of(scan->args.rule);
    record->python = str_of(scan->args.python);
}

static bool run_fresh(Scan *scan, ScanInputs inputs, Err *err) {
    if (!scan_run(&scan->set, scan->run, inputs, &scan->options, err)) return false;
    scan->set.root = scan->paths.root;
    record_request(scan);
    scan->set.tool_version = str_of(NPUFUSE_VERSION);
    return true;
}

// The findings of the last scan where nothing changed since. An explanation is
// not kept, so asking for one scans.
static bool run_or_remember(Scan *scan, ScanInputs inputs, Err *err) {
    ScanKey key;
    ScanTraces traces = {.arena = scan->run};
    if (scan->args.no_cache || scan->args.explain) return run_fresh(scan, inputs, err);
    scan_key(&key, scan->run, inputs, &scan->options);
    if (scan_cache_read(&scan->set, scan->run, &key, scan->options.jobs)) {
        scan->set.scan = (ScanRecord){0};
        record_request(scan);
        return true;
    }
    scan->options.traces = &traces;
    if (!run_fresh(scan, inputs, err)) return false;
    scan_cache_write(&scan->set, scan->run, &key, &traces);
    return true;
}

static bool find(Scan *scan, Err *err) {
    ScanInput *inputs;
    scan->options.only_rule = str_of(scan->args.rule);
    scan->options.no_filter = scan->args.no_filter;
    if (!read_jobs(scan, err)) return false;
    scan->options.root = scan->paths.root;
    scan->options.explain = take_explanation;
    scan->options.explain_data = scan;
    if (output_has_progress() && !scan->args.quiet) {
        scan->options.progress = output_progress;
    }
    scan->options.book = api_installed(scan->run, scan->args.python);
    if (!choose_rules(scan, err) || !read_explain(scan, err)) return false;
    if (!make_inputs(scan, &inputs, err)) return false;
    if (!run_or_remember(scan, (ScanInputs){inputs, scan->paths.files.len}, err)) return false;
    add_skipped_paths(scan);
    return true;
}

// Measured time beside the findings, where a profile is given.
static bool measure(Scan *scan, Err *err) {
    ProfileLoaded *loaded = NEW(scan->run, ProfileLoaded);
    ProfReport report;
    MineOptions mine = {.custom_max = 20};
    ProfileSource source = {.path = scan->args.profile, .python = scan->args.python};
    if (!scan->args.profile) return true;
    if (scan->args.chip && !chip_find(&mine.chip, scan->args.chip)) {
        return err_set(err, "unknown chip '%s': one of %s", scan->args.chip, chip_names());
    }
    source.has_progress = output_has_progress() && !scan->args.quiet;
    if (!profile_load(loaded, scan->run, &source, err)) return false;
    profile_mine(&report, scan->run, loaded, &mine);
    measure_findings(&scan->set, scan->run, loaded, &report);
    return true;
}

// As commands have to name it: nothing for the usual one.
static Str shown_folder(const Scan *scan) {
    const char *folder = scan->args.output;
    return strcmp(folder, OUTPUT_FOLDER) == 0 ? STR("") : str_of(folder);
}

static void *make_report(void *data) {
    Scan *scan = data;
    markdown_write(&scan->report, &scan->set,
                   &(MarkdownStyle){scan->lang, shown_folder(scan)});
    return NULL;
}

static bool write_files(Scan *scan, Err *err) {
    const char *folder = scan->args.output;
    Aside report = {.work = make_report, .data = scan};
    aside_start(&report, scan->options.jobs != 1);
    findings_json_write(&scan->json, &scan->set);
    aside_wait(&report);
    return output_folder_open(scan->run, folder, err) &&
           output_folder_write(scan->run, folder, "findings.json",
                               buf_str(&scan->json), err) &&
           output_folder_write(scan->run, folder, "report.md",
                               buf_str(&scan->report), err);
}

// What is printed in a format that is none for people at a terminal, written to `made`
// where it is in no file already; false if the format is "text".
static bool render(Str *out, Buf *made, const Scan *scan) {
    const char *format = scan->args.format;
    if (strcmp(format, "text") == 0) return false;
    if (strcmp(format, "sarif") == 0) sarif_write(made, &scan->set);
    if (strcmp(format, "github") == 0) github_write(made, &scan->set);
    *out = strcmp(format, "json") == 0 ? buf_str(&scan->json)
           : strcmp(format, "md") == 0 ? buf_str(&scan->report) : buf_str(made);
    return true;
}

// The explanation is data of the text format, and talk beside the others.
static bool print(Scan *scan, Err *err) {
    Buf made = {0};
    Str rendered;
    if (render(&rendered, &made, scan)) {
        output_talk(buf_str(&scan->explanation));
        bool written = output_write(rendered, err);
        buf_free(&made);
        return written;
    }
    if (!output_write(buf_str(&scan->explanation), err)) return false;
    SummaryStyle style = {scan->lang, output_has_colour()};
    Buf text = {0};
    summary_write(&text, &scan->set, &style);
    bool ok = output_write(buf_str(&text), err);
    buf_free(&text);
    return ok;
}

static void tell_fault(const Scan *scan, const Skipped *skipped) {
    Str line = arena_printf(scan->run, "%.*s:%u: %.*s", STR_FMT(skipped->file),
                            (unsigned)skipped->line, STR_FMT(skipped->reason));
    output_note(utf8_one_line(scan->run, line));
}

static void tell_whole_file(const Scan *scan, const Skipped *skipped) {
    Str line = arena_printf(scan->run, "%.*s: skipped: %.*s",
                            STR_FMT(skipped->file), STR_FMT(skipped->reason));
    output_note(utf8_one_line(scan->run, line));
}

static void tell_skipped(const Scan *scan) {
    uint32_t count = scan->set.skipped.len;
    uint32_t shown = scan->args.verbose || count < FAULTS_SHOWN ? count : FAULTS_SHOWN;
    for (uint32_t i = 0; i < shown; i++) {
        const Skipped *skipped = &scan->set.skipped.at[i];
        if (skipped->line == 0) tell_whole_file(scan, skipped);
        else tell_fault(scan, skipped);
    }
    if (count > shown) {
        output_note(arena_printf(scan->run, "and %u more (-v shows them)",
                                 (unsigned)(count - shown)));
    }
}

// Without what stands aside: nobody has to act on an optimizer of torch.
static uint32_t count_candidates(const FindingSet *set) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < set->findings.len; i++) {
        const Finding *f = &set->findings.at[i];
        count += f->verdict != VERDICT_REJECT && !finding_is_aside(f);
    }
    return count;
}

static bool has_replacement(const FindingSet *set) {
    for (uint32_t i = 0; i < set->findings.len; i++) {
        if (set->findings.at[i].replacement.len) return true;
    }
    return false;
}

static bool has_fault(const FindingSet *set) {
    for (uint32_t i = 0; i < set->skipped.len; i++) {
        if (set->skipped.at[i].line) return true;
    }
    return false;
}

static void tell_confirm(const Scan *scan) {
    Buf command = {0}, line = {0};
    markdown_confirm_command(&command, shown_folder(scan));
    Str args[] = {buf_str(&command)};
    say(&line, scan->lang, SAY_SHORT_CONFIRM, args);
    output_note(utf8_one_line(scan->run, buf_str(&line)));
    buf_free(&command);
    buf_free(&line);
}

static void tell(const Scan *scan) {
    if (scan->args.quiet) return;
    tell_skipped(scan);
    Str path[] = {arena_printf(scan->run, "%s/report.md", scan->args.output)};
    Buf line = {0};
    say(&line, scan->lang, SAY_SHORT_REPORT, path);
    output_note(buf_str(&line));
    buf_free(&line);
    if (has_replacement(&scan->set)) tell_confirm(scan);
}

static int run_scan(Scan *scan, const PathRequest *request) {
    Err err;
    bool ok = output_folder_check(scan->run, scan->args.output, &err) &&
              paths_collect(&scan->paths, scan->run, request, &err) &&
              find(scan, &err) && measure(scan, &err) &&
              write_files(scan, &err) && print(scan, &err);
    if (!ok) return output_fail(EXIT_USAGE, "%s", err.text);
    tell(scan);
    bool no = (scan->args.strict && has_fault(&scan->set)) ||
              (scan->args.error_on_findings && count_candidates(&scan->set));
    return no ? EXIT_NO : EXIT_DONE;
}

int scan_command(const Args *args) {
    Scan scan = {.args = {.output = OUTPUT_FOLDER, .format = "text"},
                 .run = args->run};
    PathRequest request = {.python = NULL};
    int code;
    if (!options_read(&scan.args, &request.operands, &usage, args, &code)) {
        return code;
    }
    if (has_verbosity_conflict(&scan.args)) {
        return output_fail(EXIT_USAGE, "'-q' and '-v' exclude each other");
    }
    scan.operands = &request.operands;
    request.python = scan.args.python;
    request.stdin_name = scan.args.stdin_name;
    request.output = scan.args.output;
    scan.lang = output_lang(scan.args.lang);
    code = run_scan(&scan, &request);
    buf_free(&scan.json);
    buf_free(&scan.report);
    buf_free(&scan.explanation);
    return code;
}
