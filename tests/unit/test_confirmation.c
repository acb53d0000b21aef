// test_confirmation.c - a confirmation holds for the text that it was made of
// and for nothing else; confirmations.json comes back as it was written.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/file.h"
#include "model/confirmation.h"
#include "model/shell.h"

#include "sample_findings.h"

#include <stdlib.h>

static char folder[] = "/tmp/npufuse-confirm-XXXXXX";
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

enum { NORM = 3, SWIGLU = 4, REFUSED = 0 }; // of the sample

static void check_reason(const Confirmation *c, const Finding *finding, const char *said) {
    Str reason;
    assert_int_equal(confirmation_state(&reason, c, finding), *said == 0);
    assert_string_equal(arena_cstr(&arena, reason), said);
}

static void test_any_difference_voids(void **state) {
    (void)state;
    FindingSet set;
    fill_sample(&set);
    const Finding *norm = &set.findings.at[NORM];
    Confirmation c = confirmation_of(&arena, norm);
    check_reason(&c, norm, "");
    check_reason(NULL, norm, "it is not confirmed");
    check_reason(&c, NULL, "the candidate is no longer found");
    check_reason(&c, &set.findings.at[SWIGLU], "another candidate was confirmed");
    Finding other = *norm;
    other.verdict = VERDICT_REJECT;
    check_reason(&c, &other, "there is no replacement any more");
    other = *norm;
    other.file_sha256 = STR("0");
    check_reason(&c, &other, "the file is not the confirmed one");
    other = *norm;
    other.rule_version = STR("0");
    check_reason(&c, &other, "the rule is not the one of the confirmation");
    other = *norm;
    other.original.len--;
    check_reason(&c, &other, "the original lines are not the confirmed ones");
    other = *norm;
    other.replacement.len--;
    check_reason(&c, &other, "the replacement is not the confirmed one");
}

static void test_edits_are_bound(void **state) {
    (void)state;
    FindingSet set;
    fill_sample(&set);
    const Finding *norm = &set.findings.at[NORM];
    const char *said = "the additions to the file are not the confirmed ones";
    Confirmation c = confirmation_of(&arena, norm);
    Finding other = *norm;
    other.start_line++;
    check_reason(&c, &other, said);
    other = *norm;
    other.inserts.len--;
    check_reason(&c, &other, said);
    Insert changed = norm->inserts.at[0];
    changed.line++;
    other = *norm;
    other.inserts.at = &changed;
    other.inserts.len = 1;
    check_reason(&c, &other, said);
}

// No text of one field may pass as the end of another.
static void test_fields_do_not_run_together(void **state) {
    (void)state;
    Finding a = {.file = STR("a"), .start_line = 1, .end_line = 12, .replacement = STR("x")};
    Finding b = {.file = STR("a"), .start_line = 11, .end_line = 2, .replacement = STR("x")};
    char one[SHA256_HEX + 1], two[SHA256_HEX + 1], known[SHA256_HEX + 1];
    confirmation_edits_sha256(one, &a);
    confirmation_edits_sha256(two, &b);
    assert_string_not_equal(one, two);
    sha256_hex(known, STR("a\0" "1\0" "12\0" "x\0"));
    assert_string_equal(one, known);
}

static void test_round_trip(void **state) {
    (void)state;
    FindingSet findings;
    ConfirmationSet set = {{0}}, again;
    Err err = {{0}};
    fill_sample(&findings);
    assert_true(confirmations_read(&again, &arena, folder, &err));
    assert_int_equal(again.list.len, 0);
    for (int i = SWIGLU; i >= NORM; i--) {
        Confirmation c = confirmation_of(&arena, &findings.findings.at[i]);
        c.by = i == NORM ? CONFIRMED_STATEMENT : CONFIRMED_TERMINAL;
        c.statement = i == NORM ? STR("yes, \"that\" one") : STR("");
        c.confirmed_at = STR("2026-12-02T14:00:00Z");
        confirmation_put(&set, &arena, c);
        confirmation_put(&set, &arena, c);
    }
    assert_int_equal(set.list.len, 2);
    assert_true(confirmations_write(&set, &arena, folder, &err));
    if (!confirmations_read(&again, &arena, folder, &err)) fail_msg("%s", err.text);
    assert_int_equal(again.list.len, 2);
    const Confirmation *c = confirmation_find(&again, findings.findings.at[NORM].id);
    assert_ptr_equal(c, &again.list.at[0]);
    assert_int_equal(c->by, CONFIRMED_STATEMENT);
    assert_true(str_is(c->statement, "yes, \"that\" one"));
    check_reason(c, &findings.findings.at[NORM], "");
}

#define HEX32 "0123456789abcdef0123456789abcdef"
#define ENTRY                                                                      \
    "{\"id\":\"i\",\"file\":\"f.py\",\"rule\":\"r\",\"rule_version\":\"0123456789ab\","  \
    "\"file_sha256\":\"" HEX32 HEX32 "\",\"original_sha256\":\"" HEX32 HEX32 "\","     \
    "\"replacement_sha256\":\"" HEX32 HEX32 "\",\"edits_sha256\":\"" HEX32 HEX32 "\"," \
    "\"by\":\"statement\",\"statement\":\"yes\",\"confirmed_at\":\"now\"}"

static const char *const faults[][3] = { // what becomes what, and is told
    {"\"schema\":1", "\"schema\":2", "has schema 2"},
    {"\"schema\":1", "\"schema\":\"1\"", "is not what npufuse writes"},
    {"\"confirmations\":[", "\"confirmation\":[", "is not what npufuse writes"},
    {"\"id\":\"i\"", "\"id\":7", "confirmations[0]: id: is missing or empty"},
    {"\"f.py\"", "\"../f.py\"", "file: is not a path below the root"},
    {"\"0123456789ab\"", "\"0123456789AB\"", "rule_version: is not 12"},
    {HEX32 HEX32, HEX32, "one of the hashes"},
    {"\"by\":\"statement\"", "\"by\":\"me\"", "by: is not terminal or statement"},
    {"\"yes\"", "\"\"", "statement: is missing or too long"},
    {"\"now\"", "null", "confirmed_at: is missing or empty"},
    {"[", "[" ENTRY ",", "'i' stands twice"},
};

static void test_faults_are_told(void **state) {
    (void)state;
    Str whole = STR("{\"schema\":1,\"confirmations\":[" ENTRY "]}");
    const char *path = path_join(&arena, str_of(folder), STR(CONFIRMATIONS_FILE));
    ConfirmationSet set;
    Err err = {{0}};
    assert_true(file_write(path, whole, &err));
    if (!confirmations_read(&set, &arena, folder, &err)) fail_msg("%s", err.text);
    for (size_t i = 0; i < COUNT(faults); i++) {
        const char *at = strstr(whole.at, faults[i][0]);
        assert_non_null(at);
        Str text = arena_printf(&arena, "%.*s%s%s", (int)(at - whole.at), whole.at,
                                faults[i][1], at + strlen(faults[i][0]));
        assert_true(file_write(path, text, &err));
        assert_false(confirmations_read(&set, &arena, folder, &err));
        if (!strstr(err.text, faults[i][2])) fail_msg("%s: %s", faults[i][1], err.text);
    }
}

static void test_words_of_a_shell(void **state) {
    (void)state;
    Buf out = {0};
    static const char *const words[] = {"a-b/c.py:D.e:01", "", "it's", "a b", "$(x)", "x#2"};
    for (size_t i = 0; i < COUNT(words); i++) {
        if (i) buf_add_char(&out, ' ');
        shell_add_word(&out, str_of(words[i]));
    }
    assert_string_equal(out.at, "a-b/c.py:D.e:01 '' 'it'\\''s' 'a b' '$(x)' 'x#2'");
    buf_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_difference_voids),
        cmocka_unit_test(test_edits_are_bound),
        cmocka_unit_test(test_fields_do_not_run_together),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_faults_are_told),
        cmocka_unit_test(test_words_of_a_shell),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
