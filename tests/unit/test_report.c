// test_report.c - the writers against golden files in tests/unit/golden.
// After a wanted change: NPUFUSE_ACCEPT=1 build/dev/tests/test_report, then
// read the diff before committing it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/file.h"
#include "report/findings_json.h"
#include "report/markdown.h"
#include "report/summary.h"

#include "sample_findings.h"

#include <stdlib.h>

static void check_golden(const Buf *made, const char *name) {
    Arena arena;
    arena_init(&arena);
    Err err = {{0}};
    Str path = arena_printf(&arena, SOURCE_ROOT "/tests/unit/golden/%s", name);
    if (getenv("NPUFUSE_ACCEPT")) {
        assert_true(file_write(path.at, buf_str(made), &err));
    }
    Str golden;
    if (!file_read(&golden, &arena, path.at, 1 << 24, &err)) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(made->at, golden.at);
    arena_free(&arena);
}

static void check_markdown(Lang lang, const char *name) {
    FindingSet set;
    fill_sample(&set);
    Buf buf = {0};
    markdown_write(&buf, &set, &(MarkdownStyle){lang, {0}});
    check_golden(&buf, name);
    buf_free(&buf);
}

static void test_markdown_en(void **state) {
    (void)state;
    check_markdown(LANG_EN, "report_en.md");
}

static void test_markdown_zh(void **state) {
    (void)state;
    check_markdown(LANG_ZH, "report_zh.md");
}

static void test_findings_json(void **state) {
    (void)state;
    FindingSet set;
    fill_sample(&set);
    Buf buf = {0};
    findings_json_write(&buf, &set);
    check_golden(&buf, "findings.json");
    buf_free(&buf);
}

static void test_summary(void **state) {
    (void)state;
    FindingSet set;
    fill_sample(&set);
    Buf buf = {0};
    summary_write(&buf, &set, &(SummaryStyle){.lang = LANG_EN});
    check_golden(&buf, "summary_en.txt");
    buf_clear(&buf);
    summary_write(&buf, &set, &(SummaryStyle){.lang = LANG_ZH});
    check_golden(&buf, "summary_zh.txt");
    buf_free(&buf);
}

static void test_nothing_found(void **state) {
    (void)state;
    FindingSet set = {.root = STR("."), .tool_version = STR("0.1.0")};
    Buf buf = {0};
    markdown_write(&buf, &set, &(MarkdownStyle){LANG_EN, {0}});
    check_golden(&buf, "report_empty.md");
    buf_free(&buf);
}

static void test_every_phrase_has_each_language(void **state) {
    (void)state;
    for (int p = 0; p < PHRASE_COUNT; p++) {
        for (int lang = 0; lang < LANG_COUNT; lang++) {
            assert_true(phrase((Lang)lang, (Phrase)p)[0] != 0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_markdown_en),
        cmocka_unit_test(test_markdown_zh),
        cmocka_unit_test(test_findings_json),
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_nothing_found),
        cmocka_unit_test(test_every_phrase_has_each_language),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
