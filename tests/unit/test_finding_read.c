// test_finding_read.c - findings.json comes back as it was written, and a file
// that somebody edited is refused with the place of the fault.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/file.h"
#include "model/finding_read.h"
#include "report/findings_json.h"

#include "sample_findings.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/npufuse-read-XXXXXX";
static Arena arena;

static int set_up(void **state) {
    (void)state;
    arena_init(&arena);
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    Err err;
    bool ok = file_remove(folder, &err);
    arena_free(&arena);
    return ok ? 0 : -1;
}

// The sample's text, with the first `from` replaced by `to`.
static Str sample_text(const char *from, const char *to) {
    FindingSet set;
    Buf buf = {0}, changed = {0};
    fill_sample(&set);
    findings_json_write(&buf, &set);
    const char *at = strstr(buf.at, from);
    assert_non_null(at);
    buf_add(&changed, (Str){buf.at, (size_t)(at - buf.at)});
    buf_add(&changed, str_of(to));
    buf_add(&changed, str_of(at + strlen(from)));
    Str text = arena_str(&arena, buf_str(&changed));
    buf_free(&buf);
    buf_free(&changed);
    return text;
}

static bool read_text(FindingSet *set, Str text, Err *err) {
    char *path = path_join(&arena, str_of(folder), STR("findings.json"));
    assert_true(file_write(path, text, err));
    return findings_read(set, &arena, path, err);
}

static void test_round_trip(void **state) {
    (void)state;
    FindingSet set;
    Err err = {{0}};
    Str golden;
    const char *path = SOURCE_ROOT "/tests/unit/golden/findings.json";
    assert_true(file_read(&golden, &arena, path, 1 << 24, &err));
    if (!findings_read(&set, &arena, path, &err)) fail_msg("%s", err.text);
    Buf again = {0};
    findings_json_write(&again, &set);
    assert_string_equal(again.at, golden.at);
    buf_free(&again);
}

typedef struct Edit {
    const char *from, *to, *said;
} Edit;

static const Edit edits[] = {
    {"\"schema\": 1", "\"schema\": 2", "has schema 2, this npufuse reads 1"},
    {"\"schema\": 1", "\"schema\": 0", "schema: is not the number 1"},
    {"\"schema\": 1,", "", "schema: is missing"},
    {"\"root\": \"models\"", "\"root\": \"\"", "root: is empty"},
    {"[\"mine/rules\"]", "[1]", "scan.rules[0]: is not a string"},
    {"\"rule\": \"\"", "\"rule\": null", "scan.rule: is not a string"},
    {"\"files\": 12", "\"files\": -1", "counts.files: is not a number"},
    {"\"verdict\": \"reject\"", "\"verdict\": \"maybe\"",
     "findings[0].verdict: is not a verdict"},
    {"\"state\": \"refuted\"", "\"state\": 3",
     "findings[0].facts[0].state: is not the state of a fact"},
    {"\"start_line\": 76", "\"start_line\": 0",
     "findings[0].start_line: is not a line number"},
    {"\"start_line\": 76", "\"start_line\": 76.5",
     "findings[0].start_line: is not a line number"},
    {"\"start_line\": 76", "\"start_line\": 4294967296",
     "findings[0].start_line: is not a line number"},
    {"\"end_line\": 79", "\"end_line\": 75",
     "findings[0].end_line: is before the first line"},
    {"\"rule_version\": \"0", "\"rule_version\": \"G",
     "findings[0].rule_version: is not 12 hexadecimal digits"},
    {"\"file_sha256\": \"00", "\"file_sha256\": \"",
     "findings[0].file_sha256: is not 64 hexadecimal digits"},
    {"0badc0de#2", "0badc0de", "two findings have the id"},
    {"\"inserts\": []", "\"inserts\": {}", "findings[0].inserts: is not a list"},
    {"\"findings\": [", "\"findings\": [7,", "findings[0]: is not an object"},
    {"\"kind\": \"existing\"", "\"kind\": \"\"",
     "findings[2].switch.kind: is not a kind of switch"},
    {"\"order\": 1", "\"order\": 6", "inserts[1].order: is not known"},
};

static void test_faults_have_a_place(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(edits); i++) {
        FindingSet set;
        Err err = {{0}};
        assert_false(read_text(&set, sample_text(edits[i].from, edits[i].to), &err));
        if (!strstr(err.text, edits[i].said) || !strstr(err.text, "scan again")) {
            fail_msg("'%s' says: %s", edits[i].to, err.text);
        }
    }
}

static void test_files_stay_below_the_root(void **state) {
    (void)state;
    static const char *const bad[] = {"/etc/passwd", "../a.py", "a/../b.py", "a//b.py",
                                      "./a.py", "a/..", "a/", "", "a\\u0000b.py"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        FindingSet set;
        Err err = {{0}};
        Str to = arena_printf(&arena, "\"high\",\n      \"file\": \"%s\"", bad[i]);
        Str text = sample_text("\"high\",\n      \"file\": \"gpt_oss/modeling_gpt_oss.py\"",
                               to.at);
        assert_false(read_text(&set, text, &err));
        assert_non_null(strstr(err.text, "findings[0].file: is not a path below the root"));
    }
    assert_true(finding_file_is_safe(STR("a/..b/c...py")));
    assert_true(finding_file_is_safe(STR("...")));
}

// Any prefix of the file is refused, without reading beyond it.
static void test_cut_off(void **state) {
    (void)state;
    Str text = sample_text("", "");
    for (size_t len = 0; len + 2 < text.len; len += 997) {
        FindingSet set;
        Err err = {{0}};
        assert_false(read_text(&set, (Str){text.at, len}, &err));
        assert_non_null(strstr(err.text, "not valid JSON"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_faults_have_a_place),
        cmocka_unit_test(test_files_stay_below_the_root),
        cmocka_unit_test(test_cut_off),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
