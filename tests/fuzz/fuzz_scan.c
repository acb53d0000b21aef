// fuzz_scan.c - any bytes as a Python file: scan it with the rules of this
// repository and write both reports. Nothing in a source may crash the scan,
// fail it, or make it take more than a little memory.
#include "base/base.h"

#include "fuzz.h"
#include "match/scan.h"
#include "report/findings_json.h"
#include "report/markdown.h"

enum { RUN_MAX_BYTES = 256 * 1024 * 1024 };

static void check_findings(const FindingSet *set) {
    for (uint32_t i = 0; i < set->findings.len; i++) {
        const Finding *f = &set->findings.at[i];
        if (f->start_line == 0 || f->end_line < f->start_line ||
            f->end_line > set->line_count) {
            BUG("finding at lines %u-%u of %u", f->start_line, f->end_line,
                set->line_count);
        }
        if (f->verdict == VERDICT_RECOMMEND && f->replacement.len == 0) {
            BUG("recommended without a replacement: %.*s", STR_FMT(f->id));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const FOLDERS[] = {SOURCE_ROOT "/rules"};
    ScanOptions options = {.rule_folders = FOLDERS, .rule_folder_count = 1,
                           .root = STR("."), .explain_file = STR("")};
    Arena run;
    FindingSet set;
    Err err;
    arena_init(&run);
    Str text = arena_str(&run, (Str){(const char *)data, size});
    ScanInput input = {.path = "fuzz.py", .shown = STR("fuzz.py"),
                       .text = text, .has_text = true};
    if (!scan_run(&set, &run, (ScanInputs){&input, 1}, &options, &err)) BUG("%s", err.text);
    check_findings(&set);
    Buf out = {0};
    findings_json_write(&out, &set);
    markdown_write(&out, &set, &(MarkdownStyle){LANG_EN, STR("o ut")});
    markdown_write(&out, &set, &(MarkdownStyle){LANG_ZH, {0}});
    if (run.total_bytes > RUN_MAX_BYTES || out.len > RUN_MAX_BYTES) {
        BUG("%zu bytes of memory for %zu bytes of source", run.total_bytes,
            size);
    }
    buf_free(&out);
    arena_free(&run);
    return 0;
}
