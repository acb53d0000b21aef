// report.c - `npufuse report`: the page of a verification once more, or its verdict
// in Markdown.
#include "base/base.h"

#include "base/file.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/output_folder.h"
#include "cli/report_page.h"
#include "model/json_read.h"
#include "model/task.h"
#include "report/verdict_md.h"

typedef struct ReportArgs {
    const char *output, *html, *format, *lang;
} ReportArgs;

#define FIELD(name) offsetof(ReportArgs, name)

static const Option options[] = {
    {"html", 0, OPTION_TEXT, "FILE", "where the page of one ID goes (DIR/<candidate>.html)",
     FIELD(html)},
    {"format", 0, OPTION_TEXT, "html|md|json",
     "html writes pages; md prints verdicts, json what verification wrote (html)",
     FIELD(format)},
    {"lang", 'l', OPTION_TEXT, "zh|en", "language of md (by LC_ALL, LC_MESSAGES, LANG)",
     FIELD(lang)},
    {"output", 'o', OPTION_TEXT, "DIR", "the folder that scan wrote (fusion_verify)",
     FIELD(output)},
};

static const Usage usage = {
    .name = "report",
    .operands = "[ID...]",
    .purpose = "Makes the HTML pages of verified candidates again, out of what verification\n"
               "wrote down: all that there are, or those of the IDs. Or prints each verdict in\n"
               "Markdown, for a terminal or a comment.",
    .example = "npufuse report",
    .options = options,
    .option_count = COUNT(options),
};

typedef struct Report {
    Str text;
    const JsonVal *json;
} Report;

static bool read_report(Report *out, Arena *run, const ReportArgs *args, Str slug, Err *err) {
    const char *path = path_join(run, str_of(args->output),
                                 arena_printf(run, "%.*s.report.json", STR_FMT(slug)));
    if (file_kind(path) == FILE_NONE) {
        return err_set(err, "there is no '%s': run 'npufuse verify' first", path);
    }
    if (!file_read(&out->text, run, path, FILE_MAX_BYTES, err)) return false;
    if (!json_read(&out->json, run, out->text, path, err)) return false;
    if (!json_is_object(out->json)) return err_set(err, "'%s' is no report", path);
    return true;
}

static bool print_verdict(const ReportArgs *args, const JsonVal *report, Err *err) {
    Buf out = {0};
    verdict_md_write(&out, report, output_lang(args->lang));
    bool ok = output_write(buf_str(&out), err);
    buf_free(&out);
    return ok;
}

static bool make_page(Arena *run, const ReportArgs *args, Str slug, Str text, Err *err) {
    const char *page = args->html ? args->html
                                  : path_join(run, str_of(args->output),
                                              arena_printf(run, "%.*s.html", STR_FMT(slug)));
    if (!page_write(run, page, text, err)) return false;
    output_note(str_of(page));
    return true;
}

static bool make(Arena *run, const ReportArgs *args, Str slug, Err *err) {
    Report report;
    if (!read_report(&report, run, args, slug, err)) return false;
    if (strcmp(args->format, "md") == 0) return print_verdict(args, report.json, err);
    if (strcmp(args->format, "json") == 0) return output_write(report.text, err);
    return make_page(run, args, slug, report.text, err);
}

static int make_all(Arena *run, const ReportArgs *args) {
    TaskList tasks;
    Err err;
    uint32_t made = 0;
    if (!tasks_read(&tasks, run, args->output, &err)) {
        return output_fail(EXIT_USAGE, "%s", err.text);
    }
    for (uint32_t i = 0; i < tasks.tasks.len; i++) {
        const Task *task = &tasks.tasks.at[i];
        Str name = arena_printf(run, "%.*s.report.json", STR_FMT(task->slug));
        if (file_kind(path_join(run, str_of(args->output), name)) == FILE_NONE) continue;
        if (!make(run, args, task->slug, &err)) {
            return output_fail(EXIT_USAGE, "%s", err.text);
        }
        made++;
    }
    if (made) return EXIT_DONE;
    return output_fail(EXIT_BLOCKED, "no candidate was verified yet; run 'npufuse verify'");
}

int report_command(const Args *args) {
    ReportArgs given = {.output = OUTPUT_FOLDER, .format = "html"};
    ArgList ids = {0};
    Err err;
    int code;
    if (!options_read(&given, &ids, &usage, args, &code)) return code;
    if (given.html && ids.len != 1) {
        return output_fail(EXIT_USAGE, "'--html' is for the page of one ID");
    }
    if (given.html && strcmp(given.format, "html") != 0) {
        return output_fail(EXIT_USAGE, "'--html' and '--format %s' exclude each other",
                           given.format);
    }
    if (!ids.len) return make_all(args->run, &given);
    for (uint32_t i = 0; i < ids.len; i++) {
        Str slug = task_slug(args->run, str_of(ids.at[i]));
        if (make(args->run, &given, slug, &err)) continue;
        return output_fail(EXIT_USAGE, "%s", err.text);
    }
    return EXIT_DONE;
}
